/* matrix-odir, dirichlet-odir: matrix scaling with a penalty off the diagonal.
 *
 * Formula:  q = softmax(W x + b);  W and b minimise the mean of -log q_y
 *           + lambda sum over j != k of W_jk^2 + mu sum_j b_j^2;
 *           x: logits (matrix-odir), log-probabilities (dirichlet-odir, on=log-probs).
 * Edge cases:
 *   1. Those of vector.c, but a lambda above 0 allows fewer rows than parameters.
 *   2. lambda=0 or mu=0 removes that penalty only.
 *   3. auto: chosen by the log score of five folds (odir_path.c), then fitted to all rows.
 *   4. ensemble=folds: averages the probabilities of five maps, each fitted without one fold;
 *      the objective after the fit is the mean of -log q_y of the average.
 *   5. The logits of probabilities are their logarithms: both methods then fit the same map.
 * Source:   Kull et al. 2019.
 * Accuracy: gradient 1e-8.
 * Cost:     see linear_search.c; auto: about 150 short searches. */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/executor.h"
#include "calibrators/fit_pass.h"
#include "calibrators/linear/linear_model.h"
#include "calibrators/linear/odir_path.h"

enum { ODIR_LAMBDA, ODIR_MU, ODIR_ENSEMBLE, ODIR_ON };

#define ODIR_OPTIONS                                                                     \
  {"lambda",                                                                             \
   PCAL_OPTION_REAL,                                                                     \
   "auto",                                                                               \
   0,                                                                                    \
   1e12,                                                                                 \
   "auto",                                                                               \
   "penalty of the squares off the diagonal; auto: by cross-validation"},                \
      {"mu",                                                                             \
       PCAL_OPTION_REAL,                                                                 \
       "auto",                                                                           \
       0,                                                                                \
       1e12,                                                                             \
       "auto",                                                                           \
       "penalty of the squares of b; auto: by cross-validation"},                        \
  {                                                                                      \
    "ensemble", PCAL_OPTION_CHOICE, "no", 0, 0, "no|folds",                              \
        "one map fitted to all rows, or the average of five, each fitted without a fold" \
  }

static const pcal_option odir_dirichlet_options[] = {ODIR_OPTIONS};
static const pcal_option odir_matrix_options[] = {ODIR_OPTIONS, PC_LINEAR_ON_OPTION};

static int odir_averages(const pcal_calibrator *calibrator) {
  return calibrator->options.value[ODIR_ENSEMBLE].choice == 1;
}

static pc_feature odir_feature(pcal_calibrator *calibrator) {
  return calibrator->options.count <= ODIR_ON ? PC_FEATURE_LOG_PROBS
                                              : pc_linear_feature(calibrator, ODIR_ON);
}

static const char *odir_objective(const pcal_calibrator *calibrator) {
  return odir_averages(calibrator) ? "log" : "log+penalty";
}

/* ---- Log score of an average ---- */

typedef struct odir_worker {
  pc_sum loss;
  uint64_t impossible;
  double *results; /* of apply, with its scratch */
} odir_worker;

typedef struct odir_state {
  const pc_fit_task *task;
  odir_worker *workers;
} odir_state;

static pcal_status odir_add(void *user, size_t w, const pc_rows *rows, pcal_error *err) {
  const odir_state *state = user;
  const pcal_calibrator *calibrator = state->task->calibrator;
  odir_worker *worker = &state->workers[w];
  const size_t k = rows->classes;
  if (worker->results == NULL)
    worker->results =
        pc_alloc_raw(state->task->env, k + pc_linear_model_space(calibrator), sizeof(double));
  if (worker->results == NULL)
    return pc_fail_memory(err, "preparing workers");
  for (size_t i = 0; i < rows->count; i++) {
    pc_linear_model_apply(calibrator, rows->scores + i * k, 1, worker->results);
    const double p = worker->results[rows->labels[i]];
    const double weight = rows->weights == NULL ? 1.0 : rows->weights[i];
    if (p > 0.0)
      pc_sum_add_product(&worker->loss, weight, -pc_log(p));
    else
      worker->impossible++;
  }
  return PCAL_OK;
}

