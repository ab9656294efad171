/* Tables of Message.fbs: RecordBatch (length, nodes, buffers, compression, variadic counts) and
 * DictionaryBatch (id, data, whether it is a delta).  Nodes (length, null count) and buffers
 * (offset, length) stand in the order of a walk through the columns, parents first.
 *
 * Edge cases:
 *  1. the length of every buffer is checked against the number of values.
 *  2. offsets of texts and lists are copied, and the copy is checked, so that a file that changes
 *     meanwhile cannot lead outside it.  Views and indices are checked where they are used.
 *  3. buffers that are not aligned for their values are copied.
 *  4. compressed buffers, LZ4 or zstd, are unpacked into memory: at most PC_LZ4_RATIO_MAX times
 *     their length, or the limits of input_unpack.h.
 *  5. delta dictionaries are refused. */
#include "io/formats/arrow_ipc_batch.h"

#include <string.h>

#include "base/budget.h"
#include "io/formats/lz4_frame.h"
#include "io/input_unpack.h"

enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION, BATCH_VARIADIC };
enum { DICTIONARY_ID, DICTIONARY_DATA, DICTIONARY_DELTA };

#define BATCH_VIEW_SIZE 16
#define BATCH_PAIR 16   /* bytes of a node and of a buffer: two int64 */
#define BATCH_ALIGNED 8 /* of values in a buffer */
#define BATCH_LZ4 0
#define BATCH_ZSTD 1
#define BATCH_UNPACKED (-1) /* no compression, or this buffer is not compressed */

static const char batch_short[] = "a buffer is shorter than its column";
static const char batch_other_length[] =
    "a compressed buffer has not the length that it claims";
static const char batch_few_columns[] = "a batch has fewer columns than the schema";

/* One column of a batch. */
typedef struct batch_node {
  pcal_env env;
  struct ArrowArray array;
  const void **buffers;
  void **owned; /* copies that belong to the node, by buffer; NULL if in the body */
  int64_t *view_lengths;
  pc_arrow_ipc_values *values;
} batch_node;

/* The walk through a message. */
typedef struct batch_walk {
  const pc_arrow_ipc_context *context;
  const unsigned char *body;
  size_t body_length;
  pc_flat_vector nodes, buffers, variadic;
  size_t node, buffer, view_column; /* next ones */
  uint64_t unpacked;                /* end of the last compressed buffer in the body */
  int64_t codec;
} batch_walk;

/* ---- Nodes ---- */

static void batch_free(struct ArrowArray *array) {
  batch_node *node = array->private_data;
  const pcal_env env = node->env;
  for (int64_t i = 0; i < array->n_children; i++)
    batch_free(array->children[i]);
  pc_free(&env, array->children);
  for (int64_t i = 0; i < array->n_buffers && node->owned != NULL; i++)
    pc_free(&env, node->owned[i]);
  pc_free(&env, node->owned);
  pc_free(&env, node->buffers);
  pc_free(&env, node->view_lengths);
  pc_arrow_ipc_values_drop(node->values, &env);
  pc_free(&env, node);
}

static void batch_release(struct ArrowArray *root) {
  batch_free(root);
  root->release = NULL;
}

void pc_arrow_ipc_values_drop(pc_arrow_ipc_values *values, const pcal_env *env) {
  if (values == NULL || --values->users > 0)
    return;
  if (values->array.release != NULL)
    values->array.release(&values->array);
  pc_free(env, values);
}

static const char *batch_new(const pcal_env *env, struct ArrowArray **out) {
  batch_node *node = pc_alloc(env, 1, sizeof *node);
  if (node == NULL)
    return PC_ARROW_IPC_MEMORY;
  node->env = *env;
  node->array.private_data = node;
  *out = &node->array;
  return NULL;
}

