/* Refused rows of regression, and their errors. */
#include "../metrics/forecast_help.h"

static void forecast_rows_refuse(pcal_kind kind, const double *row, double target,
                                 const char *sentence) {
  const forecast_data data = {kind, 1,       kind == PCAL_QUANTILES ? 3 : 2,
                              row,  &target, kind == PCAL_QUANTILES ? forecast_levels : NULL,
                              NULL};
  forecast_refuses(&data, "crps", PCAL_DATA, sentence);
}

TEST(test_spread_must_be_positive) {
  forecast_rows_refuse(
      PCAL_MEAN_VARIANCE, (const double[]){1, 0}, 1,
      "predictions, row 0, column 1: the variance 0 is not above 0; a predicted "
      "distribution needs some spread");
  forecast_rows_refuse(PCAL_MEAN_VARIANCE, (const double[]){1, -0.5}, 1,
                       "predictions, row 0, column 1: the variance -0.5 is not above 0; a "
                       "predicted distribution needs some spread");
  forecast_rows_refuse(
      PCAL_MEAN_STD, (const double[]){1, -2}, 1,
      "predictions, row 0, column 1: the standard deviation -2 is not above 0; "
      "a predicted distribution needs some spread");
  forecast_rows_refuse(PCAL_MEAN_STD, (const double[]){1, 1e-120}, 1,
                       "predictions, row 0, column 1: the standard deviation 1e-120 is too "
                       "small; give predictions and targets on a smaller scale");
}

TEST(test_numbers_must_be_there) {
  forecast_rows_refuse(PCAL_MEAN_VARIANCE, (const double[]){(double)NAN, 1}, 1,
                       "predictions, row 0, column 0: the number is missing (NaN); remove the "
                       "row or pass skip_missing");
  forecast_rows_refuse(PCAL_SAMPLES, (const double[]){1, (double)INFINITY}, 1,
                       "predictions, row 0, column 1: inf is beyond 1e100; give finite numbers "
                       "on a smaller scale");
  forecast_rows_refuse(PCAL_MEAN_VARIANCE, (const double[]){1, 1}, (double)NAN,
                       "target, row 0: the target is missing; remove the row or pass "
                       "skip_missing");
  forecast_rows_refuse(
      PCAL_MEAN_VARIANCE, (const double[]){1, 1}, (double)INFINITY,
      "target, row 0: the target inf is beyond 1e100; give finite numbers on a "
      "smaller scale");
}

TEST(test_quantiles_ascend) {
  forecast_rows_refuse(PCAL_QUANTILES, (const double[]){1, 3, 2}, 1,
                       "predictions, row 0, column 2: the quantile 2 comes after 3, but "
                       "quantiles ascend with their levels; pass normalize to put such rows "
                       "in order");
}

TEST(test_layouts) {
  forecast_data data = forecast_quantile_set;
  data.levels = NULL;
  forecast_refuses(&data, "crps", PCAL_USAGE,
                   "quantiles mean nothing without their levels; give them with levels, as "
                   "0.05/0.5/0.95");
  data.levels = (const double[]){0.1, 0.9, 0.5};
  forecast_refuses(
      &data, "crps", PCAL_USAGE,
      "the level 0.5 comes after 0.9; levels ascend, in the order of the columns of "
      "quantiles");
  data.levels = (const double[]){0.1, 0.5, 1};
  forecast_refuses(&data, "crps", PCAL_USAGE,
                   "the level 1 does not lie between 0 and 1; levels are probabilities");
  data = forecast_gaussian;
  data.columns = 3;
  forecast_refuses(&data, "crps", PCAL_DATA,
                   "a mean and its variance are two columns, not 3; give one of each with "
                   "mean and variance");
  data = forecast_sample_set;
  data.columns = 1;
  forecast_refuses(&data, "crps", PCAL_DATA,
                   "a distribution takes at least two samples, and samples has one column; "
                   "give a column for each sample");
  data = forecast_gaussian;
  data.targets = NULL;
  forecast_refuses(&data, "crps", PCAL_USAGE,
                   "scores: a batch needs targets; give them with target");
}
