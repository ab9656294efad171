#include "optim/scalar_search.h"

#include "../unit.h"

/* f(x) = a x - b log x: minimum at b/a.  log x has derivatives of every order. */
typedef struct log_case {
  double a, b;
  unsigned calls;
  unsigned fail_at;
} log_case;

static pcal_status log_evaluate(void *user, double x, pc_scalar_derivatives *out,
                                pcal_error *err) {
  log_case *about = user;
  if (++about->calls == about->fail_at)
    return pc_fail(err, PCAL_IO, "failed");
  out->value = about->a * x - about->b * log(x);
  out->slope[0] = about->a - about->b / x;
  out->slope[1] = about->b / (x * x);
  out->slope[2] = -2 * about->b / (x * x * x);
  out->slope[3] = 6 * about->b / (x * x * x * x);
  out->slope[4] = -24 * about->b / (x * x * x * x * x);
  out->slope[5] = 120 * about->b / (x * x * x * x * x * x);
  return PCAL_OK;
}

static pc_scalar_problem log_problem(log_case *about, int orders) {
  return (pc_scalar_problem){log_evaluate, about, 1e-4, 1e4, orders, 60};
}

TEST(finds_the_minimum_from_anywhere) {
  static const double minima[] = {2e-4, 0.01, 0.4175, 1.0, 77.0, 9000.0};
  static const double starts[] = {1e-9, 1e-4, 0.1, 1.0, 30.0, 1e4, 1e9};
  for (size_t m = 0; m < UNIT_COUNT(minima); m++)
    for (size_t s = 0; s < UNIT_COUNT(starts); s++)
      for (int orders = 2; orders <= 6; orders += 4) {
        log_case about = {1.0, minima[m], 0, 0};
        pc_scalar_result found;
        const pc_scalar_problem problem = log_problem(&about, orders);
        assert_int_equal(pc_scalar_search(&problem, starts[s], NULL, &found, NULL), PCAL_OK);
        assert_int_equal(found.end, PC_SEARCH_FLAT);
        assert_near(found.at, minima[m], 1e-8);
        assert_true(found.gradient <= 1e-8);
        assert_int_equal(found.evaluations, about.calls);
        assert_true(about.calls < 25);
        if (orders == 2)
          assert_same(found.slopes.slope[0], 1.0 - minima[m] / found.at);
        assert_true(fabs(found.at - minima[m]) <= found.gradient + 1e-12 * minima[m]);
        assert_near(found.slopes.value, found.at - minima[m] * log(found.at), 1e-8);
      }
}

/* Near the minimum six derivatives suffice to find it without another evaluation; far away not. */
TEST(six_derivatives_foresee) {
  static const struct {
    double start;
    unsigned calls;
  } cases[] = {{1.0, 1}, {1.004, 1}, {0.98, 1}, {1.1, 2}, {0.7, 2}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    log_case about = {1.0, 1.0, 0, 0};
    pc_scalar_result found;
    const pc_scalar_problem problem = log_problem(&about, 6);
    assert_int_equal(pc_scalar_search(&problem, cases[i].start, NULL, &found, NULL), PCAL_OK);
    assert_near(found.at, 1.0, 3e-9);
    assert_near(found.slopes.value, 1.0, 1e-9);
    assert_true(fabs(found.at - 1.0) <= found.gradient + 1e-15);
    assert_int_equal(about.calls, cases[i].calls);
  }
}

/* A rough search trusts them from further away, but not from anywhere. */
TEST(rough_searches_look_less) {
  static const struct {
    double start;
    unsigned calls;
  } cases[] = {{1.1, 1}, {0.8, 1}, {0.5, 2}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    log_case about = {1.0, 1.0, 0, 0};
    pc_scalar_result found;
    pc_scalar_problem problem = log_problem(&about, 6);
    problem.rough = 1;
    assert_int_equal(pc_scalar_search(&problem, cases[i].start, NULL, &found, NULL), PCAL_OK);
    assert_int_equal(found.end, PC_SEARCH_FLAT);
    assert_near(found.at, 1.0, 1e-3);
    assert_int_equal(about.calls, cases[i].calls);
  }
}

/* A start whose derivatives are known is not evaluated. */
TEST(known_starts_are_not_evaluated) {
  log_case about = {1.0, 1.0, 0, 0};
  pc_scalar_result found, again;
  pc_scalar_derivatives known;
  const pc_scalar_problem problem = log_problem(&about, 6);
  assert_int_equal(log_evaluate(&about, 1.1, &known, NULL), PCAL_OK);
  assert_int_equal(pc_scalar_search(&problem, 1.1, &known, &found, NULL), PCAL_OK);
  assert_int_equal(about.calls, 2);
  assert_int_equal(found.evaluations, 1);
  assert_int_equal(pc_scalar_search(&problem, 1.1, NULL, &again, NULL), PCAL_OK);
  assert_int_equal(again.evaluations, 2);
  assert_same(found.at, again.at);
}

