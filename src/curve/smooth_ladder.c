/* The root of a smoothed error on a ladder of kernel widths.
 *
 * Widths: s_j = 2^(-j/4), j = 0 .. 40; a grid of nodes h = 2^-L, 4 h <= s_j < 8 h (curve/smooth.c).
 *   1. The gaps of each cell, at the mean score of its rows, are distributed to six nodes.
 *   2. The nodes are convolved with the Gaussian, cut off at 4.5 s_j: once for each of the three
 *      parts and each width.
 *   3. N_j = integral of |combination of the smoothed parts|.
 *   4. N_j falls as s_j grows: the root lies between the two widths with N_j >= s_j and
 *      N_(j-1) < s_(j-1); log N is interpolated in log s between them.
 *
 * Edge cases:
 *   1. N_0 >= 1: the gaps of a replica can be larger than 1; the result is N_0.
 *   2. N_40 < s_40: no root on the ladder; the result is NaN.
 *   3. No gaps at all, N = 0: the result is 0.
 *
 * The search starts at the net gap, a lower bound of the root, and depends on the gaps alone, so
 * that results do not depend on the order in which curves are evaluated.
 * Cost: O(cells + 1/s) for a replica and width, O(1/s) for a combination and width. */
#include "curve/smooth_ladder.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "curve/smooth.h"
#include "kernels/dispatch.h"

#define LADDER_STEPS 41
#define LADDER_GRIDS 9     /* 2^4 .. 2^12 nodes */
#define LADDER_COARSEST 16 /* nodes */
#define LADDER_FINEST (LADDER_COARSEST << (LADDER_GRIDS - 1))
#define LADDER_CUT 4.5
#define LADDER_SIDE \
  72 /* nodes beyond an end: 4.5 * 16, the widest kernel on the coarsest grid */
#define LADDER_START 0x1p-6
#define LADDER_SLOPE \
  3.2 /* steps for a factor 2 of N / s, if log N falls by a quarter of log s */

/* How the cells are distributed to the nodes of a grid. */
typedef struct ladder_grid {
  int64_t nodes;
  int32_t *first;    /* of each cell: the lowest of six nodes; NULL: not computed yet */
  double (*part)[6]; /* their shares */
  double *mass[PC_GAP_PARTS]; /* node -LADDER_SIDE first */
  int filled[PC_GAP_PARTS];
} ladder_grid;

/* One width. */
typedef struct ladder_step {
  double sigma;
  ladder_grid *grid;
  size_t reach; /* of the kernel; 0: not computed yet */
  double kernel[2 * LADDER_SIDE + 1];
  double *smooth[PC_GAP_PARTS]; /* at the nodes */
  int filled[PC_GAP_PARTS];
} ladder_step;

struct pc_smooth_ladder {
  size_t cells; /* that are not empty */
  int known;    /* the cells have been found */
  struct {
    uint32_t begin, end; /* ranges */
    double at;
  } cell[PC_PREFIX_CELLS];
  ladder_grid grids[LADDER_GRIDS];
  ladder_step steps[LADDER_STEPS];
  double combined[LADDER_FINEST + 1];
};

/* ---- memory ---- */

static double ladder_sigma(size_t step) {
  static const double parts[] = {1.0, 0.84089641525371454, 0.70710678118654752,
                                 0.59460355750136053};
  return ldexp(parts[step % 4], -(int)(step / 4));
}

static void ladder_set_up(pc_smooth_ladder *ladder) {
  for (size_t g = 0; g < LADDER_GRIDS; g++)
    ladder->grids[g].nodes = (int64_t)LADDER_COARSEST << g;
  for (size_t j = 0; j < LADDER_STEPS; j++) {
    ladder_step *step = &ladder->steps[j];
    step->sigma = ladder_sigma(j);
    step->grid = ladder->grids;
    while (step->grid->nodes < pc_smooth_grid(step->sigma, PC_SMOOTH_ROUGH))
      step->grid++;
  }
}

pcal_status pc_smooth_ladder_new(const pcal_env *env, pc_smooth_ladder **out, pcal_error *err) {
  *out = pc_alloc(env, 1, sizeof **out);
  if (*out == NULL)
    return pc_fail_memory(err, "smoothing a curve");
  ladder_set_up(*out);
  return PCAL_OK;
}

void pc_smooth_ladder_free(const pcal_env *env, pc_smooth_ladder *ladder) {
  if (ladder == NULL)
    return;
  for (size_t g = 0; g < LADDER_GRIDS; g++) {
    pc_free(env, ladder->grids[g].first);
    pc_free(env, ladder->grids[g].part);
    for (size_t p = 0; p < PC_GAP_PARTS; p++)
      pc_free(env, ladder->grids[g].mass[p]);
  }
  for (size_t j = 0; j < LADDER_STEPS; j++)
    for (size_t p = 0; p < PC_GAP_PARTS; p++)
      pc_free(env, ladder->steps[j].smooth[p]);
  pc_free(env, ladder);
}

