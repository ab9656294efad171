/* energy-score: the score of samples of several numbers at once.
 *
 * Formula:  fair        (1/m) sum_i |x_i - y| - 1/(2 m (m-1)) sum_ij |x_i - x_j|
 *           empirical   (1/m) sum_i |x_i - y| - 1/(2 m^2) sum_ij |x_i - x_j|
 *           x_1 .. x_m: samples, y: targets, |.|: Euclidean distance; mean over rows
 * Edge cases:
 * (1) the fair estimator may be negative for a row; it estimates the score of the distribution from
 *     which the samples were drawn, for any m;
 * (2) the empirical estimator is the score of the samples themselves: it falls as m grows;
 * (3) one target: refused, the score is then crps;
 * (4) targets on different scales: the one with the largest numbers decides; divide each by its
 *     standard deviation first.
 * Parts: distance, the mean of |x_i - y|; spread, the mean of half the distance of two samples;
 * value = distance - spread.
 * Source: Gneiting & Raftery 2007; Ferro 2014 (fair).
 * Accuracy: sums over rows are exact; a row is within m^2 d ulp of its largest distance.
 * Cost: O(N m^2 d), in data/convert_vectors.c. */
#include "metrics/forecast_metric.h"

enum { ENERGY_ESTIMATOR };
enum { ENERGY_FAIR, ENERGY_EMPIRICAL };

static const pcal_option energy_options[] = {
    {"estimator", PCAL_OPTION_CHOICE, "fair", 0, 0, "fair|empirical",
     "fair: of the distribution that the samples come from; empirical: of the samples as they "
     "are"},
};

/* Score, distance, spread. */
static void energy_values(const double *params, const pc_rows *rows, size_t begin, size_t count,
                          double *out) {
  const size_t spread = params[PC_FORECAST_PARAMS] == ENERGY_FAIR ? 0 : 1;
  for (size_t i = 0; i < count; i++) {
    const double *row = rows->probs + (begin + i) * PC_DISTANCES;
    *out++ = row[2] - row[spread];
    *out++ = row[2];
    *out++ = row[spread];
  }
}

static pcal_status energy_configure(pc_options *options, const pc_layout *layout,
                                    pc_metric_config *config, pcal_error *err) {
  (void)err;
  pc_forecast_sum(config, layout, energy_values, 3);
  config->need.sum.params[PC_FORECAST_PARAMS] = (double)options->value[ENERGY_ESTIMATOR].choice;
  return PCAL_OK;
}

static pcal_status energy_evaluate(const pc_options *options, const pc_evidence *evidence,
                                   const pcal_env *env, pc_metric_result *out,
                                   pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  out->value = evidence->sum.value[0] / evidence->total;
  pc_metric_result_part(out, "distance", evidence->sum.value[1] / evidence->total);
  pc_metric_result_part(out, "spread", evidence->sum.value[2] / evidence->total);
  return PCAL_OK;
}

const pc_metric pc_metric_energy_score = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "energy-score",
            .title = "energy score of samples of several numbers",
            .formula = "mean of (1/m) sum_i |x_i - y| - 1/(2 m (m-1)) sum_ij |x_i - x_j|, |.|: "
                       "Euclidean distance",
            .about = "The crps of several targets at once, a proper score in the unit of the "
                     "targets, lower is better. It judges the joint distribution: also whether "
                     "the targets rise and fall together as the samples say, though it sees "
                     "wrong means and widths far sooner than wrong correlations. Samples are m "
                     "vectors for each row; targets on different scales should be divided by "
                     "their standard deviations first.",
            .citation = "Gneiting & Raftery, Strictly proper scoring rules, prediction, and "
                        "estimation, Journal of the American Statistical Association 2007",
            .notion = PCAL_NOTION_PROPER,
            .bound = PCAL_BOUND_UPPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_TARGET,
            .options = energy_options,
            .option_count = sizeof energy_options / sizeof *energy_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS | PC_SEVERAL_TARGETS,
    .configure = energy_configure,
    .evaluate = energy_evaluate,
};
