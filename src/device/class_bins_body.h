/* Bins of the probability of every class: the body of the kernels pc_class_bins_*.
 *
 * For logits, the probability of class j is exp(z_j - m) / t with m the largest logit and t = 1 + r the
 * total that pc_row_sums_* has written for the row: a division up to PC_NARROW_CLASSES classes, beyond
 * that a product with 1 / t, as data/convert_logits.c.  Probabilities are those that pc_prob_rows_* has
 * checked, divided by the scale of the row if it has one.  All sums are integers, as those of
 * machines/grid_every_class.c, so that any number of blocks and any order give the bits of the
 * CPU:
 *   first cell    a thread has one class, and adds its scores in a register;
 *   other cells   in shared memory, cut into 18 bits, if all cells of all classes fit there
 *                 (few classes, where many scores are beyond the first cell); otherwise at once
 *                 into the results.
 *
 * Edge cases:
 *   1. rows that the host must check: pc_row_sums_* has noticed them, and the results have no
 *      meaning; their totals may be any number, and their labels may be no class.
 *   2. the threads of a block that have no class only load rows.
 *   3. a block has at most PC_CLASS_BINS_STRIPS strips of PC_CLASS_BINS_THREADS rows.
 * Cost: about 40 double operations for each logit.
 *
 * This header is plain C, as softmax_rows_body.h: tests call the phases thread by thread. */
#ifndef PC_CLASS_BINS_BODY_H
#define PC_CLASS_BINS_BODY_H

#include "device/class_bins.h"
#include "device/gpu_sums.h"
#include "device/prob_rows_body.h"
#include "device/softmax_rows_body.h"

#define PC_CLASS_BINS_NARROW 32 /* PC_NARROW_CLASSES */
#define PC_CLASS_BINS_CHUNK 18  /* bits */

/* A cell in shared memory. */
typedef struct pc_class_bins_cell {
  uint32_t rows; /* hits in the upper half */
  uint32_t score[3];
} pc_class_bins_cell;

/* Memory that the threads of a block share. */
typedef struct pc_class_bins_shared {
  double cuts[PC_CLASS_BINS_CUTS];
  double largest[PC_CLASS_BINS_THREADS], total[PC_CLASS_BINS_THREADS]; /* of a strip */
  int32_t label[PC_CLASS_BINS_THREADS];
  uint64_t first[PC_CLASS_BINS_GRIDS][PC_CLASS_BINS_THREADS]; /* sums of the threads */
  uint32_t hits[PC_CLASS_BINS_GRIDS][PC_CLASS_BINS_THREADS];
  pc_class_bins_cell cell[PC_CLASS_BINS_SHARED_CELLS];
} pc_class_bins_shared;

/* A thread: its class, its place, its own sums. */
typedef struct pc_class_bins_thread {
  uint32_t thread, class_index, active;
  uint32_t step; /* rows of a block at once */
  uint64_t slice;
  uint64_t first[PC_CLASS_BINS_GRIDS];
  uint32_t hits[PC_CLASS_BINS_GRIDS];
} pc_class_bins_thread;

static inline int pc_class_bins_in_shared(const pc_class_bins *bins) {
  return bins->cell_count <= PC_CLASS_BINS_SHARED_CELLS;
}

/* First phase: clears the sums. */
static inline void pc_class_bins_begin(const pc_class_bins *bins, uint32_t block,
                                       uint32_t thread, pc_class_bins_shared *shared,
                                       pc_class_bins_thread *mine) {
  const uint32_t width = pc_class_bins_width(bins), tiles = pc_class_bins_tiles(bins);
  mine->thread = thread;
  mine->step = PC_CLASS_BINS_THREADS / width;
  mine->class_index = block % tiles * PC_CLASS_BINS_THREADS + thread % width;
  mine->active = thread < mine->step * width && mine->class_index < bins->classes;
  mine->slice = block / tiles;
  PC_GPU_UNROLL(2)
  for (int g = 0; g < PC_CLASS_BINS_GRIDS; g++) {
    mine->first[g] = 0;
    mine->hits[g] = 0;
  }
  for (uint32_t c = thread; c < bins->cut_count; c += PC_CLASS_BINS_THREADS)
    shared->cuts[c] = bins->cuts[c];
  for (uint32_t c = thread; pc_class_bins_in_shared(bins) && c < bins->cell_count;
       c += PC_CLASS_BINS_THREADS) {
    shared->cell[c].rows = 0;
    shared->cell[c].score[0] = shared->cell[c].score[1] = shared->cell[c].score[2] = 0;
  }
}

