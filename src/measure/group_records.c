#include "measure/group_records.h"

#include <stdio.h>
#include <string.h>

static void group_record_free(const pcal_env *env, pc_group_record *record) {
  pc_free(env, record->why);
  pc_free(env, record->parts);
  pc_free(env, record->interval_result);
  pc_free(env, record->part_interval_results);
  pc_free(env, record->class_values);
  if (record->graph != NULL)
    pc_plot_table_free(env, record->graph);
  pc_free(env, record->graph);
}

void pc_group_records_free(pcal_results *results) {
  const size_t count = results->group_count * results->metric_count;
  for (size_t i = 0; results->group_records != NULL && i < count; i++)
    group_record_free(&results->env, &results->group_records[i]);
  pc_free(&results->env, results->group_records);
  results->group_records = NULL;
}

/* True if a name is stored in the record itself. */
static int group_record_owns(const pc_metric_result *outcome, const char *name) {
  const char *begin = outcome->part_names[0];
  return name >= begin && name < begin + sizeof outcome->part_names;
}

static int group_record_parts(const pcal_env *env, const pc_metric_result *outcome,
                              pc_group_record *out) {
  size_t letters = 0;
  for (size_t p = 0; p < outcome->part_count; p++)
    if (group_record_owns(outcome, outcome->parts[p].name))
      letters += strlen(outcome->parts[p].name) + 1;
  if (outcome->part_count == 0)
    return 1;
  const size_t size = outcome->part_count * sizeof *out->parts;
  out->parts = pc_alloc_raw(env, 1, size + letters);
  if (out->parts == NULL)
    return 0;
  memcpy(out->parts, outcome->parts, size);
  out->part_count = outcome->part_count;
  char *at = (char *)out->parts + size;
  for (size_t p = 0; p < outcome->part_count; p++)
    if (group_record_owns(outcome, outcome->parts[p].name)) {
      const size_t length = strlen(outcome->parts[p].name) + 1;
      memcpy(at, outcome->parts[p].name, length);
      out->parts[p].name = at;
      at += length;
    }
  return 1;
}

/* Copies a structure unless it is all zero.  Returns 0 without memory. */
static int group_record_copy(const pcal_env *env, const void *from, size_t size, void **out) {
  const unsigned char *bytes = from;
  size_t i = 0;
  while (i < size && bytes[i] == 0)
    i++;
  if (i == size)
    return 1;
  *out = pc_alloc_raw(env, 1, size);
  if (*out != NULL)
    memcpy(*out, from, size);
  return *out != NULL;
}

static int group_record_fill(const pcal_env *env, pc_result_record *record,
                             pc_group_record *out) {
  pc_metric_result *outcome = &record->outcome;
  void *interval_result = NULL, *parts = NULL, *graph = NULL;
  outcome->graph.wanted = 0;
  int kept = group_record_parts(env, outcome, out) &&
             group_record_copy(env, &record->interval_result, sizeof record->interval_result,
                               &interval_result) &&
             group_record_copy(env, record->part_interval_results,
                               sizeof record->part_interval_results, &parts) &&
             group_record_copy(env, &outcome->graph, sizeof outcome->graph, &graph);
  out->interval_result = interval_result;
  out->part_interval_results = parts;
  out->graph = graph;
  if (graph != NULL)
    memset(&outcome->graph, 0, sizeof outcome->graph);
  if (outcome->why[0] != '\0') {
    out->why = pc_copy_text(env, outcome->why);
    kept &= out->why != NULL;
  }
  out->value = outcome->value;
  out->p_value = outcome->p_value;
  out->undefined = outcome->undefined;
  out->tested = outcome->tested;
  out->class_values = outcome->class_values;
  out->class_count = outcome->class_count;
  outcome->class_values = NULL;
  return kept;
}

pcal_status pc_group_records_keep(pcal_results *results, size_t group,
                                  pc_result_record *records, pcal_error *err) {
  const pcal_env env = pc_env_for_use(&results->env, PC_MEMORY_RESULTS);
  int kept = 1;
  for (size_t m = 0; m < results->metric_count && kept; m++)
    kept = group_record_fill(&env, &records[m],
                             &results->group_records[group * results->metric_count + m]);
  return kept ? PCAL_OK : pc_fail_memory(err, "collecting results");
}

const pc_group_record *pc_group_record_at(const pcal_results *results, size_t index) {
  return index < results->metric_count ? NULL
                                       : &results->group_records[index - results->metric_count];
}

const pc_result_record *pc_results_at(const pcal_results *results, size_t index,
                                      pc_result_record *room) {
  const pc_group_record *own = pc_group_record_at(results, index);
  const pc_result_record *all = &results->records[index % results->metric_count];
  if (own == NULL)
    return all;
  memset(room, 0, sizeof *room);
  room->metric = all->metric;
  room->notion = all->notion;
  room->bound = all->bound;
  room->view = all->view;
  room->device_uses = all->device_uses;
  memcpy(room->spec, all->spec, sizeof room->spec);
  memcpy(room->label, all->label, sizeof room->label);
  room->group = index / results->metric_count - 1;
  pc_metric_result *outcome = &room->outcome;
  outcome->value = own->value;
  outcome->p_value = own->p_value;
  outcome->undefined = own->undefined;
  outcome->tested = own->tested;
  if (own->why != NULL)
    snprintf(outcome->why, sizeof outcome->why, "%s", own->why);
  if (own->part_count > 0)
    memcpy(outcome->parts, own->parts, own->part_count * sizeof *own->parts);
  outcome->part_count = own->part_count;
  outcome->class_values = own->class_values;
  outcome->class_count = own->class_count;
  if (own->graph != NULL)
    outcome->graph = *own->graph;
  if (own->interval_result != NULL)
    room->interval_result = *own->interval_result;
  if (own->part_interval_results != NULL)
    memcpy(room->part_interval_results, own->part_interval_results,
           sizeof room->part_interval_results);
  return room;
}
