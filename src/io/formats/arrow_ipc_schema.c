/* Tables of Schema.fbs: Schema (endianness, fields), Field (name, nullable, type, dictionary,
 * children), and one table for each type.
 *
 * Edge cases:
 *  1. files whose numbers are in the other byte order than the machine's are refused.
 *  2. columns of types that cannot be read are described, so that their buffers can be skipped;
 *     choosing one is refused by arrow_column.c.
 *  3. nesting beyond PC_ARROW_IPC_DEPTH and names that are not UTF-8 are refused. */
#include "io/formats/arrow_ipc_schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/formats/element_type.h"

enum { SCHEMA_ENDIANNESS = 0, SCHEMA_FIELDS = 1 };
enum {
  FIELD_NAME = 0,
  FIELD_TYPE_TYPE = 2,
  FIELD_TYPE = 3,
  FIELD_DICTIONARY = 4,
  FIELD_CHILDREN = 5
};
enum { DICTIONARY_ID = 0, DICTIONARY_INDEX = 1 };

/* Values of the union Type. */
enum {
  TYPE_NULL = 1,
  TYPE_INT = 2,
  TYPE_FLOAT = 3,
  TYPE_UTF8 = 5,
  TYPE_BOOL = 6,
  TYPE_STRUCT = 13,
  TYPE_LIST = 12,
  TYPE_FIXED_LIST = 16,
  TYPE_LARGE_UTF8 = 20,
  TYPE_LARGE_LIST = 21,
  TYPE_UTF8_VIEW = 24,
  TYPE_COUNT = 27
};

/* Types that are not read, with their name for messages, and null, which has no buffers: the number
 * of buffers in a batch. */
static const struct {
  const char *name;
  size_t buffers;
} schema_others[TYPE_COUNT] = {
    [0] = {"unknown", 0},    [1] = {"n", 0},          [4] = {"binary", 3},
    [7] = {"decimal", 2},    [8] = {"date", 2},       [9] = {"time", 2},
    [10] = {"timestamp", 2}, [11] = {"interval", 2},  [15] = {"fixed binary", 2},
    [17] = {"map", 2},       [18] = {"duration", 2},  [19] = {"large binary", 3},
    [22] = {"run-end", 0},   [25] = {"list view", 3}, [26] = {"list view", 3}};

/* A schema below the root is one block. */
typedef struct schema_node {
  pc_arrow_ipc_field field; /* first: private_data points to it */
  pcal_env env;
  struct ArrowSchema schema;
} schema_node;

static void schema_free(struct ArrowSchema *schema) {
  schema_node *node = schema->private_data;
  const pcal_env env = node->env;
  union {
    const char *text;
    void *block;
  } name = {schema->name};
  for (int64_t i = 0; i < schema->n_children; i++)
    schema_free(schema->children[i]);
  if (schema->dictionary != NULL)
    schema_free(schema->dictionary);
  pc_free(&env, schema->children);
  pc_free(&env, name.block);
  pc_free(&env, node);
}

/* Releases the root, which is outside its node, and everything below it. */
static void schema_release(struct ArrowSchema *root) {
  schema_free(root);
  root->release = NULL;
}

/* Sets *out to a new schema without children. */
static const char *schema_new(const pcal_env *env, pc_slice name, struct ArrowSchema **out) {
  schema_node *node = pc_alloc(env, 1, sizeof *node);
  char *text = pc_alloc(env, name.length + 1, 1);
  if (node == NULL || text == NULL) {
    pc_free(env, node);
    pc_free(env, text);
    return PC_ARROW_IPC_MEMORY;
  }
  if (name.length > 0)
    memcpy(text, name.bytes, name.length);
  node->env = *env;
  node->schema.name = text;
  node->schema.format = node->field.format;
  node->schema.flags = ARROW_FLAG_NULLABLE;
  node->schema.private_data = node;
  *out = &node->schema;
  return NULL;
}

static void schema_set(pc_arrow_ipc_field *field, pc_arrow_ipc_layout layout, unsigned bits,
                       const char *format) {
  field->layout = layout;
  field->bits = bits;
  snprintf(field->format, sizeof field->format, "%s", format);
}

/* ---- Types ---- */

