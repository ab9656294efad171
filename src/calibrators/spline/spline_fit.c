/* Places:  the rows in the order of their scores have the places 0, 1/(N-1), ..., 1
 *          (cumulative: 1/N, ..., 1).  Equal scores are one entry, from its first place a_j to
 *          its last place x_j; the cumulative sums are defined by the scores at x_j only.
 * Fit:     s minimises sum_j w_j (s(x_j) - y_j)^2, y_j = sum of (outcome - score) / N up to
 *          entry j (cumulative: of outcome).  If the rows do not determine all values at the
 *          knots, these have the smallest norm.
 * Map:     entry j becomes score_j + mean of s' over its places (cumulative: without score_j),
 *          for a single row s'(x_j); clipped to [0, 1]; linear in between.
 * Published code:
 *          each row is a point, those of an entry on the straight line between the sums before
 *          and after it.  Between entries j-1 and j, interpolation runs from the map of the
 *          first row of j (at j-1) to that of the last row of j-1 (at j).  The map is not
 *          clipped, as in the tables of the paper; the caller clips it. */
#include "calibrators/spline/spline_fit.h"

#include <math.h>
#include <string.h>

#include "optim/active_set.h"
#include "optim/eigen.h"

#define SPLINE_FIT_RANK 1e-12       /* eigenvalues below this share of the largest count as 0 */
#define SPLINE_FIT_RIDGE 1e-10      /* least relative eigenvalue in the quadratic program */
#define SPLINE_FIT_TOLERANCE 1e-11  /* of its constraints */
#define SPLINE_FIT_TIED_POINTS 4096 /* most points for the rows of one entry */
#define SPLINE_FIT_BLOCK 256        /* entries that are processed together */

typedef struct spline_fit {
  const pcal_env *memory, *scratch;
  const pc_spline_rule *rule;
  pc_curve_table *rows;
  pc_spline_space space;
  double total;
  double *values;     /* at the knots; the caller's array */
  double *curvatures; /* second derivatives at the knots */
} spline_fit;

/* Neighbouring entries; spline_fit_next goes to the next block. */
typedef struct spline_block {
  size_t begin, count;
  double before; /* weight of all entries up to its end */
  double first[SPLINE_FIT_BLOCK], last[SPLINE_FIT_BLOCK]; /* places of each entry */
} spline_block;

/* Clips to [0, 1]. */
static double spline_fit_clip(double value) {
  const double above = value > 0.0 ? value : 0.0;
  return above < 1.0 ? above : 1.0;
}

/* ---- Places and points ---- */

/* Replaces cumulative weights by places. */
static void spline_fit_places(const spline_fit *fit, spline_block *block) {
  const double n = fit->total;
  const int inner = !fit->rule->cumulative && n >= 2.0;
  const double skip = inner ? 1.0 : 0.0, share = 1.0 / (inner ? n - 1.0 : n);
  const double next = n < 2.0 ? 0.0 : 1.0;
  for (size_t i = 0; i < block->count; i++) {
    const double first = (block->first[i] + next - skip) * share;
    const double last = spline_fit_clip((block->last[i] - skip) * share);
    block->first[i] = first < last ? first : last;
    block->last[i] = last;
  }
}

/* Cumulative sums, starting from `before`; four at a time, so that additions do not wait for
 * each other. */
static void spline_fit_cumulate(const double *from, size_t count, double before, double *out) {
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const double two = from[i] + from[i + 1], rest = from[i + 2] + from[i + 3];
    out[i] = before + from[i];
    out[i + 1] = before + two;
    out[i + 2] = before + (two + from[i + 2]);
    before = out[i + 3] = before + (two + rest);
  }
  for (; i < count; i++)
    before = out[i] = before + from[i];
}

/* Goes to the next block; a zeroed block goes to the first.  Returns 0 at the end. */
static int spline_fit_next(const spline_fit *fit, spline_block *block) {
  block->begin += block->count;
  const size_t left = fit->rows->count - block->begin;
  block->count = left < SPLINE_FIT_BLOCK ? left : SPLINE_FIT_BLOCK;
  if (block->count == 0)
    return 0;
  spline_fit_cumulate(fit->rows->weight + block->begin, block->count, block->before,
                      block->last);
  block->first[0] = block->before;
  memcpy(block->first + 1, block->last, (block->count - 1) * sizeof *block->first);
  block->before = block->last[block->count - 1];
  spline_fit_places(fit, block);
  return 1;
}

static double spline_fit_error(const spline_fit *fit, size_t j) {
  const pc_curve_table *rows = fit->rows;
  return fit->rule->cumulative ? rows->hits[j]
                               : rows->hits[j] - rows->weight[j] * rows->score[j];
}

