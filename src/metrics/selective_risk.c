/* aurc, excess-aurc, augrc, selective-risk, coverage-at-risk: errors among the most confident rows.
 *
 * Formula:  rows by descending confidence; E(n): errors among the first n of N rows
 *           selective-risk   E(cN) / (cN), c: coverage
 *           coverage-at-risk the largest n / N with E(n) / n <= risk
 *           aurc             (1/N) sum_{n=1..N} E(n) / n
 *           excess-aurc      aurc less that of an ideal order, all errors last:
 *                            (1/N) sum_n max(n - C, 0) / n,  C: correct rows
 *           augrc            (1/N^2) sum_{n=1..N} (E(n - 1) + E(n)) / 2,
 *                            = (1 - failure-auroc) a (1 - a) + (1 - a)^2 / 2,  a: accuracy
 * Edge cases:
 * (1) rows of equal confidence count in all their orders: among n rows of a tie of m rows with e
 *     errors, n e / m errors are expected.  The order of rows does not matter;
 * (2) coverage-at-risk accepts rows of equal confidence together, since a threshold cannot tell
 *     them apart; 0 if no threshold has so small a risk;
 * (3) a row of weight w counts as w rows; weights need not be whole: sums of 1/n over a tie are
 *     differences of digamma functions;
 * (4) one column: the confidence is that of the predicted class of the two.
 * Source: Geifman & El-Yaniv, Selective classification for deep neural networks, NeurIPS 2017;
 * Geifman, Uziel & El-Yaniv, Bias-reduced uncertainty estimation, ICLR 2019 (excess); Traub et
 * al., Overcoming common flaws in the evaluation of selective classification systems, NeurIPS
 * 2024 (augrc).
 * Accuracy: relative error 1e-14.   Cost: one sort. */
#include <math.h>

#include "base/elementary.h"
#include "metrics/metric.h"

#define SELECTIVE_POINTS 512 /* most points of the plot */
#define SELECTIVE_SHIFT 16   /* argument from which on the series of digamma is accurate */

static pcal_status selective_configure(pc_options *options, const pc_layout *layout,
                                       pc_metric_config *config, pcal_error *err) {
  (void)options;
  (void)layout;
  (void)err;
  config->need.machine = PC_CURVE;
  config->need.view.kind = PC_VIEW_RANK;
  config->need.view.index = 1;
  return PCAL_OK;
}

/* Rows, errors and their sums, accepted from the highest confidence down. */
typedef struct selective_walk {
  size_t left; /* entries not yet accepted */
  double rows, errors;
  double tie_rows, tie_errors; /* of the entry accepted last */
} selective_walk;

/* Accepts the next entry; returns 0 after the last. */
static int selective_next(const pc_curve_table *table, selective_walk *walk) {
  if (walk->left == 0)
    return 0;
  const size_t i = --walk->left;
  walk->tie_rows = table->weight[i];
  walk->tie_errors = table->weight[i] - table->hits[i];
  walk->rows += walk->tie_rows;
  walk->errors += walk->tie_errors;
  return 1;
}

/* digamma(x) - log(x), x >= SELECTIVE_SHIFT */
static double selective_digamma_rest(double x) {
  const double u = 1.0 / (x * x);
  return -0.5 / x -
         u * (1.0 / 12 - u * (1.0 / 120 - u * (1.0 / 252 - u * (1.0 / 240 - u / 132))));
}

/* sum_{j=1..m} 1 / (n + j), for any n >= 0 and m >= 0. */
static double selective_harmonic(double n, double m) {
  double sum = 0.0;
  if (m == 1.0)
    return 1.0 / (n + 1.0);
  const double a = n + 1.0, b = a + m;
  for (int k = 0; k < SELECTIVE_SHIFT; k++)
    sum += m / ((a + k) * (b + k));
  const double high = b + SELECTIVE_SHIFT, low = a + SELECTIVE_SHIFT;
  return sum + pc_log1p(m / low) + (selective_digamma_rest(high) - selective_digamma_rest(low));
}

/* sum of E(n) / n over the rows of a tie: e/m (n - before) + errors before, divided by n. */
static double selective_tie_risks(const selective_walk *walk) {
  const double before = walk->rows - walk->tie_rows;
  const double errors = walk->errors - walk->tie_errors;
  const double rate = walk->tie_errors / walk->tie_rows;
  return walk->tie_errors +
         (errors - before * rate) * selective_harmonic(before, walk->tie_rows);
}