static const char *batch_set_buffers(struct ArrowArray *array, size_t count) {
  batch_node *node = array->private_data;
  node->buffers = pc_alloc(&node->env, count + 1, sizeof *node->buffers);
  node->owned = pc_alloc(&node->env, count + 1, sizeof *node->owned);
  if (node->buffers == NULL || node->owned == NULL)
    return PC_ARROW_IPC_MEMORY;
  array->buffers = node->buffers;
  array->n_buffers = (int64_t)count;
  return NULL;
}

/* ---- Buffers ---- */

typedef struct batch_bytes {
  const unsigned char *data;
  size_t length;
  void *owned; /* or NULL */
} batch_bytes;

static const char *batch_unpack_lz4(const batch_walk *walk, size_t size, batch_bytes *bytes) {
  const pcal_env env = pc_env_for_use(walk->context->env, PC_MEMORY_UNPACKED);
  if (size / PC_LZ4_RATIO_MAX > bytes->length)
    return "a compressed buffer claims more bytes than LZ4 can pack";
  unsigned char *out = pc_alloc_raw(&env, size, 1);
  if (out == NULL)
    return PC_ARROW_IPC_MEMORY;
  const int unpacked = pc_lz4_frame_unpack(bytes->data, bytes->length, out, size);
  *bytes = (batch_bytes){out, size, out};
  return unpacked ? NULL : "a buffer compressed by LZ4 cannot be unpacked";
}

static const char *batch_zstd_wrong(pcal_status status, const pcal_error *err) {
  switch (status) {
  case PCAL_MEMORY: /* without an activity: more bytes than claimed */
    return err->activity != NULL ? PC_ARROW_IPC_MEMORY : batch_other_length;
  case PCAL_INTERRUPTED:
    return PC_ARROW_IPC_INTERRUPTED;
  case PCAL_USAGE:
    return "it is compressed by zstd, which this build cannot read";
  default:
    return "a buffer compressed by zstd cannot be unpacked";
  }
}

static const char *batch_unpack_zstd(const batch_walk *walk, size_t size, batch_bytes *bytes) {
  pc_input_file packed;
  pc_unpacked out;
  if (size > PC_UNPACK_FREE && size / PC_UNPACK_RATIO > bytes->length)
    return PC_ARROW_IPC_RATIO;
  pc_input_file_from_memory("a buffer", bytes->data, bytes->length, &packed);
  pcal_env bounded = *walk->context->env;
  pcal_error err = PCAL_ERROR_INIT;
  bounded.memory_limit = size;
  packed.env = &bounded;
  const pcal_status status = pc_input_unpack(&packed, PC_COMPRESSION_ZSTD, &out, &err);
  if (status != PCAL_OK)
    return batch_zstd_wrong(status, &err);
  *bytes = (batch_bytes){out.data, out.length, out.data};
  return out.length == size ? NULL : batch_other_length;
}

/* Replaces a compressed buffer by its content. */
static const char *batch_unpack(const batch_walk *walk, batch_bytes *bytes) {
  uint64_t size = 0;
  if (walk->codec == BATCH_UNPACKED || bytes->length == 0)
    return NULL;
  if (bytes->length < sizeof size)
    return batch_short;
  for (size_t i = sizeof size; i-- > 0;)
    size = size << 8 | bytes->data[i];
  bytes->data += sizeof size;
  bytes->length -= sizeof size;
  if (size == UINT64_MAX)
    return NULL;
  if (size > SIZE_MAX / 2)
    return "a compressed buffer claims an impossible length";
  if (size == 0) {
    bytes->length = 0;
    return NULL;
  }
  return walk->codec == BATCH_LZ4 ? batch_unpack_lz4(walk, (size_t)size, bytes)
                                  : batch_unpack_zstd(walk, (size_t)size, bytes);
}

