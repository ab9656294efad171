/* ence, uce: squared errors compared with predicted variances, in bins of predicted standard
 * deviation.
 *
 * Formula:  bins of equal mass by predicted standard deviation
 *           v_b: mean variance, e_b: mean squared error of bin b
 *           ence = mean over bins of |sqrt v_b - sqrt e_b| / sqrt v_b
 *           uce  = sum_b (n_b/N) |e_b - v_b|
 * Edge cases:
 * (1) bins as in ece:binning=mass: part r of B ends at r q + min(r, W - B q), q = floor(W / B);
 *     edges lie midway between neighbours, equal ones are joined, ties are never split, so
 *     there may be fewer bins;
 * (2) samples that are all equal have v = 0: a bin of such rows makes ence infinite, unless its
 *     errors are 0 too, which counts as 0;
 * (3) quantiles are refused.
 * Source: Levi et al. 2022 (ence); Laves et al. 2020 (uce).
 * Accuracy: sums of a bin are exact.
 * Cost: O(N log N); memory at least 44 N bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sum.h"
#include "metrics/forecast_metric.h"

enum { ENCE_BINS };

static const pcal_option ence_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, PC_BINS_MAX, NULL, "bins of equal mass"},
};

typedef struct ence_row {
  double deviation, variance, error, weight;
} ence_row;

typedef struct ence_bin {
  double weight, variance, error; /* means */
} ence_bin;

static pcal_status ence_configure(pc_options *options, const pc_layout *layout,
                                  pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_forecast_need_moments(options, layout, err));
  config->need.machine = PC_ROWS;
  config->need.rows.all_probs = 1;
  return PCAL_OK;
}

static int ence_order(const void *a, const void *b) {
  const ence_row *x = a, *y = b;
  return (x->deviation > y->deviation) - (x->deviation < y->deviation);
}

/* Cursor over the sorted rows: a row, and the weight of the rows before it. */
typedef struct ence_walk {
  size_t at;
  double before;
} ence_walk;

/* Index after the last row of the bin that ends at `position`, a cumulative weight.
 * Positions must not decrease from call to call. */
static size_t ence_end(const ence_row *rows, size_t count, double position, ence_walk *walk) {
  while (walk->at + 1 < count && walk->before + rows[walk->at].weight < position)
    walk->before += rows[walk->at++].weight;
  const int inside = walk->before + rows[walk->at].weight > position || walk->at + 1 == count;
  const double here = rows[walk->at].deviation;
  const double edge = 0.5 * (here + (inside ? here : rows[walk->at + 1].deviation));
  size_t end = walk->at;
  while (end < count && rows[end].deviation <= edge)
    end++;
  return end;
}

static ence_bin ence_join(const ence_row *rows, size_t begin, size_t end) {
  pc_sum weight, variance, error;
  pc_sum_clear(&weight);
  pc_sum_clear(&variance);
  pc_sum_clear(&error);
  for (size_t i = begin; i < end; i++) {
    pc_sum_add(&weight, rows[i].weight);
    pc_sum_add_product(&variance, rows[i].weight, rows[i].variance);
    pc_sum_add_product(&error, rows[i].weight, rows[i].error);
  }
  const double n = pc_sum_value(&weight);
  return (ence_bin){n, pc_sum_value(&variance) / n, pc_sum_value(&error) / n};
}

static size_t ence_bins(const ence_row *rows, size_t count, double total, size_t bins,
                        ence_bin *out) {
  const double q = floor(total / (double)bins);
  ence_walk walk = {0, 0.0};
  size_t begin = 0, found = 0;
  for (size_t r = 1; r <= bins && begin < count; r++) {
    const double position = (double)r * q + fmin((double)r, total - (double)bins * q);
    const size_t end = r == bins || position >= total ? count
                       : position <= 0                ? 0
                                                      : ence_end(rows, count, position, &walk);
    if (end <= begin)
      continue;
    out[found++] = ence_join(rows, begin, end);
    begin = end;
  }
  return found;
}

static void ence_fill(const pc_evidence *evidence, ence_row *out) {
  const pc_forecast_shape shape = pc_forecast_layout_shape(evidence->layout);
  const pc_kept_rows *kept = &evidence->kept;
  for (size_t i = 0; i < kept->count; i++) {
    const double *row = kept->probs + i * kept->classes;
    double mean, variance;
    pc_forecast_moments(&shape, row, &mean, &variance);
    const double error = mean - row[shape.columns];
    out[i] = (ence_row){sqrt(variance), variance, error * error, kept->weights[i]};
  }
}

