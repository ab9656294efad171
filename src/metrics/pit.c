/* pit, coverage, quantile-ce: where targets fall in the predicted distributions.
 *
 * Formula:  u_i = F_i(y_i), the probability integral transform (data/forecast.h)
 *           pit          sup_t |share of u <= t  -  t|  (Kolmogorov-Smirnov); parts: bins, half
 *                        the sum over equal-width bins (lo, hi] of |share - 1/B|; mean and
 *                        variance of u, which are 1/2 and 1/12 when calibrated
 *           coverage     mean over levels p of |c_p - p|, c_p: share of (1 - p)/2 <= u <=
 *                        (1 + p)/2; parts: c_p
 *           quantile-ce  mean over levels t of |share of u <= t  -  t|
 * Edge cases: (1) u of samples has steps of 1/(n + 1), which alone makes pit 1/(2 n + 2); (2)
 * quantiles: pit is refused, since they do not tell the distribution in between; the levels of
 * quantile-ce are theirs, those of coverage the central intervals that they have (a level and
 * one less it), at most 8; (3) weights are frequencies.
 * Source: Dawid 1984; Gneiting, Balabdaoui & Raftery 2007; Kuleshov, Fenner & Ermon 2018.
 * Accuracy: u within 1e-15; weights are added in the order of u.
 * Cost: O(N log N), memory 8 N bytes. */
#include <math.h>

#include "metrics/forecast_metric.h"

#define COVERAGE_GRAPH_LEVELS 99

enum { PIT_BINS };
enum { PIT_LEVELS };

static const pcal_option pit_options[] = {
    {"bins", PCAL_OPTION_INT, "10", 1, PC_BINS_MAX, NULL, "bins of equal width"},
};
static const pcal_option coverage_options[] = {
    {"levels", PCAL_OPTION_REALS, "0.5/0.8/0.9/0.95", 0.001, 0.999, NULL,
     "probabilities of central intervals, at most 8; where quantiles are given, all that these "
     "have by default"},
};
static const pcal_option quantile_ce_options[] = {PC_FORECAST_LEVELS_OPTION};

static void pit_need(const pc_layout *layout, pc_reading *reading) {
  reading->need.machine = PC_CURVE;
  reading->need.view = pc_view_pit(layout);
}

static pcal_status pit_configure(pc_options *options, const pc_layout *layout,
                                 pc_reading *reading, pcal_error *err) {
  if (layout->form == PC_FORM_QUANTILES)
    return pc_fail(err, PCAL_USAGE,
                   "%s needs whole distributions, and quantiles tell them only at their "
                   "levels; take quantile-ce or coverage",
                   options->name);
  pit_need(layout, reading);
  return PCAL_OK;
}

/* The central intervals that quantiles have, from the narrowest. */
static void pit_central_levels(const pc_layout *layout, pc_value *value) {
  const pc_forecast_shape shape = pc_forecast_layout_shape(layout);
  value->list_count = 0;
  for (size_t l = layout->columns; l-- > 0 && value->list_count < PC_PARTS_MAX;) {
    pc_level other;
    if (layout->levels[l] < 0.5 && pc_level_make(&shape, 1 - layout->levels[l], &other))
      value->list[value->list_count++] = 1 - 2 * layout->levels[l];
  }
}

/* Ends of a central interval as values of u; 0 when quantiles do not have them. */
static int pit_ends(const pc_layout *layout, double level, double ends[2]) {
  const pc_forecast_shape shape = pc_forecast_layout_shape(layout);
  for (int e = 0; e < 2; e++) {
    pc_level end;
    if (!pc_level_make(&shape, e == 0 ? (1 - level) / 2 : (1 + level) / 2, &end))
      return 0;
    ends[e] = layout->form == PC_FORM_QUANTILES ? layout->levels[end.column] : end.level;
  }
  return 1;
}

