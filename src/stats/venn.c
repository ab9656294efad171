/* Formula:  with P_i = (weight, hits) of the entries up to i, isotonic regression gives the
 * slopes of the greatest convex minorant of P_0, P_1, ...  A new hit before entry i inserts a
 * step (1, 1) there, the steepest possible; what is asked for is the slope over it.
 *
 * The step wanders from left to right.  Points left of it are moved by (-1, -1); its left end
 * is then Q = P_i - (1, 1).  While Q is not below the edge of the minorant that spans the step,
 * the edge stays; else Q is a corner from which the minorant goes on to the corners at the
 * right, as points above the old edge lie above the new one too.  A corner is dropped once:
 * O(n). Misses are hits seen backwards: (1, 0) in the reversed order with outcomes exchanged.
 *
 * Corners of the minorant are points before which the entries rise less than behind; of single
 * rows these are the places between a miss and a hit, few where scores tell outcomes apart.
 *
 * Edge cases: (1) a new score equal to an entry's joins it, which gives the same value as
 * standing before it (hit) or behind it (miss); (2) products are exact for whole weights up to
 * a total of 2^26, and errors beyond are those of rounding. Source: Vovk, Petej & Fedorova 2015
 * (there with a stack of corners for each bound). */
#include "stats/venn.h"

typedef struct venn_point {
  double x, y;
} venn_point;

typedef struct venn_walk {
  const pc_curve_table *table;
  int mirrored;
  venn_point *corner; /* from left to right, [first, end) */
  size_t first, end;
  pc_venn_step *steps;
  size_t count;
} venn_walk;

/* Is b not below the line from a to c?  a.x <= b.x <= c.x */
static int venn_not_below(const venn_point *a, const venn_point *b, const venn_point *c) {
  return (b->y - a->y) * (c->x - a->x) >= (c->y - a->y) * (b->x - a->x);
}

/* Puts a point on the left end, dropping corners that are not below it and their next. */
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
  const double weight = table->weight[at], hits = table->hits[at];
  return (venn_point){weight, walk->mirrored ? weight - hits : hits};
}

/* The corners without a step.  Points that may be one are collected first, behind a free place;
 * their corners then take the places of the last ones. */
static void venn_corners(venn_walk *walk) {
  venn_point *point = walk->corner, at = {0.0, 0.0}, before = venn_entry(walk, 0);
  size_t count = 1;
  point[count++] = at;
  for (size_t i = 0; i < walk->table->count; i++) {
    const venn_point entry = venn_entry(walk, i);
    point[count] = at;
    count += before.y * entry.x < entry.y * before.x;
    at.x += entry.x;
    at.y += entry.y;
    before = entry;
  }
  point[count++] = at;
  walk->first = walk->end = count;
  while (--count > 0)
    venn_push(walk, point[count]);
}

/* Keeps the value over the step, hits / weight between the two leftmost corners. */
static void venn_keep(venn_walk *walk, size_t entry) {
  const venn_point *left = &walk->corner[walk->first], *right = left + 1;
  const double weight = right->x - left->x, hits = right->y - left->y;
  const double value = (walk->mirrored ? weight - hits : hits) / weight;
  walk->steps[walk->count++] = (pc_venn_step){entry, value < 0.0   ? 0.0
                                                     : value > 1.0 ? 1.0
                                                                   : value};
}

static void venn_wander(venn_walk *walk) {
  venn_point at = {0.0, 0.0};
  venn_corners(walk);
  venn_push(walk, (venn_point){-1.0, -1.0});
  venn_keep(walk, 0);
  for (size_t i = 1; i < walk->table->count; i++) {
    const venn_point entry = venn_entry(walk, i - 1);
    at.x += entry.x;
    at.y += entry.y;
    const venn_point left = {at.x - 1.0, at.y - 1.0}, *corner = &walk->corner[walk->first];
    if (venn_not_below(&corner[0], &left, &corner[1]))
      continue;
    walk->first++;
    venn_push(walk, left);
    venn_keep(walk, i);
  }
}

/* Steps of a mirrored walk from left to right. */
static void venn_mirror(venn_walk *walk) {
  const size_t n = walk->table->count, count = walk->count;
  pc_venn_step *steps = walk->steps;
  for (size_t k = 0; k < count; k++)
    steps[k].entry = k + 1 < count ? n - steps[k + 1].entry : 0;
  for (size_t k = 0; k < count / 2; k++) {
    const pc_venn_step kept = steps[k];
    steps[k] = steps[count - 1 - k];
    steps[count - 1 - k] = kept;
  }
}

/* Leaves out steps that do not rise: weights that are not whole may round so. */
static size_t venn_rise(pc_venn_step *steps, size_t count) {
  size_t kept = 1;
  for (size_t k = 1; k < count; k++)
    if (steps[k].value > steps[kept - 1].value)
      steps[kept++] = steps[k];
  return kept;
}

static size_t venn_side(const pc_curve_table *table, int mirrored, venn_point *space,
                        pc_venn_step *out) {
  venn_walk walk = {.table = table, .mirrored = mirrored, .corner = space, .steps = out};
  venn_wander(&walk);
  if (mirrored)
    venn_mirror(&walk);
  return venn_rise(out, walk.count);
}

pcal_status pc_venn_new(const pcal_env *env, const pc_curve_table *table, pc_venn *out,
                        pcal_error *err) {
  const size_t n = table->count;
  venn_point *space = pc_alloc_raw(env, n + 2, sizeof *space);
  out->lower = pc_alloc_raw(env, n, sizeof *out->lower);
  out->upper = pc_alloc_raw(env, n, sizeof *out->upper);
  const int enough = space != NULL && out->lower != NULL && out->upper != NULL;
  if (enough) {
    out->upper_count = venn_side(table, 0, space, out->upper);
    out->lower_count = venn_side(table, 1, space, out->lower);
  } else {
    pc_venn_free(env, out);
  }
  pc_free(env, space);
  return enough ? PCAL_OK : pc_fail_memory(err, "tracing bounds of isotonic regression");
}

void pc_venn_free(const pcal_env *env, pc_venn *venn) {
  pc_free(env, venn->lower);
  pc_free(env, venn->upper);
  *venn = (pc_venn){0};
}
