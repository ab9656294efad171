/* metric-ranks: do calibration errors agree on which method, and which model, is best?
 *
 * Design:  eight methods (or those given), fitted to rows that they are not judged on, are ranked
 *          by each of the 32 general calibration errors.  The agreement of metrics is the mean
 *          correlation of their rankings over all pairs of metrics that share a property: rankings
 *          of the models as they are, if there are several, else of the methods.  Correlations are
 *          Spearman's, and those of the formula printed in the paper (stats/ranks.c), which is at
 *          least 0.62 for eight methods and so cannot have produced the paper's numbers.
 * Edge cases:
 *   (1) equal errors share the mean of their ranks; in the order of methods the one listed first
 *       comes first;
 *   (2) with up to 100 classes a top probability is never below 0.01, so that variants with and
 *       without the threshold agree;
 *   (3) a method of the study that does not suit the data is left out, with a sentence.
 * Source:  Nixon et al. 2019, Tables 4 and 5.
 * Cost:    a fit and 32 metrics for each method. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "stats/ranks.h"
#include "studies/gce_variants.h"
#include "studies/method_grid.h"

enum { METRIC_RANKS_BINS };

static const pcal_option metric_ranks_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, 10000, NULL, "number of bins of every metric"},
};

typedef struct metric_ranks_state {
  pc_method_grid grid;
  pc_gce_specs specs;
  size_t methods; /* ranked: without identity */
  double *ranks;  /* model by model, variant by variant, method by method */
} metric_ranks_state;

static const double *metric_ranks_at(const metric_ranks_state *state, size_t model,
                                     size_t variant) {
  return state->ranks + (model * PC_GCE_VARIANTS + variant) * state->methods;
}

/* ---- Methods ---- */

/* Ranks of a method over all metrics and models. */
typedef struct metric_ranks_summary {
  double mean, best, worst;
  size_t first;
} metric_ranks_summary;

static metric_ranks_summary metric_ranks_summarise(const metric_ranks_state *state,
                                                   size_t method) {
  const size_t count = state->grid.model_count * PC_GCE_VARIANTS;
  metric_ranks_summary out = {0, (double)state->methods, 1, 0};
  for (size_t i = 0; i < count; i++) {
    const double rank = state->ranks[i * state->methods + method];
    out.mean += rank / (double)count;
    out.best = fmin(out.best, rank);
    out.worst = fmax(out.worst, rank);
    out.first += rank < 2;
  }
  return out;
}

static pcal_status metric_ranks_methods(const metric_ranks_state *state, pc_findings *findings,
                                        pcal_error *err) {
  static const char *const columns[] = {"number", "method", "mean_rank",
                                        "best",   "worst",  "first"};
  pc_table *table =
      pc_findings_add_table(findings, "Methods: mean, best and worst rank, how often first");
  size_t winners = 0;
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  for (size_t c = 2; c < 5; c++)
    table->better[c] = PCAL_BETTER_LOWER;
  table->better[5] = PCAL_BETTER_HIGHER;
  for (size_t m = 0; m < state->methods; m++) {
    const metric_ranks_summary ranks = metric_ranks_summarise(state, m);
    PC_TRY(pc_table_add_row(table, err));
    pc_table_set_number(table, 0, (double)m);
    pc_table_set_word(table, 1, state->grid.methods[m]);
    pc_table_set_number(table, 2, ranks.mean);
    pc_table_set_number(table, 3, ranks.best);
    pc_table_set_number(table, 4, ranks.worst);
    pc_table_set_number(table, 5, (double)ranks.first);
    winners += ranks.first > 0;
  }
  pc_findings_add_sentence(findings, "%zu of the %zu methods are first by some metric.",
                           winners, state->methods);
  return PCAL_OK;
}

/* The method at a place, from 0; of equal ranks the one listed first. */
static size_t metric_ranks_placed(const double *ranks, size_t methods, size_t place) {
  for (size_t m = 0; m < methods; m++) {
    size_t before = 0;
    for (size_t other = 0; other < methods; other++)
      before += ranks[other] < ranks[m] || (ranks[other] == ranks[m] && other < m);
    if (before == place)
      return m;
  }
  return methods;
}

static pcal_status metric_ranks_order(const metric_ranks_state *state, pc_findings *findings,
                                      pcal_error *err) {
  pc_table *table = pc_findings_add_table(
      findings, "Numbers of the methods in the order of each metric, variants 0 to 31");
  const int several = state->grid.model_count > 1;
  char name[16];
  if (several)
    pc_table_add_column(table, "model");
  pc_table_add_column(table, "rank");
  for (size_t v = 0; v < PC_GCE_VARIANTS; v++) {
    snprintf(name, sizeof name, "%zu", v);
    pc_table_add_column(table, name);
  }
  for (size_t model = 0; model < state->grid.model_count; model++)
    for (size_t place = 0; place < state->methods; place++) {
      PC_TRY(pc_table_add_row(table, err));
      if (several)
        pc_table_set_word(table, 0, state->grid.models[model].name);
      pc_table_set_number(table, (size_t)several, (double)(place + 1));
      for (size_t v = 0; v < PC_GCE_VARIANTS; v++)
        pc_table_set_number(table, (size_t)several + 1 + v,
                            (double)metric_ranks_placed(metric_ranks_at(state, model, v),
                                                        state->methods, place));
    }
  return PCAL_OK;
}

/* ---- Agreement ---- */

