/* Sums of a logistic regression: against plain sums, and parts against the whole. */
#include "unit.h"

#include <math.h>

#include "../../sinks.h"
#include "base/rng.h"
#include "curve/logit_sums.h"

#define LOGIT_ROWS 500

static pc_logit_sums logit_of_rows(pc_logit_point at, size_t begin, size_t end) {
  const pc_rng rng = {3, 8};
  pc_logit_sums sums = pc_logit_sums_none(at);
  for (size_t i = begin; i < end; i++) {
    const double score = pc_rng_uniform(&rng, i), weight = (double)(1 + i % 3);
    const int hit = pc_rng_uniform(&rng, LOGIT_ROWS + i) < score;
    pc_logit_sums_add(&sums, score, hit ? 0.0 : weight, hit ? weight : 0.0);
  }
  return sums;
}

/* Two scores by hand, one of them with both outcomes. */
TEST(by_hand) {
  const double a = 0.3, b = 0.8, p[2] = {0.2, 0.7};
  pc_logit_sums sums = pc_logit_sums_none((pc_logit_point){a, b, 0.0});
  double likelihood = 0.0, gradient[2] = {0.0, 0.0}, hessian[3] = {0.0, 0.0, 0.0};
  const double misses[2] = {3, 0}, hits[2] = {2, 4};
  for (int i = 0; i < 2; i++) {
    const double x = log(p[i] / (1 - p[i])), q = 1 / (1 + exp(-a - b * x));
    const double gap = hits[i] - (hits[i] + misses[i]) * q;
    const double spread = (hits[i] + misses[i]) * q * (1 - q);
    pc_logit_sums_add(&sums, p[i], misses[i], hits[i]);
    likelihood += hits[i] * log(q) + misses[i] * log(1 - q);
    gradient[0] += gap;
    gradient[1] += gap * x;
    hessian[0] += spread;
    hessian[1] += spread * x;
    hessian[2] += spread * x * x;
  }
  assert_true(fabs(pc_logit_sums_value(sums.likelihood) - likelihood) < 1e-12);
  for (int i = 0; i < 2; i++)
    assert_true(fabs(pc_logit_sums_value(sums.gradient[i]) - gradient[i]) < 1e-12);
  for (int i = 0; i < 3; i++)
    assert_true(fabs(pc_logit_sums_value(sums.hessian[i]) - hessian[i]) < 1e-12);
  assert_int_equal(sums.rows, 9);
  assert_same(sums.low[0], 0.2);
  assert_same(sums.high[0], 0.2);
  assert_same(sums.low[1], 0.2);
  assert_same(sums.high[1], 0.7);
}

/* Scores of 0 and 1 have no logit, unless they are clipped. */
TEST(certain_scores) {
  pc_logit_sums sums = pc_logit_sums_none((pc_logit_point){0.0, 1.0, 0.0});
  pc_logit_sums_add(&sums, 0.0, 2.0, 0.0);
  pc_logit_sums_add(&sums, 1.0, 0.0, 1.0);
  assert_same(pc_fixed_value(&sums.certain), 3.0);
  assert_false(sums.refuted);
  pc_logit_sums_add(&sums, 1.0, 1.0, 0.0);
  assert_true(sums.refuted);
  assert_true(sums.low[0] > sums.high[0] && sums.likelihood == 0);
  sums = pc_logit_sums_none((pc_logit_point){0.0, 1.0, 0.25});
  pc_logit_sums_add(&sums, 1.0, 1.0, 0.0);
  assert_true(fabs(pc_logit_sums_value(sums.likelihood) - log(0.25)) < 1e-12);
}

static sink_bytes logit_write(const pc_logit_sums *sums) {
  static pc_encoder encoder;
  sink_bytes out = {0};
  pc_encoder_init(&encoder, sink_collect, &out);
  pc_encode_logit_sums(&encoder, sums);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
  return out;
}

/* Parts in another order, one of them as bytes, give the bytes of the whole. */
TEST(parts_and_bytes) {
  const pc_logit_point at = {-0.1, 1.7, 0.01};
  const pc_logit_sums whole = logit_of_rows(at, 0, LOGIT_ROWS);
  const pc_logit_sums first = logit_of_rows(at, 0, 200);
  pc_logit_sums merged = logit_of_rows(at, 200, LOGIT_ROWS), read;
  sink_bytes bytes = logit_write(&first), expected = logit_write(&whole);
  pc_decoder in;
  pc_decoder_init(&in, bytes.bytes, bytes.length - PC_CHECKSUM_BYTES);
  pc_decode_logit_sums(&in, &read);
  assert_false(in.failed);
  assert_int_equal(pc_decoder_left(&in), 0);
  assert_true(pc_logit_points_equal(&read.at, &at));
  pc_logit_sums_merge(&merged, &read);
  sink_bytes found = logit_write(&merged);
  assert_int_equal(found.length, expected.length);
  assert_memory_equal(found.bytes, expected.bytes, found.length);
  free(bytes.bytes);
  free(expected.bytes);
  free(found.bytes);
}

/* Sums that no rows could have. */
TEST(forged_sums) {
  pc_logit_sums sums = logit_of_rows((pc_logit_point){0.0, 1.0, 0.0}, 0, 10), read;
  sums.gradient[0] = (pc_int128)(sums.rows + 1) << 62;
  sink_bytes bytes = logit_write(&sums);
  pc_decoder in;
  pc_decoder_init(&in, bytes.bytes, bytes.length - PC_CHECKSUM_BYTES);
  pc_decode_logit_sums(&in, &read);
  assert_true(in.failed);
  free(bytes.bytes);
}
