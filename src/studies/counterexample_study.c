/* counterexample: predictions that common errors call perfect although they are not.
 *
 * Design:  (1) Proposition 3.2: K equally likely predictions, p_k with alpha for class k and
 *          beta = (1 - alpha) / (K - 1) for the others; class k occurs with probability alpha,
 *          its predecessor with 1 - alpha.  Top-label and class-wise errors are 0, and
 *          CE_2 = sqrt(1 - 1 / (K - 1)) (1 - alpha).  The distribution is written out as 2 K
 *          weighted rows and measured: nothing is drawn.
 *          (2) On the user's rows: accuracy-transform (Proposition D.2) and label-conditional
 *          (appendix E.1), fitted to these rows, so that their zeros are exact, and to a second
 *          set where there is one; beside them the model as it is and after temperature scaling.
 *          For maps of few values CE_2 and the sharpness of the Brier score are those of the
 *          rows' own distribution (studies/distinct_predictions.h).
 * Edge cases:
 *   (1) K = 2 has no such distribution: the formula gives 0;
 *   (2) where most predictions differ, rows alone do not determine a canonical error: it is left
 *       out.  Their sharpness is at least g(P(Y)) minus the Brier score of any function of them;
 *       that of the model is also bounded by temperature scaling, which is injective;
 *   (3) accuracy-transform, like label-conditional, keeps the predicted class only;
 *   (4) values below 1e-12 are shown as 0.
 * Source:  Gruber & Buettner, NeurIPS 2022, Propositions 3.2, D.2, E.2 and appendices D.3, E.1.
 * Cost:    a measurement for each row of a table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "studies/distinct_predictions.h"
#include "studies/study_measure.h"
#include "studies/study_recalibrate.h"

#define COUNTEREXAMPLE_ZERO 1e-12
#define COUNTEREXAMPLE_FEW 0.5 /* most distinct predictions per row for a canonical error */

enum { COUNTEREXAMPLE_ALPHA, COUNTEREXAMPLE_CLASSES };

static const char *const counterexample_specs[] = {"accuracy", "brier", "ece",  "tce",
                                                   "ks",       "mmce",  "cwce", "kce"};
#define COUNTEREXAMPLE_SPECS (sizeof counterexample_specs / sizeof *counterexample_specs)

/* A value; 0 where only rounding differs from 0. */
static double counterexample_value(const pcal_results *results, size_t metric) {
  const double value = pc_study_value(results, counterexample_specs[metric]);
  return fabs(value) < COUNTEREXAMPLE_ZERO ? 0.0 : value;
}

/* ---- Proposition 3.2 ---- */

/* Rows of the distribution: in row 2 k the label is class k, in row 2 k + 1 its predecessor. */
typedef struct counterexample_distribution {
  size_t classes;
  double *probs, *weights;
  int32_t *labels;
} counterexample_distribution;

static void counterexample_fill(const counterexample_distribution *distribution, double alpha) {
  const size_t classes = distribution->classes;
  const double beta = (1 - alpha) / (double)(classes - 1);
  for (size_t row = 0; row < 2 * classes; row++) {
    const size_t k = row / 2;
    for (size_t c = 0; c < classes; c++)
      distribution->probs[row * classes + c] = c == k ? alpha : beta;
    distribution->labels[row] = (int32_t)(row % 2 == 0 ? k : (k + classes - 1) % classes);
    distribution->weights[row] = row % 2 == 0 ? alpha : 1 - alpha;
  }
}

static pcal_status
counterexample_measure_distribution(const counterexample_distribution *distribution,
                                    const pcal_env *env, pcal_results **out, pcal_error *err) {
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_source *source = NULL;
  batch.scores = distribution->probs;
  batch.type = PCAL_F64;
  batch.kind = PCAL_PROBABILITY;
  batch.rows = 2 * distribution->classes;
  batch.columns = distribution->classes;
  batch.row_stride = (ptrdiff_t)(distribution->classes * sizeof(double));
  batch.column_stride = (ptrdiff_t)sizeof(double);
  batch.labels = distribution->labels;
  batch.weights = distribution->weights;
  batch.weights_are = PC_WEIGHTS_EXPECTED;
  PC_TRY(pc_source_borrow(&batch, NULL, env, &source, err));
  const pcal_status status =
      pc_study_measure(source, counterexample_specs, COUNTEREXAMPLE_SPECS, 0, 0, env, out, err);
  pc_source_free(source);
  return status;
}