static pcal_status metric_ranks_properties(const double *ranks, size_t count, const char *title,
                                           pc_findings *findings, pcal_error *err) {
  pc_table *table = pc_findings_add_table(findings, title);
  pc_table_add_column(table, "property");
  pc_table_add_column(table, "spearman");
  pc_table_add_column(table, "printed_formula");
  for (size_t p = 0; p <= PC_GCE_PROPERTIES; p++) {
    const pc_agreement agreement = pc_gce_agreement(p, ranks, count);
    PC_TRY(pc_table_add_row(table, err));
    pc_table_set_word(table, 0, p == PC_GCE_PROPERTIES ? "all metrics" : pc_gce_property(p));
    pc_table_set_number(table, 1, agreement.spearman);
    pc_table_set_number(table, 2, agreement.nixon);
  }
  return PCAL_OK;
}

/* Ranks of the models as they are, variant by variant. */
static pcal_status metric_ranks_models(const metric_ranks_state *state, pc_findings *findings,
                                       pcal_error *err) {
  const pcal_env *env = state->grid.env;
  const size_t models = state->grid.model_count;
  double *values = pc_alloc(env, models, sizeof *values);
  double *ranks = pc_alloc(env, PC_GCE_VARIANTS * models, sizeof *ranks);
  pcal_status status =
      values == NULL || ranks == NULL ? pc_fail_memory(err, "ranking models") : PCAL_OK;
  for (size_t v = 0; status == PCAL_OK && v < PC_GCE_VARIANTS; v++) {
    for (size_t m = 0; m < models; m++)
      values[m] = pc_method_grid_value(&state->grid, m, state->methods, v);
    pc_ranks(values, models, ranks + v * models);
  }
  if (status == PCAL_OK)
    status = metric_ranks_properties(
        ranks, models, "Rank correlation of metrics that share a property, over the models",
        findings, err);
  pc_free(env, values);
  pc_free(env, ranks);
  return status;
}

static pcal_status metric_ranks_agree(const metric_ranks_state *state, pc_findings *findings,
                                      pcal_error *err) {
  char number[PC_NUMBER_MAX];
  if (state->grid.model_count > 1)
    PC_TRY(metric_ranks_models(state, findings, err));
  else
    PC_TRY(metric_ranks_properties(
        state->ranks, state->methods,
        "Rank correlation of metrics that share a property, over the methods", findings, err));
  const pc_table *table = &findings->tables[findings->table_count - 1];
  pc_number_round(pc_table_at(table, PC_GCE_PROPERTIES, 1)->number, 2, number);
  pc_findings_add_sentence(findings, "Two metrics rank the %s with a mean correlation of %s.",
                           state->grid.model_count > 1 ? "models" : "methods", number);
  return PCAL_OK;
}

static pcal_status metric_ranks_report(metric_ranks_state *state, pc_findings *findings,
                                       pcal_error *err) {
  const size_t models = state->grid.model_count;
  for (size_t m = 0; m < models; m++)
    for (size_t v = 0; v < PC_GCE_VARIANTS; v++)
      pc_method_grid_ranks(&state->grid, m, state->methods, v,
                           state->ranks + (m * PC_GCE_VARIANTS + v) * state->methods);
  PC_TRY(metric_ranks_methods(state, findings, err));
  PC_TRY(metric_ranks_order(state, findings, err));
  return metric_ranks_agree(state, findings, err);
}

static pcal_status metric_ranks_work(const pc_study_job *job, metric_ranks_state *state,
                                     pc_findings *findings, pcal_error *err) {
  pc_gce_specs_make((size_t)job->options->value[METRIC_RANKS_BINS].number, &state->specs);
  PC_TRY(pc_method_grid_run(job, pc_nixon_methods, PC_NIXON_METHODS, 1, state->specs.spec,
                            PC_GCE_VARIANTS, &state->grid, findings, err));
  state->methods = state->grid.method_count - 1;
  if (state->methods < 2)
    return pc_fail(err, PCAL_USAGE,
                   "study metric-ranks ranks methods, but there is only %zu; give two or more",
                   state->methods);
  pc_findings_add_sentence(findings, "%zu methods %s, ranked by 32 calibration errors.",
                           state->methods, pc_method_grid_fitted(&state->grid));
  state->ranks =
      pc_alloc(job->memory, state->grid.model_count * PC_GCE_VARIANTS * state->methods,
               sizeof *state->ranks);
  return state->ranks == NULL ? pc_fail_memory(err, "ranking methods")
                              : metric_ranks_report(state, findings, err);
}

static pcal_status metric_ranks_run(const pc_study_job *job, pc_findings *findings,
                                    pcal_error *err) {
  metric_ranks_state state;
  memset(&state, 0, sizeof state);
  return metric_ranks_work(job, &state, findings, err);
}

const pc_study pc_study_metric_ranks = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "metric-ranks",
            .title = "do calibration errors agree on which method is best?",
            .formula = "rank of each method by gce:variant=0 to 31; mean rank correlation of\n"
                       "metrics that share a property",
            .about =
                "Fits eight methods (or those given with `method`) to a second set, or by "
                "cross-validation, and ranks them by each of the 32 general calibration "
                "errors. With several models it also reports how far metrics agree on the "
                "order of the models. `spearman` is the usual rank correlation, "
                "`printed_formula` the formula printed in the paper, with absolute differences "
                "in place of squares.",
            .citation = "Nixon et al., Measuring Calibration in Deep Learning, 2019, Tables 4 "
                        "and 5",
            .options = metric_ranks_options,
            .option_count = sizeof metric_ranks_options / sizeof *metric_ranks_options,
        },
    .run = metric_ranks_run,
};
