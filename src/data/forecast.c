#include "data/forecast.h"

#include <math.h>

#include "core/rng.h"

#define FORECAST_ROOT_HALF 0.70710678118654752440
#define FORECAST_ROOT_2PI 2.50662827463100050242
#define FORECAST_SAME_LEVEL 1e-9

double pc_normal_cdf(double z) {
  return 0.5 * erfc(-z * FORECAST_ROOT_HALF);
}

double pc_normal_density(double z) {
  return exp(-0.5 * z * z) / FORECAST_ROOT_2PI;
}

/* How many of `count` ascending numbers are below y, or at most y. */
static size_t forecast_below(const double *numbers, size_t count, double y, int equal) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (numbers[middle] < y || (equal && numbers[middle] == y))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static double forecast_sample_pit(const double *row, size_t count) {
  const double y = row[count];
  const double below = (double)forecast_below(row, count, y, 0);
  const double upto = (double)forecast_below(row, count, y, 1);
  return (0.5 * (below + upto) + 0.5) / ((double)count + 1.0);
}

static double forecast_quantile_pit(const pc_forecast_shape *shape, const double *row) {
  const double *levels = shape->levels, y = row[shape->columns];
  const size_t next = forecast_below(row, shape->columns, y, 0); /* the first at least y */
  if (next == shape->columns)
    return 0.5 * (levels[next - 1] + 1.0);
  if (row[next] == y)
    return levels[next];
  if (next == 0)
    return 0.5 * levels[0];
  const double share = (y - row[next - 1]) / (row[next] - row[next - 1]);
  const double inside = levels[next - 1] + share * (levels[next] - levels[next - 1]);
  const double least = nextafter(levels[next - 1], 1.0);
  return inside < least ? least : inside > levels[next] ? levels[next] : inside;
}

double pc_forecast_pit(const pc_forecast_shape *shape, const double *row) {
  if (shape->form == PC_FORM_SAMPLES)
    return forecast_sample_pit(row, shape->columns);
  if (shape->form == PC_FORM_QUANTILES)
    return forecast_quantile_pit(shape, row);
  return pc_normal_cdf((row[2] - row[0]) / row[1]);
}

void pc_forecast_moments(const pc_forecast_shape *shape, const double *row, double *mean,
                         double *variance) {
  *mean = row[0];
  *variance = row[1] * row[1];
  if (shape->form != PC_FORM_SAMPLES)
    return;
  const double count = (double)shape->columns;
  double sum = 0.0, square = 0.0;
  for (size_t j = 0; j < shape->columns; j++)
    sum += row[j];
  *mean = sum / count;
  for (size_t j = 0; j < shape->columns; j++)
    square += (row[j] - *mean) * (row[j] - *mean);
  *variance = square / (count - 1.0);
}

int pc_level_make(const pc_forecast_shape *shape, double level, pc_level *out) {
  *out = (pc_level){level, pc_normal_quantile(level), 0};
  if (shape->form != PC_FORM_QUANTILES)
    return 1;
  for (size_t j = 0; j < shape->columns; j++, out->column++)
    if (fabs(shape->levels[j] - level) <= FORECAST_SAME_LEVEL)
      return 1;
  return 0;
}

double pc_forecast_quantile(const pc_forecast_shape *shape, const double *row,
                            const pc_level *level) {
  if (shape->form == PC_FORM_QUANTILES)
    return row[level->column];
  if (shape->form == PC_FORM_GAUSSIAN)
    return row[0] + row[1] * level->normal;
  const double position = (double)(shape->columns - 1) * level->level;
  const size_t below = (size_t)position;
  if (below + 1 >= shape->columns)
    return row[shape->columns - 1];
  return row[below] + (position - (double)below) * (row[below + 1] - row[below]);
}