/* A buffer of points for the normal equations. */
typedef struct spline_points {
  size_t count;
  double x[SPLINE_FIT_BLOCK], y[SPLINE_FIT_BLOCK], weight[SPLINE_FIT_BLOCK];
  pc_spline_sums *sums;
} spline_points;

static void spline_fit_flush(const spline_fit *fit, spline_points *points) {
  pc_spline_add(&fit->space, points->x, points->y, points->weight, points->count, points->sums);
  points->count = 0;
}

static void spline_fit_add(const spline_fit *fit, double x, double y, double weight,
                           spline_points *points) {
  if (points->count == SPLINE_FIT_BLOCK)
    spline_fit_flush(fit, points);
  points->x[points->count] = x;
  points->y[points->count] = y;
  points->weight[points->count++] = weight;
}

/* Adds the rows of an entry as single points; the cumulative sum goes from `before` to
 * `behind`. */
static void spline_fit_add_tied(const spline_fit *fit, const spline_block *block, size_t i,
                                double before, double behind, spline_points *points) {
  const double weight = fit->rows->weight[block->begin + i];
  const double count = fmin(fmax(ceil(weight), 1.0), SPLINE_FIT_TIED_POINTS);
  for (double p = 1.0; p <= count; p++) {
    const double share = count == 1.0 ? 1.0 : (p - 1.0) / (count - 1.0);
    const double x = block->first[i] + share * (block->last[i] - block->first[i]);
    const double y = p == count ? behind : before + (behind - before) * (p / count);
    spline_fit_add(fit, x, y, weight / count, points);
  }
}

/* Adds the points of a block. */
static void spline_fit_add_block(const spline_fit *fit, const spline_block *block,
                                 double before, const double *y, spline_points *points) {
  const double *weight = fit->rows->weight + block->begin;
  if (!fit->rule->published)
    pc_spline_add(&fit->space, block->last, y, weight, block->count, points->sums);
  for (size_t i = 0; fit->rule->published && i < block->count; i++)
    spline_fit_add_tied(fit, block, i, i == 0 ? before : y[i - 1], y[i], points);
}

static void spline_fit_points(const spline_fit *fit, pc_spline_sums *sums) {
  spline_points points = {.sums = sums};
  spline_block block = {0};
  double before = 0.0, y[SPLINE_FIT_BLOCK], sum[SPLINE_FIT_BLOCK];
  const double share = 1.0 / fit->total;
  while (spline_fit_next(fit, &block)) {
    for (size_t i = 0; i < block.count; i++)
      y[i] = spline_fit_error(fit, block.begin + i);
    spline_fit_cumulate(y, block.count, before, sum);
    for (size_t i = 0; i < block.count; i++)
      y[i] = sum[i] * share;
    spline_fit_add_block(fit, &block, before * share, y, &points);
    before = sum[block.count - 1];
  }
  spline_fit_flush(fit, &points);
}

/* ---- Solving ---- */

/* The unclipped map of the scores of a block. */
static void spline_fit_map(const spline_fit *fit, const spline_block *block,
                           const double *values, double *out) {
  const double *score = fit->rows->score + block->begin;
  pc_spline_slopes(&fit->space, block->last, block->count, values, fit->curvatures, out);
  int64_t ties = 0;
  for (size_t i = 0; i < block->count; i++)
    ties |= block->first[i] < block->last[i];
  for (size_t i = 0; ties != 0 && i < block->count; i++)
    if (block->first[i] < block->last[i])
      out[i] = pc_spline_mean_slope(&fit->space, block->first[i], block->last[i], values,
                                    fit->curvatures);
  for (size_t i = 0; !fit->rule->cumulative && i < block->count; i++)
    out[i] = score[i] + out[i];
}

/* The entry furthest outside [0, 1], as a constraint on the values at the knots. */
static double spline_fit_worst(void *user, const double *values, double *normal,
                               double *bound) {
  const spline_fit *fit = user;
  spline_block block = {0};
  double map[SPLINE_FIT_BLOCK], most = 0.0, side = 0.0, worst = 0.0, first = 0.0, last = 0.0;
  pc_spline_second_derivatives(&fit->space, values, fit->curvatures);
  while (spline_fit_next(fit, &block)) {
    spline_fit_map(fit, &block, values, map);
    for (size_t i = 0; i < block.count; i++) {
      const double base = fit->rule->cumulative ? 0.0 : fit->rows->score[block.begin + i];
      const double below = fmin(base, 0.0) - map[i], above = map[i] - fmax(base, 1.0);
      if (fmax(below, above) > most) {
        most = fmax(below, above);
        side = below > above ? 1.0 : -1.0;
        worst = base;
        first = block.first[i];
        last = block.last[i];
      }
    }
  }
  if (most <= 0.0)
    return 0.0;
  memset(normal, 0, fit->space.knots * sizeof *normal);
  pc_spline_add_mean_slope(&fit->space, first, last, side, normal);
  *bound = side > 0.0 ? fmin(worst, 0.0) - worst : worst - fmax(worst, 1.0);
  return most;
}

