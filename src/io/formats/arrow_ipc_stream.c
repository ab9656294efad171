#include "io/formats/arrow_ipc_stream.h"

#include <errno.h>
#include <string.h>

#include "io/formats/arrow_ipc_batch.h"

typedef struct ipc_stream {
  pcal_env env;
  const pc_input_file *bytes;
  size_t at;
  pc_arrow_ipc_message schema_message;
  struct ArrowSchema schema; /* for reading batches */
  pc_arrow_ipc_context context;
  size_t dictionary_capacity;
  const char *wrong; /* with the last call, or NULL */
} ipc_stream;

static int ipc_stream_code(ipc_stream *state, const char *wrong) {
  state->wrong = wrong;
  return wrong == NULL                       ? 0
         : wrong == PC_ARROW_IPC_MEMORY      ? ENOMEM
         : wrong == PC_ARROW_IPC_RATIO       ? EFBIG
         : wrong == PC_ARROW_IPC_INTERRUPTED ? ECANCELED
                                             : EBADMSG;
}

static void ipc_stream_free(ipc_stream *state) {
  const pcal_env env = state->env;
  for (size_t i = 0; i < state->context.dictionary_count; i++)
    pc_arrow_ipc_values_drop(state->context.dictionaries[i].values, &env);
  pc_free(&env, state->context.dictionaries);
  if (state->schema.release != NULL)
    state->schema.release(&state->schema);
  pc_free(&env, state);
}

/* ---- Dictionaries ---- */

/* The schema of the values of a dictionary, or NULL. */
static const struct ArrowSchema *ipc_stream_values_schema(const struct ArrowSchema *schema,
                                                          int64_t id) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    const struct ArrowSchema *child = schema->children[i];
    const pc_arrow_ipc_field *field = child->private_data;
    if (child->dictionary != NULL && field->dictionary_id == id)
      return child->dictionary;
    const struct ArrowSchema *below = ipc_stream_values_schema(child, id);
    if (below != NULL)
      return below;
  }
  return NULL;
}

/* The entry of a dictionary, which is added if it is new; NULL without memory. */
static pc_arrow_ipc_dictionary *ipc_stream_dictionary(ipc_stream *state, int64_t id) {
  pc_arrow_ipc_context *context = &state->context;
  void *grown = context->dictionaries;
  for (size_t i = 0; i < context->dictionary_count; i++)
    if (context->dictionaries[i].id == id)
      return &context->dictionaries[i];
  const pcal_status status =
      pc_reserve(&state->env, &grown, &state->dictionary_capacity,
                 context->dictionary_count + 1, sizeof *context->dictionaries, NULL);
  context->dictionaries = grown;
  if (status != PCAL_OK)
    return NULL;
  pc_arrow_ipc_dictionary *added = &context->dictionaries[context->dictionary_count++];
  *added = (pc_arrow_ipc_dictionary){id, NULL};
  return added;
}

static const char *ipc_stream_add_values(ipc_stream *state,
                                         const pc_arrow_ipc_message *message) {
  const int64_t id = pc_arrow_ipc_dictionary_id(message);
  const struct ArrowSchema *schema = ipc_stream_values_schema(&state->schema, id);
  pc_arrow_ipc_values *values = NULL;
  if (schema == NULL)
    return "a dictionary belongs to no column";
  const char *wrong = pc_arrow_ipc_values_read(message, schema, &state->context, &values);
  if (wrong != NULL)
    return wrong;
  pc_arrow_ipc_dictionary *dictionary = ipc_stream_dictionary(state, id);
  if (dictionary == NULL) {
    pc_arrow_ipc_values_drop(values, &state->env);
    return PC_ARROW_IPC_MEMORY;
  }
  pc_arrow_ipc_values_drop(dictionary->values, &state->env);
  dictionary->values = values;
  return NULL;
}

/* ---- Callbacks of the interface ---- */

static int ipc_stream_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  ipc_stream *state = stream->private_data;
  return ipc_stream_code(
      state, pc_arrow_ipc_schema_read(&state->schema_message.header, &state->env, out));
}

