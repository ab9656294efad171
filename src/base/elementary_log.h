/* The logarithm of elementary.c, for that file and for the kernels of a GPU (device/row_sums_columns_body.h). */
#ifndef PC_ELEMENTARY_LOG_H
#define PC_ELEMENTARY_LOG_H

#include <math.h>
#include <stddef.h>

#include "base/elementary_tables.h"
#include "base/float_bits.h"

#define ELEMENTARY_FIRST UINT64_C(0x3fe6000000000000) /* 11/16 */

/* The number high + low. */
typedef struct elementary_pair {
  double high, low;
} elementary_pair;

/* |a| >= |b|, or a is 0. */
static inline elementary_pair elementary_fast_sum(double a, double b) {
  const double high = a + b;
  const elementary_pair sum = {high, b - (high - a)};
  return sum;
}

static inline double elementary_upper(double x) {
  return pc_double_from_bits(pc_double_bits(x) & UINT64_C(0xfffffffff8000000));
}

/* x = 2^power m, m in [11/16, 11/8); the cell of m. */
typedef struct elementary_split {
  double power, m;
  size_t cell;
} elementary_split;

static inline elementary_split elementary_split_of(double x) {
  double power = 0.0;
  uint64_t bits = pc_double_bits(x);
  if (x < 0x1p-1022) {
    bits = pc_double_bits(x * 0x1p54);
    power = -54.0;
  }
  const uint64_t above = bits - ELEMENTARY_FIRST;
  power += (double)(int32_t)((int64_t)above >> 52);
  const elementary_split at = {
      power, pc_double_from_bits(bits - (above & UINT64_C(0xfff0000000000000))),
      (size_t)(above >> 45) & 127};
  return at;
}

/* The parts of a logarithm. */
typedef struct elementary_logs_at {
  double most; /* leading part of k ln 2 + log c */
  double rest;
  elementary_pair r; /* x = 2^k c (1 + r) */
} elementary_logs_at;

static inline elementary_logs_at elementary_look_up(const elementary_split *at) {
  const double *row = elementary_logs[at->cell];
  const double m_high = elementary_upper(at->m), m_low = at->m - m_high;
  const elementary_logs_at log = {at->power * ELEMENTARY_LN2_HIGH + row[1],
                                  at->power * ELEMENTARY_LN2_LOW + row[2],
                                  elementary_fast_sum(m_high * row[0] - 1.0, m_low * row[0])};
  return log;
}

/* (log(1 + h) - h + h^2 / 2) / h^3 */
static inline double elementary_log_tail(double h) {
  const double high = 1.0 / 7 - h * (1.0 / 8 - h / 9), square = h * h;
  const double low = 1.0 / 3 - h * (1.0 / 4);
  return low + square * ((1.0 / 5 - h * (1.0 / 6)) + square * high);
}

/* Handles arguments of a logarithm that are not positive and finite; 0 for those that are. */
static inline int elementary_odd(double x, double *out) {
  if (x > 0.0 && x < INFINITY)
    return 0;
  *out = x == 0.0 ? -INFINITY : x > 0.0 || isnan(x) ? x : NAN;
  return 1;
}

/* pc_log of elementary.h. */
static inline double elementary_log_of(double x) {
  double odd;
  if (elementary_odd(x, &odd))
    return odd;
  const elementary_split at = elementary_split_of(x);
  const elementary_logs_at log = elementary_look_up(&at);
  const double h = log.r.high, square = h * h;
  const double small = log.r.low - square * (0.5 - h * elementary_log_tail(h));
  const elementary_pair sum = elementary_fast_sum(log.most, h);
  return sum.high + (sum.low + (log.rest + small));
}

#endif
