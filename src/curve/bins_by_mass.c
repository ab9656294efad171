/* Equal-mass bins (curve_bins.h).
 *
 * Edge cases:
 *   (1) a part that is empty, or ends after all rows, has no edge;
 *   (2) an edge of 1 or more, or not above the previous edge, is left out, and its rows join
 *       the next bin;
 *   (3) the midpoint of two neighbouring doubles may round to the upper one, which then belongs
 *       to the lower bin of a table; replicas keep it in the upper bin. */
#include <math.h>

#include "base/assert.h"
#include "curve/curve_bins.h"
#include "curve/curve_cursor.h"
#include "curve/mass_bin_cache.h"

double pc_bins_end_position(const pc_curve_table *table, size_t bins, size_t r) {
  const double q = floor(table->total / (double)bins);
  return (double)r * q + fmin((double)r, table->total - (double)bins * q);
}

/* Moves `walk` to the entry of the last row before `position`.  *end: the place after that
 * entry.  Returns true if the position is exactly at *end and rows follow. */
static int bins_by_mass_find(const pc_curve_table *table, double position,
                             pc_curve_cursor *walk, pc_curve_cursor *end) {
  pc_curve_seek_reaching(table, walk, position);
  *end = *walk;
  pc_curve_next(table, end);
  return end->rows == position && !pc_curve_at_end(table, end);
}

/* The lowest score after a place where `position` rows end; others follow. */
static double bins_by_mass_next_score(const pc_curve_table *table, double position,
                                      pc_curve_cursor after) {
  pc_curve_cursor next = after;
  if (table->form != PC_CURVE_REPLICA)
    pc_curve_seek_exceeding(table, &after, position);
  while (table->form == PC_CURVE_REPLICA && next.rows <= position) { /* skips weights of 0 */
    after = next;
    pc_curve_next(table, &next);
  }
  return pc_curve_low(table, &after);
}

static double bins_by_mass_edge(const pc_curve_table *table, double position,
                                pc_curve_cursor *walk, pc_curve_cursor *end) {
  if (!bins_by_mass_find(table, position, walk, end))
    return pc_curve_high(table, walk);
  return (pc_curve_high(table, walk) + bins_by_mass_next_score(table, position, *end)) / 2.0;
}

static size_t bins_by_mass_want(const pc_curve_table *table, size_t entry, uint8_t *wanted) {
  if (!pc_curve_table_open(table, entry) || wanted[entry])
    return 0;
  wanted[entry] = 1;
  return 1;
}

size_t pc_bins_by_mass_wants(const pc_curve_table *table, size_t bins, uint8_t *wanted) {
  pc_curve_cursor walk = pc_curve_first(table), end;
  size_t count = 0;
  for (size_t r = 1; r < bins; r++) {
    const double position = pc_bins_end_position(table, bins, r);
    if (position <= 0 || position >= table->total)
      continue;
    const int between = bins_by_mass_find(table, position, &walk, &end);
    count += bins_by_mass_want(table, walk.entry, wanted);
    if (between)
      count += bins_by_mass_want(table, end.entry, wanted);
  }
  return count;
}

/* Sums of squared scores and of scores of hits. */
static void bins_by_mass_moments(const pc_curve_table *table, size_t begin, size_t end,
                                 pc_bin *bin) {
  pc_fixed square = {0}, hit = {0};
  if (table->form != PC_CURVE_SCORES)
    return;
  for (size_t i = begin; i < end; i++) {
    const double score = table->score[i];
    pc_fixed_add_weighted(&square, table->weight[i], score * score);
    pc_fixed_add_weighted(&hit, table->hits[i], score);
  }
  bin->score_square = pc_fixed_value(&square);
  bin->score_hit = pc_fixed_value(&hit);
}

static pc_bin bins_by_mass_bin(const pc_curve_table *table, const pc_curve_cursor *begin,
                               const pc_curve_cursor *end, double low, double high) {
  pc_bin bin = pc_curve_bin(table, begin, end);
  bins_by_mass_moments(table, begin->entry, end->entry, &bin);
  bin.low = low;
  bin.high = high;
  return bin;
}

/* Where bins are written; NULL: not wanted. */
typedef struct bins_by_mass_out {
  pc_bin *bins;
  size_t *ends;
  double *edges;
} bins_by_mass_out;

/* Writes the bin between two places. */
static void bins_by_mass_put(const pc_curve_table *table, const pc_curve_cursor *begin,
                             const pc_curve_cursor *end, double low, double high, size_t at,
                             const bins_by_mass_out *out) {
  if (out->bins != NULL)
    out->bins[at] = bins_by_mass_bin(table, begin, end, low, high);
  if (out->ends != NULL)
    out->ends[at] = end->entry;
  if (out->edges != NULL)
    out->edges[at] = high;
}

static size_t bins_by_mass_write(const pc_curve_table *table, size_t bins,
                                 const bins_by_mass_out *out) {
  pc_curve_cursor begin = pc_curve_first(table), walk = begin, end;
  double low = 0.0;
  size_t count = 0;
  for (size_t r = 1; r < bins; r++) {
    const double position = pc_bins_end_position(table, bins, r);
    if (position <= 0 || position >= table->total)
      continue;
    const double edge = bins_by_mass_edge(table, position, &walk, &end);
    if (!(edge < 1.0) || (count > 0 && !(edge > low)))
      continue;
    while (table->form != PC_CURVE_REPLICA && end.entry < table->count &&
           pc_curve_low(table, &end) <= edge)
      pc_curve_next(table, &end);
    bins_by_mass_put(table, &begin, &end, low, edge, count++, out);
    low = edge;
    begin = end;
  }
  end = pc_curve_last(table);
  bins_by_mass_put(table, &begin, &end, low, 1.0, count++, out);
  pc_assert(count <= bins || bins == 0);
  return count;
}

size_t pc_bins_by_mass_ends(const pc_curve_table *table, size_t bins, pc_bin *out,
                            size_t *ends) {
  return bins_by_mass_write(table, bins, &(bins_by_mass_out){.bins = out, .ends = ends});
}

size_t pc_bins_by_mass_edges(const pc_curve_table *table, size_t bins, double *edges) {
  return bins_by_mass_write(table, bins, &(bins_by_mass_out){.edges = edges});
}

size_t pc_bins_by_mass(const pc_curve_table *table, size_t bins, pc_bin *out) {
  const pc_prefix_gaps *gaps = table->form == PC_CURVE_REPLICA ? table->prefix->gaps : NULL;
  const size_t cached = gaps == NULL || gaps->bins == NULL
                            ? 0
                            : pc_mass_bin_cache_bins(gaps->bins, table, bins, out);
  return cached > 0 ? cached : pc_bins_by_mass_ends(table, bins, out, NULL);
}

size_t pc_bins_by_mass_of_error(const pc_curve_table *table, size_t bins, pc_bin *out) {
  const size_t count = pc_bins_by_mass(table, bins, out);
  for (size_t b = 0; table->total >= PC_BINS_MANY_ROWS && b < count; b++)
    out[b].score_square = out[b].score_hit = (double)NAN;
  return count;
}
