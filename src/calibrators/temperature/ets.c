/* ets: temperature scaling mixed with the original and with uniform probabilities.
 *
 * Formula:  q = w1 softmax(z / T) + w2 softmax(z) + w3 / K,  w >= 0, sum w = 1;  T and w
 *           minimise the mean of -log q_y (objective=log) or of sum_k (q_k - 1[k = y])^2
 *           (objective=brier).
 * Edge cases:
 *   1. fit=joint: T and w together, from several starts, since the problem is not convex;
 *      fit=sequential: first T with w = (1, 0, 0), then w.
 *   2. convention=zhang: sequential, brier, T in [0.05, 5], as published; otherwise T is in
 *      [1e-4, 1e4].
 *   3. Probabilities enter as their logarithms.  Rows whose label has probability 0 make the
 *      log objective before the fit infinite; w3 above 0 makes it finite.  Gaps of finite logits
 *      beyond 1e300 count as 1e300.
 *   4. Every label has the largest score: T stops at its bound.
 *   5. Nothing beats q = p: T = 1, w = (1, 0, 0), status identity.
 *   6. Sums over rows are exact.
 *   7. Fewer than four rows are refused.
 * Traits:   injective if w1 + w2 > 0: with Z = sum p^(1/T), q_k is w1 p_k^(1/T) / Z + w2 p_k +
 *           w3 / K, which rises in p_k and falls in Z; if q = q' and Z < Z', every p'_k would
 *           exceed p_k. Each part keeps the order of classes, and so does the sum.
 * Source:   Zhang, Kailkhura & Han 2020.
 * Accuracy: gradient 1e-8.
 * Cost:     about 40 passes, up to seven exp for each score. */
#include "calibrators/temperature/ets.h"
#include "calibrators/recipe.h"

#include <math.h>

#include "base/number.h"
#include "kernels/dispatch.h"
#include "kernels/temperature_kernels.h"

static const pcal_option ets_options[] = {
    {"fit", PCAL_OPTION_CHOICE, "joint", 0, 0, "joint|sequential",
     "fit T and w together, or first T and then w"},
    {"objective", PCAL_OPTION_CHOICE, "log", 0, 0, "log|brier",
     "the mean score that T and w minimise"},
    {"convention", PCAL_OPTION_CHOICE, "none", 0, 0, "none|zhang",
     "zhang: as published, fit=sequential,objective=brier with T in [0.05, 5]"},
};

/* Applies the convention to the other options. */
static pcal_status ets_settle(pc_options *options, pcal_error *err) {
  pc_option_value *values = options->value;
  if (values[PC_ETS_CONVENTION].choice != 1)
    return PCAL_OK;
  if ((values[PC_ETS_FIT].given && values[PC_ETS_FIT].choice != PC_ETS_SEQUENTIAL) ||
      (values[PC_ETS_OBJECTIVE].given && values[PC_ETS_OBJECTIVE].choice != 1))
    return pc_fail(err, PCAL_USAGE,
                   "ets: convention=zhang means fit=sequential and objective=brier; remove the "
                   "other value");
  pc_options_choose(options, PC_ETS_FIT, "sequential");
  pc_options_choose(options, PC_ETS_OBJECTIVE, "brier");
  return PCAL_OK;
}

static pcal_status ets_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  PC_TRY(ets_settle(&calibrator->options, err));
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(pc_ets), err));
  return pc_ets_search(task, calibrator->parameters, err);
}

static size_t ets_space(const pcal_calibrator *calibrator) {
  return calibrator->layout.classes;
}

static void ets_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                      double *out) {
  const pc_ets *model = calibrator->parameters;
  const size_t k = calibrator->layout.classes;
  const double beta = 1.0 / model->temperature, *w = model->weight;
  const pc_temperature_kernels *kernels = pc_kernels_best()->temperature;
  double *plain = out + count * k;
  for (size_t i = 0; i < count; i++) {
    double *row = out + i * k;
    kernels->softmax(in + i * k, 1, k, beta, row);
    if (w[1] > 0.0)
      kernels->softmax(in + i * k, 1, k, 1.0, plain);
    for (size_t c = 0; c < k && w[0] < 1.0; c++)
      row[c] = w[0] * row[c] + (w[1] > 0.0 ? w[1] * plain[c] : 0.0) + w[2] / (double)k;
  }
}

