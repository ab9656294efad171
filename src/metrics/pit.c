/* pit, coverage, quantile-ce: the probability integral transform of the targets.
 *
 * Formula:  u_i = F_i(y_i), the probability integral transform (data/forecast.h)
 *           pit          sup_t |share of u <= t  -  t|  (Kolmogorov-Smirnov)
 *           coverage     mean over levels p of |c_p - p|
 *                        c_p: share of (1 - p)/2 <= u <= (1 + p)/2
 *           quantile-ce  mean over levels t of |share of u <= t  -  t|
 * Edge cases:
 * (1) samples: u follows the distribution of ranks (metrics/target_ranks.c), so that all
 *     three tend to 0 for a calibrated ensemble of any size; a target that equals some samples
 *     has each possible rank with the same probability;
 * (2) quantiles: pit is refused, since the distribution between them is unknown; quantile-ce
 *     uses their levels, coverage the central intervals that they contain (a level and one
 *     minus it), at most 8;
 * (3) targets that equal quantiles: a quantile of level t is calibrated if
 *     P(y < q) <= t <= P(y <= q); the share nearest to t between these counts, apart for rows
 *     that predict different point masses (metrics/target_ranks.c).  c_p is the difference of
 *     two such shares;
 * (4) weights are frequencies.
 * Parts of pit: `bins`, half the sum over equal-width bins (lo, hi] of |share - 1/B|; mean and
 * variance of u, which are 1/2 and 1/12 if calibrated.
 * Parts of coverage: each c_p.
 * Source: Dawid 1984; Gneiting, Balabdaoui & Raftery 2007; Kuleshov, Fenner & Ermon 2018;
 * Hamill 2001; Czado, Gneiting & Held 2009.
 * Accuracy: u within 1e-15; weights are added in the order of u.
 * Cost: O(N log N), memory 8 N bytes. */
#include <math.h>

#include "metrics/forecast_metric.h"
#include "metrics/target_ranks.h"

#define COVERAGE_GRAPH_LEVELS 99

enum { PIT_BINS };
enum { PIT_LEVELS };

static const pcal_option pit_options[] = {
    {"bins", PCAL_OPTION_INT, "10", 1, PC_BINS_MAX, NULL, "bins of equal width"},
};
static const pcal_option coverage_options[] = {
    {"levels", PCAL_OPTION_REALS, "0.5/0.8/0.9/0.95", 0.001, 0.999, NULL,
     "probabilities of central intervals, at most 8; for quantiles all intervals that they "
     "contain by default"},
};
static const pcal_option quantile_ce_options[] = {PC_FORECAST_LEVELS_OPTION};

static void pit_need(const pc_layout *layout, pc_metric_config *config) {
  config->need.machine = PC_CURVE;
  config->need.view = pc_view_pit(layout);
}

static pcal_status pit_configure(pc_options *options, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  if (layout->form == PC_FORM_QUANTILES)
    return pc_fail(err, PCAL_USAGE,
                   "%s needs whole distributions, which quantiles do not determine; use "
                   "quantile-ce or coverage",
                   options->name);
  pit_need(layout, config);
  return PCAL_OK;
}

/* Levels of the central intervals among the quantiles, narrowest first. */
static void pit_central_levels(const pc_layout *layout, pc_option_value *value) {
  const pc_forecast_shape shape = pc_forecast_layout_shape(layout);
  value->list_count = 0;
  for (size_t l = layout->columns; l-- > 0 && value->list_count < PC_PARTS_MAX;) {
    pc_level other;
    if (layout->levels[l] < 0.5 && pc_level_make(&shape, 1 - layout->levels[l], &other))
      value->list[value->list_count++] = 1 - 2 * layout->levels[l];
  }
}

/* True if there are quantiles at both ends of a central interval. */
static int pit_has_ends(const pc_layout *layout, double level) {
  const pc_forecast_shape shape = pc_forecast_layout_shape(layout);
  pc_level end;
  return pc_level_make(&shape, (1 - level) / 2, &end) &&
         pc_level_make(&shape, (1 + level) / 2, &end);
}

