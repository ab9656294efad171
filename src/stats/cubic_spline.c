/* Formula, with M the second derivatives and y the values at the knots, h their distance and
 * u = x - x_j in [0, h]:
 *   s(x) = M_j (-u^3 / (6h) + u^2 / 2 - h u / 3) + M_{j+1} (u^3 / (6h) - h u / 6)
 *          + y_j (1 - u / h) + y_{j+1} u / h
 *   M_{j-1} + 4 M_j + M_{j+1} = 6 (y_{j-1} - 2 y_j + y_{j+1}) / h^2   at inner knots
 * Left end (the right end is its mirror image):
 *   natural    M_0 = 0
 *   quadratic  M_0 = M_1
 *   cubic      M_0 = 2 M_1 - M_2; with three knots M_0 = M_1
 * Source: McKinley & Levine, Cubic spline interpolation, 1998; Gupta et al. 2021, appendix
 * C. */
#include "stats/cubic_spline.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"

#define CUBIC_SPLINE_LANES 8

/* Rows 1 .. k - 2 of `bend`: a tridiagonal system for each knot, all solved at once. */
static void cubic_spline_inner(pc_spline_space *space, pc_runout runout, double *diagonal) {
  const size_t k = space->knots, last = k - 2;
  const double scale = 6.0 / (space->step * space->step);
  for (size_t i = 1; i <= last; i++) {
    double *row = space->bend + i * k;
    row[i - 1] = row[i + 1] = scale;
    row[i] = -2.0 * scale;
    diagonal[i] = 4.0;
  }
  const int open = runout == PC_RUNOUT_CUBIC;
  if (runout != PC_RUNOUT_NATURAL) {
    const double end = open && k > 3 ? 2.0 : 1.0;
    diagonal[1] += end;
    diagonal[last] += end;
  }
  for (size_t i = 2; i <= last; i++) { /* elimination downwards */
    const double below = open && i == last ? 0.0 : 1.0, above = open && i == 2 ? 0.0 : 1.0;
    const double factor = below / diagonal[i - 1];
    diagonal[i] -= factor * above;
    for (size_t c = 0; c < k; c++)
      space->bend[i * k + c] -= factor * space->bend[(i - 1) * k + c];
  }
  for (size_t i = last; i >= 1; i--) {
    const double above = i == last || (open && i == 1) ? 0.0 : 1.0;
    for (size_t c = 0; c < k; c++) {
      double *at = &space->bend[i * k + c];
      *at = (*at - (above == 0.0 ? 0.0 : space->bend[(i + 1) * k + c])) / diagonal[i];
    }
  }
}

static void cubic_spline_ends(pc_spline_space *space, pc_runout runout) {
  const size_t k = space->knots;
  double *m = space->bend;
  for (size_t c = 0; runout != PC_RUNOUT_NATURAL && c < k; c++) {
    const int bent = runout == PC_RUNOUT_CUBIC && k > 3;
    const double left = m[k + c], right = m[(k - 2) * k + c];
    m[c] = bent ? 2.0 * left - m[2 * k + c] : left;
    m[(k - 1) * k + c] = bent ? 2.0 * right - m[(k - 3) * k + c] : right;
  }
}

pcal_status pc_spline_space_new(const pcal_env *env, size_t knots, pc_runout runout,
                                pc_spline_space *out, pcal_error *err) {
  pc_assert(knots >= 3);
  *out = (pc_spline_space){knots, 1.0 / (double)(knots - 1), NULL};
  out->bend = pc_alloc(env, knots * knots + knots, sizeof *out->bend);
  if (out->bend == NULL)
    return pc_fail_memory(err, "making a spline");
  cubic_spline_inner(out, runout, out->bend + knots * knots);
  cubic_spline_ends(out, runout);
  return PCAL_OK;
}

void pc_spline_space_free(const pcal_env *env, pc_spline_space *space) {
  pc_free(env, space->bend);
  *space = (pc_spline_space){0};
}

/* The interval of x, and the position of x in it, from 0 to 1. */
static size_t cubic_spline_find(const pc_spline_space *space, double x, double *share) {
  const size_t intervals = space->knots - 1;
  const double place = x * (double)intervals;
  const size_t at = place <= 0.0                 ? 0
                    : place >= (double)intervals ? intervals - 1
                                                 : (size_t)place;
  *share = place - (double)at;
  return at;
}

/* The end of the run of ascending points that lie in the same interval as the first. */
static size_t cubic_spline_run(const pc_spline_space *space, const double *x, size_t begin,
                               size_t count, size_t *at) {
  double ignored;
  *at = cubic_spline_find(space, x[begin], &ignored);
  if (cubic_spline_find(space, x[count - 1], &ignored) == *at)
    return count;
  size_t end = begin + 1;
  while (cubic_spline_find(space, x[end], &ignored) == *at)
    end++;
  return end;
}

