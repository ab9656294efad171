/* label-noise: which predictions does ECE ignore when labels become uncertain?
 *
 * Design:  a share of the training labels is replaced by labels drawn at random (the true one may
 *          be drawn), in 40 steps from 0 to 0.05.  At each step a softmax regression is trained
 *          and judged on other rows: accuracy, mean confidence, ECE, SCE and ACE, and for each
 *          threshold the share of predictions above it that ECE omits, since ECE uses only the
 *          largest probability of a row,
 *     (number of p_ik > t  -  number of max_k p_ik > t) / number of p_ik > t.
 *          Rows are the user's features, the scores of the user's model as features, or drawn
 *          from a mixture of Gaussians.  Values are means over repeats, which draw other labels.
 * Edge cases:
 *   (1) a row whose label is drawn at one step is drawn at all later ones, with the same label, so
 *       that steps differ by the added noise alone;
 *   (2) no prediction above a threshold: the share has no value;
 *   (3) labels of the rows to judge on stay true, unless test=noisy.
 * Source:  Nixon et al. 2019, appendix B and Figure 3.
 * Cost:    a fit of a few dozen passes for each step and repeat. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/executor.h"
#include "base/number.h"
#include "base/rng.h"
#include "kernels/sort.h"
#include "measure/measure_source.h"
#include "studies/study_scores.h"
#include "studies/training_rows.h"

#define LABEL_NOISE_STREAM UINT64_C(0x4e00000000000000)
#define LABEL_NOISE_REPEATS 5
#define LABEL_NOISE_FLOP 30.0 /* nanoseconds of a fit for a row, a feature and a class */
#define LABEL_NOISE_THRESHOLDS 4
#define LABEL_NOISE_SPREAD 1.0

enum {
  LABEL_NOISE_LEVELS,
  LABEL_NOISE_MOST,
  LABEL_NOISE_THRESHOLD,
  LABEL_NOISE_TEST,
  LABEL_NOISE_L2,
  LABEL_NOISE_ROWS,
  LABEL_NOISE_CLASSES,
  LABEL_NOISE_FEATURES
};

static const pcal_option label_noise_options[] = {
    {"levels", PCAL_OPTION_INT, "40", 2, 1000, NULL, "number of noise levels, from 0 to most"},
    {"most", PCAL_OPTION_REAL, "0.05", 0, 1, NULL, "largest share of labels that are drawn"},
    {"threshold", PCAL_OPTION_REALS, "0.01/0.1", 0, 1, NULL,
     "thresholds above which predictions are relevant; up to four"},
    {"test", PCAL_OPTION_CHOICE, "clean", 0, 0, "clean|noisy",
     "labels of the rows to judge on: true, or drawn like the others"},
    {"l2", PCAL_OPTION_REAL, "0.0001", 1e-9, 1e6, NULL,
     "weight of the sum of squared weights beside the mean log score"},
    {"rows", PCAL_OPTION_INT, "1000", 20, 1e6, NULL, "rows of each drawn set"},
    {"classes", PCAL_OPTION_INT, "10", 2, 1000, NULL, "classes of drawn rows"},
    {"features", PCAL_OPTION_INT, "16", 1, 1000, NULL, "features of drawn rows"},
};

static const char *const label_noise_specs[] = {"ece", "sce", "ace", "accuracy"};
enum {
  LABEL_NOISE_ECE,
  LABEL_NOISE_SCE,
  LABEL_NOISE_ACE,
  LABEL_NOISE_ACCURACY,
  LABEL_NOISE_SPECS
};

/* Measurements of one model. */
typedef struct label_noise_value {
  double metrics[LABEL_NOISE_SPECS];
  double confidence, omitted[LABEL_NOISE_THRESHOLDS];
} label_noise_value;

typedef struct label_noise_state {
  const pc_study_job *job;
  pc_training_rows rows;
  size_t levels, repeats, thresholds;
  const pc_option_value *options;
  double *clean;    /* the model fitted without noise: start of every search */
  double *draws[2]; /* sorted draws of a set, and scratch space for the sort */
  double
      *cuts[2]; /* repeat by repeat, level by level: rows with a draw below get another label */
  label_noise_value *values; /* repeat by repeat, level by level */
} label_noise_state;

/* ---- Noise ---- */

static double label_noise_level(const label_noise_state *state, size_t level) {
  return state->options[LABEL_NOISE_MOST].number * (double)level / (double)(state->levels - 1);
}

