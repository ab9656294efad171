/* loss-surface: does the temperature with the lowest cross entropy also have the lowest error?
 *
 * Design:  the cross entropy and each of the 32 general calibration errors (or the metrics given)
 *          of softmax(z / T) at T = 2^-2 to 2^3 in steps of an eighth of an octave.
 * Edge cases:
 *   (1) a valley is a local minimum: a value lower than both neighbours, or an end value lower
 *       than its one neighbour; a run of equal values counts as one value;
 *   (2) infinite values are reported as such and are never lowest;
 *   (3) minima are searched from 1/8 to 32.
 * Source:  Nixon et al. 2019, Figure 1 (right); minima: studies/temperature_sweep.c.
 * Cost:    about 160 measurements of each metric. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "metrics/metric.h"
#include "studies/gce_variants.h"
#include "studies/temperature_sweep.h"

#define LOSS_SURFACE_STUDY_MAX 60

enum { LOSS_SURFACE_STUDY_BINS };

static const pcal_option loss_surface_study_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, 10000, NULL,
     "number of bins of the study's own metrics"},
};

typedef struct loss_surface_study_state {
  pc_gce_specs own;
  const char *specs[LOSS_SURFACE_STUDY_MAX]; /* the cross entropy first */
  char names[LOSS_SURFACE_STUDY_MAX][PC_TABLE_NAME_MAX];
  size_t count;
  double temperatures[PC_TEMPERATURES];
  double values[PC_TEMPERATURES * LOSS_SURFACE_STUDY_MAX]; /* temperature by temperature */
  /* Temperature and value of each metric's minimum; values at the minimum of the cross entropy. */
  double best[LOSS_SURFACE_STUDY_MAX], lowest[LOSS_SURFACE_STUDY_MAX];
  double at_entropy[LOSS_SURFACE_STUDY_MAX];
} loss_surface_study_state;

static void loss_surface_study_add(loss_surface_study_state *state, const char *spec,
                                   const char *name) {
  snprintf(state->names[state->count], PC_TABLE_NAME_MAX, "%s", name);
  state->specs[state->count++] = spec;
}

static pcal_status loss_surface_study_specs(const pc_study_job *job,
                                            loss_surface_study_state *state, pcal_error *err) {
  const pcal_study_config *config = job->config;
  char name[PC_TABLE_NAME_MAX];
  loss_surface_study_add(state, "log", "log");
  pc_gce_specs_make((size_t)job->options->value[LOSS_SURFACE_STUDY_BINS].number, &state->own);
  for (size_t v = 0; config->spec_count == 0 && v < PC_GCE_VARIANTS; v++) {
    snprintf(name, sizeof name, "gce:variant=%zu", v);
    loss_surface_study_add(state, state->own.spec[v], name);
  }
  for (size_t s = 0; s < config->spec_count; s++) {
    if (pc_metric_group_find(config->specs[s]) != NULL)
      return pc_fail(err, PCAL_USAGE, "loss-surface: %s is a group; name single metrics",
                     config->specs[s]);
    if (state->count == LOSS_SURFACE_STUDY_MAX)
      return pc_fail(err, PCAL_USAGE, "study loss-surface takes at most %d metrics",
                     LOSS_SURFACE_STUDY_MAX - 1);
    if (strcmp(config->specs[s], "log") != 0)
      loss_surface_study_add(state, config->specs[s], config->specs[s]);
  }
  return PCAL_OK;
}

static double loss_surface_study_at(const loss_surface_study_state *state, size_t metric,
                                    size_t temperature) {
  return state->values[temperature * state->count + metric];
}

static size_t loss_surface_study_valleys(const loss_surface_study_state *state, size_t metric) {
  size_t valleys = 0;
  double before = (double)INFINITY;
  int falls = 1;
  for (size_t t = 0; t < PC_TEMPERATURES; t++) {
    const double here = loss_surface_study_at(state, metric, t);
    valleys += falls && here > before;
    falls = here < before || (falls && here == before);
    before = here;
  }
  return valleys + (size_t)(falls && isfinite(before));
}

static pcal_status loss_surface_study_minima(const loss_surface_study_state *state,
                                             pc_findings *findings, pcal_error *err) {
  static const char *const columns[] = {"metric", "best_temperature", "lowest",
                                        "at_1",   "at_log",           "valleys"};
  const size_t one = (size_t)(-PC_TEMPERATURE_FIRST) * PC_TEMPERATURE_STEPS;
  pc_table *table = pc_findings_add_table(
      findings,
      "Where each metric is lowest, and its value at T = 1 and where `log` is lowest");
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  for (size_t m = 0; m < state->count; m++) {
    PC_TRY(pc_table_add_row(table, err));
    pc_table_set_word(table, 0, state->names[m]);
    pc_table_set_number(table, 1, state->best[m]);
    pc_table_set_number(table, 2, state->lowest[m]);
    pc_table_set_number(table, 3, loss_surface_study_at(state, m, one));
    pc_table_set_number(table, 4, state->at_entropy[m]);
    pc_table_set_number(table, 5, (double)loss_surface_study_valleys(state, m));
  }
  return PCAL_OK;
}

