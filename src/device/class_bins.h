/* Arguments and results of the kernels of class_bins_body.h, shared by the host, the GPU and
 * tests. */
#ifndef PC_CLASS_BINS_H
#define PC_CLASS_BINS_H

#include "device/prob_rows.h"

#define PC_CLASS_BINS_THREADS 128 /* of a block; also the rows of a strip */
#define PC_CLASS_BINS_STRIPS 31   /* most strips of a block: sums of a thread stay below 2^63 */
#define PC_CLASS_BINS_GRIDS 2     /* of a launch */
#define PC_CLASS_BINS_UNROLL 4    /* scores of a thread at once */
#define PC_CLASS_BINS_CUTS 256    /* of all grids, with infinite ones */
#define PC_CLASS_BINS_SHARED_CELLS 1024 /* of all grids and classes, in shared memory */

/* Bins of the score of every class.  A score belongs to the cell after the last cut that it
 * exceeds.  Scores of the first cell are summed in units of the last bit of `anchor`
 * (kernels/class_column_sums.h), those of other cells in units of 2^-53. */
typedef struct pc_class_bins_grid {
  uint32_t
      first_cut; /* its cuts, between -infinity and +infinity, in `cuts` of pc_class_bins */
  uint32_t cut_count; /* without the two */
  uint32_t
      first_cell; /* of class 0; class j has its cut_count + 1 cells after those before it */
  double guess;   /* cells per unit of score */
  double last;    /* scores up to this belong to the first cell */
  double anchor;
} pc_class_bins_grid;

/* Addresses are of the GPU. */
typedef struct pc_class_bins {
  const void *scores;  /* row after row, without gaps */
  const void *labels;  /* one for each row */
  const double *total; /* row_total and row_largest of pc_row_sums; of probabilities the column
                          `scale` of prob_rows.h, and NULL */
  const double *largest;
  uint64_t *words; /* results, below */
  uint64_t rows;
  uint32_t classes;
  uint32_t form;                              /* pc_row_form */
  uint32_t label_size;                        /* bytes: 8, 4 (signed) or 1 (unsigned) */
  uint32_t slices;                            /* parts of the rows; see pc_class_bins_blocks */
  uint32_t grid_count, cut_count, cell_count; /* cells of all grids and classes */
  pc_class_bins_grid grid[PC_CLASS_BINS_GRIDS];
  double cuts[PC_CLASS_BINS_CUTS];
} pc_class_bins;

/* Results for each cell: words that begin as 0.  The first cell of a class does not count its
 * rows.  The high word is in units of 2^36 of those of the low word. */
enum {
  PC_CLASS_BINS_COUNT, /* rows, and hits in the upper half */
  PC_CLASS_BINS_SCORE,
  PC_CLASS_BINS_SCORE_HIGH,
  PC_CLASS_BINS_WORDS
};

#define PC_CLASS_BINS_HIGH 36

/* Columns of a block: the threads of one row. */
static inline uint32_t pc_class_bins_width(const pc_class_bins *bins) {
  return bins->classes < PC_CLASS_BINS_THREADS ? bins->classes : PC_CLASS_BINS_THREADS;
}

/* The parts of a row that are wider than a block. */
static inline uint32_t pc_class_bins_tiles(const pc_class_bins *bins) {
  return (bins->classes + PC_CLASS_BINS_THREADS - 1) / PC_CLASS_BINS_THREADS;
}

static inline uint32_t pc_class_bins_blocks(const pc_class_bins *bins) {
  return bins->slices * pc_class_bins_tiles(bins);
}

/* The number of slices for about `blocks` blocks. */
static inline uint32_t pc_class_bins_slices(const pc_class_bins *bins, uint64_t blocks) {
  const uint64_t strips = (bins->rows + PC_CLASS_BINS_THREADS - 1) / PC_CLASS_BINS_THREADS;
  const uint64_t least = (strips + PC_CLASS_BINS_STRIPS - 1) / PC_CLASS_BINS_STRIPS;
  const uint64_t wanted = blocks / pc_class_bins_tiles(bins);
  const uint64_t slices = wanted > least ? wanted : least;
  return (uint32_t)(slices < strips ? slices : strips);
}

#endif