static const char *ets_recipe(const pcal_calibrator *calibrator, pc_recipe *out) {
  const pc_ets *model = calibrator->parameters;
  const double *w = model->weight, rest = w[2] / (double)calibrator->layout.classes;
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_SUBTRACT_MAX});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_STORE, .size = 0});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_SCALE, .a = 1.0 / model->temperature});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_SOFTMAX});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_SCALE, .a = w[0], .b = rest});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_STORE, .size = 1});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_LOAD, .size = 0});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_SOFTMAX});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_SCALE, .a = w[1]});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_ADD, .size = 1});
  return NULL;
}

static void ets_write(const pcal_calibrator *calibrator, pc_json *json) {
  const pc_ets *model = calibrator->parameters;
  pc_json_key(json, "T");
  pc_json_number(json, model->temperature);
  pc_json_key(json, "w");
  pc_json_numbers(json, model->weight, 3);
}

static pcal_status ets_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                            const char *file, pcal_error *err) {
  const pc_json_node *t = pc_json_find(parameters, "T"), *w = pc_json_find(parameters, "w");
  double sum = 0.0;
  size_t i = 0;
  if (t == NULL || w == NULL || parameters->list.count != 2)
    return pc_fail_line(err, PCAL_DATA, file, parameters->line,
                        "the parameters of ets are T and w");
  if (t->kind != PC_JSON_NUMBER || !(t->number >= PC_ETS_LOW) || !(t->number <= PC_ETS_HIGH))
    return pc_fail_line(err, PCAL_DATA, file, t->line,
                        "T must be a number between 0.0001 and 10000");
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(pc_ets), err));
  pc_ets *model = calibrator->parameters;
  model->temperature = t->number;
  const pc_json_node *item = w->kind == PC_JSON_ARRAY ? w->list.first : NULL;
  for (; item != NULL && i < 3 && item->kind == PC_JSON_NUMBER && item->number >= 0.0;
       item = item->next) {
    model->weight[i++] = item->number;
    sum += item->number;
  }
  if (i == 3 && item == NULL && fabs(sum - 1.0) <= 1e-12)
    return PCAL_OK;
  return pc_fail_line(err, PCAL_DATA, file, w->line,
                      "w must hold three numbers, none negative, that sum to one");
}

static void ets_describe(const pcal_calibrator *calibrator, pc_text *out) {
  static const char *const parts[] = {" of softmax(z / T), ", " of softmax(z), ",
                                      " of uniform probabilities\n"};
  const pc_ets *model = calibrator->parameters;
  char digits[PC_NUMBER_MAX];
  pc_number_round(model->temperature, 6, digits);
  pc_text_format(out, "T = %s; ", digits);
  for (size_t i = 0; i < 3; i++) {
    pc_number_round(model->weight[i], 3, digits);
    pc_text_format(out, "%s%s", digits, parts[i]);
  }
}

static unsigned ets_traits(const pcal_calibrator *calibrator) {
  const pc_ets *model = calibrator->parameters;
  const int injective = model->weight[0] + model->weight[1] > 0.0;
  return calibrator->method->traits | (injective ? PC_INJECTIVE : 0u);
}

const pc_calibrator_method pc_calibrator_ets = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "ets",
            .title = "ensemble temperature scaling",
            .formula = "q = w1 softmax(z / T) + w2 softmax(z) + w3 / K\n"
                       "objective=log:   T, w minimise the mean of -log q_y\n"
                       "objective=brier: T, w minimise the mean of sum_k (q_k - 1[k = y])^2",
            .about =
                "Temperature scaling with three more numbers: shares of the original and of "
                "uniform probabilities, which helps if some labels are wrong. Keeps the "
                "order of classes, and so the accuracy, and hardly overfits. The published "
                "fit finds T first, then w; fit=joint is never worse on its objective.",
            .citation = "Zhang, Kailkhura & Han, ICML 2020",
            .options = ets_options,
            .option_count = sizeof ets_options / sizeof *ets_options,
        },
    .traits = PC_KEEPS_ACCURACY | PC_KEEPS_ORDER | PC_SUMS_TO_ONE | PC_GUARDED,
    .fitted_traits = ets_traits,
    .needs_scores = 1,
    .in_rounds = 1,
    .fit = ets_fit,
    .scratch_size = ets_space,
    .apply = ets_apply,
    .recipe = ets_recipe,
    .write = ets_write,
    .read = ets_read,
    .describe = ets_describe,
};