static pcal_status
counterexample_distribution_row(const counterexample_distribution *distribution, double alpha,
                                const pcal_env *env, pc_table *table, pcal_error *err) {
  const pc_row_outcomes outcomes = {.rows = 2 * distribution->classes,
                                    .width = distribution->classes,
                                    .labels = distribution->labels,
                                    .weights = distribution->weights};
  const double classes = (double)distribution->classes;
  pcal_results *results = NULL;
  pc_distinct_predictions cells;
  counterexample_fill(distribution, alpha);
  PC_TRY(pc_table_add_row(table, err));
  PC_TRY(counterexample_measure_distribution(distribution, env, &results, err));
  pc_table_set_number(table, 0, classes);
  pc_table_set_number(table, 1, alpha);
  for (size_t m = 0; m < COUNTEREXAMPLE_SPECS; m++)
    pc_table_set_number(table, 2 + m, counterexample_value(results, m));
  pc_results_free(results);
  const pcal_status status = pc_distinct_predictions_new(
      distribution->probs, distribution->classes, &outcomes, env, &cells, err);
  if (status == PCAL_OK) {
    pc_table_set_number(table, 2 + COUNTEREXAMPLE_SPECS,
                        pc_distinct_predictions_error(&cells, distribution->probs, 2));
    pc_table_set_number(table, 3 + COUNTEREXAMPLE_SPECS,
                        sqrt(1 - 1 / (classes - 1)) * (1 - alpha));
  }
  pc_distinct_predictions_free(&cells);
  return status;
}

static pcal_status counterexample_one_law(size_t classes, double alpha, const pcal_env *env,
                                          pc_table *table, pcal_error *err) {
  const size_t rows = 2 * classes;
  counterexample_distribution distribution = {
      classes, pc_alloc_raw(env, rows * classes, sizeof(double)),
      pc_alloc_raw(env, rows, sizeof(double)), pc_alloc_raw(env, rows, sizeof(int32_t))};
  const pcal_status status =
      distribution.probs == NULL || distribution.weights == NULL || distribution.labels == NULL
          ? pc_fail_memory(err, "writing a distribution out")
          : counterexample_distribution_row(&distribution, alpha, env, table, err);
  pc_free(env, distribution.probs);
  pc_free(env, distribution.weights);
  pc_free(env, distribution.labels);
  return status;
}

static pcal_status counterexample_laws(const pc_study_job *job, pc_findings *findings,
                                       pcal_error *err) {
  const pc_option_value *classes = &job->options->value[COUNTEREXAMPLE_CLASSES];
  const double alpha = job->options->value[COUNTEREXAMPLE_ALPHA].number;
  pc_table *table = pc_findings_add_table(
      findings, "A distribution with zero top-label and class-wise error (Proposition 3.2)");
  pc_table_add_column(table, "classes");
  pc_table_add_column(table, "alpha");
  for (size_t m = 0; m < COUNTEREXAMPLE_SPECS; m++)
    pc_table_add_column(table, counterexample_specs[m]);
  pc_table_add_column(table, "canonical");
  pc_table_add_column(table, "formula");
  for (size_t i = 0; i < classes->list_count; i++) {
    if (classes->list[i] < 3 || classes->list[i] != floor(classes->list[i]))
      return pc_fail(
          err, PCAL_USAGE,
          "counterexample: classes must be whole numbers from 3 on, such as 3/10/100");
    PC_TRY(pc_check_interrupt(job->env, err));
    PC_TRY(counterexample_one_law((size_t)classes->list[i], alpha, job->env, table, err));
  }
  return PCAL_OK;
}

/* ---- Transforms of the user's predictions ---- */

enum {
  COUNTEREXAMPLE_METHOD,
  COUNTEREXAMPLE_FITTED,
  COUNTEREXAMPLE_VALUES,
  COUNTEREXAMPLE_METRICS, /* COUNTEREXAMPLE_SPECS of them */
  COUNTEREXAMPLE_CANONICAL = COUNTEREXAMPLE_METRICS + COUNTEREXAMPLE_SPECS,
  COUNTEREXAMPLE_SHARPNESS,
  COUNTEREXAMPLE_EXACT
};

