#include "calibrators/line_maps.h"

#include <math.h>

#include "base/assert.h"
#include "calibrators/one_vs_rest.h"

pcal_status pc_line_maps_new(const pcal_env *env, size_t count, pc_line_maps **out,
                             pcal_error *err) {
  pc_line_maps *maps = pc_alloc(env, 1, sizeof *maps);
  *out = maps;
  if (maps != NULL)
    maps->maps = pc_alloc(env, count, sizeof *maps->maps);
  if (maps == NULL || maps->maps == NULL)
    return pc_fail_memory(err, "making maps of scores");
  maps->count = count;
  return PCAL_OK;
}

pcal_status pc_line_map_alloc(const pcal_env *env, size_t points, pc_line_map *map,
                              pcal_error *err) {
  map->score = pc_alloc_raw(env, points, 2 * sizeof *map->score);
  if (map->score == NULL)
    return pc_fail_memory(err, "making maps of scores");
  map->value = map->score + points;
  map->count = points;
  return PCAL_OK;
}

void pc_line_maps_free(const pcal_env *env, pc_line_maps *maps) {
  for (size_t i = 0; maps != NULL && i < maps->count; i++)
    pc_free(env, maps->maps[i].score);
  if (maps != NULL)
    pc_free(env, maps->maps);
  pc_free(env, maps);
}

double pc_line_map_value(const pc_line_map *map, double score) {
  pc_assert(map->count >= 1);
  const size_t at = pc_first_not_below(map->score, map->count, score);
  if (at == map->count)
    return map->value[map->count - 1];
  if (at == 0 || map->score[at] == score)
    return map->value[at];
  const double from = map->value[at - 1], to = map->value[at];
  const double share = (score - map->score[at - 1]) / (map->score[at] - map->score[at - 1]);
  const double value = from + share * (to - from);
  return fmin(fmax(value, fmin(from, to)), fmax(from, to));
}

/* ---- Files ---- */

static void line_maps_write_list(const pc_line_maps *maps, pc_json *json, const char *name,
                                 int values) {
  pc_json_key(json, name);
  pc_json_open(json, '[');
  for (size_t i = 0; i < maps->count; i++)
    pc_json_numbers(json, values ? maps->maps[i].value : maps->maps[i].score,
                    maps->maps[i].count);
  pc_json_close(json, ']');
}

void pc_line_maps_write(const pc_line_maps *maps, pc_json *json) {
  line_maps_write_list(maps, json, "scores", 0);
  line_maps_write_list(maps, json, "values", 1);
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
    pc_line_map *map = &(*out)->maps[i];
    if (score->list.count == 0 || value->list.count != score->list.count)
      return pc_parameter_error(value, file, "there must be a value for each score", err);
    PC_TRY(pc_line_map_alloc(env, score->list.count, map, err));
    PC_TRY(pc_parameter_numbers(score, &score_rule, map->score, file, err));
    PC_TRY(pc_parameter_numbers(value, &value_rule, map->value, file, err));
  }
  return PCAL_OK;
}
