/* Pool adjacent violators.
 *
 * Formula:  the non-decreasing f that minimises sum_i w_i (f(s_i) - a_i)^2.  It also minimises
 * every other proper score of a binary outcome.  At entry i
 *   f = max_{j <= i} min_{k >= i} (hits of entries j..k) / (weight of entries j..k)
 * Edge cases:
 *   (1) blocks of equal value are joined, so that values are distinct;
 *   (2) an empty table has no blocks;
 *   (3) values are compared by exact products, so that the blocks of whole weights, whose sums are
 *       below 2^53, do not depend on the order of pooling;
 *   (4) an entry of a table of segments is pooled as a whole; isotonic_ranges.h says when that is
 *       exact.
 * Source: Ayer et al. 1955; optimal for all proper scores: Bruemmer & du Preez 2013,
 * Dimitriadis, Gneiting & Jordan 2021.
 * Accuracy: exact for whole weights.   Cost: O(n); memory for the blocks. */
#include "curve/isotonic.h"

#include <math.h>

#include "base/assert.h"
#include "base/exact_product.h"

double pc_isotonic_value(const pc_isotonic_block *block) {
  return block->hits / block->weight;
}

static int isotonic_violates(const pc_isotonic_block *left, const pc_isotonic_block *right) {
  return pc_compare_products(left->hits, right->weight, right->hits, left->weight) >= 0;
}

static void isotonic_pool(pc_isotonic_block *into, const pc_isotonic_block *next) {
  into->high = next->high;
  into->weight += next->weight;
  into->hits += next->hits;
}

static pcal_status isotonic_grow(const pcal_env *env, pc_isotonic *fit, pcal_error *err) {
  void *space = fit->blocks;
  const pcal_status status =
      pc_reserve(env, &space, &fit->capacity, fit->count + 1, sizeof *fit->blocks, err);
  fit->blocks = space;
  return status;
}

/* Finished blocks are in `fit`; the last block is kept apart, since the next may be pooled with
 * it. */
typedef struct isotonic_walk {
  const pcal_env *env;
  pc_isotonic *fit;
  pc_isotonic_block last;
  int begun;
} isotonic_walk;

static pcal_status isotonic_keep(const isotonic_walk *walk, pcal_error *err) {
  pc_isotonic *fit = walk->fit;
  if (fit->count == fit->capacity)
    PC_TRY(isotonic_grow(walk->env, fit, err));
  fit->blocks[fit->count++] = walk->last;
  return PCAL_OK;
}

/* Appends a block and pools the blocks that violate the order. */
static pcal_status isotonic_push(isotonic_walk *walk, const pc_isotonic_block *block,
                                 pcal_error *err) {
  pc_isotonic *fit = walk->fit;
  if (walk->begun && isotonic_violates(&walk->last, block)) {
    isotonic_pool(&walk->last, block);
    while (fit->count > 0 && isotonic_violates(&fit->blocks[fit->count - 1], &walk->last)) {
      pc_isotonic_block *left = &fit->blocks[--fit->count];
      isotonic_pool(left, &walk->last);
      walk->last = *left;
    }
    return PCAL_OK;
  }
  if (walk->begun)
    PC_TRY(isotonic_keep(walk, err));
  walk->last = *block;
  walk->begun = 1;
  return PCAL_OK;
}

/* For pc_assert: scores and values ascend from block to block. */
static inline int isotonic_rises(const pc_isotonic *fit) {
  for (size_t b = 1; b < fit->count; b++)
    if (fit->blocks[b - 1].high >= fit->blocks[b].low ||
        isotonic_violates(&fit->blocks[b - 1], &fit->blocks[b]))
      return 0;
  return 1;
}

/* Stores the last block; frees all blocks if `status` or that fails. */
static pcal_status isotonic_end(const isotonic_walk *walk, pcal_status status,
                                pcal_error *err) {
  if (status == PCAL_OK && walk->begun)
    status = isotonic_keep(walk, err);
  if (status != PCAL_OK)
    pc_isotonic_free(walk->env, walk->fit);
  pc_assert(isotonic_rises(walk->fit));
  return status;
}

