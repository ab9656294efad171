#include "curve/segment.h"

#include "unit.h"

static void check_segment(const pc_segment *segment, uint64_t rows, uint64_t hits, double score,
                          double hit_score, double square) {
  assert_int_equal(segment->rows, rows);
  assert_int_equal(segment->hits, hits);
  assert_same(pc_fixed_value(&segment->score), score);
  assert_same(pc_fixed_value(&segment->hit_score), hit_score);
  assert_same((double)segment->square, square * PC_SEGMENT_SQUARE_ONE);
}

TEST(test_rows_are_added_up) {
  pc_segment segment = pc_segment_none;
  check_segment(&segment, 0, 0, 0, 0, 0);
  pc_segment_add(&segment, 0.25, 3, 1);
  pc_segment_add(&segment, 0.5, 2, 2);
  check_segment(&segment, 5, 3, 1.75, 1.25, 0.6875);
  assert_same(segment.low, 0.25);
  assert_same(segment.high, 0.5);
}

TEST(test_segments_are_joined) {
  pc_segment left = pc_segment_none, right = pc_segment_none;
  pc_segment_join(&left, &right);
  check_segment(&left, 0, 0, 0, 0, 0);
  pc_segment_add(&left, 0.75, 1, 0);
  pc_segment_add(&right, -0.25, 4, 1);
  pc_segment_join(&left, &right);
  check_segment(&left, 5, 1, -0.25, -0.25, 0.8125);
  assert_same(left.low, -0.25);
  assert_same(left.high, 0.75);
}

/* Sums beyond 64 bits. */
TEST(test_many_rows_are_exact) {
  pc_segment segment = pc_segment_none;
  pc_segment_add(&segment, 0.75, (uint64_t)1 << 40, (uint64_t)1 << 39);
  check_segment(&segment, (uint64_t)1 << 40, (uint64_t)1 << 39, 0x1.8p39, 0x1.8p38, 0x1.2p39);
}
