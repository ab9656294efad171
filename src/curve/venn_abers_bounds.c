/* Formula:  with P_i = (weight, hits) summed over the entries up to i, isotonic regression
 * gives the slopes of the greatest convex minorant of P_0, P_1, ...  A new hit before entry i
 * inserts a step (1, 1), the steepest possible, at P_i.  The bound is the slope of the minorant
 * over it.
 *
 * Algorithm:  the step is moved from left to right.  Points left of it are shifted by (-1, -1),
 * so that its left end is Q = P_i - (1, 1).  As long as Q is not below the edge of the minorant
 * that spans the step, that edge is unchanged.  Otherwise Q becomes a corner, from which the
 * minorant continues to the corners at the right; points above the old edge are above the new
 * one too.  Misses are mirrored hits: a step (1, 0) in reversed order with outcomes exchanged.
 *
 * Only points where the slope from entry to entry rises can be corners.  With single rows these
 * are the places between a miss and a hit: few if the scores separate the outcomes.
 *
 * Edge cases:
 *   (1) a new score equal to that of an entry joins this entry, which gives the same value as
 *       placing it before the entry (hit) or after it (miss);
 *   (2) whole weights with a total below 2^53 are compared exactly;
 *   (3) an entry of a table of segments is passed as a whole; isotonic_ranges.h says when that is
 *       exact.
 * Source: Vovk, Petej & Fedorova 2015 (there with a stack of corners for each bound).
 * Cost: O(n), since each corner is dropped at most once. */
#include "curve/venn_abers_bounds.h"

#include "base/exact_product.h"

typedef struct venn_point {
  double x, y;
} venn_point;

typedef struct venn_walk {
  const pcal_env *env;
  const pc_curve_table *table;
  int mirrored;
  venn_point *corner; /* from left to right, [first, end) */
  size_t first, end;
  pc_venn_abers_step *steps;
  size_t count, capacity;
} venn_walk;

/* True if b is not below the line from a to c; a.x <= b.x <= c.x. */
static int venn_not_below(const venn_point *a, const venn_point *b, const venn_point *c) {
  return pc_compare_products(b->y - a->y, c->x - a->x, c->y - a->y, b->x - a->x) >= 0;
}

/* Adds a point at the left end; drops the corners that are no longer convex. */
static void venn_push(venn_walk *walk, venn_point point) {
  while (walk->end - walk->first > 1 &&
         venn_not_below(&point, &walk->corner[walk->first], &walk->corner[walk->first + 1]))
    walk->first++;
  walk->corner[--walk->first] = point;
}

/* Weight and hits of entry i, or of its mirror image. */
static venn_point venn_entry(const venn_walk *walk, size_t i) {
  const pc_curve_table *table = walk->table;
  const size_t at = walk->mirrored ? table->count - 1 - i : i;
  const double weight = pc_curve_table_weight(table, at), hits = pc_curve_table_hits(table, at);
  return (venn_point){weight, walk->mirrored ? weight - hits : hits};
}

/* True if the slope rises from one entry to the next. */
static int venn_rises(const venn_point *before, const venn_point *entry) {
  return pc_compare_products(before->y, entry->x, entry->y, before->x) < 0;
}

/* Allocates space for all points that may be corners, plus one element before and one after
 * them. */
static pcal_status venn_room(venn_walk *walk, pcal_error *err) {
  venn_point before = venn_entry(walk, 0);
  size_t count = 4;
  for (size_t i = 1; i < walk->table->count; i++) {
    const venn_point entry = venn_entry(walk, i);
    count += (size_t)venn_rises(&before, &entry);
    before = entry;
  }
  walk->corner = pc_alloc_raw(walk->env, count, sizeof *walk->corner);
  return walk->corner == NULL ? pc_fail_memory(err, "tracing bounds of isotonic regression")
                              : PCAL_OK;
}

/* The corners of the minorant without a step.  Candidates are collected first; the corners then
 * replace them, at the end of the same array. */
