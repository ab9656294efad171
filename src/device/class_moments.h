/* Arguments and results of the kernels of class_moments_body.h, shared by the host, the GPU and
 * tests. */
#ifndef PC_CLASS_MOMENTS_H
#define PC_CLASS_MOMENTS_H

#include "device/class_bins.h"

/* One grid with more sums than class_bins.h has: of squares, of the scores of hits, and only of
 * scores above a threshold. */
typedef struct pc_class_moments {
  pc_class_bins bins; /* grid_count is 1; `words` are those below */
  double above;       /* only scores above this count; -infinity: all */
} pc_class_moments;

/* Results for each cell of each class: words that begin as 0.  The first cell of a class counts its
 * rows too.  Sums are in the units of class_bins.h; the high words in units of 2^36 of those of the
 * low words. */
enum {
  PC_CLASS_MOMENTS_COUNT, /* rows, and hits in the upper half */
  PC_CLASS_MOMENTS_SCORE,
  PC_CLASS_MOMENTS_SCORE_HIGH,
  PC_CLASS_MOMENTS_SQUARE,
  PC_CLASS_MOMENTS_SQUARE_HIGH,
  PC_CLASS_MOMENTS_HIT, /* scores of hits */
  PC_CLASS_MOMENTS_HIT_HIGH,
  PC_CLASS_MOMENTS_WORDS
};

#endif
