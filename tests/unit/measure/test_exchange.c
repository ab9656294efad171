#include "measure_help.h"

#include <math.h>

#include "measure/replicas/exchange.h"

#define EXCHANGE_ROWS 6

/* Draws of an exchange: half of the copies of a row change sides. */
TEST(test_draws) {
  const pc_rng rng = {3, UINT64_C(7) << 40};
  static const double weights[] = {1.0, 5.0, 200.0, 1e5};
  double moved[PC_EXCHANGE_BATCH], again[PC_EXCHANGE_BATCH];
  for (size_t w = 0; w < UNIT_COUNT(weights); w++) {
    const double n = weights[w];
    double sum = 0, square = 0, count = 0;
    for (uint64_t id = 0; id < 2000; id++)
      for (uint64_t first = 4; first < 12; first += PC_EXCHANGE_BATCH) {
        pc_exchange_draw(&rng, id, first, n, 1, moved);
        pc_exchange_draw(&rng, id, first, n, 1, again);
        for (size_t e = 0; e < PC_EXCHANGE_BATCH; e++) {
          assert_true(moved[e] >= 0 && moved[e] <= n && moved[e] == floor(moved[e]));
          assert_true(moved[e] == again[e]);
          sum += moved[e] - 0.5 * n;
          square += pow(moved[e] - 0.5 * n, 2);
          count++;
        }
      }
    assert_true(fabs(sum / count) < 4 * sqrt(0.25 * n / count));
    assert_true(fabs(square / count / (0.25 * n) - 1) < 0.06);
  }
}

/* The first exchange is none; a unit changes sides with all its weight. */
TEST(test_units) {
  const pc_rng rng = {3, UINT64_C(7) << 40};
  double moved[PC_EXCHANGE_BATCH];
  size_t whole = 0;
  for (uint64_t id = 0; id < 50; id++) {
    pc_exchange_draw(&rng, id, 0, 2.5, 0, moved);
    assert_true(moved[0] == 0.0);
    for (size_t e = 1; e < PC_EXCHANGE_BATCH; e++) {
      assert_true(moved[e] == 0.0 || moved[e] == 2.5);
      whole += moved[e] == 2.5;
    }
  }
  assert_true(whole > 45 && whole < 105);
}

typedef struct exchange_set {
  uint64_t ids[EXCHANGE_ROWS];
  int32_t labels[EXCHANGE_ROWS];
  double weights[EXCHANGE_ROWS], score[EXCHANGE_ROWS];
  uint64_t clusters[EXCHANGE_ROWS];
} exchange_set;

static pc_kept_rows exchange_rows(exchange_set *set, double first) {
  for (size_t i = 0; i < EXCHANGE_ROWS; i++) {
    set->ids[i] = i;
    set->labels[i] = i % 2 == 0;
    set->weights[i] = 1;
    set->score[i] = 0.1 * (double)i;
    set->clusters[i] = (uint32_t)(i / 2);
  }
  set->score[0] = first;
  return (pc_kept_rows){.count = EXCHANGE_ROWS,
                        .classes = 2,
                        .ids = set->ids,
                        .labels = set->labels,
                        .weights = set->weights,
                        .score = set->score};
}

TEST(test_what_differs) {
  const pcal_env env = pc_env_resolve(NULL);
  exchange_set sets[2];
  pc_kept_rows rows[2] = {exchange_rows(&sets[0], 0.0), exchange_rows(&sets[1], 0.3)};
  const pc_kept_rows *both[2] = {&rows[0], &rows[1]};
  pc_layout layout, other;
  pc_exchange_check check;
  assert_int_equal(pc_layout_make(PCAL_PROBABILITY, 1, &layout, NULL), PCAL_OK);
  assert_int_equal(pc_layout_make(PCAL_PROBABILITY, 2, &other, NULL), PCAL_OK);
  const pc_layout *same[2] = {&layout, &layout}, *mixed[2] = {&layout, &other};
  assert_int_equal(pc_exchange_compare(&env, same, both, &check, NULL), PCAL_OK);
  assert_true(check.possible && check.differ == 1 && check.score_distance == 0.0);
  for (size_t i = 0; i < EXCHANGE_ROWS; i++)
    sets[1].score[i] = sets[0].score[i] + 0.01 * (double)(3 + i % 2);
  assert_int_equal(pc_exchange_compare(&env, same, both, &check, NULL), PCAL_OK);
  assert_true(check.possible && check.differ == EXCHANGE_ROWS && check.score_distance > 3.481);
  rows[0].clusters = sets[0].clusters;
  rows[1].clusters = sets[1].clusters;
  assert_int_equal(pc_exchange_compare(&env, same, both, &check, NULL), PCAL_OK);
  assert_true(check.differ == EXCHANGE_ROWS / 2 && check.score_distance > 3.481);
  assert_int_equal(pc_exchange_compare(&env, mixed, both, &check, NULL), PCAL_OK);
  assert_true(!check.possible);
  sets[1].labels[2] = !sets[1].labels[2];
  assert_int_equal(pc_exchange_compare(&env, same, both, &check, NULL), PCAL_DATA);
}

TEST(test_joined) {
  const pcal_env env = pc_env_resolve(NULL);
  exchange_set sets[2];
  const pc_kept_rows rows[2] = {exchange_rows(&sets[0], 0.0), exchange_rows(&sets[1], 0.3)};
  const pc_kept_rows *both[2] = {&rows[0], &rows[1]};
  pc_kept_rows joined;
  assert_int_equal(pc_exchange_join(&env, both, &joined, NULL), PCAL_OK);
  assert_int_equal(joined.count, 2 * EXCHANGE_ROWS);
  assert_true(joined.probs == NULL && joined.clusters == NULL);
  assert_true(joined.score[0] == 0.0 && joined.score[EXCHANGE_ROWS] == 0.3);
  assert_int_equal(joined.ids[EXCHANGE_ROWS + 2], 2);
  assert_int_equal(pc_exchange_bytes(&joined), 2 * EXCHANGE_ROWS * (8 + 4 + 8 + 8));
  pc_exchange_free(&env, &joined);
  assert_true(pc_exchange_whole(&rows[0]));
  sets[0].weights[3] = 0.5;
  assert_true(!pc_exchange_whole(&rows[0]));
}
