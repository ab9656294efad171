/* The quadrature against an independent one: zeros of f by bisection of the plain sum over
 * masses and mirror images, and between them the difference of erf antiderivatives. */
#include "curve/smooth.h"

#include "../unit.h"
#include "base/rng.h"
#include "emulated.h"

#define MASSES 40
#define SCAN 40.0 /* places in sigma at which the sign of f is looked at */

typedef struct sample {
  double at[MASSES], mass[MASSES];
  pc_point_masses masses;
} sample;

static void sample_end(sample *s, size_t count) {
  double size = 0.0;
  for (size_t i = 0; i < count; i++)
    size += fabs(s->mass[i]);
  for (size_t i = 0; i < count; i++)
    s->mass[i] /= size;
  s->masses = (pc_point_masses){.count = count, .at = s->at, .mass = s->mass};
}

/* ---- the slow way ---- */

static double slow_value(const pc_point_masses *masses, double sigma, double t) {
  const int images = (int)ceil(5 * sigma) + 1;
  double sum = 0.0;
  for (size_t i = 0; i < masses->count; i++)
    for (int k = -images; k <= images; k++) {
      const double near = (t - masses->at[i] + 2 * k) / sigma;
      const double far = (t + masses->at[i] + 2 * k) / sigma;
      sum += masses->mass[i] * (exp(-near * near / 2) + exp(-far * far / 2));
    }
  return sum / (sigma * sqrt(2 * acos(-1.0)));
}

static double slow_primitive(const pc_point_masses *masses, double sigma, double t) {
  const int images = (int)ceil(5 * sigma) + 1;
  double sum = 0.0;
  for (size_t i = 0; i < masses->count; i++)
    for (int k = -images; k <= images; k++) {
      const double near = (t - masses->at[i] + 2 * k) / sigma;
      const double far = (t + masses->at[i] + 2 * k) / sigma;
      sum += masses->mass[i] / 2 * (erf(near / sqrt(2)) + erf(far / sqrt(2)));
    }
  return sum;
}

