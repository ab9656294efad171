/* ici, e50, e90, emax: distance of the scores from a smooth calibration curve.
 *
 * Formula:  d_i = |p_i - c(p_i)|, c: the curve of smooth_calibration.h
 *           ici: mean of d_i, e50: median, e90: 90 % quantile, emax: maximum over rows
 * Edge cases:
 * (1) those of the curve (smooth_calibration.c), above all scores of exactly 0 or 1;
 * (2) quantiles are interpolated between rows, and a row of weight w counts as w rows;
 * (3) the curve follows chance: like all calibration errors these are above 0 for a calibrated
 *     model.  Intervals (smooth_noise.h) reach 0 unless chance alone hardly explains the value;
 *     clusters have intervals from replicas, those of norms (stats/interval.c).
 * Source: Austin & Steyerberg, The Integrated Calibration Index (ICI) and related metrics,
 * Statistics in Medicine 2019.
 * Accuracy: gradient of the fit below 1e-9 of the rows; with more than 16384 distinct scores 1e-6.
 * Cost: one sort, and about eight passes over the scores. */
#include <math.h>
#include <stdlib.h>

#include "base/normal.h"
#include "metrics/event_view.h"
#include "metrics/smooth_noise.h"

#define ICI_CURVE_POINTS 201
#define ICI_LEVEL 0.95 /* of the band in plots */

enum { ICI_KNOTS, ICI_VIEW };

static const pcal_option ici_options[] = {
    {"knots", PCAL_OPTION_INT, "4", 3, PC_SMOOTH_KNOTS_MAX, NULL,
     "knots of the restricted cubic spline, at quantiles of the scores"},
    PC_EVENT_VIEW_OPTION,
};

static pcal_status ici_configure(pc_options *options, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_event_view_choose(options, ICI_VIEW, layout, config, err));
  config->need.machine = PC_CURVE;
  config->interval = PCAL_INTERVAL_INVERSION; /* where clusters need replicas */
  config->has_se = 1;
  return PCAL_OK;
}

typedef struct ici_distance {
  double distance, weight;
} ici_distance;

static double ici_of(const pc_smooth_point *point) {
  return fabs(point->score - point->rate);
}

static double ici_mean(const pc_smooth_calibration *fit) {
  double sum = 0.0, total = 0.0;
  for (size_t i = 0; i < fit->count; i++) {
    sum += fit->points[i].weight * ici_of(&fit->points[i]);
    total += fit->points[i].weight;
  }
  return sum / total;
}

static double ici_largest(const pc_smooth_calibration *fit) {
  double largest = 0.0;
  for (size_t i = 0; i < fit->count; i++)
    largest = fmax(largest, ici_of(&fit->points[i]));
  return largest;
}

static int ici_order(const void *a, const void *b) {
  const ici_distance *x = a, *y = b;
  return (x->distance > y->distance) - (x->distance < y->distance);
}

/* The p-quantile, as if each row of weight w were w rows. */
static double ici_quantile(const ici_distance *sorted, size_t count, double total, double p) {
  const double place = fmax(p * (total - 1.0), 0.0), below = floor(place);
  double seen = 0.0;
  size_t i = 0;
  while (i + 1 < count && seen + sorted[i].weight <= below)
    seen += sorted[i++].weight;
  const int inside = seen + sorted[i].weight > below + 1.0 || i + 1 == count;
  const double next = inside ? sorted[i].distance : sorted[i + 1].distance;
  return sorted[i].distance + (place - below) * (next - sorted[i].distance);
}

static pcal_status ici_fit_quantile(const pcal_env *env, const pc_smooth_calibration *fit,
                                    double p, double *out, pcal_error *err) {
  ici_distance *sorted = pc_alloc_raw(env, fit->count, sizeof *sorted);
  double total = 0.0;
  if (sorted == NULL)
    return pc_fail_memory(err, "sorting distances from the calibration curve");
  for (size_t i = 0; i < fit->count; i++) {
    sorted[i] = (ici_distance){ici_of(&fit->points[i]), fit->points[i].weight};
    total += fit->points[i].weight;
  }
  qsort(sorted, fit->count, sizeof *sorted, ici_order);
  *out = ici_quantile(sorted, fit->count, total, p);
  pc_free(env, sorted);
  return PCAL_OK;
}

/* The curve with its band, at evenly spaced scores between the lowest and the highest. */
static pcal_status ici_graph(const pcal_env *env, const pc_smooth_calibration *fit,
                             pc_plot_table *graph, pcal_error *err) {
  static const char *const names[] = {"score", "frequency", "low", "high", NULL};
  const double z = pc_normal_quantile(0.5 + 0.5 * ICI_LEVEL);
  const double first = fit->points[0].score, last = fit->points[fit->count - 1].score;
  if (!graph->wanted)
    return PCAL_OK;
  PC_TRY(pc_plot_table_new(env, names, ICI_CURVE_POINTS, graph, err));
  for (size_t i = 0; i < ICI_CURVE_POINTS; i++) {
    const double share = (double)i / (ICI_CURVE_POINTS - 1);
    const double score = first + share * (last - first);
    const pc_smooth_value value = pc_smooth_calibration_at(fit, score, z);
    graph->columns[0][i] = score;
    graph->columns[1][i] = value.rate;
    graph->columns[2][i] = value.low;
    graph->columns[3][i] = value.high;
  }
  graph->count = ICI_CURVE_POINTS;
  return PCAL_OK;
}

static int ici_ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double ici_summary_mean(double *distances, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++)
    sum += distances[i];
  return sum / (double)count;
}

static double ici_summary_50(double *distances, size_t count) {
  qsort(distances, count, sizeof *distances, ici_ascending);
  return pc_interval_quantile(distances, count, 0.5);
}

