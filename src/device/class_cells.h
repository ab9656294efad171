/* Arguments and results of the kernels of class_cells_body.h, shared by the host, the GPU and tests. */
#ifndef PC_CLASS_CELLS_H
#define PC_CLASS_CELLS_H

#include "device/class_bins.h"

/* One grid of every class, for rows with weights or groups. */
typedef struct pc_class_cells {
  pc_class_bins bins; /* grid_count is 1; `words` are those below */
  double above;       /* only scores above this count; -infinity: all */
  const double
      *weights; /* one for each row, or NULL: all are 1.  Rows of weight 0 do not count */
  const uint32_t *groups; /* one for each row, or NULL: all are 0 */
  uint32_t sums;          /* of a cell: PC_CLASS_CELLS_SQUARE, or more */
  uint32_t with_hit;      /* the last of these is PC_CLASS_CELLS_HIT_SCORE */
} pc_class_cells;

/* Sums of weights times numbers, in units of pc_fixed (base/sum.h). */
enum {
  PC_CLASS_CELLS_WEIGHT, /* of rows; of hits */
  PC_CLASS_CELLS_HITS,
  PC_CLASS_CELLS_SCORE,
  PC_CLASS_CELLS_SQUARE,    /* of scores, if sums > 3 + with_hit */
  PC_CLASS_CELLS_HIT_SCORE, /* scores of hits; it follows the sums before */
  PC_CLASS_CELLS_SUMS
};

/* Results for each sum of each cell of each class of each group: limbs of 32 bits, words that begin
 * as 0. */
#define PC_CLASS_CELLS_LIMBS 4

static inline uint32_t pc_class_cells_words(const pc_class_cells *cells) {
  return cells->sums * PC_CLASS_CELLS_LIMBS;
}

#endif
