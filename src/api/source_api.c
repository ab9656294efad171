/* Public calls for sources, output files and npy headers. */
#include <string.h>

#include "base/budget.h"
#include "data/rows.h"
#include "io/formats/arrow_table.h"
#include "io/formats/npy_write.h"
#include "io/output_file.h"
#include "io/output_journal.h"
#include "io/source.h"

static pcal_status files_missing(pcal_error *err, const char *call, const char *what) {
  return pc_fail(err, PCAL_USAGE, "%s needs %s; NULL was given", call, what);
}

pcal_status pcal_source_open(const pcal_inputs *inputs, const pcal_env *env, pcal_source **out,
                             pcal_error *err) {
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if (inputs == NULL || out == NULL)
    return files_missing(err, "pcal_source_open", "inputs and a place for the source");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_source_open(inputs, &opened, out, err), err);
}

/* Releases what the caller gave away in vain. */
static void files_release_arrow(struct ArrowArrayStream *stream, struct ArrowSchema *schema,
                                struct ArrowArray *array) {
  pc_arrow_table table;
  pc_arrow_table_take(stream, schema, array, &table);
  pc_arrow_table_free(&table);
}

static pcal_status files_check_arrow(const pcal_arrow *columns, pcal_source **out,
                                     pcal_error *err) {
  if (columns == NULL || out == NULL)
    return files_missing(err, "pcal_source_arrow", "columns and a place for the source");
  if (columns->size < offsetof(pcal_arrow, labels) || columns->kind < PCAL_PROBABILITY ||
      columns->kind > PCAL_SAMPLES || columns->scores == NULL || columns->score_count == 0)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_source_arrow needs a kind and the names of score columns; start from "
                   "PCAL_ARROW_INIT");
  for (size_t i = 0; i < columns->score_count; i++)
    if (columns->scores[i] == NULL)
      return files_missing(err, "pcal_source_arrow", "a name for each score column");
  return PCAL_OK;
}

static pcal_status files_open_arrow(struct ArrowArrayStream *stream, struct ArrowSchema *schema,
                                    struct ArrowArray *array, const pcal_arrow *columns,
                                    const pcal_env *env, pcal_source **out, pcal_error *err) {
  pc_error_clear(err);
  pcal_env opened;
  pcal_status status = files_check_arrow(columns, out, err);
  if (status == PCAL_OK)
    status = pc_env_open(env, &opened, err);
  if (status == PCAL_OK)
    return pc_env_close(
        &opened, pc_source_arrow(stream, schema, array, columns, &opened, out, err), err);
  files_release_arrow(stream, schema, array);
  return status;
}

pcal_status pcal_source_arrow(struct ArrowArrayStream *stream, const pcal_arrow *columns,
                              const pcal_env *env, pcal_source **out, pcal_error *err) {
  if (out != NULL)
    *out = NULL;
  if (stream == NULL || stream->release == NULL)
    return files_missing(err, "pcal_source_arrow", "a stream that is not released");
  return files_open_arrow(stream, NULL, NULL, columns, env, out, err);
}

pcal_status pcal_source_arrow_array(struct ArrowSchema *schema, struct ArrowArray *array,
                                    const pcal_arrow *columns, const pcal_env *env,
                                    pcal_source **out, pcal_error *err) {
  if (out != NULL)
    *out = NULL;
  if (schema == NULL || array == NULL || schema->release == NULL || array->release == NULL) {
    files_release_arrow(NULL, schema, array);
    return files_missing(err, "pcal_source_arrow_array",
                         "a schema and an array that are not released");
  }
  return files_open_arrow(NULL, schema, array, columns, env, out, err);
}

pcal_status pcal_source_borrow(const pcal_batch *batch, const char *const *class_names,
                               const pcal_env *env, pcal_source **out, pcal_error *err) {
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if (batch == NULL || out == NULL)
    return files_missing(err, "pcal_source_borrow", "a batch and a place for the source");
  pcal_batch full;
  PC_TRY(pc_batch_resolve(batch, &full, err));
  for (size_t j = 0; class_names != NULL && j < full.columns; j++)
    if (class_names[j] == NULL)
      return files_missing(err, "pcal_source_borrow", "a name for each class");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_source_borrow(&full, class_names, &opened, out, err), err);
}

