/* bin-sensitivity: does the number of bins decide which method is best?
 *
 * Design:  eight methods (or those given), fitted to rows that they are not judged on, are ranked
 *          by each of the 32 general calibration errors with 10, 20, 30, 40 and 50 bins.  The two
 *          rankings by one metric with two numbers of bins are correlated; the mean is taken over
 *          all pairs of numbers, then over all metrics that share a property, and over models.
 *          Correlations are Spearman's, and those of the formula printed in the paper
 *          (stats/ranks.c), which is at least 0.62 for eight methods and so cannot have produced
 *          the paper's numbers.
 * Edge cases: those of metric_ranks_study.c; a ranking of ties only has no Spearman correlation
 *          and is left out of the mean.
 * Source:  Nixon et al. 2019, section 5.3.
 * Cost:    a fit and 160 metrics for each method. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "stats/ranks.h"
#include "studies/gce_variants.h"
#include "studies/method_grid.h"

enum { BIN_SENSITIVITY_STUDY_BINS };

static const pcal_option bin_sensitivity_study_options[] = {
    {"bins", PCAL_OPTION_REALS, "10/20/30/40/50", 1, 10000, NULL,
     "numbers of bins, two or more"},
};

/* Means of both correlations over the pairs that have one. */
typedef struct bin_sensitivity_study_mean {
  double sum[2], count[2];
} bin_sensitivity_study_mean;

typedef struct bin_sensitivity_study_state {
  pc_method_grid grid;
  size_t bins[PC_LIST_MAX], bin_count;
  pc_gce_specs specs[PC_LIST_MAX];
  const char *flat[PC_LIST_MAX * PC_GCE_VARIANTS]; /* pointers to all of them */
} bin_sensitivity_study_state;

static void bin_sensitivity_study_count(bin_sensitivity_study_mean *mean, const double *first,
                                        const double *second, size_t count) {
  const double both[2] = {pc_rank_spearman(first, second, count),
                          pc_rank_nixon(first, second, count)};
  for (size_t i = 0; i < 2; i++) {
    mean->sum[i] += isnan(both[i]) ? 0 : both[i];
    mean->count[i] += !isnan(both[i]);
  }
}

static double bin_sensitivity_study_value(const bin_sensitivity_study_mean *mean, size_t i) {
  return mean->count[i] > 0 ? mean->sum[i] / mean->count[i] : (double)NAN;
}

/* Adds the correlations of one metric between two numbers of bins, on all models. */
static void bin_sensitivity_study_pair(const bin_sensitivity_study_state *state, size_t variant,
                                       size_t one, size_t other,
                                       bin_sensitivity_study_mean *mean) {
  const size_t methods = state->grid.method_count;
  double first[PC_METHOD_GRID_METHODS], second[PC_METHOD_GRID_METHODS];
  for (size_t m = 0; m < state->grid.model_count; m++) {
    pc_method_grid_ranks(&state->grid, m, methods, one * PC_GCE_VARIANTS + variant, first);
    pc_method_grid_ranks(&state->grid, m, methods, other * PC_GCE_VARIANTS + variant, second);
    bin_sensitivity_study_count(mean, first, second, methods);
  }
}

static pcal_status bin_sensitivity_study_metrics(const bin_sensitivity_study_state *state,
                                                 double values[2][PC_GCE_VARIANTS],
                                                 pc_table *table, pcal_error *err) {
  pc_gce_columns(table);
  pc_table_add_column(table, "spearman");
  pc_table_add_column(table, "printed_formula");
  for (size_t v = 0; v < PC_GCE_VARIANTS; v++) {
    bin_sensitivity_study_mean mean = {{0, 0}, {0, 0}};
    for (size_t one = 0; one < state->bin_count; one++)
      for (size_t other = one + 1; other < state->bin_count; other++)
        bin_sensitivity_study_pair(state, v, one, other, &mean);
    PC_TRY(pc_table_add_row(table, err));
    pc_gce_cells(table, v);
    for (size_t i = 0; i < 2; i++) {
      values[i][v] = bin_sensitivity_study_value(&mean, i);
      pc_table_set_number(table, 6 + i, values[i][v]);
    }
  }
  return PCAL_OK;
}

static pcal_status bin_sensitivity_study_properties(double values[2][PC_GCE_VARIANTS],
                                                    pc_findings *findings, pc_table *table,
                                                    pcal_error *err) {
  char even[PC_NUMBER_MAX], adaptive[PC_NUMBER_MAX];
  pc_table_add_column(table, "property");
  pc_table_add_column(table, "spearman");
  pc_table_add_column(table, "printed_formula");
  for (size_t p = 0; p < PC_GCE_PROPERTIES; p++) {
    PC_TRY(pc_table_add_row(table, err));
    pc_table_set_word(table, 0, pc_gce_property(p));
    for (size_t i = 0; i < 2; i++)
      pc_table_set_number(table, 1 + i, pc_gce_mean(p, values[i]));
  }
  pc_number_round(pc_gce_mean(0, values[0]), 3, even);
  pc_number_round(pc_gce_mean(1, values[0]), 3, adaptive);
  pc_findings_add_sentence(
      findings,
      "The rankings with two numbers of bins have a mean correlation of %s with even "
      "bins and of %s with adaptive ones.",
      even, adaptive);
  return PCAL_OK;
}