TEST(stops_at_bounds) {
  static const double beyond[] = {1e-9, 1e9}, bounds[] = {1e-4, 1e4};
  for (size_t i = 0; i < 2; i++)
    for (int orders = 2; orders <= 6; orders += 4) {
      log_case about = {1.0, beyond[i], 0, 0};
      pc_scalar_result found;
      const pc_scalar_problem problem = log_problem(&about, orders);
      assert_int_equal(pc_scalar_search(&problem, 1.0, NULL, &found, NULL), PCAL_OK);
      assert_int_equal(found.end, PC_SEARCH_BOUND);
      assert_same(found.at, bounds[i]);
      assert_true(found.gradient > 0);
    }
}

/* sin(log x) and a hill between two valleys: the one downhill is found. */
static pcal_status wave_evaluate(void *user, double x, pc_scalar_derivatives *out,
                                 pcal_error *err) {
  (void)user;
  (void)err;
  const double u = log(x);
  out->value = cos(u);
  out->slope[0] = -sin(u) / x;
  out->slope[1] = (-cos(u) + sin(u)) / (x * x);
  out->slope[2] = out->slope[3] = out->slope[4] = out->slope[5] = 0.0;
  return PCAL_OK;
}

TEST(walks_downhill) {
  const double pi = acos(-1.0);
  const pc_scalar_problem problem = {wave_evaluate, NULL, 1e-4, 1e4, 2, 60};
  static const double sides[] = {-1.0, 1.0};
  for (size_t i = 0; i < 2; i++) {
    pc_scalar_result found;
    assert_int_equal(pc_scalar_search(&problem, exp(0.3 * sides[i]), NULL, &found, NULL),
                     PCAL_OK);
    assert_int_equal(found.end, PC_SEARCH_FLAT);
    assert_near(log(found.at), sides[i] * pi, 1e-9);
  }
}

/* Rounding noise in the slope cannot make the search run on. */
static pcal_status noisy_evaluate(void *user, double x, pc_scalar_derivatives *out,
                                  pcal_error *err) {
  unsigned *calls = user;
  (void)err;
  ++*calls;
  out->value = (x - 3) * (x - 3);
  out->slope[0] = 2 * (x - 3) + (*calls % 2 == 0 ? 1e-10 : -1e-10);
  out->slope[1] = 2;
  out->slope[2] = out->slope[3] = out->slope[4] = out->slope[5] = 0.0;
  return PCAL_OK;
}

TEST(noise_ends_the_search) {
  unsigned calls = 0;
  const pc_scalar_problem problem = {noisy_evaluate, &calls, 1e-4, 1e4, 6, 60};
  pc_scalar_result found;
  assert_int_equal(pc_scalar_search(&problem, 1.0, NULL, &found, NULL), PCAL_OK);
  assert_int_equal(found.end, PC_SEARCH_FLAT);
  assert_near(found.at, 3.0, 1e-9);
  assert_true(calls < 12);
}

/* |x - 3| has no flat place: the bracket closes. */
static pcal_status sharp_evaluate(void *user, double x, pc_scalar_derivatives *out,
                                  pcal_error *err) {
  (void)user;
  (void)err;
  out->value = fabs(x - 3);
  out->slope[0] = x < 3 ? -1 : 1;
  out->slope[1] = out->slope[2] = out->slope[3] = out->slope[4] = out->slope[5] = 0.0;
  return PCAL_OK;
}

TEST(gives_up_on_sharp_valleys) {
  pc_scalar_problem problem = {sharp_evaluate, NULL, 1e-4, 1e4, 6, 200};
  pc_scalar_result found;
  assert_int_equal(pc_scalar_search(&problem, 1.0, NULL, &found, NULL), PCAL_OK);
  assert_int_equal(found.end, PC_SEARCH_STUCK);
  assert_true(found.evaluations < 100);
  problem.limit = 5;
  assert_int_equal(pc_scalar_search(&problem, 1.0, NULL, &found, NULL), PCAL_OK);
  assert_int_equal(found.end, PC_SEARCH_STUCK);
  assert_int_equal(found.evaluations, 5);
}

/* Slopes beyond the doubles lead to a bound, not to NaN. */
static pcal_status steep_evaluate(void *user, double x, pc_scalar_derivatives *out,
                                  pcal_error *err) {
  (void)user;
  (void)x;
  (void)err;
  out->value = INFINITY;
  out->slope[0] = INFINITY;
  out->slope[1] = out->slope[2] = out->slope[3] = out->slope[4] = out->slope[5] = NAN;
  return PCAL_OK;
}

TEST(infinite_slopes_lead_to_a_bound) {
  const pc_scalar_problem problem = {steep_evaluate, NULL, 1e-4, 1e4, 6, 60};
  pc_scalar_result found;
  assert_int_equal(pc_scalar_search(&problem, 1.0, NULL, &found, NULL), PCAL_OK);
  assert_int_equal(found.end, PC_SEARCH_BOUND);
  assert_same(found.at, 1e-4);
}

TEST(passes_failures_on) {
  log_case about = {1.0, 0.3, 0, 3};
  pc_scalar_result found;
  pcal_error err;
  const pc_scalar_problem problem = log_problem(&about, 2);
  assert_int_equal(pc_scalar_search(&problem, 1.0, NULL, &found, &err), PCAL_IO);
  assert_sentence(err, PCAL_IO, "failed");
}
