/* Arrow schemas, arrays and streams made by hand; what is not released yet is counted. */
#ifndef ARROW_HELP_H
#define ARROW_HELP_H

#include "io_help.h"

static int help_arrow_live;

static inline void help_schema_release(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (schema->children[i]->release != NULL)
      schema->children[i]->release(schema->children[i]);
    free(schema->children[i]);
  }
  if (schema->dictionary != NULL) {
    schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
  }
  free(schema->children);
  schema->release = NULL;
  help_arrow_live--;
}

static inline struct ArrowSchema *help_schema(const char *format, const char *name) {
  struct ArrowSchema *schema = calloc(1, sizeof *schema);
  assert_non_null(schema);
  schema->format = format;
  schema->name = name;
  schema->flags = ARROW_FLAG_NULLABLE;
  schema->release = help_schema_release;
  help_arrow_live++;
  return schema;
}

static inline void help_schema_add(struct ArrowSchema *schema, struct ArrowSchema *child) {
  schema->children =
      realloc(schema->children, (size_t)(schema->n_children + 1) * sizeof *schema->children);
  assert_non_null(schema->children);
  schema->children[schema->n_children++] = child;
}

static inline void help_array_release(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_children; i++) {
    if (array->children[i]->release != NULL)
      array->children[i]->release(array->children[i]);
    free(array->children[i]);
  }
  if (array->dictionary != NULL) {
    array->dictionary->release(array->dictionary);
    free(array->dictionary);
  }
  free(array->children);
  free(array->buffers);
  array->release = NULL;
  help_arrow_live--;
}

/* With up to three buffers, which are borrowed. */
static inline struct ArrowArray *help_array(int64_t length, int64_t offset, int64_t buffers,
                                            const void *validity, const void *first,
                                            const void *second) {
  struct ArrowArray *array = calloc(1, sizeof *array);
  assert_non_null(array);
  array->length = length;
  array->offset = offset;
  array->null_count = validity == NULL ? 0 : -1;
  array->n_buffers = buffers;
  array->buffers = calloc(3, sizeof *array->buffers);
  assert_non_null(array->buffers);
  array->buffers[0] = validity;
  array->buffers[1] = first;
  array->buffers[2] = second;
  array->release = help_array_release;
  help_arrow_live++;
  return array;
}

static inline void help_array_add(struct ArrowArray *array, struct ArrowArray *child) {
  array->children =
      realloc(array->children, (size_t)(array->n_children + 1) * sizeof *array->children);
  assert_non_null(array->children);
  array->children[array->n_children++] = child;
}

/* A stream of batches made by `make`; fails with EIO at batch fail_at (from 1, 0: never). */
typedef struct help_stream {
  struct ArrowSchema *(*schema)(void);
  struct ArrowArray *(*batch)(int64_t index); /* NULL at the end */
  int64_t next, fail_at;
  int schema_fails;
} help_stream;

static inline int help_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  const help_stream *data = stream->private_data;
  if (data->schema_fails)
    return 22;
  struct ArrowSchema *schema = data->schema();
  *out = *schema;
  free(schema);
  return 0;
}

static inline int help_stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  help_stream *data = stream->private_data;
  if (data->fail_at > 0 && data->next + 1 == data->fail_at)
    return 5;
  struct ArrowArray *batch = data->batch(data->next++);
  memset(out, 0, sizeof *out);
  if (batch != NULL)
    *out = *batch;
  free(batch);
  return 0;
}

static inline const char *help_stream_error(struct ArrowArrayStream *stream) {
  const help_stream *data = stream->private_data;
  return data->schema_fails ? NULL : "the disk is gone";
}

static inline void help_stream_release(struct ArrowArrayStream *stream) {
  stream->release = NULL;
  help_arrow_live--;
}

static inline struct ArrowArrayStream help_stream_make(help_stream *data) {
  help_arrow_live++;
  return (struct ArrowArrayStream){help_stream_schema, help_stream_next, help_stream_error,
                                   help_stream_release, data};
}

#endif
