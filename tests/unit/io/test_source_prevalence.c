/* Weights by class; numbers in brackets are the edge cases of io/source_prevalence.c. */
#include "../unit.h"

#include "file_inputs.h"
#include "io/source.h"

#define PREVALENCE_ROWS 5

static float prevalence_single[PREVALENCE_ROWS * 3];
static double prevalence_double[PREVALENCE_ROWS * 3];
static int32_t prevalence_labels[PREVALENCE_ROWS];
static double prevalence_weights[PREVALENCE_ROWS];

typedef struct prevalence_inputs {
  pcal_inputs inputs;
  pcal_input probs, labels, weights;
} prevalence_inputs;

static pcal_input prevalence_input(const void *data, pcal_type type, size_t columns) {
  pcal_input input = PCAL_INPUT_INIT;
  input.data = data;
  input.type = type;
  input.rows = PREVALENCE_ROWS;
  input.columns = columns;
  return input;
}

/* Classes 0, 1, 1, 0, 0; all weights 1. */
static void prevalence_fill(size_t columns, int single, const double *prevalence, size_t count,
                            prevalence_inputs *out) {
  for (size_t i = 0; i < PREVALENCE_ROWS; i++) {
    prevalence_labels[i] = i == 1 || i == 2;
    prevalence_weights[i] = 1.0;
    for (size_t c = 0; c < 3; c++)
      prevalence_single[3 * i + c] = (float)(prevalence_double[3 * i + c] = 0.25);
  }
  out->inputs = (pcal_inputs)PCAL_INPUTS_INIT;
  out->probs = single ? prevalence_input(prevalence_single, PCAL_F32, columns)
                      : prevalence_input(prevalence_double, PCAL_F64, columns);
  out->labels = prevalence_input(prevalence_labels, PCAL_I32, 0);
  out->weights = prevalence_input(prevalence_weights, PCAL_F64, 0);
  out->inputs.probs = &out->probs;
  out->inputs.labels = &out->labels;
  out->inputs.weights = &out->weights;
  out->inputs.prevalence = prevalence;
  out->inputs.prevalence_count = count;
}

