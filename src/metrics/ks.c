/* ks: the Kolmogorov-Smirnov calibration error.
 *
 * Formula:  max over s of |(1/N) sum_{i: s_i <= s} (s_i - a_i)|,  s_i: score, a_i: outcome
 * Edge cases:
 * (1) evaluated at distinct scores only, by definition; a maximum over rows would depend on the
 *     order of rows with equal scores;
 * (2) rank=r: the r-th largest probability and its class; within=r: the score is the sum of the
 *     r largest probabilities, the outcome whether the label is one of these r classes;
 *     class=c: one class; at most one of the three;
 * (3) by=label: the mean over predicted labels, weighted by their frequency, of the error among
 *     the rows with that prediction;
 * (4) a one-column score means class=1.
 * Parts: at, the score where the maximum is reached; signed, positive if scores exceed outcomes
 * up to there.
 * Curve: score, fraction of rows, cumulative score and cumulative outcome, at most a thousand
 * points, the maximum among them; with by=label also the label.
 * Source: Gupta et al. 2021, equations 9-10; by=label: Gruber & Buettner 2022, Definition C.2,
 * interpreted as in its proof.
 * Accuracy: exact to 2^-62 per row.
 * Cost: one sort. */
#include <math.h>

#include "curve/cumulative_points.h"
#include "curve/curve_gap.h"
#include "metrics/metric.h"

#define KS_STRETCHES 333 /* of the curve, with up to three points each */

enum { KS_RANK, KS_WITHIN, KS_CLASS, KS_BY };
enum { KS_POOLED, KS_BY_LABEL };

static const pcal_option ks_options[] = {
    {"rank", PCAL_OPTION_INT, "", 1, PC_CLASSES_MAX, NULL,
     "use the r-th largest probability (default 1, the predicted class)"},
    {"within", PCAL_OPTION_INT, "", 1, PC_CLASSES_MAX, NULL,
     "use the sum of the r largest probabilities"},
    {"class", PCAL_OPTION_INT, "", 0, PC_CLASSES_MAX, NULL,
     "use the probability of one class (default 1 for a one-column score)"},
    {"by", PCAL_OPTION_CHOICE, "pooled", 0, 0, "pooled|label",
     "all rows together, or the mean over predicted labels"},
};

static void ks_set(pc_options *options, size_t index, double value) {
  options->value[index].set = 1;
  options->value[index].number = value;
}

static pcal_status ks_check_index(const pc_options *options, size_t index, size_t limit,
                                  pcal_error *err) {
  if (options->value[index].set && options->value[index].number > (double)limit)
    return pc_fail(err, PCAL_USAGE,
                   "ks: %s=%.0f is too large for the data; the largest possible is %zu",
                   options->table[index].name, options->value[index].number, limit);
  return PCAL_OK;
}

static pcal_status ks_check(pc_options *options, const pc_layout *layout, pcal_error *err) {
  const int given = options->value[KS_RANK].set + options->value[KS_WITHIN].set +
                    options->value[KS_CLASS].set;
  if (given > 1)
    return pc_fail(err, PCAL_USAGE, "ks: give one of rank, within and class, not several");
  if (layout->kind == PCAL_CONFIDENCE &&
      (options->value[KS_WITHIN].set || options->value[KS_CLASS].set))
    return pc_fail(
        err, PCAL_USAGE,
        "ks: confidences are of the predicted class only; remove within= and class=, or "
        "give all class probabilities as {probs}");
  PC_TRY(ks_check_index(options, KS_RANK, layout->classes, err));
  PC_TRY(ks_check_index(options, KS_WITHIN, layout->classes, err));
  PC_TRY(ks_check_index(options, KS_CLASS, layout->classes - 1, err));
  if (given == 0 && pc_layout_is_binary(layout) && options->value[KS_BY].choice == KS_POOLED)
    ks_set(options, KS_CLASS, 1);
  else if (given == 0)
    ks_set(options, KS_RANK, 1);
  return PCAL_OK;
}

static pcal_status ks_by_label(const pc_options *options, const pc_layout *layout,
                               pc_metric_config *config, pcal_error *err) {
  if (!options->value[KS_RANK].set || options->value[KS_RANK].number != 1)
    return pc_fail(err, PCAL_USAGE, "ks: by=label needs rank=1");
  if (layout->kind == PCAL_CONFIDENCE)
    return pc_fail(err, PCAL_USAGE,
                   "ks: by=label needs the predicted labels, which confidences do not "
                   "include; give all class probabilities as {probs}");
  config->need.view.by_label = 1;
  return PCAL_OK;
}

