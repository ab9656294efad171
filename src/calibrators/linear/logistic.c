#include "calibrators/linear/logistic.h"
#include "calibrators/recipe.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "kernels/softmax.h"

#define LOGISTIC_LARGEST 1e100

/* ---- Applying ---- */

size_t pc_logistic_space(const pcal_calibrator *calibrator) {
  const pc_logistic *model = calibrator->parameters;
  return pc_feature_count(model->feature, &calibrator->layout);
}

static double logistic_margin(const pc_logistic *model, const double *x, size_t c) {
  double margin = model->shift[c];
  for (size_t i = 0; i < model->slopes; i++)
    margin += model->slope[i][c] * x[i * model->columns + c];
  return margin;
}

/* Several classes.  If all margins are low, they are raised together, so that the proportions
 * of sigmoids below the smallest double are kept. */
static void logistic_share(const pc_logistic *model, const double *x, double *out) {
  const size_t k = model->columns;
  double most = -INFINITY, sum = 0.0;
  for (size_t c = 0; c < k; c++) {
    out[c] = logistic_margin(model, x, c);
    most = out[c] > most ? out[c] : most;
  }
  const double shift = fmax(PC_FEATURE_MARGIN_LEAST - most, 0.0);
  for (size_t c = 0; c < k; c++) {
    double pair[2];
    pc_sigmoid_pair(out[c] + shift, pair);
    out[c] = pair[1];
    sum += out[c];
  }
  for (size_t c = 0; c < k; c++)
    out[c] /= sum;
}

static void logistic_row(const pc_logistic *model, const double *x, double *out) {
  if (model->columns == 1)
    pc_sigmoid_pair(logistic_margin(model, x, 0), out);
  else
    logistic_share(model, x, out);
}

void pc_logistic_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                       double *out) {
  const pc_logistic *model = calibrator->parameters;
  const size_t k = calibrator->layout.classes;
  double *x = out + count * k;
  for (size_t i = 0; i < count; i++) {
    pc_feature_row(model->feature, &calibrator->layout, in + i * k, x);
    logistic_row(model, x, out + i * k);
  }
}

const char *pc_logistic_recipe(const pcal_calibrator *calibrator, pc_recipe *out) {
  const pc_logistic *model = calibrator->parameters;
  pc_recipe_add_logistic(calibrator, model->feature, model->slope, model->shift, out);
  return NULL;
}

const char *pc_logistic_objective(const pcal_calibrator *calibrator) {
  (void)calibrator;
  return "log-ovr";
}

/* One column: the map is strictly monotone unless all slopes are 0. */
unsigned pc_logistic_traits(const pcal_calibrator *calibrator) {
  const pc_logistic *model = calibrator->parameters;
  const unsigned traits = calibrator->method->traits;
  int slopes = 0;
  for (size_t i = 0; i < model->slopes; i++)
    slopes |= model->slope[i][0] != 0.0;
  return model->columns == 1 && slopes ? traits | PC_INJECTIVE : traits;
}

/* ---- Files ---- */

static double *logistic_list(const pc_logistic *model, size_t i) {
  return i < model->slopes    ? model->slope[i]
         : i == model->slopes ? model->shift
                              : model->middle;
}

void pc_logistic_write(const pcal_calibrator *calibrator, const char *const names[4],
                       pc_json *json) {
  const pc_logistic *model = calibrator->parameters;
  for (size_t i = 0; i < 4 && names[i] != NULL; i++) {
    pc_json_key(json, names[i]);
    pc_json_numbers(json, logistic_list(model, i), model->columns);
  }
}

static pcal_status logistic_read_list(const pc_json_node *list, const char *name, size_t count,
                                      double low, double high, double *out, const char *file,
                                      pcal_error *err) {
  char least[PC_NUMBER_MAX], most[PC_NUMBER_MAX];
  if (list->kind != PC_JSON_ARRAY || list->list.count != count)
    return pc_fail_line(err, PCAL_DATA, file, list->line,
                        "%s must hold %zu number%s, one for each %s", name, count,
                        count == 1 ? "" : "s", "column of scores");
  for (const pc_json_node *item = list->list.first; item != NULL; item = item->next) {
    if (item->kind != PC_JSON_NUMBER || !(item->number >= low) || !(item->number <= high))
      return pc_fail_line(err, PCAL_DATA, file, item->line,
                          "%s must hold numbers between %s and %s", name, pc_show(low, least),
                          pc_show(high, most));
    *out++ = item->number;
  }
  return PCAL_OK;
}

pcal_status pc_logistic_new(pcal_calibrator *calibrator, const pc_logistic_settings *settings,
                            pc_logistic **out, pcal_error *err) {
  const size_t k = calibrator->layout.columns;
  double *lists = pc_alloc(&calibrator->env, k, 4 * sizeof *lists);
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof **out, err));
  if (lists == NULL)
    return pc_fail_memory(err, "making a calibrator");
  *out = calibrator->parameters;
  **out = (pc_logistic){.feature = settings->feature,
                        .columns = k,
                        .slopes = settings->slopes,
                        .slope = {lists + k, lists + 2 * k},
                        .shift = lists,
                        .middle = lists + 3 * k};
  return PCAL_OK;
}

pcal_status pc_logistic_read(pcal_calibrator *calibrator, const pc_logistic_settings *settings,
                             const char *const names[4], const pc_json_node *parameters,
                             const char *file, pcal_error *err) {
  const pc_json_node *lists[4] = {NULL};
  pc_logistic *model = NULL;
  size_t count = 0;
  for (; count < 4 && names[count] != NULL; count++)
    lists[count] = pc_json_find(parameters, names[count]);
  for (size_t i = 0; i < count; i++)
    if (lists[i] == NULL || parameters->list.count != count)
      return pc_fail_line(err, PCAL_DATA, file, parameters->line, "the parameters of %s are %s",
                          calibrator->method->row.name,
                          count == 2 ? "a and b" : "a, b, c and m");
  PC_TRY(pc_logistic_new(calibrator, settings, &model, err));
  for (size_t i = 0; i < count; i++) {
    const double largest = i > model->slopes ? 1.0 : LOGISTIC_LARGEST;
    const int positive = i > model->slopes || (i < model->slopes && settings->bounded);
    PC_TRY(logistic_read_list(lists[i], names[i], model->columns, positive ? 0.0 : -largest,
                              largest, logistic_list(model, i), file, err));
  }
  return PCAL_OK;
}

void pc_logistic_describe(const pcal_calibrator *calibrator, const char *const names[4],
                          pc_text *out) {
  const pc_logistic *model = calibrator->parameters;
  for (size_t i = 0; i < 4 && names[i] != NULL; i++) {
    const double *list = logistic_list(model, i);
    char low[PC_NUMBER_MAX], high[PC_NUMBER_MAX];
    double least = list[0], most = list[0];
    for (size_t c = 1; c < model->columns; c++) {
      least = fmin(least, list[c]);
      most = fmax(most, list[c]);
    }
    pc_number_round(least, 3, low);
    pc_number_round(most, 3, high);
    if (model->columns == 1)
      pc_text_format(out, "%s%s = %s", i == 0 ? "" : ", ", names[i], low);
    else
      pc_text_format(out, "%s%s from %s to %s", i == 0 ? "" : ", ", names[i], low, high);
  }
  pc_text_add(out, "\n");
}
