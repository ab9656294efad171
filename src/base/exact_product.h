/* Comparing products of doubles exactly. */
#ifndef PC_EXACT_PRODUCT_H
#define PC_EXACT_PRODUCT_H

#include <math.h>

/* The sign of a b - c d, for factors whose products neither overflow nor underflow.  Rounding keeps
 * the order of products, so that only equal ones are looked at again: what rounding took from them is
 * a double, which fma gives.  Whole products below 2^53 are exact. */
static inline int pc_compare_products(double a, double b, double c, double d) {
  const double left = a * b, right = c * d;
  if (left != right)
    return left > right ? 1 : -1;
  if (fabs(left) < 0x1p53)
    return 0;
  const double rest = fma(a, b, -left), other = fma(c, d, -right);
  return (rest > other) - (rest < other);
}

#endif
