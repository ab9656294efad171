#include "calibrators/parameter_lists.h"

#include <stdio.h>
#include <string.h>

pcal_status pc_parameter_error(const pc_json_node *node, const char *file, const char *what,
                               pcal_error *err) {
  return pc_fail_line(err, PCAL_DATA, file, node->line, "%-s", what);
}

pcal_status pc_parameters_check_names(const pc_json_node *parameters, const char *const *names,
                                      const char *file, pcal_error *err) {
  size_t count = 0;
  for (; names[count] != NULL; count++)
    if (pc_json_find(parameters, names[count]) == NULL)
      return pc_fail_line(err, PCAL_DATA, file, parameters->line,
                          "the parameter \"%s\" is missing; fit again", names[count]);
  if (parameters->list.count == count)
    return PCAL_OK;
  return pc_fail_line(err, PCAL_DATA, file, parameters->line,
                      "there are %zu parameters instead of %zu; fit again",
                      parameters->list.count, count);
}

pcal_status pc_parameter_lists(const pc_json_node *parameters, const char *name, size_t count,
                               const char *file, const pc_json_node **out, pcal_error *err) {
  const pc_json_node *lists = pc_json_find(parameters, name);
  *out = lists;
  int valid = lists != NULL && lists->kind == PC_JSON_ARRAY && lists->list.count == count;
  for (const pc_json_node *list = valid ? lists->list.first : NULL; list != NULL;
       list = list->next)
    valid &= list->kind == PC_JSON_ARRAY;
  if (valid)
    return PCAL_OK;
  return pc_fail_line(err, PCAL_DATA, file, (lists == NULL ? parameters : lists)->line,
                      "\"%s\" must hold %zu list%s of numbers", name, count,
                      count == 1 ? "" : "s");
}

static int parameter_follows(pc_list_order order, const double *out, size_t i) {
  switch (order) {
  case PC_LIST_ANY:
    return 1;
  case PC_LIST_RISING:
    return i == 0 || out[i] >= out[i - 1];
  case PC_LIST_STRICT:
    return i == 0 || out[i] > out[i - 1];
  case PC_LIST_PAIRED:
    return i == 0 || out[i] > out[i - 1] ||
           (out[i] == out[i - 1] && (i == 1 || out[i - 1] > out[i - 2]));
  }
  return 0;
}

pcal_status pc_parameter_numbers(const pc_json_node *list, const pc_list_rule *rule,
                                 double *out, const char *file, pcal_error *err) {
  size_t i = 0;
  for (const pc_json_node *item = list->list.first; item != NULL; item = item->next, i++) {
    if (item->kind != PC_JSON_NUMBER || !(item->number >= rule->low) ||
        !(item->number <= rule->high))
      return pc_parameter_error(item, file, rule->what, err);
    out[i] = item->number;
    if (!parameter_follows(rule->order, out, i))
      return pc_parameter_error(item, file, rule->what, err);
  }
  return PCAL_OK;
}