/* A method to try, and a lower bound of the sharpness of the model. */
typedef struct counterexample_try {
  const char *method, *fitted;
  pcal_source *val;
  double *at_least; /* of the model; NULL for maps that are not injective */
  int held_out;     /* a second row of the same method */
} counterexample_try;

static pcal_status counterexample_row(const pc_study_probs *data, const counterexample_try *try,
                                      const pcal_results *results, const pcal_env *env,
                                      pc_table *table, pcal_error *err) {
  const pc_row_outcomes outcomes = {
      .rows = data->rows, .width = data->classes, .labels = data->labels};
  pc_distinct_predictions cells;
  pcal_status status =
      pc_distinct_predictions_new(data->probs, data->classes, &outcomes, env, &cells, err);
  if (status == PCAL_OK)
    status = pc_table_add_row(table, err);
  if (status == PCAL_OK) {
    const double base = pc_distinct_predictions_base_entropy(&cells, PC_ENTROPY_BRIER);
    const int few = (double)cells.count <= COUNTEREXAMPLE_FEW * (double)cells.rows;
    char name[PC_TABLE_WORD_MAX];
    snprintf(name, sizeof name, "%s%s", try->method, try->held_out ? ", held out" : "");
    pc_table_set_word(table, COUNTEREXAMPLE_METHOD, name);
    pc_table_set_word(table, COUNTEREXAMPLE_FITTED, try->fitted);
    pc_table_set_number(table, COUNTEREXAMPLE_VALUES, (double)cells.count);
    for (size_t m = 0; m < COUNTEREXAMPLE_SPECS; m++)
      pc_table_set_number(table, COUNTEREXAMPLE_METRICS + m, counterexample_value(results, m));
    if (few)
      pc_table_set_number(table, COUNTEREXAMPLE_CANONICAL,
                          pc_distinct_predictions_error(&cells, data->probs, 2));
    if (few)
      pc_table_set_number(table, COUNTEREXAMPLE_SHARPNESS,
                          base - pc_distinct_predictions_entropy(&cells, PC_ENTROPY_BRIER));
    else if (try->at_least != NULL)
      *try->at_least = fmax(*try->at_least, base - pc_study_value(results, "brier"));
    pc_table_set_word(table, COUNTEREXAMPLE_EXACT, few ? "exactly" : "at least");
  }
  pc_distinct_predictions_free(&cells);
  return status;
}

static pcal_status counterexample_try_one(const pc_study_job *job, pcal_source *source,
                                          const counterexample_try *try, pc_table *table,
                                          pcal_error *err) {
  pc_study_probs data;
  pcal_source *rows = NULL;
  pcal_results *results = NULL;
  pcal_status status = pc_study_recalibrate(job, try->val, source, try->method, &data, err);
  if (status == PCAL_OK)
    status = pc_study_probs_source(&data, &rows, err);
  if (status == PCAL_OK)
    status = pc_study_measure(rows, counterexample_specs, COUNTEREXAMPLE_SPECS, 0, 0, job->env,
                              &results, err);
  if (status == PCAL_OK)
    status = counterexample_row(&data, try, results, job->env, table, err);
  pc_results_free(results);
  pc_source_free(rows);
  pc_study_probs_free(&data);
  return status;
}

/* Fills the sharpness of the model, which an injective map keeps. */
static void counterexample_complete(pc_table *table, double at_least) {
  for (size_t r = 0; r < table->row_count; r++) {
    pc_table_cell *cell = &table->cells[r * table->column_count + COUNTEREXAMPLE_SHARPNESS];
    if (isnan(cell->number))
      cell->number = at_least;
  }
}

static void counterexample_columns(pc_table *table) {
  pc_table_add_column(table, "method");
  pc_table_add_column(table, "fitted_to");
  pc_table_add_column(table, "values");
  for (size_t m = 0; m < COUNTEREXAMPLE_SPECS; m++)
    pc_table_add_column(table, counterexample_specs[m]);
  pc_table_add_column(table, "canonical");
  pc_table_add_column(table, "sharpness");
  pc_table_add_column(table, "known");
}

