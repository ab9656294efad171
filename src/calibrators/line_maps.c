#include "calibrators/line_maps.h"

#include <math.h>

#include "base/assert.h"
#include "calibrators/one_vs_rest.h"

pcal_status pc_line_maps_new(const pcal_env *env, size_t count, pc_line_maps **out,
                             pcal_error *err) {
  pc_line_maps *lines = pc_alloc(env, 1, sizeof *lines);
  *out = lines;
  if (lines != NULL)
    lines->lines = pc_alloc(env, count, sizeof *lines->lines);
  if (lines == NULL || lines->lines == NULL)
    return pc_fail_memory(err, "making maps of scores");
  lines->count = count;
  return PCAL_OK;
}

pcal_status pc_line_map_alloc(const pcal_env *env, size_t points, pc_line_map *line,
                              pcal_error *err) {
  line->score = pc_alloc_raw(env, points, 2 * sizeof *line->score);
  if (line->score == NULL)
    return pc_fail_memory(err, "making maps of scores");
  line->value = line->score + points;
  line->count = points;
  return PCAL_OK;
}

void pc_line_maps_free(const pcal_env *env, pc_line_maps *lines) {
  for (size_t i = 0; lines != NULL && i < lines->count; i++)
    pc_free(env, lines->lines[i].score);
  if (lines != NULL)
    pc_free(env, lines->lines);
  pc_free(env, lines);
}

double pc_line_map_value(const pc_line_map *line, double score) {
  pc_assert(line->count >= 1);
  const size_t at = pc_first_not_below(line->score, line->count, score);
  if (at == line->count)
    return line->value[line->count - 1];
  if (at == 0 || line->score[at] == score)
    return line->value[at];
  const double from = line->value[at - 1], to = line->value[at];
  const double share = (score - line->score[at - 1]) / (line->score[at] - line->score[at - 1]);
  const double value = from + share * (to - from);
  return fmin(fmax(value, fmin(from, to)), fmax(from, to));
}

/* ---- Files ---- */

static void line_maps_write_list(const pc_line_maps *lines, pc_json *json, const char *name,
                                 int values) {
  pc_json_key(json, name);
  pc_json_open(json, '[');
  for (size_t i = 0; i < lines->count; i++)
    pc_json_numbers(json, values ? lines->lines[i].value : lines->lines[i].score,
                    lines->lines[i].count);
  pc_json_close(json, ']');
}

void pc_line_maps_write(const pc_line_maps *lines, pc_json *json) {
  line_maps_write_list(lines, json, "scores", 0);
  line_maps_write_list(lines, json, "values", 1);
}

pcal_status pc_line_maps_read(const pcal_env *env, const pc_json_node *parameters, size_t count,
                              pc_list_order scores, pc_list_order values, const char *file,
                              pc_line_maps **out, pcal_error *err) {
  const pc_list_rule score_rule = {PC_SCORE_LEAST, PC_SCORE_MOST, scores,
                                   "scores must be ascending numbers from 0 to 1"};
  const pc_list_rule value_rule = {0.0, 1.0, values,
                                   values == PC_LIST_ANY
                                       ? "a value must be a number from 0 to 1"
                                       : "values must be numbers from 0 to 1 that do not fall"};
  const pc_json_node *score_lists = NULL, *value_lists = NULL;
  PC_TRY(pc_parameter_lists(parameters, "scores", count, file, &score_lists, err));
  PC_TRY(pc_parameter_lists(parameters, "values", count, file, &value_lists, err));
  PC_TRY(pc_line_maps_new(env, count, out, err));
  const pc_json_node *score = score_lists->list.first, *value = value_lists->list.first;
  for (size_t i = 0; i < count; i++, score = score->next, value = value->next) {
    pc_line_map *line = &(*out)->lines[i];
    if (score->list.count == 0 || value->list.count != score->list.count)
      return pc_parameter_error(value, file, "there must be a value for each score", err);
    PC_TRY(pc_line_map_alloc(env, score->list.count, line, err));
    PC_TRY(pc_parameter_numbers(score, &score_rule, line->score, file, err));
    PC_TRY(pc_parameter_numbers(value, &value_rule, line->value, file, err));
  }
  return PCAL_OK;
}
