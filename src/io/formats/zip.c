/* The directory of a zip archive, after PKWARE's APPNOTE 6.3.  All numbers are
 * little-endian.
 *
 *   entries, each a local header (30 bytes, name, extra) and its packed bytes
 *   directory: for each entry 46 bytes, name, extra, comment
 *   only in zip64: a record with wide numbers (56 bytes or more), and its locator (20 bytes)
 *   end: 22 bytes and a comment that reaches to the end of the file
 *
 * Edge cases:
 *  1. a number that does not fit in 32 (or 16) bits is stored as all ones; its 64-bit value
 *     must then be in the zip64 record or in the extra field with id 1.
 *  2. the directory must end where the next record begins and have the number of entries
 *     given there; archives with data before the first entry are refused.
 *  3. entries that overlap each other or the directory are refused.
 *  4. a local header must have the name, method and, unless flag 3 is set, the CRC and sizes
 *     of the directory.
 *  5. archives in several parts are refused. */
#include "io/formats/zip.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/sort.h"

#define ZIP_END 22
#define ZIP_LOCATOR 20
#define ZIP_RECORD 56
#define ZIP_CENTRAL 46
#define ZIP_LOCAL 30
#define ZIP_COMMENT_MAX 65535
#define ZIP_FLAG_SIZES_FOLLOW 8u
#define ZIP_WIDE_FIELD 1u
#define ZIP_ONES_16 UINT16_MAX
#define ZIP_ONES_32 UINT32_MAX

typedef struct zip_directory {
  uint64_t start, size, count;
  uint64_t disk, start_disk, count_here;
} zip_directory;

/* Sizes and offset of an entry, before and after zip64 values are filled in. */
typedef struct zip_numbers {
  uint64_t unpacked, packed, header, disk;
} zip_numbers;

static uint64_t zip_number(const unsigned char *at, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i > 0; i--)
    value = value << 8 | at[i - 1];
  return value;
}

static unsigned zip_u16(const unsigned char *at) {
  return (unsigned)zip_number(at, 2);
}

static uint32_t zip_u32(const unsigned char *at) {
  return (uint32_t)zip_number(at, 4);
}

static pcal_status zip_damaged(const pc_input_file *bytes, const char *what, pcal_error *err) {
  return pc_fail(
      err, PCAL_DATA,
      "%s is not a valid zip archive: %s; copy it or write it again with numpy.savez",
      bytes->name, what);
}

static pcal_status zip_damaged_entry(const pc_input_file *bytes, pc_slice entry,
                                     const char *what, pcal_error *err) {
  char shown[PC_CLIP_MAX];
  return pc_fail(err, PCAL_DATA,
                 "%s is not a valid zip archive: the entry \"%s\" %s; copy it or write it "
                 "again with numpy.savez",
                 bytes->name, pc_clip(entry, shown), what);
}

/* ---- The end ---- */

static pcal_status zip_find_end(const pc_input_file *bytes, uint64_t *out, pcal_error *err) {
  const size_t length = bytes->length;
  const int begins = length >= 2 && memcmp(bytes->data, "PK", 2) == 0;
  if (!begins)
    return pc_fail(err, PCAL_DATA,
                   "%s is not a zip archive: it does not begin with PK; write it with "
                   "numpy.savez%s",
                   bytes->name,
                   length >= 6 && memcmp(bytes->data, "\x93NUMPY", 6) == 0
                       ? " (it looks like a .npy file)"
                       : "");
  for (size_t comment = 0; comment <= ZIP_COMMENT_MAX && comment + ZIP_END <= length;
       comment++) {
    const unsigned char *at = bytes->data + (length - ZIP_END - comment);
    if (memcmp(at, "PK\5\6", 4) == 0 && zip_u16(at + 20) == comment) {
      *out = length - ZIP_END - comment;
      return PCAL_OK;
    }
  }
  return zip_damaged(bytes, "its directory is missing, so it may be truncated", err);
}

/* Reads the zip64 record and sets *end to its offset. */
static pcal_status zip_read_record(const pc_input_file *bytes, uint64_t *end,
                                   zip_directory *out, pcal_error *err) {
  if (*end < ZIP_LOCATOR + ZIP_RECORD)
    return zip_damaged(bytes, "its zip64 record is missing", err);
  const uint64_t locator = *end - ZIP_LOCATOR;
  const unsigned char *at = bytes->data + locator;
  const uint64_t record = zip_number(at + 8, 8);
  if (memcmp(at, "PK\6\7", 4) != 0 || record > locator - ZIP_RECORD)
    return zip_damaged(bytes, "its zip64 record is missing", err);
  if (zip_u32(at + 4) != 0 || zip_u32(at + 16) > 1)
    return zip_damaged(bytes, "it is one of several parts", err);
  at = bytes->data + record;
  if (memcmp(at, "PK\6\6", 4) != 0 || zip_number(at + 4, 8) != locator - record - 12)
    return zip_damaged(bytes, "its zip64 record is malformed", err);
  out->disk = zip_u32(at + 16);
  out->start_disk = zip_u32(at + 20);
  out->count_here = zip_number(at + 24, 8);
  out->count = zip_number(at + 32, 8);
  out->size = zip_number(at + 40, 8);
  out->start = zip_number(at + 48, 8);
  *end = record;
  return PCAL_OK;
}

