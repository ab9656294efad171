#include "data/row_fingerprint.h"

#include <math.h>

#include "base/rng.h"

void pc_row_fingerprint_add(pc_row_fingerprint *print, const pc_rows *rows,
                            pc_group_hashes groups) {
  print->rows += rows->count;
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = rows->weights == NULL ? 1.0 : rows->weights[i];
    const int whole = weight >= 0.0 && weight < 0x1p53 && weight == floor(weight);
    const uint64_t fraction = whole ? 0 : pc_hash_u64(pc_double_bits(weight));
    const uint64_t group = rows->groups != NULL && rows->groups[i] < groups.count
                               ? groups.list[rows->groups[i]]
                               : 0;
    print->sum += (pc_uint128)(whole ? (uint64_t)weight : 1) *
                  pc_hash_u64(rows->keys[i] ^ fraction ^ group);
  }
}

void pc_row_fingerprint_merge(pc_row_fingerprint *into, const pc_row_fingerprint *from) {
  into->rows += from->rows;
  into->sum += from->sum;
}

int pc_row_fingerprint_equal(const pc_row_fingerprint *a, const pc_row_fingerprint *b) {
  return a->rows == b->rows && a->sum == b->sum;
}

void pc_encode_row_fingerprint(pc_encoder *out, const pc_row_fingerprint *print) {
  pc_encode_u64(out, print->rows);
  pc_encode_u64(out, (uint64_t)print->sum);
  pc_encode_u64(out, (uint64_t)(print->sum >> 64));
}

void pc_decode_row_fingerprint(pc_decoder *in, pc_row_fingerprint *out) {
  out->rows = pc_decode_u64(in);
  const uint64_t low = pc_decode_u64(in), high = pc_decode_u64(in);
  out->sum = (pc_uint128)high << 64 | low;
}
