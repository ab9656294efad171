/* cqr: conformalised quantiles, intervals that hold their coverage.
 *
 * Formula:  a and b: the predicted quantiles whose levels are nearest to (1 - coverage) / 2 and
 *           (1 + coverage) / 2;  scores s_i = max(a_i - y_i, y_i - b_i);
 *           t: the ceil(coverage (n + 1))-th smallest of them;  interval [a - t, b + t]
 *           sides=each: one threshold for each side, each with half of the misses
 * Edge cases:
 *   1. t may be negative: intervals shrink.  Ends that would cross are both their mean.
 *   2. Of two levels equally near, the outer one.  A single level is refused.
 *   3. Means and samples are refused: use conformal.
 *   4. Too few rows for the coverage (9 for 0.9) are refused.
 * Source:   Romano, Patterson & Candes 2019.
 * Cost:     one pass and a sort, twice for sides=each. */
#include <float.h>
#include <math.h>

#include "base/number.h"
#include "calibrators/conformal/conformal_scores.h"
#include "calibrators/parameter_lists.h"

enum { CQR_COVERAGE, CQR_SIDES };
enum { CQR_BOTH, CQR_EACH };

static const pcal_option cqr_options[] = {
    {"coverage", PCAL_OPTION_REAL, "0.9", 0.01, 0.999, NULL,
     "share of outcomes that the intervals contain"},
    {"sides", PCAL_OPTION_CHOICE, "both", 0, 0, "both|each",
     "one threshold for both ends, or one for each, with half of the misses on either side"},
};

typedef struct cqr_shift {
  double low, high; /* thresholds of the two ends */
} cqr_shift;

/* The columns of the quantiles at the two ends. */
static void cqr_columns(const pcal_calibrator *calibrator, size_t *low, size_t *high) {
  const double *levels = calibrator->layout.levels;
  const double coverage = calibrator->options.value[CQR_COVERAGE].number;
  const double a = (1 - coverage) / 2, b = (1 + coverage) / 2;
  *low = 0;
  *high = calibrator->layout.columns - 1;
  for (size_t k = 1; k + 1 < calibrator->layout.columns; k++) {
    if (fabs(levels[k] - a) < fabs(levels[*low] - a) - 1e-12)
      *low = k;
    const size_t from_top = calibrator->layout.columns - 1 - k;
    if (fabs(levels[from_top] - b) < fabs(levels[*high] - b) - 1e-12)
      *high = from_top;
  }
}

static double cqr_side(const pcal_calibrator *calibrator, const pc_rows *rows, size_t i,
                       int upper) {
  const double *row = rows->probs + i * rows->classes, y = row[rows->classes - 1];
  size_t low, high;
  cqr_columns(calibrator, &low, &high);
  const double gap = upper ? y - row[high] : row[low] - y;
  return fmin(fmax(gap, -DBL_MAX), DBL_MAX);
}

static double cqr_low_score(const pcal_calibrator *calibrator, const pc_rows *rows, size_t i) {
  return cqr_side(calibrator, rows, i, 0);
}

static double cqr_high_score(const pcal_calibrator *calibrator, const pc_rows *rows, size_t i) {
  return cqr_side(calibrator, rows, i, 1);
}

static double cqr_score(const pcal_calibrator *calibrator, const pc_rows *rows, size_t i) {
  return fmax(cqr_side(calibrator, rows, i, 0), cqr_side(calibrator, rows, i, 1));
}

static pcal_status cqr_takes(const pcal_calibrator *calibrator, pcal_error *err) {
  if (calibrator->layout.form == PC_FORM_QUANTILES && calibrator->layout.columns > 1)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE, "cqr needs quantiles of two levels or more; use conformal");
}

static pcal_status cqr_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  const double coverage = calibrator->options.value[CQR_COVERAGE].number;
  const int each = calibrator->options.value[CQR_SIDES].choice == CQR_EACH;
  PC_TRY(cqr_takes(calibrator, err));
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(cqr_shift), err));
  cqr_shift *shift = calibrator->parameters;
  PC_TRY(pc_conformal_threshold(task, each ? cqr_low_score : cqr_score,
                                each ? (1 + coverage) / 2 : coverage, &shift->low, err));
  shift->high = shift->low;
  return each ? pc_conformal_threshold(task, cqr_high_score, (1 + coverage) / 2, &shift->high,
                                       err)
              : PCAL_OK;
}

static void cqr_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                      double *out) {
  const cqr_shift *shift = calibrator->parameters;
  const size_t width = calibrator->layout.classes;
  size_t low, high;
  cqr_columns(calibrator, &low, &high);
  for (size_t i = 0; i < count; i++, in += width, out += width) {
    out[0] = fmin(fmax(in[low] - shift->low, -DBL_MAX), DBL_MAX);
    out[1] = fmin(fmax(in[high] + shift->high, -DBL_MAX), DBL_MAX);
    if (out[0] > out[1])
      out[0] = out[1] = out[0] / 2 + out[1] / 2;
  }
}

static size_t cqr_output_columns(const pcal_calibrator *calibrator) {
  (void)calibrator;
  return 2;
}

static void cqr_write(const pcal_calibrator *calibrator, pc_json *json) {
  const cqr_shift *shift = calibrator->parameters;
  pc_json_key(json, "low");
  pc_json_number(json, shift->low);
  pc_json_key(json, "high");
  pc_json_number(json, shift->high);
}

static pcal_status cqr_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                            const char *file, pcal_error *err) {
  PC_TRY(cqr_takes(calibrator, err));
  PC_TRY(pc_parameters_check_names(parameters, PC_NAMES("low", "high"), file, err));
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(cqr_shift), err));
  cqr_shift *shift = calibrator->parameters;
  PC_TRY(pc_conformal_read_number(parameters, "low", &shift->low, file, err));
  return pc_conformal_read_number(parameters, "high", &shift->high, file, err);
}

static void cqr_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const cqr_shift *shift = calibrator->parameters;
  char a[PC_NUMBER_MAX], b[PC_NUMBER_MAX], lower[PC_NUMBER_MAX], upper[PC_NUMBER_MAX];
  size_t low, high;
  cqr_columns(calibrator, &low, &high);
  pc_number_round(shift->low, 6, a);
  pc_number_round(shift->high, 6, b);
  pc_text_format(out, "low = quantile %s - %s, high = quantile %s + %s\n",
                 pc_show(calibrator->layout.levels[low], lower), a,
                 pc_show(calibrator->layout.levels[high], upper), b);
}

const pc_calibrator_method pc_calibrator_cqr = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .task = PCAL_REGRESSION,
            .name = "cqr",
            .title = "predicted quantiles as intervals with guaranteed coverage",
            .formula = "[a - t, b + t], a and b: predicted quantiles of the two ends\n"
                       "t: the ceil(coverage (n + 1))-th smallest max(a_i - y_i, y_i - b_i)",
            .about =
                "Conformalised quantile regression: moves predicted quantiles outwards, or "
                "inwards, until the interval between them contains the outcome of a further "
                "row with at least the given probability, whatever the distribution, if rows "
                "are exchangeable. Widths follow the model's quantiles. apply writes two "
                "columns, low and high.",
            .citation =
                "Romano, Patterson & Candes, Conformalized quantile regression, NeurIPS "
                "2019",
            .options = cqr_options,
            .option_count = sizeof cqr_options / sizeof *cqr_options,
        },
    .comparison_spec = "",
    .output_names = "low,high",
    .fit = cqr_fit,
    .apply = cqr_apply,
    .output_columns = cqr_output_columns,
    .write = cqr_write,
    .read = cqr_read,
    .describe = cqr_describe,
};