static void prevalence_check(const prevalence_inputs *given, const double *expected) {
  pcal_source *source = NULL;
  pcal_error err;
  if (pcal_source_open(&given->inputs, NULL, &source, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  for (size_t i = 0; i < PREVALENCE_ROWS;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    assert_int_equal(pc_source_next(source, 2, &batch, NULL), PCAL_OK);
    assert_true(batch.rows > 0);
    assert_int_equal(batch.weights_are, PCAL_WEIGHTS_IMPORTANCE);
    for (size_t r = 0; r < batch.rows; r++, i++)
      assert_near(batch.weights[r], expected[i], 1e-15);
  }
  pcal_source_free(source);
}

/* Of 5 rows 3 have class 0: with prevalence 1/5 of class 1 weights are 0.8 * 5/3 and 0.2 * 5/2. */
TEST(weights_of_classes) {
  static const double one[] = {0.2}, two[] = {0.8, 0.2}, three[] = {0.8, 0.2, 0.0};
  static const double expected[] = {4.0 / 3, 0.5, 0.5, 4.0 / 3, 4.0 / 3};
  prevalence_inputs given;
  for (int single = 0; single < 2; single++) {
    prevalence_fill(0, single, one, 1, &given); /* [1] */
    prevalence_check(&given, expected);
    prevalence_fill(2, single, one, 1, &given);
    prevalence_check(&given, expected);
    prevalence_fill(2, single, two, 2, &given);
    given.inputs.weights = NULL;
    prevalence_check(&given, expected);
    prevalence_fill(3, single, three, 3, &given); /* [2] */
    prevalence_check(&given, expected);
  }
}

/* [3] rows 3 and 4 count for no class: 1 row of class 0, 2 of class 1. */
TEST(rows_that_do_not_count) {
  static const double two[] = {0.5, 0.5};
  double expected[] = {1.5, 0.75, 0.75, 1.5, 1.5};
  prevalence_inputs given;
  for (int single = 0; single < 2; single++) {
    prevalence_fill(2, single, two, 2, &given);
    prevalence_single[6] = NAN; /* row 3, the first of its two columns */
    prevalence_double[6] = NAN;
    prevalence_single[9] = NAN; /* row 4, the second */
    prevalence_double[9] = NAN;
    prevalence_check(&given, expected);
  }
  prevalence_fill(2, 0, two, 2, &given);
  prevalence_weights[3] = INFINITY;
  prevalence_weights[4] = -1;
  expected[3] = INFINITY;
  expected[4] = -1.5;
  pcal_source *source = NULL;
  pcal_batch batch = PCAL_BATCH_INIT;
  assert_int_equal(pcal_source_open(&given.inputs, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pc_source_next(source, 9, &batch, NULL), PCAL_OK);
  for (size_t i = 0; i < PREVALENCE_ROWS; i++)
    assert_same(batch.weights[i], expected[i]);
  pcal_source_free(source);
  prevalence_fill(2, 0, two, 2, &given);
  prevalence_labels[3] = 7; /* left to whoever reads it */
  prevalence_labels[4] = -3;
  expected[3] = expected[4] = 1.0;
  assert_int_equal(pcal_source_open(&given.inputs, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pc_source_next(source, 9, &batch, NULL), PCAL_OK);
  for (size_t i = 0; i < PREVALENCE_ROWS; i++)
    assert_same(batch.weights[i], expected[i]);
  pcal_source_free(source);
}

static void prevalence_refused(const prevalence_inputs *given, pcal_status status,
                               const char *sentence) {
  pcal_source *source = NULL;
  pcal_error err = PCAL_ERROR_INIT;
  assert_int_equal(pcal_source_open(&given->inputs, NULL, &source, &err), status);
  if (strstr(err.message, sentence) == NULL)
    fail_msg("\"%s\" does not say \"%s\"", err.message, sentence);
  pcal_source_free(source);
}

TEST(refused) {
  static const double one[] = {0.2}, half[] = {0.5, 0.25}, below[] = {-0.5, 1.5},
                      third[] = {0.5, 0.25, 0.25}, bad[] = {NAN};
  prevalence_inputs given;
  prevalence_fill(3, 0, one, 1, &given);
  prevalence_refused(&given, PCAL_USAGE, "has 1 number for 3 classes");
  prevalence_fill(2, 0, third, 3, &given);
  prevalence_refused(&given, PCAL_USAGE, "has 3 numbers for 2 classes");
  prevalence_fill(2, 0, half, 2, &given);
  prevalence_refused(&given, PCAL_USAGE, "sums to 0.75; it must sum to 1");
  prevalence_fill(2, 0, below, 2, &given);
  prevalence_refused(&given, PCAL_USAGE, "numbers from 0 to 1, not -0.5");
  prevalence_fill(0, 0, bad, 1, &given);
  prevalence_refused(&given, PCAL_USAGE, "numbers from 0 to 1, not nan");
  prevalence_fill(3, 0, third, 3, &given); /* [2] */
  prevalence_refused(&given, PCAL_DATA, "is 0.25 for class 2, which no row has; give 0 for it");
  prevalence_fill(2, 0, one, 1, &given);
  given.inputs.labels = NULL;
  prevalence_refused(&given, PCAL_USAGE, "needs scores of classes with");
  prevalence_fill(0, 0, one, 1, &given);
  given.inputs.confidence = given.inputs.probs;
  given.inputs.correct = given.inputs.labels;
  given.inputs.probs = given.inputs.labels = NULL;
  prevalence_refused(&given, PCAL_USAGE, "needs scores of classes with");
}

/* [4] */
TEST(needs_all_rows) {
  static const double one[] = {0.2};
  prevalence_inputs given;
  pcal_source *source = NULL;
  pcal_error err = PCAL_ERROR_INIT;
  prevalence_fill(0, 0, one, 1, &given);
  assert_int_equal(pcal_source_open(&given.inputs, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pc_source_check_parts(source, &err), PCAL_USAGE);
  assert_non_null(strstr(err.message, "needs all rows at once"));
  pcal_source_free(source);
}

static pcal_status prevalence_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const prevalence_inputs *given = user;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_source *source = NULL;
  pcal_status status = pcal_source_open(&given->inputs, env, &source, err);
  if (status == PCAL_OK)
    status = pc_source_next(source, 9, &batch, err);
  pcal_source_free(source);
  return status;
}

TEST(survives_every_failed_allocation) {
  static const double two[] = {0.5, 0.5};
  prevalence_inputs given;
  prevalence_fill(2, 0, two, 2, &given);
  unit_fail_each_allocation(prevalence_scenario, &given);
}

static int prevalence_stop(void *user) {
  size_t *left = user;
  return (*left)-- == 0;
}

TEST(interrupted) {
  static const double two[] = {0.5, 0.5};
  prevalence_inputs given;
  pcal_status status = PCAL_INTERRUPTED;
  size_t stops = 0;
  prevalence_fill(2, 0, two, 2, &given);
  for (; status == PCAL_INTERRUPTED; stops++) {
    pcal_env env = PCAL_ENV_INIT;
    pcal_error err = PCAL_ERROR_INIT;
    size_t left = stops;
    env.interrupted = prevalence_stop;
    env.user = &left;
    status = prevalence_scenario(&env, &given, &err);
  }
  assert_int_equal(status, PCAL_OK);
  assert_true(stops > 1);
}
