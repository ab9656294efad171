/* Converts rows of regression: the prediction in the form of its kind, followed by the target.
 *
 * Edge cases, after those of weights (row_check.h):
 *  1. target, mean, variance, quantile or sample NaN: missing, refused, or skipped and counted.
 *  2. a number beyond 1e100: refused.
 *  3. variance or standard deviation not above 0, or a standard deviation outside 1e-100 to
 *     1e100: refused.
 *  4. descending quantiles: sorted under `normalize` and counted, otherwise refused.
 *  5. samples in any order: sorted. */
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "data/row_convert.h"

static int convert_forecasts_order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static pcal_status convert_forecasts_finite(pc_checked_row *row, const double *numbers,
                                            pcal_error *err) {
  char shown[PC_NUMBER_MAX];
  for (size_t j = 0; j < row->batch->columns && !row->missing; j++) {
    if (fabs(numbers[j]) <= PC_FORECAST_MAX)
      continue;
    if (isnan(numbers[j]))
      return pc_row_check_missing_forecast(row, j, err);
    const pc_place place = pc_row_forecast_place(row, j);
    return pc_fail_at(err, PCAL_DATA, &place,
                      "%s is beyond 1e100; give finite numbers on a smaller scale",
                      pc_show(numbers[j], shown));
  }
  return PCAL_OK;
}

/* Edge case 3; numbers[1] becomes the standard deviation. */
static pcal_status convert_forecasts_gaussian(const pc_checked_row *row, double *numbers,
                                              pcal_error *err) {
  char shown[PC_NUMBER_MAX];
  const int is_std = row->layout->kind == PCAL_MEAN_STD;
  const double spread = numbers[1], std = is_std ? spread : sqrt(spread > 0 ? spread : 0.0);
  numbers[1] = std;
  if (std >= 1 / PC_FORECAST_MAX)
    return PCAL_OK;
  const pc_place place = pc_row_forecast_place(row, 1);
  return pc_fail_at(err, PCAL_DATA, &place, "the %s %s is %s; %s",
                    is_std ? "standard deviation" : "variance", pc_show(spread, shown),
                    spread > 0 ? "too small" : "not above 0",
                    spread > 0 ? "give predictions and targets on a smaller scale"
                               : "a predicted distribution needs some spread");
}

/* Edge case 4. */
static pcal_status convert_forecasts_quantiles(pc_checked_row *row, double *numbers,
                                               pcal_error *err) {
  char shown[PC_NUMBER_MAX], before[PC_NUMBER_MAX];
  size_t j = 1;
  while (j < row->layout->columns && numbers[j] >= numbers[j - 1])
    j++;
  if (j == row->layout->columns)
    return PCAL_OK;
  if (row->policy->normalize) {
    qsort(numbers, row->layout->columns, sizeof *numbers, convert_forecasts_order);
    row->normalized = 1;
    return PCAL_OK;
  }
  const pc_place place = pc_row_forecast_place(row, j);
  if (row->policy->of_event)
    return pc_fail_at(err, PCAL_DATA, &place,
                      "the quantile %s comes after %s, but quantiles ascend with their levels; "
                      "sort each row",
                      pc_show(numbers[j], shown), pc_show(numbers[j - 1], before));
  return pc_fail_at(err, PCAL_DATA, &place,
                    "the quantile %s comes after %s, but quantiles ascend with their levels; "
                    "%-s to put such rows in order",
                    pc_show(numbers[j], shown), pc_show(numbers[j - 1], before),
                    pc_row_normalize_remedy(row));
}

pcal_status pc_convert_forecasts_check(pc_checked_row *row, double *numbers, pcal_error *err) {
  PC_TRY(convert_forecasts_finite(row, numbers, err));
  if (row->missing || row->layout->form == PC_FORM_SAMPLES ||
      row->layout->form == PC_FORM_DISTANCES)
    return PCAL_OK;
  if (row->layout->form == PC_FORM_GAUSSIAN)
    return convert_forecasts_gaussian(row, numbers, err);
  return convert_forecasts_quantiles(row, numbers, err);
}

static pcal_status convert_forecasts_form(pc_checked_row *row, double *numbers,
                                          pcal_error *err) {
  PC_TRY(pc_convert_forecasts_check(row, numbers, err));
  if (row->layout->form == PC_FORM_SAMPLES && !row->missing)
    qsort(numbers, row->layout->columns, sizeof *numbers, convert_forecasts_order);
  return PCAL_OK;
}

pcal_status pc_convert_forecasts(pc_row_convert *convert, size_t begin, size_t count,
                                 pcal_error *err) {
  const size_t columns = convert->layout->columns;
  for (size_t i = begin; i < begin + count; i++) {
    double *numbers = convert->scratch->probs + convert->kept * convert->layout->classes;
    pc_checked_row row;
    PC_TRY(pc_row_convert_begin(convert, i, &row, err));
    if (!row.missing)
      PC_TRY(pc_row_check_target(&row, &numbers[columns], err));
    pc_row_convert_load_row(convert->batch, i, numbers);
    if (!row.missing)
      PC_TRY(convert_forecasts_form(&row, numbers, err));
    pc_row_convert_end(convert, &row);
  }
  return PCAL_OK;
}
