/* The verdict on predictions of a number, from predictions that are off in a known way. */
#include "../metrics/forecast_help.h"
#include "core/rng.h"

#define VERDICT_ROWS 2000

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
  const char *text = pcal_results_verdict(results);
  if (strncmp(text, head, strlen(head)) != 0)
    fail_msg("\"%s\" does not begin with \"%s\"", text, head);
  if (strstr(text, advice) == NULL)
    fail_msg("\"%s\" does not say \"%s\"", text, advice);
  pcal_results_free(results);
}

static void test_normal_predictions(void **state) {
  const forecast_data data = {PCAL_MEAN_VARIANCE, VERDICT_ROWS, 2,   verdict_pairs,
                              verdict_targets,    NULL,         NULL};
  (void)state;
  verdict_make(0, 1);
  verdict_says(
      &data,
      "Well calibrated, as far as these rows can tell. The predicted probability of a "
      "value up to the target has a mean of 0.500 and a variance of 0.083; calibrated: "
      "0.500 (chance alone: up to 0.014 off) and 0.083 (0.004).",
      "What to try: leave it alone.");
  verdict_make(0, 1.5);
  verdict_says(&data, "Over-confident: predicted distributions are too narrow. ",
               "What to try: variance-platt (propercal fit --method variance-platt)");
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

static void test_few_rows(void **state) {
  forecast_data data = {PCAL_MEAN_VARIANCE, 100, 2, verdict_pairs, verdict_targets, NULL, NULL};
  (void)state;
  verdict_make(0, 1);
  verdict_says(&data, "Well calibrated", "with so few rows small errors cannot be seen");
}

/* Steps of samples and ends of quantiles are no errors. */
static void test_other_forms(void **state) {
  static const double levels[] = {0.25, 0.5, 0.75};
  static double columns[4 * VERDICT_ROWS];
  (void)state;
  verdict_make(0, 1);
  for (size_t i = 0; i < VERDICT_ROWS; i++)
    for (size_t j = 0; j < 3; j++)
      columns[3 * i + j] = pc_normal_quantile(levels[j]);
  const forecast_data quantiles = {PCAL_QUANTILES,  VERDICT_ROWS, 3,   columns,
                                   verdict_targets, levels,       NULL};
  verdict_says(&quantiles, "Well calibrated", "leave it alone");
  const forecast_data samples = {PCAL_SAMPLES,    VERDICT_ROWS, 3,   columns,
                                 verdict_targets, NULL,         NULL};
  verdict_says(&samples, "Well calibrated", "and 0.078 (");
  verdict_make(0, 3);
  verdict_says(&quantiles, "Over-confident", "quantile-isotonic");
  verdict_says(&samples, "Over-confident", "quantile-isotonic");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_normal_predictions),
      cmocka_unit_test(test_few_rows),
      cmocka_unit_test(test_other_forms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
