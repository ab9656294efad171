/* Zip archives in memory for the tests of the io room, honest ones; tests then poke at them. */
#ifndef ZIP_HELP_H
#define ZIP_HELP_H

#include <zlib.h>

#include "io_help.h"

typedef struct help_member {
  const char *name;
  const void *data;
  size_t size;
  int deflated;
  int wide;     /* its numbers stand in zip64 fields */
  int streamed; /* its sizes follow the data */
} help_member;

#define HELP_ZIP_MEMBERS 12

typedef struct help_zip {
  unsigned char *bytes;
  size_t length, count;
  size_t locals[HELP_ZIP_MEMBERS], data[HELP_ZIP_MEMBERS], centrals[HELP_ZIP_MEMBERS];
  size_t packed[HELP_ZIP_MEMBERS];
  uint32_t crcs[HELP_ZIP_MEMBERS];
  size_t directory, record, locator, end; /* record and locator 0: none */
} help_zip;

static inline void help_poke(help_zip *zip, size_t at, uint64_t value, size_t size) {
  assert_true(at + size <= zip->length);
  for (size_t i = 0; i < size; i++)
    zip->bytes[at + i] = (unsigned char)(value >> (8 * i) & 0xFF);
}

static inline void help_put_bytes(help_zip *zip, const void *bytes, size_t size) {
  zip->bytes = realloc(zip->bytes, zip->length + size + 1);
  assert_non_null(zip->bytes);
  memcpy(zip->bytes + zip->length, bytes, size);
  zip->length += size;
}

static inline void help_put(help_zip *zip, uint64_t value, size_t size) {
  const unsigned char zeros[16] = {0};
  help_put_bytes(zip, zeros, size);
  for (size_t i = 0; i < size && i < 8; i++)
    help_poke(zip, zip->length - size + i, value >> (8 * i) & 0xFF, 1);
}

/* Raw deflate; returns the length. */
static inline size_t help_deflate(const void *data, size_t size, unsigned char *out,
                                  size_t room) {
  z_stream stream = {0};
  unsigned char *copy = malloc(size + 1);
  assert_non_null(copy);
  memcpy(copy, data, size);
  assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = copy;
  stream.avail_in = (unsigned)size;
  stream.next_out = out;
  stream.avail_out = (unsigned)room;
  assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
  deflateEnd(&stream);
  free(copy);
  return stream.total_out;
}

/* Version, flags, method, time, date, CRC and the two narrow sizes, as both headers have them.
 */
static inline void help_put_common(help_zip *zip, const help_member *member, size_t i,
                                   int local) {
  const int hidden = local && member->streamed;
  const uint64_t ones = UINT32_MAX;
  help_put(zip, 45, 2);
  help_put(zip, member->streamed ? 8 : 0, 2);
  help_put(zip, member->deflated ? 8 : 0, 2);
  help_put(zip, 0, 4);
  help_put(zip, hidden ? 0 : zip->crcs[i], 4);
  help_put(zip, hidden ? 0 : member->wide ? ones : zip->packed[i], 4);
  help_put(zip, hidden ? 0 : member->wide ? ones : member->size, 4);
}

static inline void help_put_local(help_zip *zip, const help_member *member, size_t i) {
  const size_t room = member->size + 1024;
  unsigned char *packed = malloc(room);
  assert_non_null(packed);
  zip->packed[i] = member->size;
  memcpy(packed, member->data, member->size);
  if (member->deflated)
    zip->packed[i] = help_deflate(member->data, member->size, packed, room);
  zip->crcs[i] = (uint32_t)crc32(0, member->data, (unsigned)member->size);
  zip->locals[i] = zip->length;
  help_put_bytes(zip, "PK\3\4", 4);
  help_put_common(zip, member, i, 1);
  help_put(zip, strlen(member->name), 2);
  help_put(zip, member->wide ? 20 : 0, 2);
  help_put_bytes(zip, member->name, strlen(member->name));
  if (member->wide) {
    help_put(zip, 1, 2);
    help_put(zip, 16, 2);
    help_put(zip, member->size, 8);
    help_put(zip, zip->packed[i], 8);
  }
  zip->data[i] = zip->length;
  help_put_bytes(zip, packed, zip->packed[i]);
  if (member->streamed) {
    help_put_bytes(zip, "PK\7\10", 4);
    help_put(zip, zip->crcs[i], 4);
    help_put(zip, zip->packed[i], 4);
    help_put(zip, member->size, 4);
  }
  free(packed);
}

static inline void help_put_central(help_zip *zip, const help_member *member, size_t i) {
  zip->centrals[i] = zip->length;
  help_put_bytes(zip, "PK\1\2", 4);
  help_put(zip, 45, 2);
  help_put_common(zip, member, i, 0);
  help_put(zip, strlen(member->name), 2);
  help_put(zip, member->wide ? 28 + 6 : 6, 2);
  help_put(zip, 3, 2);
  help_put(zip, 0, 2 + 2 + 4);
  help_put(zip, member->wide ? UINT32_MAX : zip->locals[i], 4);
  help_put_bytes(zip, member->name, strlen(member->name));
  help_put(zip, 0x7075, 2);
  help_put(zip, 2, 2);
  help_put(zip, 0, 2);
  if (member->wide) {
    help_put(zip, 1, 2);
    help_put(zip, 24, 2);
    help_put(zip, member->size, 8);
    help_put(zip, zip->packed[i], 8);
    help_put(zip, zip->locals[i], 8);
  }
  help_put_bytes(zip, "xyz", 3);
}

static inline void help_put_record(help_zip *zip) {
  const size_t size = zip->length - zip->directory;
  zip->record = zip->length;
  help_put_bytes(zip, "PK\6\6", 4);
  help_put(zip, 44, 8);
  help_put(zip, 45, 2);
  help_put(zip, 45, 2);
  help_put(zip, 0, 8);
  help_put(zip, zip->count, 8);
  help_put(zip, zip->count, 8);
  help_put(zip, size, 8);
  help_put(zip, zip->directory, 8);
  zip->locator = zip->length;
  help_put_bytes(zip, "PK\6\7", 4);
  help_put(zip, 0, 4);
  help_put(zip, zip->record, 8);
  help_put(zip, 1, 4);
}

/* The caller frees the bytes. */
static inline help_zip help_zip_make(const help_member *members, size_t count, int wide_end,
                                     const char *comment) {
  help_zip zip = {.count = count};
  assert_true(count <= HELP_ZIP_MEMBERS);
  for (size_t i = 0; i < count; i++)
    help_put_local(&zip, &members[i], i);
  zip.directory = zip.length;
  for (size_t i = 0; i < count; i++)
    help_put_central(&zip, &members[i], i);
  const size_t size = zip.length - zip.directory;
  if (wide_end)
    help_put_record(&zip);
  zip.end = zip.length;
  help_put_bytes(&zip, "PK\5\6", 4);
  help_put(&zip, 0, 4);
  help_put(&zip, wide_end ? UINT16_MAX : count, 2);
  help_put(&zip, wide_end ? UINT16_MAX : count, 2);
  help_put(&zip, wide_end ? UINT32_MAX : size, 4);
  help_put(&zip, wide_end ? UINT32_MAX : zip.directory, 4);
  help_put(&zip, strlen(comment), 2);
  help_put_bytes(&zip, comment, strlen(comment));
  return zip;
}

#endif