static pcal_status coverage_configure(pc_options *options, const pc_layout *layout,
                                      pc_metric_config *config, pcal_error *err) {
  pc_option_value *value = &options->value[PIT_LEVELS];
  char shown[PC_NUMBER_MAX];
  PC_TRY(pc_options_distinct(options, PIT_LEVELS, err));
  if (layout->form == PC_FORM_QUANTILES && !value->given)
    pit_central_levels(layout, value);
  if (value->list_count == 0)
    return pc_fail(err, PCAL_USAGE,
                   "%s needs the quantiles at both ends of an interval, such as 0.05 and "
                   "0.95, but no two of {levels} sum to 1; use quantile-ce",
                   options->name);
  if (value->list_count > PC_PARTS_MAX)
    return pc_fail(err, PCAL_USAGE, "%s allows at most %d levels, not %zu", options->name,
                   PC_PARTS_MAX, value->list_count);
  for (size_t l = 0; l < value->list_count; l++)
    if (!pit_has_ends(layout, value->list[l]))
      return pc_fail(err, PCAL_USAGE,
                     "%s: there are no quantiles at both ends of the central interval of "
                     "level %s; choose levels whose ends are among {levels}",
                     options->name, pc_show(value->list[l], shown));
  pit_need(layout, config);
  return PCAL_OK;
}

static pcal_status quantile_ce_configure(pc_options *options, const pc_layout *layout,
                                         pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_forecast_levels(options, PIT_LEVELS, layout, err));
  pit_need(layout, config);
  return PCAL_OK;
}

/* ---- normal predictions: every u is known ---- */

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

static double pit_moment(const pc_curve_table *table, double about, int power) {
  double sum = 0.0;
  for (size_t i = 0; i < table->count; i++) {
    const double gap = table->score[i] - about;
    sum += table->weight[i] * (power == 1 ? gap : gap * gap);
  }
  return sum / table->total;
}

/* ---- all forms ---- */

/* The data of a metric; places for samples and quantiles only. */
typedef struct pit_view {
  const pc_layout *layout;
  const pc_curve_table *table;
  pc_target_ranks places;
} pit_view;

static pcal_status pit_open(const pc_evidence *evidence, const pcal_env *env, pit_view *out,
                            pcal_error *err) {
  *out = (pit_view){evidence->layout, &evidence->curve.parts[0], {0, NULL, NULL, 0.0}};
  return out->layout->form == PC_FORM_GAUSSIAN
             ? PCAL_OK
             : pc_target_ranks_new(env, out->layout, out->table, &out->places, err);
}

/* Share of targets in the central interval of a level. */
static double pit_central(const pit_view *view, double level) {
  const double low = (1 - level) / 2, high = (1 + level) / 2;
  if (view->layout->form == PC_FORM_GAUSSIAN)
    return pit_share(view->table, low, high);
  if (view->layout->form == PC_FORM_SAMPLES)
    return pc_target_ranks_share(&view->places, high) -
           pc_target_ranks_share(&view->places, low);
  const pc_forecast_shape shape = pc_forecast_layout_shape(view->layout);
  pc_level from, to;
  pc_level_make(&shape, low, &from);
  pc_level_make(&shape, high, &to);
  return view->places.upto[to.column] - view->places.upto[from.column];
}

/* Share of targets up to the quantile of a level. */
static double pit_upto(const pit_view *view, double level) {
  if (view->layout->form == PC_FORM_GAUSSIAN)
    return pit_share(view->table, 0.0, level);
  if (view->layout->form == PC_FORM_SAMPLES)
    return pc_target_ranks_share(&view->places, level);
  const pc_forecast_shape shape = pc_forecast_layout_shape(view->layout);
  pc_level at;
  pc_level_make(&shape, level, &at);
  return view->places.upto[at.column];
}

