#include "measure/group_names.h"

#include <stdio.h>
#include <string.h>

#include "io/name_table.h"

int pc_groups_have_names(const pcal_measure *measure) {
  return measure->group_name_count > 0;
}

const char *pc_group_name(const pcal_measure *measure, size_t number,
                          char buffer[PC_GROUP_NUMBER_MAX]) {
  if (number < measure->group_name_count)
    return measure->group_names[number];
  snprintf(buffer, PC_GROUP_NUMBER_MAX, "%zu", number);
  return buffer;
}

/* ---- order ---- */

/* The number of digits of a name without leading zeros; 0 if it is no whole number. */
static size_t group_names_digits(const char **name) {
  const size_t digits = strspn(*name, "0123456789");
  if (digits == 0 || (*name)[digits] != '\0')
    return 0;
  const size_t zeros = strspn(*name, "0");
  const size_t skipped = zeros == digits ? zeros - 1 : zeros;
  *name += skipped;
  return digits - skipped;
}

int pc_group_name_before(const char *name_a, const char *name_b) {
  const char *value_a = name_a, *value_b = name_b;
  const size_t digits_a = group_names_digits(&value_a), digits_b = group_names_digits(&value_b);
  if ((digits_a == 0) != (digits_b == 0))
    return digits_a > 0;
  if (digits_a != digits_b)
    return digits_a < digits_b;
  const int by_value = strcmp(value_a, value_b);
  return by_value != 0 ? by_value < 0 : strcmp(name_a, name_b) < 0;
}

static int group_names_before(const pcal_measure *measure, size_t a, size_t b) {
  char number_a[PC_GROUP_NUMBER_MAX], number_b[PC_GROUP_NUMBER_MAX];
  return pc_group_name_before(pc_group_name(measure, a, number_a),
                              pc_group_name(measure, b, number_b));
}

static void group_names_sink(const pcal_measure *measure, size_t *heap, size_t at,
                             size_t count) {
  const size_t sinking = heap[at];
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && group_names_before(measure, heap[child], heap[child + 1]))
      child++;
    if (!group_names_before(measure, sinking, heap[child]))
      break;
    heap[at] = heap[child];
  }
  heap[at] = sinking;
}

static void group_names_sort(const pcal_measure *measure, size_t *order, size_t count) {
  for (size_t at = count / 2; at > 0; at--)
    group_names_sink(measure, order, at - 1, count);
  for (size_t end = count; end > 1; end--) {
    const size_t last = order[0];
    order[0] = order[end - 1];
    order[end - 1] = last;
    group_names_sink(measure, order, 0, end - 1);
  }
}

pcal_status pc_group_order(const pcal_measure *measure, size_t **out, size_t *count,
                           pcal_error *err) {
  const pc_row_ranges *seen = &measure->seen;
  const int named = pc_groups_have_names(measure);
  size_t *order = pc_alloc_raw(&measure->env, seen->group_count, sizeof *order);
  if (order == NULL)
    return pc_fail_memory(err, "ordering groups");
  *count = 0;
  for (size_t g = 0; g < seen->group_count; g++)
    if (!named || seen->first_rows[g] != PCAL_NO_ROW)
      order[(*count)++] = g;
  if (named)
    group_names_sort(measure, order, *count);
  *out = order;
  return PCAL_OK;
}

/* ---- merging ---- */

void pc_group_merge_free(const pcal_env *env, pc_group_merge *merge) {
  pc_free(env, merge->map);
  pc_name_list_free(env, merge->names, merge->name_count);
  *merge = (pc_group_merge){NULL, NULL, 0};
}

static int group_names_met(const pcal_measure *measure, size_t number) {
  return measure->seen.first_rows[number] != PCAL_NO_ROW;
}

/* Adds the names of all groups, by number, to a table; fails if one occurs twice. */
static pcal_status group_names_collect(const pcal_measure *measure, pc_name_table *names,
                                       pcal_error *err) {
  const size_t named = measure->group_name_count, met = measure->seen.group_count;
  for (size_t g = 0; g < (named > met ? named : met); g++) {
    char buffer[PC_GROUP_NUMBER_MAX];
    const char *name = pc_group_name(measure, g, buffer);
    uint32_t number;
    PC_TRY(pc_name_table_add(names, pc_slice_of(name), &number, err));
    if (number != g)
      return pc_fail(err, PCAL_USAGE,
                     "two groups are called \"%s\"; groups of measures that are merged need "
                     "different names",
                     name);
  }
  return PCAL_OK;
}

static pcal_status group_names_add_other(const pcal_measure *other, pc_name_table *names,
                                         size_t *map, pcal_error *err) {
  for (size_t g = 0; g < other->seen.group_count; g++) {
    char buffer[PC_GROUP_NUMBER_MAX];
    uint32_t number;
    map[g] = SIZE_MAX;
    if (!group_names_met(other, g))
      continue;
    PC_TRY(
        pc_name_table_add(names, pc_slice_of(pc_group_name(other, g, buffer)), &number, err));
    map[g] = number;
  }
  return PCAL_OK;
}

static pcal_status group_names_match_names(const pcal_measure *measure,
                                           const pcal_measure *other, pc_name_table *names,
                                           size_t *map, pcal_error *err) {
  pc_name_table theirs;
  pc_name_table_init(&theirs, &measure->env);
  const pcal_status distinct = group_names_collect(other, &theirs, err);
  pc_name_table_free(&theirs);
  PC_TRY(distinct);
  PC_TRY(group_names_collect(measure, names, err));
  return group_names_add_other(other, names, map, err);
}

static pcal_status group_names_by_name(const pcal_measure *measure, const pcal_measure *other,
                                       pc_group_merge *out, pcal_error *err) {
  const pcal_env *env = &measure->env;
  out->map = pc_alloc_raw(env, other->seen.group_count, sizeof *out->map);
  if (out->map == NULL)
    return pc_fail_memory(err, "matching groups");
  pc_name_table names;
  pc_name_table_init(&names, env);
  const pcal_status status = group_names_match_names(measure, other, &names, out->map, err);
  if (status == PCAL_OK) {
    out->names = names.text;
    out->name_count = names.count;
    names.text = NULL;
    names.count = 0;
  }
  pc_name_table_free(&names);
  return status;
}

static pcal_status group_names_adopt(const pcal_env *env, const pcal_measure *other,
                                     pc_group_merge *out, pcal_error *err) {
  PC_TRY(pc_name_list_copy(env, (const char *const *)other->group_names,
                           other->group_name_count, &out->names, err));
  out->name_count = other->group_name_count;
  return PCAL_OK;
}

pcal_status pc_group_merge_match(const pcal_measure *measure, const pcal_measure *other,
                                 pc_group_merge *out, pcal_error *err) {
  *out = (pc_group_merge){NULL, NULL, 0};
  if (!pc_groups_have_names(other))
    return PCAL_OK;
  pcal_status status;
  if (pc_groups_have_names(measure))
    status = group_names_by_name(measure, other, out, err);
  else
    status = group_names_adopt(&measure->env, other, out, err);
  if (status != PCAL_OK)
    pc_group_merge_free(&measure->env, out);
  return status;
}
