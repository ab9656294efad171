/* Places.  The rows in the order of their scores have the places 0, 1/(N-1), ..., 1
 * (cumulative: 1/N, ..., 1).  Equal scores are one entry, which reaches from its first place
 * a_j to its last place x_j; only there the cumulated sums are defined by the scores.
 *
 * Fit.  s minimises sum_j w_j (s(x_j) - y_j)^2, y_j = sum of (outcome - score) / N up to entry
 * j (cumulative: of outcome).  Where rows do not determine all values at the knots, these have
 * the smallest norm.
 *
 * Map.  Entry j goes to score_j + mean of s' over its places (cumulative: without score_j),
 * which for a single row is s'(x_j); kept in [0, 1]; straight in between.
 *
 * As published: each row is a point, those of an entry on the straight line between the sums
 * before and behind it; a score between entries j-1 and j gets the map of the first row of j at
 * the side of j-1, and that of the last row of j-1 at the side of j.  The map is not kept in
 * [0, 1]: the tables of the paper were measured without that; the caller clips it. */
#include "calibrators/spline/spline_fit.h"

#include <math.h>
#include <string.h>

#include "optim/active_set.h"
#include "optim/eigen.h"

#define SPLINE_FIT_RANK 1e-12       /* eigenvalues below this share of the largest are none */
#define SPLINE_FIT_RIDGE 1e-10      /* and count as this in the quadratic program */
#define SPLINE_FIT_TOLERANCE 1e-11  /* of its constraints */
#define SPLINE_FIT_TIED_POINTS 4096 /* that stand for the rows of one entry, at most */
#define SPLINE_FIT_BLOCK 256        /* entries that are looked at together */

typedef struct spline_fit {
  const pcal_env *env;
  const pc_spline_rule *rule;
  pc_curve_table *rows;
  pc_spline_space space;
  double total;
  double *values; /* at the knots, the caller's */
  double *bends;
} spline_fit;

/* Some entries, block after block from the first one on. */
typedef struct spline_block {
  size_t begin, count;
  double before;                                          /* weight of the entries before it, */
  double first[SPLINE_FIT_BLOCK], last[SPLINE_FIT_BLOCK]; /* places */
} spline_block;

static double spline_fit_keep(double value) {
  const double above = value > 0.0 ? value : 0.0;
  return above < 1.0 ? above : 1.0;
}

/* ---- Places and points ---- */

/* Turns weights up to entries into places. */
static void spline_fit_places(const spline_fit *fit, spline_block *block) {
  const double n = fit->total;
  const int inner = !fit->rule->cumulative && n >= 2.0;
  const double skip = inner ? 1.0 : 0.0, share = 1.0 / (inner ? n - 1.0 : n);
  const double next = n < 2.0 ? 0.0 : 1.0;
  for (size_t i = 0; i < block->count; i++) {
    const double first = (block->first[i] + next - skip) * share;
    const double last = spline_fit_keep((block->last[i] - skip) * share);
    block->first[i] = first < last ? first : last;
    block->last[i] = last;
  }
}

/* Sums up to each number and behind an earlier sum; four at a time, so that additions do not
 * wait for each other. */
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

/* Goes on to the next block, from one that is all 0 to the first; 0 when there is none. */
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

/* Points on their way into sums. */
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

/* The rows of an entry as points of their own, up to (last place, behind). */
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

/* Points of a block. */
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

/* What the scores of a block go to, before they are kept in [0, 1]. */
static void spline_fit_map(const spline_fit *fit, const spline_block *block,
                           const double *values, double *out) {
  const double *score = fit->rows->score + block->begin;
  pc_spline_slopes(&fit->space, block->last, block->count, values, fit->bends, out);
  for (size_t i = 0; i < block->count; i++)
    if (block->first[i] < block->last[i])
      out[i] = pc_spline_mean_slope(&fit->space, block->first[i], block->last[i], values,
                                    fit->bends);
  for (size_t i = 0; !fit->rule->cumulative && i < block->count; i++)
    out[i] = score[i] + out[i];
}

/* The entry that leaves [0, 1] furthest, as a constraint on the values at the knots. */
static double spline_fit_worst(void *user, const double *values, double *normal,
                               double *bound) {
  const spline_fit *fit = user;
  spline_block block = {0};
  double map[SPLINE_FIT_BLOCK], most = 0.0, side = 0.0, worst = 0.0, first = 0.0, last = 0.0;
  pc_spline_second_derivatives(&fit->space, values, fit->bends);
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

/* Sum over eigenvectors of v v' / max(lambda, floor), those below `cut` left out. */
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
  PC_TRY(pc_quadratic_program_solve(fit->env, &problem, fit->values, &outcome, err));
  report->iterations = outcome.iterations;
  report->stopped = !outcome.solved;
  return PCAL_OK;
}

