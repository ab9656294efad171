/* Bins of the probability of every class for rows with weights or groups: the body of the kernels
 * pc_class_cells_*.
 *
 * The probabilities, the strips of rows and the threads are those of class_bins_body.h.  A thread adds
 * up in registers what falls into one cell, and moves it to the results when its next score is in
 * another cell or group.  Sums are those of every_class_weighted in machines/grid_every_class.c, in
 * integers of 128 bits: any number of blocks and any order give the bits of the CPU.
 *
 * Edge cases:
 *   1. rows that the host must check, and threads without a class: as class_bins_body.h.
 *   2. weights that the host must check have been found there before.
 * Cost: about 60 double operations for each score, and up to 20 additions to the results for each that
 * is in another cell than the one before.
 *
 * This header is plain C, as softmax_rows_body.h: tests call the phases thread by thread. */
#ifndef PC_CLASS_CELLS_BODY_H
#define PC_CLASS_CELLS_BODY_H

#include "device/class_bins_body.h"
#include "device/class_cells.h"

/* Memory that the threads of a block share. */
typedef struct pc_class_cells_shared {
  pc_class_bins_shared bins;
  double weight[PC_CLASS_BINS_THREADS]; /* of the rows of a strip */
  uint32_t group[PC_CLASS_BINS_THREADS];
} pc_class_cells_shared;

/* What a thread has added up for one cell. */
typedef struct pc_class_cells_sums {
  uint64_t cell;
  pc_uint128 sum[PC_CLASS_CELLS_SUMS]; /* [PC_CLASS_CELLS_WEIGHT ...] */
} pc_class_cells_sums;

/* Begins a cell. */
static inline void pc_class_cells_clear(uint64_t cell, pc_class_cells_sums *mine) {
  mine->cell = cell;
  PC_GPU_UNROLL(5)
  for (uint32_t s = 0; s < PC_CLASS_CELLS_SUMS; s++)
    mine->sum[s] = 0;
}

/* For each strip, after pc_class_bins_load: each thread loads weight and group of one row. */
static inline void pc_class_cells_load(const pc_class_cells *cells,
                                       const pc_class_bins_thread *mine, uint64_t first,
                                       pc_class_cells_shared *shared) {
  const uint64_t row = first + mine->thread;
  if (row >= cells->bins.rows)
    return;
  shared->weight[mine->thread] = cells->weights == NULL ? 1.0 : cells->weights[row];
  shared->group[mine->thread] = cells->groups == NULL ? 0 : cells->groups[row];
}

static inline void pc_class_cells_add_limbs(uint64_t *words, pc_uint128 sum) {
  PC_GPU_UNROLL(4)
  for (uint32_t l = 0; l < PC_CLASS_CELLS_LIMBS; l++) {
    const uint64_t limb = (uint64_t)(sum >> 32 * l) & UINT32_MAX;
    if (limb != 0)
      pc_gpu_add_64(&words[l], limb);
  }
}

/* Moves what the thread has added up to the results. */
static inline void pc_class_cells_publish(const pc_class_cells *cells,
                                          const pc_class_cells_sums *mine) {
  uint64_t *words = cells->bins.words + mine->cell * pc_class_cells_words(cells);
  const uint32_t squares = cells->sums > PC_CLASS_CELLS_SQUARE + cells->with_hit;
  if (mine->sum[PC_CLASS_CELLS_WEIGHT] == 0)
    return;
  PC_GPU_UNROLL(3)
  for (uint32_t s = 0; s < PC_CLASS_CELLS_SQUARE; s++)
    pc_class_cells_add_limbs(words + s * PC_CLASS_CELLS_LIMBS, mine->sum[s]);
  words += PC_CLASS_CELLS_SQUARE * PC_CLASS_CELLS_LIMBS;
  if (squares)
    pc_class_cells_add_limbs(words, mine->sum[PC_CLASS_CELLS_SQUARE]);
  if (cells->with_hit)
    pc_class_cells_add_limbs(words + squares * PC_CLASS_CELLS_LIMBS,
                             mine->sum[PC_CLASS_CELLS_HIT_SCORE]);
}

/* As pc_fixed_add_weighted of base/sum.h. */
static inline pc_uint128 pc_class_cells_product(double weight, double value) {
  const int64_t units = (int64_t)(value * 0x1p61), whole = (int64_t)weight;
  const double rest = weight - (double)whole;
  return (pc_uint128)(uint64_t)whole * (uint64_t)units +
         (uint64_t)(int64_t)(rest * (double)units);
}

/* As every_class_round of machines/grid_every_class.c. */
static inline double pc_class_cells_round(const pc_class_bins_grid *grid, int is_first,
                                          double value) {
  return is_first ? (value + grid->anchor) - grid->anchor
                  : (double)(int64_t)(value * 0x1p53) / 0x1p53;
}

/* Adds a score of the class of a thread. */
static inline void pc_class_cells_score(const pc_class_cells *cells, uint32_t class_index,
                                        uint32_t row, double score,
                                        const pc_class_cells_shared *shared,
                                        pc_class_cells_sums *mine) {
  const pc_class_bins_grid *grid = &cells->bins.grid[0];
  const double weight = shared->weight[row];
  const int is_first = score <= grid->last;
  if (weight == 0 || !(score > cells->above) || !(score <= 1.0)) /* edge case 1 */
    return;
  const uint64_t group = (uint64_t)shared->group[row] * cells->bins.classes;
  const uint64_t cell =
      group * (grid->cut_count + 1) +
      (is_first ? class_index * (grid->cut_count + 1)
                : pc_class_bins_find(grid, class_index, score, &shared->bins));
  if (cell != mine->cell) {
    pc_class_cells_publish(cells, mine);
    pc_class_cells_clear(cell, mine);
  }
  const pc_uint128 one = pc_class_cells_product(weight, 1.0);
  const pc_uint128 units =
      pc_class_cells_product(weight, pc_class_cells_round(grid, is_first, score));
  const int hit = shared->bins.label[row] == (int32_t)class_index;
  mine->sum[PC_CLASS_CELLS_WEIGHT] += one;
  mine->sum[PC_CLASS_CELLS_SCORE] += units;
  mine->sum[PC_CLASS_CELLS_SQUARE] +=
      pc_class_cells_product(weight, pc_class_cells_round(grid, is_first, score * score));
  mine->sum[PC_CLASS_CELLS_HITS] += hit ? one : 0;
  mine->sum[PC_CLASS_CELLS_HIT_SCORE] += hit ? units : 0;
}

#define NUMBER float
#define NAMED(name) name##_f32
#include "device/class_cells_template.h"
#undef NAMED
#undef NUMBER

#define NUMBER double
#define NAMED(name) name##_f64
#include "device/class_cells_template.h"
#undef NAMED
#undef NUMBER

#endif