static pcal_status ks_configure(pc_options *options, const pc_layout *layout,
                                pc_metric_config *config, pcal_error *err) {
  PC_TRY(ks_check(options, layout, err));
  pc_view *view = &config->need.view;
  const size_t index = options->value[KS_CLASS].set    ? KS_CLASS
                       : options->value[KS_WITHIN].set ? KS_WITHIN
                                                       : KS_RANK;
  view->kind = index == KS_CLASS    ? PC_VIEW_CLASS
               : index == KS_WITHIN ? PC_VIEW_WITHIN
                                    : PC_VIEW_RANK;
  view->index = (int32_t)options->value[index].number;
  config->need.machine = PC_CURVE;
  config->on_cells = 1;
  config->bound = PCAL_BOUND_LOWER;
  config->most = 1.0;
  config->notion = index != KS_CLASS      ? PCAL_NOTION_TOP_LABEL
                   : layout->classes == 2 ? PCAL_NOTION_CANONICAL
                                          : PCAL_NOTION_CLASS_WISE;
  if (options->value[KS_BY].choice == KS_BY_LABEL)
    return ks_by_label(options, layout, config, err);
  return PCAL_OK;
}

static size_t ks_wants(const pc_options *options, const pc_curve_table *table,
                       uint8_t *wanted) {
  (void)options;
  return pc_curve_gap_wants(table, wanted);
}

/* Appends the points of one part. */
static void ks_graph_part(const pc_evidence *evidence, size_t part, size_t stretches,
                          pc_cumulative_point *points, pc_plot_table *graph) {
  const size_t count =
      pc_cumulative_points(&evidence->curve.parts[part], evidence->total, stretches, points);
  for (size_t i = 0; i < count; i++, graph->count++) {
    graph->columns[0][graph->count] = points[i].score;
    graph->columns[1][graph->count] = points[i].fraction;
    graph->columns[2][graph->count] = points[i].scores;
    graph->columns[3][graph->count] = points[i].outcomes;
    if (graph->column_count > 4)
      graph->columns[4][graph->count] = (double)part;
  }
}

static pcal_status ks_graph(const pcal_env *env, const pc_evidence *evidence,
                            pc_plot_table *graph, pcal_error *err) {
  static const char *const names[] = {
      "score", "fraction", "cumulated_score", "cumulated_outcome", "label", NULL};
  static const char *const plain[] = {"score", "fraction", "cumulated_score",
                                      "cumulated_outcome", NULL};
  const size_t parts = evidence->curve.part_count;
  const size_t stretches = KS_STRETCHES / parts > 4 ? KS_STRETCHES / parts : 4;
  size_t room = 0, largest = 0;
  for (size_t p = 0; p < parts; p++) {
    const size_t more = pc_cumulative_points_max(&evidence->curve.parts[p], stretches);
    room += more;
    largest = more > largest ? more : largest;
  }
  pc_cumulative_point *points = pc_alloc_raw(env, largest, sizeof *points);
  if (points == NULL)
    return pc_fail_memory(err, "keeping a curve");
  const pcal_status status =
      pc_plot_table_new(env, parts > 1 ? names : plain, room, graph, err);
  for (size_t p = 0; p < parts && status == PCAL_OK; p++)
    ks_graph_part(evidence, p, stretches, points, graph);
  pc_free(env, points);
  return status;
}

static pcal_status ks_evaluate(const pc_options *options, const pc_evidence *evidence,
                               const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  pcal_env quiet = *env; /* whose tasks cannot fail */
  quiet.progress = NULL;
  quiet.interrupted = NULL;
  (void)options;
  pc_gap gap = {0.0, 0.0};
  for (size_t p = 0; p < evidence->curve.part_count; p++) {
    pc_curve_table table = evidence->curve.parts[p];
    table.team = &quiet;
    gap = pc_curve_gap(&table);
    out->value += fabs(gap.value) / evidence->total;
  }
  if (evidence->curve.part_count == 1) {
    pc_metric_result_part(out, "at", gap.at);
    pc_metric_result_part(out, "signed", gap.value / evidence->total);
  }
  if (out->graph.wanted)
    return ks_graph(env, evidence, &out->graph, err);
  return PCAL_OK;
}

const pc_metric pc_metric_ks = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "ks",
            .title = "Kolmogorov-Smirnov calibration error",
            .formula = "max_s |(1/N) sum_{i: s_i <= s} (s_i - a_i)|",
            .about = "The largest distance between cumulative scores and cumulative "
                     "outcomes, over distinct scores. It needs no bins. The part \"at\" is "
                     "the score where the distance is largest; \"signed\" is positive if "
                     "scores are too high. It is not the statistic of the classical test, "
                     "so it has no p-value.",
            .citation = "Gupta et al., Calibration of neural networks using splines, ICLR 2021",
            .notion = PCAL_NOTION_TOP_LABEL,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = ks_options,
            .option_count = sizeof ks_options / sizeof *ks_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS,
    .configure = ks_configure,
    .evaluate = ks_evaluate,
    .wants = ks_wants,
};
