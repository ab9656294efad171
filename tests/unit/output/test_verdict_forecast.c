/* The verdict on predictions of a number, from predictions that are off in a known way. */
#include "../metrics/forecast_help.h"
#include "base/normal.h"
#include "base/rng.h"
#include "emulated.h"

#define VERDICT_ROWS 2000
#define VERDICT_MANY 20000

static double verdict_pairs[2 * VERDICT_ROWS], verdict_targets[VERDICT_ROWS];

/* Evenly spread u; targets that lie there in N(shift, scale^2), predictions N(0, 1). */
static void verdict_make(double shift, double scale) {
  for (size_t i = 0; i < VERDICT_ROWS; i++) {
    const double u = ((double)((i * 1237) % VERDICT_ROWS) + 0.5) / VERDICT_ROWS;
    verdict_pairs[2 * i] = 0;
    verdict_pairs[2 * i + 1] = 1;
    verdict_targets[i] = shift + scale * pc_normal_quantile(u);
  }
}

static void verdict_says(const forecast_data *data, const char *head, const char *advice) {
  pcal_results *results = NULL;
  pcal_error err;
  if (forecast_try(data, "mse", NULL, &results, &err) != PCAL_OK &&
      forecast_try(data, "crps", NULL, &results, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  const char *text = pcal_results_verdict_text(results);
  if (strncmp(text, head, strlen(head)) != 0)
    fail_msg("\"%s\" does not begin with \"%s\"", text, head);
  if (strstr(text, advice) == NULL)
    fail_msg("\"%s\" does not say \"%s\"", text, advice);
  pcal_results_free(results);
}

TEST(test_normal_predictions) {
  const forecast_data data = {PCAL_MEAN_VARIANCE, VERDICT_ROWS, 2,   verdict_pairs,
                              verdict_targets,    NULL,         NULL};
  verdict_make(0, 1);
  verdict_says(
      &data,
      "Well calibrated, as far as these rows show. The predicted probability of a "
      "value up to the target has a mean of 0.500 and a variance of 0.083; calibrated: "
      "0.500 (chance alone: up to 0.014 off) and 0.083 (0.004).",
      "What to try: leave it alone.");
  verdict_make(0, 1.5);
  verdict_says(&data, "Over-confident: predicted distributions are too narrow. ",
               "What to try: variance-platt (method \"variance-platt\" of pcal_fit_run)");
  verdict_make(0, 0.6);
  verdict_says(&data, "Under-confident: predicted distributions are too wide. ",
               "variance-platt");
  verdict_make(0.1, 1);
  verdict_says(&data, "Predictions are too low. ", "quantile-isotonic");
  verdict_make(-0.1, 1);
  verdict_says(&data, "Predictions are too high. ", "quantile-isotonic");
  verdict_make(0.5, 2);
  verdict_says(&data, "Over-confident: predicted distributions are too narrow, and too low. ",
               "variance-platt");
}

TEST(test_few_rows) {
  forecast_data data = {PCAL_MEAN_VARIANCE, 100, 2, verdict_pairs, verdict_targets, NULL, NULL};
  verdict_make(0, 1);
  verdict_says(&data, "Well calibrated", "with so few rows small errors cannot be detected");
}

/* Steps of samples and ends of quantiles are no errors. */
TEST(test_other_forms) {
  static const double levels[] = {0.25, 0.5, 0.75};
  static double columns[4 * VERDICT_ROWS];
  verdict_make(0, 1);
  for (size_t i = 0; i < VERDICT_ROWS; i++)
    for (size_t j = 0; j < 3; j++)
      columns[3 * i + j] = pc_normal_quantile(levels[j]);
  const forecast_data quantiles = {PCAL_QUANTILES,  VERDICT_ROWS, 3,   columns,
                                   verdict_targets, levels,       NULL};
  verdict_says(&quantiles, "Well calibrated", "leave it alone");
  const forecast_data samples = {PCAL_SAMPLES,    VERDICT_ROWS, 3,   columns,
                                 verdict_targets, NULL,         NULL};
  verdict_says(&samples, "Well calibrated", "a variance of 0.083; calibrated: 0.500");
  verdict_make(0, 3);
  verdict_says(&quantiles, "Over-confident: predicted quantiles are too narrow. ",
               "predict wider ones: targets lie beyond the outermost quantiles");
  verdict_says(&samples, "Over-confident", "lie beyond the outermost samples");
  verdict_make(0, 0.5);
  verdict_says(&quantiles, "Under-confident: predicted quantiles are too wide. ",
               "quantile-isotonic (method \"quantile-isotonic\" of pcal_fit_run)");
  verdict_says(&samples, "Under-confident", "quantile-isotonic");
}

/* ---- calibrated forecasts are left alone, wrong ones are not ---- */

#define FORECAST_SETS fewer_if_emulated(100, 5)
#define FORECAST_COLUMNS 7

typedef struct forecast_case {
  const char *name;
  size_t rows, columns;
  const double *levels; /* NULL: samples */
  double scale, shift;  /* of the predictions; right: 1 and 0 */
  int censored;         /* targets and predictions below `cut` become `cut` */
  double cut;
} forecast_case;

static double forecast_cut(const forecast_case *one, double value) {
  return one->censored && value < one->cut ? one->cut : value;
}

/* How many of the sets get a verdict that begins otherwise than with `head`. */
static size_t forecast_others(const forecast_case *one, size_t sets, const char *head) {
  static double columns[FORECAST_COLUMNS * VERDICT_MANY], targets[VERDICT_MANY];
  const pc_rng rng = {77, one->rows + one->columns};
  uint64_t draw = 0;
  size_t others = 0;
  for (size_t s = 0; s < sets; s++) {
    for (size_t i = 0; i < one->rows; i++) {
      const double mean = pc_rng_normal(&rng, draw++);
      targets[i] = forecast_cut(one, mean + pc_rng_normal(&rng, draw++));
      for (size_t j = 0; j < one->columns; j++) {
        const double z = one->levels == NULL ? pc_rng_normal(&rng, draw++)
                                             : pc_normal_quantile(one->levels[j]);
        columns[i * one->columns + j] = forecast_cut(one, mean + one->shift + one->scale * z);
      }
    }
    const forecast_data data = {one->levels == NULL ? PCAL_SAMPLES : PCAL_QUANTILES,
                                one->rows,
                                one->columns,
                                columns,
                                targets,
                                one->levels,
                                NULL};
    pcal_results *results = NULL;
    pcal_error err;
    assert_int_equal(forecast_try(&data, "crps", NULL, &results, &err), PCAL_OK);
    others += strncmp(pcal_results_verdict_text(results), head, strlen(head)) != 0;
    pcal_results_free(results);
  }
  return others;
}

/* Sets of a case: with more rows fewer, in the same time. */
static size_t forecast_sets(const forecast_case *one) {
  return one->rows == VERDICT_MANY ? FORECAST_SETS / 5 : FORECAST_SETS;
}

static const double forecast_two[] = {0.05, 0.95}, forecast_far[] = {0.01, 0.99},
                    forecast_inner[] = {0.1, 0.9}, forecast_tenths[] = {0.1, 0.5, 0.9},
                    forecast_three[] = {0.05, 0.5, 0.95},
                    forecast_seven[] = {0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95};

TEST(test_calibrated_forecasts) {
  static const forecast_case cases[] = {
      {"two levels", 300, 2, forecast_two, 1, 0, 0},
      {"far levels", 300, 2, forecast_far, 1, 0, 0},
      {"three levels", 300, 3, forecast_three, 1, 0, 0},
      {"seven levels", 2000, 7, forecast_seven, 1, 0, 0},
      {"clipped quantiles", 2000, 3, forecast_three, 1, 0, 1},
      {"more clipped quantiles", 2000, 7, forecast_seven, 1, 0, 1},
      {"a mass of 10 %", 2000, 3, forecast_three, 1, 0, 1, -1.8},
      {"a mass of 10 %, many rows", VERDICT_MANY, 7, forecast_seven, 1, 0, 1, -1.8},
      {"a mass of 90 %", 2000, 7, forecast_seven, 1, 0, 1, 1.8},
      {"a mass of 90 %, many rows", VERDICT_MANY, 3, forecast_three, 1, 0, 1, 1.8},
      {"four samples", 2000, 4, NULL, 1, 0, 0},
      {"four censored samples", 2000, 4, NULL, 1, 0, 1},
      {"seven censored samples", 300, 7, NULL, 1, 0, 1},
      {"two levels, many rows", VERDICT_MANY, 2, forecast_two, 1, 0, 0},
      {"inner levels, many rows", VERDICT_MANY, 2, forecast_inner, 1, 0, 0},
      {"tenths, many rows", VERDICT_MANY, 3, forecast_tenths, 1, 0, 0},
      {"seven levels, many rows", VERDICT_MANY, 7, forecast_seven, 1, 0, 0},
      {"clipped quantiles, many rows", VERDICT_MANY, 7, forecast_seven, 1, 0, 1},
      {"four samples, many rows", VERDICT_MANY, 4, NULL, 1, 0, 0},
  };
  size_t all = 0, sets = 0;
  for (size_t c = 0; c < UNIT_COUNT(cases); c++) {
    const size_t here = forecast_sets(&cases[c]);
    const size_t wrong = forecast_others(&cases[c], here, "Well calibrated");
    const size_t most = here == FORECAST_SETS ? 12 : 5;
    if (wrong > most)
      print_error("%s: %zu of %zu\n", cases[c].name, wrong, here);
    assert_true(wrong <= most);
    all += wrong;
    sets += here;
  }
  assert_true(all <= (sets * 6 + 99) / 100);
}

#define FORECAST_FINE 99
#define FORECAST_COUNTS 200

/* A Poisson count with a rate of its own, and the quantiles of its distribution. */
static double forecast_count(const pc_rng *rng, uint64_t draw, const double *levels,
                             double *quantiles) {
  double rate = 0.0, upto = 0.0, target = -1.0;
  for (size_t i = 0; i < 4; i++)
    rate -= 0.75 * log(pc_rng_uniform(rng, draw + i));
  const double u = pc_rng_uniform(rng, draw + 4);
  double mass = exp(-rate);
  size_t j = 0;
  for (double k = 0.0; target < 0.0 || j < FORECAST_FINE; k += 1.0, mass *= rate / k) {
    upto += mass;
    if (target < 0.0 && u <= upto)
      target = k;
    while (j < FORECAST_FINE && levels[j] <= upto)
      quantiles[j++] = k;
  }
  return target;
}

/* The longest run of equal quantiles differs from row to row, so that most runs have few rows. */
TEST(test_calibrated_counts_of_many_levels) {
  static double columns[FORECAST_COUNTS * FORECAST_FINE], targets[FORECAST_COUNTS];
  double levels[FORECAST_FINE];
  const pc_rng rng = {78, 1};
  uint64_t draw = 0;
  size_t others = 0;
  for (size_t j = 0; j < FORECAST_FINE; j++)
    levels[j] = (double)(j + 1) / (FORECAST_FINE + 1);
  for (size_t s = 0; s < FORECAST_SETS; s++) {
    for (size_t i = 0; i < FORECAST_COUNTS; i++, draw += 5)
      targets[i] = forecast_count(&rng, draw, levels, columns + i * FORECAST_FINE);
    const forecast_data data = {PCAL_QUANTILES, FORECAST_COUNTS, FORECAST_FINE, columns,
                                targets,        levels,          NULL};
    pcal_results *results = NULL;
    pcal_error err;
    assert_int_equal(forecast_try(&data, "crps", NULL, &results, &err), PCAL_OK);
    others += strncmp(pcal_results_verdict_text(results), "Well calibrated", 15) != 0;
    pcal_results_free(results);
  }
  assert_in_range(others, 0, 8);
}

TEST(test_wrong_forecasts) {
  static const struct {
    forecast_case one;
    const char *head;
  } cases[] = {
      {{"narrow", 2000, 2, forecast_two, 0.7, 0, 0}, "Over-confident: predicted quantiles"},
      {{"wide", 2000, 7, forecast_seven, 1.4, 0, 0}, "Under-confident: predicted quantiles"},
      {{"high", 2000, 3, forecast_three, 1, 0.4, 0}, "Predictions are too high"},
      {{"low", 2000, 3, forecast_three, 1, -0.4, 0}, "Predictions are too low"},
      {{"narrow clipped", 2000, 7, forecast_seven, 0.6, 0, 1}, "Over-confident"},
      {{"narrow samples", 2000, 4, NULL, 0.7, 0, 0}, "Over-confident"},
      {{"wide samples", 2000, 4, NULL, 1.5, 0, 0}, "Under-confident"},
      {{"narrow censored", 2000, 7, NULL, 0.5, 0, 1}, "Over-confident"},
  };
  for (size_t c = 0; c < UNIT_COUNT(cases); c++) {
    const size_t others = forecast_others(&cases[c].one, 20, cases[c].head);
    if (others > 2)
      print_error("%s: %zu\n", cases[c].one.name, others);
    assert_true(others <= 2);
  }
}

#define SOLAR_ROWS 20000

/* Half of the rows are nights, when everything is 0; by day quantiles are `scale` times as far from the
 * middle as they should be. */
static pcal_results *forecast_solar(double scale) {
  static double columns[3 * SOLAR_ROWS], targets[SOLAR_ROWS];
  const pc_rng rng = {5, 6};
  for (size_t i = 0; i < SOLAR_ROWS; i++) {
    const int night = i % 2 == 0;
    targets[i] = night ? 0 : 3 + pc_rng_normal(&rng, i);
    for (size_t j = 0; j < 3; j++)
      columns[3 * i + j] = night ? 0 : 3 + scale * pc_normal_quantile(forecast_three[j]);
  }
  const forecast_data data = {PCAL_QUANTILES, SOLAR_ROWS,     3,   columns,
                              targets,        forecast_three, NULL};
  pcal_results *results = NULL;
  pcal_error err;
  assert_int_equal(forecast_try(&data, "coverage", NULL, &results, &err), PCAL_OK);
  return results;
}

/* Nights hide no errors of days: with 0.82 the intervals of 90 % hold 82 % of the days, which is 86 % of all
 * rows, nights counted as their levels say.  Verdict and metric show the same share. */
TEST(test_nights_hide_nothing) {
  pcal_results *results = forecast_solar(0.82);
  pcal_verdict verdict = PCAL_VERDICT_INIT;
  pcal_result value = PCAL_RESULT_INIT;
  const char *text = pcal_results_verdict_text(results);
  assert_int_equal(pcal_results_get_verdict(results, &verdict), PCAL_OK);
  assert_int_equal(pcal_results_get(results, 0, &value), PCAL_OK);
  assert_int_equal(verdict.kind, PCAL_VERDICT_TOO_NARROW);
  assert_near(verdict.inside, 0.86, 0.005);
  assert_near(value.parts[0].value, verdict.inside, 1e-12);
  assert_non_null(
      strstr(text, "between the quantiles of levels 0.05 and 0.95, where the 50.0 % that equal "
                   "a quantile count in part; calibrated: 90.0 %"));
  pcal_results_free(results);
  results = forecast_solar(1);
  assert_non_null(strstr(pcal_results_verdict_text(results), "Well calibrated"));
  pcal_results_free(results);
}

/* All quantiles too low or too high: a map of quantiles moves them, and wider ones are no answer.  Where it has
 * moved them, only the end is off, and it does not reach farther. */
TEST(test_shifted_quantiles_are_moved) {
  static const forecast_case shifted[] = {{"low", 2000, 3, forecast_three, 1, -0.4, 0, 0},
                                          {"high", 2000, 7, forecast_seven, 1, 0.4, 0, 0},
                                          {"far", 2000, 3, forecast_three, 1, -1, 0, 0}};
  static const char *const heads[] = {"Predictions are too low.", "Predictions are too high.",
                                      "Predictions are too low."};
  for (size_t c = 0; c < UNIT_COUNT(shifted); c++)
    assert_int_equal(forecast_others(&shifted[c], 5, heads[c]), 0);
  static double columns[3 * VERDICT_MANY], targets[VERDICT_MANY];
  const pc_rng rng = {5, 7};
  for (int moved = 0; moved < 2; moved++) {
    for (size_t i = 0; i < VERDICT_MANY; i++) {
      targets[i] = pc_rng_normal(&rng, i);
      for (size_t j = 0; j < 3; j++) {
        const double z = pc_normal_quantile(forecast_three[j]);
        columns[3 * i + j] = moved ? fmin(z, 1.2) : z - 0.45;
      }
    }
    const forecast_data data = {PCAL_QUANTILES, VERDICT_MANY,   3,   columns,
                                targets,        forecast_three, NULL};
    if (moved)
      verdict_says(&data, "Over-confident",
                   "predict wider ones: targets lie beyond the outermost");
    else
      verdict_says(
          &data, "Predictions are too low.",
          "quantile-isotonic (method \"quantile-isotonic\" of pcal_fit_run) on held-out rows: "
          "it "
          "moves "
          "quantiles to where targets really fall, though not beyond the outermost ones.");
  }
}