static pcal_status loss_surface_study_curves(const loss_surface_study_state *state,
                                             pc_findings *findings, pcal_error *err) {
  pc_table *table = pc_findings_add_table(findings, "Metrics by temperature");
  pc_table_add_column(table, "temperature");
  for (size_t m = 0; m < state->count; m++) {
    pc_table_add_column(table, state->names[m]);
    table->better[1 + m] = PCAL_BETTER_LOWER;
  }
  for (size_t t = 0; t < PC_TEMPERATURES; t++) {
    PC_TRY(pc_table_add_row(table, err));
    pc_table_set_number(table, 0, state->temperatures[t]);
    for (size_t m = 0; m < state->count; m++)
      pc_table_set_number(table, 1 + m, loss_surface_study_at(state, m, t));
  }
  return PCAL_OK;
}

static void loss_surface_study_summarise(const loss_surface_study_state *state,
                                         pc_findings *findings) {
  char best[PC_NUMBER_MAX], low[PC_NUMBER_MAX], high[PC_NUMBER_MAX];
  double least = (double)INFINITY, most = 0;
  size_t rough = 0;
  for (size_t m = 1; m < state->count; m++) {
    least = isnan(state->best[m]) ? least : fmin(least, state->best[m]);
    most = isnan(state->best[m]) ? most : fmax(most, state->best[m]);
    rough += loss_surface_study_valleys(state, m) > 1;
  }
  if (!(most > 0))
    return;
  pc_number_round(state->best[0], 3, best);
  pc_number_round(least, 3, low);
  pc_number_round(most, 3, high);
  pc_findings_add_sentence(
      findings,
      "The cross entropy is lowest at a temperature of %s, the %zu other metrics at "
      "%s to %s; %zu of them have more than one valley.",
      best, state->count - 1, low, high, rough);
}

static pcal_status loss_surface_study_measure(const pc_study_job *job,
                                              loss_surface_study_state *state,
                                              const pc_study_scores *logits, pcal_error *err) {
  for (size_t t = 0; t < PC_TEMPERATURES; t++)
    state->temperatures[t] = pc_temperature_at(t);
  PC_TRY(pc_temperature_sweep_values(job, logits, state->temperatures, PC_TEMPERATURES,
                                     state->specs, state->count, state->values, err));
  PC_TRY(pc_temperature_sweep_minima(job, logits, state->specs, state->count, state->best,
                                     state->lowest, err));
  if (isnan(state->best[0]))
    return pc_fail(err, PCAL_DATA,
                   "study loss-surface: the cross entropy is infinite at every temperature, "
                   "since a row has probability 0 for its label; leave such rows out or clip "
                   "the scores");
  return pc_temperature_sweep_values(job, logits, state->best, 1, state->specs, state->count,
                                     state->at_entropy, err);
}

static pcal_status loss_surface_study_work(const pc_study_job *job,
                                           loss_surface_study_state *state,
                                           pc_findings *findings, pcal_error *err) {
  const pcal_model *model = NULL;
  pc_study_scores logits;
  PC_TRY(pc_study_single_model(job, &model, err));
  PC_TRY(loss_surface_study_specs(job, state, err));
  PC_TRY(pc_study_scores_read(job, model->source, &logits, err));
  PC_TRY(pc_study_scores_logits(job, &logits, err));
  PC_TRY(loss_surface_study_measure(job, state, &logits, err));
  loss_surface_study_summarise(state, findings);
  PC_TRY(loss_surface_study_minima(state, findings, err));
  return loss_surface_study_curves(state, findings, err);
}

static pcal_status loss_surface_study_run(const pc_study_job *job, pc_findings *findings,
                                          pcal_error *err) {
  loss_surface_study_state *state = pc_alloc(job->memory, 1, sizeof *state);
  return state == NULL ? pc_fail_memory(err, "changing the temperature")
                       : loss_surface_study_work(job, state, findings, err);
}

const pc_study pc_study_loss_surface = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "loss-surface",
            .title = "does the temperature with the lowest cross entropy also have the lowest "
                     "error?",
            .formula =
                "mean of -log q_y and calibration errors of q = softmax(z / T), against T",
            .about =
                "Measures the cross entropy and 32 general calibration errors, or the metrics "
                "given with `metric`, at temperatures from 1/4 to 8. Calibration errors have "
                "several valleys, and their minima lie elsewhere than that of the cross "
                "entropy.",
            .citation = "Nixon et al., Measuring Calibration in Deep Learning, 2019, Figure 1",
            .options = loss_surface_study_options,
            .option_count =
                sizeof loss_surface_study_options / sizeof *loss_surface_study_options,
        },
    .run = loss_surface_study_run,
};
