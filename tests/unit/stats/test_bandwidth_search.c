#include "stats/bandwidth_search.h"

#include "../kernels/pair_help.h"

static const pc_device_queue no_queue = {NULL, NULL};

static const double search_bandwidths[] = {1e-5, 2e-5, 4e-5, 1e-4, 2e-4, 4e-4, 1e-3,
                                           2e-3, 4e-3, 7e-3, 0.01, 0.02, 0.05, 0.1,
                                           0.15, 0.2,  0.4,  0.6,  0.8,  1.0};
#define SEARCH_COUNT UNIT_COUNT(search_bandwidths)

static double search_total(const pair_sample *s) {
  double total = 0.0;
  for (size_t i = 0; i < s->count; i++)
    total += s->weights[i];
  return total;
}

static pc_bandwidth_choice search_of(const pair_sample *s, double likelihood[SEARCH_COUNT]) {
  pcal_env env = pc_env_resolve(NULL);
  pc_dirichlet_kde dirichlet;
  pc_bandwidth_choice choice;
  assert_int_equal(
      pc_dirichlet_kde_new(&env, &s->rows, search_total(s), &no_queue, &dirichlet, NULL),
      PCAL_OK);
  assert_int_equal(pc_dirichlet_kde_likelihood(&dirichlet, search_bandwidths, SEARCH_COUNT,
                                               likelihood, NULL),
                   PCAL_OK);
  assert_int_equal(
      pc_bandwidth_search(&dirichlet, search_bandwidths, SEARCH_COUNT, &choice, NULL), PCAL_OK);
  pc_dirichlet_kde_free(&dirichlet);
  return choice;
}

/* Returns how many likelihoods were computed. */
static size_t check_search(const pair_sample *s) {
  double likelihood[SEARCH_COUNT], best = -INFINITY, expected = 0.0;
  const pc_bandwidth_choice choice = search_of(s, likelihood);
  for (size_t b = 0; b < SEARCH_COUNT; b++)
    if (likelihood[b] > best) {
      best = likelihood[b];
      expected = search_bandwidths[b];
    }
  assert_same(choice.bandwidth, expected);
  assert_in_range(choice.candidates, 1, SEARCH_COUNT);
  return choice.candidates;
}

/* From flat to confident rows, few and many classes, with weights. */
TEST(finds_the_highest_likelihood_of_all) {
  static const size_t shapes[][2] = {{2, 2}, {9, 3}, {60, 2}, {150, 10}, {80, 100}, {400, 5}};
  size_t computed = 0, searches = 0;
  for (size_t n = 0; n < UNIT_COUNT(shapes); n++)
    for (double spread = 0.1; spread < 20; spread *= 2.3)
      for (int weighted = 0; weighted <= 1; weighted++) {
        pair_sample s = pair_sample_make(shapes[n][0], shapes[n][1], spread, 3, weighted);
        computed += check_search(&s);
        searches++;
        pair_sample_free(&s);
      }
  assert_true(2 * computed < SEARCH_COUNT * searches);
}

/* Rows in pairs that nearly repeat, on a lattice: a peak for pairs and one for all rows. */
TEST(finds_the_larger_of_two_peaks) {
  enum { LATTICE = 16 };
  size_t two = 0;
  for (double apart = 1e-4; apart < 0.1; apart *= 1.5) {
    pair_sample s = pair_sample_make(LATTICE, 2, 1.0, 2, 0);
    for (size_t i = 0; i < LATTICE; i++) {
      s.probs[2 * i] = 0.15 + 0.1 * (double)(i / 2) + (double)(i % 2) * apart;
      s.probs[2 * i + 1] = 1.0 - s.probs[2 * i];
    }
    pair_sample_lay(&s);
    (void)check_search(&s);
    double likelihood[SEARCH_COUNT];
    size_t peaks = 0;
    (void)search_of(&s, likelihood);
    for (size_t b = 1; b + 1 < SEARCH_COUNT; b++)
      peaks += likelihood[b] > likelihood[b - 1] && likelihood[b] > likelihood[b + 1];
    two += peaks >= 2;
    pair_sample_free(&s);
  }
  assert_true(two >= 2);
}

/* Zeros in all rows, and a row that has no neighbours: one likelihood decides. */
TEST(zeros) {
  pair_sample s = pair_sample_make(40, 3, 1.0, 3, 1);
  for (size_t i = 0; i < s.count; i++) {
    const double u = (double)(1 + i % 7) / 8;
    memcpy(s.probs + 3 * i,
           i % 2 == 0 ? (const double[]){0, u, 1 - u} : (const double[]){u / 2, 1 - u, u / 2},
           3 * sizeof(double));
  }
  pair_sample_lay(&s);
  (void)check_search(&s);
  for (size_t i = 0; i < s.count; i++)
    s.probs[3 * i] = i == 7 ? 0.0 : 0.25;
  s.weights[7] = 1;
  pair_sample_lay(&s);
  double likelihood[SEARCH_COUNT];
  const pc_bandwidth_choice choice = search_of(&s, likelihood);
  assert_same(choice.bandwidth, 0.0);
  assert_int_equal(choice.candidates, 1);
  pair_sample_free(&s);
}

static pcal_status search_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const pair_sample *s = user;
  pcal_env resolved = pc_env_resolve(env);
  pc_dirichlet_kde dirichlet;
  pc_bandwidth_choice choice;
  resolved.threads = 1;
  PC_TRY(
      pc_dirichlet_kde_new(&resolved, &s->rows, search_total(s), &no_queue, &dirichlet, err));
  const pcal_status status =
      pc_bandwidth_search(&dirichlet, search_bandwidths, SEARCH_COUNT, &choice, err);
  pc_dirichlet_kde_free(&dirichlet);
  return status;
}

TEST(runs_out_of_memory) {
  pair_sample s = pair_sample_make(30, 3, 1.0, 3, 0);
  unit_fail_each_allocation(search_scenario, &s);
  pair_sample_free(&s);
}
