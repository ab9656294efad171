#include "stats/cubic_spline.h"

#include "../unit.h"
#include "base/rng.h"

#define KNOTS_MAX 20

static const pc_runout runouts[] = {PC_RUNOUT_NATURAL, PC_RUNOUT_QUADRATIC, PC_RUNOUT_CUBIC};

static pc_spline_space space_of(size_t knots, pc_runout runout) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_spline_space space;
  assert_int_equal(pc_spline_space_new(&env, knots, runout, &space, NULL), PCAL_OK);
  return space;
}

static void space_free(pc_spline_space *space) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_spline_space_free(&env, space);
}

/* A cubic polynomial up to a degree, and its derivative. */
static double poly(int degree, double x) {
  return 0.5 - x + (degree > 1 ? 2 * x * x : 0) + (degree > 2 ? 1.5 * x * x * x : 0);
}

static double poly_slope(int degree, double x) {
  return -1 + (degree > 1 ? 4 * x : 0) + (degree > 2 ? 4.5 * x * x : 0);
}

/* Straight lines are in every space, parabolas with the quadratic end, cubics with the cubic
 * end: values, slopes and mean slopes are those of the polynomial. */
TEST(reproduces_polynomials) {
  for (int r = 0; r < 3; r++)
    for (size_t knots = 3; knots <= KNOTS_MAX; knots++) {
      const int degree = r == 2 && knots == 3 ? 2 : r + 1;
      pc_spline_space space = space_of(knots, runouts[r]);
      double values[KNOTS_MAX], bends[KNOTS_MAX];
      for (size_t i = 0; i < knots; i++)
        values[i] = poly(degree, (double)i / (double)(knots - 1));
      pc_spline_second_derivatives(&space, values, bends);
      for (int i = 0; i <= 50; i++) {
        const double x = i / 50.0, a = x * 0.3;
        const pc_spline_form value = pc_spline_value(&space, x);
        const pc_spline_form slope = pc_spline_slope(&space, x);
        assert_true(fabs(pc_spline_evaluate(&value, values, bends) - poly(degree, x)) < 1e-11);
        assert_true(fabs(pc_spline_evaluate(&slope, values, bends) - poly_slope(degree, x)) <
                    1e-10);
        const double mean =
            x > a ? (poly(degree, x) - poly(degree, a)) / (x - a) : poly_slope(degree, x);
        assert_true(fabs(pc_spline_mean_slope(&space, a, x, values, bends) - mean) < 1e-10);
      }
      space_free(&space);
    }
}

/* The same bits as one place at a time. */
TEST(many_slopes) {
  enum { K = 7, PLACES = 100 };
  pc_spline_space space = space_of(K, PC_RUNOUT_NATURAL);
  const double values[K] = {0.5, -1, 2, 0.25, 3, 1, -2};
  double bends[K], x[PLACES], slopes[PLACES];
  pc_spline_second_derivatives(&space, values, bends);
  for (int i = 0; i < PLACES; i++)
    x[i] = (i / 2) / 47.0 - 0.02; /* pairs, some beyond the ends */
  for (size_t count = 0; count <= PLACES; count += 25) {
    pc_spline_slopes(&space, x, count, values, bends, slopes);
    for (size_t i = 0; i < count; i++) {
      const pc_spline_form slope = pc_spline_slope(&space, x[i]);
      assert_same(slopes[i], pc_spline_evaluate(&slope, values, bends));
    }
  }
  space_free(&space);
}

/* Any values: interpolated, with first and second derivatives that do not jump at knots, and
 * with the ends that were asked for. */
TEST(is_smooth) {
  for (int r = 0; r < 3; r++)
    for (size_t knots = 4; knots <= KNOTS_MAX; knots++) {
      pc_spline_space space = space_of(knots, runouts[r]);
      const pc_rng rng = {knots, (uint64_t)r};
      double values[KNOTS_MAX], m[KNOTS_MAX];
      for (size_t i = 0; i < knots; i++)
        values[i] = pc_rng_normal(&rng, i);
      pc_spline_second_derivatives(&space, values, m);
      for (size_t i = 0; i < knots; i++) {
        const double x = (double)i / (double)(knots - 1);
        const pc_spline_form at = pc_spline_value(&space, x);
        assert_true(fabs(pc_spline_evaluate(&at, values, m) - values[i]) < 1e-10);
        if (i == 0 || i + 1 == knots)
          continue;
        const pc_spline_form left = pc_spline_slope(&space, nextafter(x, 0));
        const pc_spline_form right = pc_spline_slope(&space, nextafter(x, 1));
        assert_true(fabs(pc_spline_evaluate(&left, values, m) -
                         pc_spline_evaluate(&right, values, m)) < 1e-9);
      }
      const double start = runouts[r] == PC_RUNOUT_NATURAL     ? 0
                           : runouts[r] == PC_RUNOUT_QUADRATIC ? m[1]
                                                               : 2 * m[1] - m[2];
      assert_true(fabs(m[0] - start) <= 1e-9 * (1 + fabs(start)));
      space_free(&space);
    }
}

