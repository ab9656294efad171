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
 * the side of j-1, and that of the last row of j-1 at the side of j. */
#include "calibrators/spline_fit.h"

#include <math.h>
#include <string.h>

#include "optim/active_set.h"
#include "optim/eigen.h"

#define SPLINE_FIT_RANK 1e-12       /* eigenvalues below this share of the largest are none */
#define SPLINE_FIT_RIDGE 1e-10      /* and count as this in the quadratic program */
#define SPLINE_FIT_TOLERANCE 1e-11  /* of its constraints */
#define SPLINE_FIT_TIED_POINTS 4096 /* that stand for the rows of one entry, at most */

typedef struct spline_fit {
  const pcal_env *env;
  const pc_spline_rule *rule;
  const pc_curve_table *rows;
  pc_spline_space space;
  double total;
  double *first, *last; /* places of each entry */
  double *values;       /* at the knots, the caller's */
  double *bends;
} spline_fit;

/* ---- Places and points ---- */

static void spline_fit_places(const spline_fit *fit) {
  const double n = fit->total;
  const int inner = !fit->rule->cumulative && n >= 2.0;
  const double skip = inner ? 1.0 : 0.0, length = inner ? n - 1.0 : n;
  double before = 0.0;
  for (size_t j = 0; j < fit->rows->count; j++) {
    const double behind = before + fit->rows->weight[j];
    fit->last[j] = fmin(fmax((behind - skip) / length, 0.0), 1.0);
    fit->first[j] = fmin((before + 1.0 - skip) / length, fit->last[j]);
    if (n < 2.0)
      fit->first[j] = before / n;
    before = behind;
  }
}

static double spline_fit_error(const spline_fit *fit, size_t j) {
  const pc_curve_table *rows = fit->rows;
  return fit->rule->cumulative ? rows->hits[j]
                               : rows->hits[j] - rows->weight[j] * rows->score[j];
}

/* The rows of entry j as points of their own. */
static void spline_fit_add_tied(const spline_fit *fit, size_t j, double sum,
                                pc_spline_sums *sums) {
  const double weight = fit->rows->weight[j], error = spline_fit_error(fit, j);
  const double count = fmin(fmax(ceil(weight), 1.0), SPLINE_FIT_TIED_POINTS);
  for (double i = 1.0; i <= count; i++) {
    const double share = count == 1.0 ? 1.0 : (i - 1.0) / (count - 1.0);
    const double x = fit->first[j] + share * (fit->last[j] - fit->first[j]);
    pc_spline_add(&fit->space, x, (sum + error * i / count) / fit->total, weight / count, sums);
  }
}

static void spline_fit_points(const spline_fit *fit, pc_spline_sums *sums) {
  double sum = 0.0;
  for (size_t j = 0; j < fit->rows->count; j++) {
    const double behind = sum + spline_fit_error(fit, j);
    if (fit->rule->published)
      spline_fit_add_tied(fit, j, sum, sums);
    else
      pc_spline_add(&fit->space, fit->last[j], behind / fit->total, fit->rows->weight[j], sums);
    sum = behind;
  }
}

/* ---- Solving ---- */

/* What an entry's score goes to, before it is kept in [0, 1]. */
static double spline_fit_map(const spline_fit *fit, size_t j, const double *values,
                             const double *bends) {
  const double slope =
      pc_spline_mean_slope(&fit->space, fit->first[j], fit->last[j], values, bends);
  return fit->rule->cumulative ? slope : fit->rows->score[j] + slope;
}

/* The entry that leaves [0, 1] furthest, as a constraint on the values at the knots. */
static double spline_fit_worst(void *user, const double *values, double *normal,
                               double *bound) {
  const spline_fit *fit = user;
  double most = 0.0, side = 0.0;
  size_t worst = 0;
  pc_spline_bend(&fit->space, values, fit->bends);
  for (size_t j = 0; j < fit->rows->count; j++) {
    const double base = fit->rule->cumulative ? 0.0 : fit->rows->score[j];
    const double map = spline_fit_map(fit, j, values, fit->bends);
    const double below = fmin(base, 0.0) - map, above = map - fmax(base, 1.0);
    if (fmax(below, above) > most) {
      most = fmax(below, above);
      side = below > above ? 1.0 : -1.0;
      worst = j;
    }
  }
  if (most <= 0.0)
    return 0.0;
  const double base = fit->rule->cumulative ? 0.0 : fit->rows->score[worst];
  memset(normal, 0, fit->space.knots * sizeof *normal);
  pc_spline_mean_slope_spread(&fit->space, fit->first[worst], fit->last[worst], side, normal);
  *bound = side > 0.0 ? fmin(base, 0.0) - base : base - fmax(base, 1.0);
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
                                      const double *right, pc_spline_report *report,
                                      pcal_error *err) {
  const pc_quadratic problem = {.n = fit->space.knots,
                                .inverse = inverse,
                                .f = right,
                                .worst = spline_fit_worst,
                                .user = fit,
                                .tolerance = SPLINE_FIT_TOLERANCE};
  pc_quadratic_outcome outcome;
  PC_TRY(pc_quadratic_solve(fit->env, &problem, fit->values, &outcome, err));
  report->iterations = outcome.iterations;
  report->stopped = !outcome.solved;
  return PCAL_OK;
}

