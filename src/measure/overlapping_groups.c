/* Cost: O(C 2^k log C) for C combinations of k columns. */
#include "measure/overlapping_groups.h"

#include <string.h>

#include "base/text.h"
#include "io/group_reader.h"
#include "measure/group_names.h"

/* A group of a set of columns, and one of the combinations that belong to it. */
typedef struct overlap_pair {
  char *name; /* owned */
  size_t member;
} overlap_pair;

void pc_result_groups_free(pc_result_groups *groups) {
  for (size_t g = 0; g < groups->count; g++)
    pc_free(groups->env, groups->names[g]);
  if (groups->env != NULL) {
    pc_free(groups->env, groups->names);
    pc_free(groups->env, groups->ends);
    pc_free(groups->env, groups->members);
  }
  *groups = (pc_result_groups){0};
}

const size_t *pc_result_group_members(const pc_result_groups *groups, size_t group,
                                      size_t *count) {
  const size_t begin = group == 0 ? 0 : groups->ends[group - 1];
  *count = groups->ends[group] - begin;
  return groups->members + begin;
}

/* The end of the first field of a name. */
static const char *overlap_field_end(const char *name) {
  const char *end = strstr(name, PC_GROUP_AND);
  return end == NULL ? name + strlen(name) : end;
}

size_t pc_group_fields(const char *name) {
  size_t fields = 0;
  for (;; name += strlen(PC_GROUP_AND)) {
    const char *end = overlap_field_end(name);
    if (end == name || memchr(name + 1, '=', (size_t)(end - name - 1)) == NULL)
      return 1;
    fields++;
    name = end;
    if (*name == '\0')
      return fields > PC_GROUP_COLUMNS_MAX ? 1 : fields;
  }
}

/* True if the `length` bytes of a field are one of the fields of a name. */
static int overlap_has_field(const char *name, const char *field, size_t length) {
  for (;; name += strlen(PC_GROUP_AND)) {
    const char *end = overlap_field_end(name);
    if ((size_t)(end - name) == length && memcmp(name, field, length) == 0)
      return 1;
    name = end;
    if (*name == '\0')
      return 0;
  }
}

int pc_group_is_part(const char *part, const char *name) {
  if (strcmp(part, name) == 0)
    return 1;
  if (pc_group_fields(name) == 1)
    return 0;
  for (;; part += strlen(PC_GROUP_AND)) {
    const char *end = overlap_field_end(part);
    if (!overlap_has_field(name, part, (size_t)(end - part)))
      return 0;
    part = end;
    if (*part == '\0')
      return 1;
  }
}

pcal_status pc_group_part(const pcal_env *env, const char *name, unsigned set, char **out,
                          pcal_error *err) {
  pc_text text;
  pc_text_init(&text, env);
  if (set == 0)
    pc_text_add(&text, name);
  for (unsigned bit = 1; bit <= set; bit <<= 1) {
    const char *end = overlap_field_end(name);
    if ((set & bit) != 0 && text.length > 0)
      pc_text_add(&text, PC_GROUP_AND);
    if ((set & bit) != 0)
      pc_text_add_bytes(&text, name, (size_t)(end - name));
    name = *end == '\0' ? end : end + strlen(PC_GROUP_AND);
  }
  *out = text.failed ? NULL : pc_copy_text(env, text.bytes == NULL ? "" : text.bytes);
  pc_text_free(&text);
  return *out == NULL ? pc_fail_memory(err, "collecting groups") : PCAL_OK;
}

/* The bytes of a field after "COLUMN=", or all of it. */
static const char *overlap_value(const char *field, const char *end) {
  const char *equals =
      end - field > 1 ? memchr(field + 1, '=', (size_t)(end - field - 1)) : NULL;
  return equals == NULL ? field : equals + 1;
}

