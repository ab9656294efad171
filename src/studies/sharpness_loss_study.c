/* sharpness-loss: how much information a map of predictions discards.
 *
 * Design:  the sharpness of a model is SHARP(f) = g(P(Y)) - E g(P(Y | f)), g the entropy of a
 *          proper score, and for any map m SHARP(f) >= SHARP(m o f) (Proposition E.2), with
 *          equality for injective maps.  It is reported for the model, for ever coarser views
 *          of it, and for fitted calibrators; rows with equal predictions share a cell
 *          (studies/distinct_predictions.h).  Each map is compared with one that it is a
 *          function of.
 *          If the user gives no predictions, they are simulated (appendix G.1), and P(Y | f) is
 *          known, so that the sharpness is exact for these rows.  With labels there are three
 *          numbers: that of the rows' own distribution, for which the proposition holds on any
 *          rows; the same without the bias of chance (Brier score); and, for maps that give
 *          probabilities, g(P(Y)) minus their score, a lower bound of the sharpness of the
 *          model, since the score of any function of it is at least E g(P(Y | f)).
 * Edge cases:
 *   (1) a row alone in its cell counts as perfectly sharp in the rows' own distribution, and as
 *       uninformative in the unbiased one, which is left out where most rows are alone;
 *   (2) an infinite log score gives no lower bound;
 *   (3) a calibrator of the study that does not suit the data is left out;
 *   (4) one decimal is a function of two, rounded down both times;
 *   (5) the lower bound of a calibrator needs rows that it has not seen: it is reported with a
 *       second set.
 * Source:  Gruber & Buettner, NeurIPS 2022, Proposition E.2, Lemma 4.1.
 * Cost:    a sort of the rows for each map, and the fits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "base/number.h"
#include "kernels/softmax.h"
#include "simulate/simulate.h"
#include "studies/distinct_predictions.h"
#include "studies/study_recalibrate.h"

#define SHARPNESS_LOSS_NEVER 1e-150 /* a true probability that counts as 0 in the log score */
#define SHARPNESS_LOSS_MANY_ALONE 0.5

enum { SHARPNESS_LOSS_SCORE, SHARPNESS_LOSS_BINS };

/* Views of a model; each but the first is a function of another one. */
typedef enum sharpness_loss_view {
  SHARPNESS_LOSS_MODEL,
  SHARPNESS_LOSS_HUNDREDTHS,
  SHARPNESS_LOSS_TENTHS,
  SHARPNESS_LOSS_CLASS_AND_SCORE,
  SHARPNESS_LOSS_CLASS,
  SHARPNESS_LOSS_TOP_SCORE,
  SHARPNESS_LOSS_NOTHING,
  SHARPNESS_LOSS_VIEWS
} sharpness_loss_view;

static const char *const sharpness_loss_names[SHARPNESS_LOSS_VIEWS] = {
    "the model",     "two decimals",      "one decimal", "top class and its score in bins",
    "the top class", "its score in bins", "nothing"};
static const sharpness_loss_view sharpness_loss_finer[SHARPNESS_LOSS_VIEWS] = {
    SHARPNESS_LOSS_MODEL, SHARPNESS_LOSS_MODEL,           SHARPNESS_LOSS_HUNDREDTHS,
    SHARPNESS_LOSS_MODEL, SHARPNESS_LOSS_CLASS_AND_SCORE, SHARPNESS_LOSS_CLASS_AND_SCORE,
    SHARPNESS_LOSS_CLASS};

static const char *const sharpness_loss_methods[] = {"temperature", "isotonic", "histogram",
                                                     "label-conditional", "accuracy-transform"};

enum {
  SHARPNESS_LOSS_MAP,
  SHARPNESS_LOSS_OF,
  SHARPNESS_LOSS_VALUES,
  SHARPNESS_LOSS_ALONE,
  SHARPNESS_LOSS_SHARPNESS,
  SHARPNESS_LOSS_UNBIASED,
  SHARPNESS_LOSS_MEAN_SCORE,
  SHARPNESS_LOSS_AT_LEAST,
  SHARPNESS_LOSS_HOLDS
};