static const char *batch_align(const batch_walk *walk, batch_bytes *bytes) {
  if (bytes->owned != NULL || bytes->length == 0 || (uintptr_t)bytes->data % BATCH_ALIGNED == 0)
    return NULL;
  bytes->owned = pc_alloc_raw(walk->context->env, bytes->length, 1);
  if (bytes->owned == NULL)
    return PC_ARROW_IPC_MEMORY;
  memcpy(bytes->owned, bytes->data, bytes->length);
  bytes->data = bytes->owned;
  return NULL;
}

static const char *batch_next_buffer(batch_walk *walk, batch_bytes *out) {
  *out = (batch_bytes){0};
  if (walk->buffer >= walk->buffers.count)
    return batch_few_columns;
  const size_t place = BATCH_PAIR * walk->buffer++;
  const int64_t offset = pc_flat_list_int64(&walk->buffers, place);
  const int64_t length = pc_flat_list_int64(&walk->buffers, place + 8);
  if (offset < 0 || length < 0 || (uint64_t)offset > walk->body_length ||
      (uint64_t)length > walk->body_length - (uint64_t)offset)
    return "a buffer is outside the body of its message";
  if (walk->codec != BATCH_UNPACKED && length > 0) { /* else a small body unpacks to any size */
    if ((uint64_t)offset < walk->unpacked)
      return "compressed buffers overlap";
    walk->unpacked = (uint64_t)offset + (uint64_t)length;
  }
  *out = (batch_bytes){walk->body + offset, (size_t)length, NULL};
  const char *wrong = batch_unpack(walk, out);
  return wrong != NULL ? wrong : batch_align(walk, out);
}

/* Reads buffer `index` of a column, which needs at least `needed` bytes. */
static const char *batch_buffer(batch_walk *walk, struct ArrowArray *array, size_t index,
                                uint64_t needed, batch_bytes *out) {
  batch_node *node = array->private_data;
  const char *wrong = batch_next_buffer(walk, out);
  node->owned[index] = out->owned;
  if (wrong != NULL)
    return wrong;
  node->buffers[index] = out->length == 0 ? NULL : out->data;
  return out->length < needed ? batch_short : NULL;
}

/* The validity bitmap; left out if no value is null. */
static const char *batch_validity(batch_walk *walk, struct ArrowArray *array) {
  batch_bytes bytes;
  const uint64_t needed = array->null_count == 0 ? 0 : ((uint64_t)array->length + 7) / 8;
  const char *wrong = batch_buffer(walk, array, 0, needed, &bytes);
  if (array->null_count == 0)
    array->buffers[0] = NULL;
  return wrong;
}

/* ---- Layouts ---- */

static uint64_t batch_fixed_bytes(uint64_t length, unsigned bits) {
  return bits == 1 ? (length + 7) / 8 : length * (bits / 8);
}

static const char *batch_fixed(batch_walk *walk, struct ArrowArray *array,
                               const pc_arrow_ipc_field *field) {
  batch_bytes bytes;
  const uint64_t length = (uint64_t)array->length;
  if (length > (uint64_t)INT64_MAX / 64)
    return batch_short;
  const char *wrong = batch_validity(walk, array);
  return wrong != NULL
             ? wrong
             : batch_buffer(walk, array, 1, batch_fixed_bytes(length, field->bits), &bytes);
}

static int64_t batch_offset(const unsigned char *offsets, size_t index, unsigned bits) {
  if (bits == 64) {
    int64_t value;
    memcpy(&value, offsets + index * sizeof value, sizeof value);
    return value;
  }
  int32_t value;
  memcpy(&value, offsets + index * sizeof value, sizeof value);
  return value;
}