static pcal_status bin_sensitivity_study_pairs(const bin_sensitivity_study_state *state,
                                               pc_table *table, pcal_error *err) {
  static const char *const columns[] = {"bins", "other", "even", "adaptive"};
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  for (size_t one = 0; one < state->bin_count; one++)
    for (size_t other = one + 1; other < state->bin_count; other++) {
      bin_sensitivity_study_mean mean[2] = {{{0, 0}, {0, 0}}, {{0, 0}, {0, 0}}};
      for (size_t v = 0; v < PC_GCE_VARIANTS; v++)
        bin_sensitivity_study_pair(state, v, one, other, &mean[pc_gce_has(1, v)]);
      PC_TRY(pc_table_add_row(table, err));
      pc_table_set_number(table, 0, (double)state->bins[one]);
      pc_table_set_number(table, 1, (double)state->bins[other]);
      pc_table_set_number(table, 2, bin_sensitivity_study_value(&mean[0], 0));
      pc_table_set_number(table, 3, bin_sensitivity_study_value(&mean[1], 0));
    }
  return PCAL_OK;
}

static pcal_status bin_sensitivity_study_bins(const pc_study_job *job,
                                              bin_sensitivity_study_state *state,
                                              pcal_error *err) {
  const pc_option_value *value = &job->options->value[BIN_SENSITIVITY_STUDY_BINS];
  state->bin_count = value->list_count;
  if (state->bin_count < 2)
    return pc_fail(err, PCAL_USAGE,
                   "study bin-sensitivity compares numbers of bins; give two or more, as "
                   "bins=10/20");
  for (size_t b = 0; b < state->bin_count; b++) {
    state->bins[b] = (size_t)value->list[b];
    if ((double)state->bins[b] != value->list[b])
      return pc_fail(err, PCAL_USAGE, "study bin-sensitivity: bins are whole numbers");
    pc_gce_specs_make(state->bins[b], &state->specs[b]);
    for (size_t v = 0; v < PC_GCE_VARIANTS; v++)
      state->flat[b * PC_GCE_VARIANTS + v] = state->specs[b].spec[v];
  }
  return PCAL_OK;
}

static pcal_status bin_sensitivity_study_work(const pc_study_job *job,
                                              bin_sensitivity_study_state *state,
                                              pc_findings *findings, pcal_error *err) {
  double values[2][PC_GCE_VARIANTS];
  PC_TRY(bin_sensitivity_study_bins(job, state, err));
  PC_TRY(pc_method_grid_run(job, pc_nixon_methods, PC_NIXON_METHODS, 0, state->flat,
                            state->bin_count * PC_GCE_VARIANTS, &state->grid, findings, err));
  if (state->grid.method_count < 2)
    return pc_fail(
        err, PCAL_USAGE,
        "study bin-sensitivity ranks methods, but there is only %zu; give two or more",
        state->grid.method_count);
  pc_findings_add_sentence(findings,
                           "%zu methods %s, ranked by 32 calibration errors with %zu numbers "
                           "of bins.",
                           state->grid.method_count, pc_method_grid_fitted(&state->grid),
                           state->bin_count);
  pc_table *properties =
      pc_findings_add_table(findings, "Mean rank correlation between numbers of bins");
  pc_table *pairs = pc_findings_add_table(
      findings, "Spearman's correlation for each pair of numbers of bins");
  PC_TRY(bin_sensitivity_study_metrics(state, values,
                                       pc_findings_add_table(findings, "By metric"), err));
  PC_TRY(bin_sensitivity_study_properties(values, findings, properties, err));
  return bin_sensitivity_study_pairs(state, pairs, err);
}

static pcal_status bin_sensitivity_study_run(const pc_study_job *job, pc_findings *findings,
                                             pcal_error *err) {
  bin_sensitivity_study_state *state = pc_alloc(job->memory, 1, sizeof *state);
  return state == NULL ? pc_fail_memory(err, "studying numbers of bins")
                       : bin_sensitivity_study_work(job, state, findings, err);
}

const pc_study pc_study_bin_sensitivity = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "bin-sensitivity",
            .title = "does the number of bins decide which method is best?",
            .formula = "mean rank correlation of the rankings of methods by one metric with\n"
                       "two numbers of bins",
            .about =
                "Fits eight methods (or those given with `method`) to a second set, or by "
                "cross-validation, and ranks them by each of the 32 general calibration errors "
                "with several numbers of bins. A metric is robust when the rankings agree.",
            .citation =
                "Nixon et al., Measuring Calibration in Deep Learning, 2019, section 5.3",
            .options = bin_sensitivity_study_options,
            .option_count =
                sizeof bin_sensitivity_study_options / sizeof *bin_sensitivity_study_options,
        },
    .run = bin_sensitivity_study_run,
};