/* The order of values: whole numbers first, by value; then others, by their bytes. */
static int overlap_value_order(const char *a, size_t a_length, const char *b, size_t b_length) {
  const size_t a_digits = strspn(a, "0123456789"), b_digits = strspn(b, "0123456789");
  const int a_whole = a_length > 0 && a_digits >= a_length;
  const int b_whole = b_length > 0 && b_digits >= b_length;
  if (a_whole != b_whole)
    return a_whole ? -1 : 1;
  for (; a_whole && a_length > 1 && *a == '0'; a++)
    a_length--;
  for (; b_whole && b_length > 1 && *b == '0'; b++)
    b_length--;
  if (a_whole && a_length != b_length)
    return a_length < b_length ? -1 : 1;
  const int bytes = memcmp(a, b, a_length < b_length ? a_length : b_length);
  return bytes != 0 ? bytes : (a_length > b_length) - (a_length < b_length);
}

int pc_group_parts_order(const char *a, const char *b) {
  const char *const first = a, *const second = b;
  for (;;) {
    const char *a_end = overlap_field_end(a), *b_end = overlap_field_end(b);
    const char *x = overlap_value(a, a_end), *y = overlap_value(b, b_end);
    const int same = x - a == y - b && memcmp(a, b, (size_t)(x - a)) == 0;
    const int order = same
                          ? overlap_value_order(x, (size_t)(a_end - x), y, (size_t)(b_end - y))
                          : overlap_value_order(a, (size_t)(a_end - a), b, (size_t)(b_end - b));
    if (order != 0)
      return order;
    if (*a_end == '\0' || *b_end == '\0')
      return strcmp(first, second);
    a = a_end + strlen(PC_GROUP_AND);
    b = b_end + strlen(PC_GROUP_AND);
  }
}

static int overlap_before(const overlap_pair *a, const overlap_pair *b) {
  const int order = pc_group_parts_order(a->name, b->name);
  return order != 0 ? order < 0 : a->member < b->member;
}

static void overlap_sink(overlap_pair *heap, size_t at, size_t count) {
  const overlap_pair sinking = heap[at];
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && overlap_before(&heap[child], &heap[child + 1]))
      child++;
    if (!overlap_before(&sinking, &heap[child]))
      break;
    heap[at] = heap[child];
  }
  heap[at] = sinking;
}

static void overlap_sort(overlap_pair *pairs, size_t count) {
  for (size_t at = count / 2; at > 0; at--)
    overlap_sink(pairs, at - 1, count);
  for (size_t end = count; end > 1; end--) {
    const overlap_pair last = pairs[0];
    pairs[0] = pairs[end - 1];
    pairs[end - 1] = last;
    overlap_sink(pairs, 0, end - 1);
  }
}

/* Room for one more group of `members` more members. */
static pcal_status overlap_reserve(pc_result_groups *groups, size_t members, pcal_error *err) {
  void *names = groups->names, *ends = groups->ends, *numbers = groups->members;
  const size_t filled = groups->count == 0 ? 0 : groups->ends[groups->count - 1];
  pcal_status status = pc_reserve(groups->env, &names, &groups->capacity, groups->count + 1,
                                  sizeof *groups->names, err);
  groups->names = names;
  if (status == PCAL_OK)
    status = pc_reserve(groups->env, &ends, &groups->end_capacity, groups->count + 1,
                        sizeof *groups->ends, err);
  groups->ends = ends;
  if (status == PCAL_OK)
    status = pc_reserve(groups->env, &numbers, &groups->member_capacity, filled + members,
                        sizeof *groups->members, err);
  groups->members = numbers;
  return status;
}

/* Adds the groups of sorted pairs; takes over the first name of each. */
static pcal_status overlap_add(pc_result_groups *groups, overlap_pair *pairs, size_t count,
                               pcal_error *err) {
  for (size_t begin = 0, end; begin < count; begin = end) {
    for (end = begin + 1; end < count && strcmp(pairs[begin].name, pairs[end].name) == 0;)
      end++;
    PC_TRY(overlap_reserve(groups, end - begin, err));
    size_t at = groups->count == 0 ? 0 : groups->ends[groups->count - 1];
    for (size_t i = begin; i < end; i++)
      groups->members[at++] = pairs[i].member;
    groups->ends[groups->count] = at;
    groups->names[groups->count++] = pairs[begin].name;
    pairs[begin].name = NULL;
  }
  return PCAL_OK;
}

