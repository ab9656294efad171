#include "measure_help.h"

#include <math.h>

#include "measure/replicas/draws.h"
#include "measure/replicas/exchange.h"
#include "measure/replicas/replica_weights.h"

enum { ROWS = 14, BATCHES = 40 };

/* Rows of weight 1 take a short way; with one other weight among them all go the long way, which
 * must give the same weights, as pc_exchange_draw does for each row. */
TEST(exchanged_rows_of_weight_one) {
  uint64_t ids[ROWS];
  double ones[ROWS], copies[ROWS], mixed[ROWS], total[PC_REPLICA_LANES],
      other[PC_REPLICA_LANES];
  uint32_t bits[2][ROWS][4];
  float drawn[ROWS * PC_REPLICA_LANES], slow[ROWS * PC_REPLICA_LANES];
  for (size_t i = 0; i < ROWS; i++) {
    ids[i] = i % (ROWS / 2);
    ones[i] = copies[i] = mixed[i] = 1.0;
  }
  mixed[ROWS - 1] = 3.0;
  pc_kept_rows rows = {.count = ROWS, .ids = ids, .weights = ones, .copies = copies};
  const pc_replica_request request = {
      .rows = &rows, .kind = PC_REPLICA_EXCHANGE, .half = ROWS / 2, .whole = 1};
  pc_replica_bits fast_bits = {bits[0], 0}, slow_bits = {bits[1], 0};
  const pc_rng rng = {9, UINT64_C(5) << 40};
  for (size_t batch = 0; batch < BATCHES; batch++) {
    rows.weights = ones;
    pc_replica_weights(&request, 9, batch, &fast_bits, drawn, total);
    rows.weights = mixed;
    pc_replica_weights(&request, 9, batch, &slow_bits, slow, other);
    assert_memory_equal(drawn, slow, (ROWS - 1) * PC_REPLICA_LANES * sizeof *drawn);
    double sums[PC_REPLICA_LANES] = {0.0};
    for (size_t i = 0; i < ROWS; i++) {
      double moved[PC_EXCHANGE_BATCH];
      const size_t side = i < ROWS / 2 ? 0 : 1;
      pc_exchange_draw(&rng, ids[i], batch * PC_EXCHANGE_BATCH, 1.0, 1, moved);
      for (size_t q = 0; q < PC_REPLICA_LANES; q++) {
        const double weight = q % 2 == side ? 1.0 - moved[q / 2] : moved[q / 2];
        assert_same((double)drawn[i * PC_REPLICA_LANES + q], weight);
        sums[q] += weight;
      }
    }
    assert_memory_equal(total, sums, sizeof sums);
  }
}

/* Rows of several copies draw one count for all of them, the same for a row alone as among others,
 * with few copies (probabilities from a table), many and very many. */
TEST(rows_of_several_copies_draw_their_count) {
  const double sizes[] = {1.0, 2.0, 3.0, 9.0, 10.0, 2.5, 1000.0, 2e6};
  enum { SIZES = sizeof sizes / sizeof *sizes, COPIED = 300 };
  uint64_t ids[COPIED];
  double ones[COPIED], copies[COPIED], total[PC_REPLICA_LANES];
  float drawn[COPIED * PC_REPLICA_LANES];
  double sum = 0.0;
  for (size_t i = 0; i < COPIED; i++) {
    ids[i] = 7 * i + 1;
    ones[i] = 1.0;
    copies[i] = sizes[i % SIZES];
  }
  pc_kept_rows rows = {.count = COPIED, .ids = ids, .weights = ones, .copies = copies};
  const pc_replica_request request = {.rows = &rows, .kind = PC_REPLICA_WEIGHTS};
  for (size_t batch = 0; batch < BATCHES; batch++) {
    pc_replica_weights(&request, 9, batch, NULL, drawn, total);
    for (size_t i = 0; i < COPIED; i++)
      for (size_t q = 0; q < PC_REPLICA_LANES; q++) {
        const double weight = (double)drawn[i * PC_REPLICA_LANES + q];
        assert_same(weight, (double)(float)pc_draw_count(9, batch * PC_REPLICA_LANES + q,
                                                         ids[i], copies[i]));
        sum += copies[i] == 3.0 ? weight : 0.0;
      }
  }
  const double draws = (double)BATCHES * PC_REPLICA_LANES * (COPIED / SIZES + 1);
  assert_true(fabs(sum / draws - 3.0) < 5.0 * sqrt(3.0 / draws));
}