/* Random numbers that decide whether (what = 0) and to which class (1) a label changes. */
static pc_rng label_noise_rng(const label_noise_state *state, size_t repeat, size_t set,
                              size_t what) {
  return (pc_rng){state->job->env->seed, LABEL_NOISE_STREAM + 4 * repeat + 2 * set + what};
}

/* Finds the cuts: the draws of round(share n) rows lie below them. */
static void label_noise_cut(label_noise_state *state, size_t repeat, size_t set) {
  const pc_rng rng = label_noise_rng(state, repeat, set, 0);
  const size_t n = state->rows.rows[set];
  double *sorted = state->draws[0];
  pc_rng_uniforms(&rng, 0, n, sorted);
  pc_sort(sorted, state->draws[1], n);
  for (size_t l = 0; l < state->levels; l++) {
    const size_t count = (size_t)(label_noise_level(state, l) * (double)n + 0.5);
    state->cuts[set][repeat * state->levels + l] = count < n ? sorted[count] : 1.0;
  }
}

static void label_noise_apply(const label_noise_state *state, size_t index, size_t set,
                              int32_t *labels) {
  const size_t repeat = index / state->levels;
  const pc_rng whether = label_noise_rng(state, repeat, set, 0);
  const pc_rng what = label_noise_rng(state, repeat, set, 1);
  const double cut = state->cuts[set][index];
  for (size_t i = 0; i < state->rows.rows[set]; i++)
    labels[i] = pc_rng_uniform(&whether, i) < cut
                    ? (int32_t)(pc_rng_uniform(&what, i) * (double)state->rows.classes)
                    : state->rows.labels[set][i];
}

/* ---- One model ---- */

static pcal_status label_noise_measure(const pc_labelled_rows *rows, double *probs,
                                       int32_t *labels, const pcal_env *env,
                                       label_noise_value *out, pcal_error *err) {
  const pc_study_scores scores = {.env = env,
                                  .kind = PCAL_PROBABILITY,
                                  .rows = rows->rows,
                                  .columns = rows->classes,
                                  .scores = probs,
                                  .labels = labels};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  config.specs = label_noise_specs;
  config.spec_count = LABEL_NOISE_SPECS;
  PC_TRY(pc_study_scores_source(&scores, env, &source, err));
  const pcal_status status = pc_measure_whole(source, &config, env, &results, err);
  for (size_t s = 0; status == PCAL_OK && s < LABEL_NOISE_SPECS; s++)
    out->metrics[s] = results->records[s].outcome.value;
  pc_results_free(results);
  pc_source_free(source);
  return status;
}

static void label_noise_omitted(const label_noise_state *state, const pc_labelled_rows *rows,
                                const double *probs, label_noise_value *out) {
  const size_t k = rows->classes;
  size_t above[LABEL_NOISE_THRESHOLDS] = {0}, top[LABEL_NOISE_THRESHOLDS] = {0};
  double confidence = 0;
  for (size_t i = 0; i < rows->rows; i++) {
    double largest = 0;
    for (size_t c = 0; c < k; c++) {
      largest = fmax(largest, probs[i * k + c]);
      for (size_t t = 0; t < state->thresholds; t++)
        above[t] += probs[i * k + c] > state->options[LABEL_NOISE_THRESHOLD].list[t];
    }
    confidence += largest;
    for (size_t t = 0; t < state->thresholds; t++)
      top[t] += largest > state->options[LABEL_NOISE_THRESHOLD].list[t];
  }
  out->confidence = confidence / (double)rows->rows;
  for (size_t t = 0; t < state->thresholds; t++)
    out->omitted[t] =
        above[t] > 0 ? (double)(above[t] - top[t]) / (double)above[t] : (double)NAN;
}

/* Scratch memory of a step: a model, its predictions, labels of both sets. */
typedef struct label_noise_scratch {
  double *model, *probs;
  int32_t *labels[2];
} label_noise_scratch;

static pcal_status label_noise_step(const label_noise_state *state, size_t index,
                                    const label_noise_scratch *room, const pcal_env *env,
                                    pcal_error *err) {
  pc_labelled_rows learnt = pc_training_rows_set(&state->rows, 0);
  pc_labelled_rows judged = pc_training_rows_set(&state->rows, 1);
  label_noise_apply(state, index, 0, room->labels[0]);
  learnt.labels = room->labels[0];
  memcpy(room->labels[1], judged.labels, judged.rows * sizeof *judged.labels);
  if (state->options[LABEL_NOISE_TEST].choice == 1)
    label_noise_apply(state, index, 1, room->labels[1]);
  memcpy(room->model, state->clean, pc_softmax_regression_size(&learnt) * sizeof *room->model);
  PC_TRY(pc_softmax_regression_fit(&learnt, state->options[LABEL_NOISE_L2].number, env,
                                   room->model, err));
  pc_softmax_regression_apply(&judged, room->model, room->probs);
  label_noise_omitted(state, &judged, room->probs, &state->values[index]);
  return label_noise_measure(&judged, room->probs, room->labels[1], env, &state->values[index],
                             err);
}