void pc_smooth_ladder_renew(pc_smooth_ladder *ladder) {
  for (size_t g = 0; g < LADDER_GRIDS; g++)
    ladder->grids[g].filled[PC_GAP_REPLICA] = 0;
  for (size_t j = 0; j < LADDER_STEPS; j++)
    ladder->steps[j].filled[PC_GAP_REPLICA] = 0;
}

/* ---- from cells to nodes ---- */

static void ladder_find_cells(pc_smooth_ladder *ladder, const pc_curve_prefix *prefix) {
  const pc_prefix_sums *sums = &prefix->sums;
  for (size_t c = 0; c < PC_PREFIX_CELLS; c++) {
    const uint32_t begin = prefix->cells[c],
                   end = c + 1 < PC_PREFIX_CELLS ? prefix->cells[c + 1] : begin;
    const double rows = sums->rows[end] - sums->rows[begin];
    if (begin == end || !(rows > 0.0))
      continue;
    const double at = (sums->scores[end] - sums->scores[begin]) / rows;
    ladder->cell[ladder->cells].begin = begin;
    ladder->cell[ladder->cells].end = end;
    ladder->cell[ladder->cells++].at = at < 0.0 ? 0.0 : at > 1.0 ? 1.0 : at;
  }
  ladder->known = 1;
}

static pcal_status ladder_grid_open(const pcal_env *env, const pc_smooth_ladder *ladder,
                                    ladder_grid *grid, pcal_error *err) {
  int enough = 1;
  grid->part = pc_alloc_raw(env, ladder->cells, sizeof *grid->part);
  for (size_t p = 0; p < PC_GAP_PARTS; p++) {
    grid->mass[p] =
        pc_alloc_raw(env, (size_t)grid->nodes + 1 + 2 * LADDER_SIDE, sizeof(double));
    enough &= grid->mass[p] != NULL;
  }
  grid->first = pc_alloc_raw(env, ladder->cells, sizeof *grid->first);
  if (grid->first == NULL || grid->part == NULL || !enough)
    return pc_fail_memory(err, "smoothing a curve");
  for (size_t c = 0; c < ladder->cells; c++) {
    const double place = ladder->cell[c].at * (double)grid->nodes;
    const int64_t node = (int64_t)place;
    grid->first[c] = (int32_t)(node - 2);
    pc_smooth_spread(place - (double)node, 1.0, grid->part[c]);
  }
  return PCAL_OK;
}

/* Folds nodes just beyond an end onto their mirror images, then fills all nodes beyond the
 * ends.  A node on an end is its own mirror image and counts twice. */
static void ladder_mirror(double *mass, int64_t nodes) {
  double *at = mass + LADDER_SIDE;
  for (int64_t k = 1; k <= 3; k++) {
    at[k] += at[-k];
    at[nodes - k] += at[nodes + k];
  }
  at[0] *= 2.0;
  at[nodes] *= 2.0;
  for (int64_t k = 1; k <= LADDER_SIDE; k++) {
    const int64_t turn = k % (2 * nodes), image = turn <= nodes ? turn : 2 * nodes - turn;
    at[-k] = at[image];
    at[nodes + k] = at[nodes - image];
  }
}

/* Adds the gaps of cells to their nodes.  Neighbouring cells often share nodes, whose sums then
 * stay in registers. */
static void ladder_distribute(const pc_smooth_ladder *ladder, const ladder_grid *grid,
                              const double *gap, double *mass) {
  for (size_t c = 0; c < ladder->cells;) {
    const int32_t first = grid->first[c];
    double *to = mass + (LADDER_SIDE + first), sum[6];
    memcpy(sum, to, sizeof sum);
    for (; c < ladder->cells && grid->first[c] == first; c++) {
      const double here = gap[ladder->cell[c].end] - gap[ladder->cell[c].begin];
      for (size_t k = 0; k < 6; k++)
        sum[k] += here * grid->part[c][k];
    }
    memcpy(to, sum, sizeof sum);
  }
}

static pcal_status ladder_fill_grid(const pcal_env *env, pc_smooth_ladder *ladder,
                                    const pc_prefix_gaps *gaps, size_t part, ladder_grid *grid,
                                    pcal_error *err) {
  if (grid->first == NULL)
    PC_TRY(ladder_grid_open(env, ladder, grid, err));
  if (grid->filled[part])
    return PCAL_OK;
  double *mass = grid->mass[part];
  memset(mass, 0, ((size_t)grid->nodes + 1 + 2 * LADDER_SIDE) * sizeof *mass);
  ladder_distribute(ladder, grid, gaps->gap[part], mass);
  ladder_mirror(mass, grid->nodes);
  grid->filled[part] = 1;
  return PCAL_OK;
}

/* ---- smoothing ---- */

static void ladder_kernel(ladder_step *step) {
  const double h = 1.0 / ((double)step->grid->nodes * step->sigma);
  const double scale = 0.39894228040143268 / step->sigma;
  const double reach = ceil(LADDER_CUT / h);
  step->reach = reach < LADDER_SIDE ? (size_t)reach : LADDER_SIDE;
  for (size_t k = 0; k <= step->reach; k++) {
    const double z = (double)k * h, weight = scale * pc_exp(-0.5 * z * z);
    step->kernel[step->reach + k] = step->kernel[step->reach - k] = weight;
  }
}

