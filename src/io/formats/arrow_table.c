/* Interfaces: https://arrow.apache.org/docs/format/CDataInterface.html and
 * CStreamInterface.html.  A structure is moved by copying it and setting the `release` of
 * the original to NULL.
 *
 * Edge cases:
 *  1. batches without rows are released at once; a stream that delivers nothing else is
 *     refused, since it may never end.
 *  2. the stream is released as soon as it ends or fails.
 *  3. lengths, offsets and numbers of buffers and children are checked, here and in
 *     arrow_column.c; the sizes of buffers cannot be checked. */
#include "io/formats/arrow_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/formats/arrow_wrap.h"

void pc_arrow_table_take(struct ArrowArrayStream *stream, struct ArrowSchema *schema,
                         struct ArrowArray *array, pc_arrow_table *out) {
  *out = (pc_arrow_table){0};
  if (stream != NULL) {
    out->stream = *stream;
    stream->release = NULL;
  }
  if (schema != NULL) {
    out->schema = *schema;
    schema->release = NULL;
  }
  if (array != NULL) {
    out->single = *array;
    array->release = NULL;
  }
}

static void arrow_table_end(pc_arrow_table *table) {
  if (table->stream.release != NULL)
    table->stream.release(&table->stream);
  table->stream.release = NULL;
}

static pcal_status arrow_table_error(const pc_arrow_table *table, int code, const char *reason,
                                     pcal_error *err) {
  switch (code) {
  case ENOMEM:
    return pc_fail_memory(err, "reading Arrow data");
  case ECANCELED:
    return pc_fail(err, PCAL_INTERRUPTED, "interrupted");
  case EFBIG:
    return pc_fail(
        err, PCAL_MEMORY,
        "%s: the Arrow stream is too large (%s); write it without compression if you "
        "trust it",
        table->name, reason);
  default:
    return pc_fail(err, code == EBADMSG ? PCAL_DATA : PCAL_IO,
                   "%s: the Arrow stream failed (%s); check the program that "
                   "produced it",
                   table->name, reason);
  }
}

static pcal_status arrow_table_failed(pc_arrow_table *table, int code, pcal_error *err) {
  char number[24];
  const char *reason = table->stream.get_last_error(&table->stream);
  snprintf(number, sizeof number, "error %d", code);
  const pcal_status status =
      arrow_table_error(table, code, reason != NULL ? reason : number, err);
  arrow_table_end(table); /* frees the reason */
  return status;
}

static int arrow_table_fits(const pc_arrow_table *table, const struct ArrowArray *batch) {
  return batch->length >= 0 && batch->offset >= 0 && batch->n_buffers >= 1 &&
         batch->buffers != NULL && batch->n_children == table->schema.n_children &&
         (batch->n_children == 0 || batch->children != NULL);
}

/* Moves a batch into the table, or releases it on failure. */
static pcal_status arrow_table_add(pc_arrow_table *table, struct ArrowArray *batch,
                                   pcal_error *err) {
  void *batches = table->batches;
  pcal_status status = PCAL_OK;
  table->empty = batch->length == 0 ? table->empty + 1 : 0;
  if (table->plain)
    status = pc_arrow_wrap_array(batch, table->env, err);
  if (status == PCAL_OK && !arrow_table_fits(table, batch))
    status = pc_fail(err, PCAL_DATA,
                     "%s: an Arrow batch does not match its schema; check the program that "
                     "produced it",
                     table->name);
  if (status == PCAL_OK && table->empty > PC_ARROW_EMPTY_MAX)
    status = pc_fail(err, PCAL_DATA,
                     "%s: the Arrow stream delivered %d batches without rows in succession; "
                     "check the program that produced it",
                     table->name, PC_ARROW_EMPTY_MAX);
  if (status == PCAL_OK && table->empty == 0)
    status = pc_reserve(table->env, &batches, &table->capacity, table->count + 1,
                        sizeof *table->batches, err);
  table->batches = batches;
  if (status != PCAL_OK || table->empty > 0) {
    batch->release(batch);
    return status;
  }
  table->batches[table->count++] = *batch;
  table->rows += (uint64_t)batch->length;
  return PCAL_OK;
}

/* Reads one batch, or sets the end. */
static pcal_status arrow_table_pull(pc_arrow_table *table, pcal_error *err) {
  struct ArrowArray batch;
  memset(&batch, 0, sizeof batch);
  PC_TRY(pc_check_interrupt(table->env, err));
  const int code = table->stream.get_next(&table->stream, &batch);
  if (code != 0)
    return arrow_table_failed(table, code, err);
  if (batch.release == NULL) {
    arrow_table_end(table);
    return PCAL_OK;
  }
  return arrow_table_add(table, &batch, err);
}

pcal_status pc_arrow_table_open(pc_arrow_table *table, const char *name, const pcal_env *env,
                                pcal_error *err) {
  table->name = name;
  table->env = env;
  if (table->stream.release != NULL) {
    const int code = table->stream.get_schema(&table->stream, &table->schema);
    if (code != 0) {
      table->schema.release = NULL;
      return arrow_table_failed(table, code, err);
    }
  }
  if (table->schema.release == NULL)
    return pc_fail(err, PCAL_USAGE, "%s: the Arrow schema was released before", name);
  table->plain = table->takes_plain && strcmp(table->schema.format, "+s") != 0;
  if (table->plain)
    PC_TRY(pc_arrow_wrap_schema(&table->schema, env, err));
  if (strcmp(table->schema.format, "+s") != 0)
    return pc_fail(err, PCAL_DATA,
                   "%s contains Arrow arrays of type %s, not record batches; give a table "
                   "of columns",
                   name, table->schema.format);
  if (table->single.release != NULL) {
    struct ArrowArray batch = table->single;
    table->single.release = NULL;
    PC_TRY(arrow_table_add(table, &batch, err));
  }
  while (table->rows == 0 && !pc_arrow_table_ended(table))
    PC_TRY(arrow_table_pull(table, err));
  if (table->rows == 0)
    return pc_fail(err, PCAL_DATA, "%s has no rows; give at least one", name);
  return PCAL_OK;
}

pcal_status pc_arrow_table_batch(pc_arrow_table *table, size_t index,
                                 const struct ArrowArray **out, pcal_error *err) {
  *out = NULL;
  while (index >= table->count && !pc_arrow_table_ended(table))
    PC_TRY(arrow_table_pull(table, err));
  if (index < table->count)
    *out = &table->batches[index];
  return PCAL_OK;
}

int pc_arrow_table_ended(const pc_arrow_table *table) {
  return table->stream.release == NULL;
}

void pc_arrow_table_free(pc_arrow_table *table) {
  for (size_t i = 0; i < table->count; i++)
    table->batches[i].release(&table->batches[i]);
  if (table->batches != NULL)
    pc_free(table->env, table->batches);
  if (table->single.release != NULL)
    table->single.release(&table->single);
  if (table->schema.release != NULL)
    table->schema.release(&table->schema);
  arrow_table_end(table);
  *table = (pc_arrow_table){0};
}