static double ici_summary_90(double *distances, size_t count) {
  qsort(distances, count, sizeof *distances, ici_ascending);
  return pc_interval_quantile(distances, count, 0.9);
}

static double ici_summary_max(double *distances, size_t count) {
  double largest = 0.0;
  for (size_t i = 0; i < count; i++)
    largest = fmax(largest, distances[i]);
  return largest;
}

/* Quantiles by their p; ICI_MEAN and ICI_LARGEST are not quantiles. */
#define ICI_MEAN (-1.0)
#define ICI_LARGEST 2.0

static pcal_status ici_measure(const pc_options *options, const pc_evidence *evidence,
                               const pcal_env *env, double p, pc_distance_summary summary,
                               pc_metric_result *out, pcal_error *err) {
  pc_smooth_calibration fit;
  pcal_status status = pc_smooth_calibration_fit(
      env, &evidence->curve.parts[0], (size_t)options->value[ICI_KNOTS].number, &fit, err);
  if (status == PCAL_OK && p == ICI_MEAN)
    out->value = ici_mean(&fit);
  else if (status == PCAL_OK && p == ICI_LARGEST)
    out->value = ici_largest(&fit);
  else if (status == PCAL_OK)
    status = ici_fit_quantile(env, &fit, p, &out->value, err);
  if (status == PCAL_OK && out->se_wanted)
    pc_smooth_noise(&fit, summary, out);
  if (status == PCAL_OK)
    status = ici_graph(env, &fit, &out->graph, err);
  pc_smooth_calibration_free(env, &fit);
  return status;
}

#define ICI_EVALUATE(name, p, summary)                                                   \
  static pcal_status name(const pc_options *options, const pc_evidence *evidence,        \
                          const pcal_env *env, pc_metric_result *out, pcal_error *err) { \
    return ici_measure(options, evidence, env, p, summary, out, err);                    \
  }

ICI_EVALUATE(ici_evaluate, ICI_MEAN, ici_summary_mean)
ICI_EVALUATE(ici_evaluate_50, 0.5, ici_summary_50)
ICI_EVALUATE(ici_evaluate_90, 0.9, ici_summary_90)
ICI_EVALUATE(ici_evaluate_max, ICI_LARGEST, ici_summary_max)

#define ICI_ROW(its_name, its_title, its_formula, its_about)                                \
  {                                                                                         \
    .registry = PCAL_METRICS, .name = its_name, .title = its_title, .formula = its_formula, \
    .about = its_about,                                                                     \
    .citation = "Austin & Steyerberg, The Integrated Calibration Index (ICI) and related "  \
                "metrics, Statistics in Medicine 2019",                                     \
    .notion = PCAL_NOTION_TOP_LABEL, .machine = PCAL_MACHINE_CURVE,                         \
    .better = PCAL_BETTER_LOWER, .options = ici_options,                                    \
    .option_count = sizeof ici_options / sizeof *ici_options,                               \
  }

/* Measured by tools/make-event-coverage: e50 and e90 of a model whose distances are far from 0. */
#define ICI_NARROW                                                                         \
  "in simulations its 95 % intervals contained the truth in 89 to 93 % of the sets where " \
  "that "                                                                                  \
  "is far from 0: read it as a little too narrow"
#define ICI_OF_ROWS                                                                    \
  "its interval is about the scores of these rows; how often it contains the largest " \
  "distance "                                                                          \
  "over all possible scores is not known"

#define ICI_TRAITS (PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS)

const pc_metric pc_metric_ici = {
    .row =
        ICI_ROW("ici", "integrated calibration index",
                "mean_i |p_i - c(p_i)|, c: smooth calibration curve",
                "Mean distance of the scores from a smooth calibration curve: a logistic "
                "regression of the outcome on a restricted cubic spline of the logit of the "
                "score. Needs no bins, and shows more than bins for a few hundred rows. "
                "Above 0 also for a calibrated model, by chance. Scores closer than 1e-6 to 0 "
                "or 1 are smoothed as if they were that close. The figure calibration-curve "
                "shows the curve."),
    .range = PC_RANGE_SHARE,
    .traits = ICI_TRAITS,
    .configure = ici_configure,
    .evaluate = ici_evaluate,
};

const pc_metric pc_metric_e50 = {
    .row = ICI_ROW("e50", "median distance from the smooth calibration curve",
                   "median_i |p_i - c(p_i)|, c: smooth calibration curve",
                   "As ici, with the median over rows in place of the mean."),
    .range = PC_RANGE_SHARE,
    .traits = ICI_TRAITS,
    .interval_remark = ICI_NARROW,
    .configure = ici_configure,
    .evaluate = ici_evaluate_50,
};

const pc_metric pc_metric_e90 = {
    .row = ICI_ROW("e90", "90 % quantile of the distance from the smooth calibration curve",
                   "90 % quantile over i of |p_i - c(p_i)|, c: smooth calibration curve",
                   "As ici, with the 90 % quantile over rows in place of the mean."),
    .range = PC_RANGE_SHARE,
    .traits = ICI_TRAITS,
    .interval_remark = ICI_NARROW,
    .configure = ici_configure,
    .evaluate = ici_evaluate_90,
};

const pc_metric pc_metric_emax = {
    .row = ICI_ROW("emax", "largest distance from the smooth calibration curve",
                   "max_i |p_i - c(p_i)|, c: smooth calibration curve",
                   "As ici, with the maximum over rows in place of the mean; it depends on the "
                   "few rows with the most extreme scores."),
    .range = PC_RANGE_SHARE,
    .traits = ICI_TRAITS,
    .interval_remark = ICI_OF_ROWS,
    .configure = ici_configure,
    .evaluate = ici_evaluate_max,
};
