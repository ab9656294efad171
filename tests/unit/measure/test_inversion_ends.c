/* Points that are left out do not change the ends of an interval. */
#include "../unit.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "measure/replicas/inversion_ends.h"

#define ENDS_CASES 2000

/* Errors of the points from 0 upwards, quantiles that chance makes uneven, and a value that is small
 * in some cases and large in others. */
static void ends_draw(uint64_t set, double *truth, pc_inversion_tails *out) {
  static const double own[PC_INVERSION_TRUTHS] = {0.0, 0.35, 0.7, 1.0, 1.3, 1.6,
                                                  0.3, 0.6,  1.0, 1.3, 1.6, 0.1};
  const pc_rng uniforms = {set, 1};
  const double noise = 2.0 * pc_rng_uniform(&uniforms, 0);
  memset(out, 0, sizeof *out);
  for (size_t j = 0; j < PC_INVERSION_TRUTHS; j++)
    truth[j] = own[j];
  for (size_t j = 0; j < PC_INVERSION_POINTS; j++) {
    out->middle[j] =
        sqrt(own[j] * own[j] + noise * noise * (0.5 + pc_rng_uniform(&uniforms, 1 + j)));
    out->low[j] = out->middle[j] * (0.6 + 0.4 * pc_rng_uniform(&uniforms, 100 + j));
    out->high[j] = out->middle[j] * (1.0 + 0.4 * pc_rng_uniform(&uniforms, 200 + j));
  }
  out->truth = truth;
  out->value = 1.0;
  out->null_high = set % 3 == 0 ? noise : 0.0;
}

/* Copies the quantiles of one point. */
static void ends_copy(const pc_inversion_tails *from, size_t point, pc_inversion_tails *to) {
  to->low[point] = from->low[point];
  to->middle[point] = from->middle[point];
  to->high[point] = from->high[point];
}

/* Returns the number of points that were needed. */
static size_t ends_compare(const pc_inversion_kind *kind, const pc_inversion_tails *all) {
  pc_inversion_tails some = *all;
  size_t needed = 0;
  memset(some.low, 0, sizeof some.low);
  memset(some.middle, 0, sizeof some.middle);
  memset(some.high, 0, sizeof some.high);
  for (int further = 0; further < 2; further++) {
    const pc_inversion_tails before = some;
    for (size_t j = 0; j < PC_INVERSION_POINTS; j++)
      if (further ? pc_inversion_needs_more(kind, &before, j)
                  : pc_inversion_needs_first(kind, j)) {
        ends_copy(all, j, &some);
        needed++;
      }
  }
  assert_true(pc_inversion_least(&some, kind->over_classes) ==
              pc_inversion_least(all, kind->over_classes));
  assert_true(pc_inversion_largest(&some, PC_INVERSION_DATA, PC_INVERSION_FARTHEST) ==
              pc_inversion_largest(all, PC_INVERSION_DATA, PC_INVERSION_FARTHEST));
  if (!kind->over_classes)
    assert_true(pc_inversion_largest(&some, PC_INVERSION_SHIFT, PC_INVERSION_SHIFT_FARTHEST) ==
                pc_inversion_largest(all, PC_INVERSION_SHIFT, PC_INVERSION_SHIFT_FARTHEST));
  if (kind->few)
    assert_true(pc_inversion_bias(&some) == pc_inversion_bias(all));
  return needed;
}

TEST(test_points_left_out) {
  size_t most = 0, least = PC_INVERSION_POINTS;
  for (uint64_t set = 0; set < ENDS_CASES; set++) {
    const pc_inversion_kind kind = {.over_classes = set % 2 == 0, .few = set % 5 == 0};
    double truth[PC_INVERSION_TRUTHS];
    pc_inversion_tails all;
    ends_draw(set, truth, &all);
    const size_t needed = ends_compare(&kind, &all);
    most = needed > most ? needed : most;
    least = needed < least ? needed : least;
  }
  assert_true(most >= 9 && least <= 4); /* some cases need nearly all points, others few */
}

/* Root mean squares read the standard error, and with few wrong rows what chance adds. */
TEST(test_squares) {
  const pc_inversion_kind plain = {.square = 1}, few = {.square = 1, .few = 1};
  const pc_inversion_tails none = {.value = 1.0};
  size_t of_plain = 0, of_few = 0;
  for (size_t j = 0; j < PC_INVERSION_POINTS; j++) {
    of_plain += (size_t)pc_inversion_needs_first(&plain, j);
    of_few += (size_t)pc_inversion_needs_first(&few, j);
    assert_false(pc_inversion_needs_more(&plain, &none, j));
    assert_false(pc_inversion_needs_more(&few, &none, j));
  }
  assert_true(pc_inversion_needs_first(&plain, PC_INVERSION_DATA));
  assert_int_equal(of_plain, 1);
  assert_int_equal(of_few, 4);
}
