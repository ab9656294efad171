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
 * Accuracy: gradient below 1e-9 of the objective's scale; sums are exact.
 * Cost:     one pass, then about ten O(N) evaluations for each start; memory 24 N bytes.  Fits
 *           by rounds keep no rows: each evaluation is a round. */
#include <float.h>
#include <math.h>

#include "base/elementary.h"
#include "base/executor.h"
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

/* The sums of a point: value, dw, db, ww, wb, bb; and, before the search, e^2 / v and e^2. */
#define VARIANCE_SUMS 6
#define VARIANCE_MEANS 2

typedef struct variance_sums {
  pc_sum sum[VARIANCE_SUMS];
  uint64_t infinite; /* terms that are not finite, and not in the sums */
} variance_sums;

typedef struct variance_fit {
  const pc_fit_task *task; /* whose rows are in other processes; NULL: they are in the table */
  pc_forecast_table table; /* first: e, second: v; of rounds: the total alone */
  int crps;
  double scale_w, scale_b;
  uint64_t evaluations;
} variance_fit;

/* Adds the terms of a row to sums; w and b are those of a point. */
typedef void (*variance_terms)(const variance_fit *fit, double w, double b,
                               const pc_forecast_entry *entry, variance_sums *sums);

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

static void variance_add(variance_sums *sums, size_t which, double weight, double term) {
  if (isfinite(term))
    pc_sum_add_product(&sums->sum[which], weight, term);
  else
    sums->infinite++;
}

static void variance_terms_at(const variance_fit *fit, double w, double b,
                              const pc_forecast_entry *entry, variance_sums *sums) {
  const double v = entry->second * fit->scale_w, c = fit->scale_b;
  double row[3];
  variance_row(fit->crps, entry->first, w * entry->second + b, row);
  const double terms[VARIANCE_SUMS] = {row[0],         row[1] * v,     row[1] * c,
                                       row[2] * v * v, row[2] * v * c, row[2] * c * c};
  for (size_t i = 0; i < VARIANCE_SUMS; i++)
    variance_add(sums, i, entry->weight, terms[i]);
}

static void variance_terms_of_means(const variance_fit *fit, double w, double b,
                                    const pc_forecast_entry *entry, variance_sums *sums) {
  const double e2 = entry->first * entry->first;
  (void)fit;
  (void)w;
  (void)b;
  variance_add(sums, 0, entry->weight, fmin(e2 / entry->second, DBL_MAX));
  variance_add(sums, 1, entry->weight, e2);
}

/* ---- Sums over all rows ---- */

/* A pass over rows of a fit by rounds. */
typedef struct variance_pass {
  const variance_fit *fit;
  variance_terms terms;
  double w, b;
  variance_sums *workers;
} variance_pass;

static pcal_status variance_pass_add(void *user, size_t worker, const pc_rows *rows,
                                     pcal_error *err) {
  const variance_pass *pass = user;
  const pc_layout *layout = &pass->fit->task->calibrator->layout;
  const pc_forecast_shape shape = {layout->form, layout->columns, layout->levels};
  (void)err;
  for (size_t i = 0; i < rows->count; i++) {
    pc_forecast_entry entry = {0.0, 0.0, rows->weights == NULL ? 1.0 : rows->weights[i]};
    variance_pick(&shape, rows->probs + i * rows->classes, &entry);
    pass->terms(pass->fit, pass->w, pass->b, &entry, &pass->workers[worker]);
  }
  return PCAL_OK;
}

static pcal_status variance_pass_list(void *user, size_t worker, pc_fit_fields *fields,
                                      pcal_error *err) {
  const variance_pass *pass = user;
  variance_sums *sums = &pass->workers[worker];
  PC_TRY(pc_fit_field_sums(fields, sums->sum, VARIANCE_SUMS, err));
  return pc_fit_field_counts(fields, &sums->infinite, 1, err);
}

static pcal_status variance_pass_run(const variance_fit *fit, variance_terms terms, double w,
                                     double b, variance_sums *out, pcal_error *err) {
  const pcal_env *env = fit->task->env;
  const pc_row_policy policy = {.probs = PC_PROBS_LEAN};
  variance_pass pass = {.fit = fit, .terms = terms, .w = w, .b = b};
  pass.workers = pc_alloc(env, pc_worker_count(env), sizeof *pass.workers);
  if (pass.workers == NULL)
    return pc_fail_memory(err, "preparing workers");
  PC_TRY(pc_fit_pass(fit->task, &policy, variance_pass_add, variance_pass_list, &pass, err));
  *out = pass.workers[0];
  pc_free(env, pass.workers);
  return PCAL_OK;
}

/* Sums terms over all rows; fails only in rounds. */
static pcal_status variance_sum(const variance_fit *fit, variance_terms terms, double w,
                                double b, variance_sums *out, pcal_error *err) {
  if (fit->task != NULL)
    return variance_pass_run(fit, terms, w, b, out, err);
  *out = (variance_sums){.infinite = 0};
  for (size_t i = 0; i < VARIANCE_SUMS; i++)
    pc_sum_clear(&out->sum[i]);
  for (size_t i = 0; i < fit->table.count; i++)
    terms(fit, w, b, &fit->table.entries[i], out);
  return PCAL_OK;
}

static pcal_status variance_at(variance_fit *fit, double w, double b, variance_point *out,
                               pcal_error *err) {
  variance_sums sums;
  double mean[VARIANCE_SUMS];
  PC_TRY(variance_sum(fit, variance_terms_at, w, b, &sums, err));
  if (fit->task != NULL)
    fit->table.total = fit->task->calibrator->fit.weight;
  for (size_t i = 0; i < VARIANCE_SUMS; i++)
    mean[i] = pc_sum_value(&sums.sum[i]) / fit->table.total;
  *out = (variance_point){w,       b,       sums.infinite > 0 ? INFINITY : mean[0],
                          mean[1], mean[2], mean[3],
                          mean[4], mean[5]};
  fit->evaluations++;
  return PCAL_OK;
}

