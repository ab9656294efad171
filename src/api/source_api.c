/* Public entry points for sources: check arguments, then call the implementation. */
#include <string.h>

#include "base/budget.h"
#include "io/data_columns.h"
#include "io/input_check.h"
#include "io/source.h"

static pcal_status source_missing(pcal_error *err, const char *call, const char *what) {
  return pc_fail(err, PCAL_USAGE, "%s needs %s; NULL was given", call, what);
}

static pcal_status source_open(const pcal_inputs *inputs, const pcal_env *env,
                               pcal_source **out, pcal_error *err) {
  if (out == NULL)
    return source_missing(err, "pcal_source_open", "inputs and an out pointer");
  if (inputs->size < offsetof(pcal_inputs, labels))
    return pc_fail(err, PCAL_USAGE,
                   "pcal_source_open: the size of the inputs is not set; start from "
                   "PCAL_INPUTS_INIT");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_source_open(inputs, &opened, out, err), err);
}

pcal_status pcal_source_open(const pcal_inputs *inputs, const pcal_env *env, pcal_source **out,
                             pcal_error *err) {
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if (inputs == NULL)
    return source_missing(err, "pcal_source_open", "inputs and an out pointer");
  const pcal_status status = source_open(inputs, env, out, err);
  if (status != PCAL_OK)
    pc_inputs_release(inputs); /* does nothing for Arrow data that were moved */
  return status;
}

pcal_status pcal_find_columns(const char *table, const char *const *names, size_t count,
                              const pcal_env *env, const char **roles, pcal_error *err) {
  pc_data_columns found;
  pc_error_clear(err);
  if (table == NULL || names == NULL || roles == NULL)
    return source_missing(err, "pcal_find_columns", "a table's name, names and roles");
  for (size_t i = 0; i < count; i++)
    if (names[i] == NULL)
      return pc_fail(err, PCAL_USAGE, "pcal_find_columns: name %zu is NULL", i);
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  const pc_column_set set = {table, names, count};
  const pcal_status status = pc_data_columns_find(&set, &opened, &found, err);
  if (status == PCAL_OK)
    pc_data_columns_roles(&found, count, roles);
  pc_data_columns_free(&opened, &found);
  return pc_env_close(&opened, status, err);
}

const char *pcal_source_data_column(const pcal_source *source, const char *field) {
  return source == NULL || field == NULL ? NULL : pc_source_data_column(source, field);
}

const char *pcal_source_notation(const pcal_source *source) {
  return source == NULL ? NULL : pc_source_notation(source);
}

pcal_status pcal_source_next(pcal_source *source, size_t max_rows, pcal_batch *batch,
                             pcal_error *err) {
  pc_error_clear(err);
  if (source == NULL || batch == NULL)
    return source_missing(err, "pcal_source_next", "a source and a batch");
  if (max_rows == 0 || batch->size == 0)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_source_next needs max_rows above 0 and a batch that starts from "
                   "PCAL_BATCH_INIT");
  return pc_source_next(source, max_rows, batch, err);
}

pcal_status pcal_source_rewind(pcal_source *source, pcal_error *err) {
  pc_error_clear(err);
  if (source == NULL)
    return source_missing(err, "pcal_source_rewind", "a source");
  return pc_source_rewind(source, err);
}

void pcal_source_free(pcal_source *source) {
  pc_source_free(source);
}

void pcal_source_get_shape(const pcal_source *source, pcal_shape *shape) {
  if (source == NULL || shape == NULL)
    return;
  const size_t size = shape->size;
  pcal_shape filled;
  pc_source_shape(source, &filled);
  filled.size = size;
  memcpy(shape, &filled, size < sizeof filled ? size : sizeof filled);
}