static pcal_status odir_average_score(const pc_fit_task *task, double *out, pcal_error *err) {
  const size_t count = pc_worker_count(task->env);
  const pc_row_policy policy = {.scores = PC_SCORES_ONLY, .probs = PC_PROBS_LEAN};
  odir_state state = {task, pc_alloc(task->env, count, sizeof *state.workers)};
  if (state.workers == NULL)
    return pc_fail_memory(err, "preparing workers");
  PC_TRY(pc_fit_pass(task, &policy, odir_add, NULL, &state, err));
  odir_worker *first = &state.workers[0];
  for (size_t w = 1; w < count; w++) {
    pc_sum_merge(&first->loss, &state.workers[w].loss);
    first->impossible += state.workers[w].impossible;
  }
  *out = first->impossible > 0 ? INFINITY
                               : pc_sum_value(&first->loss) / task->calibrator->fit.weight;
  return PCAL_OK;
}

/* ---- Fit ---- */

/* Chooses penalties from those of a similar calibrator on. */
static pcal_status odir_choose(const pc_fit_task *task, const pc_fit_rows *rows,
                               pc_linear_search *search, pc_odir_choice *choice,
                               pcal_error *err) {
  const pc_linear_model *like = task->like == NULL ? NULL : task->like->parameters;
  if (like != NULL) {
    pc_linear_model_start(like, 0, search);
    choice->near_lambda = like->lambda;
    choice->near_mu = like->mu;
    choice->near = search->at;
  }
  PC_TRY(pc_odir_choose(rows, choice, err));
  if (!isfinite(choice->score))
    pc_fit_warn(&task->calibrator->fit,
                "the rows are too few or too similar for cross-validation, so lambda or mu was "
                "set to 1; give lambda and mu");
  return PCAL_OK;
}

static pcal_status odir_penalties(const pc_fit_task *task, const pc_fit_rows *rows,
                                  pc_linear_model *model, pc_linear_search *search,
                                  pc_odir_choice *choice, pcal_error *err) {
  const pc_option_value *values = task->calibrator->options.value;
  *choice = (pc_odir_choice){
      .lambda = values[ODIR_LAMBDA].choice == 0 ? NAN : values[ODIR_LAMBDA].number,
      .mu = values[ODIR_MU].choice == 0 ? NAN : values[ODIR_MU].number};
  if (isnan(choice->lambda) || isnan(choice->mu))
    PC_TRY(odir_choose(task, rows, search, choice, err));
  model->penalised = 1;
  model->lambda = choice->lambda;
  model->mu = choice->mu;
  return PCAL_OK;
}

/* Adds the outcome of the search for one member to that of all. */
static void odir_gather(const pc_linear_search *search, pc_linear_search *all) {
  all->gradient = fmax(all->gradient, search->gradient);
  all->evaluations += search->evaluations;
  if (all->end < search->end)
    all->end = search->end;
}

/* Starts the search for a member: from the choice of penalties, from a similar calibrator, or
 * from the map that leaves probabilities unchanged. */
static void odir_start(const pc_fit_task *task, const pc_linear_model *model, size_t member,
                       const pc_odir_choice *choice, pc_linear_search *search) {
  const size_t n = search->pass.count;
  if (choice->start != NULL)
    memcpy(search->at, model->members == 1 ? choice->start : choice->fold_starts + member * n,
           n * sizeof *search->at);
  else if (task->like != NULL)
    pc_linear_model_start(task->like->parameters, member, search);
  else
    pc_linear_search_identity(search);
}

static pcal_status odir_members(const pc_fit_task *task, const pc_fit_rows *rows,
                                pc_linear_model *model, const pc_odir_choice *choice,
                                pc_linear_search *search, pcal_error *err) {
  pc_linear_search all = {0};
  pc_odir_penalise(search, model->lambda, model->mu);
  for (size_t m = 0; m < model->members; m++) {
    search->pass.which = model->members == 1 ? PC_LINEAR_ALL : PC_LINEAR_OUTSIDE_FOLD;
    search->pass.fold = (uint8_t)m;
    odir_start(task, model, m, choice, search);
    PC_TRY(pc_linear_search_run(search, 0, err));
    pc_linear_model_take(model, m, search);
    odir_gather(search, &all);
  }
  double after = search->value;
  search->gradient = all.gradient;
  search->evaluations = all.evaluations;
  search->end = all.end;
  if (model->members > 1)
    PC_TRY(odir_average_score(task, &after, err));
  pc_linear_model_record_fit(task, rows, model, search, after);
  return PCAL_OK;
}

