/* Column j goes to hash j mod 4, so that the multiplications of four hashes overlap; the
 * finaliser of SplitMix64 combines them. */
#include "data/row_keys.h"

#include "base/rng.h"
#include "data/row_convert.h"

#define ROW_CONTENT_LANES 4
#define ROW_CONTENT_MULTIPLY UINT64_C(0x9fb21c651e98df25)
#define ROW_CONTENT_START UINT64_C(0x9e3779b97f4a7c15)

static uint64_t row_keys_bits(double value) {
  const double positive = value + 0.0; /* -0 becomes 0 */
  uint64_t bits;
  memcpy(&bits, &positive, sizeof bits);
  return bits;
}

static uint64_t row_keys_step(uint64_t hash, uint64_t bits) {
  const uint64_t product = (hash ^ bits) * ROW_CONTENT_MULTIPLY;
  return product ^ (product >> 32);
}

static uint64_t row_keys_scores(const pcal_batch *batch, size_t position) {
  uint64_t lane[ROW_CONTENT_LANES];
  const char *at = pc_row_convert_at(batch, position);
  for (size_t l = 0; l < ROW_CONTENT_LANES; l++)
    lane[l] = ROW_CONTENT_START * (l + 1);
  for (size_t j = 0; j < batch->columns; j++, at += batch->column_stride)
    lane[j % ROW_CONTENT_LANES] = row_keys_step(lane[j % ROW_CONTENT_LANES],
                                                row_keys_bits(pc_row_convert_load(batch, at)));
  uint64_t hash = 0;
  for (size_t l = 0; l < ROW_CONTENT_LANES; l++)
    hash = pc_hash_u64(hash ^ lane[l]);
  return hash;
}

static uint64_t row_keys_targets(const pcal_batch *batch, size_t position) {
  const double *targets = pc_batch_targets(batch, position);
  uint64_t outcome = row_keys_bits(targets[0]);
  for (size_t j = 1; j < batch->dimensions; j++)
    outcome = pc_hash_u64(outcome) + row_keys_bits(targets[j]);
  return outcome;
}

void pc_row_keys(const pcal_batch *batch, const pc_rows *rows, uint64_t *keys) {
  const int regression = pc_kind_form(batch->kind) != PC_FORM_CLASSES;
  for (size_t i = 0; i < rows->count; i++) {
    const size_t position = (size_t)(rows->ids[i] - batch->first_row);
    if (batch->ids != NULL) {
      keys[i] = batch->ids[position];
      continue;
    }
    const uint64_t outcome =
        regression ? row_keys_targets(batch, position) : (uint64_t)(uint32_t)rows->labels[i];
    keys[i] = pc_hash_u64(row_keys_scores(batch, position) +
                          pc_hash_u64(outcome + ROW_CONTENT_START));
  }
}
