/* Large sources, whose curves are kept as buckets, against the same rows given piece by piece: the same
 * bytes, for every type of scores and labels in files, and the same sentences. */
#include "measure_help.h"

#include "../io/io_help.h"
#include "base/rng.h"
#include "emulated.h"
#include "file_inputs.h"
#include "io/source.h"

#define RUN_ROWS 70001
#define RUN_SPECS "ks ece:binning=mass ece mce:bins=20 smece"

typedef struct run_data {
  double score[RUN_ROWS];
  float narrow[RUN_ROWS];
  int32_t label[RUN_ROWS];
  int64_t wide_label[RUN_ROWS];
  uint8_t byte_label[RUN_ROWS];
  double number_label[RUN_ROWS];
} run_data;

static run_data run_rows;

static void run_draw(void) {
  const pc_rng rng = {51, 1}, other = {51, 2};
  for (uint64_t i = 0; i < RUN_ROWS; i++) {
    const double u = pc_rng_uniform(&rng, i);
    const double score = i % 10 == 0 ? floor(u * 16) / 15 : u * u;
    const int hit = pc_rng_uniform(&other, i) < 0.1 + 0.8 * score;
    run_rows.narrow[i] = (float)fmin(score, 1.0);
    run_rows.score[i] = (double)run_rows.narrow[i];
    run_rows.label[i] = run_rows.byte_label[i] = (uint8_t)hit;
    run_rows.wide_label[i] = hit;
    run_rows.number_label[i] = hit;
  }
}

static given_data run_given(void) {
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = RUN_ROWS,
                      .columns = 1,
                      .scores = run_rows.score,
                      .labels = run_rows.label};
}

static const char *run_file(const char *name, const char *descr, const void *data,
                            size_t size) {
  char shape[32];
  snprintf(shape, sizeof shape, "(%d,)", RUN_ROWS);
  const help_npy npy = help_npy_make(1, descr, 0, shape, data, RUN_ROWS * size);
  const char *path = help_file(name, npy.bytes, npy.length);
  free(npy.bytes);
  return path;
}

