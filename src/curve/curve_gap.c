#include "curve/curve_gap.h"

#include <math.h>

#include "curve/curve_cursor.h"
#include "kernels/dispatch.h"

/* ---- tables of scores and of segments: exact sums ---- */

/* The gap after entry i, given the gap before it. */
static pc_fixed gap_step(const pc_curve_table *table, size_t i, pc_fixed running) {
  if (table->form == PC_CURVE_SEGMENTS) {
    const pc_int128 one = pc_fixed_units(1.0);
    running.units += table->segments[i].score.units - one * (pc_int128)table->segments[i].hits;
    return running;
  }
  pc_fixed_add_weighted(&running, table->weight[i], table->score[i]);
  pc_fixed_add_weighted(&running, table->hits[i], -1.0);
  return running;
}

/* The first entry after which the gap, as a double, is largest; the table is not empty. */
static size_t gap_widest(const pc_curve_table *table, double *gap) {
  pc_fixed running = {0}, widest = {0};
  size_t best = 0;
  for (size_t i = 0; i < table->count; i++) {
    running = gap_step(table, i, running);
    const pc_fixed size = {running.units < 0 ? -running.units : running.units};
    if (i > 0 && size.units <= widest.units)
      continue;
    const double here = pc_fixed_value(&running);
    widest = size;
    if (i == 0 || fabs(here) > fabs(*gap)) {
      *gap = here;
      best = i;
    }
  }
  return best;
}

/* The largest size that the gap can have inside a segment, `before` being the gap before it. */
static double gap_segment_bound(const pc_segment *segment, pc_fixed before) {
  const pc_int128 one = pc_fixed_units(1.0), hits = segment->hit_score.units;
  const pc_int128 up = before.units + (segment->score.units - hits);
  const pc_int128 down = before.units + hits - one * (pc_int128)segment->hits;
  const pc_int128 high = up < 0 ? -up : up, low = down < 0 ? -down : down;
  const pc_fixed bound = {high > low ? high : low};
  return pc_fixed_value(&bound);
}

size_t pc_curve_gap_wants(const pc_curve_table *table, uint8_t *wanted) {
  pc_fixed running = {0};
  double gap = 0.0;
  size_t count = 0;
  const size_t widest = table->count == 0 ? 0 : gap_widest(table, &gap);
  for (size_t i = 0; i < table->count; i++) {
    if (pc_curve_table_open(table, i) &&
        (i == widest || gap_segment_bound(&table->segments[i], running) >= fabs(gap))) {
      count += !wanted[i];
      wanted[i] = 1;
    }
    running = gap_step(table, i, running);
  }
  return count;
}

/* ---- replicas: sums in doubles, resolved range by range ---- */

/* Looks at every distinct score of range r. */
static void gap_inside_range(const pc_curve_prefix *prefix, size_t r, pc_gap *widest) {
  pc_curve_cursor cursor = pc_curve_prefix_at(prefix, r);
  while (cursor.entry < prefix->begin[r + 1]) {
    const double before = cursor.rows;
    pc_curve_prefix_next(prefix, &cursor);
    const double gap = cursor.scores - cursor.hits, at = prefix->score[cursor.entry - 1];
    const double more = fabs(gap) - fabs(widest->value);
    if (cursor.rows > before && (more > 0 || (more == 0 && !(at >= widest->at))))
      *widest = (pc_gap){gap, at};
  }
}

/* The largest size that the gap can have inside range r. */
static double gap_range_bound(const pc_curve_prefix *prefix, size_t r) {
  const double before = prefix->sums.scores[r] - pc_curve_prefix_hits(prefix, r);
  const double of_hits = prefix->sums.hit_scores == NULL
                             ? 0.0
                             : prefix->sums.hit_scores[r + 1] - prefix->sums.hit_scores[r];
  const double up = before + (prefix->sums.scores[r + 1] - prefix->sums.scores[r]) - of_hits;
  const double down = before -
                      (pc_curve_prefix_hits(prefix, r + 1) - pc_curve_prefix_hits(prefix, r)) +
                      of_hits;
  return fmax(up, -down);
}

/* The same for hits that are computed from gaps.  Inside a range the gap moves from `before` to that of
 * the next range on a way no longer than `move`: where it is x it has come |x - before| and has
 * |x - next| to go, so |x| is at most half of |before| + |next| + move. */
static pc_gap gap_of_point(const pc_curve_prefix *prefix) {
  const pc_prefix_gaps *gaps = prefix->gaps;
  const pc_convolve_kernels *kernels = pc_kernels_best()->convolve;
  double factor[PC_GAP_PARTS], least = 0.0;
  double *before = gaps->spare, *move = before + prefix->count + 1;
  pc_gap widest = {0.0, (double)NAN};
  for (size_t p = 0; p < PC_GAP_PARTS; p++)
    factor[p] = fabs(gaps->factor[p]);
  kernels->blend(gaps->gap, gaps->factor, prefix->count + 1, before);
  kernels->blend(gaps->size, factor, prefix->count, move);
  for (size_t r = 1; r <= prefix->count; r++)
    least = fabs(before[r]) > least ? fabs(before[r]) : least;
  least *= 1 - 0x1p-40; /* sums inside a range round differently */
  for (size_t r = 0; r < prefix->count; r++) {
    const double bound =
        0.5 * (fabs(before[r]) + fabs(before[r + 1]) + move[r]) * (1 + 0x1p-40);
    if (bound >= least && bound >= fabs(widest.value))
      gap_inside_range(prefix, r, &widest);
  }
  return widest;
}

static pc_gap gap_of_replica(const pc_curve_prefix *prefix) {
  if (prefix->gaps != NULL)
    return gap_of_point(prefix);
  double least = 0.0; /* the largest gap at the end of a range */
  for (size_t r = 1; r <= prefix->count; r++)
    least = fmax(least, fabs(prefix->sums.scores[r] - pc_curve_prefix_hits(prefix, r)));
  least *= 1 - 0x1p-40; /* sums inside a range round differently */
  pc_gap widest = {0.0, (double)NAN};
  for (size_t r = 0; r < prefix->count; r++)
    if (gap_range_bound(prefix, r) >= fmax(least, fabs(widest.value)))
      gap_inside_range(prefix, r, &widest);
  return widest;
}

pc_gap pc_curve_gap(const pc_curve_table *table) {
  pc_gap gap = {0.0, (double)NAN};
  if (table->form == PC_CURVE_REPLICA)
    return table->total > 0 ? gap_of_replica(table->prefix) : gap;
  if (table->count > 0)
    gap.at = pc_curve_table_high(table, gap_widest(table, &gap.value));
  return gap;
}