/* Sum over eigenvectors of v v' / max(lambda, floor_value), without eigenvalues below `cut`. */
static void spline_fit_inverse(const double *lambda, const double *vectors, size_t k,
                               double floor_value, double cut, double *out) {
  memset(out, 0, k * k * sizeof *out);
  for (size_t e = 0; e < k; e++) {
    if (lambda[e] < cut)
      continue;
    for (size_t i = 0; i < k; i++)
      for (size_t j = 0; j < k; j++)
        out[i * k + j] +=
            vectors[i * k + e] * vectors[j * k + e] / fmax(lambda[e], floor_value);
  }
}

static pcal_status spline_fit_program(spline_fit *fit, const double *inverse,
                                      const double *right, pc_spline_fit_result *report,
                                      pcal_error *err) {
  const pc_quadratic_program problem = {.n = fit->space.knots,
                                        .inverse = inverse,
                                        .f = right,
                                        .worst = spline_fit_worst,
                                        .user = fit,
                                        .tolerance = SPLINE_FIT_TOLERANCE};
  pc_quadratic_program_result outcome;
  PC_TRY(pc_quadratic_program_solve(fit->scratch, &problem, fit->values, &outcome, err));
  report->iterations = outcome.iterations;
  report->stopped = !outcome.solved;
  return PCAL_OK;
}

/* matrix: k x k, followed by the right-hand side (k) and by k x k + k + k x k doubles of
 * scratch. */
static pcal_status spline_fit_solve(spline_fit *fit, double *matrix,
                                    pc_spline_fit_result *report, pcal_error *err) {
  const size_t k = fit->space.knots;
  double *right = matrix + k * k, *vectors = right + k, *lambda = vectors + k * k;
  double *inverse = lambda + k, largest = 0.0;
  pc_symmetric_eigen(matrix, k, lambda, vectors);
  for (size_t e = 0; e < k; e++)
    largest = fmax(largest, lambda[e]);
  for (size_t e = 0; e < k; e++)
    report->rank += lambda[e] >= SPLINE_FIT_RANK * largest;
  if (fit->rule->constrained) {
    spline_fit_inverse(lambda, vectors, k, SPLINE_FIT_RIDGE * largest, -INFINITY, inverse);
    return spline_fit_program(fit, inverse, right, report, err);
  }
  spline_fit_inverse(lambda, vectors, k, 0.0, SPLINE_FIT_RANK * largest, inverse);
  for (size_t i = 0; i < k; i++) {
    fit->values[i] = 0.0;
    for (size_t j = 0; j < k; j++)
      fit->values[i] += inverse[i * k + j] * right[j];
  }
  return PCAL_OK;
}

static pcal_status spline_fit_values(spline_fit *fit, pc_spline_fit_result *report,
                                     pcal_error *err) {
  const size_t k = fit->space.knots;
  double *matrix = pc_alloc_raw(fit->scratch, 3 * k * k + 2 * k, sizeof *matrix);
  pc_spline_sums *sums = pc_alloc(fit->scratch, k - 1, sizeof *sums);
  if (matrix == NULL || sums == NULL)
    return pc_fail_memory(err, "fitting a spline");
  spline_fit_points(fit, sums);
  PC_TRY(pc_spline_normal(fit->scratch, &fit->space, sums, matrix, matrix + k * k, err));
  for (size_t i = 0; i < k * k + k; i++)
    matrix[i] /= fit->total;
  return spline_fit_solve(fit, matrix, report, err);
}

/* ---- The map ---- */

/* The entry of point i: all entries, or equally spaced ones with both ends. */
static size_t spline_fit_entry(size_t count, size_t points, size_t i) {
  return points < count ? i * (count - 1) / (points - 1) : i;
}

/* True if the map takes over the scores and weights of the rows: their memory is large enough,
 * and not much larger than needed. */
static int spline_fit_reuses_rows(const spline_fit *fit) {
  const size_t room = (size_t)(fit->rows->weight - fit->rows->score);
  return room <= fit->rule->points && room / 2 <= fit->rows->count;
}

