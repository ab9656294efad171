#include "calibrators/temperature/row_sample.h"

#include "base/executor.h"
#include "calibrator_help.h"

enum { ROWS = 5000, CLASSES = 3, LIMIT = 200 };

static double drawn_scores[ROWS * CLASSES];
static int32_t drawn_labels[ROWS], drawn_tops[ROWS];

static pc_rows rows_of(const double *scores, const int32_t *labels, const double *weights,
                       size_t count) {
  return (pc_rows){.count = count,
                   .classes = CLASSES,
                   .scores = scores,
                   .labels = labels,
                   .top_label = drawn_tops,
                   .weights = weights};
}

static pc_row_sample sample_new(const pcal_env *env) {
  pc_row_sample sample;
  assert_int_equal(pc_row_sample_init(&sample, env, CLASSES, LIMIT, 0, NULL), PCAL_OK);
  return sample;
}

static double score_of(const pc_row_sample *sample, size_t i, size_t j) {
  return sample->floats ? (double)pc_row_sample_floats(sample, i)[j]
                        : pc_row_sample_doubles(sample, i)[j];
}

static int by_key(const void *a, const void *b) {
  const uint64_t x = ((const pc_sampled_row *)a)->key, y = ((const pc_sampled_row *)b)->key;
  return (x > y) - (x < y);
}

/* Two samples hold the same rows, each equally often, in any order. */
static void assert_same_sample(pc_row_sample *a, pc_row_sample *b) {
  assert_int_equal(a->level, b->level);
  assert_int_equal(a->count, b->count);
  assert_same(a->heavy, b->heavy);
  qsort(a->rows, a->count, sizeof *a->rows, by_key);
  qsort(b->rows, b->count, sizeof *b->rows, by_key);
  for (size_t i = 0; i < a->count; i++) {
    assert_true(a->rows[i].key == b->rows[i].key && a->rows[i].label == b->rows[i].label);
    for (size_t j = 0; j < CLASSES; j++)
      assert_true(score_of(a, i, j) == score_of(b, i, j));
  }
}

TEST(keeps_everything_while_it_fits) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_rows rows = rows_of(drawn_scores, drawn_labels, NULL, LIMIT);
  pc_row_sample sample = sample_new(&env);
  assert_int_equal(pc_row_sample_add(&sample, &rows, NULL), PCAL_OK);
  assert_int_equal(sample.level, 0);
  assert_int_equal(sample.count, LIMIT);
  assert_same(sample.heavy, LIMIT);
  assert_memory_equal(sample.scores, drawn_scores, LIMIT * CLASSES * sizeof(double));
  for (size_t i = 0; i < LIMIT; i++)
    assert_int_equal(sample.rows[i].label, drawn_labels[i]);
  assert_same(sample.rows[LIMIT - 1].weight, 1.0);
  pc_row_sample_free(&sample);
}

TEST(keeps_about_half_to_all_of_the_limit) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_rows rows = rows_of(drawn_scores, drawn_labels, NULL, ROWS);
  pc_row_sample sample = sample_new(&env);
  assert_int_equal(pc_row_sample_add(&sample, &rows, NULL), PCAL_OK);
  assert_true(sample.level > 0);
  assert_true(sample.count <= LIMIT && sample.count > LIMIT / 4);
  pc_row_sample_free(&sample);
}

/* In reverse order, and one by one. */
TEST(order_does_not_matter) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_row_sample forward = sample_new(&env), backward = sample_new(&env);
  const pc_rows all = rows_of(drawn_scores, drawn_labels, NULL, ROWS);
  assert_int_equal(pc_row_sample_add(&forward, &all, NULL), PCAL_OK);
  for (size_t i = ROWS; i-- > 0;) {
    const pc_rows one = rows_of(drawn_scores + i * CLASSES, drawn_labels + i, NULL, 1);
    assert_int_equal(pc_row_sample_add(&backward, &one, NULL), PCAL_OK);
  }
  assert_same_sample(&forward, &backward);
  pc_row_sample_free(&forward);
  pc_row_sample_free(&backward);
}