pcal_status pc_isotonic_fit(const pcal_env *env, const pc_curve_table *table, pc_isotonic *out,
                            pcal_error *err) {
  isotonic_walk walk = {.env = env, .fit = out};
  pcal_status status = PCAL_OK;
  *out = (pc_isotonic){NULL, 0, 0};
  for (size_t i = 0; i < table->count && status == PCAL_OK; i++) {
    const pc_isotonic_block entry = {
        pc_curve_table_low(table, i), pc_curve_table_high(table, i),
        pc_curve_table_weight(table, i), pc_curve_table_hits(table, i)};
    status = isotonic_push(&walk, &entry, err);
  }
  return isotonic_end(&walk, status, err);
}

/* The end of the run of entries below `limit` that begins at `at`. */
static size_t isotonic_run(const pc_sorted_column *column, size_t at, size_t end,
                           double limit) {
  while (at < end && column->score[at] < limit)
    at++;
  return at;
}

static double isotonic_weigh(const pc_sorted_column *column, size_t begin, size_t end) {
  if (column->weight == NULL)
    return (double)(end - begin);
  double weight = 0.0;
  for (size_t i = begin; i < end; i++)
    weight += column->weight[i];
  return weight;
}

/* Appends the entries [begin, end) of one column, all of one outcome. */
static pcal_status isotonic_push_run(isotonic_walk *walk, const pc_sorted_column *column,
                                     size_t begin, size_t end, int hit, pcal_error *err) {
  if (begin == end)
    return PCAL_OK;
  const double weight = isotonic_weigh(column, begin, end);
  const pc_isotonic_block run = {column->score[begin], column->score[end - 1], weight,
                                 hit ? weight : 0.0};
  return isotonic_push(walk, &run, err);
}

/* The remaining entries of both columns. */
typedef struct isotonic_span {
  const pc_sorted_column *misses, *hits;
  size_t m, m_end, h, h_end;
} isotonic_span;

/* Appends the entries of both columns at their common next score. */
static pcal_status isotonic_push_tie(isotonic_walk *walk, isotonic_span *span,
                                     pcal_error *err) {
  const double score = span->misses->score[span->m];
  const size_t m = span->m, h = span->h;
  while (span->m < span->m_end && span->misses->score[span->m] == score)
    span->m++;
  while (span->h < span->h_end && span->hits->score[span->h] == score)
    span->h++;
  const double hit = isotonic_weigh(span->hits, h, span->h);
  const pc_isotonic_block tie = {score, score, isotonic_weigh(span->misses, m, span->m) + hit,
                                 hit};
  return isotonic_push(walk, &tie, err);
}

/* A run of entries with one outcome has a fitted value of 0 or 1, so it starts as a single
 * block. */
static pcal_status isotonic_merge(isotonic_walk *walk, isotonic_span *span, pcal_error *err) {
  while (span->m < span->m_end || span->h < span->h_end) {
    const double hit = span->h < span->h_end ? span->hits->score[span->h] : INFINITY;
    const size_t m = span->m;
    span->m = isotonic_run(span->misses, m, span->m_end, hit);
    PC_TRY(isotonic_push_run(walk, span->misses, m, span->m, 0, err));
    const double miss = span->m < span->m_end ? span->misses->score[span->m] : INFINITY;
    const size_t h = span->h;
    span->h = isotonic_run(span->hits, h, span->h_end, miss);
    PC_TRY(isotonic_push_run(walk, span->hits, h, span->h, 1, err));
    if (span->m < span->m_end && span->h < span->h_end && span->hits->score[span->h] == miss)
      PC_TRY(isotonic_push_tie(walk, span, err));
  }
  return PCAL_OK;
}

pcal_status pc_isotonic_fit_columns(const pcal_env *env, const pc_sorted_column *misses,
                                    const pc_sorted_column *hits, pc_isotonic *out,
                                    pcal_error *err) {
  isotonic_walk walk = {.env = env, .fit = out};
  isotonic_span span = {misses, hits, 0, misses->count, 0, hits->count};
  *out = (pc_isotonic){NULL, 0, 0};
  return isotonic_end(&walk, isotonic_merge(&walk, &span, err), err);
}

void pc_isotonic_free(const pcal_env *env, pc_isotonic *fit) {
  pc_free(env, fit->blocks);
  *fit = (pc_isotonic){NULL, 0, 0};
}