static pcal_status zip_locate(const pc_input_file *bytes, zip_directory *out, pcal_error *err) {
  uint64_t end = 0;
  PC_TRY(zip_find_end(bytes, &end, err));
  const unsigned char *at = bytes->data + end;
  out->disk = zip_u16(at + 4);
  out->start_disk = zip_u16(at + 6);
  out->count_here = zip_u16(at + 8);
  out->count = zip_u16(at + 10);
  out->size = zip_u32(at + 12);
  out->start = zip_u32(at + 16);
  if (out->disk == ZIP_ONES_16 || out->start_disk == ZIP_ONES_16 ||
      out->count_here == ZIP_ONES_16 || out->count == ZIP_ONES_16 || out->size == ZIP_ONES_32 ||
      out->start == ZIP_ONES_32)
    PC_TRY(zip_read_record(bytes, &end, out, err));
  if (out->disk != 0 || out->start_disk != 0 || out->count_here != out->count)
    return zip_damaged(bytes, "it is one of several parts", err);
  if (out->start > end || out->size != end - out->start)
    return zip_damaged(bytes, "its directory is not where its end record says", err);
  if (out->count > out->size / ZIP_CENTRAL)
    return zip_damaged(bytes, "its directory is too short for its entries", err);
  return PCAL_OK;
}

/* ---- Entries ---- */

/* Reads the 64-bit values of a zip64 field, in order, for numbers that are all ones. */
static int zip_take_wide(const unsigned char *at, size_t size, zip_numbers *numbers) {
  uint64_t *wide[] = {&numbers->unpacked, &numbers->packed, &numbers->header};
  for (size_t i = 0; i < 3; i++) {
    if (*wide[i] != ZIP_ONES_32)
      continue;
    if (size < 8)
      return 0;
    *wide[i] = zip_number(at, 8);
    at += 8;
    size -= 8;
  }
  if (numbers->disk == ZIP_ONES_16 && size >= 4)
    numbers->disk = zip_u32(at);
  return 1;
}

/* Searches the extra fields for zip64 values; returns 0 if they are malformed or one is
 * missing. */
static int zip_widen(const unsigned char *extra, size_t length, zip_numbers *numbers) {
  int wanted = numbers->unpacked == ZIP_ONES_32 || numbers->packed == ZIP_ONES_32 ||
               numbers->header == ZIP_ONES_32;
  while (length >= 4) {
    const size_t size = zip_u16(extra + 2);
    if (size > length - 4)
      return 0;
    if (zip_u16(extra) == ZIP_WIDE_FIELD && wanted) {
      if (!zip_take_wide(extra + 4, size, numbers))
        return 0;
      wanted = 0;
    }
    extra += 4 + size;
    length -= 4 + size;
  }
  return !wanted;
}

/* Reads the directory entry at *at and advances past it. */
static pcal_status zip_read_entry(const pc_input_file *bytes, uint64_t *at, uint64_t end,
                                  pc_zip_entry *out, pcal_error *err) {
  const unsigned char *field = bytes->data + *at;
  const uint64_t left = end - *at;
  if (left < ZIP_CENTRAL || memcmp(field, "PK\1\2", 4) != 0)
    return zip_damaged(bytes, "its directory is malformed", err);
  const size_t name = zip_u16(field + 28), extra = zip_u16(field + 30);
  const uint64_t length = ZIP_CENTRAL + name + extra + zip_u16(field + 32);
  if (length > left)
    return zip_damaged(bytes, "its directory is malformed", err);
  zip_numbers numbers = {zip_u32(field + 24), zip_u32(field + 20), zip_u32(field + 42),
                         zip_u16(field + 34)};
  out->name = (pc_slice){(const char *)field + ZIP_CENTRAL, name};
  if (!zip_widen(field + ZIP_CENTRAL + name, extra, &numbers))
    return zip_damaged_entry(bytes, out->name, "has a malformed extra field", err);
  if (numbers.disk != 0)
    return zip_damaged_entry(bytes, out->name, "lies in another part", err);
  out->flags = zip_u16(field + 8);
  out->method = zip_u16(field + 10);
  out->crc = zip_u32(field + 16);
  out->unpacked = numbers.unpacked;
  out->packed = numbers.packed;
  out->header = numbers.header;
  *at += length;
  return PCAL_OK;
}

