/* Events about a predicted number, against values by hand. */
#include "../unit.h"

#include "data/forecast_event.h"

static const double event_levels[] = {0.1, 0.5, 0.9};
static const pc_forecast_shape event_normal = {PC_FORM_GAUSSIAN, 2, NULL};
static const pc_forecast_shape event_quantiles = {PC_FORM_QUANTILES, 3, event_levels};
static const pc_forecast_shape event_samples = {PC_FORM_SAMPLES, 4, NULL};

static double event_prob(const char *text, const pc_forecast_shape *shape, const double *row) {
  double numbers[8] = {0};
  pc_forecast_event event;
  assert_int_equal(pc_forecast_event_parse(text, &event, NULL), PCAL_OK);
  memcpy(numbers, row, shape->columns * sizeof *row);
  return pc_forecast_event_prob(&event, shape, numbers);
}

TEST(test_events_are_parsed) {
  static const struct {
    const char *text;
    int above, inclusive;
    double limit;
  } cases[] = {
      {"> 20", 1, 0, 20}, {">=-1e3", 1, 1, -1000}, {" <  0.5 ", 0, 0, 0.5}, {"<= 7", 0, 1, 7}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    pc_forecast_event event;
    assert_int_equal(pc_forecast_event_parse(cases[i].text, &event, NULL), PCAL_OK);
    assert_int_equal(event.above, cases[i].above);
    assert_int_equal(event.inclusive, cases[i].inclusive);
    assert_true(event.limit == cases[i].limit);
  }
}

TEST(test_other_texts_are_refused) {
  static const char *const texts[] = {"",      "20",    "=20",     "> ",
                                      "> x",   ">> 20", "= > 20",  "> 20 C",
                                      "> nan", "<inf",  "> 1e101", "> 20 <30"};
  for (size_t i = 0; i < UNIT_COUNT(texts); i++) {
    pc_forecast_event event;
    pcal_error err = PCAL_ERROR_INIT;
    assert_int_equal(pc_forecast_event_parse(texts[i], &event, &err), PCAL_USAGE);
    assert_non_null(strstr(err.message, "is no event; write >, >=, < or <= and a number"));
  }
}

TEST(test_outcomes) {
  static const struct {
    const char *text;
    int below, at, above;
  } cases[] = {{"> 2", 0, 0, 1}, {">= 2", 0, 1, 1}, {"< 2", 1, 0, 0}, {"<= 2", 1, 1, 0}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    pc_forecast_event event;
    assert_int_equal(pc_forecast_event_parse(cases[i].text, &event, NULL), PCAL_OK);
    assert_int_equal(pc_forecast_event_occurs(&event, 1.5), cases[i].below);
    assert_int_equal(pc_forecast_event_occurs(&event, 2), cases[i].at);
    assert_int_equal(pc_forecast_event_occurs(&event, 2.5), cases[i].above);
  }
}

/* Edge case 1; both tails keep their relative accuracy. */
TEST(test_normal) {
  const double row[] = {3, 2};
  assert_near(event_prob("> 5", &event_normal, row), 0.15865525393145707, 1e-15);
  assert_near(event_prob(">= 5", &event_normal, row), 0.15865525393145707, 1e-15);
  assert_near(event_prob("< 5", &event_normal, row), 0.8413447460685429, 1e-15);
  assert_near(event_prob("> 23", &event_normal, row) / 7.619853024160525e-24, 1, 1e-13);
  assert_near(event_prob("< -17", &event_normal, row) / 7.619853024160525e-24, 1, 1e-13);
}

/* Edge case 2, with samples in any order. */
TEST(test_samples) {
  const double row[] = {3, 2, 1, 2};
  assert_true(event_prob("> 2", &event_samples, row) == 0.25);
  assert_true(event_prob(">= 2", &event_samples, row) == 0.75);
  assert_true(event_prob("< 2", &event_samples, row) == 0.25);
  assert_true(event_prob("<= 2", &event_samples, row) == 0.75);
  assert_true(event_prob("> 9", &event_samples, row) == 0);
  assert_true(event_prob("< 9", &event_samples, row) == 1);
}

/* Edge cases 3 and 4. */
TEST(test_quantiles) {
  const double row[] = {1, 2, 6}, tied[] = {1, 2, 2};
  assert_near(event_prob("<= 3", &event_quantiles, row), 0.6, 1e-15);
  assert_near(event_prob("> 3", &event_quantiles, row), 0.4, 1e-15);
  assert_near(event_prob("> 2", &event_quantiles, row), 0.5, 1e-15);
  assert_near(event_prob(">= 2", &event_quantiles, row), 0.5, 1e-15);
  assert_near(event_prob("< 2", &event_quantiles, tied), 0.5, 1e-15);
  assert_near(event_prob("<= 2", &event_quantiles, tied), 0.9, 1e-15);
  assert_near(event_prob(">= 2", &event_quantiles, tied), 0.5, 1e-15);
  assert_near(event_prob("> 2", &event_quantiles, tied), 0.1, 1e-15);
  assert_near(event_prob("< 0", &event_quantiles, row), 0.05, 1e-15);
  assert_near(event_prob("> 7", &event_quantiles, row), 0.05, 1e-15);
}

/* An event and its complement. */
TEST(test_complements) {
  static const char *const pairs[][2] = {{"> 2", "<= 2"}, {">= 2", "< 2"}};
  const double rows[][4] = {{2, 1, 2, 3}, {2.5, 0.3}, {1, 2, 2}};
  const pc_forecast_shape *const shapes[] = {&event_samples, &event_normal, &event_quantiles};
  for (size_t i = 0; i < UNIT_COUNT(pairs); i++)
    for (size_t j = 0; j < UNIT_COUNT(rows); j++)
      assert_near(event_prob(pairs[i][0], shapes[j], rows[j]) +
                      event_prob(pairs[i][1], shapes[j], rows[j]),
                  1, 1e-15);
}
