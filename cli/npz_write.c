#include "npz_write.h"

#include <string.h>

#define NPZ_DIRECTORY_BYTES 4096 /* upper bound */
#define NPZ_DATE 0x21            /* 1980-01-01: the same data give the same bytes */
#define NPZ_VERSION 20

/* CRC-32 of zip archives, four bits at a time. */
static uint32_t npz_crc(uint32_t crc, const char *bytes, size_t count) {
  static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                     0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                     0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                     0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  crc = ~crc;
  for (size_t i = 0; i < count; i++) {
    crc ^= (unsigned char)bytes[i];
    crc = table[crc & 15] ^ (crc >> 4);
    crc = table[crc & 15] ^ (crc >> 4);
  }
  return ~crc;
}

static void npz_put(cli_npz *npz, const char *bytes, size_t count) {
  npz->written += count;
  cli_output_sink(npz->output, bytes, count);
}

/* Appends little-endian numbers; `widths` has a digit, 2 or 4, for the bytes of each. */
static void npz_numbers(cli_npz *npz, const char *widths, const uint64_t *numbers) {
  char bytes[64];
  size_t used = 0;
  for (size_t i = 0; widths[i] != '\0'; i++)
    for (int b = 0; b < widths[i] - '0'; b++)
      bytes[used++] = (char)(numbers[i] >> (8 * b));
  npz_put(npz, bytes, used);
}

void cli_npz_measure(cli_npz *npz, const char *name) {
  npz->entries[npz->count] = (cli_npz_entry){.name = name, .at = npz->written};
  npz->writing = 0;
}

int cli_npz_sink(void *user, const char *bytes, size_t count) {
  cli_npz *npz = user;
  cli_npz_entry *entry = &npz->entries[npz->count];
  if (npz->writing) {
    npz->written += count;
    return cli_output_sink(npz->output, bytes, count);
  }
  entry->crc = npz_crc(entry->crc, bytes, count);
  entry->length += count;
  return 0;
}

pcal_status cli_npz_begin(cli_npz *npz, pcal_error *err) {
  const cli_npz_entry *entry = &npz->entries[npz->count];
  const size_t name = strlen(entry->name);
  if (npz->written + entry->length + NPZ_DIRECTORY_BYTES > UINT32_MAX)
    return cli_fail(err, PCAL_USAGE,
                    "a .npz file holds at most 4 GiB; give -o a prefix for .npy files");
  npz_numbers(npz, "42222244422",
              (const uint64_t[]){0x04034b50, NPZ_VERSION, 0, 0, 0, NPZ_DATE, entry->crc,
                                 entry->length, entry->length, name, 0});
  npz_put(npz, entry->name, name);
  npz->writing = 1;
  return PCAL_OK;
}

void cli_npz_end(cli_npz *npz) {
  const uint64_t start = npz->written;
  for (size_t i = 0; i < npz->count; i++) {
    const cli_npz_entry *entry = &npz->entries[i];
    const size_t name = strlen(entry->name);
    npz_numbers(npz, "42222224442222244",
                (const uint64_t[]){0x02014b50, NPZ_VERSION, NPZ_VERSION, 0, 0, 0, NPZ_DATE,
                                   entry->crc, entry->length, entry->length, name, 0, 0, 0, 0,
                                   0, entry->at});
    npz_put(npz, entry->name, name);
  }
  npz_numbers(npz, "42222442",
              (const uint64_t[]){0x06054b50, 0, 0, npz->count, npz->count, npz->written - start,
                                 start, 0});
}
