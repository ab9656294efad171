#include "../unit.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/elementary.h"

#define TRIES 10000

/* splitmix64: in [0, 1). */
static double uniform(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* ---- Accuracy ---- */

/* Error in ulp of `want`. */
static double units_off(double got, long double want) {
  const double near = (double)want;
  if (isinf(near) || isinf(got))
    return got == near ? 0.0 : INFINITY;
  const double unit = fabs(near) < 0x1p-1022 ? 0x1p-1074 : ldexp(1.0, ilogb(near) - 52);
  return (double)(fabsl((long double)got - want) / (long double)unit);
}

typedef struct function {
  const char *name;
  double (*own)(double);
  long double (*reference)(long double);
  double low, high; /* range of x; of log |x| if the ends have one sign and are far apart */
  double most;      /* largest error, ulp */
} function;

static const function functions[] = {
    {"exp", pc_exp, expl, -708, 709, 0.52},
    {"exp", pc_exp, expl, -1, 1, 0.52},
    {"exp below 2^-1022", pc_exp, expl, -745, -708, 1.01},
    {"exp2", pc_exp2, exp2l, -1021, 1023, 0.52},
    {"expm1", pc_expm1, expm1l, -2, 2, 0.7},
    {"expm1", pc_expm1, expm1l, 1e-20, 700, 0.7},
    {"log", pc_log, logl, 1e-308, 1e308, 0.52},
    {"log", pc_log, logl, 0.5, 2, 0.52},
    {"log", pc_log, logl, 0.99, 1.01, 0.52},
    {"log of subnormal", pc_log, logl, 5e-324, 2e-308, 0.52},
    {"log1p", pc_log1p, log1pl, 1e-20, 1e300, 0.7},
    {"log1p", pc_log1p, log1pl, -0.999, 2, 0.7},
    {"log1p", pc_log1p, log1pl, -0.01, 0.01, 0.7},
    {"log2", pc_log2, log2l, 1e-308, 1e308, 0.52},
    {"log2", pc_log2, log2l, 0.5, 2, 0.52},
    {"log10", pc_log10, log10l, 1e-308, 1e308, 0.52},
    {"cbrt", pc_cbrt, cbrtl, 1e-308, 1e308, 0.6},
    {"cbrt", pc_cbrt, cbrtl, -8, 8, 0.6},
    {"sin", pc_sin, sinl, -10, 10, 1.2},
    {"sin", pc_sin, sinl, -1e5, 1e5, 1.2},
    {"erf", pc_erf, erfl, -6.5, 6.5, 1.2},
    {"erf", pc_erf, erfl, 1e-300, 1, 1.2},
    {"erfc", pc_erfc, erfcl, -7, 1, 3},
    {"erfc", pc_erfc, erfcl, 0.4, 26, 3},
};

/* A number between two ends, by its logarithm where these are far apart. */
static double between(double low, double high, uint64_t *state) {
  const double share = uniform(state);
  if (low > 0.0 && high / low > 1e3)
    return exp(log(low) + share * (log(high) - log(low)));
  return low + share * (high - low);
}

/* Some C libraries compute with long double no better than with double. */
static int has_reference(void) {
  const long double e = 2.718281828459045235360287L;
  return LDBL_MANT_DIG >= 64 && fabsl(expl(1.0L) - e) < 1e-18L &&
         fabsl(powl(e, 1.0L) - e) < 1e-18L;
}

TEST(test_accuracy) {
  if (!has_reference())
    skip();
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
    const function *at = &functions[f];
    uint64_t rng = f;
    for (size_t i = 0; i < TRIES; i++) {
      const double x = between(at->low, at->high, &rng);
      const double off = units_off(at->own(x), at->reference((long double)x));
      if (!(off <= at->most))
        fail_msg("%s(%.17g) is off by %g units of the last digit", at->name, x, off);
    }
  }
}

TEST(test_accuracy_of_two_arguments) {
  if (!has_reference())
    skip();
  uint64_t rng = 1;
  for (size_t i = 0; i < TRIES; i++) {
    const double x = between(1e-300, 1e300, &rng), y = between(-700, 700, &rng) / log(x);
    const double z = x * between(1e-6, 1, &rng);
    assert_true(units_off(pc_pow(x, y), powl((long double)x, (long double)y)) <= 0.53);
    assert_true(units_off(pc_hypot(x, z), hypotl((long double)x, (long double)z)) <= 1.3);
  }
}