static pcal_status coverage_configure(pc_options *options, const pc_layout *layout,
                                      pc_reading *reading, pcal_error *err) {
  pc_value *value = &options->value[PIT_LEVELS];
  char shown[PC_NUMBER_MAX];
  double ends[2];
  if (layout->form == PC_FORM_QUANTILES && !value->given)
    pit_central_levels(layout, value);
  if (value->list_count == 0)
    return pc_fail(err, PCAL_USAGE,
                   "%s needs the quantiles at both ends of an interval, such as 0.05 and 0.95, "
                   "and no two of --levels sum to 1; take quantile-ce",
                   options->name);
  if (value->list_count > PC_PARTS_MAX)
    return pc_fail(err, PCAL_USAGE, "%s takes at most %d levels, not %zu", options->name,
                   PC_PARTS_MAX, value->list_count);
  for (size_t l = 0; l < value->list_count; l++)
    if (!pit_ends(layout, value->list[l], ends))
      return pc_fail(err, PCAL_USAGE,
                     "%s: there are no quantiles at both ends of the central interval of level "
                     "%s; take levels whose ends are among --levels",
                     options->name, pc_show(value->list[l], shown));
  pit_need(layout, reading);
  return PCAL_OK;
}

static pcal_status quantile_ce_configure(pc_options *options, const pc_layout *layout,
                                         pc_reading *reading, pcal_error *err) {
  PC_TRY(pc_forecast_levels(options, PIT_LEVELS, layout, err));
  pit_need(layout, reading);
  return PCAL_OK;
}

static double pit_distance(const pc_curve_table *table) {
  double below = 0.0, largest = 0.0;
  for (size_t i = 0; i < table->count; i++) {
    const double u = table->score[i], upto = below + table->weight[i];
    largest = fmax(largest, fabs(below / table->total - u));
    largest = fmax(largest, fabs(upto / table->total - u));
    below = upto;
  }
  return largest;
}

/* Share of low <= u <= high. */
static double pit_share(const pc_curve_table *table, double low, double high) {
  double weight = 0.0;
  for (size_t i = 0; i < table->count; i++)
    if (table->score[i] >= low && table->score[i] <= high)
      weight += table->weight[i];
  return weight / table->total;
}

/* Half the sum of |share - 1/B|; fills the graph where it is wanted. */
static double pit_binned(const pc_curve_table *table, size_t bins, pc_graph *graph) {
  double off = 0.0;
  size_t at = 0;
  for (size_t b = 0; b < bins; b++) {
    const double low = (double)b / (double)bins, high = (double)(b + 1) / (double)bins;
    double weight = 0.0;
    while (at < table->count && (b + 1 == bins || table->score[at] <= high))
      weight += table->weight[at++];
    off += fabs(weight / table->total - 1 / (double)bins);
    if (!graph->wanted)
      continue;
    graph->columns[0][b] = low;
    graph->columns[1][b] = high;
    graph->columns[2][b] = weight;
    graph->columns[3][b] = weight / table->total;
    graph->count = b + 1;
  }
  return off / 2;
}

static pcal_status pit_evaluate(const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, pc_outcome *out, pcal_error *err) {
  static const char *const names[] = {"low", "high", "weight", "share", NULL};
  const pc_curve_table *table = &evidence->curve.parts[0];
  const size_t bins = (size_t)options->value[PIT_BINS].number;
  double mean = 0.0, square = 0.0;
  if (out->graph.wanted)
    PC_TRY(pc_graph_new(env, names, bins, &out->graph, err));
  for (size_t i = 0; i < table->count; i++)
    mean += table->weight[i] * table->score[i] / table->total;
  for (size_t i = 0; i < table->count; i++)
    square += table->weight[i] * (table->score[i] - mean) * (table->score[i] - mean);
  out->value = pit_distance(table);
  pc_outcome_part(out, "bins", pit_binned(table, bins, &out->graph));
  pc_outcome_part(out, "mean", mean);
  pc_outcome_part(out, "variance", square / table->total);
  return PCAL_OK;
}

/* Shares of central intervals of every hundredth, or of those that quantiles have. */
static pcal_status coverage_graph(const pc_options *options, const pc_evidence *evidence,
                                  const pcal_env *env, pc_graph *graph, pcal_error *err) {
  static const char *const names[] = {"level", "share", NULL};
  const pc_value *value = &options->value[PIT_LEVELS];
  const int few = evidence->layout->form == PC_FORM_QUANTILES;
  const size_t count = few ? value->list_count : COVERAGE_GRAPH_LEVELS;
  if (!graph->wanted)
    return PCAL_OK;
  PC_TRY(pc_graph_new(env, names, count, graph, err));
  graph->count = count;
  for (size_t i = 0; i < count; i++) {
    const double level = few ? value->list[i] : (double)(i + 1) / (COVERAGE_GRAPH_LEVELS + 1.0);
    double ends[2] = {0.0, 0.0};
    pit_ends(evidence->layout, level, ends);
    graph->columns[0][i] = level;
    graph->columns[1][i] = pit_share(&evidence->curve.parts[0], ends[0], ends[1]);
  }
  return PCAL_OK;
}

