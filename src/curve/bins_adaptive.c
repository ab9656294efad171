/* Adaptive bins, and ranges of equal weight with ties split (curve_bins.h). */
#include <math.h>

#include "curve/curve_bins.h"
#include "curve/curve_cursor.h"

size_t pc_curve_binning_count(const pc_curve_binning *binning, double total) {
  return binning->per_bin > 0 ? (size_t)fmax(1.0, floor(total / binning->per_bin))
                              : binning->bins;
}

/* Rounds halves to even.  nearbyint would depend on the caller's rounding mode. */
static double adaptive_round(double x) {
  const double down = floor(x), rest = x - down;
  return rest > 0.5 || (rest == 0.5 && fmod(down, 2.0) != 0.0) ? down + 1.0 : down;
}

/* The index of edge r.  Computed like numpy's linspace, so that halves round as in the
 * published code. */
static double adaptive_index(double weight, size_t bins, size_t r) {
  return adaptive_round((double)r * (weight / (double)bins));
}

static double adaptive_weight(const pc_curve_table *table, const pc_curve_cursor *begin) {
  const pc_curve_cursor last = pc_curve_last(table);
  return begin->entry == 0 ? table->total : pc_curve_bin(table, begin, &last).weight;
}

void pc_bins_adaptive(const pc_curve_table *table, double threshold, size_t bins, pc_bin *out) {
  pc_curve_cursor begin = pc_curve_above(table, threshold), walk = begin;
  const double before = begin.rows, weight = adaptive_weight(table, &begin);
  for (size_t b = 0; b < bins; b++) {
    const int last = b + 1 == bins || pc_curve_at_end(table, &begin);
    if (!last)
      pc_curve_seek_exceeding(table, &walk, before + adaptive_index(weight, bins, b + 1));
    const pc_curve_cursor end = last ? pc_curve_last(table) : walk;
    out[b] = pc_curve_bin(table, &begin, &end);
    out[b].low = b == 0 ? 0.0 : out[b - 1].high;
    out[b].high = last ? 1.0 : pc_curve_low(table, &end);
    begin = end;
  }
}

size_t pc_bins_adaptive_wants(const pc_curve_table *table, double threshold, size_t bins,
                              uint8_t *wanted) {
  const pc_curve_cursor first = pc_curve_above(table, threshold);
  size_t count = 0;
  if (threshold > 0 && !pc_curve_at_end(table, &first) &&
      pc_curve_low(table, &first) <= threshold) {
    count += !wanted[first.entry];
    wanted[first.entry] = 1;
    return count; /* stop here: the number of rows above the threshold is unknown until this
                     entry is resolved */
  }
  const double weight = adaptive_weight(table, &first);
  pc_curve_cursor walk = first;
  for (size_t b = 1; b < bins && !pc_curve_at_end(table, &first); b++) {
    pc_curve_seek_exceeding(table, &walk, adaptive_index(weight, bins, b));
    if (pc_curve_table_open(table, walk.entry)) {
      count += !wanted[walk.entry];
      wanted[walk.entry] = 1;
    }
  }
  return count;
}

/* ---- ranges of equal weight, ties split ---- */

typedef struct split_range {
  pc_fixed weight, hits, score;
  double low, high;
} split_range;

/* Adds `take` rows of an entry. */
static void split_range_add(const pc_curve_table *table, size_t entry, double take,
                            split_range *range) {
  const double score = table->score[entry];
  pc_fixed_add_weighted(&range->weight, take, 1.0);
  pc_fixed_add_weighted(&range->hits, table->hits[entry] * (take / table->weight[entry]), 1.0);
  pc_fixed_add_weighted(&range->score, take, score);
  range->low = fmin(range->low, score);
  range->high = fmax(range->high, score);
}

void pc_bins_split_ties(const pc_curve_table *table, size_t bins, pc_bin *out) {
  pc_curve_cursor walk = pc_curve_first(table);
  for (size_t b = 0; b < bins; b++) {
    const double begin = pc_bins_end_position(table, bins, b);
    const double end = b + 1 == bins ? table->total : pc_bins_end_position(table, bins, b + 1);
    split_range range = {.low = 1.0};
    while (!pc_curve_at_end(table, &walk) && walk.rows < end) {
      const double after = walk.rows + table->weight[walk.entry];
      const double take = fmin(after, end) - fmax(walk.rows, begin);
      if (take > 0)
        split_range_add(table, walk.entry, take, &range);
      if (after > end)
        break;
      pc_curve_next(table, &walk);
    }
    out[b] = (pc_bin){range.low,
                      range.high,
                      pc_fixed_value(&range.weight),
                      pc_fixed_value(&range.hits),
                      pc_fixed_value(&range.score),
                      (double)NAN,
                      (double)NAN};
  }
}