/* ---- Special values ---- */

static const double special[] = {
    0.0,     -0.0,  1.0,    -1.0,   2.0,      -2.0,      0.5,    -0.5,   3.0,
    -3.0,    1e308, 1e-308, 5e-324, -5e-324,  1e300,     -1e300, 1024.0, -1074.0,
    -1080.0, 2.5,   -2.5,   0x1p53, INFINITY, -INFINITY, NAN,
};
#define SPECIAL (sizeof special / sizeof *special)

static int same(double a, double b) {
  if (isnan(a) || isnan(b))
    return isnan(a) && isnan(b);
  return signbit(a) == signbit(b) && (a == b || fabs(a - b) <= 4e-16 * fabs(b));
}

static void check_special(const char *name, double (*own)(double), double (*c)(double)) {
  for (size_t i = 0; i < SPECIAL; i++)
    if (!same(own(special[i]), c(special[i])))
      fail_msg("%s(%g) = %g", name, special[i], own(special[i]));
}

/* Some C libraries lose digits below the normal numbers. */
static double c_log2(double x) {
  return x > 0 && x < 0x1p-1022 ? log2(x * 0x1p54) - 54 : log2(x);
}

static double c_log10(double x) {
  return x > 0 && x < 0x1p-1022 ? log10(x * 0x1p54) - 54 * log10(2) : log10(x);
}

TEST(test_special_values_are_those_of_c) {
  check_special("exp", pc_exp, exp);
  check_special("exp2", pc_exp2, exp2);
  check_special("expm1", pc_expm1, expm1);
  check_special("log", pc_log, log);
  check_special("log1p", pc_log1p, log1p);
  check_special("log2", pc_log2, c_log2);
  check_special("log10", pc_log10, c_log10);
  check_special("cbrt", pc_cbrt, cbrt);
  check_special("erf", pc_erf, erf);
  check_special("erfc", pc_erfc, erfc);
  for (size_t i = 0; i < SPECIAL; i++)
    for (size_t j = 0; j < SPECIAL; j++) {
      const double x = special[i], y = special[j];
      if (!same(pc_pow(x, y), pow(x, y)))
        fail_msg("pow(%g, %g) = %g", x, y, pc_pow(x, y));
      if (!same(pc_hypot(x, y), hypot(x, y)))
        fail_msg("hypot(%g, %g) = %g", x, y, pc_hypot(x, y));
    }
}

TEST(test_exact_where_the_result_is) {
  double ten = 1.0;
  for (int i = 0; i <= 22; i++, ten *= 10.0) {
    assert_true(pc_pow(10.0, i) == ten);
    assert_true(pc_log10(ten) == i);
  }
  for (int i = -1022; i <= 1023; i++) {
    assert_true(pc_exp2(i) == ldexp(1.0, i));
    assert_true(pc_log2(ldexp(1.0, i)) == i);
  }
  for (int i = -100; i <= 100; i++)
    assert_true(pc_cbrt((double)i * i * i) == i);
}

/* ---- The same bits everywhere ---- */

static uint64_t mixed(uint64_t hash, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (hash ^ bits) * UINT64_C(0x100000001b3);
}

/* Recorded once; a compiler, processor or system that gives another number has other bits. */
TEST(test_bits_are_those_recorded) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325), rng = 7;
  for (size_t i = 0; i < 20000; i++) {
    const double x = ldexp(uniform(&rng) + 0.5, (int)(i % 41) - 20), y = uniform(&rng) * 8 - 4;
    hash = mixed(mixed(hash, pc_exp(y * 8)), pc_expm1(y));
    hash = mixed(mixed(hash, pc_exp2(y)), pc_log(x));
    hash = mixed(mixed(hash, pc_log1p(x)), pc_log2(x));
    hash = mixed(mixed(hash, pc_log10(x)), pc_pow(x, y));
    hash = mixed(mixed(hash, pc_cbrt(y)), pc_hypot(x, y));
    hash = mixed(mixed(hash, pc_sin(y)), pc_erf(y));
    hash = mixed(hash, pc_erfc(y));
  }
  assert_int_equal(hash, UINT64_C(0x31e15c4b0cf38fea));
}