static inline int64_t pc_class_bins_label(const pc_class_bins *bins, uint64_t row) {
  if (bins->label_size == 8)
    return ((const int64_t *)bins->labels)[row];
  if (bins->label_size == 4)
    return ((const int32_t *)bins->labels)[row];
  return ((const uint8_t *)bins->labels)[row];
}

/* Second phase, for each strip that begins with row `first`: each thread loads one row. */
static inline void pc_class_bins_load(const pc_class_bins *bins,
                                      const pc_class_bins_thread *mine, uint64_t first,
                                      pc_class_bins_shared *shared) {
  const uint64_t row = first + mine->thread;
  if (row >= bins->rows)
    return;
  const double total = bins->total[row] < 0 ? -bins->total[row] : bins->total[row];
  const int inverse = bins->form == PC_ROW_LOGITS && bins->classes > PC_CLASS_BINS_NARROW;
  const int64_t label = pc_class_bins_label(bins, row);
  if (bins->form == PC_ROW_LOGITS)
    shared->largest[mine->thread] = bins->largest[row];
  shared->total[mine->thread] = inverse ? 1.0 / total : total;
  shared->label[mine->thread] =
      label >= 0 && label < (int64_t)bins->classes ? (int32_t)label : -1;
}

/* The cell of a score above 0 and up to 1, counted from the first cell of class 0. */
static inline uint32_t pc_class_bins_find(const pc_class_bins_grid *grid, uint32_t class_index,
                                          double score, const pc_class_bins_shared *shared) {
  const double place = score * grid->guess, last = (double)grid->cut_count;
  const double *first = shared->cuts + grid->first_cut + 1;
  const double *cut = first + (int32_t)(place < last ? place : last);
  while (score > *cut)
    cut++;
  while (!(score > cut[-1]))
    cut--;
  return class_index * (grid->cut_count + 1) + (uint32_t)(cut - first);
}

/* Adds a score beyond the first cell. */
static inline void pc_class_bins_beyond(const pc_class_bins *bins, uint32_t class_index,
                                        uint32_t g, double score, uint32_t hit,
                                        pc_class_bins_shared *shared) {
  const pc_class_bins_grid *grid = &bins->grid[g];
  const uint32_t index =
      grid->first_cell + pc_class_bins_find(grid, class_index, score, shared);
  const uint64_t units = (uint64_t)(int64_t)(score * 0x1p53);
  if (pc_class_bins_in_shared(bins)) {
    const uint32_t most = (1u << PC_CLASS_BINS_CHUNK) - 1;
    pc_class_bins_cell *cell = &shared->cell[index];
    pc_gpu_add_32(&cell->rows, 1 + (hit << 16));
    pc_gpu_add_32(&cell->score[0], (uint32_t)units & most);
    pc_gpu_add_32(&cell->score[1], (uint32_t)(units >> PC_CLASS_BINS_CHUNK) & most);
    pc_gpu_add_32(&cell->score[2], (uint32_t)(units >> 2 * PC_CLASS_BINS_CHUNK));
  } else {
    uint64_t *words = bins->words + (uint64_t)index * PC_CLASS_BINS_WORDS;
    pc_gpu_add_64(&words[PC_CLASS_BINS_COUNT], 1 + ((uint64_t)hit << 32));
    pc_gpu_add_64(&words[PC_CLASS_BINS_SCORE],
                  units & ((UINT64_C(1) << PC_CLASS_BINS_HIGH) - 1));
    pc_gpu_add_64(&words[PC_CLASS_BINS_SCORE_HIGH], units >> PC_CLASS_BINS_HIGH);
  }
}