/* Choosing penalties by cross-validation makes thousands of passes, and each would be a round. */
static int odir_can_round(const pc_options *options) {
  return options->value[ODIR_LAMBDA].choice != 0 && options->value[ODIR_MU].choice != 0 &&
         options->value[ODIR_ENSEMBLE].choice == 0;
}

static pcal_status odir_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  const pc_feature feature = odir_feature(calibrator);
  pc_linear_model *model = NULL;
  pc_linear_search search;
  pc_fit_rows rows;
  pc_odir_choice choice;
  PC_TRY(pc_linear_model_new(calibrator, feature, 1,
                             odir_averages(calibrator) ? PC_FIT_FOLDS : 1, &model, err));
  PC_TRY(pc_fit_rows_open(task, feature, PC_FIT_FOLDED, &rows, err));
  PC_TRY(pc_linear_search_new(&rows, 1, 0, &search, err));
  PC_TRY(odir_penalties(task, &rows, model, &search, &choice, err));
  if (model->lambda <= 0.0)
    PC_TRY(pc_linear_model_check_rows(task, 1, err));
  return odir_members(task, &rows, model, &choice, &search, err);
}

static pcal_status odir_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                             const char *file, pcal_error *err) {
  return pc_linear_model_read(calibrator, odir_feature(calibrator), 1,
                              odir_averages(calibrator) ? PC_FIT_FOLDS : 1, 1, parameters, file,
                              err);
}

#define ODIR_METHOD                                                                          \
  .traits = PC_SUMS_TO_ONE | PC_GUARDED | PC_SQUARE, .slow = 1, .needs_scores = 1,           \
  .in_rounds = 1, .can_round = odir_can_round, .objective = odir_objective, .fit = odir_fit, \
  .scratch_size = pc_linear_model_space, .apply = pc_linear_model_apply,                     \
  .recipe = pc_linear_model_recipe, .write = pc_linear_model_write, .read = odir_read,       \
  .describe = pc_linear_model_describe

const pc_calibrator_method pc_calibrator_matrix_odir = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "matrix-odir",
            .title = "matrix scaling with a penalty off the diagonal",
            .formula =
                "q = softmax(W z + b)\n"
                "W, b minimise mean(-log q_y) + lambda sum_{j != k} W_jk^2 + mu sum_j b_j^2",
            .about =
                "Matrix scaling that learns confusions between classes only as far as the "
                "data support them. lambda and mu are chosen by five-fold cross-validation "
                "unless given; rows are assigned to folds by their content. ensemble=folds "
                "averages the five maps, as published, instead of fitting to all rows. The "
                "top class may change.",
            .citation =
                "Kull, Perello-Nieto, Kängsepp, Silva Filho, Song & Flach, NeurIPS 2019",
            .options = odir_matrix_options,
            .option_count = sizeof odir_matrix_options / sizeof *odir_matrix_options,
        },
    .same_without_logits = "dirichlet-odir",
    ODIR_METHOD,
};

const pc_calibrator_method pc_calibrator_dirichlet_odir = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "dirichlet-odir",
            .title = "Dirichlet calibration with a penalty off the diagonal",
            .formula =
                "q = softmax(W log p + b)\n"
                "W, b minimise mean(-log q_y) + lambda sum_{j != k} W_jk^2 + mu sum_j b_j^2",
            .about =
                "matrix-odir on log-probabilities: a function of the probabilities alone, "
                "and the right family if they have a Dirichlet distribution in each class. "
                "A strong choice for up to a few dozen classes.",
            .citation =
                "Kull, Perello-Nieto, Kängsepp, Silva Filho, Song & Flach, NeurIPS 2019",
            .options = odir_dirichlet_options,
            .option_count = sizeof odir_dirichlet_options / sizeof *odir_dirichlet_options,
        },
    ODIR_METHOD,
};
