/* Search:
 *   1. T alone, w = (1, 0, 0): Newton's method in log(1 / T), for the log score, which is convex
 *      in 1 / T, from one start, otherwise from six in parallel; rows whose label has
 *      probability 0 are left out, since no T helps them.
 *   2. With this T, w on the simplex, a convex problem.  fit=sequential ends here.
 *   3. fit=joint: T and w together, from the result of 2 and from five other starts; beside a
 *      similar calibrator, such as that of another fold, from its T and w instead of the five.
 *
 * Two of the weights are searched; the third, the reference, is 1 minus the others and must
 * stay positive.  In 2 each weight is the reference once, so that some search stays away from
 * the edge where its reference vanishes; the first that converges is the best.  In 3 the first
 * weight is the reference; where it would vanish, the second is the same map with T = 1. */
#include <math.h>

#include "calibrators/fit_pass.h"
#include "calibrators/temperature/ets.h"
#include "calibrators/temperature/ets_pass.h"
#include "kernels/lane_math.h"
#include "optim/newton.h"

#define ETS_SEARCH_PARAMETERS 4 /* T and three weights */
#define ETS_SEARCH_REDUCED 3    /* tau and two weights */
#define ETS_SEARCH_ZHANG_LOW 0.05
#define ETS_SEARCH_ZHANG_HIGH 5.0

static const pc_optim_limits ets_search_limits = {1e-12, 1e-8, 60, 0.0};

/* One of several parallel searches. */
typedef struct ets_search_one {
  pc_newton newton;
  size_t reference;   /* index of the weight set to 1 minus the others */
  pc_ets_trial trial; /* the point to evaluate next */
} ets_search_one;

typedef struct ets_search_state {
  const pc_fit_task *task;
  int brier, alone;
  int tempers, weighs; /* tau is searched, w is searched */
  int convex;          /* the first search that converges is the best */
  double low, high;    /* bounds of tau */
  double lower[ETS_SEARCH_REDUCED];
  ets_search_one searches[PC_ETS_TRIALS];
  size_t count;
  unsigned passes;
} ets_search_state;

/* Index of the i-th searched weight, i = 0, 1. */
static size_t ets_search_other(const ets_search_one *one, size_t i) {
  return (one->reference + 1 + i) % 3;
}

static int ets_search_allowed(const ets_search_state *s, const pc_ets_trial *trial) {
  return trial->tau <= s->high && trial->weight[0] >= 0.0 && trial->weight[1] >= 0.0 &&
         trial->weight[2] >= 0.0;
}

/* Sets the trial from a search's coordinates. */
static void ets_search_expand(const ets_search_state *s, ets_search_one *one,
                              const double *at) {
  size_t used = 0;
  if (s->tempers)
    one->trial.tau = at[used++];
  if (!s->weighs)
    return;
  double rest = 1.0;
  for (size_t i = 0; i < 2; i++) {
    one->trial.weight[ets_search_other(one, i)] = at[used];
    rest -= at[used++];
  }
  one->trial.weight[one->reference] = rest;
}

/* Passes the derivatives by a search's coordinates, linear combinations of those by tau and the
 * weights, to the search. */
static void ets_search_update(const ets_search_state *s, ets_search_one *one,
                              const pc_ets_values *values) {
  double map[ETS_SEARCH_REDUCED][PC_ETS_TERMS] = {{0.0}};
  double gradient[ETS_SEARCH_REDUCED] = {0.0};
  double hessian[ETS_SEARCH_REDUCED * ETS_SEARCH_REDUCED] = {0.0};
  size_t used = 0;
  if (s->tempers)
    map[used++][0] = 1.0;
  for (size_t i = 0; i < 2 && s->weighs; i++, used++) {
    map[used][1 + ets_search_other(one, i)] = 1.0;
    map[used][1 + one->reference] = -1.0;
  }
  for (size_t a = 0; a < used; a++)
    for (size_t i = 0; i < PC_ETS_TERMS; i++) {
      gradient[a] += map[a][i] * values->gradient[i];
      for (size_t b = 0; b < used; b++)
        for (size_t j = 0; j < PC_ETS_TERMS; j++)
          hessian[a * used + b] +=
              map[a][i] * map[b][j] * values->hessian[i * PC_ETS_TERMS + j];
    }
  pc_newton_update(&one->newton, values->value, gradient, hessian);
}

static pcal_status ets_search_begin(ets_search_state *s, const pc_ets_trial *start,
                                    size_t reference, pcal_error *err) {
  ets_search_one *one = &s->searches[s->count];
  double at[ETS_SEARCH_REDUCED] = {0.0};
  size_t used = 0;
  *one = (ets_search_one){.reference = reference, .trial = *start};
  if (s->tempers) {
    s->lower[used] = s->low;
    at[used++] = fmin(fmax(start->tau, s->low), s->high);
  }
  for (size_t i = 0; i < 2 && s->weighs; i++) {
    s->lower[used] = 0.0;
    at[used++] = start->weight[ets_search_other(one, i)];
  }
  PC_TRY(
      pc_newton_new(s->task->env, used, at, s->lower, &ets_search_limits, &one->newton, err));
  s->count++;
  return PCAL_OK;
}