static double slow_zero(const pc_point_masses *masses, double sigma, double low, double high) {
  const int sign = slow_value(masses, sigma, low) > 0;
  for (int step = 0; step < 60; step++) {
    const double middle = (low + high) / 2;
    if ((slow_value(masses, sigma, middle) > 0) == sign)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static double slow_norm(const pc_point_masses *masses, double sigma) {
  const size_t steps = (size_t)ceil(SCAN / sigma);
  double from = slow_primitive(masses, sigma, 0.0), sum = 0.0;
  int sign = slow_value(masses, sigma, 0.0) > 0;
  for (size_t i = 1; i <= steps; i++) {
    const double t = (double)i / (double)steps;
    if ((slow_value(masses, sigma, t) > 0) == sign)
      continue;
    const double zero = slow_zero(masses, sigma, (double)(i - 1) / (double)steps, t);
    const double to = slow_primitive(masses, sigma, zero);
    sum += fabs(to - from);
    from = to;
    sign = !sign;
  }
  return sum + fabs(slow_primitive(masses, sigma, 1.0) - from);
}

static void check(const sample *s, double sigma) {
  const double slow = slow_norm(&s->masses, sigma),
               fast = pc_smooth_norm(NULL, &s->masses, sigma, PC_SMOOTH_FINE);
  if (fabs(fast - slow) > PC_SMOOTH_ERROR)
    fail_msg("sigma %g, %zu masses: %.12g, not %.12g", sigma, s->masses.count, fast, slow);
}

static const double sigmas[] = {1.0, 0.51, 0.5, 0.3, 0.1, 1.0 / 16, 0.0624, 0.03, 0.01, 0.004};

/* ---- comparisons ---- */

static void sample_random(sample *s, uint64_t stream, size_t count, double centre,
                          double spread) {
  const pc_rng rng = {11, stream};
  for (size_t i = 0; i < count; i++) {
    const double u = centre + spread * (((double)i + pc_rng_uniform(&rng, i)) / (double)count);
    s->at[i] = fmin(fmax(u, 0.0), 1.0);
    s->mass[i] = pc_rng_uniform(&rng, 1000 + i) - 0.5;
  }
  sample_end(s, count);
}

TEST(agrees_with_the_slow_way) {
  static const size_t counts[] = {1, 2, 7, MASSES};
  sample s;
  for (size_t c = 0; c < UNIT_COUNT(counts); c++)
    for (size_t i = 0; i < UNIT_COUNT(sigmas); i += emulated() ? 3 : 1) {
      sample_random(&s, 10 * c + i, counts[c], 0.0, 1.0);
      check(&s, sigmas[i]);
      sample_random(&s, 10 * c + i, counts[c], -0.05, 0.2); /* some of them on 0 */
      check(&s, sigmas[i]);
      sample_random(&s, 10 * c + i, counts[c], 0.9, 0.2); /* and on 1 */
      check(&s, sigmas[i]);
    }
}

/* Signs that alternate at about the distance where the error is largest. */
TEST(agrees_for_alternating_signs) {
  sample s;
  for (size_t i = 0; i < UNIT_COUNT(sigmas); i += emulated() ? 4 : 1)
    for (double apart = 0.5; apart < 4; apart += 0.7) {
      size_t count = 0;
      for (double at = 0.003; at <= 1 && count < MASSES; at += apart * sigmas[i], count++) {
        s.at[count] = at;
        s.mass[count] = count % 2 == 0 ? 1.0 : -1.0;
      }
      sample_end(&s, count);
      check(&s, sigmas[i]);
    }
}

/* The least fine grids have the largest errors: widths just above a power of two.  One mass of
 * each sign close together is a derivative of the Gaussian. */
TEST(agrees_for_close_pairs) {
  sample s;
  for (int k = 0; k < 8; k++)
    for (int place = 0; place < 10; place += emulated() ? 9 : 1) {
      s.at[0] = 0.3 + 0.01 * place;
      s.at[1] = s.at[0] + ldexp(0.3, -k);
      s.mass[0] = 1.0;
      s.mass[1] = -0.9;
      sample_end(&s, 2);
      check(&s, ldexp(1.0, -k));
      check(&s, ldexp(1.0001, -k));
    }
}

/* Masses gathered on the nodes of a grid, at once and by way of a finer one. */
TEST(gathered_masses_give_the_same) {
  static double at[2][4097], mass[2][4097];
  pc_point_masses fine = {.at = at[0], .mass = mass[0]}, wide = {.at = at[1], .mass = mass[1]};
  sample s;
  for (uint64_t stream = 0; stream < fewer_if_emulated(6, 2); stream++) {
    sample_random(&s, stream, MASSES, stream % 2 == 0 ? 0.0 : -0.1,
                  stream % 2 == 0 ? 1.0 : 1.2);
    pc_smooth_gather(NULL, &s.masses, 4096, &fine);
    assert_int_equal(fine.count, 4097);
    for (double sigma = 1.0; sigma > 16.0 / 4096; sigma /= 2.3) {
      const double plain = pc_smooth_norm(NULL, &s.masses, sigma, PC_SMOOTH_FINE);
      pc_smooth_gather(NULL, &s.masses, pc_smooth_grid(sigma, PC_SMOOTH_FINE), &wide);
      assert_near(pc_smooth_norm(NULL, &wide, sigma, PC_SMOOTH_FINE), plain, 1e-13);
      pc_smooth_gather(NULL, &fine, pc_smooth_grid(sigma, PC_SMOOTH_FINE), &wide);
      assert_true(fabs(pc_smooth_norm(NULL, &wide, sigma, PC_SMOOTH_FINE) - plain) < 1e-8);
    }
  }
}

/* ---- facts ---- */

/* One sign: nothing cancels, wherever the mass lies and however far it is reflected. */
TEST(keeps_the_mass) {
  static const double places[] = {0.0, 1e-9, 0.25, 0.5, 0.999, 1.0};
  sample s;
  for (size_t i = 0; i < UNIT_COUNT(sigmas); i++)
    for (size_t p = 0; p < UNIT_COUNT(places); p++) {
      s.at[0] = places[p];
      s.mass[0] = -1.0;
      sample_end(&s, 1);
      assert_near(pc_smooth_norm(NULL, &s.masses, sigmas[i], PC_SMOOTH_FINE), 1.0, 3e-9);
    }
}

TEST(nothing_gives_nothing) {
  const pc_point_masses none = {0};
  assert_same(pc_smooth_norm(NULL, &none, 0.1, PC_SMOOTH_FINE), 0.0);
}

TEST(opposite_masses_cancel) {
  sample s = {.at = {0.4, 0.4}, .mass = {1.0, -1.0}};
  sample_end(&s, 2);
  assert_true(pc_smooth_norm(NULL, &s.masses, 0.1, PC_SMOOTH_FINE) < 1e-15);
}

/* Tiny widths: masses that do not see each other, far apart over many blocks of the grid and
 * near the ends of blocks. */
TEST(tiny_widths) {
  sample s;
  for (int k = 12; k <= 24; k += 3) {
    const double sigma = ldexp(1.0, -k), block = 128 * sigma;
    size_t count = 0;
    for (double at = 0.0; at <= 1 && count + 3 < MASSES; at += 1.0 / 11) {
      const double edge = floor(at / block) * block;
      s.at[count] = edge;
      s.at[count + 1] = edge + 20 * sigma;
      s.at[count + 2] = edge + 50.3 * sigma;
      s.mass[count] = 1;
      s.mass[count + 1] = -2;
      s.mass[count + 2] = 0.5;
      count += 3;
    }
    sample_end(&s, count);
    assert_near(pc_smooth_norm(NULL, &s.masses, sigma, PC_SMOOTH_FINE), 1.0, 1e-8);
  }
}

TEST(falls_as_the_width_grows) {
  sample s;
  sample_random(&s, 99, MASSES, 0.0, 1.0);
  double before = 1.0 + 1e-9;
  for (double sigma = 0.001; sigma <= 1; sigma *= emulated() ? 1.5 : 1.07) {
    const double norm = pc_smooth_norm(NULL, &s.masses, sigma, PC_SMOOTH_FINE);
    assert_true(norm <= before + 2 * PC_SMOOTH_ERROR);
    before = norm;
  }
}
