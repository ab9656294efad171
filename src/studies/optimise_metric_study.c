/* optimise-metric: how does ECE change when temperature scaling minimises another metric?
 *
 * Design:  the temperature that minimises each of the 32 general calibration errors on the second
 *          set is judged on the first by ECE (variant 4) and by a control, RMSCE (variant 21).
 *          Means over the metrics that share a property show whether ECE rewards optimising for
 *          its own properties.  The temperature with the lowest cross entropy, and T = 1, are
 *          reported too.
 * Edge cases:
 *   (1) without a second set temperatures are found and judged on the same rows, as the summary
 *       says;
 *   (2) a minimum at an end of [1/8, 32] is reported as it is;
 *   (3) several models are reported one by one, and by property as their mean.
 * Source:  Nixon et al. 2019, section 5.2 and Table 3, who search by Nelder and Mead; see
 *          studies/temperature_sweep.c.
 * Cost:    about 120 measurements of each metric. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "studies/gce_variants.h"
#include "studies/temperature_sweep.h"

#define OPTIMISE_METRIC_OBJECTIVES (PC_GCE_VARIANTS + 1)        /* and the cross entropy */
#define OPTIMISE_METRIC_PLACES (OPTIMISE_METRIC_OBJECTIVES + 1) /* and none */

enum { OPTIMISE_METRIC_BINS };
enum { OPTIMISE_METRIC_ECE, OPTIMISE_METRIC_CONTROL, OPTIMISE_METRIC_JUDGES };

static const pcal_option optimise_metric_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, 10000, NULL, "number of bins of every metric"},
};

typedef struct optimise_metric_state {
  pc_gce_specs specs;
  const char *objectives[OPTIMISE_METRIC_OBJECTIVES];
  /* Of one model: temperature and value of each minimum, and the judges' values there. */
  double temperatures[OPTIMISE_METRIC_PLACES], lowest[OPTIMISE_METRIC_PLACES];
  double judged[OPTIMISE_METRIC_PLACES * OPTIMISE_METRIC_JUDGES];
  /* Sums over models of the judges' values. */
  double sums[OPTIMISE_METRIC_PLACES][OPTIMISE_METRIC_JUDGES];
} optimise_metric_state;

static pcal_status optimise_metric_find(const pc_study_job *job, const pcal_model *model,
                                        optimise_metric_state *state, pcal_error *err) {
  pc_study_scores logits;
  pcal_source *source = model->val != NULL ? model->val : model->source;
  pcal_status status = pc_study_scores_read(job, source, &logits, err);
  if (status == PCAL_OK)
    status = pc_study_scores_logits(job, &logits, err);
  if (status == PCAL_OK)
    status =
        pc_temperature_sweep_minima(job, &logits, state->objectives, OPTIMISE_METRIC_OBJECTIVES,
                                    state->temperatures, state->lowest, err);
  state->temperatures[OPTIMISE_METRIC_OBJECTIVES] = 1;
  state->lowest[OPTIMISE_METRIC_OBJECTIVES] = (double)NAN;
  for (size_t i = 0; status == PCAL_OK && i < OPTIMISE_METRIC_OBJECTIVES; i++)
    if (isnan(state->temperatures[i]))
      status = pc_fail(err, PCAL_DATA,
                       "study optimise-metric: %s has no finite value at any temperature",
                       state->objectives[i]);
  pc_study_scores_free(&logits);
  return status;
}

static pcal_status optimise_metric_judge(const pc_study_job *job, const pcal_model *model,
                                         optimise_metric_state *state, pcal_error *err) {
  const char *const judges[OPTIMISE_METRIC_JUDGES] = {state->specs.spec[PC_GCE_ECE],
                                                      state->specs.spec[PC_GCE_RMSCE]};
  pc_study_scores logits;
  pcal_status status = pc_study_scores_read(job, model->source, &logits, err);
  if (status == PCAL_OK)
    status = pc_study_scores_logits(job, &logits, err);
  if (status == PCAL_OK)
    status =
        pc_temperature_sweep_values(job, &logits, state->temperatures, OPTIMISE_METRIC_PLACES,
                                    judges, OPTIMISE_METRIC_JUDGES, state->judged, err);
  pc_study_scores_free(&logits);
  return status;
}

/* ---- Tables ---- */

static void optimise_metric_columns(pc_table *table, int several) {
  static const char *const columns[] = {"temperature", "lowest", "ece", "control"};
  if (several)
    pc_table_add_column(table, "model");
  pc_table_add_column(table, "objective");
  pc_gce_columns(table);
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
}

static pcal_status optimise_metric_row(const optimise_metric_state *state, const char *model,
                                       size_t place, pc_table *table, pcal_error *err) {
  const size_t first = pc_table_find_column(table, "temperature");
  const double *judged = state->judged + place * OPTIMISE_METRIC_JUDGES;
  PC_TRY(pc_table_add_row(table, err));
  if (model != NULL)
    pc_table_set_word(table, 0, model);
  pc_table_set_word(table, pc_table_find_column(table, "objective"),
                    place < PC_GCE_VARIANTS              ? "gce"
                    : place < OPTIMISE_METRIC_OBJECTIVES ? "log"
                                                         : "none");
  if (place < PC_GCE_VARIANTS)
    pc_gce_cells(table, place);
  pc_table_set_number(table, first, state->temperatures[place]);
  pc_table_set_number(table, first + 1, state->lowest[place]);
  pc_table_set_number(table, first + 2, judged[OPTIMISE_METRIC_ECE]);
  pc_table_set_number(table, first + 3, judged[OPTIMISE_METRIC_CONTROL]);
  return PCAL_OK;
}

