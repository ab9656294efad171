/* The C stream interface over a structure that is released with the stream. */
#include "core_arrow.h"

#include <stdlib.h>
#include <string.h>

typedef struct core_arrow_pair {
  struct ArrowSchema schema;
  struct ArrowArray array;
} core_arrow_pair;

static int core_arrow_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  core_arrow_pair *pair = stream->private_data;
  *out = pair->schema;
  pair->schema.release = NULL;
  return 0;
}

static int core_arrow_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  core_arrow_pair *pair = stream->private_data;
  *out = pair->array;
  pair->array.release = NULL;
  return 0;
}

static const char *core_arrow_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return NULL;
}

static void core_arrow_release(struct ArrowArrayStream *stream) {
  core_arrow_pair *pair = stream->private_data;
  if (pair->schema.release != NULL)
    pair->schema.release(&pair->schema);
  if (pair->array.release != NULL)
    pair->array.release(&pair->array);
  free(pair);
  stream->release = NULL;
}

int core_arrow_once(struct ArrowSchema *schema, struct ArrowArray *array,
                    struct ArrowArrayStream *out) {
  core_arrow_pair *pair = malloc(sizeof *pair);
  if (pair == NULL)
    return -1;
  pair->schema = *schema;
  pair->array = *array;
  schema->release = NULL;
  array->release = NULL;
  *out = (struct ArrowArrayStream){core_arrow_schema, core_arrow_next, core_arrow_error,
                                   core_arrow_release, pair};
  return 0;
}