/* matrix: k x k; right: k; then k x k and k and k x k of space. */
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
  double *space = pc_alloc_raw(fit->env, 3 * k * k + 2 * k, sizeof *space);
  pc_spline_sums *sums = pc_alloc(fit->env, k - 1, sizeof *sums);
  pcal_status status =
      space == NULL || sums == NULL ? pc_fail_memory(err, "fitting a spline") : PCAL_OK;
  if (status == PCAL_OK) {
    spline_fit_points(fit, sums);
    status = pc_spline_normal(fit->env, &fit->space, sums, space, space + k * k, err);
  }
  for (size_t i = 0; status == PCAL_OK && i < k * k + k; i++)
    space[i] /= fit->total;
  if (status == PCAL_OK)
    status = spline_fit_solve(fit, space, report, err);
  pc_free(fit->env, sums);
  pc_free(fit->env, space);
  return status;
}

/* ---- The map ---- */

/* Entries that become points: all, or as many at equal distances, both ends included. */
static size_t spline_fit_entry(size_t count, size_t points, size_t i) {
  return points < count ? i * (count - 1) / (points - 1) : i;
}

/* Do the points of a line take the place of the rows, of which no one needs more?  Not where
 * much room would be left over. */
static int spline_fit_takes(const spline_fit *fit) {
  const size_t room = (size_t)(fit->rows->weight - fit->rows->score);
  return room <= fit->rule->points && room / 2 <= fit->rows->count;
}

static pcal_status spline_fit_line(const spline_fit *fit, pc_line_map *line, pcal_error *err) {
  const pc_curve_table *rows = fit->rows;
  spline_block block = {0};
  double map[SPLINE_FIT_BLOCK];
  size_t made = 0, entry = 0;
  if (spline_fit_takes(fit))
    *line = (pc_line_map){rows->count, rows->score, rows->weight};
  else
    PC_TRY(pc_line_map_alloc(fit->env,
                             rows->count < fit->rule->points ? rows->count : fit->rule->points,
                             line, err));
  while (spline_fit_next(fit, &block)) {
    spline_fit_map(fit, &block, fit->values, map);
    for (size_t i = 0; i < block.count; i++) {
      if (block.begin + i != entry)
        continue;
      line->score[made] = rows->score[entry];
      line->value[made++] = spline_fit_keep(map[i]);
      entry = spline_fit_entry(rows->count, line->count, made);
    }
  }
  if (line->score == rows->score)
    *fit->rows = (pc_curve_table){0};
  return PCAL_OK;
}

/* The map at one place of an entry, not kept in [0, 1]. */
static double spline_fit_at(const spline_fit *fit, size_t j, double place) {
  const pc_spline_form slope = pc_spline_slope(&fit->space, place);
  const double value = pc_spline_evaluate(&slope, fit->values, fit->bends);
  return fit->rule->cumulative ? value : fit->rows->score[j] + value;
}

static void spline_fit_point(pc_line_map *line, double score, double value) {
  line->score[line->count] = score;
  line->value[line->count++] = value;
}

/* Each stretch between neighbours runs backwards, so inner scores are jumps; the last score has
 * its own value, and the stretch before it ends one double earlier. */
static pcal_status spline_fit_published(const spline_fit *fit, pc_line_map *line,
                                        pcal_error *err) {
  const size_t count = fit->rows->count;
  const size_t entries = count < fit->rule->points ? count : fit->rule->points;
  const double *score = fit->rows->score;
  spline_block block = {0};
  size_t taken = 0, before = 0;
  double last = 0.0; /* place of the entry before */
  PC_TRY(pc_line_map_alloc(fit->env, 2 * entries, line, err));
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

pcal_status pc_spline_fit(const pcal_env *env, const pc_spline_rule *rule, pc_curve_table *rows,
                          double *values, pc_line_map *line, pc_spline_fit_result *report,
                          pcal_error *err) {
  spline_fit fit = {
      .env = env, .rule = rule, .rows = rows, .values = values, .total = rows->total};
  *report = (pc_spline_fit_result){0};
  fit.bends = pc_alloc_raw(env, rule->knots, sizeof *fit.bends);
  if (fit.bends == NULL)
    return pc_fail_memory(err, "fitting a spline");
  pcal_status status = pc_spline_space_new(env, rule->knots, rule->runout, &fit.space, err);
  if (status == PCAL_OK)
    status = spline_fit_values(&fit, report, err);
  if (status == PCAL_OK) {
    pc_spline_second_derivatives(&fit.space, values, fit.bends);
    status = (rule->published ? spline_fit_published : spline_fit_line)(&fit, line, err);
  }
  pc_spline_space_free(env, &fit.space);
  pc_free(env, fit.bends);
  return status;
}