/* The expected number of rows does not change the sample; with many equal rows the sample
 * notices that its first level was too high. */
TEST(the_expected_number_of_rows_does_not_matter) {
  static double repeats[ROWS * CLASSES];
  static int32_t zeros[ROWS];
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t count = 10; count <= ROWS; count += 499) {
    const pc_rows rows = rows_of(drawn_scores, drawn_labels, NULL, count);
    pc_row_sample expecting, plain = sample_new(&env);
    assert_int_equal(pc_row_sample_init(&expecting, &env, CLASSES, LIMIT, count, NULL),
                     PCAL_OK);
    assert_int_equal(pc_row_sample_add(&expecting, &rows, NULL), PCAL_OK);
    assert_int_equal(pc_row_sample_add(&plain, &rows, NULL), PCAL_OK);
    assert_false(pc_row_sample_is_sparse(&expecting) || pc_row_sample_is_sparse(&plain));
    assert_same_sample(&expecting, &plain);
    pc_row_sample_free(&expecting);
    pc_row_sample_free(&plain);
  }
  pc_row_sample sparse;
  const pc_rows rows = rows_of(repeats, zeros, NULL, ROWS);
  assert_int_equal(pc_row_sample_init(&sparse, &env, CLASSES, LIMIT, 1000 * ROWS, NULL),
                   PCAL_OK);
  assert_int_equal(pc_row_sample_add(&sparse, &rows, NULL), PCAL_OK);
  assert_true(sparse.count == 0 && pc_row_sample_is_sparse(&sparse));
  pc_row_sample_free(&sparse);
}

/* About an eighth of the rows, and all of them. */
TEST(subsets_of_a_sample) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_rows rows = rows_of(drawn_scores, drawn_labels, NULL, ROWS);
  pc_row_sample sample = sample_new(&env);
  size_t few = 0;
  assert_int_equal(pc_row_sample_add(&sample, &rows, NULL), PCAL_OK);
  for (size_t i = 0; i < sample.count; i++) {
    few += (size_t)pc_row_sample_in_subset(&sample, i, 3);
    assert_true(pc_row_sample_in_subset(&sample, i, 0));
  }
  assert_true(few > sample.count / 32 && few < sample.count / 3);
  pc_row_sample_free(&sample);
}

typedef struct shared_sample {
  pc_row_sample sample;
  pc_rows rows[4];
} shared_sample;

static pcal_status add_part(void *user, size_t index, size_t worker, pcal_error *err) {
  shared_sample *shared = user;
  (void)worker;
  return pc_row_sample_add(&shared->sample, &shared->rows[index], err);
}

TEST(threads_do_not_matter) {
  enum { PART = ROWS / 4 };
  pcal_env env = pc_env_resolve(NULL);
  env.threads = 4;
  pc_row_sample alone = sample_new(&env);
  shared_sample shared = {.sample = sample_new(&env)};
  const pc_rows all = rows_of(drawn_scores, drawn_labels, NULL, 4 * PART);
  for (size_t i = 0; i < 4; i++)
    shared.rows[i] =
        rows_of(drawn_scores + i * PART * CLASSES, drawn_labels + i * PART, NULL, PART);
  assert_int_equal(pc_row_sample_add(&alone, &all, NULL), PCAL_OK);
  assert_int_equal(pc_run(&env, 4, 1e9, add_part, &shared, NULL), PCAL_OK);
  assert_same_sample(&alone, &shared.sample);
  pc_row_sample_free(&alone);
  pc_row_sample_free(&shared.sample);
}

