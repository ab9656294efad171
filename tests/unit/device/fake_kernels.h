/* The kernels of fake_cuda.c: each gets its argument with addresses that the process can follow, and runs
 * thread by thread.  Included by that file only. */
#ifndef FAKE_KERNELS_H
#define FAKE_KERNELS_H

#include "class_bins_emulator.h"
#include "class_cells_emulator.h"
#include "class_curves_emulator.h"
#include "class_moments_emulator.h"
#include "dirichlet_sums_emulator.h"
#include "pair_sums_emulator.h"
#include "prob_rows_emulator.h"
#include "row_sums_emulator.h"
#include "scaled_softmax_emulator.h"
#include "score_buckets_emulator.h"
#include "softmax_rows_emulator.h"
#include "temperature_rows_emulator.h"

/* The argument of a kernel with addresses that the process can follow. */
static pc_softmax_rows fake_rows(const pc_softmax_rows *given) {
  pc_softmax_rows rows = *given;
  rows.scores = fake_host((cuda_address)(uintptr_t)given->scores);
  rows.labels = fake_host((cuda_address)(uintptr_t)given->labels);
  rows.rest = fake_host((cuda_address)(uintptr_t)given->rest);
  rows.rest_square = fake_host((cuda_address)(uintptr_t)given->rest_square);
  rows.gap = fake_host((cuda_address)(uintptr_t)given->gap);
  rows.top = fake_host((cuda_address)(uintptr_t)given->top);
  rows.odd = fake_host((cuda_address)(uintptr_t)given->odd);
  return rows;
}

static cuda_result fake_softmax(uintptr_t kernel, const pc_softmax_rows *given, unsigned grid,
                                unsigned threads, unsigned shared_bytes) {
  const pc_softmax_rows rows = fake_rows(given);
  const int is_double = kernel == FAKE_WIDE_F64 || kernel == FAKE_NARROW_F64;
  if (threads != PC_SOFTMAX_ROWS_THREADS || shared_bytes != 0)
    return FAKE_INVALID_VALUE;
  if (kernel == FAKE_WIDE_F32 || kernel == FAKE_WIDE_F64)
    emulator_wide(&rows, is_double, grid);
  else
    emulator_narrow(&rows, is_double, grid);
  return 0;
}

static void *fake_column(const void *there) {
  return there == NULL ? NULL : fake_host((cuda_address)(uintptr_t)there);
}

static pc_prob_columns fake_columns(const pc_prob_columns *given) {
  return (pc_prob_columns){.high = fake_column(given->high),
                           .rest_square = fake_column(given->rest_square),
                           .stored = fake_column(given->stored),
                           .scale = fake_column(given->scale),
                           .top = fake_column(given->top)};
}

static cuda_result fake_prob_rows(uintptr_t kernel, const pc_prob_rows *given, unsigned grid) {
  pc_prob_rows rows = *given;
  if (!fake_is_own((cuda_address)(uintptr_t)given->scores))
    return FAKE_INVALID_VALUE;
  rows.scores = fake_column(given->scores);
  rows.labels = fake_column(given->labels);
  rows.odd = fake_column(given->odd);
  rows.out = fake_columns(&given->out);
  prob_rows_emulate(&rows, kernel == FAKE_PROB_ROWS_F64, grid);
  return 0;
}

static cuda_result fake_sums(uintptr_t kernel, const pc_row_sums *given, unsigned grid,
                             unsigned threads, unsigned shared_bytes) {
  pc_row_sums sums = *given;
  const row_sums_form form = kernel >= FAKE_SUMS_WIDE_FAST ? ROW_SUMS_FAST
                             : kernel == FAKE_SUMS_WIDE_F64 || kernel == FAKE_SUMS_NARROW_F64
                                 ? ROW_SUMS_F64
                                 : ROW_SUMS_F32;
  const int wide = kernel == FAKE_SUMS_WIDE_F32 || kernel == FAKE_SUMS_WIDE_F64 ||
                   kernel == FAKE_SUMS_WIDE_FAST;
  if (threads != PC_ROW_SUMS_THREADS || shared_bytes > FAKE_SHARED_BYTES || grid == 0 ||
      !fake_is_own((cuda_address)(uintptr_t)given->scores) ||
      !fake_is_own((cuda_address)(uintptr_t)given->words))
    return FAKE_INVALID_VALUE;
  sums.scores = fake_host((cuda_address)(uintptr_t)given->scores);
  sums.labels = fake_host((cuda_address)(uintptr_t)given->labels);
  sums.words = fake_host((cuda_address)(uintptr_t)given->words);
  sums.row_total = fake_column(given->row_total);
  sums.row_largest = fake_column(given->row_largest);
  sums.columns = fake_columns(&given->columns);
  if (kernel == FAKE_SUMS_COLUMNS)
    row_sums_emulate_columns(&sums, grid, shared_bytes);
  else
    row_sums_emulate(&sums, form, wide, grid, shared_bytes);
  return 0;
}

