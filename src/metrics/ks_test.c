/* ks-test, kuiper: tests on cumulative differences.
 *
 * Formula:  C(s) = sum_{i: p_i <= s} (y_i - p_i),  v = sum_i p_i (1 - p_i)
 *           ks-test: max_s |C(s)| / sqrt(v), distributed as max |W|
 *           kuiper:  (max_s C(s) - min_s C(s)) / sqrt(v) with C = 0 included, as the range of W
 *           W: Brownian motion on [0, 1]
 * Edge cases:
 * (1) evaluated at distinct scores only, as ks is;
 * (2) v = 0 (scores 0 and 1 only): no test if every outcome equals its score, else infinite
 *     with p-value 0;
 * (3) scores stored outside [0, 1] count as 0 or 1;
 * (4) view=classwise as in spiegelhalter: for p-values the distances above and below 0 are
 *     corrected for the skewness of C;
 * (5) the distributions are limits for many rows; for few rows the tests reject slightly less
 *     often than their level.
 * Source: Tygert, arXiv:2205.01064 and Arrieta-Ibarra et al., Journal of Machine Learning
 * Research 2022; distributions: stats/distributions.c.
 * Accuracy: sums exact to 2^-61, sums of squares to 2^-53 per row.  max and min of C are found
 *           as the
 * gap of ks is (curve/curve_gap.h): a segment of scores is resolved only if C may exceed its
 * known extremes inside.
 * Cost: a few passes over the scores; view=classwise one sort. */
#include <math.h>

#include "metrics/calibration_test.h"
#include "stats/distributions.h"

enum { KS_TEST_VIEW };

static const pcal_option ks_test_options[] = {PC_CALIBRATION_TEST_VIEW_OPTION};

/* ---- the walk C, in exact sums ---- */

/* The rows of an entry, with scores clipped to [0, 1]. */
typedef struct ks_test_entry {
  pc_fixed hits;            /* their number */
  pc_fixed scores, of_hits; /* sums of the scores of all rows, and of hits */
  pc_fixed squares;
} ks_test_entry;

static ks_test_entry ks_test_read(const pc_curve_table *table, size_t i) {
  const double low = pc_curve_table_low(table, i), high = pc_curve_table_high(table, i);
  ks_test_entry out = {.hits = {0}};
  pc_fixed rows = {0};
  pc_fixed_add_weighted(&out.hits, pc_curve_table_hits(table, i), 1.0);
  pc_fixed_add_weighted(&rows, pc_curve_table_weight(table, i), 1.0);
  if (high <= 0.0)
    return out;
  if (low >= 1.0) {
    out.scores = out.squares = rows;
    out.of_hits = out.hits;
  } else {
    out.scores = pc_curve_table_score_sum(table, i);
    out.of_hits = pc_curve_table_hit_sum(table, i);
    out.squares = pc_curve_table_square_sum(table, i);
  }
  return out;
}

/* The extremes of C after entries of a table, 0 included. */
typedef struct ks_test_extremes {
  pc_fixed high, low;
} ks_test_extremes;

static pc_int128 ks_test_step(const ks_test_entry *entry, pc_int128 at) {
  return at + entry->hits.units - entry->scores.units;
}

static ks_test_extremes ks_test_find(const pc_curve_table *table, pc_fixed *variance) {
  ks_test_extremes found = {{0}, {0}};
  pc_int128 at = 0;
  *variance = (pc_fixed){0};
  for (size_t i = 0; i < table->count; i++) {
    const ks_test_entry entry = ks_test_read(table, i);
    at = ks_test_step(&entry, at);
    found.high.units = at > found.high.units ? at : found.high.units;
    found.low.units = at < found.low.units ? at : found.low.units;
    variance->units += entry.scores.units - entry.squares.units;
  }
  return found;
}

/* True if C may exceed its known extremes inside an open entry, `before` being its value before the
 * entry; or if the entry holds scores on both sides of 0 or 1. */
static int ks_test_open(const pc_curve_table *table, size_t i, const ks_test_extremes *known,
                        pc_int128 before) {
  const double low = pc_curve_table_low(table, i), high = pc_curve_table_high(table, i);
  const ks_test_entry entry = ks_test_read(table, i);
  return (low < 0.0 && high > 0.0) || (low < 1.0 && high > 1.0) ||
         before + entry.hits.units - entry.of_hits.units > known->high.units ||
         before - (entry.scores.units - entry.of_hits.units) < known->low.units;
}

static size_t ks_test_wants(const pc_options *options, const pc_curve_table *table,
                            uint8_t *wanted) {
  (void)options;
  pc_fixed variance;
  const ks_test_extremes known = ks_test_find(table, &variance);
  pc_int128 at = 0;
  size_t count = 0;
  for (size_t i = 0; i < table->count; i++) {
    if (pc_curve_table_open(table, i) && !wanted[i] && ks_test_open(table, i, &known, at)) {
      wanted[i] = 1;
      count++;
    }
    const ks_test_entry entry = ks_test_read(table, i);
    at = ks_test_step(&entry, at);
  }
  return count;
}

/* ---- the statistic ---- */

typedef struct ks_test_walk {
  double high, low; /* of C */
  double variance, third;
} ks_test_walk;

