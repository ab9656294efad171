/* Soft labels; numbers in brackets are the edge cases of io/source_soft.c. */
#include "../unit.h"

#include "file_inputs.h"
#include "io/source.h"

#define SOFT_ROWS 3

static const double soft_probs[SOFT_ROWS * 2] = {0.5, 0.5, 0.25, 0.75, 1, 0};
static double soft_shares[SOFT_ROWS * 2], soft_weights[SOFT_ROWS];
static const int32_t soft_groups[SOFT_ROWS] = {4, 4, 7};

/* Inputs in memory: `inputs` points to the other fields. */
typedef struct soft_inputs {
  pcal_inputs inputs;
  pcal_input probs, labels, weights, groups, ids;
} soft_inputs;

static void soft_set(double a, double b, double c, double d, double e, double f) {
  const double shares[] = {a, b, c, d, e, f};
  memcpy(soft_shares, shares, sizeof shares);
  for (size_t i = 0; i < SOFT_ROWS; i++)
    soft_weights[i] = 1.0 + (double)i;
}

static pcal_input soft_input(const void *data, pcal_type type, size_t columns) {
  pcal_input input = PCAL_INPUT_INIT;
  input.data = data;
  input.type = type;
  input.rows = SOFT_ROWS;
  input.columns = columns;
  return input;
}

static void soft_fill(soft_inputs *out) {
  out->inputs = (pcal_inputs)PCAL_INPUTS_INIT;
  out->probs = soft_input(soft_probs, PCAL_F64, 2);
  out->labels = soft_input(soft_shares, PCAL_F64, 2);
  out->weights = soft_input(soft_weights, PCAL_F64, 0);
  out->groups = soft_input(soft_groups, PCAL_I32, 0);
  out->ids = soft_input(soft_groups, PCAL_I32, 0);
  out->inputs.probs = &out->probs;
  out->inputs.labels = &out->labels;
}