static pcal_status files_check_join(const pcal_join *join, pcal_error *err) {
  if (join->size < offsetof(pcal_join, labels) || join->kind < PCAL_PROBABILITY ||
      join->kind > PCAL_SAMPLES || join->scores == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_source_join needs a kind and scores; start from PCAL_JOIN_INIT");
  if (join->level_count > PCAL_LEVELS_MAX)
    return pc_fail(err, PCAL_USAGE, "there are %zu levels; at most %d are possible",
                   join->level_count, PCAL_LEVELS_MAX);
  if (join->header < 0 || join->header > 2)
    return pc_fail(err, PCAL_USAGE,
                   "the header setting %d is unknown; give 0 (decide), 1 (yes) or 2 (no)",
                   join->header);
  return PCAL_OK;
}

/* Releases the streams that the caller gave away in vain. */
static void files_release_join(const pcal_join *join) {
  const pcal_input *const inputs[] = {join->scores, join->labels, join->weights,
                                      join->groups, join->spread, join->ids};
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    if (inputs[i] != NULL && inputs[i]->size > offsetof(pcal_input, stream) &&
        inputs[i]->stream != NULL)
      files_release_arrow(inputs[i]->stream, NULL, NULL);
}

pcal_status pcal_source_join(const pcal_join *join, const pcal_env *env, pcal_source **out,
                             pcal_error *err) {
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if (join == NULL)
    return files_missing(err, "pcal_source_join", "inputs and a place for the source");
  pcal_join full = PCAL_JOIN_INIT;
  memcpy(&full, join, join->size < sizeof full ? join->size : sizeof full);
  pcal_status status = files_check_join(&full, err);
  if (status == PCAL_OK && out == NULL)
    status = files_missing(err, "pcal_source_join", "inputs and a place for the source");
  pcal_env opened;
  if (status == PCAL_OK)
    status = pc_env_open(env, &opened, err);
  if (status == PCAL_OK)
    return pc_env_close(&opened, pc_source_join(&full, &opened, out, err), err);
  files_release_join(&full);
  return status;
}

pcal_status pcal_source_next(pcal_source *source, size_t max_rows, pcal_batch *batch,
                             pcal_error *err) {
  pc_error_clear(err);
  if (source == NULL || batch == NULL)
    return files_missing(err, "pcal_source_next", "a source and a batch");
  if (max_rows == 0 || batch->size == 0)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_source_next needs max_rows above 0 and a batch that starts from "
                   "PCAL_BATCH_INIT");
  return pc_source_next(source, max_rows, batch, err);
}

pcal_status pcal_source_rewind(pcal_source *source, pcal_error *err) {
  pc_error_clear(err);
  if (source == NULL)
    return files_missing(err, "pcal_source_rewind", "a source");
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

pcal_status pcal_output_open(const char *path, const pcal_env *env, pcal_output **out,
                             pcal_error *err) {
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if (path == NULL || out == NULL)
    return files_missing(err, "pcal_output_open", "a path and a place for the output");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_output_file_open(path, &opened, out, err), err);
}

int pcal_output_write(void *output, const char *bytes, size_t count) {
  return output == NULL || bytes == NULL ? 1 : pc_output_file_sink(output, bytes, count);
}

const char *pcal_output_temporary_path(const pcal_output *output) {
  return output == NULL ? NULL : pc_output_file_temporary(output);
}

pcal_status pcal_output_flush(pcal_output *output, pcal_error *err) {
  pc_error_clear(err);
  if (output == NULL)
    return files_missing(err, "pcal_output_flush", "an output");
  return pc_output_file_flush(output, err);
}

pcal_status pcal_output_commit_all(pcal_output *const *outputs, size_t count, pcal_error *err) {
  pc_error_clear(err);
  if (outputs == NULL && count > 0)
    return files_missing(err, "pcal_output_commit_all", "outputs");
  for (size_t i = 0; i < count; i++)
    if (outputs[i] == NULL)
      return files_missing(err, "pcal_output_commit_all", "outputs");
  return pc_output_file_commit_all(outputs, count, err);
}

void pcal_output_recover(const char *path) {
  const pcal_env env = pc_env_resolve_serial(NULL);
  if (path != NULL)
    pc_output_journal_replay(path, &env);
}

pcal_status pcal_output_commit(pcal_output *output, pcal_error *err) {
  pc_error_clear(err);
  if (output == NULL)
    return files_missing(err, "pcal_output_commit", "an output");
  return pc_output_file_commit(output, err);
}

void pcal_output_discard(pcal_output *output) {
  pc_output_file_discard(output);
}

pcal_status pcal_npy_header_write(const char *type, uint64_t rows, size_t columns,
                                  pcal_sink sink, void *user, pcal_error *err) {
  pc_error_clear(err);
  if (type == NULL || sink == NULL)
    return files_missing(err, "pcal_npy_header_write", "a type and a sink");
  return pc_npy_header_write(type, rows, columns, sink, user, err);
}