static pcal_status run_measure(pcal_source *source, unsigned threads, pcal_results **out,
                               pcal_error *err) {
  static const char *const specs[] = {"ks", "ece:binning=mass", "ece", "mce:bins=20", "smece"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  env.threads = threads;
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  return pcal_measure_run(source, &config, &env, out, err);
}

static char *run_text(pcal_source *source, unsigned threads) {
  pcal_results *results = NULL;
  pcal_error err;
  if (run_measure(source, threads, &results, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  char *text = given_written(results, PCAL_JSON);
  pcal_results_free(results);
  return text;
}

static pcal_source *run_open(const char *scores, const char *labels) {
  file_inputs inputs = {0};
  pcal_source *source = NULL;
  inputs.probs = scores;
  inputs.labels = labels;
  assert_int_equal(file_inputs_open(&inputs, NULL, &source, NULL), PCAL_OK);
  return source;
}

TEST(test_files_of_every_type) {
  run_draw();
  const given_data data = run_given();
  pcal_results *results = given_results(&data, RUN_SPECS);
  char *expected = given_written(results, PCAL_JSON);
  const char *scores[] = {run_file("f4.npy", "=f4", run_rows.narrow, 4),
                          run_file("f8.npy", "=f8", run_rows.score, 8)};
  const char *labels[] = {run_file("u1.npy", "|u1", run_rows.byte_label, 1),
                          run_file("b1.npy", "|b1", run_rows.byte_label, 1),
                          run_file("i4.npy", "=i4", run_rows.label, 4),
                          run_file("i8.npy", "=i8", run_rows.wide_label, 8),
                          run_file("n8.npy", "=f8", run_rows.number_label, 8)};
  for (size_t s = 0; s < UNIT_COUNT(scores); s++)
    for (size_t l = 0; l < UNIT_COUNT(labels); l++)
      for (unsigned threads = 1; threads <= 3; threads += 2) {
        pcal_source *source = run_open(scores[s], labels[l]);
        char *text = run_text(source, threads);
        assert_string_equal(text, expected);
        free(text);
        pcal_source_free(source);
      }
  free(expected);
  pcal_results_free(results);
}

/* The value of a 16-bit float in [0, 1]. */
static double run_half(uint16_t bits) {
  const int exponent = bits >> 10;
  return exponent == 0 ? ldexp(bits, -24) : ldexp(1024 + bits % 1024, exponent - 25);
}

/* 16-bit floats of all sizes, and evenly spread ones; 0, 1 and both sides of 2^-4 are among them. */
TEST(test_half_precision) {
  static uint16_t halves[RUN_ROWS];
  const pc_rng rng = {53, 1}, other = {53, 2};
  for (int even = 0; even < 2; even++) {
    for (uint64_t i = 0; i < RUN_ROWS; i++) {
      const double u = pc_rng_uniform(&rng, i);
      halves[i] = (uint16_t)(even ? 0x2C00 + u * 0x1001 : u * 0x3C01);
      run_rows.score[i] = run_half(halves[i]);
      run_rows.label[i] = pc_rng_uniform(&other, i) < 0.1 + 0.8 * run_rows.score[i];
    }
    const given_data data = run_given();
    pcal_results *results = given_results(&data, RUN_SPECS);
    char *expected = given_written(results, PCAL_JSON);
    const char *labels = run_file("i4.npy", "=i4", run_rows.label, 4);
    pcal_source *source = run_open(run_file("f2.npy", "=f2", halves, 2), labels);
    assert_true(pc_source_has_float16(source));
    char *text = run_text(source, 2);
    assert_string_equal(text, expected);
    free(text);
    pcal_source_free(source);
    free(expected);
    pcal_results_free(results);
  }
}

/* Scores a little outside [0, 1] are used as stored. */
TEST(test_rows_that_are_not_plain) {
  run_draw();
  run_rows.score[5] = -3e-6;
  run_rows.score[40000] = 1 + 4e-6;
  run_rows.score[60000] = -0.0;
  const given_data data = run_given();
  const pcal_batch batch = given_batch(&data);
  pcal_results *results = given_results(&data, RUN_SPECS);
  char *expected = given_written(results, PCAL_JSON);
  pcal_source *source = NULL;
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
  for (unsigned threads = 1; threads <= 3; threads += 2) {
    char *text = run_text(source, threads);
    assert_string_equal(text, expected);
    free(text);
    assert_int_equal(pcal_source_rewind(source, NULL), PCAL_OK);
  }
  pcal_source_free(source);
  free(expected);
  pcal_results_free(results);
}

/* ---- hostile scores ---- */

static double run_all_equal(uint64_t i, double u) {
  (void)i, (void)u;
  return 0.3;
}

static double run_one_bucket(uint64_t i, double u) {
  (void)i;
  return 0.6 + 0x1p-16 * u;
}

static double run_next_to_each_other(uint64_t i, double u) {
  (void)u;
  return 0.7 + 0x1p-24 * (double)(i % 50);
}

static double run_many_ties(uint64_t i, double u) {
  return i % 1000 == 0 ? u : floor(13 * u) / 13;
}

static double run_tiny(uint64_t i, double u) {
  return ldexp(u, -(int)(i % 150));
}

static double run_both_ends(uint64_t i, double u) {
  return u < 0.4 ? 0.0 : u < 0.8 ? 1.0 : i % 2 == 0 ? 0x1p-149 : 1 - 0x1p-24;
}

/* A little outside, where scores are used as stored. */
static double run_outside(uint64_t i, double u) {
  return i % 3 == 0 ? -4e-6 * u : i % 3 == 1 ? 1 + 4e-6 * u : u;
}

typedef double (*run_kind)(uint64_t i, double u);
static const run_kind run_kinds[] = {run_all_equal, run_one_bucket, run_next_to_each_other,
                                     run_many_ties, run_tiny,       run_both_ends,
                                     run_outside};

/* As float32 or as doubles that may lie between these. */
static void run_draw_kind(run_kind kind, int narrow) {
  const pc_rng rng = {52, 1}, other = {52, 2};
  for (uint64_t i = 0; i < RUN_ROWS; i++) {
    const double score = kind(i, pc_rng_uniform(&rng, i));
    run_rows.narrow[i] = (float)score;
    run_rows.score[i] = narrow ? (double)run_rows.narrow[i] : score;
    run_rows.label[i] = pc_rng_uniform(&other, i) < 0.1 + 0.8 * score;
  }
}

static void run_compare(size_t rows, int narrow) {
  given_data data = run_given();
  data.rows = rows;
  pcal_results *results = given_results(&data, RUN_SPECS);
  char *expected = given_written(results, PCAL_JSON);
  pcal_batch batch = given_batch(&data);
  pcal_source *source = NULL;
  if (narrow) {
    batch.type = PCAL_F32;
    batch.scores = run_rows.narrow;
    batch.row_stride = batch.column_stride = sizeof(float);
  }
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
  for (unsigned threads = 1; threads <= 3; threads += 2) {
    char *text = run_text(source, threads);
    assert_string_equal(text, expected);
    free(text);
    assert_int_equal(pcal_source_rewind(source, NULL), PCAL_OK);
  }
  pcal_source_free(source);
  free(expected);
  pcal_results_free(results);
}

/* Around the number of rows from which curves are kept as buckets. */
TEST(test_hostile_scores) {
  static const size_t rows[] = {65535, 65536, 65537, RUN_ROWS};
  for (size_t k = 0; k < UNIT_COUNT(run_kinds); k++)
    for (int narrow = emulated() ? (int)k % 2 : 0; narrow <= 1; narrow += emulated() ? 2 : 1) {
      run_draw_kind(run_kinds[k], narrow);
      for (size_t r = 0; r < UNIT_COUNT(rows); r += emulated() ? 2 : 1)
        run_compare(rows[r], narrow);
    }
}

static void run_refused(const char *labels, uint64_t row, const char *sentence) {
  const char *scores = run_file("s.npy", "=f8", run_rows.score, 8);
  for (unsigned threads = 1; threads <= 3; threads += 2) {
    pcal_source *source = run_open(scores, labels);
    pcal_results *results = NULL;
    pcal_error err;
    assert_int_equal(run_measure(source, threads, &results, &err), PCAL_DATA);
    assert_non_null(strstr(err.message, sentence));
    assert_int_equal(err.row, row);
    pcal_source_free(source);
  }
}

TEST(test_bad_rows_are_refused) {
  run_draw();
  run_rows.score[66000] = 1.5;
  run_rows.score[69000] = NAN;
  run_refused(run_file("y.npy", "|u1", run_rows.byte_label, 1), 66000, "row 66000");
  run_draw();
  run_rows.number_label[30000] = 0.5;
  run_refused(run_file("y.npy", "=f8", run_rows.number_label, 8), 30000,
              "y.npy, row 30000: the label 0.5 is not a whole number");
  run_draw();
  for (size_t i = 0; i < RUN_ROWS; i++)
    run_rows.byte_label[i]++;
  run_refused(
      run_file("y.npy", "|u1", run_rows.byte_label, 1),
      (uint64_t)((uint8_t *)memchr(run_rows.byte_label, 2, RUN_ROWS) - run_rows.byte_label),
      "the labels look 1-based, subtract 1 from each");
}

TEST_GROUP(help_setup, help_teardown)
