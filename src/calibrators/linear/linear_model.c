#include "calibrators/linear/linear_model.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "calibrators/fit_pass.h"
#include "calibrators/recipe.h"
#include "kernels/dispatch.h"

/* ---- Parameters ---- */

/* Rows of w of each member. */
static size_t linear_model_inputs(const pc_linear_model *model) {
  return model->full ? model->classes : 1;
}

static double *linear_model_w(const pc_linear_model *model, size_t member) {
  return model->w + member * linear_model_inputs(model) * model->stride;
}

static double *linear_model_b(const pc_linear_model *model, size_t member) {
  return model->b + member * model->stride;
}

pcal_status pc_linear_model_new(pcal_calibrator *calibrator, pc_feature feature, int full,
                                size_t members, pc_linear_model **out, pcal_error *err) {
  const pcal_env *env = &calibrator->env;
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof **out, err));
  pc_linear_model *model = *out = calibrator->parameters;
  const size_t k = calibrator->layout.classes;
  *model = (pc_linear_model){.feature = feature,
                             .full = full,
                             .classes = k,
                             .stride = pc_linear_stride(k),
                             .members = members};
  model->w =
      pc_alloc(env, members * linear_model_inputs(model), model->stride * sizeof(double));
  model->b = pc_alloc(env, members, model->stride * sizeof(double));
  return model->w == NULL || model->b == NULL ? pc_fail_memory(err, "making a calibrator")
                                              : PCAL_OK;
}

static double linear_model_bounded(double x) {
  return fmin(fmax(x, -PC_LINEAR_LARGEST), PC_LINEAR_LARGEST);
}

/* True for one column of logits: the first of the two logits is 0, so its weight has no
 * effect. */
static int linear_model_blank(const pc_linear_model *model, const pc_layout *layout) {
  return layout->kind == PCAL_LOGIT && pc_layout_is_binary(layout) &&
         model->feature == PC_FEATURE_SCORES;
}

void pc_linear_model_take(pc_linear_model *model, size_t member,
                          const pc_linear_search *search) {
  const size_t k = model->classes, inputs = linear_model_inputs(model);
  const double unit = ldexp(1.0, -search->pass.rows->exponent);
  double *w = linear_model_w(model, member), *b = linear_model_b(model, member);
  for (size_t c = 0; c < k; c++) {
    for (size_t j = 0; j < inputs; j++)
      w[j * model->stride + c] = linear_model_bounded(search->at[j * k + c] * unit);
    b[c] = linear_model_bounded(search->at[inputs * k + c]);
  }
  if (linear_model_blank(model, &search->pass.rows->task->calibrator->layout))
    memset(w, 0, (model->full ? model->stride : 1) * sizeof *w);
}

void pc_linear_model_start(const pc_linear_model *model, size_t member,
                           pc_linear_search *search) {
  const size_t k = model->classes, inputs = linear_model_inputs(model);
  const double unit = ldexp(1.0, search->pass.rows->exponent);
  const double *w = linear_model_w(model, member), *b = linear_model_b(model, member);
  for (size_t c = 0; c < k; c++) {
    for (size_t j = 0; j < inputs; j++)
      search->at[j * k + c] = w[j * model->stride + c] * unit;
    search->at[inputs * k + c] = b[c];
  }
}

void pc_linear_model_identity(pc_linear_model *model) {
  const size_t inputs = linear_model_inputs(model);
  memset(model->w, 0, model->members * inputs * model->stride * sizeof *model->w);
  memset(model->b, 0, model->members * model->stride * sizeof *model->b);
  for (size_t m = 0; m < model->members; m++)
    for (size_t c = 0; c < model->classes; c++)
      linear_model_w(model, m)[model->full ? c * model->stride + c : c] = 1.0;
}

/* ---- Applying ---- */

/* Features and mapped scores of a block of rows. */
size_t pc_linear_model_space(const pcal_calibrator *calibrator) {
  const pc_linear_model *model = calibrator->parameters;
  return PC_LINEAR_ROWS * (model->classes + model->stride);
}

static void linear_model_map(const pc_linear_model *model, size_t member, const double *x,
                             size_t count, double *u) {
  const pc_linear_kernels *kernels = pc_kernels_best()->linear;
  const double *w = linear_model_w(model, member), *b = linear_model_b(model, member);
  const size_t k = model->classes, s = model->stride;
  if (model->full)
    kernels->map(w, b, x, k, s, u);
  for (size_t i = 0; i < count && !model->full; i++)
    kernels->scale(w, b, x + i * k, k, u + i * s);
  for (size_t i = 0; i < count; i++)
    kernels->softmax(u + i * s, k, u + i * s);
}

