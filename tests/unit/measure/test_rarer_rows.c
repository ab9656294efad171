/* How many more rows of the rarer outcome are compatible with those that are there, and which
 * rows count. */
#include "measure/replicas/rarer_rows.h"

#include <math.h>

#include "measure/interval_formula.h"
#include "measure_help.h"

/* Wilson's upper end x of a Poisson count m solves x - m = z sqrt(x). */
TEST(test_more_rows_reach_wilsons_end) {
  const double z = 1.959963984540054, counts[] = {0.0, 1.0, 7.5, 1000.0};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    const double more = pc_rarer_more(counts[i], 1.0, 0.95);
    const double half = pc_rarer_more(counts[i], 0.5, 0.95);
    assert_near(more, z * sqrt(counts[i] + more), 1e-9);
    assert_near(half, z * sqrt(0.5 * (counts[i] + half)), 1e-9);
  }
}

/* Three right rows, one of them twice, and a wrong one of weight one half. */
TEST(test_rarer_outcome_is_counted_by_weight) {
  int32_t labels[] = {0, 1, 1, 0}, top[] = {0, 1, 1, 1};
  double weights[] = {1.0, 1.0, 1.0, 0.5}, copies[] = {1.0, 2.0, 1.0, 1.0};
  double scores[] = {0.5, 1.0, 1.0, 0.6};
  pc_kept_rows rows = {.count = 4,
                       .classes = 2,
                       .labels = labels,
                       .weights = weights,
                       .copies = copies,
                       .score = scores,
                       .top_label = top};
  const pc_rarer wrong = pc_rarer_count(&rows);
  assert_near(wrong.total, 4.5, 0.0);
  assert_near(wrong.copies, 5.0, 0.0);
  assert_near(wrong.rarer, 0.5, 0.0);
  assert_false(wrong.hits);
  assert_near(wrong.shown, 0.25 + 0.5 * 0.36, 1e-15);
  assert_near(pc_rarer_spread(&wrong, PC_RARER_OF_GAPS), 4.43 / 4.5, 1e-15);
  assert_near(pc_rarer_spread(&wrong, PC_RARER_OF_ROWS), 1.0, 0.0);
  rows.top_label = NULL; /* one column: the rarer outcome is class 0 */
  const pc_rarer zero = pc_rarer_count(&rows);
  assert_near(zero.rarer, 1.5, 0.0);
  assert_false(zero.hits);
}

TEST(test_values_are_included_one_by_one_or_by_their_mean) {
  double values[2 * PC_REPLICA_VALUES * PC_RARER_DRAWS] = {0.0};
  double *second = values + (PC_REPLICA_VALUES + PC_REPLICA_INNER) * PC_RARER_DRAWS;
  for (size_t d = 0; d < PC_RARER_DRAWS; d++)
    second[d] = (double)d;
  pc_interval mean = {1.4, 1.45}, each = {1.4, 1.45}, none = {1.4, 1.45};
  pc_rarer_include(values, 1, PC_REPLICA_INNER, 0, 1.0, &mean);
  pc_rarer_include(values, 1, PC_REPLICA_INNER, 1, 1.0, &each);
  pc_rarer_include(NULL, 1, PC_REPLICA_INNER, 1, 1.0, &none);
  assert_near(mean.low, 1.4, 0.0);
  assert_near(mean.high, 0.5 * (PC_RARER_DRAWS - 1), 1e-15);
  assert_near(each.low, 0.0, 0.0);
  assert_near(each.high, PC_RARER_DRAWS - 1, 0.0);
  assert_near(none.high, 1.45, 0.0);
  pc_interval half = {1.4, 1.45};
  pc_rarer_include(values, 1, PC_REPLICA_INNER, 1, 0.5, &half);
  assert_near(half.low, 0.7, 1e-15);
  assert_near(half.high, 0.5 * (1.45 + PC_RARER_DRAWS - 1), 1e-15);
}

/* The allowance ends at PC_RARER_ENOUGH rows without a jump. */
TEST(test_allowance_falls_from_half_of_enough_rows) {
  const double counts[] = {0.0, 50.0, 75.0, 99.0, 100.0, 200.0};
  const double shares[] = {1.0, 1.0, 0.5, 0.02, 0.0, 0.0};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    const pc_rarer found = {.rarer = counts[i], .design = 1.0};
    const pc_rarer twice = {.rarer = 2.0 * counts[i], .design = 2.0};
    assert_near(pc_rarer_share(&found), shares[i], 1e-15);
    assert_near(pc_rarer_share(&twice), shares[i], 1e-15);
  }
}

/* Twelve rows, three of them wrong, r = 1/4.  In one cluster of three wrong rows and three of three
 * right ones the squares are (9/4)^2 and three times (3/4)^2, 6.75, and m (1 - r) is 2.25.  Clusters
 * of one wrong and three right rows have no excess: the design effect is 1, not below. */
TEST(test_clusters_have_a_design_effect) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  int32_t labels[12] = {1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, top[12] = {0};
  uint64_t together[12] = {7, 7, 7, 9, 9, 9, 2, 2, 2, 5, 5, 5};
  uint64_t spread[12] = {1, 2, 3, 1, 1, 1, 2, 2, 2, 3, 3, 3};
  double ones[12], scores[12];
  pcal_error err;
  for (size_t i = 0; i < 12; i++) {
    ones[i] = 1.0;
    scores[i] = 0.9;
  }
  pc_kept_rows rows = {.count = 12,
                       .classes = 2,
                       .labels = labels,
                       .weights = ones,
                       .copies = ones,
                       .score = scores,
                       .top_label = top};
  pc_rarer found = pc_rarer_count(&rows);
  assert_int_equal(pc_rarer_find_design(&env, &rows, &found, &err), PCAL_OK);
  assert_near(found.design, 1.0, 0.0);
  rows.clusters = together;
  assert_int_equal(pc_rarer_find_design(&env, &rows, &found, &err), PCAL_OK);
  assert_near(found.design, 3.0, 1e-12);
  assert_near(pc_rarer_spread(&found, PC_RARER_OF_ROWS), 3.0, 1e-12);
  rows.clusters = spread;
  assert_int_equal(pc_rarer_find_design(&env, &rows, &found, &err), PCAL_OK);
  assert_near(found.design, 1.0, 0.0);
}

/* An interval stays in the range, but for its estimate; an estimate below the range reaches as far
 * into it as above itself. */
TEST(test_interval_is_bounded_by_the_range) {
  const pc_range share = PC_RANGE_SHARE;
  pc_interval_result wide = {.has_interval = 1, .low = -0.5, .high = 1.5};
  pc_interval_result below = {.has_interval = 1, .low = -0.5, .high = -0.1};
  pc_interval_result above = {.has_interval = 1, .low = 0.2, .high = 0.3};
  pc_interval_bound(&share, 0.4, &wide);
  pc_interval_bound(&share, -0.3, &below);
  pc_interval_bound(&share, 0.1, &above);
  assert_near(wide.low, 0.0, 0.0);
  assert_near(wide.high, 1.0, 0.0);
  assert_near(below.low, -0.3, 0.0);
  assert_near(below.high, 0.2, 1e-15);
  assert_near(above.low, 0.1, 0.0);
  assert_near(above.high, 0.3, 0.0);
}