static pcal_status counterexample_transforms(const pc_study_job *job, pc_findings *findings,
                                             pcal_error *err) {
  const pcal_model *model = NULL;
  double at_least = 0;
  PC_TRY(pc_study_single_model(job, &model, err));
  pcal_source *other = model->val;
  const counterexample_try tries[] = {
      {"identity", "-", model->source, &at_least, 0},
      {"temperature", other == NULL ? "these rows" : "other rows",
       other == NULL ? model->source : other, &at_least, 0},
      {"accuracy-transform", "these rows", model->source, NULL, 0},
      {"label-conditional", "these rows", model->source, NULL, 0},
      {"accuracy-transform", "other rows", other, NULL, 1},
      {"label-conditional", "other rows", other, NULL, 1},
  };
  const size_t count = sizeof tries / sizeof *tries;
  pc_table *table = pc_findings_add_table(
      findings, "Your predictions before and after transforms (Propositions D.2 and E.2)");
  counterexample_columns(table);
  for (size_t i = 0; i < count && tries[i].val != NULL; i++) {
    pc_progress(job->env, "trying transforms", i, count);
    PC_TRY(pc_check_interrupt(job->env, err));
    PC_TRY(counterexample_try_one(job, model->source, &tries[i], table, err));
  }
  pc_progress(job->env, "trying transforms", count, count);
  counterexample_complete(table, at_least);
  return PCAL_OK;
}

static double counterexample_cell(const pc_table *table, size_t row, size_t column) {
  return pc_table_at(table, row, column)->number;
}

static void counterexample_summarise(const pc_study_job *job, pc_findings *findings) {
  const pc_table *own = &findings->tables[1];
  char alpha[PC_NUMBER_MAX], zero[PC_NUMBER_MAX], canonical[PC_NUMBER_MAX], kept[PC_NUMBER_MAX],
      had[PC_NUMBER_MAX];
  pc_findings_add_sentence(
      findings,
      "With alpha = %s the top-label and class-wise errors vanish for any number of "
      "classes, and the canonical error is sqrt(1 - 1/(K - 1)) (1 - alpha).",
      pc_show(job->options->value[COUNTEREXAMPLE_ALPHA].number, alpha));
  if (findings->table_count < 2)
    return;
  pc_number_fixed(counterexample_cell(own, 2, COUNTEREXAMPLE_METRICS + 2), 4, zero);
  pc_number_fixed(counterexample_cell(own, 2, COUNTEREXAMPLE_CANONICAL), 4, canonical);
  pc_number_fixed(counterexample_cell(own, 2, COUNTEREXAMPLE_SHARPNESS), 4, kept);
  pc_number_fixed(counterexample_cell(own, 0, COUNTEREXAMPLE_SHARPNESS), 4, had);
  pc_findings_add_sentence(
      findings,
      "On your rows accuracy-transform has an ECE of %s and a canonical error of "
      "%s; the sharpness falls from at least %s to %s.",
      zero, canonical, had, kept);
}

static pcal_status counterexample_run(const pc_study_job *job, pc_findings *findings,
                                      pcal_error *err) {
  PC_TRY(counterexample_laws(job, findings, err));
  if (job->config->model_count > 0)
    PC_TRY(counterexample_transforms(job, findings, err));
  counterexample_summarise(job, findings);
  return PCAL_OK;
}

static const pcal_option counterexample_options[] = {
    {"alpha", PCAL_OPTION_REAL, "0.51", 0.500001, 0.999999, NULL,
     "probability of the predicted class in the distribution of Proposition 3.2"},
    {"classes", PCAL_OPTION_REALS, "3/10/100/1000", 3, 3000, NULL,
     "numbers of classes of that distribution"},
};

const pc_study pc_study_counterexample = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "counterexample",
            .title = "predictions that common errors call perfect although they are not",
            .formula = "CE_2 = sqrt(1 - 1/(K - 1)) (1 - alpha) while ECE = TCE = KS = MMCE = "
                       "CWCE = 0",
            .about =
                "Writes out a distribution of K classes whose top-label and class-wise errors "
                "are all zero while the canonical error is large, and measures it exactly. "
                "With predictions of a model it also shows two maps that bring the ECE to zero "
                "and keep the accuracy: one is not calibrated, and both keep nothing but the "
                "predicted class, which the sharpness shows. A second set shows the maps on "
                "rows that they have not seen.",
            .citation = "Gruber & Buettner, NeurIPS 2022, Propositions 3.2 and D.2, appendix E",
            .options = counterexample_options,
            .option_count = sizeof counterexample_options / sizeof *counterexample_options,
        },
    .run = counterexample_run,
};