static pcal_status label_noise_task(void *user, size_t index, size_t worker, pcal_error *err) {
  const label_noise_state *state = user;
  const pcal_env env = pc_study_task_env(state->job->env);
  const pc_labelled_rows rows = pc_training_rows_set(&state->rows, 0);
  const size_t judged = state->rows.rows[1];
  label_noise_scratch room = {
      pc_alloc(&env, pc_softmax_regression_size(&rows), sizeof *room.model),
      pc_alloc(&env, judged * rows.classes, sizeof *room.probs),
      {pc_alloc(&env, rows.rows, sizeof **room.labels),
       pc_alloc(&env, judged, sizeof **room.labels)}};
  const int enough = room.model != NULL && room.probs != NULL && room.labels[0] != NULL &&
                     room.labels[1] != NULL;
  (void)worker;
  const pcal_status status = enough ? label_noise_step(state, index, &room, &env, err)
                                    : pc_fail_memory(err, "learning from noisy labels");
  pc_free(&env, room.model);
  pc_free(&env, room.probs);
  pc_free(&env, room.labels[0]);
  pc_free(&env, room.labels[1]);
  return status;
}

/* ---- Table ---- */

static label_noise_value label_noise_mean(const label_noise_state *state, size_t level) {
  const double n = (double)state->repeats;
  label_noise_value mean;
  memset(&mean, 0, sizeof mean);
  for (size_t r = 0; r < state->repeats; r++) {
    const label_noise_value *value = &state->values[r * state->levels + level];
    mean.confidence += value->confidence / n;
    for (size_t s = 0; s < LABEL_NOISE_SPECS; s++)
      mean.metrics[s] += value->metrics[s] / n;
    for (size_t t = 0; t < state->thresholds; t++)
      mean.omitted[t] += value->omitted[t] / n;
  }
  return mean;
}

static pcal_status label_noise_table(const label_noise_state *state, pc_findings *findings,
                                     pcal_error *err) {
  static const char *const columns[] = {"noise", "accuracy", "confidence", "ece", "sce", "ace"};
  pc_table *table = pc_findings_add_table(findings, "");
  char name[PC_TABLE_NAME_MAX], number[PC_NUMBER_MAX];
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  for (size_t t = 0; t < state->thresholds; t++) {
    snprintf(name, sizeof name, "omitted_%s",
             pc_show(state->options[LABEL_NOISE_THRESHOLD].list[t], number));
    pc_table_add_column(table, name);
  }
  for (size_t l = 0; l < state->levels; l++) {
    const label_noise_value mean = label_noise_mean(state, l);
    PC_TRY(pc_table_add_row(table, err));
    pc_table_set_number(table, 0, label_noise_level(state, l));
    pc_table_set_number(table, 1, mean.metrics[LABEL_NOISE_ACCURACY]);
    pc_table_set_number(table, 2, mean.confidence);
    for (size_t s = LABEL_NOISE_ECE; s <= LABEL_NOISE_ACE; s++)
      pc_table_set_number(table, 3 + s, mean.metrics[s]);
    for (size_t t = 0; t < state->thresholds; t++)
      pc_table_set_number(table, 6 + t, mean.omitted[t]);
  }
  return PCAL_OK;
}

static void label_noise_summarise(const label_noise_state *state, pc_findings *findings) {
  const label_noise_value first = label_noise_mean(state, 0);
  const label_noise_value last = label_noise_mean(state, state->levels - 1);
  char text[8][PC_NUMBER_MAX];
  const double numbers[6] = {first.metrics[LABEL_NOISE_ACCURACY],
                             last.metrics[LABEL_NOISE_ACCURACY],
                             first.confidence,
                             last.confidence,
                             first.omitted[0],
                             last.omitted[0]};
  for (size_t i = 0; i < 6; i++)
    pc_number_round(numbers[i], 3, text[i]);
  pc_findings_add_sentence(
      findings,
      "A softmax regression with %zu features and %zu classes, trained on %zu rows at %zu "
      "levels of label noise and judged on %zu others. From no noise to a share of %s the "
      "accuracy goes from %s to %s, the mean confidence from %s to %s, and the share of "
      "predictions above %s that ECE omits from %s to %s.",
      state->rows.feature_count, state->rows.classes, state->rows.rows[0], state->levels,
      state->rows.rows[1], pc_show(label_noise_level(state, state->levels - 1), text[6]),
      text[0], text[1], text[2], text[3],
      pc_show(state->options[LABEL_NOISE_THRESHOLD].list[0], text[7]), text[4], text[5]);
}

