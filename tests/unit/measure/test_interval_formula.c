/* Intervals by formula; numbers in brackets are the edge cases of interval_formula.c. */
#include "../unit.h"

#include "base/normal.h"
#include "measure/interval_formula.h"

static pc_interval_request request_of(double level, pcal_interval_method method) {
  const pc_interval_request request = {.level = level, .method = method};
  return request;
}

/* value -+ 1.96 se. */
TEST(estimates_with_an_error_of_their_own) {
  const pc_interval_request request = request_of(0.95, PCAL_INTERVAL_AUTO);
  const double z = pc_normal_quantile(0.975);
  pc_metric_result outcome = {0};
  pc_interval_result out = {0};
  outcome.value = 2.0;
  outcome.se = 0.5;
  pc_interval_of_estimate(&request, &outcome, &out);
  assert_true(out.has_interval && out.method == PCAL_INTERVAL_NORMAL);
  assert_near(out.low, 2.0 - 0.5 * z, 1e-14);
  assert_near(out.high, 2.0 + 0.5 * z, 1e-14);
}

/* [2] no level, no value, an infinite one, or no standard error. */
TEST(estimates_without_an_interval) {
  const pc_interval_request none = request_of(0, PCAL_INTERVAL_AUTO),
                            some = request_of(0.9, PCAL_INTERVAL_AUTO);
  pc_metric_result outcome = {0};
  pc_interval_result out = {0};
  outcome.value = outcome.se = 1.0;
  pc_interval_of_estimate(&none, &outcome, &out);
  outcome.undefined = 1;
  pc_interval_of_estimate(&some, &outcome, &out);
  outcome.undefined = 0;
  outcome.value = INFINITY;
  pc_interval_of_estimate(&some, &outcome, &out);
  assert_true(!out.has_interval && out.why[0] == '\0');
  outcome.value = 1.0;
  outcome.se = NAN;
  pc_interval_of_estimate(&some, &outcome, &out);
  assert_false(out.has_interval);
  assert_string_equal(out.why, "these rows do not determine a standard error");
}

/* [7] one event of 4: the interval of counts is wider than the one that the user asked for by name. */
TEST(few_events) {
  pc_metric_result outcome = {0};
  pc_interval_result allowed = {0}, plain = {0};
  outcome.value = 0.25;
  outcome.se = 0.2;
  outcome.count = (pc_interval_count){.none = 0.0, .all = 1.0, .one = 0.25};
  const pc_interval_request automatic = request_of(0.95, PCAL_INTERVAL_AUTO),
                            normal = request_of(0.95, PCAL_INTERVAL_NORMAL);
  pc_interval_of_estimate(&automatic, &outcome, &allowed);
  pc_interval_of_estimate(&normal, &outcome, &plain);
  assert_near(plain.high, 0.25 + 0.2 * pc_normal_quantile(0.975), 1e-14);
  assert_true(allowed.high > plain.high);
}

/* Blocks 1, 2, 3: mean 2, standard error sqrt((14/3 - 4) / 2). */
TEST(means_over_blocks) {
  const pc_interval_request request = request_of(0.95, PCAL_INTERVAL_AUTO);
  const double z = pc_normal_quantile(0.975), se = sqrt((14.0 / 3 - 4) / 2);
  pc_metric_result outcome = {0};
  pc_evidence evidence;
  pc_interval_result out = {0};
  memset(&evidence, 0, sizeof evidence);
  evidence.block.count = 3;
  evidence.block.sum = 6;
  evidence.block.squares = 14;
  outcome.value = 2;
  pc_interval_of_blocks(&request, &evidence, &outcome, &out);
  assert_near(out.low, 2 - z * se, 1e-12);
  assert_near(out.high, 2 + z * se, 1e-12);
  assert_near(out.se, se, 1e-12);
  outcome.inner_power =
      2; /* a root: ends are mapped, and the error by its slope 1 / (2 value) */
  outcome.value = sqrt(2.0);
  pc_interval_of_blocks(&request, &evidence, &outcome, &out);
  assert_near(out.high, sqrt(2 + z * se), 1e-12);
  assert_near(out.se, se * 0.5 / sqrt(2.0), 1e-12);
  outcome.value = 0; /* no slope there: the ratio of the widths */
  pc_interval_of_blocks(&request, &evidence, &outcome, &out);
  assert_near(out.se, se * (out.high - out.low) / (2 * z * se), 1e-12);
  evidence.block.sum = evidence.block.squares = 0; /* all blocks are 0 */
  pc_interval_of_blocks(&request, &evidence, &outcome, &out);
  assert_true(out.se == 0 && out.low == 0 && out.high == 0);
}

