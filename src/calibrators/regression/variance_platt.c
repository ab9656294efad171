/* variance-platt, variance-scale: predicted variances, scaled and shifted.
 *
 * Formula:  v' = w v + b, the means stay;  e = |mu - y|
 *           objective=dss:  w, b >= 1e-10 minimise the mean of e^2 / v' + log v'
 *           objective=crps: the mean CRPS of N(mu, v') (metrics/crps.c)
 *           variance-scale: b = 0, w = mean of e^2 / v, the minimum of dss in closed form
 * Edge cases:
 *   1. Neither objective is convex in (w, b): damped Newton steps from three starts (all in w,
 *      all in b, half of each); the best result is kept.
 *   2. b at its bound, where a shift does not help, is a normal minimum.  With w at its bound,
 *      where variances carry no information or every error is 0, the status is stopped.
 *   3. If nothing beats w = 1, b = 0, these are kept.
 *   4. variance-scale with all errors 0: w = 1e-10, status stopped.
 *   5. Samples and quantiles are refused.
 * Source:   Gruber & Buettner 2022, section 5.3; Levi et al. 2022 (scale).
 * Accuracy: gradient below 1e-9 of the objective's scale, summed in a fixed order.
 * Cost:     one pass, then about ten O(N) evaluations for each start; memory 24 N bytes. */
#include <float.h>
#include <math.h>

#include "base/elementary.h"
#include "base/normal.h"
#include "base/number.h"
#include "base/sum.h"
#include "calibrators/parameter_lists.h"
#include "calibrators/regression/variance_platt.h"

#define VARIANCE_PLATT_LEAST 1e-10
#define VARIANCE_PLATT_MOST 1e100
#define VARIANCE_PLATT_STEPS 200
#define VARIANCE_PLATT_GRADIENT 1e-11
#define VARIANCE_PLATT_STARTS 3
#define VARIANCE_PLATT_ROOT_PI_INVERSE 0.56418958354775628695

enum { VARIANCE_PLATT_DSS, VARIANCE_PLATT_CRPS };

static const pcal_option variance_platt_options[] = {
    {"objective", PCAL_OPTION_CHOICE, "dss", 0, 0, "dss|crps",
     "the minimised proper score: Dawid-Sebastiani, or the continuous ranked probability "
     "score"},
};

/* Value, gradient and second derivatives of the mean objective, in units of scale_w,
 * scale_b. */
typedef struct variance_point {
  double w, b, value, dw, db, ww, wb, bb;
} variance_point;

typedef struct variance_fit {
  pc_forecast_table table; /* first: e, second: v */
  int crps;
  double scale_w, scale_b;
  uint64_t evaluations;
} variance_fit;

static void variance_pick(const pc_forecast_shape *shape, const double *row,
                          pc_forecast_entry *out) {
  (void)shape;
  out->first = fabs(row[0] - row[2]);
  out->second = row[1] * row[1];
}

/* Objective of a row with error e and variance s, and its first two derivatives by s. */
static void variance_row(int crps, double e, double s, double out[3]) {
  if (!crps) {
    const double ratio = e * e / s;
    out[0] = ratio + pc_log(s);
    out[1] = (1 - ratio) / s;
    out[2] = (2 * ratio - 1) / (s * s);
    return;
  }
  const double root = sqrt(s), z = e / root, density = pc_normal_density(z);
  const double slope = 2 * density - VARIANCE_PLATT_ROOT_PI_INVERSE; /* by root */
  out[0] = root * (z * (1 - 2 * pc_normal_cdf(-z)) + slope);
  out[1] = slope / (2 * root);
  out[2] = (2 * z * z * density / root - slope / root) / (4 * s);
}