typedef struct sharpness_loss_work {
  const pc_study_job *job;
  pc_entropy_score score;
  size_t bins;
  pc_study_probs data;
  double *truth; /* of simulated rows, or NULL */
  int held_out;  /* calibrators are fitted to other rows */
  double *keys;
  pc_distinct_predictions model; /* cells of the model itself */
  pc_table *table;
  double sharpness[SHARPNESS_LOSS_VIEWS]; /* of the rows' own distribution */
} sharpness_loss_work;

/* ---- Cells of a map ---- */

static pc_row_outcomes sharpness_loss_outcomes(const sharpness_loss_work *work) {
  return (pc_row_outcomes){.rows = work->data.rows,
                           .width = work->data.classes,
                           .labels = work->data.labels,
                           .expected = work->truth};
}

/* Expected score of one row, by its true probabilities or its label. */
static double sharpness_loss_row_score(const sharpness_loss_work *work, const double *probs,
                                       size_t row) {
  const size_t classes = work->data.classes;
  double sum = 0;
  for (size_t k = 0; k < classes; k++) {
    const double q = work->truth != NULL ? work->truth[row * classes + k]
                                         : (double)(work->data.labels[row] == (int32_t)k);
    const double miss = probs[k] * probs[k] - 2 * q * probs[k] + q;
    sum += work->score == PC_ENTROPY_BRIER ? miss
           : q > SHARPNESS_LOSS_NEVER      ? 0.0 - q * pc_log(probs[k])
                                           : 0.0;
  }
  return sum;
}

static double sharpness_loss_score(const sharpness_loss_work *work, const double *probs) {
  double sum = 0;
  for (size_t i = 0; i < work->data.rows; i++)
    sum += sharpness_loss_row_score(work, probs + i * work->data.classes, i);
  return sum / (double)work->data.rows;
}

static double sharpness_loss_alone(const pc_distinct_predictions *cells) {
  double alone = 0;
  for (size_t c = 0; c < cells->count; c++)
    alone += cells->sizes[c] == 1;
  return alone / (double)cells->rows;
}

/* True if the map is a function of the model: rows of one prediction stay in one cell. */
static int sharpness_loss_of_model(const sharpness_loss_work *work,
                                   const pc_distinct_predictions *cells, size_t *first) {
  const size_t rows = work->model.rows;
  for (size_t i = rows; i-- > 0;)
    first[work->model.of_row[i]] = i;
  for (size_t i = 0; i < rows; i++)
    if (cells->of_row[i] != cells->of_row[first[work->model.of_row[i]]])
      return 0;
  return 1;
}

/* Adds the row of a map; probs: its predictions, or NULL. */
static pcal_status sharpness_loss_add_row(sharpness_loss_work *work, const char *name,
                                          sharpness_loss_view finer,
                                          const pc_distinct_predictions *cells,
                                          const double *probs, pcal_error *err) {
  pc_table *table = work->table;
  size_t *firsts = pc_alloc(work->job->env, work->model.count, sizeof *firsts);
  if (firsts == NULL)
    return pc_fail_memory(err, "looking at predictions");
  const int function = sharpness_loss_of_model(work, cells, firsts);
  pc_free(work->job->env, firsts);
  const double base = pc_distinct_predictions_base_entropy(cells, work->score);
  const double sharpness = base - pc_distinct_predictions_entropy(cells, work->score);
  PC_TRY(pc_table_add_row(table, err));
  const int first = table->row_count == 1;
  const double finest = first ? sharpness : work->sharpness[finer];
  pc_table_set_word(table, SHARPNESS_LOSS_MAP, name);
  pc_table_set_word(table, SHARPNESS_LOSS_OF,
                    first      ? "-"
                    : function ? sharpness_loss_names[finer]
                               : "the logits");
  pc_table_set_number(table, SHARPNESS_LOSS_VALUES, (double)cells->count);
  pc_table_set_number(table, SHARPNESS_LOSS_ALONE, sharpness_loss_alone(cells));
  pc_table_set_number(table, SHARPNESS_LOSS_SHARPNESS, sharpness);
  if (work->truth == NULL && work->score == PC_ENTROPY_BRIER &&
      sharpness_loss_alone(cells) <= SHARPNESS_LOSS_MANY_ALONE)
    pc_table_set_number(table, SHARPNESS_LOSS_UNBIASED,
                        pc_distinct_predictions_unbiased_base_entropy(cells) -
                            pc_distinct_predictions_unbiased_entropy(cells));
  if (probs != NULL) {
    const double score = sharpness_loss_score(work, probs);
    pc_table_set_number(table, SHARPNESS_LOSS_MEAN_SCORE, score);
    if (isfinite(score) && work->truth == NULL && (first || work->held_out))
      pc_table_set_number(table, SHARPNESS_LOSS_AT_LEAST, base - score);
  }
  pc_table_set_word(table, SHARPNESS_LOSS_HOLDS,
                    !function                     ? "-"
                    : sharpness <= finest + 1e-12 ? "yes"
                                                  : "no");
  return PCAL_OK;
}

