/* The fields of a file of JSON lines: their names, and what each one holds.
 *
 *  1. the names are those of the first line.
 *  2. a field is described by its first value other than null (jsonl.c, edge case 2); one pass over
 *     the lines finds these values for all fields, so the cost does not grow with their number
 *     times the length of a line.
 *  3. a line without a field, or with two of its name, makes this field unreadable; a line that is
 *     not valid JSON all fields whose value has not been found. */
#include <string.h>

#include "base/budget.h"
#include "io/formats/jsonl_object.h"
#include "io/reader.h"

typedef struct jsonl_member {
  int decided;          /* the visitor has been called */
  uint64_t line;        /* the last one with this field; 0: none */
  pc_jsonl_value value; /* on that line */
} jsonl_member;

typedef struct jsonl_members {
  const pcal_env *env;
  const pc_name_table *names;
  const pc_member_visitor *visitor;
  pc_jsonl_scan scan;
  jsonl_member *fields; /* by number */
  uint32_t *waiting;    /* numbers of fields not decided yet */
  size_t waiting_count;
} jsonl_members;

pcal_status pc_jsonl_members(const pc_input_file *bytes, const pcal_env *env,
                             pc_name_table *out, pcal_error *err) {
  pc_jsonl_scan scan;
  pc_jsonl_field field;
  PC_TRY(pc_jsonl_begin(bytes, &scan, err));
  PC_TRY(pc_jsonl_enter(&scan, err));
  (void)env;
  for (;;) {
    uint32_t number;
    PC_TRY(pc_jsonl_next(&scan, &field, err));
    if (field.end)
      break;
    PC_TRY(pc_jsonl_add_name(&scan, &field.key, out, &number, err));
  }
  if (out->count > 0)
    return PCAL_OK;
  return pc_fail_line(err, PCAL_DATA, bytes->name, 1,
                      "the object has no fields; write at least one");
}

static pcal_status jsonl_member_fails(const jsonl_members *all, size_t number,
                                      const pcal_error *failure, pcal_error *err) {
  all->fields[number].decided = 1;
  return all->visitor->visit(all->visitor->user, number, NULL, failure, err);
}

/* A field that is unreadable for a reason of its own. */
static pcal_status jsonl_member_refuse(const jsonl_members *all, pc_jsonl_scan *at,
                                       size_t number, const char *what, pcal_error *err) {
  pcal_error failure;
  at->key = pc_slice_of(all->names->text[number]);
  return pc_jsonl_fail(at, what, &failure) == PCAL_OK
             ? PCAL_OK
             : jsonl_member_fails(all, number, &failure, err);
}

static pcal_status jsonl_member_describe(const jsonl_members *all, const pc_jsonl_scan *at,
                                         size_t number, pcal_error *err) {
  const pc_jsonl_value *value = &all->fields[number].value;
  pc_member_shape shape = {PCAL_NO_ROW, 1, "JSON"};
  pcal_error failure;
  pcal_status status = PCAL_OK;
  if (value->kind == PC_JSONL_ARRAY)
    status = pc_jsonl_array_columns(at, value, &shape.columns, &failure);
  if (value->kind == PC_JSONL_OBJECT) {
    pc_name_table names;
    pc_name_table_init(&names, all->env);
    status = pc_jsonl_object_names(at, value, 0, &names, &failure);
    shape.columns = names.count;
    pc_name_table_free(&names);
  }
  if (status != PCAL_OK)
    return jsonl_member_fails(all, number, &failure, err);
  all->fields[number].decided = 1;
  return all->visitor->visit(all->visitor->user, number, &shape, NULL, err);
}

/* Decides a field that has been on the line, or should have been. */
static pcal_status jsonl_member_decide(const jsonl_members *all, pc_jsonl_scan *at,
                                       size_t number, pcal_error *err) {
  const jsonl_member *field = &all->fields[number];
  at->key = pc_slice_of(all->names->text[number]);
  if (field->line != at->line)
    return jsonl_member_refuse(all, at, number, PC_JSONL_NO_FIELD, err);
  return field->value.kind == PC_JSONL_NULL ? PCAL_OK
                                            : jsonl_member_describe(all, at, number, err);
}

