#include "stats/pair_sum.h"

#include "../kernels/pair_help.h"

static const pc_device_queue no_queue = {NULL, NULL};

static double sum_of(const pair_sample *s, const pc_pair_form *form, unsigned threads) {
  pcal_env env = pc_env_resolve(NULL);
  double sum = 0.0;
  env.threads = threads;
  assert_int_equal(pc_pair_sum(&env, form, &s->rows, &no_queue, &sum, NULL), PCAL_OK);
  return sum;
}

TEST(sums_all_pairs) {
  static const size_t counts[] = {1, 2, 16, 17, 255, 256, 257, 700};
  for (size_t n = 0; n < UNIT_COUNT(counts); n++)
    for (int kind = 0; kind < 4; kind++) {
      pair_sample s = pair_sample_make(counts[n], kind == 3 ? 60 : 3, 2.0, 3, kind > 1);
      const pc_pair_form form = pc_pair_form_make(kind & 1, kind >> 1, 1.5, &s.rows);
      long double want = 0;
      for (size_t i = 0; i < s.count; i++)
        for (size_t j = 0; j < i; j++)
          want += s.weights[i] * s.weights[j] * pair_h(&s, i, j, kind & 1, kind >> 1, 1.5);
      assert_near(sum_of(&s, &form, 1), (double)want, 1e-12);
      pair_sample_free(&s);
    }
}

TEST(threads_do_not_show) {
  pair_sample s = pair_sample_make(3000, 7, 2.0, 7, 1);
  const pc_pair_form form = pc_pair_form_make(0, 0, 1.0, &s.rows);
  const double one = sum_of(&s, &form, 1);
  assert_same(sum_of(&s, &form, 2), one);
  assert_same(sum_of(&s, &form, 7), one);
  pair_sample_free(&s);
}

static pcal_status sum_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const pair_sample *s = user;
  const pc_pair_form form = pc_pair_form_make(0, 0, 1.0, &s->rows);
  const pcal_env resolved = pc_env_resolve(env);
  double sum;
  return pc_pair_sum(&resolved, &form, &s->rows, &no_queue, &sum, err);
}

TEST(runs_out_of_memory) {
  pair_sample s = pair_sample_make(50, 3, 1.0, 3, 0);
  unit_fail_each_allocation(sum_scenario, &s);
  pair_sample_free(&s);
}