static pcal_status ence_collect(const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, ence_bin **out, size_t *count,
                                pcal_error *err) {
  const size_t bins = (size_t)options->value[ENCE_BINS].number;
  ence_row *rows = pc_alloc_raw(env, evidence->kept.count, sizeof *rows);
  *out = pc_alloc_raw(env, bins, sizeof **out);
  if (rows == NULL || *out == NULL) {
    pc_free(env, rows);
    pc_free(env, *out);
    return pc_fail_memory(err, "sorting predicted variances");
  }
  ence_fill(evidence, rows);
  qsort(rows, evidence->kept.count, sizeof *rows, ence_order);
  *count = ence_bins(rows, evidence->kept.count, evidence->total, bins, *out);
  pc_free(env, rows);
  return PCAL_OK;
}

static pcal_status ence_graph(const ence_bin *bins, size_t count, const pcal_env *env,
                              pc_plot_table *graph, pcal_error *err) {
  static const char *const names[] = {"weight", "variance", "error", NULL};
  if (!graph->wanted)
    return PCAL_OK;
  PC_TRY(pc_plot_table_new(env, names, count, graph, err));
  for (size_t b = 0; b < count; b++) {
    graph->columns[0][b] = bins[b].weight;
    graph->columns[1][b] = bins[b].variance;
    graph->columns[2][b] = bins[b].error;
  }
  graph->count = count;
  return PCAL_OK;
}

static void ence_relative(const ence_bin *bins, size_t count, pc_metric_result *out) {
  for (size_t b = 0; b < count; b++) {
    const double root = sqrt(bins[b].variance), error = sqrt(bins[b].error);
    if (root > 0)
      out->value += fabs(root - error) / root / (double)count;
    else if (error > 0)
      out->value = INFINITY;
  }
  if (isinf(out->value))
    snprintf(out->why, sizeof out->why,
             "all predicted variances of a bin are 0, but its errors are not");
}

static pcal_status ence_evaluate(const pc_options *options, const pc_evidence *evidence,
                                 const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  ence_bin *bins = NULL;
  size_t count = 0;
  PC_TRY(ence_collect(options, evidence, env, &bins, &count, err));
  ence_relative(bins, count, out);
  const pcal_status status = ence_graph(bins, count, env, &out->graph, err);
  pc_free(env, bins);
  return status;
}

static pcal_status uce_evaluate(const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  ence_bin *bins = NULL;
  size_t count = 0;
  PC_TRY(ence_collect(options, evidence, env, &bins, &count, err));
  for (size_t b = 0; b < count; b++)
    out->value += bins[b].weight / evidence->total * fabs(bins[b].error - bins[b].variance);
  const pcal_status status = ence_graph(bins, count, env, &out->graph, err);
  pc_free(env, bins);
  return status;
}

const pc_metric pc_metric_ence = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "ence",
            .title = "expected normalised calibration error of variances",
            .formula = "mean over bins b of |sqrt(v_b) - sqrt(e_b)| / sqrt(v_b)",
            .about = "Bins of equal mass by predicted standard deviation; v_b is the mean "
                     "variance of a bin, e_b its mean squared error.",
            .citation = "Levi, Gispan, Giladi & Fetaya, Evaluating and calibrating uncertainty "
                        "prediction in regression tasks, Sensors 2022",
            .notion = PCAL_NOTION_VARIANCE,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_KEEP,
            .better = PCAL_BETTER_LOWER,
            .options = ence_options,
            .option_count = sizeof ence_options / sizeof *ence_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS,
    .configure = ence_configure,
    .evaluate = ence_evaluate,
};

const pc_metric pc_metric_uce = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "uce",
            .title = "uncertainty calibration error",
            .formula = "sum_b (n_b/N) |e_b - v_b|",
            .about = "Bins as in ence, with absolute differences of variances in place of "
                     "relative differences of standard deviations; in the squared unit of the "
                     "target.",
            .citation = "Laves, Ihler, Fast, Kahrs & Ortmaier, Well-calibrated regression "
                        "uncertainty in medical imaging with deep learning, MIDL 2020",
            .notion = PCAL_NOTION_VARIANCE,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_KEEP,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_TARGET_SQUARED,
            .options = ence_options,
            .option_count = sizeof ence_options / sizeof *ence_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS,
    .configure = ence_configure,
    .evaluate = uce_evaluate,
};
