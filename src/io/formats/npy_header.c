/* A .npy file: "\x93NUMPY", two bytes of version, the length of the header (2 bytes in
 * version 1, 4 in versions 2 and 3, little-endian), the header as a Python dict literal with
 * exactly the keys 'descr', 'fortran_order' and 'shape', then the elements.
 *
 * Edge cases:
 *  1. object arrays are pickles and are refused; nothing is ever unpickled.
 *  2. shape () is one row of one column; (n,) is n rows of one column.
 *  3. the product of the shape is checked for overflow, and the file must have exactly the
 *     length given by header and shape.
 *  4. arrays without rows or columns are refused.
 *  5. shapes written by Python 2, (3L, 4L), are accepted. */
#include "io/formats/npy_header.h"

#include <inttypes.h>
#include <string.h>

#include "io/slice.h"

#define NPY_HEADER_MAGIC "\x93NUMPY"
#define NPY_HEADER_MAGIC_SIZE 6

/* The dict literal being parsed. */
typedef struct npy_header_text {
  const char *at, *end;
  const char *name; /* of the file */
  pc_slice descr;
  int has_descr, has_order, has_shape;
  int fortran_order;
  size_t dimensions;
  uint64_t shape[3];
  int too_large; /* a number in the shape */
} npy_header_text;

static pcal_status npy_header_malformed(const char *name, const char *what, pcal_error *err) {
  return pc_fail(err, PCAL_DATA,
                 "%s: the npy header is malformed (%s); write the file again "
                 "with numpy.save",
                 name, what);
}

static void npy_header_space(npy_header_text *text) {
  while (text->at < text->end &&
         (*text->at == ' ' || *text->at == '\t' || *text->at == '\n' || *text->at == '\r'))
    text->at++;
}

/* Consumes the character if it is next; returns 1 if so. */
static int npy_header_take(npy_header_text *text, char wanted) {
  npy_header_space(text);
  if (text->at == text->end || *text->at != wanted)
    return 0;
  text->at++;
  return 1;
}

static int npy_header_word(npy_header_text *text, const char *word) {
  const size_t length = strlen(word);
  npy_header_space(text);
  if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
    return 0;
  text->at += length;
  return 1;
}

static int npy_header_string(npy_header_text *text, pc_slice *out) {
  const char quote = npy_header_take(text, '\'') ? '\'' : '"';
  if (quote == '"' && !npy_header_take(text, '"'))
    return 0;
  out->bytes = text->at;
  while (text->at < text->end && *text->at != quote && *text->at != '\\')
    text->at++;
  if (text->at == text->end || *text->at != quote)
    return 0;
  out->length = (size_t)(text->at++ - out->bytes);
  return 1;
}

static int npy_header_number(npy_header_text *text, uint64_t *out) {
  const char *first;
  npy_header_space(text);
  first = text->at;
  *out = 0;
  while (text->at < text->end && *text->at >= '0' && *text->at <= '9') {
    const uint64_t digit = (uint64_t)(*text->at - '0');
    text->too_large |= *out > (UINT64_MAX - digit) / 10;
    if (text->too_large)
      return 0;
    *out = *out * 10 + digit;
    text->at++;
  }
  if (text->at == first)
    return 0;
  if (text->at < text->end && *text->at == 'L')
    text->at++;
  return 1;
}

static int npy_header_shape(npy_header_text *text) {
  text->dimensions = 0;
  if (!npy_header_take(text, '('))
    return 0;
  while (!npy_header_take(text, ')')) {
    uint64_t size = 0;
    if (!npy_header_number(text, &size))
      return 0;
    if (text->dimensions < 3)
      text->shape[text->dimensions] = size;
    text->dimensions++;
    const int comma = npy_header_take(text, ',');
    npy_header_space(text);
    const int closed = text->at < text->end && *text->at == ')';
    if (!comma && (!closed || text->dimensions == 1))
      return 0;
  }
  return 1;
}

static pcal_status npy_header_structured(const npy_header_text *text, pcal_error *err) {
  return pc_fail(err, PCAL_DATA,
                 "%s contains a structured array; save each field as a separate array",
                 text->name);
}

