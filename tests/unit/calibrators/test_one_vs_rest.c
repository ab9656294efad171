#include "calibrators/one_vs_rest.h"

#include "calibrator_help.h"

TEST(finds_the_first_not_below) {
  const double numbers[] = {0.1, 0.2, 0.2, 0.5, 0.9};
  for (size_t count = 0; count <= UNIT_COUNT(numbers); count++)
    for (int step = -1; step <= 11; step++) {
      const double x = step / 10.0;
      size_t expected = 0;
      while (expected < count && numbers[expected] < x)
        expected++;
      assert_int_equal(pc_first_not_below(numbers, count, x), expected);
    }
}

TEST(rescales) {
  double row[] = {0.5, 0.25, 0.25, 1.0}, zeros[] = {0.0, 0.0, 0.0, 0.0};
  pc_rescale_row(row, 4);
  assert_same(row[0], 0.25);
  assert_same(row[1], 0.125);
  assert_same(row[3], 0.5);
  pc_rescale_row(zeros, 4);
  for (int i = 0; i < 4; i++)
    assert_same(zeros[i], 0.25);
}

static const int toy_map = 0;

static double toy(const void *map, size_t column, double score) {
  assert_ptr_equal(map, &toy_map);
  return column == 0 ? score / 2 : score * score;
}

TEST(maps_rows) {
  const pc_layout classes = {PCAL_PROBABILITY, 3, 3}, one = {PCAL_PROBABILITY, 1, 2},
                  lone = {PCAL_CONFIDENCE, 1, 1};
  const double in[] = {0.5, 0.5, 0.0, 0.0, 0.0, 1.0};
  double out[6];
  pc_one_vs_rest_apply(&classes, toy, &toy_map, in, 2, out);
  assert_same(out[0], 0.5);
  assert_same(out[1], 0.5);
  assert_same(out[2], 0.0);
  assert_same(out[5], 1.0);
  const double pair[] = {0.25, 0.75};
  pc_one_vs_rest_apply(&one, toy, &toy_map, pair, 1, out);
  assert_same(out[1], 0.375);
  assert_same(out[0], 0.625);
  pc_one_vs_rest_apply(&lone, toy, &toy_map, pair, 2, out);
  assert_same(out[0], 0.125);
  assert_same(out[1], 0.375);
}
