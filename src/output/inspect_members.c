/* inspect for a file that holds several arrays or fields: their names, shapes and types.  A member
 * that cannot be read as rows of numbers is listed with the reason. */
#include <stdio.h>

#include "base/budget.h"
#include "base/json.h"
#include "output/inspect.h"
#include "output/inspect_guess.h"
#include "output/write_results.h"

/* One array or field. */
typedef struct inspect_members_item {
  uint64_t rows; /* PCAL_NO_ROW: unknown without reading all */
  size_t columns;
  char stored[48];
  char *why; /* owned: the reason why it cannot be read, or NULL */
} inspect_members_item;

typedef struct inspect_members {
  pcal_env env; /* whose blocks count as columns */
  pcal_interface interface;
  inspect_members_item *items; /* by the number of the name */
} inspect_members;

static pcal_status inspect_members_take(void *user, size_t number, const pc_member_shape *shape,
                                        const pcal_error *failure, pcal_error *err) {
  const inspect_members *members = user;
  inspect_members_item *item = &members->items[number];
  if (shape != NULL) {
    item->rows = shape->rows;
    item->columns = shape->columns;
    snprintf(item->stored, sizeof item->stored, "%s", shape->stored);
    return PCAL_OK;
  }
  if (failure->status != PCAL_DATA && failure->status != PCAL_USAGE)
    return pc_error_pass(err, failure);
  char why[PC_ERROR_TEXT];
  pcal_error_text(failure, members->interface, why, sizeof why);
  item->why = pc_copy_text(&members->env, why);
  return item->why == NULL ? pc_fail_memory(err, "inspecting") : PCAL_OK;
}

static void inspect_members_text(const char *name, const inspect_members_item *item,
                                 pc_text *out) {
  pc_text_add(out, "  ");
  pc_text_terminal(out, name);
  pc_text_add(out, ": ");
  if (item->why != NULL) {
    pc_text_add(out, "cannot be read: ");
    pc_text_terminal(out, item->why);
    pc_text_add(out, "\n");
    return;
  }
  if (item->rows != PCAL_NO_ROW) {
    pc_write_count((double)item->rows, out);
    pc_text_add(out, item->rows == 1 ? " row x " : " rows x ");
  }
  pc_text_format(out, "%zu %s, %s\n", item->columns, item->columns == 1 ? "column" : "columns",
                 item->stored);
}

static void inspect_members_json(const char *name, const inspect_members_item *item,
                                 const char *role, pc_json *json) {
  const int readable = item->why == NULL;
  pc_json_open(json, '{');
  pc_json_key(json, "name");
  pc_json_string(json, name);
  pc_json_key(json, "rows");
  if (readable && item->rows != PCAL_NO_ROW)
    pc_json_integer(json, item->rows);
  else
    pc_json_null(json);
  pc_json_key(json, "columns");
  if (readable)
    pc_json_integer(json, item->columns);
  else
    pc_json_null(json);
  pc_json_key(json, "stored");
  pc_json_string(json, readable ? item->stored : NULL);
  pc_json_key(json, "why");
  pc_json_string(json, item->why);
  pc_json_key(json, "role");
  pc_json_string(json, readable ? role : NULL);
  pc_json_close(json, '}');
}

static void inspect_members_json_head(const pc_input_file *bytes,
                                      const pc_file_format *container, pc_json *json) {
  pc_json_open(json, '{');
  pc_json_key(json, "propercal");
  pc_json_string(json, PCAL_VERSION);
  pc_json_key(json, "file");
  pc_json_string(json, bytes->name);
  pc_json_key(json, "format");
  pc_json_string(json, container->name);
  pc_json_key(json, "bytes");
  pc_json_integer(json, bytes->length);
  pc_json_key(json, "members");
  pc_json_open(json, '[');
}

static void inspect_members_text_head(const pc_input_file *bytes,
                                      const pc_file_format *container, size_t count,
                                      pc_text *out) {
  pc_text_terminal(out, bytes->name);
  pc_text_format(out, ": %s, %zu members, ", container->name, count);
  pc_write_count((double)bytes->length, out);
  pc_text_add(out, " bytes\n");
}

/* roles: guesses of what each member may be; NULL: as text. */
static void inspect_members_write(const pc_input_file *bytes, const pc_file_format *container,
                                  const pc_name_table *names, const inspect_members_item *items,
                                  const char *const *roles, pc_text *out) {
  pc_json json;
  pc_json_init(&json, out);
  if (roles != NULL)
    inspect_members_json_head(bytes, container, &json);
  else
    inspect_members_text_head(bytes, container, names->count, out);
  for (size_t i = 0; i < names->count; i++) {
    if (roles != NULL)
      inspect_members_json(names->text[i], &items[i], roles[i], &json);
    else
      inspect_members_text(names->text[i], &items[i], out);
  }
  if (roles != NULL) {
    pc_json_close(&json, ']');
    pc_json_close(&json, '}');
    pc_text_add(out, "\n");
    return;
  }
  pc_text_add(out, "  choose one as ");
  pc_text_terminal(out, bytes->name);
  pc_text_add(out, ":NAME\n");
}

/* JSON also has a guess of what each member may be. */
static pcal_status inspect_members_guessed(const pc_input_file *bytes,
                                           const pc_file_format *container,
                                           const pc_name_table *names, const pcal_env *env,
                                           const inspect_members_item *items, pc_text *out,
                                           pcal_error *err) {
  const pcal_env columns = pc_env_for_use(env, PC_MEMORY_COLUMNS);
  const char **roles = pc_alloc_raw(&columns, names->count, sizeof *roles);
  if (roles == NULL)
    return pc_fail_memory(err, "inspecting");
  const pc_guess_table table = {
      .file = bytes->name, .names = (const char *const *)names->text, .columns = names->count};
  const pcal_status status =
      pc_inspect_guess_members(&table, env, container->is_table, roles, err);
  if (status == PCAL_OK)
    inspect_members_write(bytes, container, names, items, roles, out);
  pc_free(env, (void *)roles);
  return status;
}

pcal_status pc_inspect_members(const pc_input_file *bytes, const pc_file_format *container,
                               const pc_name_table *names, const pcal_env *env,
                               pcal_format format, pc_text *out, pcal_error *err) {
  /* JSON has the same bytes for every interface. */
  inspect_members members = {pc_env_for_use(env, PC_MEMORY_COLUMNS),
                             format == PCAL_JSON ? PCAL_INTERFACE_PROGRAM : env->caller, NULL};
  const pc_member_visitor visitor = {inspect_members_take, &members};
  members.items = pc_alloc(&members.env, names->count, sizeof *members.items);
  if (members.items == NULL)
    return pc_fail_memory(err, "inspecting");
  pcal_status status = container->visit(bytes, env, names, &visitor, err);
  if (status == PCAL_OK && format == PCAL_JSON)
    status = inspect_members_guessed(bytes, container, names, env, members.items, out, err);
  else if (status == PCAL_OK)
    inspect_members_write(bytes, container, names, members.items, NULL, out);
  for (size_t i = 0; i < names->count; i++)
    pc_free(env, members.items[i].why);
  pc_free(env, members.items);
  return status;
}