/* Share of low < u <= high, with u = 0 in the first bin. */
static double pit_bin(const pit_view *view, double low, double high, size_t *at) {
  const pc_curve_table *table = view->table;
  double weight = 0.0;
  if (view->layout->form == PC_FORM_SAMPLES)
    return pc_target_ranks_share(&view->places, high) -
           pc_target_ranks_share(&view->places, low);
  while (*at < table->count && (high >= 1.0 || table->score[*at] <= high))
    weight += table->weight[(*at)++];
  return weight / table->total;
}

/* Half the sum of |share - 1/B|; fills the graph if wanted. */
static double pit_binned(const pit_view *view, size_t bins, pc_plot_table *graph) {
  double off = 0.0;
  size_t at = 0;
  for (size_t b = 0; b < bins; b++) {
    const double low = (double)b / (double)bins, high = (double)(b + 1) / (double)bins;
    const double share = pit_bin(view, low, high, &at);
    off += fabs(share - 1 / (double)bins);
    if (!graph->wanted)
      continue;
    graph->columns[0][b] = low;
    graph->columns[1][b] = high;
    graph->columns[2][b] = share * view->table->total;
    graph->columns[3][b] = share;
    graph->count = b + 1;
  }
  return off / 2;
}

static void pit_normal(const pit_view *view, double *distance, double *mean, double *variance) {
  *distance = pit_distance(view->table);
  *mean = pit_moment(view->table, 0.0, 1);
  *variance = pit_moment(view->table, *mean, 2);
}

/* The distribution of u is linear between multiples of 1/(n + 1), so it is farthest from
 * uniform at one of these. */
static void pit_samples(const pit_view *view, double *distance, double *mean,
                        double *variance) {
  const double cells = (double)view->places.count + 1.0;
  double upto = 0.0, square = 0.0;
  for (size_t c = 0; c <= view->places.count; c++) {
    const double mass = view->places.mass[c], middle = ((double)c + 0.5) / cells - 0.5;
    upto += mass;
    *distance = fmax(*distance, fabs(upto - ((double)c + 1.0) / cells));
    *mean += mass * middle;
    square += mass * (middle * middle + 1 / (12 * cells * cells));
  }
  *variance = square - *mean * *mean;
  *mean += 0.5;
}

static pcal_status pit_evaluate(const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  static const char *const names[] = {"low", "high", "weight", "share", NULL};
  const size_t bins = (size_t)options->value[PIT_BINS].number;
  double mean = 0.0, variance = 0.0;
  pit_view view;
  if (out->graph.wanted)
    PC_TRY(pc_plot_table_new(env, names, bins, &out->graph, err));
  PC_TRY(pit_open(evidence, env, &view, err));
  if (evidence->layout->form == PC_FORM_GAUSSIAN)
    pit_normal(&view, &out->value, &mean, &variance);
  else
    pit_samples(&view, &out->value, &mean, &variance);
  pc_metric_result_part(out, "bins", pit_binned(&view, bins, &out->graph));
  pc_metric_result_part(out, "mean", mean);
  pc_metric_result_part(out, "variance", variance);
  pc_target_ranks_free(env, &view.places);
  return PCAL_OK;
}

/* Shares of targets by level, at every percent, or at these levels for quantiles: `share` is
 * pit_central for central intervals, pit_upto for quantiles. */
static pcal_status coverage_graph(const double *levels, size_t level_count,
                                  double (*share)(const pit_view *view, double level),
                                  const pit_view *view, const pcal_env *env,
                                  pc_plot_table *graph, pcal_error *err) {
  static const char *const names[] = {"level", "share", NULL};
  const int few = view->layout->form == PC_FORM_QUANTILES;
  const size_t count = few ? level_count : COVERAGE_GRAPH_LEVELS;
  if (!graph->wanted)
    return PCAL_OK;
  PC_TRY(pc_plot_table_new(env, names, count, graph, err));
  graph->count = count;
  for (size_t i = 0; i < count; i++) {
    const double level = few ? levels[i] : (double)(i + 1) / (COVERAGE_GRAPH_LEVELS + 1.0);
    graph->columns[0][i] = level;
    graph->columns[1][i] = share(view, level);
  }
  return PCAL_OK;
}