static pcal_status npy_header_value(npy_header_text *text, pc_slice key, pcal_error *err) {
  if (pc_slice_is(key, "descr") && !text->has_descr) {
    text->has_descr = 1;
    npy_header_space(text);
    if (text->at < text->end && (*text->at == '[' || *text->at == '('))
      return npy_header_structured(text, err);
    if (!npy_header_string(text, &text->descr))
      return npy_header_malformed(text->name, "the type is not a string", err);
    return PCAL_OK;
  }
  if (pc_slice_is(key, "fortran_order") && !text->has_order) {
    text->has_order = 1;
    text->fortran_order = npy_header_word(text, "True");
    if (!text->fortran_order && !npy_header_word(text, "False"))
      return npy_header_malformed(text->name, "fortran_order is neither True nor False", err);
    return PCAL_OK;
  }
  if (pc_slice_is(key, "shape") && !text->has_shape) {
    text->has_shape = 1;
    if (!npy_header_shape(text))
      return npy_header_malformed(text->name,
                                  text->too_large ? "a number of the shape is too large"
                                                  : "the shape is not a tuple of numbers",
                                  err);
    return PCAL_OK;
  }
  return npy_header_malformed(text->name, "a key is unknown or occurs twice", err);
}

static pcal_status npy_header_dict(npy_header_text *text, pcal_error *err) {
  if (!npy_header_take(text, '{'))
    return npy_header_malformed(text->name, "it does not begin with {", err);
  while (!npy_header_take(text, '}')) {
    pc_slice key;
    if (!npy_header_string(text, &key) || !npy_header_take(text, ':'))
      return npy_header_malformed(text->name, "a key is missing", err);
    PC_TRY(npy_header_value(text, key, err));
    npy_header_space(text);
    const int closed = text->at < text->end && *text->at == '}';
    if (!npy_header_take(text, ',') && !closed)
      return npy_header_malformed(text->name, "it does not end with }", err);
  }
  npy_header_space(text);
  if (text->at != text->end)
    return npy_header_malformed(text->name, "something follows the }", err);
  if (!text->has_descr || !text->has_order || !text->has_shape)
    return npy_header_malformed(text->name, "descr, fortran_order or shape is missing", err);
  return PCAL_OK;
}

static int npy_header_kind(char letter, size_t size, pc_element_kind *kind) {
  const int is_integer = size == 1 || size == 2 || size == 4 || size == 8;
  *kind = letter == 'f'   ? PC_ELEMENT_FLOAT
          : letter == 'i' ? PC_ELEMENT_SIGNED
          : letter == 'u' ? PC_ELEMENT_UNSIGNED
                          : PC_ELEMENT_BOOL;
  switch (letter) {
  case 'f':
    return is_integer && size != 1;
  case 'i':
  case 'u':
    return is_integer;
  case 'b':
    return size == 1;
  default:
    return 0;
  }
}

static pcal_status npy_header_refuse_type(const char *name, pc_slice descr, pcal_error *err) {
  char shown[PC_CLIP_MAX];
  const char letter = descr.length >= 2 ? descr.bytes[1] : '\0';
  pc_clip(descr, shown);
  if (letter == 'O' || pc_slice_is(descr, "O"))
    return pc_fail(err, PCAL_DATA,
                   "%s contains Python objects, which are never unpickled; convert the "
                   "array to numbers (array.astype) and save it again",
                   name);
  if (letter == 'U' || letter == 'S')
    return pc_fail(err, PCAL_DATA,
                   "%s contains text (type %s); give names in a CSV file, or save numbers",
                   name, shown);
  return pc_fail(err, PCAL_DATA,
                 "%s has elements of type %s; convert them to float16, float32, float64, "
                 "an integer type or bool and save the array again",
                 name, shown);
}

static pcal_status npy_header_type(const char *name, pc_slice descr, pc_element_type *out,
                                   pcal_error *err) {
  const char order = descr.length == 3 ? descr.bytes[0] : '\0';
  const char digit = descr.length == 3 ? descr.bytes[2] : '\0';
  const int little = pc_little_endian();
  const int ordered = order == '<' || order == '>' || order == '=';
  out->size = digit >= '1' && digit <= '8' ? (size_t)(digit - '0') : 0;
  if (!(ordered || (order == '|' && out->size == 1)) ||
      !npy_header_kind(descr.bytes[1], out->size, &out->kind))
    return npy_header_refuse_type(name, descr, err);
  out->swapped = out->size > 1 && (order == '<' || order == '>') && (order == '<') != little;
  return PCAL_OK;
}