/* ---- The whole ---- */

static pcal_status label_noise_alloc(label_noise_state *state, pcal_error *err) {
  const pcal_env *env = state->job->memory;
  const pc_labelled_rows rows = pc_training_rows_set(&state->rows, 0);
  const size_t tasks = state->levels * state->repeats;
  const size_t most =
      state->rows.rows[0] > state->rows.rows[1] ? state->rows.rows[0] : state->rows.rows[1];
  int enough = 1;
  state->clean = pc_alloc(env, pc_softmax_regression_size(&rows), sizeof *state->clean);
  state->values = pc_alloc(env, tasks, sizeof *state->values);
  for (size_t i = 0; i < 2; i++) {
    state->draws[i] = pc_alloc(env, most, sizeof *state->draws[i]);
    state->cuts[i] = pc_alloc(env, tasks, sizeof *state->cuts[i]);
    enough = enough && state->draws[i] != NULL && state->cuts[i] != NULL;
  }
  return enough && state->clean != NULL && state->values != NULL
             ? PCAL_OK
             : pc_fail_memory(err, "learning from noisy labels");
}

static pcal_status label_noise_work(label_noise_state *state,
                                    const pc_gaussian_mixture *mixture, pc_findings *findings,
                                    pcal_error *err) {
  const pcal_env *env = state->job->env;
  PC_TRY(pc_training_rows_get(state->job, mixture, &state->rows, err));
  PC_TRY(label_noise_alloc(state, err));
  const pc_labelled_rows rows = pc_training_rows_set(&state->rows, 0);
  const size_t tasks = state->levels * state->repeats;
  for (size_t r = 0; r < state->repeats; r++)
    for (size_t set = 0; set < 2; set++)
      label_noise_cut(state, r, set);
  PC_TRY(pc_softmax_regression_fit(&rows, state->options[LABEL_NOISE_L2].number, env,
                                   state->clean, err));
  PC_TRY(pc_run_with_progress(env, "training", tasks,
                              LABEL_NOISE_FLOP * (double)tasks * (double)rows.rows *
                                  (double)pc_softmax_regression_size(&rows),
                              label_noise_task, state, err));
  label_noise_summarise(state, findings);
  return label_noise_table(state, findings, err);
}

static pcal_status label_noise_run(const pc_study_job *job, pc_findings *findings,
                                   pcal_error *err) {
  const pc_option_value *value = job->options->value;
  const pc_gaussian_mixture mixture = {
      (size_t)value[LABEL_NOISE_ROWS].number, (size_t)value[LABEL_NOISE_FEATURES].number,
      (size_t)value[LABEL_NOISE_CLASSES].number, LABEL_NOISE_SPREAD};
  label_noise_state state = {.job = job,
                             .options = value,
                             .levels = (size_t)value[LABEL_NOISE_LEVELS].number,
                             .thresholds = value[LABEL_NOISE_THRESHOLD].list_count};
  state.repeats = job->config->repeats > 0 ? (size_t)job->config->repeats : LABEL_NOISE_REPEATS;
  if (state.thresholds > LABEL_NOISE_THRESHOLDS)
    return pc_fail(err, PCAL_USAGE, "study label-noise takes up to %d thresholds, not %zu",
                   LABEL_NOISE_THRESHOLDS, state.thresholds);
  return label_noise_work(&state, &mixture, findings, err);
}

const pc_study pc_study_label_noise = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "label-noise",
            .title = "which predictions does ECE ignore when labels become uncertain?",
            .formula =
                "ece, sce, ace, accuracy, mean of max_k q_k, share of q_k > t that are not\n"
                "the largest of their row, against the share of random labels",
            .about =
                "Trains a softmax regression at 40 levels of label noise and judges it on "
                "other rows. Learns from `features` with `target` (classes 0, 1, ...), from "
                "the scores of a model, with a second set to learn from, or from a mixture of "
                "Gaussians that is drawn. As noise grows, more of the relevant predictions are "
                "not the largest of their row, and ECE omits them.",
            .citation =
                "Nixon et al., Measuring Calibration in Deep Learning, 2019, appendix B "
                "and Figure 3",
            .options = label_noise_options,
            .option_count = sizeof label_noise_options / sizeof *label_noise_options,
        },
    .run = label_noise_run,
};