/* Forms spread over all values give what they give through bends. */
TEST(forms_spread) {
  pc_spline_space space = space_of(7, PC_RUNOUT_QUADRATIC);
  double values[7], bends[7];
  for (size_t i = 0; i < 7; i++)
    values[i] = sin((double)i);
  pc_spline_second_derivatives(&space, values, bends);
  for (int i = 0; i <= 40; i++)
    for (int j = 0; j <= i; j++) {
      double row[7] = {0}, sum = 0;
      pc_spline_add_mean_slope(&space, j / 40.0, i / 40.0, -2.0, row);
      for (size_t c = 0; c < 7; c++)
        sum += row[c] * values[c];
      assert_true(fabs(sum + 2 * pc_spline_mean_slope(&space, j / 40.0, i / 40.0, values,
                                                      bends)) < 1e-11);
    }
  space_free(&space);
}

/* The mean over a very short distance has all its digits. */
TEST(short_distances) {
  pc_spline_space space = space_of(6, PC_RUNOUT_NATURAL);
  const double values[] = {0, 0.5, -0.25, 1, 2, -1};
  double bends[6];
  pc_spline_second_derivatives(&space, values, bends);
  const pc_spline_form slope = pc_spline_slope(&space, 0.3);
  assert_near(pc_spline_mean_slope(&space, 0.3 - 1e-13, 0.3, values, bends),
              pc_spline_evaluate(&slope, values, bends), 1e-11);
  space_free(&space);
}

/* The normal equations against a design matrix written out. */
TEST(normal_equations) {
  enum { POINTS = 60, K = 5 };
  const pcal_env env = pc_env_resolve(NULL);
  for (int r = 0; r < 3; r++) {
    pc_spline_space space = space_of(K, runouts[r]);
    pc_spline_sums sums[K - 1] = {{{0}, {0}}};
    double matrix[K * K], right[K], expected[K * K] = {0}, expected_right[K] = {0};
    double xs[POINTS], ys[POINTS], ws[POINTS];
    const pc_rng rng = {5, (uint64_t)r};
    for (size_t p = 0; p < POINTS; p++) {
      const double x = ((double)p + pc_rng_uniform(&rng, 3 * p)) / POINTS;
      const double y = pc_rng_normal(&rng, 3 * p + 1), w = pc_rng_uniform(&rng, 3 * p + 2);
      double row[K] = {0};
      for (size_t c = 0; c < K; c++) { /* the spline that is 1 at knot c */
        double values[K] = {0}, bends[K];
        values[c] = 1;
        pc_spline_second_derivatives(&space, values, bends);
        const pc_spline_form at = pc_spline_value(&space, x);
        row[c] = pc_spline_evaluate(&at, values, bends);
      }
      xs[p] = x;
      ys[p] = y;
      ws[p] = w;
      for (size_t i = 0; i < K; i++) {
        expected_right[i] += w * y * row[i];
        for (size_t j = 0; j < K; j++)
          expected[i * K + j] += w * row[i] * row[j];
      }
    }
    const size_t cuts[] = {0, 1, 30, 30, POINTS}; /* points may come in parts */
    for (size_t c = 1; c < UNIT_COUNT(cuts); c++)
      pc_spline_add(&space, xs + cuts[c - 1], ys + cuts[c - 1], ws + cuts[c - 1],
                    cuts[c] - cuts[c - 1], sums);
    assert_int_equal(pc_spline_normal(&env, &space, sums, matrix, right, NULL), PCAL_OK);
    for (size_t i = 0; i < K * K; i++)
      assert_true(fabs(matrix[i] - expected[i]) < 1e-12);
    for (size_t i = 0; i < K; i++)
      assert_true(fabs(right[i] - expected_right[i]) < 1e-12);
    space_free(&space);
  }
}

static pcal_status scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_spline_space space;
  pc_spline_sums sums[3] = {{{0}, {0}}};
  double matrix[16], right[4];
  (void)user;
  PC_TRY(pc_spline_space_new(env, 4, PC_RUNOUT_CUBIC, &space, err));
  const pcal_status status = pc_spline_normal(env, &space, sums, matrix, right, err);
  pc_spline_space_free(env, &space);
  return status;
}

TEST(memory_may_run_out) {
  unit_fail_each_allocation(scenario, NULL);
}
