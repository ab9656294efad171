/* Inner products. */
#ifndef PC_DOT_H
#define PC_DOT_H

#include <stddef.h>

/* Eight partial sums, so that additions overlap, in a fixed order. */
static inline double pc_dot(const double *a, const double *b, size_t count) {
  double lanes[8] = {0.0};
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (size_t l = 0; l < 8; l++)
      lanes[l] += a[i + l] * b[i + l];
  for (size_t l = 0; i < count; i++, l++)
    lanes[l] += a[i] * b[i];
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

#endif
