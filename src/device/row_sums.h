/* Arguments and results of the kernels of row_sums_body.h, shared by the host, the GPU and
 * tests. */
#ifndef PC_ROW_SUMS_H
#define PC_ROW_SUMS_H

#include "device/prob_rows.h"

#define PC_ROW_SUMS_THREADS 128 /* of a block */
#define PC_ROW_SUMS_LANES 16    /* threads of a wide row: PC_LANES */
#define PC_ROW_SUMS_WARP 32  /* threads that wait for each other between phases of wide rows */
#define PC_ROW_SUMS_STEPS 16 /* wide rows of a thread between two calls of finish */
#define PC_ROW_SUMS_BLOCK_ROWS 4096 /* most rows of a block: sums in shared memory stay exact */
#define PC_ROW_SUMS_VALUES 3
#define PC_ROW_SUMS_PIECES 4 /* of a value: PC_SPLIT_ROUNDS * PC_SPLIT_PIECES */
#define PC_ROW_SUMS_LIMBS 70 /* PC_SUM_LIMBS */
#define PC_ROW_SUMS_GRIDS 4
#define PC_ROW_SUMS_CELLS 256 /* of all grids */
#define PC_ROW_SUMS_CUTS (PC_ROW_SUMS_CELLS + PC_ROW_SUMS_GRIDS)

typedef struct pc_row_sums_value {
  uint32_t kind; /* pc_row_value, not PC_ROW_VALUE_HIT: hits are always counted */
  double lowest; /* of PC_ROW_VALUE_LOG */
} pc_row_sums_value;

/* Bins of the top score.  A score belongs to the cell after the last cut that it exceeds. */
typedef struct pc_row_sums_grid {
  uint32_t first_cut; /* its cuts, between -infinity and +infinity, in `cuts` of pc_row_sums */
  uint32_t cut_count; /* without the two */
  uint32_t first_cell;
  double guess; /* cells per unit of score */
} pc_row_sums_grid;

/* Addresses are of the GPU. */
typedef struct pc_row_sums {
  const void *scores; /* row after row, without gaps */
  const void *labels; /* one for each row */
  uint64_t *words;    /* results, below */
  /* Out, for each row, or NULL: 1 + the sum of the terms of its softmax without the largest, which
   * is 1 / the top score, negative if the row is no hit; and its largest logit. */
  double *row_total, *row_largest;
  pc_prob_columns
      columns; /* of rows of probabilities, which have been checked (prob_rows.h); their
                              row_total is the top score itself, and row_largest is not written */
  uint64_t rows;
  uint32_t classes;
  uint32_t label_size; /* bytes: 8, 4 (signed) or 1 (unsigned) */
  uint32_t form;       /* pc_row_form */
  uint32_t value_count, grid_count;
  uint32_t cell_count, cut_count; /* of all grids, with infinite cuts */
  pc_row_sums_value value[PC_ROW_SUMS_VALUES];
  pc_row_sums_grid grid[PC_ROW_SUMS_GRIDS];
  double cuts[PC_ROW_SUMS_CUTS];
} pc_row_sums;

/* Results: words that begin as 0.  Then for each value PC_ROW_SUMS_LIMBS limbs, as those of pc_sum
 * before carries; then for each cell PC_ROW_SUMS_CELL_WORDS words. */
enum {
  PC_ROW_SUMS_ODD, /* 1: a row must be checked by the host, and the other words have no meaning */
  PC_ROW_SUMS_HITS,
  PC_ROW_SUMS_LABEL_HIGH,
  PC_ROW_SUMS_LABEL_LOW, /* classes - 1 - lowest label */
  PC_ROW_SUMS_RESCALED,  /* rows of probabilities that are */
  PC_ROW_SUMS_FIRST      /* limb */
};

/* Scores and squares are in units of 2^-53; the high words in units of 2^-17. */
enum {
  PC_ROW_SUMS_CELL_ROWS,
  PC_ROW_SUMS_CELL_HITS,
  PC_ROW_SUMS_CELL_SCORE,
  PC_ROW_SUMS_CELL_SCORE_HIGH,
  PC_ROW_SUMS_CELL_SQUARE,
  PC_ROW_SUMS_CELL_SQUARE_HIGH,
  PC_ROW_SUMS_CELL_WORDS
};

#define PC_ROW_SUMS_HIGH 36 /* bits of the low words */
#define PC_ROW_SUMS_WORDS                                       \
  (PC_ROW_SUMS_FIRST + PC_ROW_SUMS_VALUES * PC_ROW_SUMS_LIMBS + \
   PC_ROW_SUMS_CELLS * PC_ROW_SUMS_CELL_WORDS)

/* The first word of the limbs of a value; with value_count that of the cells. */
static inline uint32_t pc_row_sums_limbs(uint32_t value) {
  return PC_ROW_SUMS_FIRST + value * PC_ROW_SUMS_LIMBS;
}

static inline uint32_t pc_row_sums_words(const pc_row_sums *sums) {
  return pc_row_sums_limbs(sums->value_count) + sums->cell_count * PC_ROW_SUMS_CELL_WORDS;
}

#endif
