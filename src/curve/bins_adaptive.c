#include <math.h>

#include "stats/bins.h"

/* Weights are nearly always whole: those are added as integers, the rest in fixed point. */
typedef struct adaptive_sums {
  int64_t weight, hits;
  pc_fixed weight_rest, hits_rest, score;
} adaptive_sums;

static void adaptive_add(int64_t *whole, pc_fixed *rest, double weight) {
  const int64_t rows = (int64_t)weight;
  *whole += rows;
  if (weight != (double)rows)
    pc_fixed_add_weighted(rest, weight - (double)rows, 1.0);
}

static double adaptive_value(int64_t whole, const pc_fixed *rest) {
  pc_fixed sum = {rest->units + (pc_int128)whole * pc_fixed_units(1.0)};
  return pc_fixed_value(&sum);
}

pc_bin pc_bin_of_entries(const pc_curve_table *table, size_t begin, size_t end) {
  adaptive_sums sums = {0};
  for (size_t i = begin; i < end; i++) {
    adaptive_add(&sums.weight, &sums.weight_rest, pc_curve_table_weight(table, i));
    adaptive_add(&sums.hits, &sums.hits_rest, pc_curve_table_hits(table, i));
    if (table->segments == NULL && table->weight[i] == 1.0)
      pc_fixed_add(&sums.score, table->score[i]);
    else
      sums.score.units += pc_curve_table_score_sum(table, i).units;
  }
  return (pc_bin){.weight = adaptive_value(sums.weight, &sums.weight_rest),
                  .hits = adaptive_value(sums.hits, &sums.hits_rest),
                  .score = pc_fixed_value(&sums.score),
                  .score_square = (double)NAN,
                  .score_hit = (double)NAN};
}

/* The first entry above the threshold; one that reaches beyond it counts as above. */
static size_t adaptive_first(const pc_curve_table *table, double threshold) {
  size_t low = 0, high = threshold > 0 ? table->count : 0;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (pc_curve_table_high(table, middle) > threshold)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* The weight from an entry on. */
static double adaptive_weight(const pc_curve_table *table, size_t first) {
  if (first == 0)
    return table->total;
  return pc_bin_of_entries(table, first, table->count).weight;
}

/* The entry that holds the row of an index, moving forward. */
typedef struct adaptive_walk {
  size_t at;
  double before; /* weight from the first kept entry up to `at` */
} adaptive_walk;

static void adaptive_seek(const pc_curve_table *table, adaptive_walk *walk, double index) {
  while (walk->at + 1 < table->count &&
         walk->before + pc_curve_table_weight(table, walk->at) <= index)
    walk->before += pc_curve_table_weight(table, walk->at++);
}

/* nearbyint is not used: the rounding mode belongs to the caller. */
static double adaptive_round(double x) {
  const double down = floor(x), rest = x - down;
  return rest > 0.5 || (rest == 0.5 && fmod(down, 2.0) != 0.0) ? down + 1.0 : down;
}

/* As numpy's linspace multiplies it out, so that halves fall as they do in the published code.
 */
static double adaptive_index(double weight, size_t bins, size_t r) {
  return adaptive_round((double)r * (weight / (double)bins));
}

static void adaptive_of_replica(const pc_curve_table *table, double threshold, size_t bins,
                                pc_bin *out) {
  const pc_curve_prefix *prefix = table->prefix;
  pc_curve_cursor begin =
      threshold > 0 ? pc_curve_prefix_above(prefix, threshold) : pc_curve_prefix_first(prefix);
  const double left_out = begin.rows, weight = table->total - left_out;
  for (size_t b = 0; b < bins; b++) {
    const int last = b + 1 == bins || begin.rows >= table->total;
    const pc_curve_cursor end =
        last ? pc_curve_prefix_last(prefix)
             : pc_curve_prefix_seek(prefix, left_out + adaptive_index(weight, bins, b + 1));
    out[b] = pc_bin_between(&begin, &end);
    out[b].low = b == 0 ? 0.0 : out[b - 1].high;
    out[b].high = last ? 1.0 : prefix->score[end.entry];
    begin = end;
  }
}

void pc_bins_adaptive(const pc_curve_table *table, double threshold, size_t bins, pc_bin *out) {
  if (table->prefix != NULL) {
    adaptive_of_replica(table, threshold, bins, out);
    return;
  }
  size_t begin = adaptive_first(table, threshold);
  const double weight = adaptive_weight(table, begin);
  adaptive_walk walk = {begin, 0.0};
  for (size_t b = 0; b < bins; b++) {
    const int last = b + 1 == bins || begin >= table->count;
    if (!last)
      adaptive_seek(table, &walk, adaptive_index(weight, bins, b + 1));
    const size_t end = last ? table->count : walk.at > begin ? walk.at : begin;
    out[b] = pc_bin_of_entries(table, begin, end);
    out[b].low = b == 0 ? 0.0 : out[b - 1].high;
    out[b].high = last ? 1.0 : pc_curve_table_low(table, walk.at);
    begin = end;
  }
}

size_t pc_bins_adaptive_wants(const pc_curve_table *table, double threshold, size_t bins,
                              uint8_t *wanted) {
  const size_t first = adaptive_first(table, threshold);
  size_t count = 0;
  if (threshold > 0 && first < table->count && pc_curve_table_low(table, first) <= threshold) {
    count += !wanted[first];
    wanted[first] = 1;
    return count; /* how many rows are kept is known only after that */
  }
  const double weight = adaptive_weight(table, first);
  adaptive_walk walk = {first, 0.0};
  for (size_t b = 1; b < bins && first < table->count; b++) {
    adaptive_seek(table, &walk, adaptive_index(weight, bins, b));
    if (pc_curve_table_open(table, walk.at)) {
      count += !wanted[walk.at];
      wanted[walk.at] = 1;
    }
  }
  return count;
}

/* ---- ranges of equal weight, ties split ---- */

typedef struct adaptive_range {
  pc_fixed weight, hits, score;
  double low, high;
} adaptive_range;

/* Adds `take` rows of an entry. */
static void adaptive_take(const pc_curve_table *table, size_t at, double take,
                          adaptive_range *range) {
  const double score = table->score[at];
  pc_fixed_add_weighted(&range->weight, take, 1.0);
  pc_fixed_add_weighted(&range->hits, table->hits[at] * (take / table->weight[at]), 1.0);
  pc_fixed_add_weighted(&range->score, take, score);
  range->low = fmin(range->low, score);
  range->high = fmax(range->high, score);
}

void pc_bins_split_ties(const pc_curve_table *table, size_t bins, pc_bin *out) {
  adaptive_walk walk = {0, 0.0};
  for (size_t b = 0; b < bins; b++) {
    const double begin = pc_bins_end_position(table, bins, b);
    const double end = b + 1 == bins ? table->total : pc_bins_end_position(table, bins, b + 1);
    adaptive_range range = {.low = 1.0};
    while (walk.at < table->count && walk.before < end) {
      const double after = walk.before + table->weight[walk.at];
      const double take = fmin(after, end) - fmax(walk.before, begin);
      if (take > 0)
        adaptive_take(table, walk.at, take, &range);
      if (after > end)
        break;
      walk.before = after;
      walk.at++;
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
