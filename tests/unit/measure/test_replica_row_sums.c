/* Sums of the values of rows over replicas, finite or not. */
#include "../unit.h"

#include "kernels/replica_sum_kernels.h"
#include "measure/replicas/replica_row_sums.h"

enum { ROWS = 5, VALUES = 2 };

/* Values 1, 2, ... and their negatives; those of the rows in `infinite` have an infinite first value. */
static int infinite[ROWS];

static void row_values(const double *params, const pc_rows *rows, size_t first, size_t count,
                       double *out) {
  (void)params;
  (void)rows;
  for (size_t i = 0; i < count; i++) {
    out[VALUES * i] = infinite[first + i] ? (double)INFINITY : (double)(first + i + 1);
    out[VALUES * i + 1] = -(double)(first + i + 1);
  }
}

static uint64_t row_ids[ROWS] = {50, 40, 30, 20, 10};

/* Evidence for the weights of one replica, in lanes 0 of a batch. */
static void row_sums(const float *weights, pc_evidence *out) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_need need = {0};
  pc_rows rows = {0};
  pc_replica_row_sums sums;
  float lanes[ROWS * PC_REPLICA_LANES] = {0};
  double batch[VALUES * PC_REPLICA_LANES] = {0};
  need.sum.value_count = VALUES;
  need.sum.values = row_values;
  rows.count = ROWS;
  rows.ids = row_ids;
  assert_int_equal(pc_replica_row_sums_new(&env, &need, &rows, &sums, NULL), PCAL_OK);
  for (size_t i = 0; i < ROWS; i++)
    lanes[i * PC_REPLICA_LANES] = weights[i];
  pc_replica_row_sums_add(&sums, lanes, batch);
  const pc_replica_draw drawn = {.weights = lanes, .stride = PC_REPLICA_LANES};
  pc_replica_row_sums_evidence(&sums, &drawn, batch, out);
  pc_replica_row_sums_free(&env, &sums);
}

TEST(finite_values) {
  static const float weights[ROWS] = {1, 0, 2, 3, 1};
  pc_evidence evidence;
  memset(infinite, 0, sizeof infinite);
  row_sums(weights, &evidence);
  assert_int_equal(evidence.sum.count, VALUES);
  assert_same(evidence.sum.value[0], 1.0 + 6 + 12 + 5);
  assert_same(evidence.sum.value[1], -24.0);
  assert_same(evidence.sum.infinite[0], 0.0);
  assert_true(evidence.sum.infinite_row[0] == PCAL_NO_ROW);
}

/* Infinite values are counted apart, with the lowest index of their rows; rows of weight 0 do not count. */
TEST(infinite_values) {
  static const float weights[ROWS] = {1, 0, 2, 3, 0}, none[ROWS] = {1, 0, 0, 1, 0};
  pc_evidence evidence;
  memset(infinite, 0, sizeof infinite);
  infinite[1] = infinite[2] = infinite[4] = 1;
  row_sums(weights, &evidence);
  assert_same(evidence.sum.value[0], 1.0 + 12);
  assert_same(evidence.sum.value[1], -(1.0 + 6 + 12));
  assert_same(evidence.sum.infinite[0], 2.0);
  assert_true(evidence.sum.infinite_row[0] == 30);
  assert_same(evidence.sum.infinite[1], 0.0);
  row_sums(none, &evidence);
  assert_same(evidence.sum.infinite[0], 0.0);
  assert_true(evidence.sum.infinite_row[0] == PCAL_NO_ROW);
  infinite[3] = 1;
  row_sums(weights, &evidence);
  assert_same(evidence.sum.infinite[0], 5.0);
  assert_true(evidence.sum.infinite_row[0] == 20);
  infinite[0] = 1; /* a later index does not replace it */
  row_sums(weights, &evidence);
  assert_true(evidence.sum.infinite_row[0] == 20);
}