/* Adds a score to every grid. */
static inline void pc_class_bins_score(const pc_class_bins *bins, pc_class_bins_thread *mine,
                                       double score, uint32_t hit,
                                       pc_class_bins_shared *shared) {
  PC_GPU_UNROLL(2)
  for (uint32_t g = 0; g < PC_CLASS_BINS_GRIDS; g++) {
    const double anchor = bins->grid[g].anchor;
    if (g < bins->grid_count && score <= bins->grid[g].last) {
      mine->first[g] += pc_double_bits(score + anchor) - pc_double_bits(anchor);
      mine->hits[g] += hit;
    } else if (g < bins->grid_count && score <= 1.0) { /* edge case 1 */
      pc_class_bins_beyond(bins, mine->class_index, g, score, hit, shared);
    }
  }
}

/* After the last strip: stores the sums of the thread. */
static inline void pc_class_bins_store(const pc_class_bins_thread *mine,
                                       pc_class_bins_shared *shared) {
  PC_GPU_UNROLL(2)
  for (uint32_t g = 0; g < PC_CLASS_BINS_GRIDS; g++) {
    shared->first[g][mine->thread] = mine->first[g];
    shared->hits[g][mine->thread] = mine->hits[g];
  }
}

static inline void pc_class_bins_publish_words(uint64_t *words, uint64_t count, uint64_t low,
                                               uint64_t high) {
  if (count != 0)
    pc_gpu_add_64(&words[PC_CLASS_BINS_COUNT], count);
  if (low != 0)
    pc_gpu_add_64(&words[PC_CLASS_BINS_SCORE], low);
  if (high != 0)
    pc_gpu_add_64(&words[PC_CLASS_BINS_SCORE_HIGH], high);
}

/* Adds the first cells of a grid to the results: one thread for each class. */
static inline void pc_class_bins_publish_first(const pc_class_bins *bins,
                                               const pc_class_bins_thread *mine, uint32_t g,
                                               const pc_class_bins_shared *shared) {
  const pc_class_bins_grid *grid = &bins->grid[g];
  const uint32_t width = pc_class_bins_width(bins);
  uint64_t units = 0, hits = 0;
  if (!mine->active || mine->thread >= width)
    return;
  for (uint32_t t = mine->thread; t < mine->step * width; t += width) {
    units += shared->first[g][t];
    hits += shared->hits[g][t];
  }
  const uint64_t cell = grid->first_cell + (uint64_t)mine->class_index * (grid->cut_count + 1);
  pc_class_bins_publish_words(bins->words + cell * PC_CLASS_BINS_WORDS, hits << 32,
                              units & ((UINT64_C(1) << PC_CLASS_BINS_HIGH) - 1),
                              units >> PC_CLASS_BINS_HIGH);
}

/* Adds the cells of shared memory to the results. */
static inline void pc_class_bins_publish_cells(const pc_class_bins *bins,
                                               const pc_class_bins_thread *mine,
                                               const pc_class_bins_shared *shared) {
  if (!pc_class_bins_in_shared(bins))
    return;
  for (uint32_t c = mine->thread; c < bins->cell_count; c += PC_CLASS_BINS_THREADS) {
    const pc_class_bins_cell *cell = &shared->cell[c];
    const uint64_t rows = cell->rows & 0xffff, hits = cell->rows >> 16;
    const uint64_t low = cell->score[0] + ((uint64_t)cell->score[1] << PC_CLASS_BINS_CHUNK);
    if (rows != 0)
      pc_class_bins_publish_words(bins->words + (uint64_t)c * PC_CLASS_BINS_WORDS,
                                  rows + (hits << 32), low, cell->score[2]);
  }
}

#define NUMBER float
#define NAMED(name) name##_f32
#include "device/class_bins_template.h"
#undef NAMED
#undef NUMBER

#define NUMBER double
#define NAMED(name) name##_f64
#include "device/class_bins_template.h"
#undef NAMED
#undef NUMBER

#endif
