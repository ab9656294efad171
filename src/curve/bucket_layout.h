/* How a first pass over a curve sorts scores into buckets (bucket_tally.h). */
#ifndef PC_BUCKET_LAYOUT_H
#define PC_BUCKET_LAYOUT_H

#include "curve/bucket_sums.h"
#include "curve/score_key.h"

typedef struct pc_bucket_layout {
  int by_bits;    /* 0: buckets of equal width; else buckets of equal key ranges */
  uint64_t base;  /* by_bits: key (pc_score_key) at which the first bucket begins */
  unsigned shift; /* by_bits: bits of a key that are dropped */
  size_t count;   /* buckets; scores outside go to the first or the last */
  size_t fine;    /* approximate number of sub-buckets of a later pass, over all workers */
  int squares; /* segments have sums of squared scores: buckets by bits add them up, and tallies
                     that are sent hold them */
} pc_bucket_layout;

/* The bucket of a score. */
static inline size_t pc_bucket_of(const pc_bucket_layout *layout, double score) {
  if (layout->by_bits) {
    const uint64_t key = pc_score_key(score);
    const uint64_t at = key < layout->base ? 0 : (key - layout->base) >> layout->shift;
    return at < layout->count ? (size_t)at : layout->count - 1;
  }
  const double place = score * PC_BUCKETS, some = place > 0 ? place : 0;
  return (size_t)(some < PC_BUCKETS ? some : PC_BUCKETS);
}

/* Adds rows to the segments of their buckets, by bits: score[i] with outcome hits[i], or `hit` if
 * hits is NULL. */
void pc_bucket_layout_add(const pc_bucket_layout *layout, const double *score,
                          const uint8_t *hits, int hit, size_t count, pc_segment *segments);

/* The number of bits to drop so that the keys of scores in [low, high] fit `room` buckets. */
unsigned pc_bucket_shift(double low, double high, size_t room);

/* Layouts of a first pass: PC_BUCKETS + 1 buckets of equal width; and for one of `parts` curves,
 * which have about `buckets` buckets together.  Those are by bits, since most scores of a single
 * class are small.  fine: sub-buckets of a later pass, over all curves. */
#define PC_TALLY_FINE ((size_t)1 << 17)
#define PC_TALLY_PARTS_BUCKETS ((size_t)1 << 18)
pc_bucket_layout pc_bucket_layout_even(size_t fine);
pc_bucket_layout pc_bucket_layout_part(size_t parts, size_t buckets, size_t fine);

#endif
