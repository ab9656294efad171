#include "stats/pair_median.h"

#include "../kernels/pair_help.h"
#include "emulated.h"

static double median_of(const pair_sample *s, int tv, unsigned threads) {
  pcal_env env = pc_env_resolve(NULL);
  double median = -1.0;
  env.threads = threads;
  assert_int_equal(pc_pair_median(&env, &s->rows, tv, &median, NULL), PCAL_OK);
  return median;
}

static int median_compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* All distances written out, copies included, and sorted. */
static double median_sorted(const pair_sample *s, int tv) {
  size_t total = 0, count = 0;
  for (size_t i = 0; i < s->count; i++)
    total += (size_t)s->weights[i];
  double *all = malloc(total * total * sizeof *all);
  for (size_t i = 0; i < s->count; i++) {
    const size_t w = (size_t)s->weights[i];
    for (size_t c = 0; c < w * (w - 1) / 2; c++)
      all[count++] = 0.0;
    for (size_t j = 0; j < i; j++)
      for (size_t c = 0; c < w * (size_t)s->weights[j]; c++)
        all[count++] = (double)pair_distance(s, i, j, tv);
  }
  assert_int_equal(count, total * (total - 1) / 2);
  qsort(all, count, sizeof *all, median_compare);
  const double median = (all[(count - 1) / 2] + all[count / 2]) / 2;
  free(all);
  return median;
}

/* Odd and even numbers of pairs; 700 rows have more than are ever kept. */
TEST(agrees_with_sorting) {
  static const size_t counts[] = {2, 3, 4, 5, 16, 17, 33, 200, 700};
  for (size_t n = 0; n < UNIT_COUNT(counts); n++)
    for (int kind = emulated() && n + 1 == UNIT_COUNT(counts) ? 3 : 0; kind < 4; kind++) {
      pair_sample s = pair_sample_make(counts[n], 4, 2.0, 4, kind & 1);
      assert_near(median_of(&s, kind >> 1, 1), median_sorted(&s, kind >> 1), 1e-13);
      pair_sample_free(&s);
    }
}

/* Rows on a coarse grid: many pairs share the middle distance, more than are ever kept. */
TEST(ties) {
  for (int kind = 0; kind < 4; kind += emulated() ? 3 : 1) {
    pair_sample s = pair_sample_make(900, 2, 1.0, 2, 0);
    for (size_t i = 0; i < s.count; i++) {
      s.probs[2 * i] = (double)(i % (kind < 2 ? 2 : 9)) / 8;
      s.probs[2 * i + 1] = 1 - s.probs[2 * i];
    }
    pair_sample_lay(&s);
    assert_near(median_of(&s, kind & 1, 1), median_sorted(&s, kind & 1), 1e-15);
    pair_sample_free(&s);
  }
}

/* The middle two are apart, and the lower one alone has more pairs than are ever kept: 600
 * equal rows of two kinds make 179,700 pairs at distance 0 and 179,700 + 300 at the other. */
TEST(halfway_between_the_middle_two) {
  pair_sample s = pair_sample_make(2, 2, 1.0, 2, 0);
  memcpy(s.probs, (const double[]){1, 0, 0, 1}, 4 * sizeof(double));
  s.weights[0] = 6; /* 15 + 3 pairs at 0, 18 at the other distance */
  s.weights[1] = 3;
  pair_sample_lay(&s);
  assert_near(median_of(&s, 1, 1), 0.5, 1e-15);
  assert_near(median_of(&s, 0, 1), sqrt(2) / 2, 1e-15);
  s.weights[0] = 1225; /* triangular numbers: as many pairs inside as between */
  s.weights[1] = 1176;
  pair_sample_lay(&s);
  assert_near(median_of(&s, 1, 1), 0.5, 1e-15);
  s.weights[0] = 1226;
  pair_sample_lay(&s);
  assert_same(median_of(&s, 1, 1), 0.0);
  s.weights[0] = 1224;
  pair_sample_lay(&s);
  assert_near(median_of(&s, 1, 1), 1.0, 1e-15);
  s.weights[0] = s.weights[1] = 1e12; /* more than 2^64 pairs */
  pair_sample_lay(&s);
  assert_near(median_of(&s, 1, 1), 1.0, 1e-15);
  pair_sample_free(&s);
}

/* Confident rows, whose distances are as small as the square of the least probability. */
TEST(tiny_distances) {
  pair_sample s = pair_sample_make(50, 2, 1.0, 2, 0);
  for (size_t i = 0; i < s.count; i++) {
    s.probs[2 * i] = 1.0;
    s.probs[2 * i + 1] = 1e-60 * (double)(1 + i * i);
  }
  pair_sample_lay(&s);
  assert_near(median_of(&s, 0, 1), median_sorted(&s, 0), 1e-14);
  assert_near(median_of(&s, 1, 1), median_sorted(&s, 1), 1e-14);
  pair_sample_free(&s);
}

TEST(threads_do_not_show) {
  pair_sample s = pair_sample_make(fewer_if_emulated(2500, 700), 3, 2.0, 3, 1);
  const double one = median_of(&s, 0, 1);
  assert_same(median_of(&s, 0, 2), one);
  assert_same(median_of(&s, 0, 5), one);
  pair_sample_free(&s);
}

static pcal_status median_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const pair_sample *s = user;
  pcal_env resolved = pc_env_resolve(env);
  double median;
  resolved.threads = 1;
  return pc_pair_median(&resolved, &s->rows, 0, &median, err);
}

TEST(runs_out_of_memory) {
  pair_sample s = pair_sample_make(50, 3, 1.0, 3, 0);
  unit_fail_each_allocation(median_scenario, &s);
  pair_sample_free(&s);
}
