/* conformal: prediction intervals that hold their coverage, from means and deviations.
 *
 * Formula:  scores s_i = |y_i - m_i| / d_i;  t: the ceil(coverage (n + 1))-th smallest of them;
 *           interval [m - t d, m + t d];  scale=std: d is the predicted standard deviation,
 *           scale=none: d = 1
 * Edge cases:
 *   1. Samples: their mean and standard deviation, divisor n - 1.  Where it is 0, d is 1e-12 of
 *      |m|, at least 1e-300.
 *   2. Quantiles are refused: use cqr.
 *   3. Too few rows for the coverage (9 for 0.9) are refused.
 * Source:   Papadopoulos et al. 2002; Lei et al. 2018.
 * Cost:     one pass and a sort. */
#include <float.h>
#include <math.h>

#include "base/number.h"
#include "calibrators/conformal/conformal_scores.h"
#include "calibrators/parameter_lists.h"
#include "data/forecast.h"

enum { CONFORMAL_COVERAGE, CONFORMAL_SCALE };
enum { CONFORMAL_BY_STD, CONFORMAL_UNSCALED };

static const pcal_option conformal_options[] = {
    {"coverage", PCAL_OPTION_REAL, "0.9", 0.01, 0.999, NULL,
     "share of outcomes that the intervals contain"},
    {"scale", PCAL_OPTION_CHOICE, "std", 0, 0, "std|none",
     "widths proportional to the predicted standard deviation, or one width for all rows"},
};

/* Middle and half width of a row before the threshold. */
static void conformal_middle(const pcal_calibrator *calibrator, const double *row, double *mean,
                             double *scale) {
  const pc_layout *layout = &calibrator->layout;
  const pc_forecast_shape shape = {layout->form, layout->columns, layout->levels};
  double variance;
  pc_forecast_moments(&shape, row, mean, &variance);
  *scale = calibrator->options.value[CONFORMAL_SCALE].choice == CONFORMAL_UNSCALED
               ? 1.0
               : fmax(sqrt(variance), fmax(1e-12 * fabs(*mean), 1e-300));
}

static double conformal_score(const pcal_calibrator *calibrator, const pc_rows *rows,
                              size_t i) {
  const double *row = rows->probs + i * rows->classes;
  double mean, scale;
  conformal_middle(calibrator, row, &mean, &scale);
  return fmin(fabs(row[rows->classes - 1] - mean) / scale, DBL_MAX);
}

static pcal_status conformal_takes(const pcal_calibrator *calibrator, pcal_error *err) {
  if (calibrator->layout.form != PC_FORM_QUANTILES)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "conformal needs means, which quantiles do not have; use cqr");
}

static pcal_status conformal_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  PC_TRY(conformal_takes(calibrator, err));
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(double), err));
  return pc_conformal_threshold(task, conformal_score,
                                calibrator->options.value[CONFORMAL_COVERAGE].number,
                                calibrator->parameters, err);
}

static void conformal_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                            double *out) {
  const double threshold = *(const double *)calibrator->parameters;
  const size_t width = calibrator->layout.classes;
  for (size_t i = 0; i < count; i++, in += width, out += width) {
    double mean, scale;
    conformal_middle(calibrator, in, &mean, &scale);
    const double half = fmin(threshold * scale, DBL_MAX);
    out[0] = fmax(mean - half, -DBL_MAX);
    out[1] = fmin(mean + half, DBL_MAX);
  }
}

static size_t conformal_columns(const pcal_calibrator *calibrator) {
  (void)calibrator;
  return 2;
}

static void conformal_write(const pcal_calibrator *calibrator, pc_json *json) {
  pc_json_key(json, "threshold");
  pc_json_number(json, *(const double *)calibrator->parameters);
}

static pcal_status conformal_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                                  const char *file, pcal_error *err) {
  PC_TRY(conformal_takes(calibrator, err));
  return pc_conformal_read_threshold(calibrator, parameters, file, err);
}

static void conformal_describe(const pcal_calibrator *calibrator, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_number_round(*(const double *)calibrator->parameters, 6, digits);
  pc_text_format(out, "intervals mean +- %s%s\n", digits,
                 calibrator->options.value[CONFORMAL_SCALE].choice == CONFORMAL_UNSCALED
                     ? ""
                     : " standard deviations");
}

const pc_calibrator_method pc_calibrator_conformal = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .task = PCAL_REGRESSION,
            .name = "conformal",
            .title = "intervals with guaranteed coverage",
            .formula = "[m - t d, m + t d], d: predicted standard deviation, or 1\n"
                       "t: the ceil(coverage (n + 1))-th smallest |y_i - m_i| / d_i",
            .about = "Split conformal prediction: intervals that contain the outcome of a "
                     "further row with at least the given probability, for any model and any "
                     "distribution, if the rows of the fit and later ones are exchangeable. "
                     "Fit on rows that the model was not trained on. apply writes two columns, "
                     "low and high.",
            .citation = "Papadopoulos, Proedrou, Vovk & Gammerman, ECML 2002; Lei, G'Sell, "
                        "Rinaldo, Tibshirani & Wasserman, JASA 2018",
            .options = conformal_options,
            .option_count = sizeof conformal_options / sizeof *conformal_options,
        },
    .comparison_spec = "",
    .output_names = "low,high",
    .fit = conformal_fit,
    .apply = conformal_apply,
    .output_columns = conformal_columns,
    .write = conformal_write,
    .read = conformal_read,
    .describe = conformal_describe,
};