static double selective_area(const pc_curve_table *table) {
  selective_walk walk = {.left = table->count};
  double sum = 0.0;
  while (selective_next(table, &walk))
    sum += walk.tie_rows > 0.0 ? selective_tie_risks(&walk) : 0.0;
  return sum / table->total;
}

static double selective_correct(const pc_curve_table *table) {
  double correct = 0.0;
  for (size_t i = 0; i < table->count; i++)
    correct += table->hits[i];
  return correct;
}

/* The area if all errors had the lowest confidence: sum_{n > C} (n - C) / n. */
static double selective_ideal_area(const pc_curve_table *table) {
  const double correct = selective_correct(table), errors = table->total - correct;
  return errors > 0.0 ? (errors - correct * selective_harmonic(correct, errors)) / table->total
                      : 0.0;
}

/* Errors among the most confident `rows` rows. */
static double selective_errors(const pc_curve_table *table, double rows) {
  selective_walk walk = {.left = table->count};
  while (walk.rows < rows && selective_next(table, &walk)) {
  }
  const double over = walk.rows - rows;
  return walk.errors - (over > 0.0 ? over * (walk.tie_errors / walk.tie_rows) : 0.0);
}

/* Risk by coverage at thresholds, thinned to SELECTIVE_POINTS. */
static pcal_status selective_graph(const pc_curve_table *table, const pcal_env *env,
                                   pc_plot_table *graph, pcal_error *err) {
  static const char *const names[] = {"coverage", "risk", "threshold", NULL};
  selective_walk walk = {.left = table->count};
  if (!graph->wanted)
    return PCAL_OK;
  PC_TRY(pc_plot_table_new(env, names, SELECTIVE_POINTS + 1, graph, err));
  while (selective_next(table, &walk)) {
    const double coverage = walk.rows / table->total;
    if (coverage * SELECTIVE_POINTS < (double)graph->count && walk.left > 0)
      continue;
    if (graph->count > SELECTIVE_POINTS) /* replaces a point whose coverage rounds to 1 */
      graph->count--;
    graph->columns[0][graph->count] = coverage;
    graph->columns[1][graph->count] = walk.errors / walk.rows;
    graph->columns[2][graph->count++] = table->score[walk.left];
  }
  return PCAL_OK;
}

static pcal_status aurc_evaluate(const pc_options *options, const pc_evidence *evidence,
                                 const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  const pc_curve_table *table = &evidence->curve.parts[0];
  (void)options;
  out->value = selective_area(table);
  pc_metric_result_part(out, "ideal", selective_ideal_area(table));
  return selective_graph(table, env, &out->graph, err);
}

static pcal_status excess_evaluate(const pc_options *options, const pc_evidence *evidence,
                                   const pcal_env *env, pc_metric_result *out,
                                   pcal_error *err) {
  const pc_curve_table *table = &evidence->curve.parts[0];
  (void)options;
  (void)env;
  (void)err;
  out->value = fmax(selective_area(table) - selective_ideal_area(table), 0.0);
  return PCAL_OK;
}

static pcal_status augrc_evaluate(const pc_options *options, const pc_evidence *evidence,
                                  const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  const pc_curve_table *table = &evidence->curve.parts[0];
  selective_walk walk = {.left = table->count};
  double sum = 0.0;
  (void)options;
  (void)env;
  (void)err;
  while (selective_next(table, &walk))
    sum += walk.tie_rows * (walk.errors - 0.5 * walk.tie_errors);
  out->value = sum / (table->total * table->total);
  return PCAL_OK;
}

enum { SELECTIVE_GOAL };

static const pcal_option selective_risk_options[] = {
    {"coverage", PCAL_OPTION_REAL, "0.8", 0.001, 1, NULL,
     "share of rows that are answered, the most confident ones"},
};

static const pcal_option coverage_at_risk_options[] = {
    {"risk", PCAL_OPTION_REAL, "0.05", 0, 1, NULL, "share of errors that is accepted"},
};

static pcal_status selective_risk_evaluate(const pc_options *options,
                                           const pc_evidence *evidence, const pcal_env *env,
                                           pc_metric_result *out, pcal_error *err) {
  const pc_curve_table *table = &evidence->curve.parts[0];
  const double rows = options->value[SELECTIVE_GOAL].number * table->total;
  (void)env;
  (void)err;
  out->value = fmax(selective_errors(table, rows), 0.0) / rows;
  return PCAL_OK;
}