/* Notes one field of the line that `at` is at. */
static pcal_status jsonl_member_note(const jsonl_members *all, pc_jsonl_scan *at,
                                     const pc_jsonl_field *found, pcal_error *err) {
  size_t number;
  PC_TRY(pc_jsonl_find_name(all->names, &found->key, &number, err));
  if (number == all->names->count || all->fields[number].decided)
    return PCAL_OK;
  jsonl_member *field = &all->fields[number];
  if (field->line == at->line)
    return jsonl_member_refuse(all, at, number, PC_JSONL_FIELD_TWICE, err);
  field->line = at->line;
  field->value = found->value;
  return PCAL_OK;
}

/* Reads a line; *bad: it is not valid, and *failure is the reason. */
static pcal_status jsonl_members_line(jsonl_members *all, pc_jsonl_scan *at, int *bad,
                                      pcal_error *failure, pcal_error *err) {
  pc_jsonl_field found = {.end = 0};
  *at = all->scan;
  *bad = pc_jsonl_enter(&all->scan, failure) != PCAL_OK;
  while (!*bad) {
    *bad = pc_jsonl_next(&all->scan, &found, failure) != PCAL_OK;
    if (*bad || found.end)
      break;
    PC_TRY(jsonl_member_note(all, at, &found, err));
  }
  return PCAL_OK;
}

/* Decides what a line has decided, and keeps the other fields waiting. */
static pcal_status jsonl_members_settle(jsonl_members *all, pc_jsonl_scan *at, int bad,
                                        const pcal_error *failure, pcal_error *err) {
  size_t kept = 0;
  for (size_t i = 0; i < all->waiting_count; i++) {
    const uint32_t number = all->waiting[i];
    if (!all->fields[number].decided)
      PC_TRY(bad ? jsonl_member_fails(all, number, failure, err)
                 : jsonl_member_decide(all, at, number, err));
    if (!all->fields[number].decided)
      all->waiting[kept++] = number;
  }
  all->waiting_count = kept;
  return PCAL_OK;
}

static pcal_status jsonl_members_walk(jsonl_members *all, pcal_error *err) {
  while (all->waiting_count > 0 && all->scan.at < all->scan.end) {
    pc_jsonl_scan at;
    pcal_error failure;
    int bad;
    PC_TRY(jsonl_members_line(all, &at, &bad, &failure, err));
    PC_TRY(jsonl_members_settle(all, &at, bad, &failure, err));
    if (at.line % 4096 == 0)
      PC_TRY(pc_check_interrupt(all->env, err));
  }
  for (size_t i = 0; i < all->waiting_count; i++) /* null on every line */
    PC_TRY(jsonl_member_describe(all, &all->scan, all->waiting[i], err));
  return PCAL_OK;
}

pcal_status pc_jsonl_visit(const pc_input_file *bytes, const pcal_env *env,
                           const pc_name_table *names, const pc_member_visitor *visitor,
                           pcal_error *err) {
  const pcal_env columns = pc_env_for_use(env, PC_MEMORY_COLUMNS);
  jsonl_members all = {.env = env, .names = names, .visitor = visitor};
  PC_TRY(pc_jsonl_begin(bytes, &all.scan, err));
  all.fields = pc_alloc(&columns, names->count, sizeof *all.fields);
  all.waiting = pc_alloc(&columns, names->count, sizeof *all.waiting);
  pcal_status status = all.fields == NULL || all.waiting == NULL
                           ? pc_fail_memory(err, "inspecting a file of JSON lines")
                           : PCAL_OK;
  if (status == PCAL_OK) {
    all.waiting_count = names->count;
    for (uint32_t i = 0; i < names->count; i++)
      all.waiting[i] = i;
    status = jsonl_members_walk(&all, err);
  }
  pc_free(env, all.waiting);
  pc_free(env, all.fields);
  PC_TRY(pc_input_file_check(bytes, err));
  return status;
}
