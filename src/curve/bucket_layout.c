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

static inline void layout_add_rows(const pc_bucket_layout *from, const double *score,
                                   const uint8_t *hits, int hit, size_t count,
                                   pc_segment *segments) {
  pc_bucket_layout layout = *from;
  layout.by_bits = 1; /* known to the compiler */
  for (size_t i = 0; i < count; i++) {
    const double here = score[i] + 0.0; /* -0 becomes 0 */
    pc_segment *segment = &segments[pc_bucket_of(&layout, here)];
    pc_segment_add_row(segment, here, hits == NULL ? hit : hits[i]);
    if (layout.squares)
      segment->square += pc_segment_square(here);
  }
}

/* Columns of misses are most of the scores of a class; their loop is compiled without hits. */
void pc_bucket_layout_add(const pc_bucket_layout *layout, const double *score,
                          const uint8_t *hits, int hit, size_t count, pc_segment *segments) {
  if (hits == NULL && hit == 0)
    layout_add_rows(layout, score, NULL, 0, count, segments);
  else
    layout_add_rows(layout, score, hits, hit, count, segments);
}
