#include "measure/replicas/inversion_ends.h"

#include <math.h>

/* ---- which points ---- */

/* The points between a true error of 0 and that of the data. */
static int ends_between(size_t point) {
  return point == PC_INVERSION_THIRD || point == PC_INVERSION_MOST ||
         point == PC_INVERSION_SHIFT_THIRD || point == PC_INVERSION_SHIFT_MOST;
}

int pc_inversion_needs_first(const pc_inversion_kind *kind, size_t point) {
  if (kind->square)
    return point == PC_INVERSION_DATA || (kind->few && point < PC_INVERSION_DATA);
  if (point > PC_INVERSION_FARTHEST && kind->over_classes)
    return 0;
  return !ends_between(point) && point != PC_INVERSION_FARTHEST &&
         point != PC_INVERSION_SHIFT_FARTHEST;
}

int pc_inversion_needs_more(const pc_inversion_kind *kind, const pc_inversion_tails *tails,
                            size_t point) {
  if (kind->square || pc_inversion_needs_first(kind, point))
    return 0;
  if (point == PC_INVERSION_FARTHEST)
    return !(tails->low[PC_INVERSION_ABOVE] > tails->value);
  if (point == PC_INVERSION_SHIFT_FARTHEST)
    return !(tails->low[PC_INVERSION_SHIFT_ABOVE] > tails->value);
  const int bias = kind->few && tails->value > tails->middle[PC_INVERSION_ZERO];
  return tails->value > tails->high[PC_INVERSION_ZERO] ||
         (bias && (point == PC_INVERSION_THIRD || point == PC_INVERSION_MOST));
}

/* ---- ends ---- */

/* The x at which the line from (x0, y0) to (x1, y1) reaches y. */
static double ends_cross(double x0, double y0, double x1, double y1, double y) {
  return y1 > y0 ? x0 + (x1 - x0) * fmin(fmax((y - y0) / (y1 - y0), 0.0), 1.0) : x0;
}

/* Edge case 3: the quantile of the null, blended from own = 0 to own = 1. */
static double ends_blend(const pc_inversion_tails *tails, double own) {
  const double null = tails->null_high, value = tails->value;
  const double data = fmax(tails->high[PC_INVERSION_DATA], sqrt(null * null + value * value));
  const double same = sqrt(null * null + own * own * (data * data - null * null));
  return null > 0.0 ? 0.5 * (same + null + own * (data - null)) : 0.0;
}

/* The smallest error along the points `order` at which the value is not too large. */
static double ends_smallest(const pc_inversion_tails *tails, const size_t *order,
                            size_t count) {
  double truth = 0.0, high = 0.0;
  for (size_t i = 0; i < count; i++) {
    const size_t j = order[i];
    const double own = tails->truth[j] / fmax(tails->truth[PC_INVERSION_DATA], 1e-300);
    const double here = fmax(tails->high[j], ends_blend(tails, own));
    if (tails->value <= here)
      return i == 0 ? 0.0 : ends_cross(truth, high, tails->truth[j], here, tails->value);
    truth = tails->truth[j];
    high = here;
  }
  return tails->value;
}

double pc_inversion_least(const pc_inversion_tails *tails, int over_classes) {
  static const size_t own[] = {PC_INVERSION_ZERO, PC_INVERSION_THIRD, PC_INVERSION_MOST,
                               PC_INVERSION_DATA};
  static const size_t shift[] = {PC_INVERSION_ZERO, PC_INVERSION_SHIFT_THIRD,
                                 PC_INVERSION_SHIFT_MOST, PC_INVERSION_SHIFT};
  static const size_t dense[] = {
      PC_INVERSION_ZERO, PC_INVERSION_SHIFT_THIRD, PC_INVERSION_THIRD, PC_INVERSION_SHIFT_MOST,
      PC_INVERSION_MOST, PC_INVERSION_SHIFT,       PC_INVERSION_DATA};
  if (over_classes)
    return ends_smallest(tails, dense, sizeof dense / sizeof *dense);
  return fmin(ends_smallest(tails, own, sizeof own / sizeof *own),
              ends_smallest(tails, shift, sizeof shift / sizeof *shift));
}

double pc_inversion_largest(const pc_inversion_tails *tails, size_t first, size_t last) {
  double largest = 0.0;
  for (size_t j = first; j <= last; j++) {
    if (tails->low[j] > tails->value)
      return j == first ? largest
                        : ends_cross(tails->truth[j - 1], tails->low[j - 1], tails->truth[j],
                                     tails->low[j], tails->value);
    largest = tails->truth[j];
  }
  return largest;
}

double pc_inversion_bias(const pc_inversion_tails *tails) {
  static const size_t own[] = {PC_INVERSION_ZERO, PC_INVERSION_THIRD, PC_INVERSION_MOST,
                               PC_INVERSION_DATA};
  double truth = 0.0, middle = 0.0;
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    const size_t j = own[i];
    if (tails->value <= tails->middle[j])
      return tails->value - (i == 0 ? 0.0
                                    : ends_cross(truth, middle, tails->truth[j],
                                                 tails->middle[j], tails->value));
    truth = tails->truth[j];
    middle = tails->middle[j];
  }
  return 0.0;
}
