#include "machine_help.h"

/* Two values a row: one that depends on the index, and 2 or, for label 9, infinity. */
static void sum_values(const double *params, const pc_rows *rows, size_t begin, size_t count,
                       double *out) {
  static const double large[] = {1e300, 1.0, -1e300, 0x1p-1074};
  for (size_t i = 0; i < count; i++) {
    out[2 * i] = params[0] * large[rows->ids[begin + i] % 4];
    out[2 * i + 1] = rows->labels[begin + i] == 9 ? (double)INFINITY : 2.0;
  }
}

static machine_case sum_case(void) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_SUM;
  need.sum.values = sum_values;
  need.sum.value_count = 2;
  need.sum.params[0] = 1.0;
  return machine_case_make(&pc_machine_sum, &need, 10);
}

static void sum_feed(const machine_case *about, void *state, const uint64_t *ids,
                     const int32_t *labels, const double *weights, size_t count) {
  const pc_rows rows = {
      .count = count, .classes = 10, .ids = ids, .labels = labels, .weights = weights};
  machine_update(about, state, &rows, NULL);
}

TEST(test_sums_are_exact_in_any_order) {
  static const uint64_t ids[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
  static const int32_t labels[3] = {0};
  const machine_case about = sum_case();
  for (size_t i = 0; i < UNIT_COUNT(ids); i++) {
    void *sums = machine_state(&about);
    sum_feed(&about, sums, ids[i], labels, NULL, 3);
    const pc_evidence evidence = machine_evidence(&about, sums);
    assert_int_equal(evidence.sum.count, 2);
    assert_same(evidence.sum.value[0], 1.0);
    assert_same(evidence.sum.value[1], 6.0);
    assert_same(evidence.sum.infinite[1], 0.0);
    assert_true(evidence.sum.infinite_row[1] == PCAL_NO_ROW);
    about.machine->destroy(&about.env, sums);
  }
}

TEST(test_infinite_values_are_set_apart) {
  static const uint64_t ids[] = {8, 5, 7, 9};
  static const int32_t labels[] = {9, 9, 0, 9};
  static const double weights[] = {0.5, 2.0, 3.0, 0.25};
  const machine_case about = sum_case();
  void *sums = machine_state(&about);
  sum_feed(&about, sums, ids, labels, weights, 4);
  const pc_evidence evidence = machine_evidence(&about, sums);
  assert_same(evidence.sum.value[1], 6.0);
  assert_same(evidence.sum.infinite[1], 2.75);
  assert_int_equal(evidence.sum.infinite_row[1], 5);
  about.machine->destroy(&about.env, sums);
}

/* 3 * 2^-1074 is kept apart from 1e300 by the product's exactness. */
TEST(test_weighted_products_are_not_rounded) {
  static const uint64_t ids[] = {0, 3, 2};
  static const int32_t labels[3] = {0};
  static const double weights[] = {0.1, 3.0, 0.1};
  const machine_case about = sum_case();
  void *sums = machine_state(&about);
  sum_feed(&about, sums, ids, labels, weights, 3);
  assert_same(machine_evidence(&about, sums).sum.value[0], 3 * 0x1p-1074);
  about.machine->destroy(&about.env, sums);
}

TEST(test_merge_takes_sums_and_the_lower_row) {
  static const uint64_t ids[] = {30, 21};
  static const int32_t labels[] = {9, 9};
  const machine_case about = sum_case();
  void *left = machine_state(&about), *right = machine_state(&about);
  sum_feed(&about, left, ids, labels, NULL, 1);
  sum_feed(&about, right, ids + 1, labels + 1, NULL, 1);
  machine_merge(&about, left, right);
  const pc_evidence evidence = machine_evidence(&about, left);
  assert_same(evidence.sum.infinite[1], 2.0);
  assert_int_equal(evidence.sum.infinite_row[1], 21);
  assert_same(evidence.sum.value[0], -1e300 + 1.0);
  about.machine->destroy(&about.env, left);
  about.machine->destroy(&about.env, right);
}

TEST(test_many_rows_and_clear) {
  static uint64_t ids[1000];
  static int32_t labels[1000];
  const machine_case about = sum_case();
  void *sums = machine_state(&about);
  for (size_t i = 0; i < 1000; i++)
    ids[i] = 1;
  labels[999] = 9;
  sum_feed(&about, sums, ids, labels, NULL, 1000);
  pc_evidence evidence = machine_evidence(&about, sums);
  assert_same(evidence.sum.value[0], 1000.0);
  assert_same(evidence.sum.value[1], 1998.0);
  about.machine->clear(sums);
  evidence = machine_evidence(&about, sums);
  assert_same(evidence.sum.value[0], 0.0);
  assert_same(evidence.sum.infinite[1], 0.0);
  assert_true(evidence.sum.infinite_row[1] == PCAL_NO_ROW);
  about.machine->destroy(&about.env, sums);
}

/* One value a row: 0.1 times the index, at some indices tiny, large or infinite. */
static void single_values(const double *params, const pc_rows *rows, size_t begin, size_t count,
                          double *out) {
  (void)params;
  for (size_t i = 0; i < count; i++) {
    const uint64_t id = rows->ids[begin + i];
    out[i] = id % 101 == 7    ? 0x1p-1000
             : id % 700 == 13 ? 1e200
             : id == 1500     ? (double)INFINITY
                              : 0.1 * (double)(id % 100);
  }
}

/* Columns of single values are summed as a whole; the sums are those of the rows. */
TEST(test_columns_are_exact) {
  enum { ROWS = 2500 };
  static uint64_t ids[ROWS];
  static int32_t labels[ROWS];
  static double weights[ROWS];
  machine_case about = sum_case();
  about.need.sum.values = single_values;
  about.need.sum.value_count = 1;
  about.need.sum.products = 1;
  for (size_t i = 0; i < ROWS; i++) {
    ids[i] = i;
    weights[i] = 1.0;
  }
  for (size_t count = 1; count <= ROWS; count += 833) {
    void *columns = machine_state(&about), *rows = machine_state(&about);
    sum_feed(&about, columns, ids, labels, NULL, count);
    for (size_t i = 0; i < count; i++)
      sum_feed(&about, rows, ids + i, labels + i, weights + i, 1);
    const pc_evidence a = machine_evidence(&about, columns), b = machine_evidence(&about, rows);
    assert_same(a.sum.value[0], b.sum.value[0]);
    assert_same(a.sum.product[0][0], b.sum.product[0][0]);
    assert_same(a.sum.infinite[0], count > 1500 ? 1.0 : 0.0);
    assert_same(b.sum.infinite[0], a.sum.infinite[0]);
    assert_true(a.sum.infinite_row[0] == (count > 1500 ? 1500 : PCAL_NO_ROW));
    about.machine->destroy(&about.env, columns);
    about.machine->destroy(&about.env, rows);
  }
}
