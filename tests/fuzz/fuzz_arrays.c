/* Small data sets as .npy and .npz files. */
#include <math.h>

#include <zlib.h>

#include "fuzz_files.h"

enum { ARRAYS_MEMBER_MAX = 8192 };

typedef struct array_type {
  const char *name; /* as NumPy writes it */
  char letter;      /* f, i, u or b */
  size_t bytes;
} array_type;

static const array_type array_score_types[] = {
    {"<f4", 'f', 4}, {"<f8", 'f', 8}, {">f4", 'f', 4}, {">f8", 'f', 8}, {"<f2", 'f', 2}};
static const array_type array_label_types[] = {
    {"<i4", 'i', 4}, {"<i8", 'i', 8}, {"|u1", 'u', 1}, {">i2", 'i', 2}, {"|i1", 'i', 1}};

static uint64_t arrays_half(double value) {
  if (value <= 0.0 || !isfinite(value))
    return 0;
  int exponent;
  const double fraction = frexp(value, &exponent); /* 0.5 <= fraction < 1 */
  if (exponent < -13)
    return 0;
  return (uint64_t)(exponent + 14) << 10 | (uint64_t)((2.0 * fraction - 1.0) * 1024.0);
}

static uint64_t arrays_bits(const array_type *type, double value) {
  uint64_t bits = 0;
  if (type->letter != 'f')
    return (uint64_t)(int64_t)value;
  if (type->bytes == 8) {
    memcpy(&bits, &value, 8);
  } else if (type->bytes == 4) {
    const float single = (float)value;
    uint32_t half;
    memcpy(&half, &single, 4);
    bits = half;
  } else {
    bits = arrays_half(value);
  }
  return bits;
}

static void arrays_put(const array_type *type, double value, fuzz_out *out) {
  const uint64_t bits = arrays_bits(type, value);
  for (size_t b = 0; b < type->bytes; b++) {
    const size_t place = type->name[0] == '>' ? type->bytes - 1 - b : b;
    const uint8_t byte = (uint8_t)(bits >> (8 * place));
    fuzz_put(out, &byte, 1);
  }
}

/* Version 1 to 3, padded to 64 bytes. */
static void arrays_header(const array_type *type, size_t rows, size_t columns, int fortran,
                          unsigned version, fuzz_out *out) {
  char text[256];
  const char *order = fortran ? "True" : "False";
  int length = columns == 0
                   ? snprintf(text, sizeof text,
                              "{'descr': '%s', 'fortran_order': %s, 'shape': (%zu,), }",
                              type->name, order, rows)
                   : snprintf(text, sizeof text,
                              "{'descr': '%s', 'fortran_order': %s, 'shape': (%zu, %zu), }",
                              type->name, order, rows, columns);
  const size_t head = version == 1 ? 10 : 12;
  while ((head + (size_t)length + 1) % 64 != 0)
    text[length++] = ' ';
  text[length++] = '\n';
  fuzz_put(out, "\x93NUMPY", 6);
  fuzz_put_number(out, version, 1);
  fuzz_put_number(out, 0, 1);
  fuzz_put_number(out, (uint64_t)length, version == 1 ? 2 : 4);
  fuzz_put(out, text, (size_t)length);
}

static void arrays_scores(const fuzz_table *table, const array_type *type, int fortran,
                          fuzz_out *out) {
  const size_t outer = fortran ? table->columns : table->rows;
  const size_t inner = fortran ? table->rows : table->columns;
  for (size_t i = 0; i < outer; i++)
    for (size_t j = 0; j < inner; j++)
      arrays_put(type, fuzz_table_score(table, fortran ? j : i, fortran ? i : j), out);
}

void fuzz_write_npy(const fuzz_table *table, fuzz_part part, fuzz_choice *choice,
                    fuzz_out *out) {
  const unsigned version = fuzz_chance(choice, 4) ? 2 + (unsigned)fuzz_below(choice, 2) : 1;
  if (part == FUZZ_SCORES) {
    /* Halves of probabilities do not sum to 1, and have no negative numbers here. */
    const size_t types = table->kind == FUZZ_CONFIDENCE ? 5 : 4;
    const array_type *type = &array_score_types[fuzz_below(choice, types)];
    const int fortran = fuzz_chance(choice, 4);
    const size_t columns = table->kind == FUZZ_CONFIDENCE ? 0 : table->columns;
    arrays_header(type, table->rows, columns, fortran && columns > 0, version, out);
    arrays_scores(table, type, fortran && columns > 0, out);
    return;
  }
  const array_type *type =
      part == FUZZ_LABELS ? &FUZZ_PICK(choice, array_label_types) : &array_score_types[1];
  arrays_header(type, table->rows, 0, 0, version, out);
  for (size_t row = 0; row < table->rows; row++)
    arrays_put(type,
               part == FUZZ_LABELS ? (double)fuzz_table_label(table, row)
                                   : fuzz_table_weight(table, row),
               out);
}

