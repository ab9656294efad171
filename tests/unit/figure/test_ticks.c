#include "figure_help.h"

#include <float.h>
#include <math.h>

#include "figure/ticks.h"

static void check_ticks(double low, double high, size_t wanted, const double *expected,
                        size_t count, int decimals) {
  pc_ticks ticks;
  pc_ticks_place(low, high, wanted, &ticks);
  assert_int_equal(ticks.count, count);
  assert_int_equal(ticks.decimals, decimals);
  for (size_t i = 0; i < count; i++)
    assert_true(ticks.at[i] == expected[i]);
}

TEST(test_round_steps) {
  check_ticks(0, 1, 6, (const double[]){0, 0.2, 0.4, 0.6, 0.8, 1}, 6, 1);
  check_ticks(0, 1, 11, (const double[]){0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}, 11,
              1);
  check_ticks(0, 1, 3, (const double[]){0, 0.5, 1}, 3, 1);
  check_ticks(0, 0.07, 3, (const double[]){0, 0.05}, 2, 2);
  check_ticks(-3, 11, 4, (const double[]){0, 5, 10}, 3, 0);
  check_ticks(1200, 5200, 5, (const double[]){2000, 3000, 4000, 5000}, 4, 0);
  check_ticks(-0.3, 0.3, 7, (const double[]){-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3}, 7, 1);
}

TEST(test_zero_has_no_sign) {
  pc_ticks ticks;
  pc_ticks_place(-1, 1, 3, &ticks);
  assert_int_equal(ticks.count, 3);
  assert_true(ticks.at[1] == 0 && !signbit(ticks.at[1]));
}

TEST(test_ranges_without_extent) {
  check_ticks(0.5, 0.5, 6, (const double[]){0.5}, 1, 0);
  check_ticks(1e9, nextafter(1e9, 2e9), 6, (const double[]){1e9}, 1, 0);
  check_ticks(0, DBL_MIN, 6, (const double[]){0}, 1, 0);
  check_ticks(1, 0, 6, NULL, 0, 0);
  check_ticks(0, INFINITY, 6, NULL, 0, 0);
  check_ticks(NAN, 1, 6, NULL, 0, 0);
  check_ticks(-DBL_MAX, DBL_MAX, 6, NULL, 0, 0);
}

TEST(test_any_range) {
  for (double size = 1e-150; size < 1e150; size *= 7.3)
    for (size_t wanted = 0; wanted <= PC_TICKS_MAX + 4; wanted++) {
      pc_ticks ticks;
      pc_ticks_place(-0.37 * size, 0.81 * size, wanted, &ticks);
      const size_t most = wanted < 2 ? 2 : wanted > PC_TICKS_MAX ? PC_TICKS_MAX : wanted;
      assert_true(ticks.count >= 1 && ticks.count <= most);
      for (size_t i = 0; i < ticks.count; i++) {
        assert_true(ticks.at[i] >= -0.37001 * size && ticks.at[i] <= 0.81001 * size);
        assert_true(i == 0 || ticks.at[i] > ticks.at[i - 1]);
      }
    }
}