static pcal_status optimise_metric_model(const pc_study_job *job, size_t index,
                                         optimise_metric_state *state, pc_table *table,
                                         pcal_error *err) {
  const pcal_model *model = &job->config->models[index];
  PC_TRY(optimise_metric_find(job, model, state, err));
  PC_TRY(optimise_metric_judge(job, model, state, err));
  for (size_t p = 0; p < OPTIMISE_METRIC_PLACES; p++) {
    PC_TRY(optimise_metric_row(state, job->config->model_count > 1 ? model->name : NULL, p,
                               table, err));
    for (size_t j = 0; j < OPTIMISE_METRIC_JUDGES; j++)
      state->sums[p][j] += state->judged[p * OPTIMISE_METRIC_JUDGES + j];
  }
  return PCAL_OK;
}

/* Mean over models and over the metrics of a property; properties beyond the last stand for the
 * cross entropy and for no temperature. */
static double optimise_metric_mean(const optimise_metric_state *state, size_t property,
                                   size_t judge, double models) {
  double values[PC_GCE_VARIANTS];
  if (property >= PC_GCE_PROPERTIES)
    return state->sums[PC_GCE_VARIANTS + property - PC_GCE_PROPERTIES][judge] / models;
  for (size_t v = 0; v < PC_GCE_VARIANTS; v++)
    values[v] = state->sums[v][judge] / models;
  return pc_gce_mean(property, values);
}

static pcal_status optimise_metric_properties(const optimise_metric_state *state, size_t models,
                                              pc_table *table, pcal_error *err) {
  static const char *const more[] = {"cross entropy", "no temperature"};
  pc_table_add_column(table, "property");
  pc_table_add_column(table, "ece");
  pc_table_add_column(table, "control");
  for (size_t p = 0; p < PC_GCE_PROPERTIES + 2; p++) {
    PC_TRY(pc_table_add_row(table, err));
    pc_table_set_word(table, 0,
                      p < PC_GCE_PROPERTIES ? pc_gce_property(p) : more[p - PC_GCE_PROPERTIES]);
    for (size_t j = 0; j < OPTIMISE_METRIC_JUDGES; j++)
      pc_table_set_number(table, 1 + j, optimise_metric_mean(state, p, j, (double)models));
  }
  return PCAL_OK;
}

static void optimise_metric_summarise(const pc_study_job *job,
                                      const optimise_metric_state *state,
                                      pc_findings *findings) {
  const double models = (double)job->config->model_count;
  char even[PC_NUMBER_MAX], adaptive[PC_NUMBER_MAX];
  pc_number_round(optimise_metric_mean(state, 0, OPTIMISE_METRIC_ECE, models), 3, even);
  pc_number_round(optimise_metric_mean(state, 1, OPTIMISE_METRIC_ECE, models), 3, adaptive);
  pc_findings_add_sentence(
      findings,
      "The temperature that minimises each of 32 calibration errors%s, judged by ECE and by a "
      "control, RMSCE. ECE is %s after optimising metrics with even bins, which it has itself, "
      "and %s after those with adaptive bins.",
      job->config->models[0].val != NULL
          ? " on the second set"
          : " on the same rows (give a second set to judge on rows not seen)",
      even, adaptive);
}

static pcal_status optimise_metric_work(const pc_study_job *job, optimise_metric_state *state,
                                        pc_findings *findings, pcal_error *err) {
  const size_t models = job->config->model_count;
  pc_table *properties =
      pc_findings_add_table(findings, "Means over the optimised metrics with each property");
  pc_table *table = pc_findings_add_table(findings, "By optimised metric");
  PC_TRY(pc_study_require_models(job, err));
  pc_gce_specs_make((size_t)job->options->value[OPTIMISE_METRIC_BINS].number, &state->specs);
  memcpy(state->objectives, state->specs.spec, sizeof state->specs.spec);
  state->objectives[PC_GCE_VARIANTS] = "log";
  optimise_metric_columns(table, models > 1);
  for (size_t m = 0; m < models; m++)
    PC_TRY(optimise_metric_model(job, m, state, table, err));
  PC_TRY(optimise_metric_properties(state, models, properties, err));
  optimise_metric_summarise(job, state, findings);
  return PCAL_OK;
}

static pcal_status optimise_metric_run(const pc_study_job *job, pc_findings *findings,
                                       pcal_error *err) {
  optimise_metric_state *state = pc_alloc(job->memory, 1, sizeof *state);
  return state == NULL ? pc_fail_memory(err, "optimising metrics")
                       : optimise_metric_work(job, state, findings, err);
}

const pc_study pc_study_optimise_metric = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "optimise-metric",
            .title = "how does ECE change when another metric is optimised?",
            .formula = "T minimises gce:variant=0 to 31 on the second set; ECE and RMSCE of\n"
                       "softmax(z / T) on the first",
            .about =
                "Finds the temperature that minimises each of the 32 general calibration "
                "errors, and judges it by ECE and by a control, the root mean square error in "
                "adaptive bins. A metric that only rewards its own properties is not a good "
                "judge. Give a second set to optimise on.",
            .citation = "Nixon et al., Measuring Calibration in Deep Learning, 2019, Table 3",
            .options = optimise_metric_options,
            .option_count = sizeof optimise_metric_options / sizeof *optimise_metric_options,
        },
    .run = optimise_metric_run,
};
