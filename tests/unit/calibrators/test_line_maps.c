#include "calibrators/line_maps.h"

#include "calibrator_help.h"

TEST(straight_between_points) {
  double score[] = {0.25, 0.5, 1.0}, value[] = {0.0, 1.0, 0.5};
  const pc_line_map line = {3, score, value};
  static const double cases[][2] = {{-1e-6, 0.0}, {0.0, 0.0},   {0.25, 0.0}, {0.3125, 0.25},
                                    {0.5, 1.0},   {0.75, 0.75}, {1.0, 0.5},  {1.00001, 0.5}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++)
    assert_same(pc_line_map_value(&line, cases[i][0]), cases[i][1]);
}

TEST(one_point_is_constant) {
  double score[] = {0.5}, value[] = {0.125};
  const pc_line_map line = {1, score, value};
  for (int i = 0; i <= 10; i++)
    assert_same(pc_line_map_value(&line, i / 10.0), 0.125);
}

/* Two points at a score: the score has the first value; scores above start from the second. */
TEST(jumps) {
  double score[] = {0.0, 0.5, 0.5, 1.0}, value[] = {0.0, 0.25, 0.75, 1.0};
  const pc_line_map line = {4, score, value};
  assert_same(pc_line_map_value(&line, 0.25), 0.125);
  assert_same(pc_line_map_value(&line, 0.5), 0.25);
  assert_near(pc_line_map_value(&line, nextafter(0.5, 1.0)), 0.75, 1e-15);
  assert_same(pc_line_map_value(&line, 0.75), 0.875);
}

/* Nondecreasing points give a nondecreasing map, double by double. */
TEST(never_falls_by_rounding) {
  const pc_rng rng = {3, 1};
  for (uint64_t trial = 0; trial < 200; trial++) {
    double score[2] = {pc_rng_uniform(&rng, 4 * trial), 0.0}, value[2];
    score[1] = score[0];
    for (int i = 0; i < 50; i++)
      score[1] = nextafter(score[1], 2.0);
    value[0] = pc_rng_uniform(&rng, 4 * trial + 1);
    value[1] = nextafter(value[0] + (trial % 2) * 1e-16, 1.0);
    const pc_line_map line = {2, score, value};
    double last = 0.0;
    for (double at = nextafter(score[0], 0.0); at <= nextafter(score[1], 2.0);
         at = nextafter(at, 2.0)) {
      const double here = pc_line_map_value(&line, at);
      assert_true(here >= last && here >= value[0] && here <= value[1]);
      last = here;
    }
  }
}