/* True if the search converged; an infinite value has no gradient. */
static int ets_search_converged(const ets_search_one *one) {
  return one->newton.end == PC_OPTIM_CONVERGED && isfinite(one->newton.value);
}

/* Runs all searches to their ends. */
static pcal_status ets_search_run(ets_search_state *s, pcal_error *err) {
  for (;;) {
    pc_ets_trial trials[PC_ETS_TRIALS];
    pc_ets_values values[PC_ETS_TRIALS];
    size_t asked[PC_ETS_TRIALS], count = 0;
    for (size_t i = 0; i < s->count; i++) {
      ets_search_one *one = &s->searches[i];
      if (s->convex && ets_search_converged(one))
        return PCAL_OK;
      if (one->newton.end != PC_OPTIM_RUNNING)
        continue;
      ets_search_expand(s, one, one->newton.at);
      trials[count] = one->trial;
      asked[count++] = i;
    }
    if (count == 0)
      return PCAL_OK;
    for (size_t i = 0; i < count; i++)
      if (!ets_search_allowed(s, &trials[i]))
        trials[i] = (pc_ets_trial){0.0, {0.0, 1.0, 0.0}};
    PC_TRY(pc_ets_pass(s->task, s->brier, s->alone, trials, count, values, err));
    s->passes++;
    for (size_t i = 0; i < count; i++) {
      ets_search_one *one = &s->searches[asked[i]];
      if (!ets_search_allowed(s, &one->trial))
        values[i].value = INFINITY;
      ets_search_update(s, one, &values[i]);
    }
  }
}

/* The best search, the first on ties; its trial is set to its minimum. */
static const ets_search_one *ets_search_best(ets_search_state *s) {
  size_t best = 0;
  for (size_t i = 1; i < s->count; i++)
    if (s->searches[i].newton.value < s->searches[best].newton.value)
      best = i;
  for (size_t i = 0; i < s->count && s->convex; i++)
    if (ets_search_converged(&s->searches[i]))
      best = i;
  ets_search_expand(s, &s->searches[best], s->searches[best].newton.best);
  return &s->searches[best];
}

static void ets_search_end(ets_search_state *s) {
  for (size_t i = 0; i < s->count; i++)
    pc_newton_free(&s->searches[i].newton);
  s->count = 0;
}

/* ---- Stages ---- */

/* Searches T from starts first .. first + count - 1. */
static pcal_status ets_search_temper_from(ets_search_state *s, size_t first, size_t count,
                                          pcal_error *err) {
  static const double starts[PC_ETS_TRIALS] = {0.5, 0.125, 0.25, 1.0, 2.0, 8.0};
  for (size_t i = first; i < first + count; i++) {
    const pc_ets_trial start = {pc_lane_log(starts[i]), {1.0, 0.0, 0.0}};
    PC_TRY(ets_search_begin(s, &start, 0, err));
  }
  return ets_search_run(s, err);
}

static pcal_status ets_search_temper(ets_search_state *s, pc_ets_trial *best, pcal_error *err) {
  s->tempers = s->alone = 1;
  s->weighs = 0;
  PC_TRY(ets_search_temper_from(s, 0, s->brier ? PC_ETS_TRIALS : 1, err));
  if (!s->brier && !ets_search_converged(&s->searches[0]))
    PC_TRY(ets_search_temper_from(s, 1, PC_ETS_TRIALS - 1, err));
  *best = ets_search_best(s)->trial;
  ets_search_end(s);
  return PCAL_OK;
}

static pcal_status ets_search_begin_weights(ets_search_state *s, const pc_ets_trial *from,
                                            pcal_error *err) {
  s->tempers = s->alone = 0;
  s->weighs = s->convex = 1;
  for (size_t r = 0; r < 3; r++) {
    pc_ets_trial start = {from->tau, {0.01, 0.01, 0.01}};
    start.weight[r] = 0.98;
    PC_TRY(ets_search_begin(s, &start, r, err));
  }
  const pc_ets_trial pure = {from->tau, {1.0, 0.0, 0.0}};
  return ets_search_begin(s, &pure, 0, err);
}

/* Begins where the search of a similar calibrator, the best of several, has ended. */
static pcal_status ets_search_begin_like(ets_search_state *s, const pc_ets *like,
                                         pcal_error *err) {
  const double *w = like->weight;
  const pc_ets_trial start = {-pc_lane_log(like->temperature), {w[0], w[1], w[2]}};
  return w[0] > 0.0 ? ets_search_begin(s, &start, 0, err) : PCAL_OK;
}