/* ---- Views ---- */

/* The key of one row in a view; returns its width. */
static size_t sharpness_loss_key(const sharpness_loss_work *work, sharpness_loss_view view,
                                 const double *probs, double *key) {
  const size_t classes = work->data.classes;
  size_t top = 0;
  for (size_t k = 0; k < classes; k++) {
    const double hundredths = floor(100 * probs[k]);
    top = probs[k] > probs[top] ? k : top;
    if (view <= SHARPNESS_LOSS_TENTHS)
      key[k] = view == SHARPNESS_LOSS_MODEL        ? probs[k]
               : view == SHARPNESS_LOSS_HUNDREDTHS ? hundredths
                                                   : floor(hundredths / 10);
  }
  if (view <= SHARPNESS_LOSS_TENTHS)
    return classes;
  const double bin = ceil(probs[top] * (double)work->bins);
  key[0] = view == SHARPNESS_LOSS_NOTHING || view == SHARPNESS_LOSS_TOP_SCORE ? 0 : (double)top;
  key[1] = view == SHARPNESS_LOSS_NOTHING || view == SHARPNESS_LOSS_CLASS ? 0 : bin;
  return 2;
}

static pcal_status sharpness_loss_measure_view(sharpness_loss_work *work,
                                               sharpness_loss_view view, pcal_error *err) {
  const pc_study_probs *data = &work->data;
  const pc_row_outcomes outcomes = sharpness_loss_outcomes(work);
  const size_t width = view <= SHARPNESS_LOSS_TENTHS ? data->classes : 2;
  pc_distinct_predictions cells;
  for (size_t i = 0; i < data->rows; i++)
    sharpness_loss_key(work, view, data->probs + i * data->classes, work->keys + i * width);
  pcal_status status =
      pc_distinct_predictions_new(work->keys, width, &outcomes, work->job->env, &cells, err);
  if (status == PCAL_OK && view == SHARPNESS_LOSS_MODEL)
    status = pc_distinct_predictions_new(work->keys, width, &outcomes, work->job->memory,
                                         &work->model, err);
  if (status == PCAL_OK) {
    work->sharpness[view] = pc_distinct_predictions_base_entropy(&cells, work->score) -
                            pc_distinct_predictions_entropy(&cells, work->score);
    status =
        sharpness_loss_add_row(work, sharpness_loss_names[view], sharpness_loss_finer[view],
                               &cells, view == SHARPNESS_LOSS_MODEL ? data->probs : NULL, err);
  }
  pc_distinct_predictions_free(&cells);
  return status;
}

/* ---- Calibrators ---- */

static pcal_status sharpness_loss_fit(sharpness_loss_work *work, pcal_source *val,
                                      pcal_source *source, const char *method,
                                      pcal_error *err) {
  const pc_row_outcomes outcomes = sharpness_loss_outcomes(work);
  pc_study_probs mapped;
  pc_distinct_predictions cells;
  memset(&cells, 0, sizeof cells);
  pcal_status status = pc_study_recalibrate(work->job, val, source, method, &mapped, err);
  if (status == PCAL_OK)
    status = pc_distinct_predictions_new(mapped.probs, mapped.classes, &outcomes,
                                         work->job->env, &cells, err);
  if (status == PCAL_OK)
    status =
        sharpness_loss_add_row(work, method, SHARPNESS_LOSS_MODEL, &cells, mapped.probs, err);
  pc_distinct_predictions_free(&cells);
  pc_study_probs_free(&mapped);
  return status;
}

