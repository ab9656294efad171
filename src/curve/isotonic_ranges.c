/* Formula:  let G be the minorant of the ends of segments.
 *
 * G is straight inside a segment, and the true minorant is not above it.  A segment that begins
 * at (x, y) and has m misses and h hits can have no point further below a line of slope 0 to 1
 * than (x + m, y): misses first, then hits.  If that point is at least `slack` above G, so are
 * all points inside the segment, and they are not needed:
 *   slack 0   a point that is not below G is a corner of the true minorant only if it is one of G;
 *   slack 1   a row more, placed at P_i, changes the minorant only if P_i is less than 1 above
 *             it: the step (1, 1) from P_i - (1, 1), or (1, 0) to P_i + (1, 0), must reach below
 *             the line through P_i's block (venn_abers_bounds.c).
 * The same holds for the point between two such segments: if it is no corner of G and `slack`
 * above it, the segments may be joined.  Later passes only add points, which lowers G, so that
 * this stays true.
 *
 * Edge cases:
 *   (1) a single score has no point inside;
 *   (2) with slack 0, a segment of one outcome is never divided.
 * Accuracy: exact, in integers; fewer than 2^62 rows.   Cost: O(segments). */
#include "curve/isotonic_ranges.h"

typedef struct ranges_point {
  int64_t x, y;
  size_t entry; /* that begins here */
} ranges_point;

typedef struct ranges_walk {
  ranges_point *corner;
  size_t count;
  int64_t slack;
} ranges_walk;

/* True if (x, y) is at least `above` over the line from a to b. */
static int ranges_above(const ranges_point *a, const ranges_point *b, int64_t x, int64_t y,
                        int64_t above) {
  return (pc_int128)(y - a->y - above) * (b->x - a->x) >= (pc_int128)(b->y - a->y) * (x - a->x);
}

static void ranges_push(ranges_walk *walk, ranges_point point) {
  while (walk->count > 1) {
    const ranges_point *last = &walk->corner[walk->count - 1];
    if (!ranges_above(last - 1, &point, last->x, last->y, 0))
      break;
    walk->count--;
  }
  walk->corner[walk->count++] = point;
}

/* The corners of the minorant of the ends of segments. */
static void ranges_corners(ranges_walk *walk, const pc_curve_table *table) {
  ranges_point at = {0, 0, 0};
  ranges_push(walk, at);
  for (size_t i = 0; i < table->count; i++) {
    at.x += (int64_t)table->segments[i].rows;
    at.y += (int64_t)table->segments[i].hits;
    at.entry = i + 1;
    ranges_push(walk, at);
  }
}

static void ranges_mark(const ranges_walk *walk, const pc_curve_table *table,
                        const uint8_t *settled, uint8_t *marks) {
  const ranges_point *block = walk->corner;
  int64_t x = 0, y = 0;
  int before = 0; /* the entry before need not be divided */
  for (size_t i = 0; i < table->count; i++) {
    const pc_segment *segment = &table->segments[i];
    const int64_t rows = (int64_t)segment->rows, hits = (int64_t)segment->hits;
    block += block[1].entry == i;
    const int decided = !pc_curve_table_open(table, i) || (settled != NULL && settled[i]) ||
                        ranges_above(block, block + 1, x + rows - hits, y, walk->slack);
    const int between = block->entry < i && ranges_above(block, block + 1, x, y, walk->slack);
    marks[i] = !decided ? PC_RANGE_RESOLVE : before && between ? PC_RANGE_JOIN : 0;
    before = decided;
    x += rows;
    y += hits;
  }
}

pcal_status pc_isotonic_ranges(const pcal_env *env, const pc_curve_table *table,
                               const uint8_t *settled, unsigned slack, uint8_t *marks,
                               pcal_error *err) {
  ranges_walk walk = {.slack = (int64_t)slack};
  walk.corner = pc_alloc_raw(env, table->count + 1, sizeof *walk.corner);
  if (walk.corner == NULL)
    return pc_fail_memory(err, "tracing isotonic regression");
  ranges_corners(&walk, table);
  ranges_mark(&walk, table, settled, marks);
  pc_free(env, walk.corner);
  return PCAL_OK;
}
