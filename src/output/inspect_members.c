/* inspect for a file that holds several arrays or fields: their names, shapes and types.  A member
 * that cannot be read as rows of numbers is listed with the reason. */
#include <string.h>

#include "base/json.h"
#include "output/inspect.h"
#include "output/inspect_guess.h"
#include "output/write_results.h"

/* One array or field; why: the reason why it cannot be read, or "". */
typedef struct inspect_members_item {
  const char *name;
  uint64_t rows; /* PCAL_NO_ROW: unknown without reading all */
  size_t columns;
  char stored[48];
  char why[PC_ERROR_TEXT];
} inspect_members_item;

/* words: columns of words can be read too. */
static pcal_status inspect_members_look(const pc_input_file *bytes, const char *name,
                                        const pcal_env *env, pcal_interface interface,
                                        int words, inspect_members_item *out, pcal_error *err) {
  pc_read_request request = {
      .env = env, .bytes = bytes, .selector = name, .as = PC_COLUMN_SCORES};
  pc_reader reader = {.format = NULL};
  pcal_error inner;
  pcal_status status = pc_reader_open(&request, &reader, &inner);
  if (status == PCAL_DATA && words) {
    pc_reader_close(&reader);
    reader = (pc_reader){.format = NULL};
    request.as = PC_COLUMN_LABELS;
    status = pc_reader_open(&request, &reader, &inner);
  }
  *out = (inspect_members_item){.name = name};
  if (status == PCAL_OK) {
    out->rows = reader.rows;
    out->columns = reader.columns;
    memcpy(out->stored, reader.stored, sizeof out->stored);
  }
  pc_reader_close(&reader);
  if (status == PCAL_DATA || status == PCAL_USAGE)
    pcal_error_text(&inner, interface, out->why, sizeof out->why);
  else if (status != PCAL_OK)
    return pc_error_pass(err, &inner);
  return PCAL_OK;
}

static void inspect_members_text(const inspect_members_item *item, pc_text *out) {
  pc_text_add(out, "  ");
  pc_text_terminal(out, item->name);
  pc_text_add(out, ": ");
  if (item->why[0] != '\0') {
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

static void inspect_members_json(const inspect_members_item *item, const char *role,
                                 pc_json *json) {
  const int readable = item->why[0] == '\0';
  pc_json_open(json, '{');
  pc_json_key(json, "name");
  pc_json_string(json, item->name);
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
  pc_json_string(json, readable ? NULL : item->why);
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

static pcal_status inspect_members_all(const pc_input_file *bytes,
                                       const pc_file_format *container,
                                       const pc_name_table *names, const pcal_env *env,
                                       const char *const *roles, pc_text *out,
                                       pcal_error *err) {
  const int as_json = roles != NULL;
  /* JSON has the same bytes for every interface. */
  const pcal_interface interface = as_json ? PCAL_INTERFACE_PROGRAM : env->caller;
  pc_json json;
  pc_json_init(&json, out);
  if (as_json)
    inspect_members_json_head(bytes, container, &json);
  else
    inspect_members_text_head(bytes, container, names->count, out);
  for (size_t i = 0; i < names->count; i++) {
    inspect_members_item item;
    PC_TRY(inspect_members_look(bytes, names->text[i], env, interface, container->is_table,
                                &item, err));
    PC_TRY(pc_check_interrupt(env, err));
    if (as_json)
      inspect_members_json(&item, roles[i], &json);
    else
      inspect_members_text(&item, out);
  }
  if (as_json) {
    pc_json_close(&json, ']');
    pc_json_close(&json, '}');
  }
  return PCAL_OK;
}

/* Lists the members with the guess of what each may be. */
static pcal_status inspect_members_guessed(const pc_input_file *bytes,
                                           const pc_file_format *container,
                                           const pc_name_table *names, const pcal_env *env,
                                           pc_text *out, pcal_error *err) {
  const char **roles = pc_alloc_raw(env, names->count, sizeof *roles);
  if (roles == NULL)
    return pc_fail_memory(err, "inspecting");
  const pc_guess_table table = {
      .file = bytes->name, .names = (const char *const *)names->text, .columns = names->count};
  pcal_status status = pc_inspect_guess_members(&table, env, container->is_table, roles, err);
  if (status == PCAL_OK)
    status = inspect_members_all(bytes, container, names, env, roles, out, err);
  pc_free(env, (void *)roles);
  return status;
}

pcal_status pc_inspect_members(const pc_input_file *bytes, const pc_file_format *container,
                               const pc_name_table *names, const pcal_env *env,
                               pcal_format format, pc_text *out, pcal_error *err) {
  if (format == PCAL_JSON) {
    PC_TRY(inspect_members_guessed(bytes, container, names, env, out, err));
    pc_text_add(out, "\n");
    return PCAL_OK;
  }
  PC_TRY(inspect_members_all(bytes, container, names, env, NULL, out, err));
  pc_text_add(out, "  choose one as ");
  pc_text_terminal(out, bytes->name);
  pc_text_add(out, ":NAME\n");
  return PCAL_OK;
}
