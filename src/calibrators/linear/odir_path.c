/* Grid:     lambda in {1, 0.5, 0.25} x 10^-5 .. 10^6, mu in 10^-5 .. 10^6; above 20 classes
 *           lambda in 10^-5 .. 10^6 and mu in {10^-4, 10^-1, 10^2}.  A given lambda or mu is a
 *           grid of one value.
 * Search:   for each fold and mu a path from the largest lambda to the smallest, each search
 *           started where the last one ended; the log score on the held-out fold is recorded
 *           for each pair. Above 20 classes a path ends after three pairs without a new best.
 *           The pair with the lowest sum over folds is chosen, the larger penalties on ties.
 * Edge cases:
 *   1. Folds that leave no rows to fit or to judge are ignored; without any fold lambda and mu
 *      are 1.
 * Source:   Kull et al. 2019 (grid); they assign rows to folds at random, fit_rows.c by
 *           content.
 * Accuracy: gradients of 1e-6, far below the resolution of cross-validation. */
#include "calibrators/linear/odir_path.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/executor.h"

#define ODIR_PATH_LAMBDAS 36
#define ODIR_PATH_MUS 12
#define ODIR_PATH_FINE 20 /* most classes with the published grid */
#define ODIR_PATH_PATIENCE 3

typedef struct odir_path_grid {
  size_t lambda_count, mu_count;
  double lambda[ODIR_PATH_LAMBDAS], mu[ODIR_PATH_MUS]; /* descending */
} odir_path_grid;

typedef struct odir_path_state {
  const pc_fit_rows *rows;
  odir_path_grid grid;
  pc_linear_search start;       /* on all rows */
  double *starts;               /* its results, for each mu */
  pc_linear_search *searches;   /* of each worker, made when first needed */
  double *scores;               /* sums: [fold][mu][lambda] */
  double weights[PC_FIT_FOLDS]; /* of the rows of each fold; 0: the fold is ignored */
} odir_path_state;

void pc_odir_penalise(pc_linear_search *search, double lambda, double mu) {
  search->off = ldexp(lambda, -2 * search->pass.rows->exponent);
  search->shift = mu;
}

static void odir_path_grid_make(size_t classes, const pc_odir_choice *choice,
                                odir_path_grid *grid) {
  static const double parts[] = {1.0, 0.5, 0.25};
  const int fine = classes <= ODIR_PATH_FINE;
  *grid = (odir_path_grid){0};
  for (int e = 6; e >= -5; e--) {
    const double power = e < 0 ? 1.0 / pc_pow(10.0, -e) : pc_pow(10.0, e);
    for (size_t i = 0; i < (fine ? 3 : 1); i++)
      grid->lambda[grid->lambda_count++] = parts[i] * power;
    if (fine || e == 2 || e == -1 || e == -4)
      grid->mu[grid->mu_count++] = power;
  }
  if (!isnan(choice->lambda)) {
    grid->lambda_count = 1;
    grid->lambda[0] = choice->lambda;
  }
  if (!isnan(choice->mu)) {
    grid->mu_count = 1;
    grid->mu[0] = choice->mu;
  }
}

/* One pair: fits to the other folds, scores this one. */
static pcal_status odir_path_pair(pc_linear_search *search, double lambda, double mu,
                                  double *score, pcal_error *err) {
  pc_odir_penalise(search, lambda, mu);
  search->pass.which = PC_LINEAR_OUTSIDE_FOLD;
  PC_TRY(pc_linear_search_run(search, 1, err));
  search->pass.which = PC_LINEAR_INSIDE_FOLD;
  PC_TRY(pc_linear_search_score(search, score, err));
  *score *= search->pass.weight;
  return PCAL_OK;
}

static pcal_status odir_path_walk(const odir_path_state *state, pc_linear_search *search,
                                  size_t fold, size_t m, pcal_error *err) {
  const odir_path_grid *grid = &state->grid;
  double *scores = state->scores + (fold * grid->mu_count + m) * grid->lambda_count;
  double best = INFINITY;
  size_t since = 0;
  search->pass.fold = (uint8_t)fold;
  pc_linear_search_follow(search, &state->start);
  memcpy(search->at, state->starts + m * search->pass.count,
         search->pass.count * sizeof *search->at);
  for (size_t l = 0; l < grid->lambda_count; l++)
    scores[l] = INFINITY;
  for (size_t l = 0; l < grid->lambda_count; l++) {
    PC_TRY(odir_path_pair(search, grid->lambda[l], grid->mu[m], &scores[l], err));
    since = scores[l] < best ? 0 : since + 1;
    best = fmin(best, scores[l]);
    if (state->rows->classes > ODIR_PATH_FINE && since >= ODIR_PATH_PATIENCE)
      break;
  }
  return PCAL_OK;
}

static const pc_optim_limits odir_path_limits = {1e-6, 1e-5, 200, 1e-6};