TEST(blocks_without_an_interval) {
  pc_interval_request request = request_of(0.95, PCAL_INTERVAL_AUTO);
  pc_metric_result outcome = {0};
  pc_evidence evidence;
  pc_interval_result out = {0};
  memset(&evidence, 0, sizeof evidence);
  evidence.block.count = 1;
  pc_interval_of_blocks(&request, &evidence, &outcome, &out);
  assert_string_equal(out.why,
                      "the variance between blocks cannot be estimated from one block");
  evidence.block.count = 3;
  request.by_cluster = 1;
  pc_interval_of_blocks(&request, &evidence, &outcome, &out);
  assert_string_equal(out.why, "blocks of rows ignore clusters; choose another estimator");
  out = (pc_interval_result){0};
  request = request_of(0, PCAL_INTERVAL_AUTO);
  pc_interval_of_blocks(&request, &evidence, &outcome, &out);
  request.level = 0.9;
  outcome.tested = 1;
  pc_interval_of_blocks(&request, &evidence, &outcome, &out);
  outcome.tested = 0;
  outcome.undefined = 1;
  pc_interval_of_blocks(&request, &evidence, &outcome, &out);
  assert_true(!out.has_interval && out.why[0] == '\0');
}

static void bound_check(double value, double low, double high, double want_low,
                        double want_high) {
  const pc_range range = {0.0, 1.0};
  pc_interval_result out = {.has_interval = 1, .low = low, .high = high};
  pc_interval_bound(&range, value, &out);
  assert_near(out.low, want_low, 1e-15);
  assert_near(out.high, want_high, 1e-15);
}

/* [6] */
TEST(bounds) {
  bound_check(0.5, -0.5, 1.5, 0, 1);
  bound_check(0.5, 0.6, 0.7, 0.5, 0.7); /* contains its estimate */
  bound_check(-0.25, -0.5, 0.25, -0.25,
              0.5); /* reaches as far into the range as from its end */
  bound_check(-0.25, -0.75, -0.5, -0.25, 0);
  bound_check(1.25, 0.75, 1.5, 0.5, 1.25);
  bound_check(1.25, 1.5, 1.75, 1, 1.25);
  pc_interval_result none = {.low = -3, .high = 3};
  pc_interval_bound(&(const pc_range){0.0, 1.0}, 0.5, &none);
  assert_true(none.low == -3 && none.high == 3);
}

/* [8] */
TEST(few_rows) {
  pc_interval_result out = {.has_interval = 1, .method = PCAL_INTERVAL_NORMAL};
  pc_interval_warn_few(10, 100, "wrong", &out);
  assert_string_equal(out.few_rows, "");
  pc_interval_warn_few(3, 100, "wrong", &out);
  assert_string_equal(out.few_rows,
                      "only 3 of 100 rows are wrong, too few for an interval with "
                      "the stated coverage; use more rows");
  pc_interval_warn_few(3.25, 100, "wrong", &out);
  assert_memory_equal(out.few_rows, "only 3.25 of 100.0 effective rows are wrong", 43);
  pc_interval_warn_few(3, 100.5, "wrong", &out);
  assert_memory_equal(out.few_rows, "only 3.00 of 100.5 effective rows are wrong", 43);
  const pcal_interval_method holds[] = {PCAL_INTERVAL_WILSON, PCAL_INTERVAL_POISSON};
  for (size_t i = 0; i < UNIT_COUNT(holds); i++) {
    out = (pc_interval_result){.has_interval = 1, .method = holds[i]};
    pc_interval_warn_few(3, 100, "wrong", &out);
    assert_string_equal(out.few_rows, "");
  }
  out = (pc_interval_result){0};
  pc_interval_warn_few(3, 100, "wrong", &out);
  assert_string_equal(out.few_rows, "");
}

/* Requests are the same if every field is. */
TEST(equal_requests) {
  const pc_interval_request one = {.level = 0.9, .replicas = 10};
  const pc_interval_request others[] = {
      {.level = 0.8, .replicas = 10},
      {.level = 0.9, .replicas = 11},
      {.level = 0.9, .replicas = 10, .method = PCAL_INTERVAL_NORMAL},
      {.level = 0.9, .replicas = 10, .null = 1},
      {.level = 0.9, .replicas = 10, .by_cluster = 1},
      {.level = 0.9, .replicas = 10, .paired = 1}};
  assert_true(pc_interval_request_equal(&one, &one));
  for (size_t i = 0; i < UNIT_COUNT(others); i++)
    assert_false(pc_interval_request_equal(&one, &others[i]));
}
