/* Numbers in brackets are the edge cases of features.c. */
#include "calibrators/features.h"

#include "../unit.h"

static const pc_layout logits = {PCAL_LOGIT, 3, 3}, probs = {PCAL_PROBABILITY, 3, 3};
static const pc_layout one_logit = {PCAL_LOGIT, 1, 2}, one_prob = {PCAL_PROBABILITY, 1, 2};

TEST(counts) {
  assert_int_equal(pc_feature_count(PC_FEATURE_SCORES, &one_logit), 2);
  assert_int_equal(pc_feature_count(PC_FEATURE_LOG_PROBS, &logits), 3);
  assert_int_equal(pc_feature_count(PC_FEATURE_LOG_ODDS, &one_logit), 1);
  assert_int_equal(pc_feature_count(PC_FEATURE_BETA, &logits), 6);
  assert_int_equal(pc_feature_count(PC_FEATURE_BETA, &one_prob), 2);
}

TEST(closed_forms) {
  const double z[3] = {1.0, 2.0, 0.5}, logs[3] = {log(0.2), log(0.7), log(0.1)};
  const double norm = log(exp(1.0) + exp(2.0) + exp(0.5)), pair[2] = {log(0.7), log(0.3)};
  double out[6];
  pc_feature_row(PC_FEATURE_SCORES, &logits, z, out);
  assert_memory_equal(out, z, sizeof z);
  pc_feature_row(PC_FEATURE_LOG_PROBS, &logits, z, out);
  for (size_t j = 0; j < 3; j++)
    assert_near(out[j], z[j] - norm, 1e-14);
  pc_feature_row(PC_FEATURE_LOG_ODDS, &probs, logs, out);
  assert_near(out[0], log(0.2 / 0.8), 1e-14);
  assert_near(out[1], log(0.7 / 0.3), 1e-14);
  pc_feature_row(PC_FEATURE_BETA, &probs, logs, out);
  assert_near(out[1], log(0.7), 1e-15);
  assert_near(out[4], -log(0.3), 1e-14);
  pc_feature_row(PC_FEATURE_BETA, &logits, z, out);
  for (size_t j = 0; j < 3; j++) {
    const double p = exp(z[j] - norm);
    assert_near(out[j], log(p), 1e-13);
    assert_near(out[3 + j], -log(1.0 - p), 1e-13);
  }
  pc_feature_row(PC_FEATURE_LOG_ODDS, &one_prob, pair, out);
  assert_near(out[0], log(0.3 / 0.7), 1e-14);
  pc_feature_row(PC_FEATURE_BETA, &one_prob, pair, out);
  assert_near(out[0], log(0.3), 1e-15);
  assert_near(out[1], -log(0.7), 1e-15);
}

/* [1], [2], [3], [4] */
TEST(ends_of_the_range) {
  const double huge[3] = {1.7e308, -1.7e308, 0.0}, certain[3] = {0.0, -INFINITY, -INFINITY};
  const double above[3] = {1e-6, -INFINITY, -50.0}, sure[3] = {40.0, 0.0, -40.0};
  const double clip = -52.0 * log(2.0);
  double out[6];
  pc_feature_row(PC_FEATURE_SCORES, &logits, huge, out);
  assert_same(out[0], 1e150);
  assert_same(out[1], -1e150);
  pc_feature_row(PC_FEATURE_LOG_PROBS, &logits, huge, out);
  assert_same(out[0], 0.0);
  assert_near(out[1], -149.0 * log(2.0), 1e-15);
  pc_feature_row(PC_FEATURE_SCORES, &probs, certain, out);
  assert_near(out[1], -149.0 * log(2.0), 1e-15);
  pc_feature_row(PC_FEATURE_LOG_ODDS, &probs, certain, out);
  assert_near(out[0], -clip, 1e-15);
  assert_near(out[1], clip, 1e-15);
  pc_feature_row(PC_FEATURE_BETA, &probs, above, out);
  assert_same(out[0], 0.0);
  assert_near(out[3], -clip, 1e-15);
  assert_near(out[2], clip, 1e-15);
  pc_feature_row(PC_FEATURE_BETA, &logits, sure, out);
  assert_near(out[3], -clip, 1e-15);
  for (size_t j = 0; j < 6; j++)
    assert_true(isfinite(out[j]));
}