static int schema_int(const pc_flat_table *type, pc_arrow_ipc_field *out) {
  static const char letters[] = "cCsSiIlL";
  const int64_t bits = pc_flat_int(type, 0, 4, 0);
  const int is_signed = pc_flat_int(type, 1, 1, 0) != 0;
  const int step = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : bits == 64 ? 3 : 4;
  if (step == 4)
    return 0;
  const char format[2] = {letters[2 * step + !is_signed], '\0'};
  schema_set(out, PC_ARROW_IPC_FIXED, (unsigned)bits, format);
  return 1;
}

static int schema_float(const pc_flat_table *type, pc_arrow_ipc_field *out) {
  static const char *const formats[] = {"e", "f", "g"};
  const int64_t precision = pc_flat_int(type, 0, 2, 0);
  if (precision < 0 || precision > 2)
    return 0;
  schema_set(out, PC_ARROW_IPC_FIXED, 16u << precision, formats[precision]);
  return 1;
}

static int schema_fixed_list(const pc_flat_table *type, pc_arrow_ipc_field *out) {
  const int64_t width = pc_flat_int(type, 0, 4, 0);
  if (width < 0)
    return 0;
  schema_set(out, PC_ARROW_IPC_FIXED_LISTS, 0, "");
  out->width = (int32_t)width;
  snprintf(out->format, sizeof out->format, "+w:%" PRId32, out->width);
  return 1;
}

/* Fills layout and format; returns 0 if the type is damaged. */
static int schema_type(int64_t kind, const pc_flat_table *type, pc_arrow_ipc_field *out) {
  switch (kind) {
  case TYPE_INT:
    return schema_int(type, out);
  case TYPE_FLOAT:
    return schema_float(type, out);
  case TYPE_BOOL:
    schema_set(out, PC_ARROW_IPC_FIXED, 1, "b");
    return 1;
  case TYPE_UTF8:
    schema_set(out, PC_ARROW_IPC_TEXT, 32, "u");
    return 1;
  case TYPE_LARGE_UTF8:
    schema_set(out, PC_ARROW_IPC_TEXT, 64, "U");
    return 1;
  case TYPE_UTF8_VIEW:
    schema_set(out, PC_ARROW_IPC_VIEWS, 0, "vu");
    return 1;
  case TYPE_LIST:
    schema_set(out, PC_ARROW_IPC_LISTS, 32, "+l");
    return 1;
  case TYPE_LARGE_LIST:
    schema_set(out, PC_ARROW_IPC_LISTS, 64, "+L");
    return 1;
  case TYPE_FIXED_LIST:
    return schema_fixed_list(type, out);
  case TYPE_STRUCT:
    schema_set(out, PC_ARROW_IPC_STRUCT, 0, "+s");
    return 1;
  default:
    return 0;
  }
}

static const char *schema_other(int64_t kind, pc_arrow_ipc_field *out) {
  if (kind < 0 || kind >= TYPE_COUNT || schema_others[kind].name == NULL)
    return "a column has an unknown type";
  schema_set(out, PC_ARROW_IPC_OTHER, 0, schema_others[kind].name);
  out->buffers = schema_others[kind].buffers;
  return NULL;
}

/* ---- Fields ---- */

/* A field takes at least this many bytes of metadata, so that a schema of n bytes has at most
 * n / SCHEMA_FIELD_BYTES fields unless offsets point to the same field again. */
#define SCHEMA_FIELD_BYTES 8

typedef struct schema_walk {
  const pcal_env *env;
  size_t left; /* fields that may follow */
} schema_walk;

static const char *schema_field(const pc_flat_table *field, schema_walk *walk, int depth,
                                struct ArrowSchema **out);

static const char *schema_children(const pc_flat_vector *fields, schema_walk *walk, int depth,
                                   struct ArrowSchema *out) {
  if (fields->count == 0)
    return NULL;
  if (depth >= PC_ARROW_IPC_DEPTH)
    return "its columns are nested too deeply";
  if (fields->count > walk->left)
    return "its schema refers to the same columns again and again";
  walk->left -= fields->count;
  out->children = pc_alloc(walk->env, fields->count, sizeof *out->children);
  if (out->children == NULL)
    return PC_ARROW_IPC_MEMORY;
  for (; (size_t)out->n_children < fields->count; out->n_children++) {
    const pc_flat_table field = pc_flat_list_table(fields, (size_t)out->n_children);
    const char *wrong = schema_field(&field, walk, depth + 1, &out->children[out->n_children]);
    if (wrong != NULL)
      return wrong;
  }
  return NULL;
}