static pcal_status coverage_evaluate(const pc_options *options, const pc_evidence *evidence,
                                     const pcal_env *env, pc_outcome *out, pcal_error *err) {
  const pc_value *value = &options->value[PIT_LEVELS];
  for (size_t l = 0; l < value->list_count; l++) {
    double ends[2] = {0.0, 0.0};
    pit_ends(evidence->layout, value->list[l], ends);
    const double share = pit_share(&evidence->curve.parts[0], ends[0], ends[1]);
    out->value += fabs(share - value->list[l]) / (double)value->list_count;
    pc_outcome_part_at(out, value->list[l], share);
  }
  return coverage_graph(options, evidence, env, &out->graph, err);
}

static pcal_status quantile_ce_evaluate(const pc_options *options, const pc_evidence *evidence,
                                        const pcal_env *env, pc_outcome *out, pcal_error *err) {
  (void)env;
  (void)err;
  size_t count = 0;
  const double *levels = pc_forecast_levels_of(options, PIT_LEVELS, evidence->layout, &count);
  for (size_t l = 0; l < count; l++)
    out->value +=
        fabs(pit_share(&evidence->curve.parts[0], 0.0, levels[l]) - levels[l]) / (double)count;
  return PCAL_OK;
}

const pc_metric pc_metric_pit = {
    .row =
        {
            .kind = "metrics",
            .task = "regression",
            .name = "pit",
            .title = "distance of the probability integral transform from uniform",
            .formula = "sup_t |share of F_i(y_i) <= t - t|",
            .about = "0 when targets fall evenly over the predicted distributions. Of the "
                     "parts, a mean off 1/2 shows bias, a variance above 1/12 = 0.0833 "
                     "distributions that are too narrow; bins compares shares of equal-width "
                     "bins.",
            .citation = "Dawid, Present position and potential developments: the prequential "
                        "approach, Journal of the Royal Statistical Society A 1984",
            .notion = "probabilistic",
            .bound = "lower",
            .machine = "curve",
            .options = pit_options,
            .option_count = sizeof pit_options / sizeof *pit_options,
        },
    .traits = PC_FORECAST_TRAITS | PC_PARTS_IN_TEXT,
    .configure = pit_configure,
    .evaluate = pit_evaluate,
};

const pc_metric pc_metric_coverage = {
    .row =
        {
            .kind = "metrics",
            .task = "regression",
            .name = "coverage",
            .title = "error of the coverage of central prediction intervals",
            .formula = "mean over levels p of |share of (1-p)/2 <= F_i(y_i) <= (1+p)/2 - p|",
            .about =
                "How often central intervals hold the target, against what they claim; the "
                "parts are the shares, by level.",
            .citation = "Gneiting, Balabdaoui & Raftery, Probabilistic forecasts, calibration "
                        "and sharpness, Journal of the Royal Statistical Society B 2007",
            .notion = "probabilistic",
            .bound = "lower",
            .machine = "curve",
            .options = coverage_options,
            .option_count = sizeof coverage_options / sizeof *coverage_options,
        },
    .traits = PC_FORECAST_TRAITS | PC_PARTS_IN_TEXT,
    .configure = coverage_configure,
    .evaluate = coverage_evaluate,
};

const pc_metric pc_metric_quantile_ce = {
    .row =
        {
            .kind = "metrics",
            .task = "regression",
            .name = "quantile-ce",
            .title = "quantile calibration error",
            .formula = "mean over levels t of |share of y_i <= q_it - t|",
            .about = "How often targets lie below predicted quantiles, against their levels.",
            .citation = "Kuleshov, Fenner & Ermon, Accurate uncertainties for deep learning "
                        "using calibrated regression, ICML 2018",
            .notion = "probabilistic",
            .bound = "lower",
            .machine = "curve",
            .options = quantile_ce_options,
            .option_count = sizeof quantile_ce_options / sizeof *quantile_ce_options,
        },
    .traits = PC_FORECAST_TRAITS,
    .configure = quantile_ce_configure,
    .evaluate = quantile_ce_evaluate,
};
