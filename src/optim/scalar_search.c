/* Newton's method in x with safeguards in log x.
 *
 *   1. With six derivatives, the step s is the root near 0 of the slope's Taylor polynomial
 *      t_0 + .. + t_5, t_k = f^(k+1)(x) s^k / k!.  With two derivatives, or without such a
 *      root, it is Newton's step for log x, whose curvature is x g + x^2 h.
 *   2. The sign of the slope brackets the minimum.  A step outside the bracket becomes the
 *      geometric mean of its ends, or the bound if nothing was evaluated there yet.  No step is
 *      longer than a factor of 8.
 *   3. Convergence is measured by x g, the derivative by log x, which does not depend on the
 *      scale of x.  The search ends when x g is at most 1e-12, or at most 1e-8 and not halved
 *      by the last step, so that rounding cannot prolong it.
 *   4. It also ends at x + s without an evaluation there if the terms t_3, t_4, t_5 each shrink
 *      by half or more: the remainder is then estimated as 1/7 of t_5 (a geometric series of
 *      ratio 1/8), or more if t_5 is above 1/8 of t_4.  The estimate must be at most 1e-8 and
 *      shift x by a relative amount of at most 3e-9 (1e-3 in a rough search).  The value there
 *      is that of the Taylor polynomial.
 */
#include "optim/scalar_search.h"
#include "kernels/lane_math.h"

#include <math.h>

#define SCALAR_SEARCH_AIM 1e-12
#define SCALAR_SEARCH_ENOUGH 1e-8
#define SCALAR_SEARCH_FACTOR 8.0
#define SCALAR_SEARCH_NEAR 0.5 /* share of x up to which the polynomial is trusted */
#define SCALAR_SEARCH_RATIO 0.125
#define SCALAR_SEARCH_SHIFT 3e-9
#define SCALAR_SEARCH_ROUGH 1e-3

typedef struct scalar_search_bracket {
  double low, high;
  int low_known, high_known; /* the function was evaluated there */
} scalar_search_bracket;

/* Terms of the slope's Taylor polynomial. */
static void scalar_search_terms(const double slope[PC_SCALAR_DERIVATIVES], double s,
                                double out[PC_SCALAR_DERIVATIVES]) {
  double factor = 1.0;
  for (int k = 0; k < PC_SCALAR_DERIVATIVES; k++) {
    out[k] = slope[k] * factor;
    factor *= s / (k + 1);
  }
}

static double scalar_search_sum(const double terms[PC_SCALAR_DERIVATIVES]) {
  double sum = 0.0;
  for (int k = PC_SCALAR_DERIVATIVES - 1; k >= 0; k--)
    sum += terms[k];
  return sum;
}

/* Root of the slope's polynomial near 0; NaN if there is none within `limit`. */
static double scalar_search_polynomial_root(const double slope[PC_SCALAR_DERIVATIVES],
                                            double limit) {
  double s = -slope[0] / slope[1];
  for (int i = 0; i < 40; i++) {
    double terms[PC_SCALAR_DERIVATIVES], rise[PC_SCALAR_DERIVATIVES] = {0.0};
    if (!(fabs(s) <= limit))
      return NAN;
    scalar_search_terms(slope, s, terms);
    for (int k = 1; k < PC_SCALAR_DERIVATIVES; k++)
      rise[k - 1] = slope[k];
    scalar_search_terms(rise, s, rise);
    const double steepness = scalar_search_sum(rise);
    if (!(steepness > 0.0))
      return NAN;
    const double step = -scalar_search_sum(terms) / steepness;
    s += step;
    if (fabs(step) <= 1e-15 * fabs(s))
      break;
  }
  return fabs(s) <= limit ? s : NAN;
}

/* Extrapolates the minimum from the derivatives at x; returns 0 if that is not accurate
 * enough. */
static int scalar_search_extrapolate(const pc_scalar_problem *problem,
                                     const scalar_search_bracket *bracket,
                                     const pc_scalar_result *here, pc_scalar_result *out) {
  const double *slope = here->slopes.slope;
  double t[PC_SCALAR_DERIVATIVES];
  if (problem->orders < PC_SCALAR_DERIVATIVES || !(slope[1] > 0.0))
    return 0;
  const double s = scalar_search_polynomial_root(slope, SCALAR_SEARCH_NEAR * here->at);
  const double place = here->at + s;
  if (!(place > bracket->low && place < bracket->high))
    return 0;
  scalar_search_terms(slope, s, t);
  const double third = fabs(t[3]), fourth = fabs(t[4]), fifth = fabs(t[5]);
  if (!(fourth <= third / 2.0 && fifth <= fourth / 2.0))
    return 0;
  const double ratio = fmax(fourth > 0.0 ? fifth / fourth : 0.0, SCALAR_SEARCH_RATIO);
  const double left = fifth * ratio / (1.0 - ratio) + fabs(scalar_search_sum(t));
  *out = *here;
  out->at = place;
  out->gradient = place * left;
  out->slopes.slope[0] = scalar_search_sum(t);
  for (int k = PC_SCALAR_DERIVATIVES - 1; k >= 0; k--)
    out->slopes.value += t[k] * s / (k + 1);
  const double shift = problem->rough ? SCALAR_SEARCH_ROUGH : SCALAR_SEARCH_SHIFT;
  return (problem->rough || out->gradient <= SCALAR_SEARCH_ENOUGH) &&
         out->gradient <= shift * place * place * slope[1];
}

