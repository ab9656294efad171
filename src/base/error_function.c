/* erf(x) = x + x p(x^2) for |x| <= 1, 1 - erfc(|x|) with the sign of x beyond.
 * erfc(x) = 1 - erf(x) for x <= 1/2; exp(-x^2) q(x) beyond, q one of twelve polynomials of
 *           degree 16, x^2 in two parts.
 * Edge cases:
 *  1. erf(x) = 1 for x >= 6.
 *  2. erfc(x) = 0 for x >= 28, and 2 - erfc(-x) for x < -1/2. */
#include <math.h>
#include <stddef.h>

#include "base/elementary.h"
#include "base/elementary_tables.h"

#define ERROR_FUNCTION_TERMS (sizeof elementary_erf / sizeof *elementary_erf)
#define ERROR_FUNCTION_SCALED (sizeof *elementary_erfc / sizeof(double))
#define ERROR_FUNCTION_END 28.0

/* |x| <= 1. */
static double error_function_near(double x) {
  const double at = x * x - 0.5;
  double p = 0.0;
  for (size_t k = ERROR_FUNCTION_TERMS; k-- > 0;)
    p = p * at + elementary_erf[k];
  return x + x * p;
}

/* 1/2 <= x < 28. */
static double error_function_far(double x) {
  const double(*row)[ERROR_FUNCTION_SCALED] = elementary_erfc;
  double low, q = 0.0;
  while (x >= (*row)[0])
    row++;
  for (size_t k = ERROR_FUNCTION_SCALED; k-- > 2;)
    q = q * (x - (*row)[1]) + (*row)[k];
  const double high = pc_product(x, x, &low);
  return pc_exp_of_sum(-high, -low) * q;
}

double pc_erf(double x) {
  if (!(fabs(x) > 1.0))
    return error_function_near(x);
  return copysign(fabs(x) < 6.0 ? 1.0 - error_function_far(fabs(x)) : 1.0, x);
}

double pc_erfc(double x) {
  if (!(fabs(x) > 0.5))
    return 1.0 - error_function_near(x);
  if (x < 0.0)
    return x > -6.0 ? 2.0 - error_function_far(-x) : 2.0;
  return x < ERROR_FUNCTION_END ? error_function_far(x) : 0.0;
}