static pcal_status sharpness_loss_fits(sharpness_loss_work *work, pcal_source *val,
                                       pcal_source *source, pcal_error *err) {
  const pcal_study_config *config = work->job->config;
  const int own = config->method_count == 0;
  const size_t count = own ? sizeof sharpness_loss_methods / sizeof *sharpness_loss_methods
                           : config->method_count;
  const char *const *methods = own ? sharpness_loss_methods : config->methods;
  for (size_t m = 0; m < count; m++) {
    pcal_error why = PCAL_ERROR_INIT;
    pc_progress(work->job->env, "fitting", m, count);
    PC_TRY(pc_check_interrupt(work->job->env, err));
    const pcal_status status = sharpness_loss_fit(work, val, source, methods[m], &why);
    if (status == PCAL_OK || (own && (status == PCAL_DATA || status == PCAL_USAGE)))
      continue;
    if (err != NULL)
      *err = why;
    return status;
  }
  pc_progress(work->job->env, "fitting", count, count);
  return PCAL_OK;
}

/* ---- Rows ---- */

static pcal_status sharpness_loss_draw(sharpness_loss_work *work, float *logits,
                                       const pcal_simulation *simulation, pcal_error *err) {
  pc_study_probs *data = &work->data;
  PC_TRY(pc_simulate(simulation, data->env, logits, data->labels, work->truth, err));
  for (size_t i = 0; i < data->rows; i++) {
    const float *row = logits + i * data->classes;
    double *probs = data->probs + i * data->classes;
    for (size_t k = 0; k < data->classes; k++)
      probs[k] = (double)row[k];
    pc_softmax_row(probs, data->classes, probs);
  }
  return PCAL_OK;
}

static pcal_status sharpness_loss_simulate(sharpness_loss_work *work, pcal_error *err) {
  static const pcal_simulation own = {.rows = 10000, .classes = 10, .factor = 1.5};
  const pcal_simulation simulation = pc_study_simulation(work->job->config, &own);
  pc_study_probs *data = &work->data;
  const size_t cells = (size_t)simulation.rows * simulation.classes;
  if (simulation.classes < 2)
    return pc_fail(err, PCAL_USAGE, "classes is %zu; a simulation needs at least 2",
                   simulation.classes);
  data->env = work->job->memory;
  data->rows = (size_t)simulation.rows;
  data->classes = simulation.classes;
  data->probs = pc_alloc_raw(data->env, cells, sizeof *data->probs);
  data->labels = pc_alloc_raw(data->env, data->rows, sizeof *data->labels);
  work->truth = pc_alloc_raw(data->env, cells, sizeof *work->truth);
  float *logits = pc_alloc_raw(data->env, cells, sizeof *logits);
  const int enough =
      data->probs != NULL && data->labels != NULL && work->truth != NULL && logits != NULL;
  const pcal_status status = enough ? sharpness_loss_draw(work, logits, &simulation, err)
                                    : pc_fail_memory(err, "drawing rows");
  pc_free(data->env, logits);
  return status;
}

/* ---- The whole ---- */

static void sharpness_loss_columns(pc_table *table) {
  static const char *const columns[] = {"map",   "function_of", "values",
                                        "alone", "sharpness",   "unbiased",
                                        "score", "at_least",    "holds"};
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
}

static void sharpness_loss_summarise(const sharpness_loss_work *work, pc_findings *findings) {
  const pc_table *table = work->table;
  size_t held = 0, asked = 0;
  double least = 0;
  char had[PC_NUMBER_MAX], kept[PC_NUMBER_MAX];
  for (size_t r = 0; r < table->row_count; r++) {
    const char *holds = pc_table_at(table, r, SHARPNESS_LOSS_HOLDS)->word;
    held += strcmp(holds, "yes") == 0;
    asked += strcmp(holds, "-") != 0;
    least = fmax(least, pc_table_at(table, r, SHARPNESS_LOSS_AT_LEAST)->number);
  }
  pc_number_fixed(work->truth != NULL ? work->sharpness[SHARPNESS_LOSS_MODEL] : least, 4, had);
  pc_number_fixed(work->sharpness[SHARPNESS_LOSS_CLASS], 4, kept);
  pc_findings_add_sentence(
      findings,
      "%zu rows, %zu classes%s. Sharpness did not increase in %zu of %zu maps "
      "(Proposition E.2).",
      work->data.rows, work->data.classes,
      work->truth != NULL ? ", simulated: true probabilities are known" : "", held, asked);
  pc_findings_add_sentence(
      findings,
      "The sharpness of the model is %s%s; that of the predicted class alone, which "
      "label-conditional and accuracy-transform keep, is %s.",
      work->truth != NULL ? "" : "at least ", had, kept);
}