/* Writes the points of a block to the map that has all entries. */
static void spline_fit_put_all(const spline_fit *fit, const spline_block *block,
                               const double *map, pc_line_map *line) {
  if (line->score != fit->rows->score)
    memcpy(line->score + block->begin, fit->rows->score + block->begin,
           block->count * sizeof *line->score);
  for (size_t i = 0; i < block->count; i++)
    line->value[block->begin + i] = spline_fit_clip(map[i]);
}

static pcal_status spline_fit_line(const spline_fit *fit, pc_line_map *line, pcal_error *err) {
  const pc_curve_table *rows = fit->rows;
  spline_block block = {0};
  double map[SPLINE_FIT_BLOCK];
  size_t made = 0, entry = 0;
  if (spline_fit_reuses_rows(fit))
    *line = (pc_line_map){rows->count, rows->score, rows->weight};
  else
    PC_TRY(pc_line_map_alloc(fit->memory,
                             rows->count < fit->rule->points ? rows->count : fit->rule->points,
                             line, err));
  while (spline_fit_next(fit, &block)) {
    spline_fit_map(fit, &block, fit->values, map);
    if (line->count == rows->count)
      spline_fit_put_all(fit, &block, map, line);
    for (size_t i = 0; line->count < rows->count && i < block.count; i++) {
      if (block.begin + i != entry)
        continue;
      line->score[made] = rows->score[entry];
      line->value[made++] = spline_fit_clip(map[i]);
      entry = spline_fit_entry(rows->count, line->count, made);
    }
  }
  if (line->score == rows->score)
    fit->rows->score = fit->rows->weight = NULL;
  return PCAL_OK;
}

/* The unclipped map at one place of an entry. */
static double spline_fit_at(const spline_fit *fit, size_t j, double place) {
  const pc_spline_form slope = pc_spline_slope(&fit->space, place);
  const double value = pc_spline_evaluate(&slope, fit->values, fit->curvatures);
  return fit->rule->cumulative ? value : fit->rows->score[j] + value;
}

static void spline_fit_point(pc_line_map *line, double score, double value) {
  line->score[line->count] = score;
  line->value[line->count++] = value;
}

/* Every interval between neighbours is interpolated in reverse, so inner scores are jumps; the
 * last score has its own value, and the interval before it ends one double earlier. */
static pcal_status spline_fit_published(const spline_fit *fit, pc_line_map *line,
                                        pcal_error *err) {
  const size_t count = fit->rows->count;
  const size_t entries = count < fit->rule->points ? count : fit->rule->points;
  const double *score = fit->rows->score;
  spline_block block = {0};
  size_t taken = 0, before = 0;
  double last = 0.0; /* place of the entry before */
  PC_TRY(pc_line_map_alloc(fit->memory, 2 * entries, line, err));
  line->count = 0;
  while (spline_fit_next(fit, &block))
    for (size_t i = 0; i < block.count; i++) {
      const size_t j = block.begin + i;
      if (j != spline_fit_entry(count, entries, taken))
        continue;
      const double end = j + 1 < count ? score[j] : nextafter(score[j], -1.0);
      spline_fit_point(line, score[before], spline_fit_at(fit, j, block.first[i]));
      if (taken++ > 0)
        spline_fit_point(line, end, spline_fit_at(fit, before, last));
      before = j;
      last = block.last[i];
    }
  if (entries > 1)
    spline_fit_point(line, score[before], spline_fit_at(fit, before, last));
  return PCAL_OK;
}

pcal_status pc_spline_fit(const pcal_env *memory, const pcal_env *scratch,
                          const pc_spline_rule *rule, pc_curve_table *rows, double *values,
                          pc_line_map *line, pc_spline_fit_result *report, pcal_error *err) {
  spline_fit fit = {.memory = memory,
                    .scratch = scratch,
                    .rule = rule,
                    .rows = rows,
                    .values = values,
                    .total = rows->total};
  *report = (pc_spline_fit_result){0};
  fit.curvatures = pc_alloc_raw(scratch, rule->knots, sizeof *fit.curvatures);
  if (fit.curvatures == NULL)
    return pc_fail_memory(err, "fitting a spline");
  PC_TRY(pc_spline_space_new(scratch, rule->knots, rule->runout, &fit.space, err));
  PC_TRY(spline_fit_values(&fit, report, err));
  pc_spline_second_derivatives(&fit.space, values, fit.curvatures);
  return (rule->published ? spline_fit_published : spline_fit_line)(&fit, line, err);
}