static void linear_model_block(const pc_linear_model *model, const double *x, size_t count,
                               double *u, double *out) {
  const size_t k = model->classes, s = model->stride;
  for (size_t m = 0; m < model->members; m++) {
    linear_model_map(model, m, x, count, u);
    for (size_t i = 0; i < count; i++)
      for (size_t c = 0; c < k; c++)
        out[i * k + c] = m == 0 ? u[i * s + c] : out[i * k + c] + u[i * s + c];
  }
  for (size_t i = 0; i < count * k && model->members > 1; i++)
    out[i] /= (double)model->members;
}

void pc_linear_model_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                           double *out) {
  const pc_linear_model *model = calibrator->parameters;
  const size_t k = model->classes;
  double *x = out + count * k, *u = x + PC_LINEAR_ROWS * k;
  memset(x, 0, PC_LINEAR_ROWS * k * sizeof *x);
  for (size_t begin = 0; begin < count; begin += PC_LINEAR_ROWS) {
    const size_t left = count - begin, rows = left < PC_LINEAR_ROWS ? left : PC_LINEAR_ROWS;
    for (size_t i = 0; i < rows; i++)
      pc_feature_row(model->feature, &calibrator->layout, in + (begin + i) * k, x + i * k);
    linear_model_block(model, x, rows, u, out + begin * k);
  }
}

/* The mean of the members' softmax. */
const char *pc_linear_model_recipe(const pcal_calibrator *calibrator, pc_recipe *out) {
  const pc_linear_model *model = calibrator->parameters;
  const int several = model->members > 1;
  pc_recipe_add_feature(calibrator, model->feature, out);
  if (several)
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_STORE, .size = 0});
  for (size_t m = 0; m < model->members; m++) {
    const pc_step map = {.kind = model->full ? PC_STEP_MATRIX : PC_STEP_VECTOR,
                         .w = linear_model_w(model, m),
                         .offsets = linear_model_b(model, m),
                         .stride = model->stride,
                         .size = model->classes};
    if (m > 0)
      pc_recipe_add(out, (pc_step){.kind = PC_STEP_LOAD, .size = 0});
    pc_recipe_add(out, map);
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_SOFTMAX});
    if (m > 0)
      pc_recipe_add(out, (pc_step){.kind = PC_STEP_ADD, .size = 1});
    if (several)
      pc_recipe_add(out, (pc_step){.kind = PC_STEP_STORE, .size = 1});
  }
  if (several)
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_SCALE, .a = 1.0 / (double)model->members});
  return NULL;
}

/* ---- Files ---- */

/* Row c of W: the weights of all features for class c. */
static void linear_model_write_row(const pc_linear_model *model, size_t member, size_t c,
                                   pc_json *json) {
  const double *w = linear_model_w(model, member);
  pc_json_open(json, '[');
  for (size_t j = 0; j < model->classes; j++)
    pc_json_number(json, w[j * model->stride + c]);
  pc_json_close(json, ']');
}

static void linear_model_write_w(const pc_linear_model *model, size_t member, pc_json *json) {
  if (!model->full) {
    pc_json_numbers(json, linear_model_w(model, member), model->classes);
    return;
  }
  pc_json_open(json, '[');
  for (size_t c = 0; c < model->classes; c++)
    linear_model_write_row(model, member, c, json);
  pc_json_close(json, ']');
}

void pc_linear_model_write(const pcal_calibrator *calibrator, pc_json *json) {
  const pc_linear_model *model = calibrator->parameters;
  const int several = model->members > 1;
  pc_json_key(json, model->full ? "W" : "w");
  if (several)
    pc_json_open(json, '[');
  for (size_t m = 0; m < model->members; m++)
    linear_model_write_w(model, m, json);
  if (several)
    pc_json_close(json, ']');
  pc_json_key(json, "b");
  if (several)
    pc_json_open(json, '[');
  for (size_t m = 0; m < model->members; m++)
    pc_json_numbers(json, linear_model_b(model, m), model->classes);
  if (several)
    pc_json_close(json, ']');
  if (!model->penalised)
    return;
  pc_json_key(json, "lambda");
  pc_json_number(json, model->lambda);
  pc_json_key(json, "mu");
  pc_json_number(json, model->mu);
}

/* ---- Description ---- */

static void linear_model_range(pc_text *out, const char *name, const double *values,
                               size_t count, size_t step) {
  char low[PC_NUMBER_MAX], high[PC_NUMBER_MAX];
  double least = values[0], most = values[0];
  for (size_t i = 0; i < count; i++) {
    least = fmin(least, values[i * step]);
    most = fmax(most, values[i * step]);
  }
  pc_number_round(least, 3, low);
  pc_number_round(most, 3, high);
  pc_text_format(out, "%s from %s to %s", name, low, high);
}

void pc_linear_model_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const pc_linear_model *model = calibrator->parameters;
  char lambda[PC_NUMBER_MAX], mu[PC_NUMBER_MAX];
  if (model->full)
    pc_text_format(out, "W of %zu x %zu, ", model->classes, model->classes);
  linear_model_range(out, model->full ? "its diagonal" : "w", model->w, model->classes,
                     model->full ? model->stride + 1 : 1);
  linear_model_range(out, ", b", model->b, model->classes, 1);
  if (model->members > 1)
    pc_text_format(out, ", in the first of %zu maps", model->members);
  if (model->penalised)
    pc_text_format(out, "; lambda %s, mu %s", pc_show(model->lambda, lambda),
                   pc_show(model->mu, mu));
  pc_text_add(out, "\n");
}