/* True if the local header agrees with the directory. */
static int zip_agrees(const unsigned char *local, const pc_zip_entry *entry) {
  const size_t name = zip_u16(local + 26), extra = zip_u16(local + 28);
  zip_numbers numbers = {zip_u32(local + 22), zip_u32(local + 18), 0, 0};
  if (name != entry->name.length || memcmp(local + ZIP_LOCAL, entry->name.bytes, name) != 0 ||
      zip_u16(local + 8) != entry->method)
    return 0;
  if ((zip_u16(local + 6) & ZIP_FLAG_SIZES_FOLLOW) != 0)
    return 1;
  return zip_widen(local + ZIP_LOCAL + name, extra, &numbers) &&
         zip_u32(local + 14) == entry->crc && numbers.unpacked == entry->unpacked &&
         numbers.packed == entry->packed;
}

/* Locates the data of an entry, which must be before the directory. */
static pcal_status zip_place(const pc_input_file *bytes, uint64_t directory,
                             pc_zip_entry *entry, pcal_error *err) {
  if (entry->header > directory || directory - entry->header < ZIP_LOCAL)
    return zip_damaged_entry(bytes, entry->name, "begins outside the file", err);
  const unsigned char *local = bytes->data + entry->header;
  if (memcmp(local, "PK\3\4", 4) != 0)
    return zip_damaged_entry(bytes, entry->name, "has no local header", err);
  const uint64_t names = (uint64_t)zip_u16(local + 26) + zip_u16(local + 28);
  entry->data = entry->header + ZIP_LOCAL + names;
  if (entry->data > directory || entry->packed > directory - entry->data)
    return zip_damaged_entry(bytes, entry->name, "reaches outside the file", err);
  if (!zip_agrees(local, entry))
    return zip_damaged_entry(bytes, entry->name, "is described differently by its local header",
                             err);
  return PCAL_OK;
}

/* Fails if entries overlap.  Offsets are below 2^53, so they sort exactly as doubles. */
static pcal_status zip_check_apart(const pc_input_file *bytes, const pc_zip *zip,
                                   const pcal_env *env, pcal_error *err) {
  const size_t count = zip->count;
  double *starts = pc_alloc_raw(env, count, 4 * sizeof *starts);
  if (starts == NULL)
    return pc_fail_memory(err, "reading a zip archive");
  double *ends = starts + count;
  for (size_t i = 0; i < count; i++) {
    starts[i] = (double)zip->entries[i].header;
    ends[i] = (double)(zip->entries[i].data + zip->entries[i].packed);
  }
  pc_sort_pairs(starts, ends, ends + count, ends + 2 * count, count);
  int apart = 1;
  for (size_t i = 1; i < count; i++)
    apart &= starts[i] >= ends[i - 1];
  pc_free(env, starts);
  return apart ? PCAL_OK : zip_damaged(bytes, "its entries overlap", err);
}

static pcal_status zip_fill(const pc_input_file *bytes, const pcal_env *env, pc_zip *out,
                            pcal_error *err) {
  zip_directory directory = {0};
  PC_TRY(zip_locate(bytes, &directory, err));
  const uint64_t end = directory.start + directory.size;
  uint64_t at = directory.start;
  out->count = (size_t)directory.count;
  out->entries = pc_alloc(env, out->count, sizeof *out->entries);
  if (out->entries == NULL)
    return pc_fail_memory(err, "reading a zip archive");
  for (size_t i = 0; i < out->count; i++) {
    PC_TRY(zip_read_entry(bytes, &at, end, &out->entries[i], err));
    PC_TRY(zip_place(bytes, directory.start, &out->entries[i], err));
  }
  if (at != end)
    return zip_damaged(bytes, "its directory contains more than its entries", err);
  return zip_check_apart(bytes, out, env, err);
}

pcal_status pc_zip_read(const pc_input_file *bytes, const pcal_env *env, pc_zip *out,
                        pcal_error *err) {
  *out = (pc_zip){0};
  const pcal_status status = zip_fill(bytes, env, out, err);
  if (status != PCAL_OK)
    pc_zip_free(env, out);
  return status;
}

void pc_zip_free(const pcal_env *env, pc_zip *zip) {
  pc_free(env, zip->entries);
  *zip = (pc_zip){0};
}