/* Floats read in place give the same sample as doubles, also a part of it. */
TEST(floats_give_the_same_sample) {
  static float floats[ROWS * CLASSES];
  static double doubles[ROWS * CLASSES];
  static uint64_t ids[ROWS];
  const pcal_env env = pc_env_resolve(NULL);
  pc_row_sample a = sample_new(&env), b = sample_new(&env), c = sample_new(&env);
  for (size_t i = 0; i < ROWS * CLASSES; i++) {
    floats[i] = (float)drawn_scores[i];
    doubles[i] = (double)floats[i];
  }
  for (size_t i = 0; i < ROWS; i++)
    ids[i] = 70 + i;
  const pc_rows wide = rows_of(doubles, drawn_labels, NULL, ROWS);
  pc_rows flat = rows_of(NULL, drawn_labels, NULL, ROWS);
  flat.ids = ids;
  flat.flat = floats;
  flat.flat_stride = CLASSES * sizeof(float);
  flat.flat_first = 70;
  assert_int_equal(pc_row_sample_add(&a, &wide, NULL), PCAL_OK);
  assert_int_equal(pc_row_sample_add(&b, &flat, NULL), PCAL_OK);
  assert_true(!a.floats && b.floats);
  assert_same_sample(&a, &b);
  flat.count = ROWS / 2;
  assert_int_equal(pc_row_sample_add(&c, &flat, NULL), PCAL_OK);
  const pc_rows second =
      rows_of(doubles + ROWS / 2 * CLASSES, drawn_labels + ROWS / 2, NULL, ROWS - ROWS / 2);
  assert_int_equal(pc_row_sample_add(&c, &second, NULL), PCAL_OK);
  assert_same_sample(&a, &c);
  pc_row_sample_free(&a);
  pc_row_sample_free(&b);
  pc_row_sample_free(&c);
}

/* Unchecked rows that are not finite are left out. */
TEST(floats_that_are_not_finite_are_left_out) {
  const float floats[] = {1.0f, 2.0f,     3.0f, 1.0f, NAN,  3.0f,
                          4.0f, INFINITY, 0.0f, 0.0f, 9.0f, 1.0f};
  const uint64_t ids[] = {0, 1, 2, 3};
  const int32_t labels[] = {0, 0, 2, 1};
  const pcal_env env = pc_env_resolve(NULL);
  pc_row_sample sample = sample_new(&env);
  pc_rows flat = rows_of(NULL, labels, NULL, 4);
  flat.ids = ids;
  flat.flat = floats;
  flat.flat_stride = CLASSES * sizeof(float);
  assert_int_equal(pc_row_sample_add(&sample, &flat, NULL), PCAL_OK);
  assert_int_equal(sample.count, 2);
  assert_int_equal(sample.rows[0].top_label, 2);
  assert_int_equal(sample.rows[1].top_label, 1);
  assert_int_equal(sample.rows[1].label, 1);
  pc_row_sample_free(&sample);
}

/* A row of weight w is w rows; fractions count as one row more. */
TEST(weights_are_repeats) {
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
    sums[0] += weighted.rows[i].weight;
  for (size_t i = 0; i < repeated.count; i++)
    sums[1] += repeated.rows[i].weight;
  assert_int_equal(weighted.level, repeated.level);
  assert_same(sums[0], sums[1]);
  assert_same(weighted.heavy, repeated.heavy);
  pc_row_sample_free(&weighted);
  pc_row_sample_free(&repeated);
}

/* Tiny weights still take one place each, so memory is bounded; huge ones are dropped. */
TEST(extreme_weights) {
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
    assert_true(sample.rows[i].weight < 1.0);
  pc_row_sample_free(&sample);
  free(weights);
}

TEST(equal_rows_go_together) {
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
  pc_row_sample sample = sample_new(env);
  const pcal_status status = pc_row_sample_add(&sample, &rows, err);
  pc_row_sample_free(&sample);
  return status;
}

TEST(survives_every_failed_allocation) {
  unit_fail_each_allocation(sample_scenario, NULL);
}

static int draw_all(void **state) {
  (void)state;
  help_draw(drawn_scores, drawn_labels, ROWS, CLASSES, 2.0, 1.0);
  return 0;
}

TEST_GROUP(draw_all, NULL)