const char *pc_linear_model_objective(const pcal_calibrator *calibrator) {
  (void)calibrator;
  return "log";
}

/* ---- Fitting ---- */

pc_feature pc_linear_feature(pcal_calibrator *calibrator, size_t on) {
  if (calibrator->layout.kind != PCAL_LOGIT)
    pc_options_choose(&calibrator->options, on, "log-probs");
  return calibrator->options.value[on].choice == 0 ? PC_FEATURE_SCORES : PC_FEATURE_LOG_PROBS;
}

static void linear_model_warn_absent(const pc_fit_rows *rows, pc_fit_info *fit) {
  size_t absent = 0, first = 0;
  for (size_t c = rows->classes; c-- > 0;)
    if (rows->class_weight[c] <= 0.0) {
      absent++;
      first = c;
    }
  fit->warned |= absent > 0 ? PC_WARNED_ABSENT_CLASS : 0;
  if (absent == 1)
    pc_fit_warn(fit, "class %zu never occurs among the labels, so its probabilities go to 0",
                first);
  else if (absent > 1)
    pc_fit_warn(fit,
                "%zu classes never occur among the labels (the first is %zu), so their "
                "probabilities go to 0",
                absent, first);
}

/* True for methods with the option "on", which are made for logits. */
static int linear_model_made_for_logits(const pcal_calibrator *calibrator) {
  const pc_options *options = &calibrator->options;
  return options->count > 0 && strcmp(options->table[options->count - 1].name, "on") == 0;
}

static void linear_model_warn(const pc_fit_task *task, const pc_fit_rows *rows,
                              const pc_linear_search *search) {
  pc_fit_info *fit = &task->calibrator->fit;
  const pcal_kind kind = task->calibrator->layout.kind;
  if (kind == PCAL_PROBABILITY && linear_model_made_for_logits(task->calibrator)) {
    pc_fit_warn(fit, "probabilities were given: %s and b act on their logarithms",
                search->pass.full ? "W" : "w");
    fit->warned |= PC_WARNED_PROBABILITIES;
  }
  linear_model_warn_absent(rows, fit);
  if (search->end == PC_OPTIM_AT_INFINITY)
    pc_fit_warn(
        fit, "the scores separate the labels, or carry no information about them, so the best "
             "parameters would be infinite; the search stopped where the gradient vanishes");
  else if (search->end == PC_OPTIM_STUCK)
    pc_fit_warn(fit, "the search ended before the gradient vanished");
}

void pc_linear_model_record_fit(const pc_fit_task *task, const pc_fit_rows *rows,
                                pc_linear_model *model, const pc_linear_search *search,
                                double after) {
  pc_fit_info *fit = &task->calibrator->fit;
  fit->searched = 1;
  fit->before = rows->before;
  fit->after = after;
  fit->iterations = search->evaluations + 1;
  fit->gradient = search->gradient;
  fit->status = search->end == PC_OPTIM_CONVERGED ? PC_FIT_CONVERGED : PC_FIT_STOPPED;
  linear_model_warn(task, rows, search);
  if (after < rows->before)
    return;
  pc_linear_model_identity(model);
  fit->after = rows->before;
  fit->status = PC_FIT_IDENTITY;
}

pcal_status pc_linear_model_check_rows(const pc_fit_task *task, int full, pcal_error *err) {
  const size_t k = task->calibrator->layout.classes, diagonal = 2 * k;
  return pc_fit_check_rows(
      task, full ? k * (k + 1) : diagonal,
      full && task->calibrator->fit.rows >= diagonal ? "vector" : "temperature", err);
}

pcal_status pc_linear_model_fit(const pc_fit_task *task, int full, size_t on, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  const pc_feature feature = pc_linear_feature(calibrator, on);
  pc_linear_model *model = NULL;
  pc_fit_rows rows;
  pc_linear_search search;
  PC_TRY(pc_linear_model_new(calibrator, feature, full, 1, &model, err));
  PC_TRY(pc_fit_rows_open(task, feature, full ? PC_FIT_PLAIN : PC_FIT_TRANSPOSED, &rows, err));
  PC_TRY(pc_linear_model_check_rows(task, full, err));
  PC_TRY(pc_linear_search_new(&rows, full, 0, &search, err));
  if (task->like != NULL && full)
    pc_linear_model_start(task->like->parameters, 0, &search);
  else
    pc_linear_search_identity(&search);
  PC_TRY(pc_linear_search_run(&search, 0, err));
  pc_linear_model_take(model, 0, &search);
  pc_linear_model_record_fit(task, &rows, model, &search, search.value);
  return PCAL_OK;
}