/* Replaces the offsets in buffer 1 by a copy of exactly length + 1 of them; *last is the last. */
static const char *batch_offsets(batch_walk *walk, struct ArrowArray *array, unsigned bits,
                                 int64_t *last) {
  batch_node *node = array->private_data;
  batch_bytes bytes;
  const uint64_t length = (uint64_t)array->length;
  *last = 0;
  if (length > (uint64_t)INT64_MAX / 64)
    return batch_short;
  const size_t needed = length == 0 ? 0 : (size_t)((length + 1) * (bits / 8));
  const char *wrong = batch_buffer(walk, array, 1, needed, &bytes);
  if (wrong != NULL || needed == 0)
    return wrong;
  unsigned char *copy = pc_alloc_raw(&node->env, needed, 1);
  if (copy == NULL)
    return PC_ARROW_IPC_MEMORY;
  memcpy(copy, bytes.data, needed);
  pc_free(&node->env, node->owned[1]);
  node->owned[1] = copy;
  node->buffers[1] = copy;
  int64_t before = 0;
  for (size_t i = 0; i <= length; i++) {
    const int64_t here = batch_offset(copy, i, bits);
    if (here < before)
      return "the offsets of a column run backwards";
    before = here;
  }
  *last = before;
  return NULL;
}

static const char *batch_text(batch_walk *walk, struct ArrowArray *array,
                              const pc_arrow_ipc_field *field) {
  batch_bytes bytes;
  int64_t last = 0;
  const char *wrong = batch_validity(walk, array);
  if (wrong == NULL)
    wrong = batch_offsets(walk, array, field->bits, &last);
  return wrong != NULL ? wrong : batch_buffer(walk, array, 2, (uint64_t)last, &bytes);
}

/* Validity, views, data buffers, and the lengths of the data buffers. */
static const char *batch_views(batch_walk *walk, struct ArrowArray *array) {
  batch_node *node = array->private_data;
  const size_t count = (size_t)array->n_buffers - 3;
  batch_bytes bytes;
  const char *wrong = batch_validity(walk, array);
  if ((uint64_t)array->length > (uint64_t)INT64_MAX / 64)
    return batch_short;
  if (wrong == NULL)
    wrong = batch_buffer(walk, array, 1, BATCH_VIEW_SIZE * (uint64_t)array->length, &bytes);
  if (wrong != NULL)
    return wrong;
  node->view_lengths = pc_alloc(&node->env, count + 1, sizeof *node->view_lengths);
  if (node->view_lengths == NULL)
    return PC_ARROW_IPC_MEMORY;
  for (size_t i = 0; i < count && wrong == NULL; i++) {
    wrong = batch_buffer(walk, array, 2 + i, 0, &bytes);
    node->view_lengths[i] = (int64_t)bytes.length;
  }
  array->buffers[2 + count] = node->view_lengths;
  return wrong;
}

static const char *batch_column(batch_walk *walk, const struct ArrowSchema *schema,
                                struct ArrowArray **out);

static const char *batch_children(batch_walk *walk, const struct ArrowSchema *schema,
                                  struct ArrowArray *array) {
  const batch_node *node = array->private_data;
  if (schema->n_children == 0)
    return NULL;
  array->children = pc_alloc(&node->env, (size_t)schema->n_children, sizeof *array->children);
  if (array->children == NULL)
    return PC_ARROW_IPC_MEMORY;
  for (; array->n_children < schema->n_children; array->n_children++) {
    const char *wrong = batch_column(walk, schema->children[array->n_children],
                                     &array->children[array->n_children]);
    if (wrong != NULL)
      return wrong;
  }
  return NULL;
}

static const char *batch_lists(batch_walk *walk, const struct ArrowSchema *schema,
                               struct ArrowArray *array) {
  const pc_arrow_ipc_field *field = schema->private_data;
  uint64_t needed = (uint64_t)array->length;
  int64_t last = 0;
  const char *wrong = batch_validity(walk, array);
  if (wrong == NULL && field->layout == PC_ARROW_IPC_LISTS)
    wrong = batch_offsets(walk, array, field->bits, &last);
  if (wrong == NULL)
    wrong = batch_children(walk, schema, array);
  if (wrong != NULL)
    return wrong;
  if (field->layout == PC_ARROW_IPC_LISTS)
    needed = (uint64_t)last;
  else if (field->width > 0 && needed > (uint64_t)INT64_MAX / (uint64_t)field->width)
    return batch_short;
  else
    needed *= (uint64_t)field->width;
  return (uint64_t)array->children[0]->length < needed
             ? "lists have fewer values than they need"
             : NULL;
}