/* The groups of the measure, by name. */
typedef struct overlap_source {
  const pcal_measure *measure;
  size_t *order;
  size_t count;
} overlap_source;

/* Adds the groups of one set of columns; of set 0 those that are shown alone. */
static pcal_status overlap_add_set(const overlap_source *from, unsigned set,
                                   overlap_pair *pairs, pc_result_groups *groups,
                                   pcal_error *err) {
  size_t count = 0;
  pcal_status status = PCAL_OK;
  for (size_t i = 0; i < from->count && status == PCAL_OK; i++) {
    char number[PC_GROUP_NUMBER_MAX];
    const char *name = pc_group_name(from->measure, from->order[i], number);
    const size_t fields = pc_group_fields(name);
    const int alone = fields == 1;
    if (alone != (set == 0) || (!alone && set >> fields != 0))
      continue;
    pairs[count].member = from->order[i];
    status = pc_group_part(groups->env, name, alone ? 0 : set, &pairs[count].name, err);
    count += status == PCAL_OK;
  }
  if (status == PCAL_OK) {
    overlap_sort(pairs, count);
    status = overlap_add(groups, pairs, count, err);
  }
  for (size_t i = 0; i < count; i++)
    pc_free(groups->env, pairs[i].name);
  return status;
}

static unsigned overlap_size(unsigned set) {
  unsigned size = 0;
  for (; set != 0; set &= set - 1)
    size++;
  return size;
}

static pcal_status overlap_add_sets(const overlap_source *from, pc_result_groups *groups,
                                    pcal_error *err) {
  overlap_pair *pairs = pc_alloc_raw(groups->env, from->count, sizeof *pairs);
  pcal_status status = pairs == NULL ? pc_fail_memory(err, "collecting groups") : PCAL_OK;
  for (unsigned size = 0; size <= PC_GROUP_COLUMNS_MAX && status == PCAL_OK; size++)
    for (unsigned set = 0; set >> PC_GROUP_COLUMNS_MAX == 0 && status == PCAL_OK; set++)
      if (overlap_size(set) == size)
        status = overlap_add_set(from, set, pairs, groups, err);
  pc_free(groups->env, pairs);
  return status;
}

/* Adds each group alone, in the order of the measure. */
static pcal_status overlap_add_plain(const overlap_source *from, pc_result_groups *groups,
                                     pcal_error *err) {
  for (size_t i = 0; i < from->count; i++) {
    char number[PC_GROUP_NUMBER_MAX];
    PC_TRY(overlap_reserve(groups, 1, err));
    PC_TRY(pc_group_part(groups->env, pc_group_name(from->measure, from->order[i], number), 0,
                         &groups->names[groups->count], err));
    groups->members[groups->count] = from->order[i];
    groups->ends[groups->count] = groups->count + 1;
    groups->count++;
  }
  return PCAL_OK;
}

pcal_status pc_result_groups_new(const pcal_measure *measure, int combined,
                                 pc_result_groups *out, pcal_error *err) {
  overlap_source from = {measure, NULL, 0};
  int found = 0;
  *out = (pc_result_groups){.env = &measure->env};
  PC_TRY(pc_group_order(measure, &from.order, &from.count, err));
  for (size_t i = 0; i < from.count && combined && !found; i++) {
    char number[PC_GROUP_NUMBER_MAX];
    found = pc_group_fields(pc_group_name(measure, from.order[i], number)) > 1;
  }
  const pcal_status status =
      found ? overlap_add_sets(&from, out, err) : overlap_add_plain(&from, out, err);
  pc_free(&measure->env, from.order);
  return status;
}
