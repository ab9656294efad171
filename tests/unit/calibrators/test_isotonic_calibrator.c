/* Numbers in brackets are the edge cases of isotonic_calibrator.c. */
#include "calibrator_help.h"
#include "calibrators/line_maps.h"

static const pc_line_map *line_of(const pcal_calibrator *calibrator, size_t i) {
  return &((const pc_line_maps *)calibrator->parameters)->maps[i];
}

static void assert_line(const pc_line_map *line, size_t count, const double *scores,
                        const double *values) {
  assert_int_equal(line->count, count);
  for (size_t i = 0; i < count; i++) {
    assert_same(line->score[i], scores[i]);
    assert_same(line->value[i], values[i]);
  }
}

/* [1] [2] Outcomes 0, (1, 0 tied), 1, 0 | 1 pool to 0, 1/2 from .25 to .625, 1. */
TEST(one_column_by_hand) {
  const double probs[] = {0.625, 0.25, 0.125, 0.25, 0.5, 0.75};
  const int32_t labels[] = {0, 1, 0, 0, 1, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 6, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "isotonic");
  assert_line(line_of(calibrator, 0), 4, (const double[]){0.125, 0.25, 0.625, 0.75},
              (const double[]){0.0, 0.5, 0.5, 1.0});
  const double fresh[] = {0.0, 0.125, 0.1875, 0.3, 0.6875, 0.75, 1.0};
  const double expected[] = {0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0};
  const pcal_batch other = help_batch(PCAL_PROBABILITY, fresh, NULL, 7, 1);
  double out[7];
  help_apply(calibrator, &other, out);
  for (int i = 0; i < 7; i++)
    assert_same(out[i], expected[i]);
  assert_int_equal(calibrator->fit.status, PC_FIT_CLOSED_FORM);
  assert_true((pc_calibrator_traits(calibrator) & PC_KEEPS_ORDER) != 0);
  pcal_calibrator_free(calibrator);
}

/* [3] Each class alone, rows divided by their sums; a row of zeros becomes uniform. */
TEST(classes_by_hand) {
  const double probs[][3] = {{0.5, 0.25, 0.25}, {0.25, 0.5, 0.25}, {0.75, 0.25, 0.0}};
  const int32_t labels[] = {0, 1, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 3, 3);
  pcal_calibrator *calibrator = help_fit(&batch, "isotonic");
  assert_line(line_of(calibrator, 0), 3, (const double[]){0.25, 0.5, 0.75},
              (const double[]){0.0, 0.5, 0.5}); /* 0; 1, 0 */
  assert_line(line_of(calibrator, 1), 2, (const double[]){0.25, 0.5},
              (const double[]){0.5, 1.0});
  assert_line(line_of(calibrator, 2), 2, (const double[]){0.0, 0.25},
              (const double[]){0.0, 0.0}); /* [5] never came true */
  double out[3][3];
  help_apply(calibrator, &batch, out);
  assert_same(out[0][0], 0.5);
  assert_same(out[0][1], 0.5);
  assert_same(out[1][1], 1.0);
  assert_int_equal(pc_calibrator_traits(calibrator) & PC_KEEPS_ORDER, 0);
  pcal_calibrator_free(calibrator);
  const double low[] = {0.8, 0.2}, high[] = {0.2, 0.8};
  const double rows[][2] = {{0.8, 0.2}, {0.2, 0.8}};
  const int32_t swapped[] = {1, 0};
  const pcal_batch wrong = help_batch(PCAL_PROBABILITY, &rows[0][0], swapped, 2, 2);
  calibrator = help_fit(&wrong, "isotonic");
  double pair[2];
  const pcal_batch first = help_batch(PCAL_PROBABILITY, low, NULL, 1, 2);
  const pcal_batch second = help_batch(PCAL_PROBABILITY, high, NULL, 1, 2);
  help_apply(calibrator, &first, pair);
  assert_same(pair[0], 0.5);
  help_apply(calibrator, &second, pair);
  assert_same(pair[0], 0.5);
  pcal_calibrator_free(calibrator);
}

/* The pairs of both classes in one regression: outcomes 0 1 0 1 0 1 in ascending order. */
TEST(pooled_by_hand) {
  const double probs[][2] = {{0.875, 0.125}, {0.75, 0.25}, {0.375, 0.625}};
  const int32_t labels[] = {0, 1, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 3, 2);
  pcal_calibrator *calibrator = help_fit(&batch, "isotonic-multi");
  assert_line(line_of(calibrator, 0), 4, (const double[]){0.125, 0.25, 0.75, 0.875},
              (const double[]){0.0, 0.5, 0.5, 1.0});
  double out[3][2];
  help_apply(calibrator, &batch, out);
  assert_near(out[0][0], (1 + 0.875e-9) / (1 + 1e-9), 1e-15);
  assert_near(out[1][0], (0.5 + 0.75e-9) / (1 + 1e-9), 1e-15);
  assert_true(out[1][0] > out[1][1]); /* equal values stay apart */
  pcal_calibrator_free(calibrator);
}

