/* Sums over rows of logits: the body of the kernels pc_row_sums_*.
 *
 * For each row: the sums of its softmax, as softmax_rows_body.h; from these the columns of
 * pc_rows, as finish_logits of kernels/row_kernels.c; from these the values of metrics
 * (kernels/row_values.h) and the cell of the top score in each grid.  All sums are integers, so that
 * any number of blocks and any order give the bits of the CPU:
 *   values  the pieces of kernels/row_kernels.h (pc_split_exponent) in registers of each thread,
 *           added up in a block and then into limbs of 32 bits, as those of pc_sum;
 *   cells   rows and hits, and scores and squares in units of 2^-53 as PC_GRID_ONE, in shared
 *           memory, cut into 18 bits; several copies of the cells so that threads seldom wait.
 *
 * Edge cases:
 *   1. a logit that is not finite, a label that is no class, a value that is infinite: the word
 *      PC_ROW_SUMS_ODD is set; the host then goes through the rows itself.
 *   2. a value above PC_SPLIT_LARGEST, or with bits below the last piece: its mantissa is added to
 *      the limbs directly.
 *   3. a block has at most PC_ROW_SUMS_BLOCK_ROWS rows.
 *   4. narrow rows (PC_NARROW_CLASSES classes or fewer): one thread for a row; the rows of a block
 *      pass through shared memory, whose rows have an odd length so that banks differ.
 *   5. the fast precision: terms and their sums in float, with the exponential of the GPU, whose last digits
 *      may differ between GPUs; wide rows are read once, each thread moving its sums whenever it finds a
 *      larger logit; all else as above.
 *   6. wide rows: PC_ROW_SUMS_LANES threads for a row; only the threads of a warp wait for each
 *      other.  After PC_ROW_SUMS_STEPS steps each thread of the warp finishes one row.
 *   7. rows of probabilities: row_sums_columns_body.h.
 * Cost: about 40 double operations for each logit and 150 for each row.
 *
 * This header is plain C, as softmax_rows_body.h: tests call the phases thread by thread. */
#ifndef PC_ROW_SUMS_BODY_H
#define PC_ROW_SUMS_BODY_H

#include <float.h>

#include "device/gpu_sums.h"
#include "device/row_sums.h"
#include "device/row_top.h"
#include "device/softmax_rows_body.h"
#include "kernels/row_values.h"

#define PC_ROW_SUMS_COPIES 8
/* Exponentials of a thread at once; tests/gpu/tune_row_sums.py tries others. */
#ifndef PC_ROW_SUMS_LOADS
#define PC_ROW_SUMS_LOADS 8 /* of a wide row */
#endif
#ifndef PC_ROW_SUMS_FAST_LOADS
#define PC_ROW_SUMS_FAST_LOADS 16
#endif
#ifndef PC_ROW_SUMS_UNROLL_NARROW
#define PC_ROW_SUMS_UNROLL_NARROW 2
#endif
#define PC_ROW_SUMS_CHUNK 18 /* bits */

/* A cell in shared memory. */
typedef struct pc_row_sums_cell {
  uint32_t rows; /* hits in the upper half */
  uint32_t score[3], square[3];
} pc_row_sums_cell;

/* Counters in shared memory. */
typedef struct pc_row_sums_counters {
  uint32_t hits, label_high, label_low, rescaled;
} pc_row_sums_counters;

/* Wide rows: of each thread, and of the rows that are to be finished. */
typedef struct pc_row_sums_wide {
  double top[PC_ROW_SUMS_THREADS], sum[PC_ROW_SUMS_THREADS], square[PC_ROW_SUMS_THREADS];
  double row_top[PC_ROW_SUMS_THREADS], row_rest[PC_ROW_SUMS_THREADS],
      row_square[PC_ROW_SUMS_THREADS];
  uint32_t at[PC_ROW_SUMS_THREADS], row_at[PC_ROW_SUMS_THREADS];
} pc_row_sums_wide;

#define PC_ROW_SUMS_PARTS 8 /* partial sums of each piece */

/* Pieces of a block: of each thread, then of each part. */
typedef struct pc_row_sums_fold {
  int64_t part[PC_ROW_SUMS_VALUES * PC_ROW_SUMS_PIECES][PC_ROW_SUMS_PARTS];
  int64_t units[][PC_ROW_SUMS_THREADS];
} pc_row_sums_fold;