/* from: the result of a search for w alone. */
static pcal_status ets_search_begin_joint(ets_search_state *s, const pc_ets_trial *from,
                                          pcal_error *err) {
  const double *w = from->weight;
  const pc_ets_trial same = {0.0, {w[1], 0.0, w[2]}}; /* if w1 is 0 */
  const pc_ets_trial starts[PC_ETS_TRIALS] = {w[0] > 0.0 ? *from : same,
                                              {from->tau, {0.9, 0.0, 0.1}},
                                              {from->tau, {0.5, 0.45, 0.05}},
                                              {from->tau - 0.7, {0.6, 0.3, 0.1}},
                                              {0.5 * from->tau, {0.8, 0.05, 0.15}},
                                              {from->tau + 0.7, {0.8, 0.0, 0.2}}};
  const pcal_calibrator *like = s->task->like;
  s->tempers = 1;
  s->convex = 0;
  if (like != NULL)
    PC_TRY(ets_search_begin_like(s, like->parameters, err));
  for (size_t i = 0; i < (like != NULL ? 1 : PC_ETS_TRIALS); i++)
    PC_TRY(ets_search_begin(s, &starts[i], 0, err));
  return PCAL_OK;
}

/* ---- Outcome ---- */

static void ets_search_take(const ets_search_state *s, const ets_search_one *best,
                            pc_ets *model) {
  pc_fit_info *fit = &s->task->calibrator->fit;
  double sum = 0.0;
  fit->gradient = best->newton.gradient;
  fit->iterations = s->passes;
  fit->after = fit->before;
  fit->status = PC_FIT_IDENTITY;
  *model = (pc_ets){1.0, {1.0, 0.0, 0.0}};
  if (!(best->newton.value < fit->before))
    return;
  fit->after = best->newton.value;
  fit->status = best->newton.end == PC_OPTIM_CONVERGED ? PC_FIT_CONVERGED : PC_FIT_STOPPED;
  model->temperature = fmin(fmax(pc_lane_exp(-best->trial.tau), PC_ETS_LOW), PC_ETS_HIGH);
  for (size_t i = 0; i < 3; i++) {
    model->weight[i] = fmax(best->trial.weight[i], 0.0);
    sum += model->weight[i];
  }
  for (size_t i = 0; i < 3; i++)
    model->weight[i] /= sum;
  if (best->trial.tau <= s->low || best->trial.tau >= s->high - 1e-6) {
    fit->status = PC_FIT_STOPPED;
    pc_fit_warn(fit, "T stopped at a bound: %s",
                best->trial.tau <= s->low
                    ? "the scores carry hardly any information about the labels"
                    : "the scores are far too close to each other");
  } else if (fit->status == PC_FIT_STOPPED) {
    pc_fit_warn(fit, "the search ended before the gradient vanished");
  }
}

static pcal_status ets_search_before(ets_search_state *s, pcal_error *err) {
  const pc_ets_trial identity = {0.0, {0.0, 1.0, 0.0}};
  pc_ets_values values;
  PC_TRY(pc_ets_pass(s->task, s->brier, 0, &identity, 1, &values, err));
  s->passes++;
  s->task->calibrator->fit.before = values.value;
  s->task->calibrator->fit.searched = 1;
  return PCAL_OK;
}

pcal_status pc_ets_search(const pc_fit_task *task, pc_ets *model, pcal_error *err) {
  const pc_option_value *options = task->calibrator->options.value;
  const int zhang = options[PC_ETS_CONVENTION].choice == 1;
  ets_search_state state = {.task = task, .brier = options[PC_ETS_OBJECTIVE].choice == 1};
  pc_ets_trial tempered = {0.0, {1.0, 0.0, 0.0}};
  state.low = -pc_lane_log(zhang ? ETS_SEARCH_ZHANG_HIGH : PC_ETS_HIGH);
  state.high = -pc_lane_log(zhang ? ETS_SEARCH_ZHANG_LOW : PC_ETS_LOW);
  PC_TRY(ets_search_before(&state, err));
  PC_TRY(pc_fit_check_rows(task, ETS_SEARCH_PARAMETERS, "temperature", err));
  PC_TRY(ets_search_temper(&state, &tempered, err));
  PC_TRY(ets_search_begin_weights(&state, &tempered, err));
  PC_TRY(ets_search_run(&state, err));
  if (options[PC_ETS_FIT].choice == PC_ETS_JOINT) {
    const pc_ets_trial weighed = ets_search_best(&state)->trial;
    ets_search_end(&state);
    PC_TRY(ets_search_begin_joint(&state, &weighed, err));
    PC_TRY(ets_search_run(&state, err));
  }
  ets_search_take(&state, ets_search_best(&state), model);
  return PCAL_OK;
}