static void venn_corners(venn_walk *walk) {
  venn_point *point = walk->corner, at = {0.0, 0.0}, before = venn_entry(walk, 0);
  size_t count = 1;
  point[count++] = at;
  for (size_t i = 0; i < walk->table->count; i++) {
    const venn_point entry = venn_entry(walk, i);
    point[count] = at;
    count += (size_t)venn_rises(&before, &entry);
    at.x += entry.x;
    at.y += entry.y;
    before = entry;
  }
  point[count++] = at;
  walk->first = walk->end = count;
  while (--count > 0)
    venn_push(walk, point[count]);
}

/* Stores the slope over the step: hits / weight between the two leftmost corners. */
static pcal_status venn_keep(venn_walk *walk, size_t entry, pcal_error *err) {
  const venn_point *left = &walk->corner[walk->first], *right = left + 1;
  const double weight = right->x - left->x, hits = right->y - left->y;
  const double value = (walk->mirrored ? weight - hits : hits) / weight;
  void *steps = walk->steps;
  const pcal_status status =
      pc_reserve(walk->env, &steps, &walk->capacity, walk->count + 1, sizeof *walk->steps, err);
  walk->steps = steps;
  PC_TRY(status);
  walk->steps[walk->count++] = (pc_venn_abers_step){entry, value < 0.0   ? 0.0
                                                           : value > 1.0 ? 1.0
                                                                         : value};
  return PCAL_OK;
}

static pcal_status venn_move_step(venn_walk *walk, pcal_error *err) {
  venn_point at = {0.0, 0.0};
  venn_corners(walk);
  venn_push(walk, (venn_point){-1.0, -1.0});
  PC_TRY(venn_keep(walk, 0, err));
  for (size_t i = 1; i < walk->table->count; i++) {
    const venn_point entry = venn_entry(walk, i - 1);
    at.x += entry.x;
    at.y += entry.y;
    const venn_point left = {at.x - 1.0, at.y - 1.0}, *corner = &walk->corner[walk->first];
    if (venn_not_below(&corner[0], &left, &corner[1]))
      continue;
    walk->first++;
    venn_push(walk, left);
    PC_TRY(venn_keep(walk, i, err));
  }
  return PCAL_OK;
}

/* Reverses the steps of a mirrored walk. */
static void venn_mirror(venn_walk *walk) {
  const size_t n = walk->table->count, count = walk->count;
  pc_venn_abers_step *steps = walk->steps;
  for (size_t k = 0; k < count; k++)
    steps[k].entry = k + 1 < count ? n - steps[k + 1].entry : 0;
  for (size_t k = 0; k < count / 2; k++) {
    const pc_venn_abers_step kept = steps[k];
    steps[k] = steps[count - 1 - k];
    steps[count - 1 - k] = kept;
  }
}

/* Drops steps that do not rise, which rounding of fractional weights may produce. */
static size_t venn_rise(pc_venn_abers_step *steps, size_t count) {
  size_t kept = 1;
  for (size_t k = 1; k < count; k++)
    if (steps[k].value > steps[kept - 1].value)
      steps[kept++] = steps[k];
  return kept;
}

static pcal_status venn_side(const pcal_env *env, const pc_curve_table *table, int mirrored,
                             pc_venn_abers_step **steps, size_t *count, pcal_error *err) {
  venn_walk walk = {.env = env, .table = table, .mirrored = mirrored};
  pcal_status status = venn_room(&walk, err);
  if (status == PCAL_OK)
    status = venn_move_step(&walk, err);
  pc_free(env, walk.corner);
  *steps = walk.steps;
  PC_TRY(status);
  if (mirrored)
    venn_mirror(&walk);
  *count = venn_rise(walk.steps, walk.count);
  return PCAL_OK;
}

pcal_status pc_venn_abers_bounds_new(const pcal_env *env, const pc_curve_table *table,
                                     pc_venn_abers_bounds *out, pcal_error *err) {
  *out = (pc_venn_abers_bounds){0};
  pcal_status status = venn_side(env, table, 0, &out->upper, &out->upper_count, err);
  if (status == PCAL_OK)
    status = venn_side(env, table, 1, &out->lower, &out->lower_count, err);
  if (status != PCAL_OK)
    pc_venn_abers_bounds_free(env, out);
  return status;
}

void pc_venn_abers_bounds_free(const pcal_env *env, pc_venn_abers_bounds *venn) {
  pc_free(env, venn->lower);
  pc_free(env, venn->upper);
  *venn = (pc_venn_abers_bounds){0};
}