/* Skips the buffers and children of a type that is not read. */
static const char *batch_skip(batch_walk *walk, const struct ArrowSchema *schema,
                              struct ArrowArray *array) {
  const pc_arrow_ipc_field *field = schema->private_data;
  batch_bytes bytes;
  const char *wrong = NULL;
  for (size_t i = 0; i < field->buffers && wrong == NULL; i++)
    wrong = batch_buffer(walk, array, i, 0, &bytes);
  return wrong != NULL ? wrong : batch_children(walk, schema, array);
}

static const char *batch_fill(batch_walk *walk, const struct ArrowSchema *schema,
                              struct ArrowArray *array) {
  const pc_arrow_ipc_field *field = schema->private_data;
  const char *wrong = NULL;
  switch (field->layout) {
  case PC_ARROW_IPC_FIXED:
    return batch_fixed(walk, array, field);
  case PC_ARROW_IPC_TEXT:
    return batch_text(walk, array, field);
  case PC_ARROW_IPC_VIEWS:
    return batch_views(walk, array);
  case PC_ARROW_IPC_LISTS:
  case PC_ARROW_IPC_FIXED_LISTS:
    return batch_lists(walk, schema, array);
  case PC_ARROW_IPC_STRUCT:
    wrong = batch_validity(walk, array);
    return wrong != NULL ? wrong : batch_children(walk, schema, array);
  default:
    return batch_skip(walk, schema, array);
  }
}

/* ---- Columns ---- */

/* Number of buffers of an ArrowArray of this layout; views have as many as the message says. */
static const char *batch_buffer_count(batch_walk *walk, const pc_arrow_ipc_field *field,
                                      size_t *out) {
  static const size_t counts[] = {
      [PC_ARROW_IPC_FIXED] = 2,  [PC_ARROW_IPC_TEXT] = 3,        [PC_ARROW_IPC_LISTS] = 2,
      [PC_ARROW_IPC_STRUCT] = 1, [PC_ARROW_IPC_FIXED_LISTS] = 1, [PC_ARROW_IPC_OTHER] = 0};
  *out = field->layout == PC_ARROW_IPC_OTHER ? field->buffers : counts[field->layout];
  if (field->layout != PC_ARROW_IPC_VIEWS)
    return NULL;
  if (walk->view_column >= walk->variadic.count)
    return batch_few_columns;
  const int64_t count = pc_flat_list_int64(&walk->variadic, 8 * walk->view_column++);
  if (count < 0 || (uint64_t)count > walk->buffers.count)
    return "a column of views has an impossible number of buffers";
  *out = 3 + (size_t)count;
  return NULL;
}

/* Shares the newest values of a dictionary. */
static const char *batch_use_values(const batch_walk *walk, int64_t id,
                                    struct ArrowArray *array) {
  const pc_arrow_ipc_context *context = walk->context;
  batch_node *node = array->private_data;
  for (size_t i = 0; i < context->dictionary_count; i++) {
    if (context->dictionaries[i].id != id || context->dictionaries[i].values == NULL)
      continue;
    node->values = context->dictionaries[i].values;
    node->values->users++;
    array->dictionary = &node->values->array;
    return NULL;
  }
  return "a batch comes before the dictionary that it uses";
}

