/* Predicted distributions against values by hand. */
#include "../unit.h"

#include "data/forecast.h"

static const double forecast_levels[] = {0.1, 0.5, 0.9};
static const pc_forecast_shape forecast_normal = {PC_FORM_GAUSSIAN, 2, NULL};
static const pc_forecast_shape forecast_quantiles = {PC_FORM_QUANTILES, 3, forecast_levels};
static const pc_forecast_shape forecast_samples = {PC_FORM_SAMPLES, 4, NULL};

TEST(test_pit_of_normal_predictions) {
  const double row[] = {3, 2, 5}, far[] = {0, 1, 1000};
  assert_near(pc_forecast_pit(&forecast_normal, row), 0.8413447460685429, 1e-15);
  assert_near(pc_forecast_pit(&forecast_normal, far), 1, 0);
}

static void forecast_placed(const pc_forecast_shape *shape, const double *row, size_t below,
                            size_t upto) {
  const double score = pc_forecast_pit(shape, row);
  const pc_forecast_place place = pc_forecast_place_of(shape, score);
  assert_int_equal(place.below, below);
  assert_int_equal(place.upto, upto);
  assert_near(score, (double)(below + upto + 1) / (2.0 * (double)(shape->columns + 1)), 1e-7);
  assert_true(score > 0 && score < 1);
}

/* The middle of the possible ranks of a target; it encodes the place. */
TEST(test_pit_of_samples) {
  static const struct {
    double target;
    size_t below, upto;
  } cases[] = {{0, 0, 0}, {1, 0, 1}, {1.5, 1, 1}, {2, 1, 3}, {3, 3, 4}, {9, 4, 4}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    const double row[] = {1, 2, 2, 3, cases[i].target};
    forecast_placed(&forecast_samples, row, cases[i].below, cases[i].upto);
    forecast_placed(&(pc_forecast_shape){PC_FORM_QUANTILES, 4, NULL}, row, cases[i].below,
                    cases[i].upto);
  }
}

#define FORECAST_MANY 100000

/* Places among as many samples as there may be. */
TEST(test_places_among_many_samples) {
  static double row[FORECAST_MANY + 1];
  const pc_forecast_shape shape = {PC_FORM_SAMPLES, FORECAST_MANY, NULL};
  for (size_t ties = 0; ties < FORECAST_MANY; ties += 9973) {
    for (size_t j = 0; j < FORECAST_MANY; j++)
      row[j] = j < 123 ? -1 : j < 123 + ties ? 0 : 1;
    row[FORECAST_MANY] = 0;
    forecast_placed(&shape, row, 123, ties + 123 > FORECAST_MANY ? FORECAST_MANY : 123 + ties);
  }
}

/* A score keeps the longest run of equal quantiles, with as many levels as there may be. */
TEST(test_runs_of_equal_quantiles) {
  static double row[PCAL_LEVELS_MAX + 1], levels[PCAL_LEVELS_MAX];
  const pc_forecast_shape shape = {PC_FORM_QUANTILES, PCAL_LEVELS_MAX, levels};
  for (size_t first = 0; first < PCAL_LEVELS_MAX; first += 7)
    for (size_t last = first + 2; last <= PCAL_LEVELS_MAX; last += 11)
      for (size_t at = 0; at < PCAL_LEVELS_MAX; at += 13) {
        for (size_t j = 0; j < PCAL_LEVELS_MAX; j++)
          row[j] = j >= first && j < last ? (double)first : (double)j;
        row[PCAL_LEVELS_MAX] = row[at] + (at % 2 == 0 ? 0.0 : 0.25);
        const pc_forecast_place found =
            pc_forecast_place_of(&shape, pc_forecast_pit(&shape, row));
        const pc_forecast_place place =
            pc_forecast_place_find(row, PCAL_LEVELS_MAX, row[PCAL_LEVELS_MAX]);
        assert_int_equal(found.below, place.below);
        assert_int_equal(found.upto, place.upto);
        assert_int_equal(found.first, first);
        assert_int_equal(found.last, last);
      }
}

/* Scores of a forged state: some place, never one outside. */
TEST(test_places_of_any_score) {
  const double scores[] = {0, 1, -1, 1e300, -1e300, 0.3, 0.1 - 1e-3, NAN, INFINITY, -INFINITY};
  for (size_t i = 0; i < UNIT_COUNT(scores); i++) {
    const pc_forecast_place place = pc_forecast_place_of(&forecast_samples, scores[i]);
    assert_true(place.below <= place.upto && place.upto <= 4);
  }
}

static void forecast_between(const double *row, double low, double high) {
  double found[2];
  pc_forecast_cdf(&forecast_quantiles, row, &found[0], &found[1]);
  assert_near(found[0], low, 1e-15);
  assert_near(found[1], high, 1e-15);
}

TEST(test_cdf_of_quantiles) {
  static const struct {
    double target, cdf;
  } cases[] = {{-9, 0.05}, {1, 0.1}, {2, 0.3}, {3, 0.5}, {4, 0.7}, {5, 0.9}, {6, 0.95}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++)
    forecast_between((const double[]){1, 3, 5, cases[i].target}, cases[i].cdf, cases[i].cdf);
  forecast_between((const double[]){2, 2, 2, 2}, 0.1, 0.9);
  forecast_between((const double[]){0, 0, 2, 0}, 0.1, 0.5);
}

TEST(test_moments) {
  const double normal[] = {3, 2, 5}, samples[] = {1, 2, 4, 9, 0};
  double mean, variance;
  pc_forecast_moments(&forecast_normal, normal, &mean, &variance);
  assert_true(mean == 3 && variance == 4);
  pc_forecast_moments(&forecast_samples, samples, &mean, &variance);
  assert_near(mean, 4, 1e-15);
  assert_near(variance, 38.0 / 3, 1e-15);
}

TEST(test_levels_and_quantiles) {
  const double normal[] = {3, 2, 0}, samples[] = {1, 2, 4, 9, 0}, quantiles[] = {1, 3, 5, 0};
  pc_level level;
  assert_true(pc_level_make(&forecast_quantiles, 0.5 + 5e-10, &level));
  assert_int_equal(level.column, 1);
  assert_near(pc_forecast_quantile(&forecast_quantiles, quantiles, &level), 3, 0);
  assert_false(pc_level_make(&forecast_quantiles, 0.51, &level));
  assert_true(pc_level_make(&forecast_normal, 0.975, &level));
  assert_near(pc_forecast_quantile(&forecast_normal, normal, &level), 3 + 2 * 1.959963984540054,
              1e-15);
  assert_true(pc_level_make(&forecast_samples, 0.5, &level));
  assert_near(pc_forecast_quantile(&forecast_samples, samples, &level), 3, 1e-15);
  assert_true(pc_level_make(&forecast_samples, 0.9, &level));
  assert_near(pc_forecast_quantile(&forecast_samples, samples, &level), 7.5, 1e-14);
  level.level = 1;
  assert_near(pc_forecast_quantile(&forecast_samples, samples, &level), 9, 0);
}