pc_spline_form pc_spline_value(const pc_spline_space *space, double x) {
  double t;
  pc_spline_form form = {.at = cubic_spline_find(space, x, &t)};
  const double square = space->step * space->step;
  form.c[0] = square * t * (-1.0 / 3.0 + t * (0.5 - t / 6.0));
  form.c[1] = square * t * (t * t - 1.0) / 6.0;
  form.c[2] = 1.0 - t;
  form.c[3] = t;
  return form;
}

pc_spline_form pc_spline_slope(const pc_spline_space *space, double x) {
  double t;
  pc_spline_form form = {.at = cubic_spline_find(space, x, &t)};
  form.c[0] = space->step * (-1.0 / 3.0 + t * (1.0 - 0.5 * t));
  form.c[1] = space->step * (0.5 * t * t - 1.0 / 6.0);
  form.c[2] = -1.0 / space->step;
  form.c[3] = 1.0 / space->step;
  return form;
}

void pc_spline_second_derivatives(const pc_spline_space *space, const double *values,
                                  double *bends) {
  const size_t k = space->knots;
  for (size_t i = 0; i < k; i++) {
    double sum = 0.0;
    for (size_t c = 0; c < k; c++)
      sum += space->bend[i * k + c] * values[c];
    bends[i] = sum;
  }
}

double pc_spline_evaluate(const pc_spline_form *form, const double *values,
                          const double *bends) {
  return form->c[0] * bends[form->at] + form->c[1] * bends[form->at + 1] +
         form->c[2] * values[form->at] + form->c[3] * values[form->at + 1];
}

void pc_spline_slopes(const pc_spline_space *space, const double *x, size_t count,
                      const double *values, const double *bends, double *out) {
  const double step = space->step, intervals = (double)(space->knots - 1);
  for (size_t begin = 0, end; begin < count; begin = end) {
    size_t at;
    end = cubic_spline_run(space, x, begin, count, &at);
    const double left = bends[at], right = bends[at + 1];
    const double from = -1.0 / step * values[at], to = 1.0 / step * values[at + 1];
    for (size_t i = begin; i < end; i++) {
      const double t = x[i] * intervals - (double)at;
      out[i] = step * (-1.0 / 3.0 + t * (1.0 - 0.5 * t)) * left +
               step * (0.5 * t * t - 1.0 / 6.0) * right + from + to;
    }
  }
}

void pc_spline_add_coefficients(const pc_spline_space *space, const pc_spline_form *form,
                                double factor, double *row) {
  const size_t k = space->knots;
  const double *left = space->bend + form->at * k, *right = left + k;
  for (size_t c = 0; c < k; c++)
    row[c] += factor * (form->c[0] * left[c] + form->c[1] * right[c]);
  row[form->at] += factor * form->c[2];
  row[form->at + 1] += factor * form->c[3];
}

/* Simpson's rule is exact for the slope of one cubic; over several intervals the difference of
 * values is accurate enough. */
static size_t cubic_spline_mean(const pc_spline_space *space, double a, double x,
                                pc_spline_form forms[3], double weights[3]) {
  double ignored;
  forms[0] = pc_spline_slope(space, x);
  weights[0] = 1.0;
  if (!(a < x))
    return 1;
  if (cubic_spline_find(space, a, &ignored) != forms[0].at) {
    forms[0] = pc_spline_value(space, x);
    forms[1] = pc_spline_value(space, a);
    weights[0] = 1.0 / (x - a);
    weights[1] = -weights[0];
    return 2;
  }
  forms[1] = pc_spline_slope(space, a);
  forms[2] = pc_spline_slope(space, a + (x - a) / 2.0);
  weights[0] = weights[1] = 1.0 / 6.0;
  weights[2] = 4.0 / 6.0;
  return 3;
}

double pc_spline_mean_slope(const pc_spline_space *space, double a, double x,
                            const double *values, const double *bends) {
  pc_spline_form forms[3];
  double weights[3], sum = 0.0;
  const size_t count = cubic_spline_mean(space, a, x, forms, weights);
  for (size_t i = 0; i < count; i++)
    sum += weights[i] * pc_spline_evaluate(&forms[i], values, bends);
  return sum;
}

void pc_spline_add_mean_slope(const pc_spline_space *space, double a, double x, double factor,
                              double *row) {
  pc_spline_form forms[3];
  double weights[3];
  const size_t count = cubic_spline_mean(space, a, x, forms, weights);
  for (size_t i = 0; i < count; i++)
    pc_spline_add_coefficients(space, &forms[i], factor * weights[i], row);
}

/* ---- Least squares ---- */

/* Sums of w t^k and of w y t^k over the points of an interval, t from 0 to 1, in several lanes
 * so that additions do not wait for each other. */
typedef struct cubic_spline_lanes {
  double power[7][CUBIC_SPLINE_LANES], right[4][CUBIC_SPLINE_LANES];
} cubic_spline_lanes;

