#include "curve/curve_prefix.h"

#include <math.h>

#include "curve/curve_cursor.h"

double pc_curve_prefix_total(const pc_curve_prefix *prefix) {
  return prefix->sums.rows[prefix->count];
}

pc_curve_cursor pc_curve_prefix_at(const pc_curve_prefix *prefix, size_t r) {
  return (pc_curve_cursor){prefix->begin[r], prefix->sums.rows[r],
                           pc_curve_prefix_hits(prefix, r), prefix->sums.scores[r]};
}

pc_curve_cursor pc_curve_prefix_last(const pc_curve_prefix *prefix) {
  return pc_curve_prefix_at(prefix, prefix->count);
}

static inline double prefix_tilt(double score) {
  const double tilt = score * (1.0 - score);
  return tilt > 1e-100 ? tilt : 1e-100;
}

double pc_gap_tilt(double score) {
  return prefix_tilt(score);
}

/* Hits of one row by the formula of pc_prefix_gaps. */
static inline double prefix_hits_from_gaps(const pc_prefix_gaps *gaps, double weight,
                                           double drawn, double score, double hit) {
  const double data = gaps->factor[PC_GAP_DATA] * weight;
  return weight * score - (data + gaps->factor[PC_GAP_REPLICA] * drawn) * (score - hit) -
         gaps->factor[PC_GAP_SHIFT] * weight * prefix_tilt(score);
}

static inline double prefix_hit(const pc_curve_prefix *prefix, size_t entry, uint32_t row) {
  if (prefix->labels == NULL)
    return prefix->hit[entry];
  return prefix->labels[row * prefix->stride] == prefix->label[entry] ? 1.0 : 0.0;
}

#define PREFIX_LONG_TIE 32 /* equal scores; shorter ties are cheaper to add than to look up */

/* Moves past the rest of a range if all its scores are equal; returns 0 if they are not. */
static int prefix_skip_tie(const pc_curve_prefix *prefix, pc_curve_cursor *cursor) {
  size_t low = 0, high = prefix->count - 1; /* the range of the entry */
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (prefix->begin[middle + 1] > cursor->entry)
      high = middle;
    else
      low = middle + 1;
  }
  if (prefix->score[prefix->begin[low + 1] - 1] != prefix->score[cursor->entry])
    return 0;
  *cursor = pc_curve_prefix_at(prefix, low + 1);
  return 1;
}

static inline int prefix_has_long_tie(const pc_curve_prefix *prefix, size_t entry) {
  return prefix->single || (prefix->begin[prefix->count] - entry > PREFIX_LONG_TIE &&
                            prefix->score[entry + PREFIX_LONG_TIE] == prefix->score[entry]);
}

/* Moves past one distinct score, entry by entry. */
static inline pc_curve_cursor prefix_step(const pc_curve_prefix *prefix,
                                          pc_curve_cursor cursor) {
  const size_t end = prefix->begin[prefix->count];
  const double score = prefix->score[cursor.entry];
  const pc_prefix_gaps *gaps = prefix->gaps;
  while (cursor.entry < end && prefix->score[cursor.entry] == score) {
    const uint32_t row = prefix->row[cursor.entry];
    const double drawn = (double)prefix->weight[row * prefix->stride];
    const double hit = prefix_hit(prefix, cursor.entry, row);
    const double weight = gaps == NULL ? drawn : (double)gaps->weight[row];
    cursor.rows += weight;
    cursor.hits +=
        gaps == NULL ? weight * hit : prefix_hits_from_gaps(gaps, weight, drawn, score, hit);
    cursor.scores += weight * score;
    cursor.entry++;
  }
  return cursor;
}

void pc_curve_prefix_next(const pc_curve_prefix *prefix, pc_curve_cursor *cursor) {
  if (!prefix_has_long_tie(prefix, cursor->entry) || !prefix_skip_tie(prefix, cursor))
    *cursor = prefix_step(prefix, *cursor);
}

pc_curve_cursor pc_curve_prefix_above(const pc_curve_prefix *prefix, double threshold) {
  size_t low = 0, high = prefix->count; /* the first range that ends above the threshold */
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (prefix->score[prefix->begin[middle + 1] - 1] > threshold)
      high = middle;
    else
      low = middle + 1;
  }
  pc_curve_cursor cursor = pc_curve_prefix_at(prefix, low);
  while (low < prefix->count && !(prefix->score[cursor.entry] > threshold))
    pc_curve_prefix_next(prefix, &cursor);
  return cursor;
}

/* The first range whose cumulative weight exceeds `rows`, or the last one.  Ranges have similar
 * weights: the search starts where they would be equal, and widens in steps that double. */
static size_t prefix_find_range(const pc_curve_prefix *prefix, double rows) {
  const double *after = prefix->sums.rows + 1;
  const size_t last = prefix->count - 1;
  const double place = rows / pc_curve_prefix_total(prefix) * (double)prefix->count;
  const size_t guess = place > 0.0 ? (place < (double)last ? (size_t)place : last) : 0;
  size_t low = guess, high = guess, step = 1;
  if (after[guess] > rows) {
    while (high >= step && after[high - step] > rows) {
      high -= step;
      step *= 2;
    }
    low = high >= step ? high - step + 1 : 0;
  } else {
    while (low + step <= last && !(after[low + step] > rows)) {
      low += step;
      step *= 2;
    }
    high = low + step <= last ? low + step : last;
  }
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (after[middle] > rows)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

pc_curve_cursor pc_curve_prefix_seek(const pc_curve_prefix *prefix, double rows) {
  const double index = fmin(rows, pc_curve_prefix_total(prefix) - 0.5);
  const size_t range = prefix_find_range(prefix, index);
  const size_t end = prefix->begin[range + 1];
  pc_curve_cursor cursor = pc_curve_prefix_at(prefix, range);
  for (;;) {
    pc_curve_cursor next = cursor;
    if (prefix_has_long_tie(prefix, cursor.entry))
      pc_curve_prefix_next(prefix, &next);
    else
      next = prefix_step(prefix, cursor);
    if (next.rows > index || next.entry >= end)
      return cursor;
    cursor = next;
  }
}
