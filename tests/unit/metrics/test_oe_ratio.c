/* Observed to expected events, with the delta method on the logarithmic scale. */
#include "event_rows.h"

#include "stats/interval.h"

TEST(test_oe_interval) {
  event_rows rows;
  const given_data data = event_rows_given(&rows);
  event_check_interval(&data, "oe-ratio", 1.25, 1.0442128047332373, 1.4963425011812304);
}

TEST(test_oe_views) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2,
                           .columns = 2,
                           .scores = (const double[]){0.9, 0.1, 0.4, 0.6},
                           .labels = (const int32_t[]){0, 1}};
  assert_near(given_value(&data, "oe-ratio"), 1 / 0.7, 1e-14);
  assert_near(given_value(&data, "oe-ratio:view=top"), 2 / 1.5, 1e-14);
}

/* Edge case 1. */
TEST(test_nothing_expected) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 1,
                           .columns = 1,
                           .scores = (const double[]){0},
                           .labels = (const int32_t[]){1}};
  event_check_undefined(&data, "oe-ratio", "expect no events");
}

/* Edge case 2: without an event the ratio may be that of some events. */
TEST(test_no_event_has_a_width) {
  double scores[50];
  int32_t labels[50] = {0};
  for (size_t i = 0; i < 50; i++)
    scores[i] = 0.02;
  const given_data data = {
      .kind = PCAL_PROBABILITY, .rows = 50, .columns = 1, .scores = scores, .labels = labels};
  event_check_interval(&data, "oe-ratio", 0.0, 0.0, pc_interval_poisson(0, 0, 1.0, 0.95).high);
}
