/* Numbers in brackets are the edge cases of spline.c. */
#include "calibrators/spline/spline.h"

#include "calibrator_help.h"
#include "io/source.h"

#define ROWS 200

static double probs[ROWS * 3], column[ROWS];
static int32_t labels[ROWS], ones[ROWS];

static pcal_batch drawn(void) {
  const pc_rng rng = {13, 1};
  for (size_t i = 0; i < ROWS; i++) {
    double sum = 0;
    for (size_t j = 0; j < 3; j++)
      sum += probs[i * 3 + j] = pc_rng_uniform(&rng, 3 * i + j);
    for (size_t j = 0; j < 3; j++)
      probs[i * 3 + j] /= sum;
    labels[i] = (int32_t)(pc_rng_bits(&rng, 10000 + i) % 3);
    column[i] = pc_rng_uniform(&rng, 20000 + i);
    ones[i] = pc_rng_uniform(&rng, 30000 + i) < column[i] * column[i];
  }
  return help_batch(PCAL_PROBABILITY, probs, labels, ROWS, 3);
}

/* [4], and options that do not suit the data. */
TEST(options_must_suit) {
  const pcal_batch rows = drawn();
  const pcal_batch one = help_batch(PCAL_PROBABILITY, column, ones, ROWS, 1);
  help_refused(&rows, "spline:rank=4", PCAL_USAGE,
               "spline: the rank is beyond the number of classes; give a smaller one");
  help_refused(&rows, "spline:target=within,rank=4", PCAL_USAGE,
               "spline: the rank is beyond the number of classes; give a smaller one");
  help_refused(&rows, "spline:target=class,class=3", PCAL_USAGE,
               "spline: the class is beyond the last one; classes are counted from 0");
  help_refused(&one, "spline:target=within", PCAL_USAGE,
               "spline: one column of scores has no ranks; leave target and rank out");
  help_refused(&one, "spline:rank=2", PCAL_USAGE,
               "spline: one column of scores has no ranks; leave target and rank out");
  help_refused(&one, "spline:target=class", PCAL_USAGE,
               "spline: one column holds the score of class 1; give class=1");
}

/* [4] One column: every target maps its score; class 0 gets the rest. */
TEST(one_column) {
  static const char *const specs[] = {"spline", "spline:target=all",
                                      "spline:target=class,class=1"};
  double out[3][ROWS];
  drawn();
  const pcal_batch one = help_batch(PCAL_PROBABILITY, column, ones, ROWS, 1);
  for (size_t s = 0; s < 3; s++) {
    pcal_calibrator *calibrator = help_fit(&one, specs[s]);
    assert_int_equal(pcal_calibrator_column_count(calibrator), 1);
    help_apply(calibrator, &one, out[s]);
    pcal_calibrator_free(calibrator);
  }
  assert_memory_equal(out[0], out[1], sizeof out[0]);
  assert_memory_equal(out[0], out[2], sizeof out[0]);
}

/* [5] */
TEST(few_scores) {
  const double two[] = {0.2, 0.2, 0.7, 0.7};
  const int32_t truth[] = {0, 1, 1, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, two, truth, 4, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "spline");
  assert_string_equal(calibrator->fit.warnings[0],
                      "1 of 1 splines have too few distinct scores for 6 knots; use fewer "
                      "knots, or temperature");
  assert_int_equal(calibrator->fit.status, PC_FIT_CLOSED_FORM);
  pcal_calibrator_free(calibrator);
}