static pcal_status sharpness_loss_views_all(sharpness_loss_work *work, pcal_error *err) {
  const size_t width = work->data.classes > 2 ? work->data.classes : 2;
  work->keys = pc_alloc_raw(work->job->memory, work->data.rows * width, sizeof *work->keys);
  if (work->keys == NULL)
    return pc_fail_memory(err, "looking at predictions");
  for (size_t v = 0; v < SHARPNESS_LOSS_VIEWS; v++)
    PC_TRY(sharpness_loss_measure_view(work, (sharpness_loss_view)v, err));
  return PCAL_OK;
}

static pcal_status sharpness_loss_work_on(sharpness_loss_work *work, const pcal_model *model,
                                          pc_findings *findings, pcal_error *err) {
  pcal_source *drawn = NULL;
  work->table = pc_findings_add_table(findings, "");
  sharpness_loss_columns(work->table);
  if (work->data.classes < 2)
    return pc_fail(err, PCAL_USAGE,
                   "study sharpness-loss needs the probabilities of all classes, not "
                   "confidences alone");
  PC_TRY(sharpness_loss_views_all(work, err));
  if (model == NULL)
    PC_TRY(pc_study_probs_source(&work->data, &drawn, err));
  pcal_source *source = model == NULL ? drawn : model->source;
  const pcal_status status = sharpness_loss_fits(
      work, model == NULL || model->val == NULL ? source : model->val, source, err);
  pc_source_free(drawn);
  if (status == PCAL_OK)
    sharpness_loss_summarise(work, findings);
  return status;
}

static pcal_status sharpness_loss_run(const pc_study_job *job, pc_findings *findings,
                                      pcal_error *err) {
  const pcal_model *model = NULL;
  sharpness_loss_work work = {.job = job};
  work.score =
      job->options->value[SHARPNESS_LOSS_SCORE].choice == 0 ? PC_ENTROPY_BRIER : PC_ENTROPY_LOG;
  work.bins = (size_t)job->options->value[SHARPNESS_LOSS_BINS].number;
  if (job->config->model_count > 0)
    PC_TRY(pc_study_single_model(job, &model, err));
  work.held_out = model != NULL && model->val != NULL;
  pcal_status status = model == NULL ? sharpness_loss_simulate(&work, err)
                                     : pc_study_probs_read(job, model->source, &work.data, err);
  if (status == PCAL_OK)
    status = sharpness_loss_work_on(&work, model, findings, err);
  return status;
}

static const pcal_option sharpness_loss_options[] = {
    {"score", PCAL_OPTION_CHOICE, "brier", 0, 0, "brier|log", "whose sharpness"},
    {"bins", PCAL_OPTION_INT, "15", 1, 1000, NULL, "number of bins of the top score"},
};

const pc_study pc_study_sharpness_loss = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "sharpness-loss",
            .title = "how much of a model's sharpness survives a map of its predictions?",
            .formula = "SHARP(f) = g(P(Y)) - E g(P(Y | f)) >= SHARP(m o f)",
            .about = "Reports the sharpness of a model, of coarser and coarser views of its "
                     "predictions and of fitted calibrators (`method`), and checks that no map "
                     "increases it. On simulated rows, which are drawn when no predictions are "
                     "given, the sharpness is exact; with labels it is that of the rows' own "
                     "distribution, which overrates predictions that few rows share, with an "
                     "unbiased number and a lower bound beside it.",
            .citation = "Gruber & Buettner, NeurIPS 2022, Proposition E.2 and Lemma 4.1",
            .options = sharpness_loss_options,
            .option_count = sizeof sharpness_loss_options / sizeof *sharpness_loss_options,
        },
    .run = sharpness_loss_run,
};