/* The third central moment of C; tables of scores only. */
static double ks_test_third(const pc_curve_table *table) {
  double third = 0.0;
  for (size_t i = 0; i < table->count; i++) {
    const double p = pc_calibration_test_score(table->score[i]);
    third += table->weight[i] * p * (1.0 - p) * (1.0 - 2.0 * p);
  }
  return third;
}

static ks_test_walk ks_test_sum(const pc_curve_table *table, int far) {
  pc_fixed variance;
  const ks_test_extremes found = ks_test_find(table, &variance);
  return (ks_test_walk){pc_fixed_value(&found.high), pc_fixed_value(&found.low),
                        pc_fixed_value(&variance), far ? ks_test_third(table) : 0.0};
}

/* The walk divided by its standard deviation and, with `far`, corrected for skewness. */
static ks_test_walk ks_test_scaled(const ks_test_walk *walk, int far) {
  const double deviation = sqrt(walk->variance);
  const double skewness = walk->third / (walk->variance * deviation);
  ks_test_walk out = {walk->high / deviation, walk->low / deviation, 1.0, skewness};
  if (far) {
    out.high = fmax(pc_skewed_deviate(out.high, skewness), 0.0);
    out.low = fmin(pc_skewed_deviate(out.low, skewness), 0.0);
  }
  return out;
}

static double ks_test_largest(const ks_test_walk *walk) {
  return fmax(walk->high, -walk->low);
}

static double ks_test_width(const ks_test_walk *walk) {
  return walk->high - walk->low;
}

static void ks_test_compute(const pc_curve_table *table,
                            double (*distance)(const ks_test_walk *), double (*tail)(double),
                            pc_calibration_test *out) {
  const int skewed = out->among > 1;
  const ks_test_walk walk = ks_test_sum(table, skewed);
  if (walk.variance > 0.0) {
    const ks_test_walk plain = ks_test_scaled(&walk, 0), far = ks_test_scaled(&walk, skewed);
    out->statistic = distance(&plain);
    out->p_value = tail(distance(&far));
  } else if (distance(&walk) > 0.0) {
    out->statistic = INFINITY;
  } else {
    out->cannot = "every score is 0 or 1 and came true, so the expected variance is 0";
  }
}

static pcal_status ks_test_maximum(const pc_options *options, const pc_curve_table *table,
                                   const pcal_env *env, pc_calibration_test *out,
                                   pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  ks_test_compute(table, ks_test_largest, pc_brownian_maximum_tail, out);
  return PCAL_OK;
}

static pcal_status ks_test_range(const pc_options *options, const pc_curve_table *table,
                                 const pcal_env *env, pc_calibration_test *out,
                                 pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  ks_test_compute(table, ks_test_width, pc_brownian_range_tail, out);
  return PCAL_OK;
}

static pcal_status ks_test_configure(pc_options *options, const pc_layout *layout,
                                     pc_metric_config *config, pcal_error *err) {
  return pc_calibration_test_configure_segments(options, KS_TEST_VIEW, layout, 0, config, err);
}

static pcal_status ks_test_evaluate(const pc_options *options, const pc_evidence *evidence,
                                    const pcal_env *env, pc_metric_result *out,
                                    pcal_error *err) {
  return pc_calibration_test_evaluate(options, evidence, env, ks_test_maximum, out, err);
}

static pcal_status ks_test_evaluate_kuiper(const pc_options *options,
                                           const pc_evidence *evidence, const pcal_env *env,
                                           pc_metric_result *out, pcal_error *err) {
  return pc_calibration_test_evaluate(options, evidence, env, ks_test_range, out, err);
}

#define KS_TEST_TRAITS (PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS)

const pc_metric pc_metric_ks_test = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "ks-test",
            .title = "Kolmogorov-Smirnov test of calibration",
            .formula = "max_s |sum_{i: p_i <= s} (y_i - p_i)| / sqrt(sum_i p_i (1 - p_i))",
            .about = "Needs no bins. Most sensitive to scores that are all too high or all too "
                     "low. The p-value is that of the largest distance of a Brownian motion "
                     "from 0.",
            .citation = "Arrieta-Ibarra et al., Metrics of calibration for probabilistic "
                        "predictions, JMLR 2022",
            .notion = PCAL_NOTION_TOP_LABEL,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .is_test = 1,
            .options = ks_test_options,
            .option_count = sizeof ks_test_options / sizeof *ks_test_options,
        },
    .traits = KS_TEST_TRAITS,
    .configure = ks_test_configure,
    .evaluate = ks_test_evaluate,
    .wants = ks_test_wants,
};

const pc_metric pc_metric_kuiper = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "kuiper",
            .title = "Kuiper test of calibration",
            .formula = "range over s of sum_{i: p_i <= s} (y_i - p_i) / sqrt(sum_i p_i (1 - "
                       "p_i))",
            .about = "As ks-test, with the range in place of the maximum: it also detects "
                     "scores that are too low in one region and too high in another, as "
                     "those of an over-confident model.",
            .citation = "Arrieta-Ibarra et al., Metrics of calibration for probabilistic "
                        "predictions, JMLR 2022",
            .notion = PCAL_NOTION_TOP_LABEL,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .is_test = 1,
            .options = ks_test_options,
            .option_count = sizeof ks_test_options / sizeof *ks_test_options,
        },
    .traits = KS_TEST_TRAITS,
    .configure = ks_test_configure,
    .evaluate = ks_test_evaluate_kuiper,
    .wants = ks_test_wants,
};