/* ---- Search ---- */

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
static pcal_status variance_step(variance_fit *fit, const variance_point *at, double damping,
                                 variance_point *out, pcal_error *err) {
  const int free_w = variance_free(at->w, at->dw), free_b = variance_free(at->b, at->db);
  const double ww = fabs(at->ww) + damping, bb = fabs(at->bb) + damping;
  const double determinant = ww * bb - at->wb * at->wb;
  double dw = free_w ? -at->dw / ww : 0.0, db = free_b ? -at->db / bb : 0.0;
  if (free_w && free_b && determinant > 0) {
    dw = (-at->dw * bb + at->db * at->wb) / determinant;
    db = (-at->db * ww + at->dw * at->wb) / determinant;
  }
  return variance_at(fit, variance_bounded(at->w + dw * fit->scale_w),
                     variance_bounded(at->b + db * fit->scale_b), out, err);
}

static pcal_status variance_descend(variance_fit *fit, double w, double b, variance_point *at,
                                    pcal_error *err) {
  double damping = 1e-3;
  PC_TRY(variance_at(fit, variance_bounded(w), variance_bounded(b), at, err));
  for (int i = 0; i < VARIANCE_PLATT_STEPS && damping < 1e12; i++) {
    variance_point next;
    if (variance_gradient(at) < VARIANCE_PLATT_GRADIENT)
      break;
    PC_TRY(variance_step(fit, at, damping, &next, err));
    const int better =
        next.value < at->value ||
        (next.value == at->value && variance_gradient(&next) < variance_gradient(at));
    damping = better ? (damping < 1e-9 ? 0.0 : damping / 10) : fmax(damping * 10, 1e-9);
    *at = better ? next : *at;
  }
  return PCAL_OK;
}

/* Means of e^2 / v and of e^2. */
static pcal_status variance_means(variance_fit *fit, double mean[VARIANCE_MEANS],
                                  pcal_error *err) {
  variance_sums sums;
  PC_TRY(variance_sum(fit, variance_terms_of_means, 0.0, 0.0, &sums, err));
  if (fit->task != NULL)
    fit->table.total = fit->task->calibrator->fit.weight;
  for (size_t i = 0; i < VARIANCE_MEANS; i++)
    mean[i] = pc_sum_value(&sums.sum[i]) / fit->table.total;
  return PCAL_OK;
}

static pcal_status variance_search(variance_fit *fit, variance_point *best, pcal_error *err) {
  static const double shares[VARIANCE_PLATT_STARTS] = {1.0, 0.5, 0.0};
  double mean[VARIANCE_MEANS];
  PC_TRY(variance_means(fit, mean, err));
  fit->scale_w = variance_bounded(mean[0]);
  fit->scale_b = variance_bounded(mean[1]);
  for (size_t i = 0; i < VARIANCE_PLATT_STARTS; i++) {
    variance_point found;
    PC_TRY(variance_descend(fit, shares[i] * mean[0], (1 - shares[i]) * mean[1], &found, err));
    if (i == 0 || found.value < best->value)
      *best = found;
  }
  return PCAL_OK;
}

/* Rows in a table cannot fail. */
pc_variance_map pc_variance_platt_solve(const pc_forecast_table *table) {
  variance_fit fit = {.table = *table, .scale_w = 1, .scale_b = 1};
  variance_point before, found;
  const int better = variance_at(&fit, 1.0, 0.0, &before, NULL) == PCAL_OK &&
                     variance_search(&fit, &found, NULL) == PCAL_OK &&
                     found.value < before.value;
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

/* Reads the rows into a table, unless other processes have them. */
static pcal_status variance_open(const pc_fit_task *task, variance_fit *fit, pcal_error *err) {
  PC_TRY(variance_fits(task->calibrator, err));
  PC_TRY(pc_calibrator_new_parameters(task->calibrator, sizeof(pc_variance_map), err));
  if (task->replay == NULL)
    return pc_forecast_table_new(task, variance_pick, &fit->table, err);
  fit->task = task;
  return PCAL_OK;
}

static pcal_status variance_platt_fit(const pc_fit_task *task, pcal_error *err) {
  variance_fit fit = {.crps = task->calibrator->options.value[0].choice == VARIANCE_PLATT_CRPS,
                      .scale_w = 1,
                      .scale_b = 1};
  variance_point before, found;
  PC_TRY(variance_open(task, &fit, err));
  PC_TRY(variance_at(&fit, 1.0, 0.0, &before, err));
  PC_TRY(variance_search(&fit, &found, err));
  variance_keep(task, &fit, &before, &found);
  return PCAL_OK;
}

static pcal_status variance_scale_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  variance_fit fit = {.crps = 0};
  double mean[VARIANCE_MEANS];
  PC_TRY(variance_open(task, &fit, err));
  PC_TRY(variance_means(&fit, mean, err));
  ((pc_variance_map *)calibrator->parameters)->w = variance_bounded(mean[0]);
  calibrator->fit.status = mean[0] < VARIANCE_PLATT_LEAST ? PC_FIT_STOPPED : PC_FIT_CLOSED_FORM;
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
    .in_rounds = 1,
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
    .in_rounds = 1,
    .fit = variance_scale_fit,
    .apply = variance_apply,
    .write = variance_scale_write,
    .read = variance_read,
    .describe = variance_describe,
};
