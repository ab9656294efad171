/* Numbers in brackets are the edge cases of venn_abers_calibrator.c. */
#include "calibrator_help.h"
#include "curve/isotonic.h"

#define ROWS 60

/* The value at a score by two regressions, each with one more row. */
static double two_fits(const double *probs, const int32_t *labels, size_t rows, double score) {
  const pcal_env env = pc_env_resolve(NULL);
  double value[2] = {NAN, NAN};
  for (int hit = 0; hit < 2; hit++) {
    double side[2][ROWS + 1];
    size_t count[2] = {0, 0};
    for (size_t i = 0; i < rows; i++)
      side[labels[i]][count[labels[i]]++] = probs[i];
    side[hit][count[hit]++] = score;
    const pc_outcome_column misses = {side[0], NULL, count[0]},
                            hits = {side[1], NULL, count[1]};
    pc_curve_table table;
    pc_isotonic fit;
    assert_int_equal(pc_curve_table_new(&env, &misses, &hits, &table, NULL), PCAL_OK);
    assert_int_equal(pc_isotonic_fit(&env, &table, &fit, NULL), PCAL_OK);
    for (size_t b = 0; b < fit.count; b++)
      if (fit.blocks[b].low <= score && score <= fit.blocks[b].high)
        value[hit] = pc_isotonic_value(&fit.blocks[b]);
    pc_isotonic_free(&env, &fit);
    pc_curve_table_free(&env, &table);
  }
  return value[1] / (1 - value[0] + value[1]);
}

/* [1] At the scores of the rows, one double beside them, and elsewhere. */
TEST(agrees_with_two_regressions) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    const pc_rng rng = {seed, 1};
    const size_t rows = 1 + (size_t)seed % ROWS;
    double probs[ROWS], fresh[3 * ROWS], out[3 * ROWS];
    int32_t labels[ROWS];
    for (size_t i = 0; i < rows; i++) {
      probs[i] = seed % 2 == 0 ? pc_rng_uniform(&rng, i)
                               : (double)(pc_rng_bits(&rng, i) % 11) / 10; /* 0 and 1 too */
      labels[i] = pc_rng_uniform(&rng, 1000 + i) < probs[i];
      fresh[3 * i] = probs[i];
      fresh[3 * i + 1] = fmin(nextafter(probs[i], 2), 1);
      fresh[3 * i + 2] = pc_rng_uniform(&rng, 2000 + i);
    }
    const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, rows, 1);
    const pcal_batch other = help_batch(PCAL_PROBABILITY, fresh, NULL, 3 * rows, 1);
    pcal_calibrator *calibrator = help_fit(&batch, "venn-abers");
    help_apply(calibrator, &other, out);
    for (size_t i = 0; i < 3 * rows; i++) {
      assert_near(out[i], two_fits(probs, labels, rows, fresh[i]), 1e-15);
      assert_true(out[i] > 0 && out[i] < 1); /* [2] */
    }
    pcal_calibrator_free(calibrator);
  }
}

/* [3] Class by class, and rows divided by their sums. */
TEST(classes) {
  const double probs[][3] = {
      {0.7, 0.2, 0.1}, {0.3, 0.6, 0.1}, {0.5, 0.3, 0.2}, {0.1, 0.8, 0.1}, {0.4, 0.5, 0.1}};
  const int32_t labels[] = {0, 1, 1, 1, 0}; /* class 2 never */
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 5, 3);
  pcal_calibrator *calibrator = help_fit(&batch, "venn-abers");
  double out[5][3];
  help_apply(calibrator, &batch, out);
  for (int i = 0; i < 5; i++) {
    double value[3], sum = 0;
    for (int k = 0; k < 3; k++) {
      double column[5];
      int32_t hit[5];
      for (int j = 0; j < 5; j++) {
        column[j] = probs[j][k];
        hit[j] = labels[j] == k;
      }
      sum += value[k] = two_fits(column, hit, 5, probs[i][k]);
    }
    for (int k = 0; k < 3; k++)
      assert_near(out[i][k], value[k] / sum, 1e-14);
  }
  assert_int_equal(pc_calibrator_traits(calibrator) & PC_KEEPS_ORDER, 0);
  pcal_calibrator_free(calibrator);
}

TEST(files) {
  const char *wrong = "cal.json, line 3: lower must be below upper, and neither may fall";
  help_parameters("venn-abers", 1,
                  "{\"lower\": {\"edges\": [[0.5]], \"values\": [[0, 0.25]]}, "
                  "\"upper\": {\"edges\": [[0.5]], \"values\": [[0.5, 1]]}}",
                  NULL);
  help_parameters("venn-abers", 1,
                  "{\"lower\": {\"edges\": [[0.5]], \"values\": [[0.25, 0]]}, "
                  "\"upper\": {\"edges\": [[]], \"values\": [[1]]}}",
                  wrong);
  help_parameters("venn-abers", 1,
                  "{\"lower\": {\"edges\": [[0.5]], \"values\": [[0.5, 0.6]]}, "
                  "\"upper\": {\"edges\": [[0.5]], \"values\": [[0.4, 1]]}}",
                  wrong);
  help_parameters("venn-abers", 1,
                  "{\"lower\": {\"edges\": [[]], \"values\": [[0]]}, "
                  "\"upper\": {\"edges\": [[]], \"values\": [[0]]}}",
                  wrong);
  help_parameters("venn-abers", 1,
                  "{\"lower\": {\"edges\": [[]], \"values\": [[1]]}, "
                  "\"upper\": {\"edges\": [[]], \"values\": [[1]]}}",
                  wrong);
  help_parameters("venn-abers", 1, "{\"lower\": {\"edges\": [[]], \"values\": [[0]]}}",
                  "cal.json, line 3: the parameter \"upper\" is missing; fit again");
  help_parameters("venn-abers", 1,
                  "{\"lower\": 1, \"upper\": {\"edges\": [[]], \"values\": [[0]]}}",
                  "cal.json, line 3: \"values\" must hold 1 list of numbers");
  help_parameters("venn-abers", 1,
                  "{\"lower\": {\"edges\": [[]], \"values\": [[0]]}, \"upper\": [1]}",
                  "cal.json, line 3: lower and upper must hold edges and values");
}