static variance_point variance_at(variance_fit *fit, double w, double b) {
  variance_point point = {.w = w, .b = b};
  for (size_t i = 0; i < fit->table.count; i++) {
    const pc_forecast_entry *entry = &fit->table.entries[i];
    const double v = entry->second * fit->scale_w, share = entry->weight / fit->table.total;
    double row[3];
    variance_row(fit->crps, entry->first, w * entry->second + b, row);
    point.value += share * row[0];
    point.dw += share * row[1] * v;
    point.db += share * row[1] * fit->scale_b;
    point.ww += share * row[2] * v * v;
    point.wb += share * row[2] * v * fit->scale_b;
    point.bb += share * row[2] * fit->scale_b * fit->scale_b;
  }
  fit->evaluations++;
  return point;
}

/* True if a step against the slope stays inside the bounds. */
static int variance_free(double x, double slope) {
  return x > VARIANCE_PLATT_LEAST || slope < 0;
}

static double variance_gradient(const variance_point *at) {
  const double dw = variance_free(at->w, at->dw) ? at->dw : 0.0;
  const double db = variance_free(at->b, at->db) ? at->db : 0.0;
  return fmax(fabs(dw), fabs(db));
}

static double variance_bounded(double x) {
  return x < VARIANCE_PLATT_LEAST  ? VARIANCE_PLATT_LEAST
         : x > VARIANCE_PLATT_MOST ? VARIANCE_PLATT_MOST
                                   : x;
}

/* A Newton step with damping added to the second derivatives. */
static variance_point variance_step(variance_fit *fit, const variance_point *at,
                                    double damping) {
  const int free_w = variance_free(at->w, at->dw), free_b = variance_free(at->b, at->db);
  const double ww = fabs(at->ww) + damping, bb = fabs(at->bb) + damping;
  const double determinant = ww * bb - at->wb * at->wb;
  double dw = free_w ? -at->dw / ww : 0.0, db = free_b ? -at->db / bb : 0.0;
  if (free_w && free_b && determinant > 0) {
    dw = (-at->dw * bb + at->db * at->wb) / determinant;
    db = (-at->db * ww + at->dw * at->wb) / determinant;
  }
  return variance_at(fit, variance_bounded(at->w + dw * fit->scale_w),
                     variance_bounded(at->b + db * fit->scale_b));
}

static variance_point variance_descend(variance_fit *fit, double w, double b) {
  variance_point at = variance_at(fit, variance_bounded(w), variance_bounded(b));
  double damping = 1e-3;
  for (int i = 0; i < VARIANCE_PLATT_STEPS && damping < 1e12; i++) {
    if (variance_gradient(&at) < VARIANCE_PLATT_GRADIENT)
      break;
    const variance_point next = variance_step(fit, &at, damping);
    const int better =
        next.value < at.value ||
        (next.value == at.value && variance_gradient(&next) < variance_gradient(&at));
    damping = better ? (damping < 1e-9 ? 0.0 : damping / 10) : fmax(damping * 10, 1e-9);
    at = better ? next : at;
  }
  return at;
}

/* Means of e^2 / v and of e^2. */
static void variance_means(variance_fit *fit, double *ratio, double *square) {
  pc_sum ratios, squares;
  pc_sum_clear(&ratios);
  pc_sum_clear(&squares);
  for (size_t i = 0; i < fit->table.count; i++) {
    const pc_forecast_entry *entry = &fit->table.entries[i];
    const double e2 = entry->first * entry->first;
    pc_sum_add_product(&ratios, entry->weight, fmin(e2 / entry->second, DBL_MAX));
    pc_sum_add_product(&squares, entry->weight, e2);
  }
  *ratio = pc_sum_value(&ratios) / fit->table.total;
  *square = pc_sum_value(&squares) / fit->table.total;
}