static pcal_source *soft_open(soft_inputs *given) {
  pcal_source *source = NULL;
  pcal_error err;
  if (pcal_source_open(&given->inputs, NULL, &source, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  pc_source_allow_soft(source);
  return source;
}

/* Row i becomes a row for each class with the weight w_i q_ik / sum q_i, in windows of any size. */
TEST(rows_for_each_class) {
  static const double expected[] = {0.25, 0.75, 2, 0, 1.5, 1.5};
  soft_inputs given;
  soft_set(0.25, 0.75, 1, 0, 0.5, 0.5);
  for (size_t window = 1; window <= 7; window++)
    for (int grouped = 0; grouped < 2; grouped++) {
      pcal_batch batch = PCAL_BATCH_INIT;
      soft_fill(&given);
      given.inputs.weights = &given.weights;
      given.inputs.groups = grouped ? &given.groups : NULL;
      pcal_source *source = soft_open(&given);
      assert_true(pc_source_is_soft(source));
      for (size_t i = 0; i < 6;) {
        assert_int_equal(pc_source_next(source, window, &batch, NULL), PCAL_OK);
        assert_true(batch.rows > 0 && batch.rows <= window);
        assert_int_equal(batch.weights_are, PCAL_WEIGHTS_IMPORTANCE);
        assert_int_equal(batch.groups != NULL, grouped);
        for (size_t r = 0; r < batch.rows; r++, i++) {
          assert_int_equal(batch.labels[r], i % 2);
          assert_same(batch.weights[r], expected[i]);
          assert_same(((const double *)batch.scores)[2 * r], soft_probs[i / 2 * 2]);
          if (grouped) /* groups are numbered as they appear */
            assert_int_equal(batch.groups[r], i / 2 == 2);
        }
      }
      assert_int_equal(pc_source_next(source, window, &batch, NULL), PCAL_OK);
      assert_int_equal(batch.rows, 0);
      assert_int_equal(pc_source_soft_rows(source), SOFT_ROWS);
      pcal_source_free(source);
    }
}

/* [1] all cells 0 or 1; a cell that is missing decides nothing. */
TEST(one_hot_labels_are_not_expanded) {
  pcal_batch batch = PCAL_BATCH_INIT;
  soft_inputs given;
  soft_set(0, 1, 1, 0, NAN, NAN);
  soft_fill(&given);
  pcal_source *source = soft_open(&given);
  assert_false(pc_source_is_soft(source));
  assert_int_equal(pc_source_next(source, 9, &batch, NULL), PCAL_OK);
  assert_int_equal(batch.rows, SOFT_ROWS);
  assert_int_equal(batch.labels[0], 1);
  assert_int_equal(batch.labels[1], 0);
  assert_int_equal(batch.labels[2], PCAL_MISSING_LABEL);
  pcal_source_free(source);
}

/* [3] one row with a missing label keeps the weight.  Weights of 0 and infinite ones are not kept. */
TEST(missing_shares_and_odd_weights) {
  pcal_batch batch = PCAL_BATCH_INIT;
  soft_inputs given;
  pc_sum square;
  soft_set(0.25, 0.75, NAN, 0.5, 0.5, 0.5);
  soft_weights[0] = INFINITY;
  soft_fill(&given);
  given.inputs.weights = &given.weights;
  pcal_source *source = soft_open(&given);
  assert_int_equal(pc_source_next(source, 9, &batch, NULL), PCAL_OK);
  assert_int_equal(batch.rows, 6);
  assert_int_equal(batch.labels[2], PCAL_MISSING_LABEL);
  assert_int_equal(batch.labels[3], 1);
  assert_same(batch.weights[2], 2.0);
  assert_same(batch.weights[3], 0.0);
  assert_int_equal(pc_source_soft_kept(source, &square), 1);
  assert_same(pc_sum_value(&square), 9.0);
  pcal_source_free(source);
  soft_weights[0] = 0;
  source = soft_open(&given);
  assert_int_equal(pc_source_next(source, 9, &batch, NULL), PCAL_OK);
  assert_int_equal(pc_source_soft_kept(source, &square), 1);
  pcal_source_free(source);
}

/* [4] without groups each row is a cluster. */
TEST(clusters) {
  pcal_batch batch = PCAL_BATCH_INIT;
  soft_inputs given;
  soft_set(0.25, 0.75, 1, 0, 0.5, 0.5);
  soft_fill(&given);
  pcal_source *source = soft_open(&given);
  pc_source_use_soft_clusters(source);
  assert_int_equal(pc_source_next(source, 9, &batch, NULL), PCAL_OK);
  for (size_t i = 0; i < 6; i++)
    assert_int_equal(batch.groups[i], i / 2);
  pcal_source_free(source);
}

static void soft_refused(const soft_inputs *given, int allowed, pcal_status status,
                         const char *sentence) {
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_error err = PCAL_ERROR_INIT;
  pcal_source *source = NULL;
  pcal_status found = pcal_source_open(&given->inputs, NULL, &source, &err);
  if (found == PCAL_OK && allowed)
    pc_source_allow_soft(source);
  if (found == PCAL_OK)
    found = pc_source_next(source, 9, &batch, &err);
  assert_int_equal(found, status);
  if (strstr(err.message, sentence) == NULL)
    fail_msg("\"%s\" does not say \"%s\"", err.message, sentence);
  pcal_source_free(source);
}

/* [2], [5], and inputs that do not go together. */
TEST(refused) {
  static const double prevalence[] = {0.5, 0.5};
  soft_inputs given;
  soft_fill(&given);
  soft_set(0.25, 0.75, 1.5, -0.5, 0.5, 0.5);
  soft_refused(&given, 1, PCAL_DATA, "1.5 is no share");
  soft_set(0.25, 0.75, -0.5, 1.5, 0.5, 0.5);
  soft_refused(&given, 1, PCAL_DATA, "-0.5 is no share");
  soft_set(0.25, 0.75, 1, 0, 0.5, 0.25);
  soft_refused(&given, 1, PCAL_DATA, "0.75 is the sum of the shares");
  soft_set(0.25, 0.75, 1, 0, 0.5, 0.5);
  soft_refused(&given, 0, PCAL_USAGE, "only `measure` and `fit` take");
  given.inputs.ids = &given.ids;
  soft_refused(&given, 1, PCAL_USAGE, "cannot be combined");
  given.inputs.ids = NULL;
  given.inputs.ragged = 1;
  soft_refused(&given, 1, PCAL_USAGE, "cannot be combined");
  given.inputs.ragged = 0;
  given.inputs.prevalence = prevalence;
  given.inputs.prevalence_count = 2;
  soft_refused(&given, 1, PCAL_USAGE, "cannot be combined");
}

static pcal_status soft_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const soft_inputs *given = user;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_source *source = NULL;
  pcal_status status = pcal_source_open(&given->inputs, env, &source, err);
  if (status == PCAL_OK) {
    pc_source_allow_soft(source);
    status = pc_source_next(source, 9, &batch, err);
  }
  pcal_source_free(source);
  return status;
}

TEST(survives_every_failed_allocation) {
  soft_inputs given;
  soft_set(0.25, 0.75, 1, 0, 0.5, 0.5);
  soft_fill(&given);
  unit_fail_each_allocation(soft_scenario, &given);
}

static int soft_stop(void *user) {
  size_t *left = user;
  return (*left)-- == 0;
}

/* An interruption ends the search for shares and the reading, at every call. */
TEST(interrupted) {
  soft_inputs given;
  pcal_status status = PCAL_INTERRUPTED;
  size_t stops = 0;
  soft_set(0, 1, 1, 0, 0.5, 0.5);
  soft_fill(&given);
  for (; status == PCAL_INTERRUPTED; stops++) {
    pcal_env env = PCAL_ENV_INIT;
    pcal_error err = PCAL_ERROR_INIT;
    size_t left = stops;
    env.interrupted = soft_stop;
    env.user = &left;
    status = soft_scenario(&env, &given, &err);
  }
  assert_int_equal(status, PCAL_OK);
  assert_true(stops > 1);
}
