#include "../unit.h"

#include <math.h>
#include <string.h>

#include "measure/replicas/paired_test.h"

/* T of both models after exchanges whose |D*| are 0.01, 0.02 ... 1.00, and before. */
#define PAIRED_EXCHANGES 99

static double paired_room[2][PAIRED_EXCHANGES + 1];

static pc_paired_sample paired_given(double a, double b) {
  pc_paired_sample sample = {.value = {a, b}, .level = 0.95, .zero_if_calibrated = 1};
  sample.exchanged[0] = paired_room[0];
  sample.exchanged[1] = paired_room[1];
  sample.exchanges = PAIRED_EXCHANGES + 1;
  sample.se[0] = sample.se[1] = 0.3;
  sample.deviation = 0.48; /* 1.25 times that is 0.6 */
  paired_room[0][0] = a;
  paired_room[1][0] = b;
  for (size_t i = 1; i <= PAIRED_EXCHANGES; i++) {
    const double sign = i % 2 == 0 ? 1.0 : -1.0;
    paired_room[0][i] = 2.0 + 0.005 * sign * (double)i;
    paired_room[1][i] = 2.0 - 0.005 * sign * (double)i;
  }
  return sample;
}

static pc_paired_finding paired_found(pc_paired_sample sample) {
  pc_paired_finding finding;
  assert_int_equal(pc_paired_judge(&sample, &finding), 1);
  return finding;
}

/* |D*| are i / 100: of 99 exchanges 99 - k + 1 are at least k / 100. */
TEST(test_share_of_exchanges) {
  const pc_paired_finding some = paired_found(paired_given(2.0, 1.5));
  assert_near(some.p_value, 51.0 / 100, 1e-12);
  assert_near(some.low, 0.5 - 0.96, 1e-9); /* p < 0.05: at most 3 exchanges as large */
  assert_near(some.high, 0.5 + 0.96, 1e-9);
  assert_int_equal(some.method, PCAL_DIFFERENCE_EXCHANGE);
  const pc_paired_finding none = paired_found(paired_given(2.0, 2.0));
  assert_near(none.p_value, 1.0, 0.0);
  assert_true(none.low < 0 && none.high > 0);
}

TEST(test_p_value_and_interval_agree) {
  for (int i = -120; i <= 120; i++) {
    const double d = 0.01 * i;
    const pc_paired_finding found = paired_found(paired_given(2.0 + d, 2.0));
    const int excludes = found.low > 0 || found.high < 0;
    assert_int_equal(found.p_value < 0.05, excludes);
    assert_int_equal(excludes, abs(i) > 96);
  }
}

/* Errors together above those of nearly all exchanges, and scores of another law: 1.25 times
 * the spread of replicas, z times. */
TEST(test_models_that_err_differently) {
  pc_paired_sample sample = paired_given(4.0, 2.9);
  assert_near(paired_found(sample).p_value, 0.01, 1e-12);
  sample = paired_given(4.0, 2.9);
  sample.score_distance = 3.0; /* as chance alone shows in some sets of equal models */
  assert_near(paired_found(sample).p_value, 0.01, 1e-12);
  sample = paired_given(4.0, 2.9);
  sample.score_distance = 10.0;
  const pc_paired_finding found = paired_found(sample);
  assert_int_equal(found.method, PCAL_DIFFERENCE_EXCHANGE_WIDE);
  assert_near(found.high - found.low, 2 * 1.959963984540054 * 0.6, 1e-9);
  assert_near(found.p_value, erfc(1.1 / 0.6 / sqrt(2.0)), 1e-9);
  sample = paired_given(4.0, 2.9);
  sample.score_distance = 10.0;
  sample.zero_if_calibrated = 0; /* a score that calibrated models have too */
  assert_int_equal(paired_found(sample).method, PCAL_DIFFERENCE_EXCHANGE);
  sample = paired_given(2.0, 0.9); /* less error than after exchanging */
  sample.score_distance = 10.0;
  assert_int_equal(paired_found(sample).method, PCAL_DIFFERENCE_EXCHANGE);
  sample = paired_given(2.0, 0.9); /* but mostly bias */
  sample.score_distance = 10.0;
  sample.dominant_bias = 0.5;
  assert_int_equal(paired_found(sample).method, PCAL_DIFFERENCE_EXCHANGE_WIDE);
  sample = paired_given(2.0, 0.9);
  sample.score_distance = 10.0;
  sample.dominant_bias = 0.5;
  assert_near(paired_found(sample).p_value, erfc(0.6 / 0.6 / sqrt(2.0)), 1e-9);
}