static cuda_result fake_temperature(uintptr_t kernel, const pc_temperature_rows *given,
                                    unsigned grid) {
  pc_temperature_rows rows = *given;
  rows.scores = fake_host((cuda_address)(uintptr_t)given->scores);
  rows.labels = fake_host((cuda_address)(uintptr_t)given->labels);
  rows.values = fake_host((cuda_address)(uintptr_t)given->values);
  rows.words = fake_host((cuda_address)(uintptr_t)given->words);
  if (given->chosen != NULL)
    rows.chosen = fake_host((cuda_address)(uintptr_t)given->chosen);
  temperature_rows_emulate(
      &rows, kernel == FAKE_TEMPERATURE_WIDE_F64 || kernel == FAKE_TEMPERATURE_NARROW_F64,
      kernel <= FAKE_TEMPERATURE_WIDE_F64, grid);
  return 0;
}

static cuda_result fake_sample(uintptr_t kernel, const pc_sample_rows *given, unsigned grid) {
  pc_sample_rows sample = *given;
  sample.scores = fake_host((cuda_address)(uintptr_t)given->scores);
  sample.labels = fake_host((cuda_address)(uintptr_t)given->labels);
  sample.found = fake_host((cuda_address)(uintptr_t)given->found);
  sample_rows_emulate(&sample, kernel == FAKE_SAMPLE_F64, grid);
  return 0;
}

static cuda_result fake_value_sums(const pc_value_sums *given, unsigned grid) {
  pc_value_sums sums = *given;
  sums.values = fake_host((cuda_address)(uintptr_t)given->values);
  sums.words = fake_host((cuda_address)(uintptr_t)given->words);
  value_sums_emulate(&sums, grid);
  return 0;
}

static cuda_result fake_pairs(uintptr_t kernel, const pc_pair_sums *given, unsigned grid) {
  pc_pair_sums sums = *given;
  sums.probs = fake_host((cuda_address)(uintptr_t)given->probs);
  sums.halves = fake_host((cuda_address)(uintptr_t)given->halves);
  sums.weights = fake_host((cuda_address)(uintptr_t)given->weights);
  sums.labels = fake_host((cuda_address)(uintptr_t)given->labels);
  sums.limbs = fake_host((cuda_address)(uintptr_t)given->limbs);
  if (kernel == FAKE_PAIR_STRIPS)
    pair_sums_emulate_strips(&sums, grid);
  else
    pair_sums_emulate_packs(&sums, grid);
  return 0;
}

static cuda_result fake_scaled(uintptr_t kernel, const pc_scaled_softmax *given,
                               unsigned grid) {
  pc_scaled_softmax softmax = *given;
  softmax.scores = fake_host((cuda_address)(uintptr_t)given->scores);
  softmax.out = fake_host((cuda_address)(uintptr_t)given->out);
  softmax.odd = fake_host((cuda_address)(uintptr_t)given->odd);
  scaled_softmax_emulate(&softmax,
                         kernel == FAKE_SCALED_WIDE_F64 || kernel == FAKE_SCALED_NARROW_F64,
                         kernel <= FAKE_SCALED_WIDE_F64, grid);
  return 0;
}

static pc_class_bins fake_bins(const pc_class_bins *given) {
  pc_class_bins bins = *given;
  bins.scores = fake_host((cuda_address)(uintptr_t)given->scores);
  bins.labels = fake_host((cuda_address)(uintptr_t)given->labels);
  bins.total = fake_host((cuda_address)(uintptr_t)given->total);
  bins.largest = fake_host((cuda_address)(uintptr_t)given->largest);
  bins.words = fake_host((cuda_address)(uintptr_t)given->words);
  return bins;
}

static cuda_result fake_class_bins(uintptr_t kernel, const pc_class_bins *given,
                                   unsigned grid) {
  const pc_class_bins bins = fake_bins(given);
  if (grid != pc_class_bins_blocks(given))
    return FAKE_INVALID_VALUE;
  class_bins_emulate(&bins, kernel == FAKE_CLASS_BINS_F64, grid);
  return 0;
}

static cuda_result fake_class_moments(uintptr_t kernel, const pc_class_moments *given,
                                      unsigned grid) {
  const pc_class_moments moments = {fake_bins(&given->bins), given->above};
  if (grid != pc_class_bins_blocks(&given->bins))
    return FAKE_INVALID_VALUE;
  class_moments_emulate(&moments, kernel == FAKE_CLASS_MOMENTS_F64, grid);
  return 0;
}

static cuda_result fake_dirichlet(uintptr_t kernel, const pc_dirichlet_sums *given,
                                  unsigned grid) {
  pc_dirichlet_sums sums = *given;
  sums.logs = fake_host((cuda_address)(uintptr_t)given->logs);
  sums.probs = fake_host((cuda_address)(uintptr_t)given->probs);
  sums.offsets = fake_host((cuda_address)(uintptr_t)given->offsets);
  sums.weights = fake_host((cuda_address)(uintptr_t)given->weights);
  sums.labels = fake_host((cuda_address)(uintptr_t)given->labels);
  sums.pack_labels = fake_host((cuda_address)(uintptr_t)given->pack_labels);
  sums.values = fake_host((cuda_address)(uintptr_t)given->values);
  if (given->classes != NULL)
    sums.classes = fake_host((cuda_address)(uintptr_t)given->classes);
  dirichlet_sums_emulate(&sums, kernel == FAKE_DIRICHLET_LABELS, grid);
  return 0;
}

