/* Grid:     lambda in {1, 0.5, 0.25} x 10^-5 .. 10^6, mu in 10^-5 .. 10^6; above 20 classes
 *           lambda in 10^-5 .. 10^6 and mu in {10^-4, 10^-1, 10^2}.  A given lambda or mu is a
 *           grid of one value.
 * Search:   the score of a pair is the sum over folds of the log score on the fold, of the map
 *           fitted to the other rows.  From lambda = mu = 1 the search walks along lambda, at
 *           first in powers of 10, then along mu, and again along lambda if mu has changed.  A
 *           walk ends after two pairs without a new best (one, if the search starts from the
 *           penalties of similar rows), or one that is clearly worse, and turns to larger
 *           penalties only if smaller ones are not better.  A pair that is clearly worse
 *           on the first two folds is not tried on the others.  Of equal pairs the one with the
 *           larger penalties is chosen.
 * Starts:   the first fold is fitted from its own last map; the others from their own, moved by as
 *           much as that of the first has moved, with its second derivatives.
 * Edge cases:
 *   1. Folds that leave no rows to fit or to judge are ignored; without any fold lambda and mu
 *      are 1.
 * Source:   Kull et al. 2019 (grid); they try every pair and assign rows to folds at random,
 *           fit_rows.c by content.
 * Accuracy: gradients of 1e-6, with many classes 1e-5, below the resolution of cross-validation.
 * Cost:     about 30 pairs up to 20 classes, 15 with more. */
#include "calibrators/linear/odir_path.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/executor.h"

#define ODIR_PATH_LAMBDAS 36
#define ODIR_PATH_MUS 12
#define ODIR_PATH_FINE 20       /* most classes with the published grid */
#define ODIR_PATH_DECADE 3      /* lambdas of that grid in a power of 10 */
#define ODIR_PATH_CLEAR 1e-3    /* relative excess over the best score that ends a walk */
#define ODIR_PATH_HOPELESS 2e-3 /* the same on some folds, that leaves out the others */
#define ODIR_PATH_TRIAL 2       /* folds to judge that by */
#define ODIR_PATH_ROUNDS 4
#define ODIR_PATH_USUAL 14  /* pairs that a search tries, roughly: for reports of progress */
#define ODIR_PATH_COST 40.0 /* nanoseconds for a parameter and row, for the executor */

typedef struct odir_path_grid {
  size_t lambda_count, mu_count;
  double lambda[ODIR_PATH_LAMBDAS], mu[ODIR_PATH_MUS]; /* descending */
} odir_path_grid;

/* A place on the grid. */
typedef struct odir_path_pair {
  size_t lambda, mu;
} odir_path_pair;

typedef struct odir_path_state {
  const pc_fit_rows *rows;
  odir_path_grid grid;
  pc_linear_search first;       /* for the first fold, with many classes for all folds */
  pc_linear_search *searches;   /* of each worker, for folds of small maps, made when needed */
  double *last, *best;          /* parameters at the last and the best pair, of each fold */
  double *moved;                /* by how much those of the first fold have moved */
  double *totals;               /* scores of pairs, [mu][lambda]; NAN: not known */
  double weights[PC_FIT_FOLDS]; /* of the rows of each fold; 0: the fold is ignored */
  double scores[PC_FIT_FOLDS];  /* of the last pair */
  double best_scores[PC_FIT_FOLDS];
  size_t leader;         /* the first fold that is not ignored */
  double lambda, mu;     /* the last pair */
  odir_path_pair chosen; /* the best pair */
  double score;          /* its score */
  size_t patience;       /* pairs without a new best that end a walk */
  uint64_t tried;
} odir_path_state;

static pc_optim_limits odir_path_limits(const odir_path_state *state) {
  const double aim = state->rows->classes <= PC_LINEAR_NEWTON ? 1e-6 : 1e-5;
  return (pc_optim_limits){aim, 10.0 * aim, 200, 1e-6};
}

void pc_odir_penalise(pc_linear_search *search, double lambda, double mu) {
  search->off = ldexp(lambda, -2 * search->pass.rows->exponent);
  search->shift = mu;
}

/* ---- Grid ---- */

static int odir_path_is_fine(const odir_path_state *state) {
  return state->rows->classes <= ODIR_PATH_FINE;
}

