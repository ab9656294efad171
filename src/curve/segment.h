/* A segment: rows without weights whose scores lie between `low` and `high`, as counts and
 * exact sums.  Segments join in any order to the same bits. */
#ifndef PC_SEGMENT_H
#define PC_SEGMENT_H

#include "base/sum.h"

typedef struct pc_segment {
  uint64_t rows, hits;
  pc_fixed score, hit_score; /* sum of scores over all rows, and over hits */
  pc_int128 square;          /* sum of squared scores, each truncated to units of 2^-53 as in
                                grids; only pc_segment_add adds to it, and to rest */
  pc_int128 hit_square;      /* the same over hits */
  pc_int128 rest;            /* sum of the parts of scores below 2^-53, in units of 2^-61 */
  int squared;               /* both sums of squares are those of all rows */
  double low, high;          /* bounds of the scores; equal: the segment is a single score */
} pc_segment;

#define PC_SEGMENT_SQUARE_ONE 0x1p53

extern const pc_segment pc_segment_none; /* no rows */

static inline int64_t pc_segment_square(double score) {
  return (int64_t)(score * score * PC_SEGMENT_SQUARE_ONE);
}

/* The part of a score below 2^-53, in units of 2^-61, from the score in these units. */
static inline int64_t pc_segment_rest(int64_t units) {
  return units % 256;
}

/* Adds one row; leaves squares and `rest` alone. */
static inline void pc_segment_add_row(pc_segment *segment, double score, int hit) {
  const int64_t units = pc_fixed_units(score);
  segment->low = score < segment->low ? score : segment->low;
  segment->high = score > segment->high ? score : segment->high;
  segment->squared = 0;
  segment->rows++;
  segment->hits += (uint64_t)hit;
  segment->score.units += units;
  segment->hit_score.units += units & -(int64_t)hit;
}

/* Adds `rows` rows of one score, `hits` of them hits, with their squares. */
void pc_segment_add(pc_segment *segment, double score, uint64_t rows, uint64_t hits);
void pc_segment_join(pc_segment *into, const pc_segment *from);

#endif