static int ipc_stream_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  ipc_stream *state = stream->private_data;
  pc_arrow_ipc_message message = {.kind = PC_ARROW_IPC_DICTIONARY};
  const char *wrong = NULL;
  out->release = NULL;
  while (wrong == NULL && message.kind == PC_ARROW_IPC_DICTIONARY) {
    wrong = pc_arrow_ipc_next(state->bytes->data, state->bytes->length, &state->at, &message);
    if (wrong == NULL && message.kind == PC_ARROW_IPC_DICTIONARY)
      wrong = ipc_stream_add_values(state, &message);
  }
  if (wrong == NULL && message.kind == PC_ARROW_IPC_SCHEMA)
    wrong = "it has a second schema";
  if (wrong == NULL && message.kind == PC_ARROW_IPC_BATCH)
    wrong = pc_arrow_ipc_batch_read(&message, &state->schema, &state->context, out);
  return ipc_stream_code(state, wrong);
}

static const char *ipc_stream_get_last_error(struct ArrowArrayStream *stream) {
  const ipc_stream *state = stream->private_data;
  return state->wrong;
}

static void ipc_stream_release(struct ArrowArrayStream *stream) {
  ipc_stream_free(stream->private_data);
  stream->release = NULL;
}

/* ---- Opening ---- */

/* True if two schemas have the same types. */
static int ipc_stream_same_types(const struct ArrowSchema *a, const struct ArrowSchema *b) {
  if (strcmp(a->format, b->format) != 0 || a->n_children != b->n_children ||
      (a->dictionary == NULL) != (b->dictionary == NULL))
    return 0;
  for (int64_t i = 0; i < a->n_children; i++)
    if (!ipc_stream_same_types(a->children[i], b->children[i]))
      return 0;
  return a->dictionary == NULL || ipc_stream_same_types(a->dictionary, b->dictionary);
}

/* Values are read with the types of the first column that has their dictionary. */
static const char *ipc_stream_check_dictionaries(const struct ArrowSchema *root,
                                                 const struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    const struct ArrowSchema *child = schema->children[i];
    const pc_arrow_ipc_field *field = child->private_data;
    if (child->dictionary != NULL &&
        !ipc_stream_same_types(ipc_stream_values_schema(root, field->dictionary_id),
                               child->dictionary))
      return "two columns of different types share a dictionary";
    const char *wrong = ipc_stream_check_dictionaries(root, child);
    if (wrong != NULL)
      return wrong;
  }
  return NULL;
}

static const char *ipc_stream_begin(ipc_stream *state) {
  static const char magic[] = "ARROW1";
  pc_arrow_ipc_message *message = &state->schema_message;
  const pc_input_file *bytes = state->bytes;
  const size_t end = sizeof magic - 1;
  state->at = pc_arrow_ipc_begin(bytes->data, bytes->length);
  if (state->at > 0 && memcmp(bytes->data + bytes->length - end, magic, end) != 0)
    return "its end is missing";
  const char *wrong = pc_arrow_ipc_next(bytes->data, bytes->length, &state->at, message);
  if (wrong == NULL && message->kind != PC_ARROW_IPC_SCHEMA)
    wrong = "it does not begin with a schema";
  if (wrong == NULL)
    wrong = pc_arrow_ipc_schema_read(&message->header, &state->env, &state->schema);
  return wrong != NULL ? wrong : ipc_stream_check_dictionaries(&state->schema, &state->schema);
}

pcal_status pc_arrow_ipc_stream_open(const pc_input_file *bytes, const pcal_env *env,
                                     struct ArrowArrayStream *out, pcal_error *err) {
  ipc_stream *state = pc_alloc(env, 1, sizeof *state);
  *out = (struct ArrowArrayStream){0};
  if (state == NULL)
    return pc_fail_memory(err, "opening an Arrow file");
  state->env = *env;
  state->bytes = bytes;
  state->context.env = &state->env;
  const char *wrong = ipc_stream_begin(state);
  if (wrong != NULL) {
    ipc_stream_free(state);
    if (wrong == PC_ARROW_IPC_MEMORY)
      return pc_fail_memory(err, "opening an Arrow file");
    return pc_fail(err, PCAL_DATA,
                   "%s cannot be read as Arrow IPC: %-s; check the program that wrote it",
                   bytes->name, wrong);
  }
  *out = (struct ArrowArrayStream){ipc_stream_get_schema, ipc_stream_get_next,
                                   ipc_stream_get_last_error, ipc_stream_release, state};
  return PCAL_OK;
}