/* Where the parts of shared memory begin, in bytes.  Rows, pc_row_sums_wide and pc_row_sums_fold
 * use `work` one after the other. */
typedef struct pc_row_sums_layout {
  uint32_t copies; /* of the cells */
  uint32_t counters, cells, work, bytes;
} pc_row_sums_layout;

static inline uint32_t pc_row_sums_larger(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

/* The length of a narrow row in shared memory. */
static inline uint32_t pc_row_sums_stride(const pc_row_sums *sums) {
  return sums->classes | 1;
}

/* size: bytes of a logit; 0: rows are read from columns.  `wide` says which kernel is meant. */
static inline pc_row_sums_layout pc_row_sums_layout_of(const pc_row_sums *sums, uint32_t size,
                                                       int wide) {
  pc_row_sums_layout at;
  const uint32_t fold =
      (uint32_t)sizeof(pc_row_sums_fold) +
      sums->value_count * PC_ROW_SUMS_PIECES * PC_ROW_SUMS_THREADS * (uint32_t)sizeof(int64_t);
  const uint32_t rows = wide ? (uint32_t)sizeof(pc_row_sums_wide)
                             : PC_ROW_SUMS_THREADS * pc_row_sums_stride(sums) * size;
  at.copies = PC_ROW_SUMS_COPIES;
  while (at.copies > 1 && at.copies * sums->cell_count > PC_ROW_SUMS_CELLS)
    at.copies /= 2;
  at.counters = sums->cut_count * (uint32_t)sizeof(double);
  at.cells = at.counters + (uint32_t)sizeof(pc_row_sums_counters);
  at.work = at.cells + at.copies * sums->cell_count * (uint32_t)sizeof(pc_row_sums_cell);
  at.work = (at.work + 15) / 16 * 16;
  at.bytes = at.work + pc_row_sums_larger(fold, rows);
  return at;
}

/* A thread: its own sums, and its place. */
typedef struct pc_row_sums_thread {
  char *shared;
  pc_row_sums_layout at;
  uint32_t block, blocks, thread;
  uint32_t hits, label_high, label_low, rescaled;
  int64_t units[PC_ROW_SUMS_VALUES][PC_ROW_SUMS_PIECES];
} pc_row_sums_thread;

static inline pc_row_sums_counters *pc_row_sums_counters_of(const pc_row_sums_thread *mine) {
  return (pc_row_sums_counters *)(void *)(mine->shared + mine->at.counters);
}

static inline pc_row_sums_cell *pc_row_sums_cells_of(const pc_row_sums_thread *mine) {
  return (pc_row_sums_cell *)(void *)(mine->shared + mine->at.cells);
}

static inline pc_row_sums_wide *pc_row_sums_wide_of(const pc_row_sums_thread *mine) {
  return (pc_row_sums_wide *)(void *)(mine->shared + mine->at.work);
}

static inline pc_row_sums_fold *pc_row_sums_fold_of(const pc_row_sums_thread *mine) {
  return (pc_row_sums_fold *)(void *)(mine->shared + mine->at.work);
}

/* First phase: clears the sums of the thread and its part of shared memory. */
static inline void pc_row_sums_begin(const pc_row_sums *sums, char *shared, uint32_t block,
                                     uint32_t blocks, uint32_t thread, uint32_t size, int wide,
                                     pc_row_sums_thread *mine) {
  mine->shared = shared;
  mine->at = pc_row_sums_layout_of(sums, size, wide);
  mine->block = block;
  mine->blocks = blocks;
  mine->thread = thread;
  mine->hits = mine->label_high = mine->label_low = mine->rescaled = 0;
  PC_GPU_UNROLL(3)
  for (int v = 0; v < PC_ROW_SUMS_VALUES; v++)
    PC_GPU_UNROLL(4)
  for (int p = 0; p < PC_ROW_SUMS_PIECES; p++)
    mine->units[v][p] = 0;
  double *cuts = (double *)(void *)shared;
  uint32_t *zero = (uint32_t *)(void *)(shared + mine->at.counters);
  const uint32_t zeros = (mine->at.work - mine->at.counters) / (uint32_t)sizeof(uint32_t);
  for (uint32_t i = thread; i < sums->cut_count; i += PC_ROW_SUMS_THREADS)
    cuts[i] = sums->cuts[i];
  for (uint32_t i = thread; i < zeros; i += PC_ROW_SUMS_THREADS)
    zero[i] = 0;
}

/* ---- One row ---- */

static inline int64_t pc_row_sums_label(const pc_row_sums *sums, uint64_t row) {
  if (sums->label_size == 8)
    return ((const int64_t *)sums->labels)[row];
  if (sums->label_size == 4)
    return ((const int32_t *)sums->labels)[row];
  return ((const uint8_t *)sums->labels)[row];
}

static inline void pc_row_sums_add_value(const pc_row_sums *sums, uint32_t v, double value,
                                         int64_t units[PC_ROW_SUMS_PIECES]) {
  int64_t a, b, c, d;
  double rest = pc_gpu_cut(value, 0x1.8p12, &a);
  rest = pc_gpu_cut(rest, 0x1.8p-39, &b);
  rest = pc_gpu_cut(rest, 0x1.8p-90, &c);
  rest = pc_gpu_cut(rest, 0x1.8p-141, &d);
  if (value <= 1024.0 && value >= -1024.0 && rest == 0.0) {
    units[0] += a;
    units[1] += b;
    units[2] += c;
    units[3] += d;
  } else if (value - value != 0) {
    sums->words[PC_ROW_SUMS_ODD] = 1;
  } else {
    pc_gpu_add_whole(sums->words + pc_row_sums_limbs(v), value);
  }
}

/* The cell of a score, 0 < score <= 1, as pc_partition_find. */
static inline uint32_t pc_row_sums_cell_index(const pc_row_sums_grid *grid, const double *cuts,
                                              double score) {
  const double place = score * grid->guess, last = (double)grid->cut_count;
  const double *first = cuts + grid->first_cut + 1;
  const double *cut = first + (int32_t)(place < last ? place : last);
  while (score > *cut)
    cut++;
  while (!(score > cut[-1]))
    cut--;
  return grid->first_cell + (uint32_t)(cut - first);
}

static inline void pc_row_sums_add_units(uint32_t chunk[3], uint64_t units) {
  const uint32_t most = (1u << PC_ROW_SUMS_CHUNK) - 1;
  pc_gpu_add_32(&chunk[0], (uint32_t)units & most);
  pc_gpu_add_32(&chunk[1], (uint32_t)(units >> PC_ROW_SUMS_CHUNK) & most);
  pc_gpu_add_32(&chunk[2], (uint32_t)(units >> 2 * PC_ROW_SUMS_CHUNK));
}

static inline void pc_row_sums_add_cells(const pc_row_sums *sums, pc_row_sums_thread *mine,
                                         double score, uint32_t hit) {
  const double *cuts = (const double *)(const void *)mine->shared;
  pc_row_sums_cell *cells =
      pc_row_sums_cells_of(mine) + mine->thread % mine->at.copies * sums->cell_count;
  const uint64_t units = (uint64_t)(int64_t)(score * 0x1p53);
  const uint64_t square = (uint64_t)(int64_t)(score * score * 0x1p53);
  for (uint32_t g = 0; g < sums->grid_count; g++) {
    pc_row_sums_cell *cell = cells + pc_row_sums_cell_index(&sums->grid[g], cuts, score);
    pc_gpu_add_32(&cell->rows, 1 + (hit << 16));
    pc_row_sums_add_units(cell->score, units);
    pc_row_sums_add_units(cell->square, square);
  }
}

static inline double pc_row_sums_value_of(const pc_row_sums_value *value, double true_gap,
                                          double others_square, double log_true) {
  return value->kind == PC_ROW_VALUE_BRIER ? pc_row_value_brier(true_gap, others_square)
         : value->kind == PC_ROW_VALUE_LOG ? pc_row_value_log(log_true, value->lowest)
                                           : pc_row_value_spherical(true_gap, others_square);
}

/* A row as its sums need it: columns of pc_rows, and its total. */
typedef struct pc_row_sums_facts {
  double top, true_gap, others_square, log_true;
  double total; /* without its sign */
  uint32_t label;
  int is_top;
} pc_row_sums_facts;

/* Adds a row. */
static inline void pc_row_sums_add_row(const pc_row_sums *sums, pc_row_sums_thread *mine,
                                       uint64_t row, const pc_row_sums_facts *facts) {
  const uint32_t label = facts->label;
  mine->hits += (uint32_t)facts->is_top;
  mine->label_high = pc_row_sums_larger(mine->label_high, label);
  mine->label_low = pc_row_sums_larger(mine->label_low, sums->classes - 1 - label);
  PC_GPU_UNROLL(3)
  for (uint32_t v = 0; v < PC_ROW_SUMS_VALUES; v++)
    if (v < sums->value_count)
      pc_row_sums_add_value(sums, v,
                            pc_row_sums_value_of(&sums->value[v], facts->true_gap,
                                                 facts->others_square, facts->log_true),
                            mine->units[v]);
  pc_row_sums_add_cells(sums, mine, facts->top, (uint32_t)facts->is_top);
  if (sums->row_total != NULL)
    sums->row_total[row] = facts->is_top ? facts->total : -facts->total;
}

/* Adds a row, given the sums of its softmax.  Every operation is that of row_finish_logits. */
static inline void pc_row_sums_finish(const pc_row_sums *sums, pc_row_sums_thread *mine,
                                      uint64_t row, double rest, double rest_square,
                                      double largest, double gap, uint32_t top,
                                      uint32_t label) {
  const double sum = 1.0 + rest, share = 1.0 / sum;
  const int is_top = label == top;
  const double term = pc_softmax_rows_term(gap, 0.0);
  const double others = is_top ? rest : 1.0 + (rest - term);
  const double square = is_top ? rest_square : 1.0 + (rest_square - term * term);
  const double log_true = gap - (pc_lane_log(sum) + (rest - (sum - 1.0)) * share);
  const pc_row_sums_facts facts = {
      share, others * share, square * (share * share), log_true, sum, label, is_top};
  if (!(share > 0.0)) /* edge case 1 */
    return;
  pc_row_sums_add_row(sums, mine, row, &facts);
  if (sums->row_largest != NULL)
    sums->row_largest[row] = largest;
}

/* ---- The end of a block ---- */

/* Stores the sums of the thread in shared memory. */
static inline void pc_row_sums_store(const pc_row_sums *sums, const pc_row_sums_thread *mine) {
  pc_row_sums_fold *fold = pc_row_sums_fold_of(mine);
  pc_row_sums_counters *counters = pc_row_sums_counters_of(mine);
  PC_GPU_UNROLL(3)
  for (uint32_t v = 0; v < PC_ROW_SUMS_VALUES; v++)
    if (v < sums->value_count) {
      PC_GPU_UNROLL(4)
      for (uint32_t p = 0; p < PC_ROW_SUMS_PIECES; p++)
        fold->units[v * PC_ROW_SUMS_PIECES + p][mine->thread] = mine->units[v][p];
    }
  pc_gpu_add_32(&counters->hits, mine->hits);
  if (mine->rescaled > 0)
    pc_gpu_add_32(&counters->rescaled, mine->rescaled);
  pc_gpu_max_32(&counters->label_high, mine->label_high);
  pc_gpu_max_32(&counters->label_low, mine->label_low);
}

/* PC_ROW_SUMS_PARTS threads for each piece add up those of the threads. */
static inline void pc_row_sums_gather(const pc_row_sums *sums, const pc_row_sums_thread *mine) {
  pc_row_sums_fold *fold = pc_row_sums_fold_of(mine);
  const uint32_t piece = mine->thread / PC_ROW_SUMS_PARTS;
  const uint32_t part = mine->thread % PC_ROW_SUMS_PARTS;
  int64_t total = 0;
  if (piece >= sums->value_count * PC_ROW_SUMS_PIECES)
    return;
  for (uint32_t t = part; t < PC_ROW_SUMS_THREADS; t += PC_ROW_SUMS_PARTS)
    total += fold->units[piece][t];
  fold->part[piece][part] = total;
}

/* Adds chunks to a low and a high word. */
static inline void pc_row_sums_publish_units(uint64_t *low, uint64_t *high,
                                             const uint64_t chunk[3]) {
  const uint64_t lower = chunk[0] + (chunk[1] << PC_ROW_SUMS_CHUNK);
  if (lower != 0)
    pc_gpu_add_64(low, lower);
  if (chunk[2] != 0)
    pc_gpu_add_64(high, chunk[2]);
}

static inline void pc_row_sums_publish_cell(const pc_row_sums *sums,
                                            const pc_row_sums_thread *mine, uint32_t c) {
  uint64_t *words =
      sums->words + pc_row_sums_limbs(sums->value_count) + c * PC_ROW_SUMS_CELL_WORDS;
  uint64_t rows = 0, hits = 0, score[3] = {0, 0, 0}, square[3] = {0, 0, 0};
  for (uint32_t copy = 0; copy < mine->at.copies; copy++) {
    const pc_row_sums_cell *cell = pc_row_sums_cells_of(mine) + copy * sums->cell_count + c;
    rows += cell->rows & 0xffff;
    hits += cell->rows >> 16;
    PC_GPU_UNROLL(3)
    for (int i = 0; i < 3; i++) {
      score[i] += cell->score[i];
      square[i] += cell->square[i];
    }
  }
  if (rows == 0)
    return;
  pc_gpu_add_64(&words[PC_ROW_SUMS_CELL_ROWS], rows);
  if (hits != 0)
    pc_gpu_add_64(&words[PC_ROW_SUMS_CELL_HITS], hits);
  pc_row_sums_publish_units(&words[PC_ROW_SUMS_CELL_SCORE], &words[PC_ROW_SUMS_CELL_SCORE_HIGH],
                            score);
  pc_row_sums_publish_units(&words[PC_ROW_SUMS_CELL_SQUARE],
                            &words[PC_ROW_SUMS_CELL_SQUARE_HIGH], square);
}

/* Last phase: adds the sums of the block to the results. */
static inline void pc_row_sums_publish(const pc_row_sums *sums,
                                       const pc_row_sums_thread *mine) {
  const pc_row_sums_fold *fold = pc_row_sums_fold_of(mine);
  const pc_row_sums_counters *counters = pc_row_sums_counters_of(mine);
  const uint32_t t = mine->thread;
  if (t < sums->value_count * PC_ROW_SUMS_PIECES) {
    int64_t total = 0;
    for (uint32_t part = 0; part < PC_ROW_SUMS_PARTS; part++)
      total += fold->part[t][part];
    pc_gpu_add_limbs(sums->words + pc_row_sums_limbs(t / PC_ROW_SUMS_PIECES), total,
                     1074 - 40 - 51 * (t % PC_ROW_SUMS_PIECES));
  }
  for (uint32_t c = t; c < sums->cell_count; c += PC_ROW_SUMS_THREADS)
    pc_row_sums_publish_cell(sums, mine, c);
  if (t == 0) {
    pc_gpu_add_64(&sums->words[PC_ROW_SUMS_HITS], counters->hits);
    pc_gpu_add_64(&sums->words[PC_ROW_SUMS_RESCALED], counters->rescaled);
    pc_gpu_max_64(&sums->words[PC_ROW_SUMS_LABEL_HIGH], counters->label_high);
    pc_gpu_max_64(&sums->words[PC_ROW_SUMS_LABEL_LOW], counters->label_low);
  }
}

/* ---- Wide rows ---- */

/* The number of wide rows in all blocks between two calls of finish. */
static inline uint64_t pc_row_sums_round(uint32_t blocks) {
  return (uint64_t)blocks * PC_ROW_SUMS_THREADS;
}

/* The row of a thread in a step of the round that begins with row `first`. */
static inline uint64_t pc_row_sums_wide_row(const pc_row_sums_thread *mine, uint64_t first,
                                            uint32_t step) {
  const uint32_t rows_of_block = PC_ROW_SUMS_THREADS / PC_ROW_SUMS_LANES;
  return first + ((uint64_t)step * mine->blocks + mine->block) * rows_of_block +
         mine->thread / PC_ROW_SUMS_LANES;
}

/* Where a row of a step waits for being finished, in the columns row_* of its warp. */
static inline uint32_t pc_row_sums_slot(const pc_row_sums_thread *mine, uint32_t step) {
  const uint32_t of_warp = PC_ROW_SUMS_WARP / PC_ROW_SUMS_LANES;
  return mine->thread / PC_ROW_SUMS_WARP * PC_ROW_SUMS_WARP + step * of_warp +
         mine->thread / PC_ROW_SUMS_LANES % of_warp;
}

/* The row that a thread finishes: that of its slot. */
static inline uint64_t pc_row_sums_finished_row(const pc_row_sums_thread *mine,
                                                uint64_t first) {
  const uint32_t of_warp = PC_ROW_SUMS_WARP / PC_ROW_SUMS_LANES;
  const uint32_t rows_of_block = PC_ROW_SUMS_THREADS / PC_ROW_SUMS_LANES;
  const uint32_t lane = mine->thread % PC_ROW_SUMS_WARP;
  return first + ((uint64_t)(lane / of_warp) * mine->blocks + mine->block) * rows_of_block +
         mine->thread / PC_ROW_SUMS_WARP * of_warp + lane % of_warp;
}

/* The largest logit of a wide row, and its lowest index, from those of its threads. */
static inline double pc_row_sums_largest(const pc_row_sums_wide *wide, uint32_t thread,
                                         uint32_t *at) {
  const uint32_t first = thread - thread % PC_ROW_SUMS_LANES;
  return pc_row_top_fold(wide->top + first, wide->at + first, PC_ROW_SUMS_LANES, at);
}

/* Third phase of a step: the first thread of each row keeps its sums. */
static inline void pc_row_sums_keep(const pc_row_sums *sums, const pc_row_sums_thread *mine,
                                    uint64_t first, uint32_t step) {
  pc_row_sums_wide *wide = pc_row_sums_wide_of(mine);
  const uint32_t slot = pc_row_sums_slot(mine, step);
  if (pc_row_sums_wide_row(mine, first, step) >= sums->rows ||
      mine->thread % PC_ROW_SUMS_LANES != 0)
    return;
  wide->row_rest[slot] = pc_softmax_rows_fold(wide->sum + mine->thread);
  wide->row_square[slot] = pc_softmax_rows_fold(wide->square + mine->thread);
}

/* The class of load i of a thread that is at class j. */
static inline uint32_t pc_row_sums_class(uint32_t j, uint32_t i) {
  return j + i * PC_ROW_SUMS_LANES;
}

/* Keeps what a thread has added of a wide row; its first thread keeps the top class, too. */
static inline void pc_row_sums_keep_thread(const pc_row_sums_thread *mine, uint32_t step,
                                           double largest, uint32_t at, double sum,
                                           double square) {
  pc_row_sums_wide *wide = pc_row_sums_wide_of(mine);
  wide->sum[mine->thread] = sum;
  wide->square[mine->thread] = square;
  if (mine->thread % PC_ROW_SUMS_LANES == 0) {
    wide->row_top[pc_row_sums_slot(mine, step)] = largest;
    wide->row_at[pc_row_sums_slot(mine, step)] = at;
  }
}

#define REAL double
#define TERM(z, largest) pc_softmax_rows_term((double)(z), largest)

#define NUMBER float
#define NAMED(name) name##_f32
#include "device/row_sums_narrow_template.h"
#include "device/row_sums_template.h"
#undef NAMED
#undef NUMBER

#define NUMBER double
#define NAMED(name) name##_f64
#include "device/row_sums_narrow_template.h"
#include "device/row_sums_template.h"
#undef NAMED
#undef NUMBER

#undef REAL
#undef TERM

/* ---- The fast precision ---- */

/* exp(gap), gap <= 0, with a relative error below 3e-7 + 1e-7 |gap|; 0 where it is below 2^-126. */
static inline float pc_row_sums_fast_term(float gap) {
  return pc_gpu_exp2(gap * PC_LANE_EXPF_LOG2_E);
}

/* A part of a row: its largest logit, the class of that, and the sums of the terms of all others, relative
 * to it. */
typedef struct pc_row_sums_part {
  float top, sum, square, odd;
  uint32_t at;
} pc_row_sums_part;

/* The sums of a part relative to `top`, the logit of another class and not below its own. */
static inline void pc_row_sums_part_move(pc_row_sums_part *part, float top) {
  const float scale = pc_row_sums_fast_term(part->top - top);
  part->sum = (part->sum + 1.0f) * scale;
  part->square = (part->square + 1.0f) * (scale * scale);
  part->top = top;
}

/* Logits of classes j, j + PC_ROW_SUMS_LANES, ...; beyond the last class one that counts for nothing. */
static inline void pc_row_sums_part_load(const float *z, uint32_t classes, uint32_t j,
                                         float here[PC_ROW_SUMS_FAST_LOADS]) {
  PC_GPU_UNROLL(PC_ROW_SUMS_FAST_LOADS)
  for (uint32_t i = 0; i < PC_ROW_SUMS_FAST_LOADS; i++)
    here[i] = pc_row_sums_class(j, i) < classes ? z[pc_row_sums_class(j, i)] : -FLT_MAX;
}

/* Adds logits that have been loaded. */
static inline void pc_row_sums_part_add(pc_row_sums_part *part, uint32_t j,
                                        const float here[PC_ROW_SUMS_FAST_LOADS]) {
  float top = part->top;
  uint32_t at = part->at;
  PC_GPU_UNROLL(PC_ROW_SUMS_FAST_LOADS)
  for (uint32_t i = 0; i < PC_ROW_SUMS_FAST_LOADS; i++) {
    at = here[i] > top ? pc_row_sums_class(j, i) : at;
    top = here[i] > top ? here[i] : top;
    part->odd = fmaf(here[i], 0.0f, part->odd); /* NaN if it is not finite */
  }
  if (at != part->at)
    pc_row_sums_part_move(part, top);
  part->at = at;
  PC_GPU_UNROLL(PC_ROW_SUMS_FAST_LOADS)
  for (uint32_t i = 0; i < PC_ROW_SUMS_FAST_LOADS; i++) {
    const float gap = here[i] - top;
    const float term = pc_row_sums_class(j, i) == at ? 0.0f : pc_row_sums_fast_term(gap);
    part->sum += term;
    part->square = fmaf(term, term, part->square);
  }
}

/* Wide rows, first phase of a step, which reads each logit once: the part of each thread.  The next logits
 * are on their way while these are added. */
static inline void pc_row_sums_look_fast(const pc_row_sums *sums,
                                         const pc_row_sums_thread *mine, uint64_t first,
                                         uint32_t step) {
  const uint64_t row = pc_row_sums_wide_row(mine, first, step);
  const float *z = (const float *)sums->scores + row * sums->classes;
  const uint32_t forward = PC_ROW_SUMS_FAST_LOADS * PC_ROW_SUMS_LANES;
  pc_row_sums_wide *wide = pc_row_sums_wide_of(mine);
  pc_row_sums_part part = {-INFINITY, 0, 0, 0, UINT32_MAX};
  float here[PC_ROW_SUMS_FAST_LOADS], next[PC_ROW_SUMS_FAST_LOADS];
  uint32_t j = mine->thread % PC_ROW_SUMS_LANES;
  if (row >= sums->rows)
    return;
  pc_row_sums_part_load(z, sums->classes, j, here);
  for (; j < sums->classes; j += forward) {
    pc_row_sums_part_load(z, sums->classes, j + forward, next);
    pc_row_sums_part_add(&part, j, here);
    PC_GPU_UNROLL(PC_ROW_SUMS_FAST_LOADS)
    for (uint32_t i = 0; i < PC_ROW_SUMS_FAST_LOADS; i++)
      here[i] = next[i];
  }
  wide->top[mine->thread] = (double)part.top;
  wide->at[mine->thread] = part.at;
  wide->sum[mine->thread] = (double)part.sum;
  wide->square[mine->thread] = (double)part.square;
  if (part.odd != 0)
    sums->words[PC_ROW_SUMS_ODD] = 1;
}

/* Second phase: each thread moves its sums to the largest logit of the row. */
static inline void pc_row_sums_add_fast(const pc_row_sums *sums, const pc_row_sums_thread *mine,
                                        uint64_t first, uint32_t step) {
  const pc_row_sums_wide *wide = pc_row_sums_wide_of(mine);
  const uint32_t t = mine->thread;
  uint32_t at;
  if (pc_row_sums_wide_row(mine, first, step) >= sums->rows)
    return;
  const double largest = pc_row_sums_largest(wide, t, &at);
  pc_row_sums_part part = {(float)wide->top[t], (float)wide->sum[t], (float)wide->square[t], 0,
                           wide->at[t]};
  if (part.at != at)
    pc_row_sums_part_move(&part, (float)largest);
  pc_row_sums_keep_thread(mine, step, largest, at, (double)part.sum, (double)part.square);
}

#define REAL float
#define TERM(z, largest) pc_row_sums_fast_term((z) - (float)(largest))
#define NUMBER float
#define NAMED(name) name##_fast
#include "device/row_sums_narrow_template.h"
#undef NAMED
#undef NUMBER
#undef REAL
#undef TERM

#endif
