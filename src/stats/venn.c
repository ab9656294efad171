/* Formula:  with P_i = (weight, hits) of the entries up to i, isotonic regression gives the
 * slopes of the greatest convex minorant of P_0, P_1, ...  A new hit before entry i inserts a
 * step (1, 1) there, the steepest possible; what is asked for is the slope over it.
 *
 * The step wanders from left to right.  Points left of it are moved by (-1, -1); its left end
 * is then Q = P_i - (1, 1).  While Q is not below the edge of the minorant that spans the step,
 * the edge stays; else Q is a corner from which the minorant goes on to the corners at the
 * right, as points above the old edge lie above the new one too.  A corner is dropped once:
 * O(n). Misses are hits seen backwards: (1, 0) in the reversed order with outcomes exchanged.
 * Edge cases: (1) a new score equal to an entry's joins it, which gives the same value as
 * standing before it (hit) or behind it (miss); (2) products are exact for whole weights up to
 * a total of 2^26, and errors beyond are those of rounding. Source: Vovk, Petej & Fedorova 2015
 * (there with a stack of corners for each bound). */
#include "stats/venn.h"

#include <math.h>

typedef struct venn_point {
  double x, y;
} venn_point;

typedef struct venn_hull {
  venn_point *point; /* P_0 ... P_n */
  venn_point *stack; /* corners, the leftmost on top */
  size_t count;
} venn_hull;

/* Is b not below the line from a to c?  a.x <= b.x <= c.x */
static int venn_not_below(const venn_point *a, const venn_point *b, const venn_point *c) {
  return (b->y - a->y) * (c->x - a->x) >= (c->y - a->y) * (b->x - a->x);
}

/* Puts a point on the left end, dropping corners that are not below it and their next. */
static void venn_push(venn_hull *hull, venn_point point) {
  while (hull->count > 1 &&
         venn_not_below(&point, &hull->stack[hull->count - 1], &hull->stack[hull->count - 2]))
    hull->count--;
  hull->stack[hull->count++] = point;
}

/* Entry i of n, or its mirror image. */
static void venn_points(const pc_curve_table *table, int mirrored, venn_hull *hull) {
  const size_t n = table->count;
  hull->point[0] = (venn_point){0.0, 0.0};
  for (size_t i = 0; i < n; i++) {
    const size_t at = mirrored ? n - 1 - i : i;
    const double weight = table->weight[at], hits = table->hits[at];
    hull->point[i + 1] = (venn_point){hull->point[i].x + weight,
                                      hull->point[i].y + (mirrored ? weight - hits : hits)};
  }
}

/* The value over the step: hits / weight between the two leftmost corners. */
static double venn_slope(const venn_hull *hull, int mirrored) {
  const venn_point *left = &hull->stack[hull->count - 1];
  const venn_point *right = &hull->stack[hull->count - 2];
  const double weight = right->x - left->x, hits = right->y - left->y;
  const double value = (mirrored ? weight - hits : hits) / weight;
  return fmin(fmax(value, 0.0), 1.0);
}

static void venn_wander(const pc_curve_table *table, int mirrored, venn_hull *hull,
                        double *out) {
  const size_t n = table->count;
  venn_points(table, mirrored, hull);
  hull->count = 0;
  for (size_t i = n + 1; i > 0; i--)
    venn_push(hull, hull->point[i - 1]);
  venn_push(hull, (venn_point){-1.0, -1.0});
  for (size_t i = 0; i < n; i++) {
    out[mirrored ? n - 1 - i : i] = venn_slope(hull, mirrored);
    const venn_point left = {hull->point[i + 1].x - 1.0, hull->point[i + 1].y - 1.0};
    if (venn_not_below(&hull->stack[hull->count - 1], &left, &hull->stack[hull->count - 2]))
      continue;
    hull->count--;
    venn_push(hull, left);
  }
}

pcal_status pc_venn_bounds(const pcal_env *env, const pc_curve_table *table, double *lower,
                           double *upper, pcal_error *err) {
  const size_t n = table->count;
  venn_hull hull = {NULL, NULL, 0};
  hull.point = pc_alloc_raw(env, 2 * n + 4, sizeof *hull.point);
  if (hull.point == NULL)
    return pc_fail_memory(err, "tracing bounds of isotonic regression");
  hull.stack = hull.point + n + 1;
  venn_wander(table, 0, &hull, upper);
  venn_wander(table, 1, &hull, lower);
  pc_free(env, hull.point);
  for (size_t i = 1; i < n; i++) { /* rounding of weights that are not whole */
    upper[i] = fmax(upper[i], upper[i - 1]);
    lower[i] = fmax(lower[i], lower[i - 1]);
  }
  return PCAL_OK;
}