/* A single output column is written as one column. */
TEST(one_column_in_files) {
  static const char *const names[] = {"cat", "dog", "cow"};
  const pcal_batch rows = drawn();
  pcal_calibrator *calibrator = help_fit(&rows, "spline:target=within,rank=2");
  double expected[ROWS];
  help_apply(calibrator, &rows, expected);
  pcal_source *source = NULL;
  sink_bytes csv = {0}, npy = {0};
  assert_int_equal(pc_source_borrow(&rows, names, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pcal_calibrator_apply_source(calibrator, source, PCAL_CSV, NULL,
                                                sink_collect, &csv, NULL),
                   PCAL_OK);
  assert_int_equal(pcal_calibrator_apply_source(calibrator, source, PCAL_NPY, NULL,
                                                sink_collect, &npy, NULL),
                   PCAL_OK);
  const char *at = csv.bytes;
  for (size_t i = 0; i < ROWS; i++) {
    double value = NAN;
    at += pc_number_parse(at, csv.bytes + csv.length, &value);
    assert_same(value, expected[i]);
    assert_int_equal(*at++, '\n');
  }
  assert_int_equal(*at, '\0');
  assert_non_null(strstr(npy.bytes + 10, "(200,)"));
  unit_native_order(npy.bytes + npy.length - sizeof expected, sizeof *expected, ROWS);
  assert_memory_equal(npy.bytes + npy.length - sizeof expected, expected, sizeof expected);
  free(csv.bytes);
  free(npy.bytes);
  pcal_source_free(source);
  pcal_calibrator_free(calibrator);
}

TEST(describes) {
  static const char *const cases[][2] = {
      {"spline", "learned      1 natural spline with 6 knots for the class of rank 1\n"},
      {"spline:rank=2,knots=4,runout=cubic",
       "learned      1 cubic spline with 4 knots for the class of rank 2\n"},
      {"spline:target=all", "learned      3 natural splines with 6 knots, one for each rank\n"},
      {"spline:target=within,rank=2", "learned      1 natural spline with 6 knots for the "
                                      "first 2 ranks together: one output column\n"},
      {"spline:target=class,class=2",
       "learned      1 natural spline with 6 knots for class 2: one output column\n"},
  };
  const pcal_batch rows = drawn();
  for (size_t c = 0; c < UNIT_COUNT(cases); c++) {
    pcal_calibrator *calibrator = help_fit(&rows, cases[c][0]);
    sink_bytes text = {0};
    assert_int_equal(pcal_calibrator_describe(calibrator, PCAL_TEXT, sink_collect, &text, NULL),
                     PCAL_OK);
    assert_non_null(strstr(text.bytes, cases[c][1]));
    assert_int_equal((pc_calibrator_traits(calibrator) & PC_SUMS_TO_ONE) != 0, c < 3);
    free(text.bytes);
    pcal_calibrator_free(calibrator);
  }
}

/* [6] One row more joins the scores, and moves the map by a twentieth of its standard error, 1/(2 sqrt(n)) or
 * more, at most. */
TEST(joined_scores) {
  enum { MANY = 65536, GRID = 200 };
  static double score[MANY], grid[GRID], out[2][GRID];
  static int32_t event[MANY];
  const pc_rng rng = {17, 1};
  for (size_t i = 0; i < MANY; i++) {
    const double u = pc_rng_uniform(&rng, 2 * i);
    score[i] = u * u;
    event[i] = pc_rng_uniform(&rng, 2 * i + 1) < u;
  }
  for (size_t i = 0; i < GRID; i++)
    grid[i] = ((double)i + 0.5) / GRID;
  const pcal_batch asked = help_batch(PCAL_PROBABILITY, grid, event, GRID, 1);
  for (size_t joined = 0; joined < 2; joined++) {
    const pcal_batch rows = help_batch(PCAL_PROBABILITY, score, event, MANY - 1 + joined, 1);
    pcal_calibrator *calibrator = help_fit(&rows, "spline");
    help_apply(calibrator, &asked, out[joined]);
    pcal_calibrator_free(calibrator);
  }
  assert_memory_not_equal(out[0], out[1], sizeof out[0]);
  for (size_t i = 0; i < GRID; i++)
    assert_true(fabs(out[0][i] - out[1][i]) < 0.05 * 0.5 / sqrt(MANY));
}

TEST(files) {
  help_parameters("spline:knots=3", 3,
                  "{\"knots\": [[0, 0, -1]], \"scores\": [[0.5, 1]], \"values\": [[1, 0.5]]}",
                  NULL);
  help_parameters(
      "spline:knots=3", 3,
      "{\"knots\": [[0, 0, 0]], \"scores\": [[0.5, 0.5, 1]], \"values\": [[1, 0, 0]]}", NULL);
  help_parameters("spline:knots=3", 3,
                  "{\"knots\": [[0, 0]], \"scores\": [[0.5]], \"values\": [[1]]}",
                  "cal.json, line 3: there must be one value for each knot");
  help_parameters(
      "spline:knots=3", 3, "{\"knots\": [[0, 0, 1e7]], \"scores\": [[0.5]], \"values\": [[1]]}",
      "cal.json, line 3: a value at a knot must be a number of at most 1e6 in size");
  help_parameters("spline:knots=3", 3,
                  "{\"knots\": [[0, 0, 0]], \"scores\": [[0.5, 0.4]], \"values\": [[1, 1]]}",
                  "cal.json, line 3: scores must be ascending numbers from 0 to 1");
  help_parameters("spline:knots=3", 3,
                  "{\"knots\": [[0, 0, 0]], \"scores\": [[0.5]], \"values\": [[2]]}",
                  "cal.json, line 3: a value must be a number from 0 to 1");
  help_parameters("spline:knots=3,target=all", 3,
                  "{\"knots\": [[0, 0, 0]], \"scores\": [[0.5]], \"values\": [[1]]}",
                  "cal.json, line 3: \"knots\" must hold 3 lists of numbers");
  help_parameters("spline:knots=3,rank=4", 3,
                  "{\"knots\": [[0, 0, 0]], \"scores\": [[0.5]], \"values\": [[1]]}",
                  "cal.json, line 3: the rank is beyond the number of classes; give a smaller "
                  "one");
  help_parameters("spline:knots=3,target=class", 1,
                  "{\"knots\": [[0, 0, 0]], \"scores\": [[0.5]], \"values\": [[1]]}",
                  "cal.json, line 3: one column holds the score of class 1; give class=1");
}
