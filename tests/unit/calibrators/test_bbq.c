/* Numbers in brackets are the edge cases of bbq.c. */
#include "calibrator_help.h"
#include "calibrators/bin_maps.h"
#include "curve/curve_bins.h"

#define ROWS 200

/* The formula as a direct sum over binnings, with the C library's log Gamma. */
static double direct(const double *probs, const int32_t *labels, size_t rows, double score) {
  const pcal_env env = pc_env_resolve(NULL);
  double side[2][ROWS];
  size_t count[2] = {0, 0};
  for (size_t i = 0; i < rows; i++)
    side[labels[i]][count[labels[i]]++] = probs[i];
  const pc_outcome_column misses = {side[0], NULL, count[0]}, hits = {side[1], NULL, count[1]};
  pc_curve_table table;
  assert_int_equal(pc_curve_table_new(&env, &misses, &hits, &table, NULL), PCAL_OK);
  const double root = cbrt((double)rows);
  const size_t low = root / 10 < 1 ? 1 : (size_t)(root / 10), high = (size_t)(root * 10);
  double best = -INFINITY, above = 0, below = 0;
  for (int pass = 0; pass < 2; pass++)
    for (size_t bins = low; bins <= high; bins++) {
      pc_bin bin[10 * ROWS];
      size_t used = 0;
      double likelihood = 0, value = NAN;
      used = pc_bins_by_mass(&table, bins, bin);
      for (size_t b = 0; b < used; b++) {
        const double s = 2.0 / (double)used, n = bin[b].weight, m = bin[b].hits;
        const double middle = fmin(fmax((bin[b].low + bin[b].high) / 2, 1e-6), 1 - 1e-6);
        likelihood += lgamma(s) - lgamma(n + s) + lgamma(m + s * middle) - lgamma(s * middle) +
                      lgamma(n - m + s * (1 - middle)) - lgamma(s * (1 - middle));
        if (isnan(value) && (score <= bin[b].high || b + 1 == used))
          value = (m + s * middle) / (n + s);
      }
      if (pass == 0) {
        best = fmax(best, likelihood);
      } else {
        above += exp(likelihood - best) * value;
        below += exp(likelihood - best);
      }
    }
  pc_curve_table_free(&env, &table);
  return above / below;
}

/* [1] [2] [3] With and without ties, zeros and ones among the scores. */
TEST(agrees_with_a_direct_sum) {
  static const size_t sizes[] = {1, 2, 5, 40, ROWS};
  for (size_t s = 0; s < UNIT_COUNT(sizes); s++)
    for (int tied = 0; tied < 2; tied++) {
      const pc_rng rng = {s, 7};
      double probs[ROWS], out[ROWS];
      int32_t labels[ROWS];
      for (size_t i = 0; i < sizes[s]; i++) {
        probs[i] = tied ? (double)(pc_rng_bits(&rng, i) % 9) / 8 : pc_rng_uniform(&rng, i);
        labels[i] = pc_rng_uniform(&rng, 1000 + i) < 0.1 + 0.7 * probs[i];
      }
      const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, sizes[s], 1);
      pcal_calibrator *calibrator = help_fit(&batch, "bbq");
      help_apply(calibrator, &batch, out);
      for (size_t i = 0; i < sizes[s]; i++)
        assert_near(out[i], direct(probs, labels, sizes[s], probs[i]), 1e-11);
      pcal_calibrator_free(calibrator);
    }
}

/* One row at 1/2 that came true cannot be cut: one bin, (1 + 1) / (1 + 2). */
TEST(one_row_by_hand) {
  const double probs[] = {0.5};
  const int32_t labels[] = {1};
  double out[1];
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 1, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "bbq");
  help_apply(calibrator, &batch, out);
  assert_near(out[0], 2.0 / 3.0, 1e-12);
  pcal_calibrator_free(calibrator);
}

TEST(files) {
  help_parameters("bbq", 1, "{\"edges\": [[0.5]], \"values\": [[0.25, 1]]}", NULL);
  help_parameters("bbq", 1, "{\"edges\": [[]], \"values\": [[]]}",
                  "cal.json, line 3: a table of values must hold 1 to 100000000 numbers");
  help_parameters("bbq", 1, "{\"values\": [[0.25, 1]]}",
                  "cal.json, line 3: the parameter \"edges\" is missing; fit again");
}
