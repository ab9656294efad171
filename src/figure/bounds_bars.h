/* Errors between their bounds: bars from the estimates below an error to the one above it, and
 * points for its own estimate. */
#ifndef PC_BOUNDS_BARS_H
#define PC_BOUNDS_BARS_H

#include "figure/figure.h"

typedef struct pc_bounded_error {
  const char *name;
  int known;           /* there is an estimate */
  double value;        /* it, */
  double low, high;    /* its interval, */
  int has_interval;    /* where there is one */
  double below, above; /* bounds; above NaN: nothing is above */
  double other;        /* another value of the same error, hollow; NaN: none */
} pc_bounded_error;

/* Axes, names and key of panel 0, before the layout; then the marks. */
void pc_bounds_bars_axes(pc_figure *figure, const pc_bounded_error *rows, size_t count);
void pc_bounds_bars_marks(pc_figure *figure, const pc_bounded_error *rows, size_t count);

#endif