/* [4] One column is two classes. */
TEST(one_column_is_two_classes) {
  enum { ROWS = 200 };
  double one[ROWS], two[ROWS][2], out_one[ROWS], out_two[ROWS][2];
  int32_t labels[ROWS];
  const pc_rng rng = {4, 4};
  for (size_t i = 0; i < ROWS; i++) {
    one[i] = (double)(pc_rng_bits(&rng, i) % 33) / 32;
    two[i][0] = 1 - one[i];
    two[i][1] = one[i];
    labels[i] = pc_rng_uniform(&rng, 1000 + i) < one[i] * one[i];
  }
  const pcal_batch a = help_batch(PCAL_PROBABILITY, one, labels, ROWS, 1);
  const pcal_batch b = help_batch(PCAL_PROBABILITY, &two[0][0], labels, ROWS, 2);
  pcal_calibrator *single = help_fit(&a, "isotonic-multi"),
                  *pair = help_fit(&b, "isotonic-multi");
  help_apply(single, &a, out_one);
  help_apply(pair, &b, out_two);
  for (size_t i = 0; i < ROWS; i++) {
    assert_near(out_one[i], out_two[i][1], 1e-14);
    assert_true((one[i] - 0.5) * (out_one[i] - 0.5) >= 0);
  }
  pcal_calibrator_free(single);
  pcal_calibrator_free(pair);
}

TEST(damaged_files) {
  help_parameters("isotonic", 1, "{\"scores\": [[0.1, 0.2]], \"values\": [[0, 1]]}", NULL);
  help_parameters("isotonic", 1, "{\"scores\": [[0.1, 0.2]]}",
                  "cal.json, line 3: the parameter \"values\" is missing; fit again");
  help_parameters("isotonic", 2, "{\"scores\": [[0.1]], \"values\": [[0]]}",
                  "cal.json, line 3: \"scores\" must hold 2 lists of numbers");
  help_parameters("isotonic", 1, "{\"scores\": [[]], \"values\": [[]]}",
                  "cal.json, line 3: there must be a value for each score");
  help_parameters("isotonic", 1, "{\"scores\": [[0.1, 0.2]], \"values\": [[0]]}",
                  "cal.json, line 3: there must be a value for each score");
  help_parameters("isotonic", 1, "{\"scores\": [[0.2, 0.1]], \"values\": [[0, 1]]}",
                  "cal.json, line 3: scores must be ascending numbers from 0 to 1");
  help_parameters("isotonic", 1, "{\"scores\": [[0.2, 1.1]], \"values\": [[0, 1]]}",
                  "cal.json, line 3: scores must be ascending numbers from 0 to 1");
  help_parameters("isotonic", 1, "{\"scores\": [[0.2, 0.3]], \"values\": [[0.5, 0.4]]}",
                  "cal.json, line 3: values must be numbers from 0 to 1 that do not fall");
  help_parameters("isotonic", 1, "{\"scores\": [[0.2]], \"values\": [[null]]}",
                  "cal.json, line 3: values must be numbers from 0 to 1 that do not fall");
  help_parameters("isotonic-multi", 3, "{\"scores\": [[0.1]], \"values\": [[0]]}", NULL);
  help_parameters("isotonic-multi", 3, "{\"scores\": [[0.1], [0.1]], \"values\": [[0], [0]]}",
                  "cal.json, line 3: \"scores\" must hold 1 list of numbers");
}

/* Rounded sums of weights must not give a map that its own file would refuse. */
TEST(fractional_weights_read_back) {
  enum { ROWS = 60 };
  double probs[ROWS], weights[ROWS];
  int32_t labels[ROWS];
  for (uint64_t seed = 0; seed < 300; seed++) {
    const pc_rng rng = {seed, 9};
    for (size_t i = 0; i < ROWS; i++) {
      probs[i] = (double)i / ROWS;
      labels[i] = pc_rng_uniform(&rng, i) < 0.5;
      weights[i] = labels[i] ? 0.1 : 0.1 * (1 + (double)(i % 3) * 1e-16);
    }
    pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, ROWS, 1);
    batch.weights = weights;
    pcal_calibrator *calibrator = help_fit(&batch, "isotonic");
    sink_bytes text = help_save(calibrator);
    pcal_calibrator_free(help_load(text.bytes));
    free(text.bytes);
    pcal_calibrator_free(calibrator);
  }
}

TEST(describes) {
  const double probs[] = {0.1, 0.2, 0.3};
  const int32_t labels[] = {0, 1, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 3, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "isotonic");
  sink_bytes text = {0};
  assert_int_equal(pcal_calibrator_describe(calibrator, PCAL_TEXT, sink_collect, &text, NULL),
                   PCAL_OK);
  assert_string_equal(text.bytes, "calibrator   isotonic\n"
                                  "learned      1 map of 2 nondecreasing values\n"
                                  "status       closed-form\n"
                                  "data         3 rows of probabilities, 2 classes\n");
  free(text.bytes);
  pcal_calibrator_free(calibrator);
}
