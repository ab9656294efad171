#include "calibrators/row_sample.h"

#include "calibrator_help.h"

enum { ROWS = 5000, CLASSES = 3, LIMIT = 200 };

static double drawn_scores[ROWS * CLASSES];
static int32_t drawn_labels[ROWS];

static pc_rows rows_of(const double *scores, const int32_t *labels, const double *weights,
                       size_t count) {
  return (pc_rows){.count = count,
                   .classes = CLASSES,
                   .scores = scores,
                   .labels = labels,
                   .weights = weights};
}

static pc_row_sample sample_new(const pcal_env *env) {
  pc_row_sample sample;
  pc_row_sample_init(&sample, env, CLASSES, LIMIT);
  return sample;
}

static int by_key(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Two samples hold the same rows, each as often, whatever their order. */
static void assert_same_sample(pc_row_sample *a, pc_row_sample *b) {
  assert_int_equal(a->level, b->level);
  assert_int_equal(a->count, b->count);
  assert_same(a->heavy, b->heavy);
  qsort(a->keys, a->count, sizeof *a->keys, by_key);
  qsort(b->keys, b->count, sizeof *b->keys, by_key);
  assert_memory_equal(a->keys, b->keys, a->count * sizeof *a->keys);
}

static void keeps_everything_while_it_fits(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  const pc_rows rows = rows_of(drawn_scores, drawn_labels, NULL, LIMIT);
  pc_row_sample sample = sample_new(&env);
  assert_int_equal(pc_row_sample_add(&sample, &rows, NULL), PCAL_OK);
  assert_int_equal(sample.level, 0);
  assert_int_equal(sample.count, LIMIT);
  assert_same(sample.heavy, LIMIT);
  assert_memory_equal(sample.scores, drawn_scores, LIMIT * CLASSES * sizeof(double));
  assert_memory_equal(sample.labels, drawn_labels, LIMIT * sizeof(int32_t));
  assert_same(sample.weights[LIMIT - 1], 1.0);
  pc_row_sample_free(&sample);
}

static void keeps_about_half_to_all_of_the_limit(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  const pc_rows rows = rows_of(drawn_scores, drawn_labels, NULL, ROWS);
  pc_row_sample sample = sample_new(&env);
  assert_int_equal(pc_row_sample_add(&sample, &rows, NULL), PCAL_OK);
  assert_true(sample.level > 0);
  assert_true(sample.count <= LIMIT && sample.count > LIMIT / 4);
  pc_row_sample_free(&sample);
}

/* Backwards, and in parts that are merged. */
static void order_and_parts_do_not_matter(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  pc_row_sample forward = sample_new(&env), backward = sample_new(&env);
  pc_row_sample parts[3] = {sample_new(&env), sample_new(&env), sample_new(&env)};
  pc_row_sample merged = sample_new(&env);
  const pc_rows all = rows_of(drawn_scores, drawn_labels, NULL, ROWS);
  assert_int_equal(pc_row_sample_add(&forward, &all, NULL), PCAL_OK);
  for (size_t i = ROWS; i-- > 0;) {
    const pc_rows one = rows_of(drawn_scores + i * CLASSES, drawn_labels + i, NULL, 1);
    assert_int_equal(pc_row_sample_add(&backward, &one, NULL), PCAL_OK);
    assert_int_equal(pc_row_sample_add(&parts[i % 7 == 0 ? 0 : 1 + i % 2], &one, NULL),
                     PCAL_OK);
  }
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(pc_row_sample_merge(&merged, &parts[i], NULL), PCAL_OK);
  assert_same_sample(&forward, &backward);
  assert_same_sample(&forward, &merged);
  pc_row_sample_free(&forward);
  pc_row_sample_free(&backward);
  pc_row_sample_free(&merged);
  for (size_t i = 0; i < 3; i++)
    pc_row_sample_free(&parts[i]);
}

/* A row of weight w is w rows; fractions count as one row more. */
static void weights_are_repeats(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  pc_row_sample weighted = sample_new(&env), repeated = sample_new(&env);
  for (size_t i = 0; i < 1000; i++) {
    const double weight = (double)(1 + i % 4);
    const pc_rows heavy = rows_of(drawn_scores + i * CLASSES, drawn_labels + i, &weight, 1);
    const pc_rows one = rows_of(drawn_scores + i * CLASSES, drawn_labels + i, NULL, 1);
    assert_int_equal(pc_row_sample_add(&weighted, &heavy, NULL), PCAL_OK);
    for (double w = 0; w < weight; w++)
      assert_int_equal(pc_row_sample_add(&repeated, &one, NULL), PCAL_OK);
  }
  double sums[2] = {0, 0};
  for (size_t i = 0; i < weighted.count; i++)
    sums[0] += weighted.weights[i];
  for (size_t i = 0; i < repeated.count; i++)
    sums[1] += repeated.weights[i];
  assert_int_equal(weighted.level, repeated.level);
  assert_same(sums[0], sums[1]);
  assert_same(weighted.heavy, repeated.heavy);
  pc_row_sample_free(&weighted);
  pc_row_sample_free(&repeated);
}

/* Tiny weights still take one place each, so memory is bounded; huge ones are dropped. */
static void extreme_weights(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  pc_row_sample sample = sample_new(&env);
  double *weights = malloc(ROWS * sizeof *weights);
  for (size_t i = 0; i < ROWS; i++)
    weights[i] = 1e-9;
  const pc_rows light = rows_of(drawn_scores, drawn_labels, weights, ROWS);
  assert_int_equal(pc_row_sample_add(&sample, &light, NULL), PCAL_OK);
  assert_true(sample.count <= LIMIT && sample.count > LIMIT / 4);
  weights[0] = 1e12;
  const pc_rows heavy = rows_of(drawn_scores, drawn_labels, weights, 1);
  assert_int_equal(pc_row_sample_add(&sample, &heavy, NULL), PCAL_OK);
  for (size_t i = 0; i < sample.count; i++)
    assert_true(sample.weights[i] < 1.0);
  pc_row_sample_free(&sample);
  free(weights);
}

static void equal_rows_go_together(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  const double scores[CLASSES] = {1.0, -INFINITY, 0.0};
  const int32_t label = 2;
  const pc_rows one = rows_of(scores, &label, NULL, 1);
  pc_row_sample sample = sample_new(&env);
  for (size_t i = 0; i <= LIMIT; i++)
    assert_int_equal(pc_row_sample_add(&sample, &one, NULL), PCAL_OK);
  assert_int_equal(sample.count, 0);
  assert_same(sample.heavy, 0.0);
  pc_row_sample_free(&sample);
}

static pcal_status sample_scenario(const pcal_env *env, void *user, pcal_error *err) {
  (void)user;
  const pc_rows rows = rows_of(drawn_scores, drawn_labels, NULL, LIMIT);
  pc_row_sample sample = sample_new(env), other = sample_new(env);
  pcal_status status = pc_row_sample_add(&sample, &rows, err);
  if (status == PCAL_OK)
    status = pc_row_sample_merge(&other, &sample, err);
  pc_row_sample_free(&sample);
  pc_row_sample_free(&other);
  return status;
}

static void survives_every_failed_allocation(void **state) {
  (void)state;
  unit_fail_each_allocation(sample_scenario, NULL);
}

static int draw_all(void **state) {
  (void)state;
  help_draw(drawn_scores, drawn_labels, ROWS, CLASSES, 2.0, 1.0);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps_everything_while_it_fits),
      cmocka_unit_test(keeps_about_half_to_all_of_the_limit),
      cmocka_unit_test(order_and_parts_do_not_matter),
      cmocka_unit_test(weights_are_repeats),
      cmocka_unit_test(extreme_weights),
      cmocka_unit_test(equal_rows_go_together),
      cmocka_unit_test(survives_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, draw_all, NULL);
}