static pcal_status odir_path_search_new(const odir_path_state *state, size_t worker,
                                        pcal_error *err) {
  pc_linear_search *search = &state->searches[worker];
  if (search->pass.rows != NULL)
    return PCAL_OK;
  PC_TRY(pc_linear_search_new(state->rows, 1, state->rows->kept, search, err));
  search->pass.buffers = worker;
  search->limits = odir_path_limits;
  return PCAL_OK;
}

static pcal_status odir_path_task(void *user, size_t index, size_t worker, pcal_error *err) {
  const odir_path_state *state = user;
  const size_t fold = index / state->grid.mu_count;
  if (state->weights[fold] <= 0.0)
    return PCAL_OK;
  PC_TRY(odir_path_search_new(state, worker, err));
  return odir_path_walk(state, &state->searches[worker], fold, index % state->grid.mu_count,
                        err);
}

/* Finds the minimum on all rows at the largest lambda, for each mu. */
static pcal_status odir_path_begin(odir_path_state *state, pcal_error *err) {
  pc_linear_search *start = &state->start;
  PC_TRY(pc_linear_search_new(state->rows, 1, 0, start, err));
  const size_t n = start->pass.count;
  state->starts =
      pc_alloc(state->rows->task->env, state->grid.mu_count, n * sizeof *state->starts);
  if (state->starts == NULL)
    return pc_fail_memory(err, "cross-validating");
  start->limits = odir_path_limits;
  pc_linear_search_identity(start);
  for (size_t m = 0; m < state->grid.mu_count; m++) {
    pc_odir_penalise(start, state->grid.lambda[0], state->grid.mu[m]);
    PC_TRY(pc_linear_search_run(start, m > 0, err));
    memcpy(state->starts + m * n, start->at, n * sizeof *start->at);
  }
  return PCAL_OK;
}

/* ---- Folds ---- */

/* Sets the weights of the folds, by a pass that computes values only. */
static pcal_status odir_path_weigh(odir_path_state *state, pcal_error *err) {
  PC_TRY(odir_path_search_new(state, 0, err));
  pc_linear_search *search = &state->searches[0];
  for (size_t fold = 0; fold < PC_FIT_FOLDS; fold++) {
    double score = 0.0;
    search->pass.fold = (uint8_t)fold;
    search->pass.which = PC_LINEAR_INSIDE_FOLD;
    PC_TRY(pc_linear_search_score(search, &score, err));
    state->weights[fold] =
        search->pass.weight < state->rows->weight ? search->pass.weight : 0.0;
  }
  return PCAL_OK;
}

static void odir_path_pick(const odir_path_state *state, pc_odir_choice *choice) {
  const odir_path_grid *grid = &state->grid;
  const size_t pairs = grid->mu_count * grid->lambda_count;
  double weight = 0.0, best = INFINITY;
  size_t at = 0;
  for (size_t fold = 0; fold < PC_FIT_FOLDS; fold++)
    weight += state->weights[fold];
  for (size_t i = 0; i < pairs && weight > 0.0; i++) {
    double sum = 0.0;
    for (size_t fold = 0; fold < PC_FIT_FOLDS; fold++)
      sum += state->weights[fold] > 0.0 ? state->scores[fold * pairs + i] : 0.0;
    if (sum < best) {
      best = sum;
      at = i;
    }
  }
  choice->score = best / weight;
  const int none = !isfinite(best);
  if (isnan(choice->lambda))
    choice->lambda = none ? 1.0 : grid->lambda[at % grid->lambda_count];
  if (isnan(choice->mu))
    choice->mu = none ? 1.0 : grid->mu[at / grid->lambda_count];
}

static pcal_status odir_path_run(odir_path_state *state, pcal_error *err) {
  const pcal_env *env = state->rows->task->env;
  const size_t tasks = PC_FIT_FOLDS * state->grid.mu_count;
  const double always = 1e12; /* enough work for all threads */
  PC_TRY(odir_path_weigh(state, err));
  PC_TRY(odir_path_begin(state, err));
  if (state->rows->kept)
    return pc_run_with_progress(env, "cross-validating", tasks, always, odir_path_task, state,
                                err);
  for (size_t i = 0; i < tasks; i++)
    PC_TRY(odir_path_task(state, i, 0, err));
  return PCAL_OK;
}

pcal_status pc_odir_choose(const pc_fit_rows *rows, pc_odir_choice *choice, pcal_error *err) {
  const pcal_env *env = rows->task->env;
  odir_path_state state = {.rows = rows};
  odir_path_grid_make(rows->classes, choice, &state.grid);
  state.searches = pc_alloc(env, rows->worker_count, sizeof *state.searches);
  state.scores = pc_alloc(env, PC_FIT_FOLDS * state.grid.mu_count * state.grid.lambda_count,
                          sizeof *state.scores);
  if (state.searches == NULL || state.scores == NULL)
    return pc_fail_memory(err, "cross-validating");
  PC_TRY(odir_path_run(&state, err));
  odir_path_pick(&state, choice);
  return PCAL_OK;
}