static pcal_status coverage_evaluate(const pc_options *options, const pc_evidence *evidence,
                                     const pcal_env *env, pc_metric_result *out,
                                     pcal_error *err) {
  const pc_option_value *value = &options->value[PIT_LEVELS];
  pit_view view;
  PC_TRY(pit_open(evidence, env, &view, err));
  for (size_t l = 0; l < value->list_count; l++) {
    const double share = pit_central(&view, value->list[l]);
    out->value += fabs(share - value->list[l]) / (double)value->list_count;
    pc_metric_result_part_at(out, value->list[l], share);
  }
  const pcal_status status =
      coverage_graph(value->list, value->list_count, pit_central, &view, env, &out->graph, err);
  pc_target_ranks_free(env, &view.places);
  return status;
}

static pcal_status quantile_ce_evaluate(const pc_options *options, const pc_evidence *evidence,
                                        const pcal_env *env, pc_metric_result *out,
                                        pcal_error *err) {
  size_t count = 0;
  const double *levels = pc_forecast_levels_of(options, PIT_LEVELS, evidence->layout, &count);
  pit_view view;
  PC_TRY(pit_open(evidence, env, &view, err));
  for (size_t l = 0; l < count; l++)
    out->value += fabs(pit_upto(&view, levels[l]) - levels[l]) / (double)count;
  const pcal_status status =
      coverage_graph(levels, count, pit_upto, &view, env, &out->graph, err);
  pc_target_ranks_free(env, &view.places);
  return status;
}

const pc_metric pc_metric_pit = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "pit",
            .title = "distance of the probability integral transform from uniform",
            .formula = "sup_t |share of F_i(y_i) <= t - t|",
            .about = "0 if the transform is uniform. Of the parts, a mean different from "
                     "1/2 shows bias, a variance above 1/12 = 0.0833 distributions that "
                     "are too narrow; bins compares shares of equal-width bins.",
            .citation = "Dawid, Present position and potential developments: the prequential "
                        "approach, Journal of the Royal Statistical Society A 1984",
            .notion = PCAL_NOTION_PROBABILISTIC,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .options = pit_options,
            .option_count = sizeof pit_options / sizeof *pit_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS | PC_PARTS_IN_TEXT,
    .configure = pit_configure,
    .evaluate = pit_evaluate,
};

const pc_metric pc_metric_coverage = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "coverage",
            .title = "error of the coverage of central prediction intervals",
            .formula = "mean over levels p of |share of (1-p)/2 <= F_i(y_i) <= (1+p)/2 - p|",
            .about = "Share of targets inside central intervals, compared with their levels; "
                     "the parts are the shares, by level. Samples use the distribution of "
                     "ranks, so that a calibrated ensemble of any size has no error.",
            .citation = "Gneiting, Balabdaoui & Raftery, Probabilistic forecasts, calibration "
                        "and sharpness, Journal of the Royal Statistical Society B 2007",
            .notion = PCAL_NOTION_PROBABILISTIC,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = coverage_options,
            .option_count = sizeof coverage_options / sizeof *coverage_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS | PC_PARTS_IN_TEXT,
    .configure = coverage_configure,
    .evaluate = coverage_evaluate,
};

const pc_metric pc_metric_quantile_ce = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "quantile-ce",
            .title = "quantile calibration error",
            .formula = "mean over levels t of |share of y_i <= q_it - t|",
            .about =
                "Share of targets below predicted quantiles, compared with their "
                "levels. If targets equal quantiles, as for days without rain, the "
                "value between the shares of targets below and at most equal that is "
                "nearest to the level is used, apart for rows that predict different point "
                "masses, so that these hide no errors of other rows. Samples use the "
                "distribution of ranks.",
            .citation = "Kuleshov, Fenner & Ermon, Accurate uncertainties for deep learning "
                        "using calibrated regression, ICML 2018",
            .notion = PCAL_NOTION_PROBABILISTIC,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = quantile_ce_options,
            .option_count = sizeof quantile_ce_options / sizeof *quantile_ce_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS,
    .configure = quantile_ce_configure,
    .evaluate = quantile_ce_evaluate,
};