/* The header keeps its length; a number of it, or the data behind it, change. */
void fuzz_change_npy(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  static const uint64_t odd[] = {0,
                                 UINT64_C(0x3FF0000000000000),
                                 UINT64_C(0x3F800000),
                                 UINT64_C(0x7FF8000000000000),
                                 1,
                                 UINT64_MAX};
  fuzz_put(out, data, size);
  if (size < 64)
    return;
  const size_t head = 10 + data[8] + 256 * (size_t)data[9];
  if (head < size && fuzz_chance(choice, 2)) {
    const uint64_t bits = FUZZ_PICK(choice, odd);
    const size_t at = head + fuzz_below(choice, size - head);
    memcpy(out->bytes + at, &bits, size - at < 8 ? size - at : 8);
    return;
  }
  if (fuzz_chance(choice, 2)) { /* fewer or more rows than the header says */
    out->length -= fuzz_below(choice, size / 2);
    fuzz_put_number(out, fuzz_any(choice), fuzz_below(choice, 9));
    return;
  }
  for (size_t tries = 0; head > 10 && tries < 40; tries++) {
    uint8_t *at = out->bytes + 10 + fuzz_below(choice, (head < size ? head : size) - 10);
    if (*at >= '0' && *at <= '9') {
      *at = (uint8_t)('0' + fuzz_below(choice, 10));
      return;
    }
  }
}

/* ---- .npz ---- */

typedef struct array_member {
  char name[32];
  uint8_t bytes[ARRAYS_MEMBER_MAX]; /* as they lie in the file */
  size_t length, unpacked;
  uint32_t crc;
  int method; /* 0 stored, 8 deflated */
  size_t at;  /* of its local header */
} array_member;

static void npz_pack(array_member *member, const uint8_t *raw, size_t length, int deflated) {
  z_stream stream = {0};
  member->unpacked = length;
  member->crc = (uint32_t)crc32(0, raw, (uInt)length);
  member->method = 0;
  if (deflated && deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
    stream.next_in = (Bytef *)(uintptr_t)raw;
    stream.avail_in = (uInt)length;
    stream.next_out = member->bytes;
    stream.avail_out = sizeof member->bytes;
    if (deflate(&stream, Z_FINISH) == Z_STREAM_END) {
      member->method = 8;
      member->length = stream.total_out;
    }
    deflateEnd(&stream);
  }
  if (member->method == 0) {
    memcpy(member->bytes, raw, length);
    member->length = length;
  }
}

static void npz_sizes(const array_member *member, fuzz_out *out) {
  fuzz_put_number(out, (uint64_t)member->method, 2);
  fuzz_put_number(out, 0, 4); /* time and date */
  fuzz_put_number(out, member->crc, 4);
  fuzz_put_number(out, member->length, 4);
  fuzz_put_number(out, member->unpacked, 4);
  fuzz_put_number(out, strlen(member->name), 2);
}

static void npz_local(array_member *member, fuzz_out *out) {
  member->at = out->length;
  fuzz_put(out, "PK\3\4", 4);
  fuzz_put_number(out, 20, 2);
  fuzz_put_number(out, 0, 2);
  npz_sizes(member, out);
  fuzz_put_number(out, 0, 2);
  fuzz_put(out, member->name, strlen(member->name));
  fuzz_put(out, member->bytes, member->length);
}

static void npz_central(const array_member *member, fuzz_out *out) {
  fuzz_put(out, "PK\1\2", 4);
  fuzz_put_number(out, 20, 2);
  fuzz_put_number(out, 20, 2);
  fuzz_put_number(out, 0, 2);
  npz_sizes(member, out);
  fuzz_put_number(out, 0, 12);
  fuzz_put_number(out, member->at, 4);
  fuzz_put(out, member->name, strlen(member->name));
}

static void npz_member(const fuzz_table *table, fuzz_part part, fuzz_choice *choice,
                       array_member *member, fuzz_out *out) {
  static const char *const names[] = {"", "labels", "weights"};
  uint8_t raw[ARRAYS_MEMBER_MAX];
  fuzz_out npy = {raw, 0, sizeof raw - 64};
  const char *name = part == FUZZ_SCORES   ? fuzz_kind_name(table->kind)
                     : part == FUZZ_LABELS ? fuzz_outcome_name(table->kind)
                                           : names[part];
  snprintf(member->name, sizeof member->name, "%s.npy", name);
  fuzz_write_npy(table, part, choice, &npy);
  npz_pack(member, raw, npy.length, fuzz_chance(choice, 2));
  npz_local(member, out);
}

void fuzz_write_npz(const fuzz_table *table, fuzz_choice *choice, fuzz_out *out) {
  const size_t count = table->weighted ? 3 : 2;
  array_member *members = calloc(count, sizeof *members);
  if (members == NULL)
    return;
  for (size_t m = 0; m < count; m++)
    npz_member(table, (fuzz_part)m, choice, &members[m], out);
  const size_t directory = out->length;
  for (size_t m = 0; m < count; m++)
    npz_central(&members[m], out);
  const size_t length = out->length - directory;
  fuzz_put(out, "PK\5\6", 4);
  fuzz_put_number(out, 0, 4);
  fuzz_put_number(out, count, 2);
  fuzz_put_number(out, count, 2);
  fuzz_put_number(out, length, 4);
  fuzz_put_number(out, directory, 4);
  fuzz_put_number(out, 0, 2);
  free(members);
}

/* A field of the directory, or a byte of a stored array, changes. */
void fuzz_change_npz(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  size_t marks[32], count = 0;
  fuzz_put(out, data, size);
  for (size_t i = 0; i + 46 < size && count < 32; i++)
    if (memcmp(data + i, "PK", 2) == 0 && data[i + 2] < 8)
      marks[count++] = i;
  if (count == 0 || fuzz_chance(choice, 3)) {
    out->bytes[fuzz_below(choice, size)] ^= (uint8_t)(1u << fuzz_below(choice, 8));
    return;
  }
  uint8_t *field = out->bytes + marks[fuzz_below(choice, count)] + 4 + fuzz_below(choice, 40);
  static const uint8_t odd[] = {0, 1, 8, 0x7F, 0x80, 0xFF};
  field[0] = FUZZ_PICK(choice, odd);
}
