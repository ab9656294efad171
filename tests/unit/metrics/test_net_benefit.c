/* Net benefit by hand. */
#include "event_rows.h"

static const given_data benefit_rows = {.kind = PCAL_PROBABILITY,
                                        .rows = 5,
                                        .columns = 1,
                                        .scores = (const double[]){0.1, 0.2, 0.2, 0.5, 0.9},
                                        .labels = (const int32_t[]){0, 0, 1, 0, 1}};

/* Edge case 1: at 0.2 two true and two false positives; the odds are 1/4. */
TEST(test_net_benefit_by_hand) {
  pcal_results *results = given_results(&benefit_rows, "net-benefit:threshold=0.2");
  const pcal_result result = given_result(results, "net-benefit:threshold=0.2");
  assert_near(result.value, (2 - 2 * 0.25) / 5, 1e-15);
  assert_near(given_part(&result, "treat_all"), (2 - 3 * 0.25) / 5, 1e-15);
  pcal_results_free(results);
  assert_near(given_value(&benefit_rows, "net-benefit:threshold=0.6"), 0.2, 1e-15);
}

/* Edge case 2. */
TEST(test_threshold_zero) {
  assert_near(given_value(&benefit_rows, "net-benefit:threshold=0"), 0.4, 1e-15);
}