static pcal_status coverage_at_risk_evaluate(const pc_options *options,
                                             const pc_evidence *evidence, const pcal_env *env,
                                             pc_metric_result *out, pcal_error *err) {
  const pc_curve_table *table = &evidence->curve.parts[0];
  const double risk = options->value[SELECTIVE_GOAL].number;
  selective_walk walk = {.left = table->count};
  (void)env;
  (void)err;
  double threshold = (double)NAN;
  while (selective_next(table, &walk))
    if (walk.errors / walk.rows <= risk) {
      out->value = walk.rows / table->total;
      threshold = table->score[walk.left];
    }
  if (!isnan(threshold))
    pc_metric_result_part(out, "threshold", threshold);
  return PCAL_OK;
}

#define SELECTIVE_TRAITS (PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_SQUARED)
#define SELECTIVE_TRAUB                                                                  \
  "Traub et al., Overcoming common flaws in the evaluation of selective classification " \
  "systems, NeurIPS 2024"
#define SELECTIVE_GEIFMAN \
  "Geifman & El-Yaniv, Selective classification for deep neural networks, NeurIPS 2017"

const pc_metric pc_metric_aurc = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "aurc",
            .title = "area under the risk-coverage curve",
            .formula = "(1/N) sum_n (errors among the n most confident rows) / n",
            .about =
                "The share of errors among the most confident rows, averaged over how many "
                "of them are answered; lower is better. It mixes accuracy with the quality "
                "of the order; excess-aurc removes the part that errors cause in any order, "
                "which is the part ideal.",
            .citation =
                "Geifman, Uziel & El-Yaniv, Bias-reduced uncertainty estimation for deep "
                "neural classifiers, ICLR 2019",
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
        },
    .range = PC_RANGE_SHARE,
    .traits = SELECTIVE_TRAITS,
    .configure = selective_configure,
    .evaluate = aurc_evaluate,
};

const pc_metric pc_metric_excess_aurc = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "excess-aurc",
            .title = "area under the risk-coverage curve, above that of an ideal order",
            .formula = "aurc - (1/N) sum_n max(n - C, 0) / n, C the number of correct rows",
            .about = "0 if every correct row is more confident than every wrong one.",
            .citation =
                "Geifman, Uziel & El-Yaniv, Bias-reduced uncertainty estimation for deep "
                "neural classifiers, ICLR 2019",
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
        },
    .range = PC_RANGE_SHARE,
    .traits = SELECTIVE_TRAITS,
    .configure = selective_configure,
    .evaluate = excess_evaluate,
};

const pc_metric pc_metric_augrc = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "augrc",
            .title = "area under the generalised risk-coverage curve",
            .formula = "(1/N^2) sum_n (errors among the n most confident rows)",
            .about = "The probability that a row is answered and wrong, averaged over the "
                     "coverage; lower is better. Unlike aurc it weighs all errors alike, "
                     "whatever their confidence. Equal to (1 - failure-auroc) a (1 - a) + (1 - "
                     "a)^2 / 2 with the accuracy a.",
            .citation = SELECTIVE_TRAUB,
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
        },
    .range = PC_RANGE_SHARE,
    .traits = SELECTIVE_TRAITS,
    .configure = selective_configure,
    .evaluate = augrc_evaluate,
};

const pc_metric pc_metric_selective_risk = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "selective-risk",
            .title = "share of errors among the most confident rows",
            .formula = "(errors among the c N most confident rows) / (c N), c the coverage",
            .about = "The error rate if only the share c of rows is answered and the rest is "
                     "passed on, for example to a person.",
            .citation = SELECTIVE_GEIFMAN,
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = selective_risk_options,
            .option_count = sizeof selective_risk_options / sizeof *selective_risk_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = SELECTIVE_TRAITS,
    .configure = selective_configure,
    .evaluate = selective_risk_evaluate,
};

const pc_metric pc_metric_coverage_at_risk = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "coverage-at-risk",
            .title = "share of rows that can be answered with a given share of errors",
            .formula = "largest share of rows above a threshold of confidence whose share of "
                       "errors is at most the risk",
            .about =
                "How many rows a model may answer by itself if at most this share of its "
                "answers may be wrong. The part threshold is the lowest confidence that is "
                "answered. It is chosen on these rows, so the share of errors on new rows "
                "is a little higher.",
            .citation = SELECTIVE_GEIFMAN,
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_HIGHER,
            .unit = PCAL_UNIT_SHARE,
            .options = coverage_at_risk_options,
            .option_count = sizeof coverage_at_risk_options / sizeof *coverage_at_risk_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = SELECTIVE_TRAITS,
    .configure = selective_configure,
    .evaluate = coverage_at_risk_evaluate,
};
