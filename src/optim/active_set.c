/* The dual method of Goldfarb & Idnani (1983).  It starts at the unconstrained minimum, adds
 * the most violated constraint, and drops constraints whose multiplier would become negative.
 * Each x is optimal for the active constraints, so the objective increases until x is the
 * solution.
 *
 * With N the active normals as columns, G = H^-1, S = N' G N and r = S^-1 N' G a, adding a
 * constraint with normal a moves
 *   x along z = G a - G N r,
 *   the multipliers u of the active constraints along -r,
 *   its own multiplier at rate 1.
 * With few variables S is factored anew in each step. */
#include "optim/active_set.h"

#include <math.h>
#include <string.h>

#define ACTIVE_SET_STEPS 40 /* most steps for each variable, and as many more in all */
/* A normal counts as linearly dependent on the active ones if its orthogonal part is
 * smaller. */
#define ACTIVE_SET_PARALLEL 1e-9

typedef struct active_set {
  const pc_quadratic_program *problem;
  size_t n, count;        /* variables, active constraints */
  double *normal, *image; /* count x n: a and G a of the active ones */
  double *u;              /* multipliers */
  double *factor;         /* of S, lower, n x n */
  double *r, *z, *a, *ga; /* the step; the new constraint and its image */
} active_set;

static double active_dot(const double *a, const double *b, size_t n) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

static void active_image(const pc_quadratic_program *problem, const double *a, double *out) {
  for (size_t i = 0; i < problem->n; i++)
    out[i] = active_dot(problem->inverse + i * problem->n, a, problem->n);
}

/* Cholesky factor of S. */
static void active_factor(active_set *set) {
  const size_t n = set->n;
  for (size_t i = 0; i < set->count; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = active_dot(set->normal + i * n, set->image + j * n, n);
      sum -= active_dot(set->factor + i * n, set->factor + j * n, j);
      set->factor[i * n + j] = i == j ? sqrt(fmax(sum, 1e-300)) : sum / set->factor[j * n + j];
    }
}

/* r and z for the new normal. */
static void active_direction(active_set *set) {
  const size_t n = set->n;
  active_factor(set);
  for (size_t i = 0; i < set->count; i++) {
    const double sum =
        active_dot(set->image + i * n, set->a, n) - active_dot(set->factor + i * n, set->r, i);
    set->r[i] = sum / set->factor[i * n + i];
  }
  for (size_t i = set->count; i > 0; i--) {
    double sum = set->r[i - 1];
    for (size_t j = i; j < set->count; j++)
      sum -= set->factor[j * n + i - 1] * set->r[j];
    set->r[i - 1] = sum / set->factor[(i - 1) * n + i - 1];
  }
  memcpy(set->z, set->ga, n * sizeof *set->z);
  for (size_t i = 0; i < set->count; i++)
    for (size_t j = 0; j < n; j++)
      set->z[j] -= set->r[i] * set->image[i * n + j];
}

static void active_drop(active_set *set, size_t index) {
  const size_t n = set->n;
  for (size_t i = index; i + 1 < set->count; i++) {
    memcpy(set->normal + i * n, set->normal + (i + 1) * n, n * sizeof(double));
    memcpy(set->image + i * n, set->image + (i + 1) * n, n * sizeof(double));
    set->u[i] = set->u[i + 1];
  }
  set->count--;
}

static void active_add(active_set *set, double multiplier) {
  const size_t n = set->n;
  memcpy(set->normal + set->count * n, set->a, n * sizeof(double));
  memcpy(set->image + set->count * n, set->ga, n * sizeof(double));
  set->u[set->count++] = multiplier;
}

/* The longest step that keeps all multipliers positive, and the constraint that limits it. */
static double active_dual_step(const active_set *set, size_t *blocking) {
  double best = INFINITY;
  for (size_t i = 0; i < set->count; i++)
    if (set->r[i] > 0.0 && set->u[i] / set->r[i] < best) {
      best = set->u[i] / set->r[i];
      *blocking = i;
    }
  return best;
}

/* Moves x until the constraint holds; 0 if that is impossible. */
static int active_meet(active_set *set, double bound, double *x) {
  const size_t n = set->n;
  double own = 0.0;
  for (size_t step = 0; step <= 2 * n + 2; step++) {
    size_t blocking = 0;
    active_direction(set);
    const double gain = active_dot(set->z, set->a, n);
    const int dependent =
        set->count == n || gain <= ACTIVE_SET_PARALLEL * active_dot(set->ga, set->a, n);
    const double dual = active_dual_step(set, &blocking);
    const double primal =
        dependent ? INFINITY : fmax(bound - active_dot(set->a, x, n), 0.0) / gain;
    const double length = fmin(dual, primal);
    if (length == INFINITY)
      return 0;
    for (size_t i = 0; i < set->count; i++)
      set->u[i] = fmax(set->u[i] - length * set->r[i], 0.0);
    own += length;
    for (size_t j = 0; !dependent && j < n; j++)
      x[j] += length * set->z[j];
    if (length == primal) {
      active_add(set, own);
      return 1;
    }
    active_drop(set, blocking);
  }
  return 0;
}

static void active_run(active_set *set, double *x, pc_quadratic_program_result *out) {
  const pc_quadratic_program *problem = set->problem;
  const size_t most = ACTIVE_SET_STEPS * (set->n + 1);
  double bound = 0.0;
  active_image(problem, problem->f, x);
  for (out->iterations = 0;; out->iterations++) {
    out->violation = problem->worst(problem->user, x, set->a, &bound);
    out->solved = out->violation <= problem->tolerance;
    if (out->solved || out->iterations == most)
      break;
    active_image(problem, set->a, set->ga);
    if (!active_meet(set, bound, x))
      break;
  }
  out->active = set->count;
}

pcal_status pc_quadratic_program_solve(const pcal_env *env, const pc_quadratic_program *problem,
                                       double *x, pc_quadratic_program_result *out,
                                       pcal_error *err) {
  const size_t n = problem->n;
  double *space = pc_alloc(env, 3 * n * n + 5 * n, sizeof *space);
  *out = (pc_quadratic_program_result){0};
  if (space == NULL)
    return pc_fail_memory(err, "solving a quadratic program");
  double *rest = space + 3 * n * n;
  active_set set = {.problem = problem,
                    .n = n,
                    .normal = space,
                    .image = space + n * n,
                    .factor = space + 2 * n * n,
                    .u = rest,
                    .r = rest + n,
                    .z = rest + 2 * n,
                    .a = rest + 3 * n,
                    .ga = rest + 4 * n};
  active_run(&set, x, out);
  pc_free(env, space);
  return PCAL_OK;
}