/* The next point, not yet limited to the bracket. */
static double scalar_search_propose(const pc_scalar_problem *problem, double x,
                                    const pc_scalar_derivatives *at) {
  if (problem->orders == PC_SCALAR_DERIVATIVES && at->slope[1] > 0.0) {
    const double s = scalar_search_polynomial_root(at->slope, SCALAR_SEARCH_NEAR * x);
    if (!isnan(s))
      return x + s;
  }
  const double gradient = x * at->slope[0];
  const double curvature = gradient + x * x * at->slope[1];
  const double longest = pc_lane_log(SCALAR_SEARCH_FACTOR);
  double step = curvature > 0.0 ? -gradient / curvature : gradient > 0.0 ? -longest : longest;
  step = fmax(-longest, fmin(longest, step));
  return x * pc_lane_exp(step);
}

static double scalar_search_keep_inside(const scalar_search_bracket *bracket, double x,
                                        double proposed) {
  const int right = x == bracket->low;
  const int wrong_way = right ? proposed <= x : proposed >= x;
  if (wrong_way)
    proposed = right ? x * SCALAR_SEARCH_FACTOR : x / SCALAR_SEARCH_FACTOR;
  if (right && proposed >= bracket->high)
    return bracket->high_known ? sqrt(bracket->low) * sqrt(bracket->high) : bracket->high;
  if (!right && proposed <= bracket->low)
    return bracket->low_known ? sqrt(bracket->low) * sqrt(bracket->high) : bracket->low;
  return proposed;
}

static void scalar_search_note(scalar_search_bracket *bracket, double x, double slope) {
  if (slope > 0.0) {
    bracket->high = x;
    bracket->high_known = 1;
  } else {
    bracket->low = x;
    bracket->low_known = 1;
  }
}

/* How the search ends at this point, or 0. */
static int scalar_search_ends(const pc_scalar_problem *problem, const pc_scalar_result *here,
                              const pc_scalar_result *best) {
  const double slope = here->slopes.slope[0];
  if (here->gradient <= SCALAR_SEARCH_AIM)
    return PC_SEARCH_FLAT;
  if ((here->at <= problem->low && slope > 0.0) || (here->at >= problem->high && slope < 0.0))
    return PC_SEARCH_BOUND;
  if (best->gradient <= SCALAR_SEARCH_ENOUGH && here->gradient > best->gradient / 2.0)
    return PC_SEARCH_FLAT;
  return here->evaluations >= problem->limit ? PC_SEARCH_STUCK : 0;
}

/* Evaluates a point, or takes the known derivatives. */
static pcal_status scalar_search_evaluate(const pc_scalar_problem *problem,
                                          const pc_scalar_derivatives *known,
                                          pc_scalar_result *here, pcal_error *err) {
  if (known != NULL) {
    here->slopes = *known;
  } else {
    PC_TRY(problem->evaluate(problem->user, here->at, &here->slopes, err));
    here->evaluations++;
  }
  here->gradient = fabs(here->at * here->slopes.slope[0]);
  return PCAL_OK;
}

/* The next point; sets *end if there is none. */
static double scalar_search_next(const pc_scalar_problem *problem,
                                 const scalar_search_bracket *bracket,
                                 const pc_scalar_result *here, int *end) {
  const double proposed = scalar_search_propose(problem, here->at, &here->slopes);
  const double next = scalar_search_keep_inside(bracket, here->at, proposed);
  if (*end == 0 && (next <= bracket->low || next >= bracket->high) &&
      (next == bracket->low ? bracket->low_known : bracket->high_known))
    *end = here->gradient <= SCALAR_SEARCH_ENOUGH ? PC_SEARCH_FLAT : PC_SEARCH_STUCK;
  return next;
}

pcal_status pc_scalar_search(const pc_scalar_problem *problem, double start,
                             const pc_scalar_derivatives *known, pc_scalar_result *out,
                             pcal_error *err) {
  scalar_search_bracket bracket = {problem->low, problem->high, 0, 0};
  double x = fmin(fmax(start, problem->low), problem->high);
  pc_scalar_result best = {.gradient = INFINITY}, extrapolated;
  for (unsigned evaluations = 0;; known = NULL) {
    pc_scalar_result here = {.at = x, .evaluations = evaluations};
    PC_TRY(scalar_search_evaluate(problem, known, &here, err));
    evaluations = here.evaluations;
    int end = scalar_search_ends(problem, &here, &best);
    scalar_search_note(&bracket, x, here.slopes.slope[0]);
    x = scalar_search_next(problem, &bracket, &here, &end);
    if (end == PC_SEARCH_BOUND || here.gradient < best.gradient)
      best = here;
    if (end == 0 && scalar_search_extrapolate(problem, &bracket, &here, &extrapolated)) {
      best = extrapolated;
      end = PC_SEARCH_FLAT;
    }
    if (end != 0) {
      *out = best;
      out->evaluations = evaluations;
      out->end = (pc_scalar_end)end;
      return PCAL_OK;
    }
  }
}
