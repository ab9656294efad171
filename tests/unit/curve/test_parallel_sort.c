#include "curve/parallel_sort.h"

#include "../unit.h"
#include "base/rng.h"
#include "emulated.h"

#define PARTS 5

/* Scores of a kind that its buckets must keep in order. */
static double drawn(const pc_rng *rng, uint64_t i, int shape) {
  const double u = pc_rng_uniform(rng, i);
  switch (shape) {
  case 0:
    return u;
  case 1:
    return 1.0 - pow(u, 20.0); /* close to 1 */
  case 2:
    return pow(u, 20.0); /* close to 0 */
  case 3:
    return floor(u * 8.0) / 8.0; /* ties, 0 and the edge 1/2 */
  default:
    return u * (1.0 + 2e-5) - 1e-5; /* a little outside [0, 1] */
  }
}

static void compare(const pcal_env *env, size_t count, int shape, int weighted) {
  const pc_rng rng = {7, (uint64_t)shape}, weights = {8, (uint64_t)shape};
  double *score = malloc((count + 1) * sizeof *score),
         *weight = malloc((count + 1) * sizeof *weight);
  pc_outcome_column parts[PARTS];
  for (size_t i = 0; i < count; i++) {
    score[i] = drawn(&rng, i, shape) + 0.0;
    weight[i] = pc_rng_uniform(&weights, i);
  }
  for (size_t p = 0; p < PARTS; p++) {
    const size_t begin = p == 1 ? count / 9 : p * count / PARTS;
    const size_t end = p == 0 ? count / 9 : (p + 1) * count / PARTS;
    parts[p] =
        (pc_outcome_column){score + begin, weighted ? weight + begin : NULL, end - begin};
  }
  const pc_outcome_column whole = {score, weighted ? weight : NULL, count};
  pc_sorted_column expected, gathered, joined;
  assert_int_equal(pc_sorted_column_new(env, &whole, &expected, NULL), PCAL_OK);
  assert_int_equal(pc_parallel_sort(env, parts, PARTS, &gathered, NULL), PCAL_OK);
  assert_int_equal(pc_single_thread_sort(env, parts, PARTS, &joined, NULL), PCAL_OK);
  assert_int_equal(gathered.count, count);
  assert_int_equal(joined.count, count);
  assert_memory_equal(gathered.score, expected.score, count * sizeof *score);
  assert_memory_equal(joined.score, expected.score, count * sizeof *score);
  if (weighted) {
    assert_memory_equal(gathered.weight, expected.weight, count * sizeof *score);
    assert_memory_equal(joined.weight, expected.weight, count * sizeof *score);
  }
  pc_sorted_column_free(env, &expected);
  pc_sorted_column_free(env, &gathered);
  pc_sorted_column_free(env, &joined);
  free(score);
  free(weight);
}

/* Below and above what is sorted in one piece, by one worker and by several. */
TEST(is_a_sort_of_the_whole) {
  static const size_t counts[] = {1, 2, 1000, 150000};
  for (unsigned threads = 1; threads <= 3; threads += 2)
    for (size_t c = 0; c < UNIT_COUNT(counts); c++)
      for (int shape = 0; shape < 5; shape += emulated() ? 2 : 1)
        for (int weighted = shape > 0 && emulated(); weighted < 2; weighted++) {
          pcal_env env = pc_env_resolve(NULL);
          env.threads = threads;
          compare(&env, counts[c], shape, weighted);
        }
}

TEST(nothing_gives_nothing) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_sorted_column out;
  assert_int_equal(pc_parallel_sort(&env, NULL, 0, &out, NULL), PCAL_OK);
  assert_int_equal(out.count, 0);
  pc_sorted_column_free(&env, &out);
}

static pcal_status long_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pcal_env alone = *env;
  pc_sorted_column out;
  alone.threads = 1;
  PC_TRY(pc_parallel_sort(&alone, user, 2, &out, err));
  pc_sorted_column_free(env, &out);
  return PCAL_OK;
}

TEST(survives_failed_allocations) {
  enum { COUNT = 140000 };
  double *score = malloc(COUNT * sizeof *score), *weight = malloc(COUNT * sizeof *weight);
  for (size_t i = 0; i < COUNT; i++) {
    score[i] = (double)(i % 7) / 7;
    weight[i] = (double)(i % 3);
  }
  pc_outcome_column parts[2] = {{score, weight, COUNT / 2},
                                {score + COUNT / 2, weight + COUNT / 2, COUNT / 2}};
  unit_fail_each_allocation(long_scenario, parts);
  free(score);
  free(weight);
}
