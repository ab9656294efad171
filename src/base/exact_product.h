/* Comparing products of doubles exactly. */
#ifndef PC_EXACT_PRODUCT_H
#define PC_EXACT_PRODUCT_H

#include <math.h>

/* The sign of a b - c d, for whole factors whose products do not overflow; of fractions,
 * products that round to the same double below 2^53 count as equal.  Rounding keeps the order
 * of products, so that only equal ones are looked at again: what rounding took from them is
 * a double, which fma gives. */
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