/* A column of indices: `out` describes them, and its dictionary the values. */
static const char *schema_dictionary(const pc_flat_table *encoding, const pcal_env *env,
                                     struct ArrowSchema *out) {
  pc_arrow_ipc_field *indices = out->private_data;
  const pc_flat_table index = pc_flat_child(encoding, DICTIONARY_INDEX);
  const char *wrong = schema_new(env, (pc_slice){"", 0}, &out->dictionary);
  if (wrong != NULL)
    return wrong;
  pc_arrow_ipc_field *values = out->dictionary->private_data;
  *values = *indices;
  out->dictionary->children = out->children;
  out->dictionary->n_children = out->n_children;
  out->children = NULL;
  out->n_children = 0;
  indices->dictionary_id = pc_flat_int(encoding, DICTIONARY_ID, 8, 0);
  if (index.at == 0)
    schema_set(indices, PC_ARROW_IPC_FIXED, 32, "i"); /* the default of the specification */
  else if (!schema_int(&index, indices))
    return "the indices of a dictionary have an unknown type";
  return NULL;
}

static const char *schema_fill(const pc_flat_table *field, schema_walk *walk, int depth,
                               struct ArrowSchema *out) {
  const int64_t kind = pc_flat_int(field, FIELD_TYPE_TYPE, 1, 0);
  const pc_flat_table type = pc_flat_child(field, FIELD_TYPE);
  const pc_flat_table encoding = pc_flat_child(field, FIELD_DICTIONARY);
  const pc_flat_vector children = pc_flat_list(field, FIELD_CHILDREN, 4);
  pc_arrow_ipc_field *about = out->private_data;
  const char *wrong = schema_type(kind, &type, about) ? NULL : schema_other(kind, about);
  if (wrong == NULL)
    wrong = schema_children(&children, walk, depth, out);
  const int one_child =
      about->layout == PC_ARROW_IPC_LISTS || about->layout == PC_ARROW_IPC_FIXED_LISTS;
  if (wrong == NULL && one_child && out->n_children != 1)
    wrong = "a column of lists does not say what they contain";
  if (wrong == NULL && encoding.at != 0)
    wrong = schema_dictionary(&encoding, walk->env, out);
  return wrong;
}

static const char *schema_field(const pc_flat_table *field, schema_walk *walk, int depth,
                                struct ArrowSchema **out) {
  const pc_slice name = pc_flat_text(field, FIELD_NAME);
  if (name.length > 0 && !pc_slice_is_utf8(name))
    return "the name of a column is not valid UTF-8";
  const char *wrong = schema_new(walk->env, name, out);
  if (wrong == NULL)
    wrong = schema_fill(field, walk, depth, *out);
  if (wrong != NULL && *out != NULL) {
    schema_free(*out);
    *out = NULL;
  }
  return wrong;
}

const char *pc_arrow_ipc_schema_read(const pc_flat_table *schema, const pcal_env *env,
                                     struct ArrowSchema *out) {
  const pc_flat_vector fields = pc_flat_list(schema, SCHEMA_FIELDS, 4);
  schema_walk walk = {env, schema->length / SCHEMA_FIELD_BYTES};
  struct ArrowSchema *root = NULL;
  const int is_big = pc_flat_int(schema, SCHEMA_ENDIANNESS, 2, 0) != 0;
  if (is_big == pc_little_endian())
    return is_big ? "its numbers are big-endian, which is not supported"
                  : "its numbers are little-endian, which is not supported on this machine";
  const char *wrong = schema_new(env, (pc_slice){"", 0}, &root);
  if (wrong != NULL)
    return wrong;
  schema_set(root->private_data, PC_ARROW_IPC_STRUCT, 0, "+s");
  wrong = schema_children(&fields, &walk, 0, root);
  if (wrong != NULL) {
    schema_free(root);
    return wrong;
  }
  *out = *root;
  out->release = schema_release;
  return NULL;
}