static const char *batch_column(batch_walk *walk, const struct ArrowSchema *schema,
                                struct ArrowArray **out) {
  const pc_arrow_ipc_field *field = schema->private_data;
  size_t buffers = 0;
  if (walk->node >= walk->nodes.count)
    return batch_few_columns;
  const char *wrong = batch_new(walk->context->env, out);
  if (wrong != NULL)
    return wrong;
  struct ArrowArray *array = *out;
  array->length = pc_flat_list_int64(&walk->nodes, BATCH_PAIR * walk->node);
  array->null_count = pc_flat_list_int64(&walk->nodes, BATCH_PAIR * walk->node + 8);
  walk->node++;
  if (array->length < 0)
    wrong = "a column has a negative length";
  if (wrong == NULL)
    wrong = batch_buffer_count(walk, field, &buffers);
  if (wrong == NULL)
    wrong = batch_set_buffers(array, buffers);
  if (wrong == NULL)
    wrong = batch_fill(walk, schema, array);
  if (wrong == NULL && schema->dictionary != NULL)
    wrong = batch_use_values(walk, field->dictionary_id, array);
  if (wrong != NULL)
    batch_free(array);
  return wrong;
}

/* ---- Messages ---- */

static const char *batch_start(const pc_arrow_ipc_message *message, const pc_flat_table *batch,
                               const pc_arrow_ipc_context *context, batch_walk *out) {
  const pc_flat_table compression = pc_flat_child(batch, BATCH_COMPRESSION);
  *out = (batch_walk){.context = context,
                      .body = message->body,
                      .body_length = message->body_length,
                      .nodes = pc_flat_list(batch, BATCH_NODES, BATCH_PAIR),
                      .buffers = pc_flat_list(batch, BATCH_BUFFERS, BATCH_PAIR),
                      .variadic = pc_flat_list(batch, BATCH_VARIADIC, 8),
                      .codec = BATCH_UNPACKED};
  if (compression.at != 0)
    out->codec = pc_flat_int(&compression, 0, 1, BATCH_LZ4);
  return out->codec < BATCH_UNPACKED || out->codec > BATCH_ZSTD
             ? "it is compressed in an unknown way"
             : NULL;
}

const char *pc_arrow_ipc_batch_read(const pc_arrow_ipc_message *message,
                                    const struct ArrowSchema *schema,
                                    const pc_arrow_ipc_context *context,
                                    struct ArrowArray *out) {
  batch_walk walk;
  struct ArrowArray *root = NULL;
  const char *wrong = batch_start(message, &message->header, context, &walk);
  if (wrong == NULL)
    wrong = batch_new(context->env, &root);
  if (wrong != NULL)
    return wrong;
  root->length = pc_flat_int(&message->header, BATCH_LENGTH, 8, 0);
  wrong = batch_set_buffers(root, 1);
  if (wrong == NULL)
    wrong = batch_children(&walk, schema, root);
  if (wrong != NULL) {
    batch_free(root);
    return wrong;
  }
  *out = *root;
  out->release = batch_release;
  return NULL;
}

int64_t pc_arrow_ipc_dictionary_id(const pc_arrow_ipc_message *message) {
  return pc_flat_int(&message->header, DICTIONARY_ID, 8, 0);
}

const char *pc_arrow_ipc_values_read(const pc_arrow_ipc_message *message,
                                     const struct ArrowSchema *schema,
                                     const pc_arrow_ipc_context *context,
                                     pc_arrow_ipc_values **out) {
  batch_walk walk;
  struct ArrowArray *array = NULL;
  const pc_flat_table batch = pc_flat_child(&message->header, DICTIONARY_DATA);
  *out = NULL;
  if (pc_flat_int(&message->header, DICTIONARY_DELTA, 1, 0) != 0)
    return "a dictionary grows by deltas, which are not supported";
  const char *wrong = batch_start(message, &batch, context, &walk);
  if (wrong == NULL)
    wrong = batch_column(&walk, schema, &array);
  if (wrong != NULL)
    return wrong;
  pc_arrow_ipc_values *values = pc_alloc(context->env, 1, sizeof *values);
  if (values == NULL) {
    batch_free(array);
    return PC_ARROW_IPC_MEMORY;
  }
  values->users = 1;
  values->array = *array;
  values->array.release = batch_release;
  *out = values;
  return NULL;
}