static pcal_status ladder_smooth(const pcal_env *env, pc_smooth_ladder *ladder,
                                 const pc_prefix_gaps *gaps, size_t part, ladder_step *step,
                                 pcal_error *err) {
  const size_t count = (size_t)step->grid->nodes + 1;
  if (step->filled[part])
    return PCAL_OK;
  if (step->reach == 0)
    ladder_kernel(step);
  if (step->smooth[part] == NULL)
    step->smooth[part] = pc_alloc_raw(env, count, sizeof(double));
  if (step->smooth[part] == NULL)
    return pc_fail_memory(err, "smoothing a curve");
  PC_TRY(ladder_fill_grid(env, ladder, gaps, part, step->grid, err));
  pc_kernels_best()->convolve->convolve(step->grid->mass[part] + (LADDER_SIDE - step->reach),
                                        step->kernel, 2 * step->reach + 1, count,
                                        step->smooth[part]);
  step->filled[part] = 1;
  return PCAL_OK;
}

/* ---- the root ---- */

/* A combination whose root is wanted. */
typedef struct ladder_curve {
  const pcal_env *env;
  pc_smooth_ladder *ladder;
  const pc_prefix_gaps *gaps;
  double factor[PC_GAP_PARTS];
} ladder_curve;

/* *out: log2(N_j / s_j), -infinity if N_j is 0. */
static pcal_status ladder_excess(const ladder_curve *curve, size_t j, double *out,
                                 pcal_error *err) {
  ladder_step *step = &curve->ladder->steps[j];
  const size_t nodes = (size_t)step->grid->nodes;
  const pc_convolve_kernels *kernels = pc_kernels_best()->convolve;
  const double *parts[PC_GAP_PARTS];
  for (size_t p = 0; p < PC_GAP_PARTS; p++) {
    PC_TRY(ladder_smooth(curve->env, curve->ladder, curve->gaps, p, step, err));
    parts[p] = step->smooth[p];
  }
  kernels->blend(parts, curve->factor, nodes + 1, curve->ladder->combined);
  const double norm =
      kernels->absolute_integral(curve->ladder->combined, nodes) / (double)nodes;
  *out = norm > 0.0 ? pc_log2(norm / step->sigma) : -INFINITY;
  return PCAL_OK;
}

/* The nearest step to a position on the ladder. */
static size_t ladder_step_at(double place) {
  return place > 0.0 ? (place < LADDER_STEPS - 1 ? (size_t)place : LADDER_STEPS - 1) : 0;
}

/* Walks from a step to the lowest j with N_j >= s_j; *out: log2 of the root. */
static pcal_status ladder_walk(const ladder_curve *curve, size_t j, double *out,
                               pcal_error *err) {
  double here, other;
  PC_TRY(ladder_excess(curve, j, &here, err));
  *out = here;
  if (!isfinite(here)) /* no gaps */
    return PCAL_OK;
  const size_t next = ladder_step_at((double)j - LADDER_SLOPE * here + 0.5);
  if (next != j)
    PC_TRY(ladder_excess(curve, next, &here, err));
  j = next;
  *out = (double)NAN;
  for (; here < 0.0; j++) { /* until N >= s */
    if (j + 1 == LADDER_STEPS)
      return PCAL_OK;
    other = here;
    PC_TRY(ladder_excess(curve, j + 1, &here, err));
    if (here >= 0.0) {
      *out = -0.25 * (double)(j + 1) + 0.25 * here / (here - other);
      return PCAL_OK;
    }
  }
  for (; j > 0; j--) { /* until N < s at the next wider kernel */
    PC_TRY(ladder_excess(curve, j - 1, &other, err));
    if (other < 0.0) {
      *out = -0.25 * (double)j + 0.25 * here / (here - other);
      return PCAL_OK;
    }
    here = other;
  }
  *out = here; /* N_0 >= 1 = s_0 */
  return PCAL_OK;
}

pcal_status pc_smooth_ladder_root(const pcal_env *env, pc_smooth_ladder *ladder,
                                  const pc_curve_prefix *prefix, double total, double *out,
                                  pcal_error *err) {
  const pc_prefix_gaps *gaps = prefix->gaps;
  ladder_curve curve = {.env = env, .ladder = ladder, .gaps = gaps};
  double net = 0.0, place;
  if (!ladder->known)
    ladder_find_cells(ladder, prefix);
  for (size_t p = 0; p < PC_GAP_PARTS; p++) {
    curve.factor[p] = gaps->factor[p] / total;
    net += curve.factor[p] * gaps->gap[p][prefix->count];
  }
  const double start = fmin(fmax(fabs(net), LADDER_START), 1.0);
  PC_TRY(ladder_walk(&curve, ladder_step_at(-4.0 * pc_log2(start)), &place, err));
  *out = isnan(place) ? place : fmax(isfinite(place) ? pc_exp2(place) : 0.0, fabs(net));
  return PCAL_OK;
}
