/* The index of the first row for PCAL_FIRST_ROW_AUTO.
 *
 * Formula:  2^62 + (h mod 2^62 without its 20 lowest bits), with h the FNV-1a hash, 64 bits
 *           (Fowler, Noll and Vo), of the length of every file and of its bytes in words of 8.
 * Edge cases:
 *   1. of a file above PLACE_WHOLE bytes, its first and its last PLACE_WHOLE / 2 bytes count; of a
 *      file read by windows those that are in memory.
 *   2. sources without files, arrays and Arrow data, are refused.
 * Two different parts of n rows share an index with a probability of about n / 2^61. */
#include <string.h>

#include "io/source_state.h"

#define PLACE_WHOLE ((size_t)1 << 26)
#define PLACE_BASE (UINT64_C(1) << 62)
#define PLACE_FINE ((UINT64_C(1) << 20) - 1)
#define PLACE_START UINT64_C(0xcbf29ce484222325)
#define PLACE_PRIME UINT64_C(0x100000001b3)

static uint64_t place_word(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * PLACE_PRIME;
  return hash ^ hash >> 29;
}

static uint64_t place_bytes(uint64_t hash, const unsigned char *data, size_t length) {
  uint64_t word = 0;
  for (size_t i = 0; i < length; i++) {
    word |= (uint64_t)data[i] << 8 * (i % 8);
    if (i % 8 == 7 || i + 1 == length) {
      hash = place_word(hash, word);
      word = 0;
    }
  }
  return hash;
}

static uint64_t place_file(uint64_t hash, const pc_input_file *file) {
  const size_t held = file->kind == PC_INPUT_FILE_WINDOWS ? PC_INPUT_FILE_HEAD : file->length;
  hash = place_word(hash, file->length);
  if (held <= PLACE_WHOLE)
    return place_bytes(hash, file->data, held);
  hash = place_bytes(hash, file->data, PLACE_WHOLE / 2);
  return place_bytes(hash, file->data + held - PLACE_WHOLE / 2, PLACE_WHOLE / 2);
}

pcal_status pc_source_place_rows(const pcal_source *source, uint64_t *out, pcal_error *err) {
  uint64_t hash = PLACE_START;
  if (source->file_count == 0)
    return pc_fail(
        err, PCAL_USAGE,
        "{first_row} is PCAL_FIRST_ROW_AUTO, which needs files; give the index of the "
        "first row");
  for (size_t i = 0; i < source->file_count; i++) {
    PC_TRY(pc_input_file_check(&source->files[i]->bytes, err));
    hash = place_file(hash, &source->files[i]->bytes);
  }
  *out = PLACE_BASE + (hash & (PLACE_BASE - 1) & ~PLACE_FINE);
  return PCAL_OK;
}

void pc_source_count_from_zero(pcal_source *source) {
  if (!source->placed)
    return;
  source->placed = 0;
  source->first_row = 0;
  source->label_cells.row_offset = 0;
  source->group_cells.row_offset = source->id_cells.row_offset = 0;
}
