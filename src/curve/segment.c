#include "curve/segment.h"

#include <math.h>

const pc_segment pc_segment_none = {.low = INFINITY, .high = -INFINITY, .squared = 1};

void pc_segment_add(pc_segment *segment, double score, uint64_t rows, uint64_t hits) {
  const int64_t units = pc_fixed_units(score);
  segment->low = score < segment->low ? score : segment->low;
  segment->high = score > segment->high ? score : segment->high;
  segment->rows += rows;
  segment->hits += hits;
  segment->score.units += (pc_int128)rows * units;
  segment->hit_score.units += (pc_int128)hits * units;
  segment->square += (pc_int128)rows * pc_segment_square(score);
  segment->hit_square += (pc_int128)hits * pc_segment_square(score);
  segment->rest += (pc_int128)rows * pc_segment_rest(units);
}

void pc_segment_join(pc_segment *into, const pc_segment *from) {
  into->low = from->low < into->low ? from->low : into->low;
  into->high = from->high > into->high ? from->high : into->high;
  into->rows += from->rows;
  into->hits += from->hits;
  into->score.units += from->score.units;
  into->hit_score.units += from->hit_score.units;
  into->square += from->square;
  into->hit_square += from->hit_square;
  into->squared &= from->squared;
  into->rest += from->rest;
}