static variance_point variance_search(variance_fit *fit) {
  static const double shares[VARIANCE_PLATT_STARTS] = {1.0, 0.5, 0.0};
  double ratio, square;
  variance_point best = {0};
  variance_means(fit, &ratio, &square);
  fit->scale_w = variance_bounded(ratio);
  fit->scale_b = variance_bounded(square);
  for (size_t i = 0; i < VARIANCE_PLATT_STARTS; i++) {
    const variance_point found =
        variance_descend(fit, shares[i] * ratio, (1 - shares[i]) * square);
    if (i == 0 || found.value < best.value)
      best = found;
  }
  return best;
}

pc_variance_map pc_variance_platt_solve(const pc_forecast_table *table) {
  variance_fit fit = {.table = *table, .scale_w = 1, .scale_b = 1};
  const variance_point before = variance_at(&fit, 1.0, 0.0), found = variance_search(&fit);
  const int better = found.value < before.value;
  return (pc_variance_map){better ? found.w : 1.0, better ? found.b : 0.0};
}

static void variance_keep(const pc_fit_task *task, const variance_fit *fit,
                          const variance_point *before, const variance_point *found) {
  pcal_calibrator *calibrator = task->calibrator;
  pc_fit_info *info = &calibrator->fit;
  pc_variance_map *parameters = calibrator->parameters;
  const int better = found->value < before->value;
  const int bound = found->w <= VARIANCE_PLATT_LEAST;
  const double gradient = variance_gradient(found);
  parameters->w = better ? found->w : 1.0;
  parameters->b = better ? found->b : 0.0;
  info->searched = 1;
  info->before = before->value;
  info->after = better ? found->value : before->value;
  info->gradient = better ? gradient : 0.0;
  info->iterations = fit->evaluations;
  info->status = !better                    ? PC_FIT_IDENTITY
                 : bound || gradient > 1e-8 ? PC_FIT_STOPPED
                                            : PC_FIT_CONVERGED;
}

static pcal_status variance_fits(const pcal_calibrator *calibrator, pcal_error *err) {
  if (calibrator->layout.form == PC_FORM_GAUSSIAN)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "%s changes variances, which %s do not have; use quantile-isotonic",
                 calibrator->method->row.name,
                 calibrator->layout.form == PC_FORM_SAMPLES ? "samples" : "quantiles");
}

static pcal_status variance_platt_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  variance_fit fit = {.crps = calibrator->options.value[0].choice == VARIANCE_PLATT_CRPS,
                      .scale_w = 1,
                      .scale_b = 1};
  PC_TRY(variance_fits(calibrator, err));
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(pc_variance_map), err));
  PC_TRY(pc_forecast_table_new(task, variance_pick, &fit.table, err));
  const variance_point before = variance_at(&fit, 1.0, 0.0);
  const variance_point found = variance_search(&fit);
  variance_keep(task, &fit, &before, &found);
  return PCAL_OK;
}

static pcal_status variance_scale_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  variance_fit fit = {.crps = 0};
  double ratio, square;
  PC_TRY(variance_fits(calibrator, err));
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(pc_variance_map), err));
  PC_TRY(pc_forecast_table_new(task, variance_pick, &fit.table, err));
  variance_means(&fit, &ratio, &square);
  ((pc_variance_map *)calibrator->parameters)->w = variance_bounded(ratio);
  calibrator->fit.status = ratio < VARIANCE_PLATT_LEAST ? PC_FIT_STOPPED : PC_FIT_CLOSED_FORM;
  calibrator->fit.iterations = 1;
  return PCAL_OK;
}

static void variance_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                           double *out) {
  const pc_variance_map *parameters = calibrator->parameters;
  for (size_t i = 0; i < count; i++) {
    out[3 * i] = in[3 * i];
    out[3 * i + 1] = parameters->w * (in[3 * i + 1] * in[3 * i + 1]) + parameters->b;
    out[3 * i + 2] = 0.0;
  }
}

static void variance_platt_write(const pcal_calibrator *calibrator, pc_json *json) {
  const pc_variance_map *parameters = calibrator->parameters;
  pc_json_key(json, "w");
  pc_json_number(json, parameters->w);
  pc_json_key(json, "b");
  pc_json_number(json, parameters->b);
}

