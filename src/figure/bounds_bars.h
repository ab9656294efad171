/* Errors between their bounds: a bar from the estimate below an error to the estimate above it,
 * and a point for its own estimate. */
#ifndef PC_BOUNDS_BARS_H
#define PC_BOUNDS_BARS_H

#include "figure/figure.h"

typedef struct pc_bounded_error {
  const char *name;
  int known; /* has an estimate */
  double value;
  int has_interval;
  double low, high;
  double below, above; /* bounds; above is NaN if there is none */
  double other;        /* the error of the rows' own distribution, drawn hollow; NaN: none */
} pc_bounded_error;

/* Adds panel 0 with axes, names and legend; call before the layout. */
void pc_bounds_bars_axes(pc_figure *figure, const pc_bounded_error *rows, size_t count);
/* Adds the marks; call after the layout. */
void pc_bounds_bars_marks(pc_figure *figure, const pc_bounded_error *rows, size_t count);

#endif