/* matrix: k x k; right: k; then k x k and k and k x k of space. */
static pcal_status spline_fit_solve(spline_fit *fit, double *matrix, pc_spline_report *report,
                                    pcal_error *err) {
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

static pcal_status spline_fit_values(spline_fit *fit, pc_spline_report *report,
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

static double spline_fit_keep(double value) {
  return fmin(fmax(value, 0.0), 1.0);
}

/* Entries that become points: all, or as many at equal distances, both ends included. */
static size_t spline_fit_entry(size_t count, size_t points, size_t i) {
  return points < count ? i * (count - 1) / (points - 1) : i;
}

static pcal_status spline_fit_line(const spline_fit *fit, pc_score_line *line,
                                   pcal_error *err) {
  const size_t count = fit->rows->count;
  const size_t points = count < fit->rule->points ? count : fit->rule->points;
  PC_TRY(pc_score_line_room(fit->env, points, line, err));
  for (size_t i = 0; i < points; i++) {
    const size_t j = spline_fit_entry(count, points, i);
    line->score[i] = fit->rows->score[j];
    line->value[i] = spline_fit_keep(spline_fit_map(fit, j, fit->values, fit->bends));
  }
  return PCAL_OK;
}

/* The map at one place of an entry. */
static double spline_fit_at(const spline_fit *fit, size_t j, double place) {
  const pc_spline_form slope = pc_spline_slope(&fit->space, place);
  const double value = pc_spline_take(&slope, fit->values, fit->bends);
  return spline_fit_keep(fit->rule->cumulative ? value : fit->rows->score[j] + value);
}

/* Each stretch between neighbours runs backwards, so inner scores are jumps; the last score has
 * its own value, and the stretch before it ends one double earlier. */
static pcal_status spline_fit_published(const spline_fit *fit, pc_score_line *line,
                                        pcal_error *err) {
  const size_t count = fit->rows->count;
  const size_t entries = count < fit->rule->points ? count : fit->rule->points;
  PC_TRY(pc_score_line_room(fit->env, 2 * entries, line, err));
  size_t made = 0;
  line->score[made] = fit->rows->score[0];
  line->value[made++] = spline_fit_at(fit, 0, fit->first[0]);
  for (size_t i = 1; i < entries; i++) {
    const size_t before = spline_fit_entry(count, entries, i - 1);
    const size_t j = spline_fit_entry(count, entries, i);
    const double end = fit->rows->score[j];
    line->score[made] = fit->rows->score[before];
    line->value[made++] = spline_fit_at(fit, j, fit->first[j]);
    line->score[made] = i + 1 < entries ? end : nextafter(end, -1.0);
    line->value[made++] = spline_fit_at(fit, before, fit->last[before]);
  }
  if (entries > 1) {
    line->score[made] = fit->rows->score[count - 1];
    line->value[made++] = spline_fit_at(fit, count - 1, fit->last[count - 1]);
  }
  line->count = made;
  return PCAL_OK;
}

pcal_status pc_spline_fit(const pcal_env *env, const pc_spline_rule *rule,
                          const pc_curve_table *rows, double *values, pc_score_line *line,
                          pc_spline_report *report, pcal_error *err) {
  spline_fit fit = {
      .env = env, .rule = rule, .rows = rows, .values = values, .total = rows->total};
  *report = (pc_spline_report){0};
  fit.first = pc_alloc_raw(env, 2 * rows->count + rule->knots, sizeof *fit.first);
  if (fit.first == NULL)
    return pc_fail_memory(err, "fitting a spline");
  fit.last = fit.first + rows->count;
  fit.bends = fit.last + rows->count;
  pcal_status status = pc_spline_space_new(env, rule->knots, rule->runout, &fit.space, err);
  if (status == PCAL_OK) {
    spline_fit_places(&fit);
    status = spline_fit_values(&fit, report, err);
  }
  if (status == PCAL_OK) {
    pc_spline_bend(&fit.space, values, fit.bends);
    status = (rule->published ? spline_fit_published : spline_fit_line)(&fit, line, err);
  }
  pc_spline_space_free(env, &fit.space);
  pc_free(env, fit.first);
  return status;
}
