#include "curve/bucket_layout.h"

#define LAYOUT_PARTS_LOW 0x1p-32 /* smaller scores share a bucket */

unsigned pc_bucket_shift(double low, double high, size_t room) {
  const uint64_t span = pc_score_key(high) - pc_score_key(low);
  unsigned shift = 0;
  while ((span >> shift) >= room)
    shift++;
  return shift;
}

pc_bucket_layout pc_bucket_layout_even(size_t fine) {
  return (pc_bucket_layout){.count = PC_BUCKETS + 1, .fine = fine};
}

pc_bucket_layout pc_bucket_layout_part(size_t parts, size_t buckets, size_t fine) {
  const size_t wanted = buckets / parts, share = fine / parts;
  pc_bucket_layout layout = {.by_bits = 1, .base = pc_score_key(LAYOUT_PARTS_LOW), .count = 64};
  while (layout.count < PC_BUCKETS && layout.count < wanted)
    layout.count *= 2;
  layout.shift = pc_bucket_shift(LAYOUT_PARTS_LOW, 1.0, layout.count);
  layout.fine = share < 64 ? 64 : share;
  return layout;
}
