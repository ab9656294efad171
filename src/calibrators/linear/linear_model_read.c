/* Reading W and b from a file.  Checked:
 *   1. the keys are exactly those of the method;
 *   2. lists have one number, or one row, for each class, and one map for each member;
 *   3. absolute values are at most 1e100; lambda and mu are not negative. */
#include "calibrators/linear/linear_model.h"
#include "calibrators/parameter_lists.h"

#include <math.h>

typedef struct linear_model_reader {
  const char *file;
  pc_linear_model *model;
  pcal_error *err;
} linear_model_reader;

/* A list of numbers, one for each class, `step` apart. */
static pcal_status linear_model_read_numbers(const linear_model_reader *reader,
                                             const pc_json_node *list, const char *name,
                                             double *out, size_t step) {
  const size_t k = reader->model->classes;
  if (list->kind != PC_JSON_ARRAY || list->list.count != k)
    return pc_fail_line(reader->err, PCAL_DATA, reader->file, list->line,
                        "%s must hold %zu numbers, one for each class", name, k);
  for (const pc_json_node *item = list->list.first; item != NULL; item = item->next) {
    if (item->kind != PC_JSON_NUMBER || !(fabs(item->number) <= PC_LINEAR_LARGEST))
      return pc_fail_line(reader->err, PCAL_DATA, reader->file, item->line,
                          "%s must hold numbers of at most 1e100 in size", name);
    *out = item->number;
    out += step;
  }
  return PCAL_OK;
}

static pcal_status linear_model_read_w(const linear_model_reader *reader,
                                       const pc_json_node *node, double *out) {
  const pc_linear_model *model = reader->model;
  if (!model->full)
    return linear_model_read_numbers(reader, node, "w", out, 1);
  if (node->kind != PC_JSON_ARRAY || node->list.count != model->classes)
    return pc_fail_line(reader->err, PCAL_DATA, reader->file, node->line,
                        "W must hold %zu rows, one for each class", model->classes);
  for (const pc_json_node *row = node->list.first; row != NULL; row = row->next)
    PC_TRY(linear_model_read_numbers(reader, row, "a row of W", out++, model->stride));
  return PCAL_OK;
}

/* Reads the maps of all members. */
static pcal_status linear_model_read_members(const linear_model_reader *reader,
                                             const pc_json_node *w, const pc_json_node *b) {
  const pc_linear_model *model = reader->model;
  const size_t cells = (model->full ? model->classes : 1) * model->stride;
  if (model->members == 1) {
    PC_TRY(linear_model_read_w(reader, w, model->w));
    return linear_model_read_numbers(reader, b, "b", model->b, 1);
  }
  if (w->kind != PC_JSON_ARRAY || w->list.count != model->members || b->kind != PC_JSON_ARRAY ||
      b->list.count != model->members)
    return pc_fail_line(reader->err, PCAL_DATA, reader->file, w->line,
                        "W and b must hold %zu maps, one for each fold", model->members);
  const pc_json_node *one_w = w->list.first, *one_b = b->list.first;
  for (size_t m = 0; m < model->members; m++, one_w = one_w->next, one_b = one_b->next) {
    PC_TRY(linear_model_read_w(reader, one_w, model->w + m * cells));
    PC_TRY(linear_model_read_numbers(reader, one_b, "b", model->b + m * model->stride, 1));
  }
  return PCAL_OK;
}

static pcal_status linear_model_read_penalty(const linear_model_reader *reader,
                                             const pc_json_node *node, double *out) {
  if (node->kind != PC_JSON_NUMBER || !(node->number >= 0.0))
    return pc_parameter_error(node, reader->file, "lambda and mu must be numbers, 0 or more",
                              reader->err);
  *out = node->number;
  return PCAL_OK;
}

pcal_status pc_linear_model_read(pcal_calibrator *calibrator, pc_feature feature, int full,
                                 size_t members, int penalised, const pc_json_node *parameters,
                                 const char *file, pcal_error *err) {
  const pc_json_node *w = pc_json_find(parameters, full ? "W" : "w");
  const pc_json_node *b = pc_json_find(parameters, "b");
  const pc_json_node *lambda = pc_json_find(parameters, "lambda");
  const pc_json_node *mu = pc_json_find(parameters, "mu");
  linear_model_reader reader = {file, NULL, err};
  if (w == NULL || b == NULL || (penalised && (lambda == NULL || mu == NULL)) ||
      parameters->list.count != (penalised ? 4 : 2))
    return pc_fail_line(err, PCAL_DATA, file, parameters->line, "the parameters of %s are %s",
                        calibrator->method->row.name,
                        penalised ? "W, b, lambda and mu"
                        : full    ? "W and b"
                                  : "w and b");
  PC_TRY(pc_linear_model_new(calibrator, feature, full, members, &reader.model, err));
  PC_TRY(linear_model_read_members(&reader, w, b));
  if (!penalised)
    return PCAL_OK;
  reader.model->penalised = 1;
  PC_TRY(linear_model_read_penalty(&reader, lambda, &reader.model->lambda));
  return linear_model_read_penalty(&reader, mu, &reader.model->mu);
}
