#include "machines/grid_logs.h"

#include "../measure/measure_help.h"
#include "base/rng.h"

TEST(sums_by_outcome) {
  pc_grid_logs cell = {.infinite = 0};
  pc_grid_logs_add(&cell, 0.25, 1, 1.0);
  pc_grid_logs_add(&cell, 0.75, 1, 2.0);
  pc_grid_logs_add(&cell, 0.125, 0, 0.5);
  const pc_bin_logs logs = pc_grid_logs_value(&cell);
  assert_near(logs.sum[PC_LOG_HIT], log(0.25) + 2 * log(0.75), 1e-15);
  assert_near(logs.sum[PC_LOG_MISS], 0.5 * log(0.125), 1e-15);
  assert_near(logs.sum[PC_LOG_REST_HIT], log(0.75) + 2 * log(0.25), 1e-15);
  assert_near(logs.sum[PC_LOG_REST_MISS], 0.5 * log(0.875), 1e-14);
}

/* From the smallest double to the largest below 1. */
TEST(extreme_scores) {
  const double scores[] = {5e-324, 1e-310, 1e-300, 1e-17, 0.5, 1 - 0x1p-53};
  for (size_t i = 0; i < UNIT_COUNT(scores); i++) {
    pc_grid_logs cell = {.infinite = 0};
    pc_grid_logs_add(&cell, scores[i], 0, 1.0);
    const pc_bin_logs logs = pc_grid_logs_value(&cell);
    assert_true(fabs(logs.sum[PC_LOG_MISS] - log(scores[i])) < 3e-13);
    assert_true(fabs(logs.sum[PC_LOG_REST_MISS] - log1p(-scores[i])) < 2e-14);
    assert_int_equal(cell.infinite, 0);
  }
}

TEST(zeros_and_ones_are_marked) {
  static const struct {
    double score;
    int hit, infinite;
  } cases[] = {{0, 1, PC_LOG_HIT},       {0, 0, PC_LOG_MISS},
               {-1e-6, 0, PC_LOG_MISS},  {1, 1, PC_LOG_REST_HIT},
               {1, 0, PC_LOG_REST_MISS}, {1 + 1e-6, 0, PC_LOG_REST_MISS}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    pc_grid_logs cell = {.infinite = 0};
    pc_grid_logs_add(&cell, cases[i].score, cases[i].hit, 1.0);
    const pc_bin_logs logs = pc_grid_logs_value(&cell);
    assert_int_equal(logs.infinite, 1u << cases[i].infinite);
    for (int s = 0; s < PC_BIN_LOGS; s++)
      if (s == cases[i].infinite && (s == PC_LOG_HIT || s == PC_LOG_REST_MISS))
        assert_true(isinf(logs.sum[s]) && logs.sum[s] < 0);
      else
        assert_true(fabs(logs.sum[s]) < 1.1e-6);
  }
}

TEST(order_and_merging_do_not_matter) {
  const pc_rng rng = {1, 1};
  pc_grid_logs forward = {.infinite = 0}, parts[2] = {{.infinite = 0}, {.infinite = 0}};
  for (size_t i = 0; i < 1000; i++)
    pc_grid_logs_add(&forward, pc_rng_uniform(&rng, i), i % 3 == 0, 1 + (double)(i % 4));
  for (size_t i = 1000; i-- > 0;)
    for (size_t copy = 0; copy <= i % 4; copy++)
      pc_grid_logs_add(&parts[i % 2], pc_rng_uniform(&rng, i), i % 3 == 0, 1.0);
  parts[1].infinite = 2;
  assert_true(pc_grid_logs_addable(&parts[0], &parts[1]));
  pc_grid_logs_join(&parts[0], &parts[1]);
  for (size_t s = 0; s < PC_BIN_LOGS; s++)
    assert_true(parts[0].sum[s].units == forward.sum[s].units);
  assert_int_equal(parts[0].infinite, 2);
}

TEST(saved_and_loaded) {
  sink_bytes bytes = {0};
  pc_encoder encoder;
  pc_decoder decoder;
  pc_grid_logs cell = {.infinite = 0}, copy = {.infinite = 0};
  pc_grid_logs_add(&cell, 0.3, 1, 1.5);
  pc_grid_logs_add(&cell, 1.0, 0, 1.0);
  pc_encoder_init(&encoder, sink_collect, &bytes);
  pc_grid_logs_save(&cell, &encoder);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
  assert_int_equal(bytes.length, PC_GRID_LOGS_BYTES + PC_CHECKSUM_BYTES);
  pc_decoder_init(&decoder, bytes.bytes, bytes.length);
  pc_grid_logs_load(&copy, &decoder);
  assert_false(decoder.failed);
  assert_int_equal(copy.infinite, cell.infinite);
  for (size_t s = 0; s < PC_BIN_LOGS; s++)
    assert_true(copy.sum[s].units == cell.sum[s].units);
  bytes.bytes[PC_GRID_LOGS_BYTES - 1] = 16; /* no such sum */
  pc_decoder_init(&decoder, bytes.bytes, bytes.length);
  pc_grid_logs_load(&copy, &decoder);
  assert_true(decoder.failed);
  free(bytes.bytes);
}

TEST(sums_that_are_too_large) {
  pc_grid_logs small = {.infinite = 0}, large = {.infinite = 0};
  large.sum[PC_LOG_REST_MISS].units = -((pc_int128)1 << 126);
  assert_true(pc_grid_logs_addable(&small, &small));
  assert_false(pc_grid_logs_addable(&small, &large));
  assert_false(pc_grid_logs_addable(&large, &small));
}