static pcal_status npy_header_fit(const npy_header_text *text, const pc_input_file *bytes,
                                  pc_npy_header *out, pcal_error *err) {
  const uint64_t rows = text->dimensions > 0 ? text->shape[0] : 1;
  const uint64_t wide = text->dimensions > 1 ? text->shape[1] : 1;
  const uint64_t deep = text->dimensions > 2 ? text->shape[2] : 1;
  const uint64_t columns = deep > 0 && wide > UINT64_MAX / deep ? UINT64_MAX : wide * deep;
  const uint64_t held = bytes->length - out->data_offset;
  if (rows == 0 || columns == 0)
    return pc_fail(err, PCAL_DATA, "%s has no %ss; give a file with at least one %s",
                   bytes->name, rows == 0 ? "row" : "column", rows == 0 ? "row" : "column");
  if (rows > UINT64_MAX / columns || rows * columns > UINT64_MAX / out->type.size)
    return pc_fail(err, PCAL_DATA,
                   "%s: the npy header asks for %" PRIu64 " x %" PRIu64
                   " elements, more than any file can hold; write the file again",
                   bytes->name, rows, columns);
  const uint64_t needed = rows * columns * out->type.size;
  if (needed > held)
    return pc_fail(err, PCAL_DATA,
                   "%s is truncated: the npy header says %" PRIu64 " x %" PRIu64
                   " elements, which take %" PRIu64 " bytes, but %" PRIu64
                   " follow it; copy or write the file again",
                   bytes->name, rows, columns, needed, held);
  if (needed < held)
    return pc_fail(err, PCAL_DATA,
                   "%s is longer than its npy header says: %" PRIu64 " x %" PRIu64
                   " elements take %" PRIu64 " bytes, but %" PRIu64
                   " follow it; write the file again with one array",
                   bytes->name, rows, columns, needed, held);
  out->rows = (size_t)rows;
  out->columns = (size_t)columns;
  out->depth = text->dimensions > 2 ? (size_t)deep : 0;
  return PCAL_OK;
}

/* Locates the dict literal. */
static pcal_status npy_header_locate(const pc_input_file *bytes, npy_header_text *text,
                                     pc_npy_header *out, pcal_error *err) {
  const unsigned char *data = bytes->data;
  const size_t magic =
      bytes->length < NPY_HEADER_MAGIC_SIZE ? bytes->length : NPY_HEADER_MAGIC_SIZE;
  if (magic < 1 || memcmp(data, NPY_HEADER_MAGIC, magic) != 0)
    return pc_fail(err, PCAL_DATA,
                   "%s is not a npy file: it does not begin with \\x93NUMPY; write it with "
                   "numpy.save%s",
                   bytes->name,
                   bytes->length >= 2 && memcmp(data, "PK", 2) == 0
                       ? " (it looks like a zip archive, as numpy.savez writes)"
                       : "");
  const unsigned version = bytes->length > 6 ? data[6] : 1;
  if (version < 1 || version > 3)
    return pc_fail(err, PCAL_DATA,
                   "%s: npy version %u is unknown; versions 1 to 3 can be read, so write the "
                   "file again",
                   bytes->name, version);
  const size_t start = version == 1 ? 10 : 12;
  size_t length = 0;
  for (size_t i = start; i > 8 && bytes->length >= start; i--)
    length = length << 8 | data[i - 1];
  if (bytes->length < start || bytes->length - start < length)
    return pc_fail(err, PCAL_DATA,
                   "%s is truncated: it ends inside the npy header; copy or write the file "
                   "again",
                   bytes->name);
  if (bytes->kind == PC_INPUT_FILE_WINDOWS && start + length > PC_INPUT_FILE_HEAD)
    return pc_fail(err, PCAL_DATA,
                   "%s: the npy header is longer than a megabyte; write the file again",
                   bytes->name);
  text->at = (const char *)data + start;
  text->end = text->at + length;
  text->name = bytes->name;
  out->data_offset = start + length;
  return PCAL_OK;
}

pcal_status pc_npy_header_read(const pc_input_file *bytes, int deep, pc_npy_header *out,
                               pcal_error *err) {
  npy_header_text text = {0};
  *out = (pc_npy_header){0};
  PC_TRY(npy_header_locate(bytes, &text, out, err));
  PC_TRY(npy_header_dict(&text, err));
  PC_TRY(npy_header_type(bytes->name, text.descr, &out->type, err));
  if (text.dimensions > 3 || (text.dimensions == 3 && !deep))
    return pc_fail(err, PCAL_DATA,
                   "%s has %zu dimensions; give at most two, rows and classes (array.reshape)",
                   bytes->name, text.dimensions);
  if (text.dimensions == 3 && text.fortran_order)
    return pc_fail(
        err, PCAL_DATA,
        "%s has three dimensions in Fortran order; save numpy.ascontiguousarray of it",
        bytes->name);
  out->fortran_order = text.fortran_order;
  out->dimensions = text.dimensions;
  return npy_header_fit(&text, bytes, out, err);
}