static void odir_path_grid_make(int fine, const pc_odir_choice *choice, odir_path_grid *grid) {
  static const double parts[ODIR_PATH_DECADE] = {1.0, 0.5, 0.25};
  *grid = (odir_path_grid){0};
  for (int e = 6; e >= -5; e--) {
    const double power = e < 0 ? 1.0 / pc_pow(10.0, -e) : pc_pow(10.0, e);
    for (size_t i = 0; i < (fine ? ODIR_PATH_DECADE : 1); i++)
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

/* Index of the first grid value that is at most `near`, or 1 if that is 0. */
static size_t odir_path_find(const double *values, size_t count, double near) {
  size_t at = 0;
  while (at + 1 < count && values[at] > (near > 0.0 ? near : 1.0))
    at++;
  return at;
}

/* ---- One pair ---- */

/* True if searches keep all second derivatives.  Kept rows of folds are then fitted side by side;
 * otherwise passes share the work among threads. */
static int odir_path_is_small(const odir_path_state *state) {
  return state->rows->classes <= PC_LINEAR_NEWTON;
}

static double *odir_path_last(const odir_path_state *state, size_t fold) {
  return state->last + fold * state->first.pass.count;
}

/* Fits to the rows outside a fold and scores those of the fold. */
static pcal_status odir_path_fit_fold(odir_path_state *state, pc_linear_search *search,
                                      size_t fold, pcal_error *err) {
  double *own = odir_path_last(state, fold), score = 0.0;
  const size_t bytes = search->pass.count * sizeof *own;
  memcpy(search->at, own, bytes);
  search->pass.fold = (uint8_t)fold;
  search->pass.which = PC_LINEAR_OUTSIDE_FOLD;
  pc_odir_penalise(search, state->lambda, state->mu);
  PC_TRY(pc_linear_search_run(search, 1, err));
  memcpy(own, search->at, bytes);
  search->pass.which = PC_LINEAR_INSIDE_FOLD;
  PC_TRY(pc_linear_search_score(search, &score, err));
  state->scores[fold] = score * search->pass.weight;
  return PCAL_OK;
}

/* The first fold; moves the maps of the others along. */
static pcal_status odir_path_lead(odir_path_state *state, pcal_error *err) {
  const size_t n = state->first.pass.count;
  const double *own = odir_path_last(state, state->leader);
  for (size_t i = 0; i < n; i++)
    state->moved[i] = -own[i];
  PC_TRY(odir_path_fit_fold(state, &state->first, state->leader, err));
  for (size_t i = 0; i < n; i++)
    state->moved[i] += own[i];
  for (size_t fold = state->leader + 1; fold < PC_FIT_FOLDS; fold++)
    for (size_t i = 0; i < n; i++)
      odir_path_last(state, fold)[i] += state->moved[i];
  return PCAL_OK;
}

static pcal_status odir_path_search_new(const odir_path_state *state, size_t worker,
                                        pcal_error *err) {
  pc_linear_search *search = &state->searches[worker];
  if (search->pass.rows != NULL)
    return PCAL_OK;
  PC_TRY(pc_linear_search_new(state->rows, 1, state->rows->kept, search, err));
  search->pass.buffers = worker;
  search->limits = odir_path_limits(state);
  search->rough = 1;
  return PCAL_OK;
}

static pcal_status odir_path_task(void *user, size_t index, size_t worker, pcal_error *err) {
  odir_path_state *state = user;
  const size_t fold = state->leader + 1 + index;
  if (state->weights[fold] <= 0.0)
    return PCAL_OK;
  PC_TRY(odir_path_search_new(state, worker, err));
  pc_linear_search *search = &state->searches[worker];
  pc_linear_search_follow(search, &state->first);
  return odir_path_fit_fold(state, search, fold, err);
}

/* Sum of scores over the folds below `end`. */
static double odir_path_sum(const odir_path_state *state, const double *scores, size_t end) {
  double sum = 0.0;
  for (size_t fold = 0; fold < end; fold++)
    sum += state->weights[fold] > 0.0 ? scores[fold] : 0.0;
  return sum;
}

/* True if the folds below `end` show that the pair is worse than the best one. */
static int odir_path_is_hopeless(const odir_path_state *state, size_t end) {
  const double best = odir_path_sum(state, state->best_scores, end);
  return end >= ODIR_PATH_TRIAL && isfinite(state->score) &&
         odir_path_sum(state, state->scores, end) > (1.0 + ODIR_PATH_HOPELESS) * best;
}

/* The other folds, one after the other, until the pair is hopeless. */
static pcal_status odir_path_follow(odir_path_state *state, double *total, pcal_error *err) {
  for (size_t fold = state->leader + 1; fold < PC_FIT_FOLDS; fold++) {
    if (odir_path_is_hopeless(state, fold))
      return PCAL_OK;
    if (state->weights[fold] > 0.0)
      PC_TRY(odir_path_fit_fold(state, &state->first, fold, err));
  }
  *total = odir_path_sum(state, state->scores, PC_FIT_FOLDS);
  return PCAL_OK;
}

/* Fits and scores all folds; *total is infinite if the pair is hopeless. */
static pcal_status odir_path_fit_folds(odir_path_state *state, double *total, pcal_error *err) {
  const size_t others = PC_FIT_FOLDS - 1 - state->leader;
  const double work =
      ODIR_PATH_COST * (double)state->rows->count * (double)state->first.pass.count;
  PC_TRY(odir_path_lead(state, err));
  *total = INFINITY;
  if (!odir_path_is_small(state))
    return odir_path_follow(state, total, err);
  if (state->rows->kept)
    PC_TRY(pc_run(state->rows->task->env, others, work, odir_path_task, state, err));
  for (size_t i = 0; !state->rows->kept && i < others; i++)
    PC_TRY(odir_path_task(state, i, 0, err));
  *total = odir_path_sum(state, state->scores, PC_FIT_FOLDS);
  return PCAL_OK;
}

/* Makes a pair the best one if it is; *worse: it is clearly worse. */
static int odir_path_judge(odir_path_state *state, odir_path_pair pair, double total,
                           int *worse) {
  const odir_path_pair best = state->chosen;
  const int larger = pair.mu < best.mu || (pair.mu == best.mu && pair.lambda < best.lambda);
  *worse = total > state->score + ODIR_PATH_CLEAR * fabs(state->score);
  if (!(total < state->score || (total == state->score && larger)))
    return 0;
  state->chosen = pair;
  state->score = total;
  memcpy(state->best_scores, state->scores, sizeof state->scores);
  memcpy(state->best, state->last,
         PC_FIT_FOLDS * state->first.pass.count * sizeof *state->best);
  return 1;
}

/* Reports progress: searches end sooner or later than usual. */
static void odir_path_report(const pcal_env *env, size_t tried) {
  pc_progress(env, "cross-validating", tried,
              tried < ODIR_PATH_USUAL ? ODIR_PATH_USUAL : tried + 1);
}

/* Scores a pair, from the last one; *better: it is the best so far. */
static pcal_status odir_path_try(odir_path_state *state, odir_path_pair pair, int *better,
                                 int *worse, pcal_error *err) {
  const pcal_env *env = state->rows->task->env;
  double *total = &state->totals[pair.mu * state->grid.lambda_count + pair.lambda];
  if (isnan(*total)) {
    state->lambda = state->grid.lambda[pair.lambda];
    state->mu = state->grid.mu[pair.mu];
    PC_TRY(odir_path_fit_folds(state, total, err));
    odir_path_report(env, ++state->tried);
    PC_TRY(pc_check_interrupt(env, err));
  }
  *better = odir_path_judge(state, pair, *total, worse);
  return PCAL_OK;
}

/* ---- Walks ---- */

/* Walks from the best pair, `step` grid values at a time. */
static pcal_status odir_path_go(odir_path_state *state, ptrdiff_t lambda_step,
                                ptrdiff_t mu_step, pcal_error *err) {
  odir_path_pair pair = state->chosen;
  size_t since = 0;
  memcpy(state->last, state->best,
         PC_FIT_FOLDS * state->first.pass.count * sizeof *state->last);
  for (;;) {
    int better = 0, worse = 0;
    pair.lambda += (size_t)lambda_step; /* wraps around below 0 */
    pair.mu += (size_t)mu_step;
    if (pair.lambda >= state->grid.lambda_count || pair.mu >= state->grid.mu_count)
      return PCAL_OK;
    PC_TRY(odir_path_try(state, pair, &better, &worse, err));
    since = better ? 0 : since + 1;
    if (worse || since == state->patience)
      return PCAL_OK;
  }
}

/* Walks toward smaller penalties or, if these are not better, toward larger ones. */
static pcal_status odir_path_walk(odir_path_state *state, ptrdiff_t lambda_step,
                                  ptrdiff_t mu_step, pcal_error *err) {
  const odir_path_pair before = state->chosen;
  PC_TRY(odir_path_go(state, lambda_step, mu_step, err));
  if (state->chosen.lambda != before.lambda || state->chosen.mu != before.mu)
    return PCAL_OK;
  return odir_path_go(state, -lambda_step, -mu_step, err);
}

static pcal_status odir_path_descend(odir_path_state *state, int coarse, pcal_error *err) {
  int better, worse;
  PC_TRY(odir_path_try(state, state->chosen, &better, &worse, err));
  if (coarse)
    PC_TRY(odir_path_walk(state, ODIR_PATH_DECADE, 0, err));
  for (size_t round = 0; round < ODIR_PATH_ROUNDS; round++) {
    PC_TRY(odir_path_walk(state, 1, 0, err));
    const size_t mu = state->chosen.mu;
    PC_TRY(odir_path_walk(state, 0, 1, err));
    if (state->chosen.mu == mu)
      break;
  }
  return PCAL_OK;
}

/* ---- All ---- */

/* Sets the weights of the folds, by passes that compute values only, and their sum. */
static pcal_status odir_path_weigh(odir_path_state *state, double *sum, pcal_error *err) {
  pc_linear_search *search = &state->first;
  *sum = 0.0;
  state->leader = PC_FIT_FOLDS - 1;
  for (size_t fold = PC_FIT_FOLDS; fold-- > 0;) {
    double score = 0.0;
    search->pass.fold = (uint8_t)fold;
    search->pass.which = PC_LINEAR_INSIDE_FOLD;
    PC_TRY(pc_linear_search_score(search, &score, err));
    state->weights[fold] =
        search->pass.weight < state->rows->weight ? search->pass.weight : 0.0;
    *sum += state->weights[fold];
    if (state->weights[fold] > 0.0)
      state->leader = fold;
  }
  return PCAL_OK;
}

static pcal_status odir_path_new(odir_path_state *state, pcal_error *err) {
  const pcal_env *env = state->rows->task->env;
  const size_t pairs = state->grid.lambda_count * state->grid.mu_count;
  PC_TRY(pc_linear_search_new(state->rows, 1, 0, &state->first, err));
  state->first.limits = odir_path_limits(state);
  state->first.rough = 1;
  pc_linear_search_identity(&state->first);
  const size_t n = state->first.pass.count;
  state->searches = pc_alloc(env, state->rows->worker_count, sizeof *state->searches);
  state->last = pc_alloc(env, 2 * PC_FIT_FOLDS + 1, n * sizeof *state->last);
  state->totals = pc_alloc(env, pairs, sizeof *state->totals);
  if (state->searches == NULL || state->last == NULL || state->totals == NULL)
    return pc_fail_memory(err, "cross-validating");
  state->best = odir_path_last(state, PC_FIT_FOLDS);
  state->moved = odir_path_last(state, 2 * PC_FIT_FOLDS);
  for (size_t i = 0; i < pairs; i++)
    state->totals[i] = (double)NAN;
  return PCAL_OK;
}

/* Starts the maps of all folds from a given one, or from the one that changes nothing. */
static void odir_path_start(odir_path_state *state, const double *near) {
  const size_t n = state->first.pass.count;
  for (size_t fold = 0; fold < PC_FIT_FOLDS; fold++)
    memcpy(odir_path_last(state, fold), near == NULL ? state->first.at : near,
           n * sizeof *state->last);
}

/* The mean of the folds' maps, as the start on all rows. */
static void odir_path_mean(odir_path_state *state) {
  const size_t n = state->first.pass.count;
  for (size_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (size_t fold = 0; fold < PC_FIT_FOLDS; fold++)
      sum += state->best[fold * n + i];
    state->moved[i] = sum / PC_FIT_FOLDS;
  }
}

pcal_status pc_odir_choose(const pc_fit_rows *rows, pc_odir_choice *choice, pcal_error *err) {
  const int near = choice->near_lambda > 0.0;
  odir_path_state state = {.rows = rows, .score = INFINITY, .patience = near ? 1 : 2};
  const odir_path_grid *grid = &state.grid;
  const int fine = odir_path_is_fine(&state);
  double weight = 0.0;
  odir_path_grid_make(fine, choice, &state.grid);
  PC_TRY(odir_path_new(&state, err));
  odir_path_start(&state, choice->near);
  PC_TRY(odir_path_weigh(&state, &weight, err));
  state.chosen =
      (odir_path_pair){odir_path_find(grid->lambda, grid->lambda_count, choice->near_lambda),
                       odir_path_find(grid->mu, grid->mu_count, choice->near_mu)};
  if (weight > 0.0)
    PC_TRY(odir_path_descend(&state, fine && !near, err));
  choice->score = state.score / weight;
  const int none = !isfinite(state.score);
  if (isnan(choice->lambda))
    choice->lambda = none ? 1.0 : grid->lambda[state.chosen.lambda];
  if (isnan(choice->mu))
    choice->mu = none ? 1.0 : grid->mu[state.chosen.mu];
  odir_path_mean(&state);
  choice->start = none ? NULL : state.moved;
  choice->fold_starts = none ? NULL : state.best;
  return PCAL_OK;
}
