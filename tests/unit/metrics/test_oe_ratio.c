/* Observed to expected events, with the delta method on the logarithmic scale. */
#include "event_rows.h"

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