static cuda_result fake_score_buckets(const pc_score_buckets *given, unsigned grid,
                                      unsigned threads) {
  pc_score_buckets buckets = *given;
  if (threads != PC_SCORE_BUCKETS_THREADS || grid != buckets.chunks * PC_SCORE_BUCKETS_SLICES)
    return FAKE_INVALID_VALUE;
  buckets.totals = fake_host((cuda_address)(uintptr_t)given->totals);
  buckets.words = fake_host((cuda_address)(uintptr_t)given->words);
  score_buckets_emulate(&buckets);
  return 0;
}

static cuda_result fake_score_targets(uintptr_t kernel, const pc_score_targets *given,
                                      unsigned grid, unsigned threads) {
  pc_score_targets targets = *given;
  const int split = kernel == FAKE_SCORE_SPLIT;
  if (threads != (split ? PC_SCORE_BUCKETS_THREADS : PC_SCORE_FILTER_THREADS) ||
      grid != (split ? given->chunks * pc_score_split_slices(given)
                     : pc_score_filter_blocks(given->rows)))
    return FAKE_INVALID_VALUE;
  targets.totals = fake_host((cuda_address)(uintptr_t)given->totals);
  targets.list = fake_host((cuda_address)(uintptr_t)given->list);
  targets.reach = fake_host((cuda_address)(uintptr_t)given->reach);
  targets.wanted = fake_host((cuda_address)(uintptr_t)given->wanted);
  targets.found = fake_host((cuda_address)(uintptr_t)given->found);
  targets.count = fake_host((cuda_address)(uintptr_t)given->count);
  targets.words = fake_host((cuda_address)(uintptr_t)given->words);
  if (split)
    score_split_emulate(&targets);
  else
    score_filter_emulate(&targets);
  return 0;
}

static cuda_result fake_class_cells(uintptr_t kernel, const pc_class_cells *given,
                                    unsigned grid) {
  pc_class_cells cells = *given;
  cells.bins = fake_bins(&given->bins);
  cells.weights = fake_column(given->weights);
  cells.groups = fake_column(given->groups);
  if (grid != pc_class_bins_blocks(&given->bins))
    return FAKE_INVALID_VALUE;
  class_cells_emulate(&cells, kernel == FAKE_CLASS_CELLS_F64, grid);
  return 0;
}

static cuda_result fake_class_curves(uintptr_t kernel, const pc_class_curves *given,
                                     unsigned grid) {
  pc_class_curves curves = *given;
  curves.bins = fake_bins(&given->bins);
  curves.counts = fake_column(given->counts);
  curves.segment = fake_column(given->segment);
  curves.first = fake_column(given->first);
  curves.words = fake_column(given->words);
  curves.scores = fake_column(given->scores);
  curves.places = fake_column(given->places);
  curves.listed = fake_column(given->listed);
  if (grid != pc_class_bins_blocks(&given->bins))
    return FAKE_INVALID_VALUE;
  class_curves_emulate(&curves, kernel >= FAKE_CLASS_SEGMENTS_F32,
                       kernel == FAKE_CLASS_COUNTS_F64 || kernel == FAKE_CLASS_SEGMENTS_F64,
                       grid);
  return 0;
}

/* Kernels of fits, pairs and classes: blocks of 128 threads, no shared memory from the launch. */
static cuda_result fake_fit(uintptr_t kernel, const void *given, unsigned grid,
                            unsigned threads, unsigned shared_bytes) {
  if (threads != PC_TEMPERATURE_ROWS_THREADS || shared_bytes != 0 || grid == 0)
    return FAKE_INVALID_VALUE;
  return kernel <= FAKE_TEMPERATURE_NARROW_F64 ? fake_temperature(kernel, given, grid)
         : kernel <= FAKE_SAMPLE_F64           ? fake_sample(kernel, given, grid)
         : kernel == FAKE_VALUE_SUMS           ? fake_value_sums(given, grid)
         : kernel <= FAKE_PAIR_PACKS           ? fake_pairs(kernel, given, grid)
         : kernel <= FAKE_SCALED_NARROW_F64    ? fake_scaled(kernel, given, grid)
         : kernel <= FAKE_CLASS_BINS_F64       ? fake_class_bins(kernel, given, grid)
         : kernel <= FAKE_CLASS_MOMENTS_F64    ? fake_class_moments(kernel, given, grid)
         : kernel <= FAKE_DIRICHLET_LABELS     ? fake_dirichlet(kernel, given, grid)
         : kernel <= FAKE_PROB_ROWS_F64        ? fake_prob_rows(kernel, given, grid)
         : kernel <= FAKE_CLASS_CELLS_F64      ? fake_class_cells(kernel, given, grid)
                                               : fake_class_curves(kernel, given, grid);
}

#endif
