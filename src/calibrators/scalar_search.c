/* Newton's method in x with safeguards in log x.
 *
 *   1. With four derivatives, the step is the root near 0 of the slope's Taylor polynomial
 *      g + h s + k s^2/2 + l s^3/6; with two, or when that root is not near, Newton's step for
 *      log x, whose curvature is x g + x^2 h.
 *   2. The sign of the slope brackets the minimum; a step outside the bracket becomes the
 *      geometric middle, or the bound where nothing was evaluated yet.  No step is longer than
 *      a factor of 8.
 *   3. The measure of the slope is x g, the derivative by log x: it does not depend on the
 *      scale of x.  The search ends when that is at most 1e-12, or when it is at most 1e-8 and
 *      does not get smaller by half any more, so that rounding cannot make it run on. */
#include "calibrators/scalar_search.h"

#include <math.h>

#define SCALAR_SEARCH_AIM 1e-12
#define SCALAR_SEARCH_ENOUGH 1e-8
#define SCALAR_SEARCH_FACTOR 8.0
#define SCALAR_SEARCH_NEAR 0.5 /* share of x up to which the polynomial is trusted */

typedef struct scalar_search_bracket {
  double low, high;
  int low_known, high_known; /* evaluated there */
} scalar_search_bracket;

/* Root of the slope's polynomial near 0; NaN when there is none to trust. */
static double scalar_search_polynomial_root(const double slope[PC_SLOPES], double limit) {
  double s = -slope[0] / slope[1];
  for (int i = 0; i < 40; i++) {
    const double value =
        slope[0] + s * (slope[1] + s * (slope[2] / 2.0 + s * (slope[3] / 6.0)));
    const double rise = slope[1] + s * (slope[2] + s * (slope[3] / 2.0));
    const double step = -value / rise;
    if (!(fabs(s) <= limit) || !(rise > 0.0))
      return NAN;
    s += step;
    if (fabs(step) <= 1e-15 * fabs(s))
      break;
  }
  return fabs(s) <= limit ? s : NAN;
}

/* Where to look next, not yet kept inside the bracket. */
static double scalar_search_propose(const pc_scalar_problem *problem, double x,
                                    const pc_slopes *at) {
  if (problem->orders == 4 && at->slope[1] > 0.0) {
    const double s = scalar_search_polynomial_root(at->slope, SCALAR_SEARCH_NEAR * x);
    if (!isnan(s))
      return x + s;
  }
  const double gradient = x * at->slope[0];
  const double curvature = gradient + x * x * at->slope[1];
  const double longest = log(SCALAR_SEARCH_FACTOR);
  double step = curvature > 0.0 ? -gradient / curvature : gradient > 0.0 ? -longest : longest;
  step = fmax(-longest, fmin(longest, step));
  return x * exp(step);
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

/* Is this place a reason to end?  0 if not. */
static int scalar_search_ends(const pc_scalar_problem *problem, const pc_search_result *here,
                              const pc_search_result *best) {
  const double slope = here->slopes.slope[0];
  if (here->gradient <= SCALAR_SEARCH_AIM)
    return PC_SEARCH_FLAT;
  if ((here->at <= problem->low && slope > 0.0) || (here->at >= problem->high && slope < 0.0))
    return PC_SEARCH_BOUND;
  if (best->gradient <= SCALAR_SEARCH_ENOUGH && here->gradient > best->gradient / 2.0)
    return PC_SEARCH_FLAT;
  return here->evaluations >= problem->limit ? PC_SEARCH_STUCK : 0;
}

pcal_status pc_scalar_search(const pc_scalar_problem *problem, double start,
                             pc_search_result *out, pcal_error *err) {
  scalar_search_bracket bracket = {problem->low, problem->high, 0, 0};
  double x = fmin(fmax(start, problem->low), problem->high);
  pc_search_result best = {.gradient = INFINITY};
  for (unsigned evaluations = 1;; evaluations++) {
    pc_search_result here = {.at = x, .evaluations = evaluations};
    PC_TRY(problem->evaluate(problem->user, x, &here.slopes, err));
    here.gradient = fabs(x * here.slopes.slope[0]);
    int end = scalar_search_ends(problem, &here, &best);
    scalar_search_note(&bracket, x, here.slopes.slope[0]);
    const double proposed = scalar_search_propose(problem, x, &here.slopes);
    const double next = scalar_search_keep_inside(&bracket, x, proposed);
    if (end == 0 && (next <= bracket.low || next >= bracket.high) &&
        (next == bracket.low ? bracket.low_known : bracket.high_known))
      end = here.gradient <= SCALAR_SEARCH_ENOUGH ? PC_SEARCH_FLAT : PC_SEARCH_STUCK;
    if (end == PC_SEARCH_BOUND || here.gradient < best.gradient)
      best = here;
    if (end != 0) {
      *out = best;
      out->evaluations = evaluations;
      out->end = (pc_search_end)end;
      return PCAL_OK;
    }
    x = next;
  }
}