/* Adds points of interval `at`, at most one for each lane. */
static inline void cubic_spline_add_lanes(const pc_spline_space *space, size_t at,
                                          const double *x, const double *y,
                                          const double *weight, size_t count,
                                          cubic_spline_lanes *to) {
  const double intervals = (double)(space->knots - 1);
  for (size_t l = 0; l < count; l++) {
    const double t = x[l] * intervals - (double)at, t2 = t * t, w = weight[l], w1 = w * t;
    const double w2 = w * t2, w3 = w1 * t2, w4 = w2 * t2;
    to->power[0][l] += w;
    to->power[1][l] += w1;
    to->power[2][l] += w2;
    to->power[3][l] += w3;
    to->power[4][l] += w4;
    to->power[5][l] += w3 * t2;
    to->power[6][l] += w4 * t2;
    to->right[0][l] += w * y[l];
    to->right[1][l] += w1 * y[l];
    to->right[2][l] += w2 * y[l];
    to->right[3][l] += w3 * y[l];
  }
}

static double cubic_spline_fold(const double lanes[CUBIC_SPLINE_LANES]) {
  double sum = 0.0;
  for (size_t l = 0; l < CUBIC_SPLINE_LANES; l++)
    sum += lanes[l];
  return sum;
}

/* Sums of products of the four basis functions of an interval, which are cubics in t. */
static void cubic_spline_take(const pc_spline_space *space, const cubic_spline_lanes *lanes,
                              pc_spline_sums *to) {
  const double s = space->step * space->step;
  const double cubic[4][4] = {{0.0, -s / 3.0, s / 2.0, -s / 6.0},
                              {0.0, -s / 6.0, 0.0, s / 6.0},
                              {1.0, -1.0, 0.0, 0.0},
                              {0.0, 1.0, 0.0, 0.0}};
  double power[7], right[4];
  for (size_t k = 0; k < 7; k++)
    power[k] = cubic_spline_fold(lanes->power[k]);
  for (size_t k = 0; k < 4; k++)
    right[k] = cubic_spline_fold(lanes->right[k]);
  for (size_t i = 0, at = 0; i < 4; i++) {
    for (size_t j = 0; j <= i; j++, at++)
      for (size_t p = 0; p < 4; p++)
        for (size_t q = 0; q < 4; q++)
          to->cross[at] += cubic[i][p] * cubic[j][q] * power[p + q];
    for (size_t p = 0; p < 4; p++)
      to->right[i] += cubic[i][p] * right[p];
  }
}

static void cubic_spline_add_run(const pc_spline_space *space, size_t at, const double *x,
                                 const double *y, const double *weight, size_t count,
                                 pc_spline_sums *to) {
  cubic_spline_lanes lanes;
  size_t i = 0;
  memset(&lanes, 0, sizeof lanes);
  for (; i + CUBIC_SPLINE_LANES <= count; i += CUBIC_SPLINE_LANES)
    cubic_spline_add_lanes(space, at, x + i, y + i, weight + i, CUBIC_SPLINE_LANES, &lanes);
  cubic_spline_add_lanes(space, at, x + i, y + i, weight + i, count - i, &lanes);
  cubic_spline_take(space, &lanes, to);
}

void pc_spline_add(const pc_spline_space *space, const double *x, const double *y,
                   const double *weight, size_t count, pc_spline_sums *sums) {
  for (size_t begin = 0, end; begin < count; begin = end) {
    size_t at;
    end = cubic_spline_run(space, x, begin, count, &at);
    cubic_spline_add_run(space, at, x + begin, y + begin, weight + begin, end - begin,
                         &sums[at]);
  }
}

/* rows: the four coefficients of an interval as linear forms of all values. */
static void cubic_spline_rows(const pc_spline_space *space, size_t interval, double *rows) {
  const size_t k = space->knots;
  memset(rows, 0, 4 * k * sizeof *rows);
  for (size_t i = 0; i < 4; i++) {
    pc_spline_form one = {.at = interval};
    one.c[i] = 1.0;
    pc_spline_add_coefficients(space, &one, 1.0, rows + i * k);
  }
}

pcal_status pc_spline_normal(const pcal_env *env, const pc_spline_space *space,
                             const pc_spline_sums *sums, double *matrix, double *right,
                             pcal_error *err) {
  const size_t k = space->knots;
  double *rows = pc_alloc_raw(env, 4 * k, sizeof *rows);
  if (rows == NULL)
    return pc_fail_memory(err, "fitting a spline");
  memset(matrix, 0, k * k * sizeof *matrix);
  memset(right, 0, k * sizeof *right);
  for (size_t interval = 0; interval + 1 < k; interval++) {
    const pc_spline_sums *from = &sums[interval];
    cubic_spline_rows(space, interval, rows);
    for (size_t i = 0; i < 4; i++)
      for (size_t r = 0; r < k; r++) {
        right[r] += from->right[i] * rows[i * k + r];
        for (size_t j = 0; j < 4; j++) {
          const size_t at = i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
          const double factor = from->cross[at] * rows[i * k + r];
          for (size_t c = 0; c < k; c++)
            matrix[r * k + c] += factor * rows[j * k + c];
        }
      }
  }
  pc_free(env, rows);
  return PCAL_OK;
}
