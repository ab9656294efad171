/* The scaled Brier score against brier and the shares of classes. */
#include "class_rows.h"
#include "event_rows.h"

TEST(test_scaled_brier_of_classes) {
  static class_rows rows;
  class_rows_draw(5, 300, 5, 0, &rows);
  const given_data data = class_rows_given(&rows);
  double squares = 0;
  for (int32_t k = 0; k < 5; k++) {
    double share = 0;
    for (size_t i = 0; i < rows.rows; i++)
      share += (rows.labels[i] == k) / (double)rows.rows;
    squares += share * share;
  }
  assert_near(given_value(&data, "scaled-brier"),
              1 - given_value(&data, "brier") / (1 - squares), 1e-13);
}

TEST(test_scaled_brier_of_one_column) {
  event_rows rows;
  const given_data data = event_rows_given(&rows);
  const double share = 25.0 / 40; /* of events */
  assert_near(given_value(&data, "scaled-brier"),
              1 - given_value(&data, "brier:half=yes") / (share * (1 - share)), 1e-13);
}

/* Edge case 1. */
TEST(test_one_outcome) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 1,
                           .columns = 1,
                           .scores = (const double[]){0.5},
                           .labels = (const int32_t[]){1}};
  event_check_undefined(&data, "scaled-brier", "a constant prediction is perfect");
}