static void variance_scale_write(const pcal_calibrator *calibrator, pc_json *json) {
  const pc_variance_map *parameters = calibrator->parameters;
  pc_json_key(json, "w");
  pc_json_number(json, parameters->w);
}

static pcal_status variance_number(const pc_json_node *parameters, const char *name,
                                   double least, double *out, const char *file,
                                   pcal_error *err) {
  const pc_json_node *node = pc_json_find(parameters, name);
  if (node->kind != PC_JSON_NUMBER || !(node->number >= least) ||
      !(node->number <= VARIANCE_PLATT_MOST))
    return pc_parameter_error(node, file,
                              *name == 'w' ? "w must be a number from 1e-10 to 1e100"
                                           : "b must be a number from 0 to 1e100",
                              err);
  *out = node->number;
  return PCAL_OK;
}

static pcal_status variance_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                                 const char *file, pcal_error *err) {
  const int shifts = calibrator->method->row.option_count > 0;
  PC_TRY(variance_fits(calibrator, err));
  PC_TRY(pc_parameters_check_names(parameters, shifts ? PC_NAMES("w", "b") : PC_NAMES("w"),
                                   file, err));
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(pc_variance_map), err));
  pc_variance_map *read = calibrator->parameters;
  PC_TRY(variance_number(parameters, "w", VARIANCE_PLATT_LEAST, &read->w, file, err));
  return shifts ? variance_number(parameters, "b", 0.0, &read->b, file, err) : PCAL_OK;
}

static void variance_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const pc_variance_map *parameters = calibrator->parameters;
  char w[PC_NUMBER_MAX], b[PC_NUMBER_MAX];
  pc_number_round(parameters->w, 6, w);
  pc_number_round(parameters->b, 6, b);
  if (calibrator->method->row.option_count > 0)
    pc_text_format(out, "variance = %s variance + %s\n", w, b);
  else
    pc_text_format(out, "variance = %s variance\n", w);
}

const pc_calibrator_method pc_calibrator_variance_platt = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .task = PCAL_REGRESSION,
            .name = "variance-platt",
            .title = "predicted variances scaled and shifted",
            .formula = "v' = w v + b, w and b at least 1e-10\n"
                       "objective=dss:  they minimise the mean of (mu - y)^2 / v' + log v'\n"
                       "objective=crps: they minimise the mean CRPS",
            .about = "Two numbers for all rows; the means stay, and with them the mean squared "
                     "error. As the map is one-to-one, a lower proper score means a lower "
                     "calibration error. Fit on rows that the model was not trained on.",
            .citation = "Gruber & Buettner, NeurIPS 2022, section 5.3",
            .options = variance_platt_options,
            .option_count = sizeof variance_platt_options / sizeof *variance_platt_options,
        },
    .traits = PC_INJECTIVE | PC_GUARDED,
    .fit = variance_platt_fit,
    .apply = variance_apply,
    .write = variance_platt_write,
    .read = variance_read,
    .describe = variance_describe,
};

const pc_calibrator_method pc_calibrator_variance_scale = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .task = PCAL_REGRESSION,
            .name = "variance-scale",
            .title = "predicted variances scaled",
            .formula = "v' = w v, w = mean of (mu - y)^2 / v",
            .about = "One number for all rows, in closed form: the mean of squared error over "
                     "predicted variance becomes 1 on the rows of the fit, which minimises the "
                     "Dawid-Sebastiani score.",
            .citation = "Levi, Gispan, Giladi & Fetaya, Evaluating and calibrating uncertainty "
                        "prediction in regression tasks, Sensors 2022",
        },
    .traits = PC_INJECTIVE | PC_GUARDED,
    .fit = variance_scale_fit,
    .apply = variance_apply,
    .write = variance_scale_write,
    .read = variance_read,
    .describe = variance_describe,
};