/* Scores of another law: a difference whose sign replicas do not share is none. */
TEST(test_direction) {
  pc_paired_sample sample = paired_given(2.0, 0.9);
  sample.sign_p = 0.2;
  assert_near(paired_found(sample).p_value, 0.01, 1e-12); /* equal in law: the exchange alone */
  sample = paired_given(2.0, 0.9);
  sample.sign_p = 0.2;
  sample.score_distance = 10.0;
  const pc_paired_finding found = paired_found(sample);
  assert_int_equal(found.method, PCAL_DIFFERENCE_EXCHANGE);
  assert_near(found.p_value, 0.2, 1e-12);
  assert_true(found.low <= 0.0 && found.high >= 1.1);
  sample = paired_given(2.0, 0.9);
  sample.sign_p = 0.2;
  sample.score_distance = 10.0;
  sample.zero_if_calibrated = 0; /* scores are sums, not sizes of gaps */
  assert_near(paired_found(sample).p_value, 0.01, 1e-12);
}

/* A bias of 0.05 in replicas may be 0.2414 in D. */
TEST(test_bias) {
  pc_paired_sample sample = paired_given(3.1, 2.0);
  sample.bias = 0.05;
  sample.score_distance = 2.0; /* the same distribution has the same bias */
  assert_near(paired_found(sample).low, 1.1 - 0.96, 1e-9);
  sample = paired_given(3.1, 2.0);
  sample.bias = 0.05;
  sample.score_distance = 2.5;
  const pc_paired_finding found = paired_found(sample);
  assert_near(found.low, 1.1 - 0.2414213562373095 - 0.96, 1e-9);
  assert_near(found.high, 1.1 + 0.96, 1e-9);
  assert_true(found.p_value > 0.05);
  sample = paired_given(2.1, 2.0);
  sample.bias = 0.05; /* all of it may be bias */
  sample.score_distance = 2.5;
  assert_near(paired_found(sample).p_value, 1.0, 0.0);
}

TEST(test_without_exchanges) {
  pc_paired_sample sample = {.value = {1.0, 0.0},
                             .se = {0.2, 0.3},
                             .deviation = 0.1,
                             .level = 0.95,
                             .zero_if_calibrated = 1};
  pc_paired_finding found = paired_found(sample);
  assert_int_equal(found.method, PCAL_DIFFERENCE_REPLICAS);
  assert_near(found.high, 1.0 + 1.959963984540054 * 0.5, 1e-9);
  sample.zero_if_calibrated = 0;
  found = paired_found(sample);
  assert_near(found.high, 1.0 + 1.959963984540054 * 0.1, 1e-9);
  sample.deviation = (double)NAN;
  assert_int_equal(pc_paired_judge(&sample, &found), 0);
}

/* Without enough exchanges nothing can be below 1 - level. */
TEST(test_few_exchanges) {
  pc_paired_sample sample = paired_given(9.0, 2.0);
  sample.exchanges = 11;
  const pc_paired_finding found = paired_found(sample);
  assert_near(found.p_value, 1.0 / 11, 1e-12);
  assert_true(found.low <= 0 && found.high >= 7.0);
}

TEST(test_lacking_values) {
  pc_paired_sample sample = paired_given(2.0, 1.5);
  for (size_t i = 1; i <= 5; i++)
    paired_room[0][i] = (double)NAN;
  assert_near(paired_found(sample).p_value, 51.0 / 95, 1e-12);
  sample = paired_given(2.0, 1.5);
  for (size_t i = 1; i <= 20; i++)
    paired_room[1][i] = (double)NAN;
  assert_int_equal(paired_found(sample).method, PCAL_DIFFERENCE_REPLICAS);
}

TEST(test_roots) {
  assert_near(pc_paired_root(0.09, 0.01, 2, 0.08), 0.2, 1e-15);
  assert_near(pc_paired_root(0.01, 0.09, 2, -0.08), -0.2, 1e-15);
  assert_near(pc_paired_root(0.09, 0.01, 2, 0.0), 0.0, 0.0);
  assert_near(pc_paired_root(0.09, 0.01, 2, 0.25), 0.5, 1e-15);
  assert_near(pc_paired_root(-0.5, -0.2, 2, 0.04), 0.2, 1e-15);
  assert_near(pc_paired_root(0.09, 0.01, 1, 0.07), 0.07, 0.0);
}

TEST(test_names) {
  assert_string_equal(pc_paired_method_name(PCAL_DIFFERENCE_EXCHANGE), "exchange");
  assert_string_equal(pc_paired_method_name(PCAL_DIFFERENCE_EXCHANGE_WIDE), "exchange-wide");
  assert_string_equal(pc_paired_method_name(PCAL_DIFFERENCE_REPLICAS), "replicas");
}
