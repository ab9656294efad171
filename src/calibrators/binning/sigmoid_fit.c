/* Search:   Newton's method; steps are halved until the loss does not grow.  The loss is
 *           convex, and strictly so unless all x are equal.
 * Source:   Platt 1999; Lin, Lin & Weng 2007. */
#include "calibrators/binning/sigmoid_fit.h"

#include <math.h>

#include "base/elementary.h"

#define SIGMOID_FIT_CLIP 1e-12
#define SIGMOID_FIT_STEPS 200
#define SIGMOID_FIT_HALVINGS 50
#define SIGMOID_FIT_FLAT 1e-10  /* gradient of the mean */
#define SIGMOID_FIT_NOISE 1e-14 /* rounding of a loss */

typedef struct sigmoid_problem {
  const double *x, *weight, *hits;
  size_t count;
  double total, hit, miss; /* weight of all rows; targets of hits and misses */
} sigmoid_problem;

typedef struct sigmoid_point {
  pc_sigmoid at;
  double loss, gradient[2], hessian[3]; /* sums; hessian: aa, ab, bb */
} sigmoid_point;

/* 1 / (1 + exp(-t)); small: exp(-|t|). */
static double sigmoid_fit_value(double t, double small) {
  return (t >= 0 ? 1.0 : small) / (1.0 + small);
}

double pc_sigmoid_at(const pc_sigmoid *sigmoid, double x) {
  const double t = sigmoid->a * x + sigmoid->b;
  return sigmoid_fit_value(t, pc_exp(-fabs(t)));
}

double pc_sigmoid_logit(double p) {
  const double inside = fmin(fmax(p, SIGMOID_FIT_CLIP), 1.0 - SIGMOID_FIT_CLIP);
  return pc_log(inside) - pc_log1p(-inside);
}

static void sigmoid_fit_sum(const sigmoid_problem *problem, sigmoid_point *point) {
  *point = (sigmoid_point){.at = point->at};
  for (size_t i = 0; i < problem->count; i++) {
    const double x = problem->x[i], w = problem->weight[i], h = problem->hits[i];
    const double target = h * problem->hit + (w - h) * problem->miss;
    const double t = point->at.a * x + point->at.b, small = pc_exp(-fabs(t));
    const double p = sigmoid_fit_value(t, small);
    const double gap = w * p - target, spread = w * p * (1.0 - p);
    const double soft = (t > 0 ? t : 0.0) + pc_log1p(small); /* log(1 + exp(t)) */
    point->loss += w * soft - target * t;
    point->gradient[0] += gap * x;
    point->gradient[1] += gap;
    point->hessian[0] += spread * x * x;
    point->hessian[1] += spread * x;
    point->hessian[2] += spread;
  }
}

/* One step; returns 0 if no step lowers the loss. */
static int sigmoid_fit_step(const sigmoid_problem *problem, sigmoid_point *point) {
  const double *s = point->gradient, *h = point->hessian;
  const double determinant = h[0] * h[2] - h[1] * h[1];
  double move[2] = {0.0, h[2] > 0 ? s[1] / h[2] : 0.0};
  if (determinant > 1e-13 * h[0] * h[2]) {
    move[0] = (h[2] * s[0] - h[1] * s[1]) / determinant;
    move[1] = (h[0] * s[1] - h[1] * s[0]) / determinant;
  }
  double share = 1.0;
  for (int i = 0; i < SIGMOID_FIT_HALVINGS; i++, share *= 0.5) {
    sigmoid_point next = {.at = {point->at.a - share * move[0], point->at.b - share * move[1]}};
    sigmoid_fit_sum(problem, &next);
    if (next.loss <= point->loss + SIGMOID_FIT_NOISE * fabs(point->loss)) {
      const int moved = next.at.a != point->at.a || next.at.b != point->at.b;
      *point = next;
      return moved;
    }
  }
  return 0;
}

pc_sigmoid pc_sigmoid_fit(const double *x, const double *weight, const double *hits,
                          size_t count) {
  sigmoid_problem problem = {.x = x, .weight = weight, .hits = hits, .count = count};
  double came_true = 0.0;
  for (size_t i = 0; i < count; i++) {
    problem.total += weight[i];
    came_true += hits[i];
  }
  const double others = fmax(problem.total - came_true, 0.0);
  problem.hit = (came_true + 1.0) / (came_true + 2.0);
  problem.miss = 1.0 / (others + 2.0);
  sigmoid_point point = {.at = {0.0, pc_log((came_true + 1.0) / (others + 1.0))}};
  sigmoid_fit_sum(&problem, &point);
  for (int i = 0; i < SIGMOID_FIT_STEPS; i++) {
    const double flat = SIGMOID_FIT_FLAT * problem.total;
    if ((fabs(point.gradient[0]) <= flat && fabs(point.gradient[1]) <= flat) ||
        !sigmoid_fit_step(&problem, &point))
      break;
  }
  return point.at;
}
