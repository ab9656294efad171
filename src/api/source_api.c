/* Public entry points for sources: check arguments, then call the implementation. */
#include <string.h>

#include "base/budget.h"
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
