#include "data/forecast.h"

#include <math.h>

#include "base/assert.h"
#include "base/elementary.h"
#include "base/normal.h"

#define FORECAST_SAME_LEVEL 1e-9
#define FORECAST_TIE \
  0x1p-44 /* unit of what is added to a score: 2^-44 (n + 1)^3 is below half a place */

/* The number of ascending numbers that are below y, or at most y. */
static size_t forecast_below(const double *numbers, size_t count, double y, int equal) {
  pc_assert(pc_is_ascending(numbers, count, 0));
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

pc_forecast_place pc_forecast_place_find(const double *numbers, size_t count, double target) {
  return (pc_forecast_place){forecast_below(numbers, count, target, 0),
                             forecast_below(numbers, count, target, 1), 0, 0};
}

/* The longest run of equal quantiles, the first of equally long ones. */
static void forecast_find_run(const double *quantiles, size_t count, pc_forecast_place *out) {
  for (size_t begin = 0, end; begin < count; begin = end) {
    for (end = begin + 1; end < count && quantiles[end] == quantiles[begin]; end++)
      continue;
    if (end - begin >= 2 && end - begin > out->last - out->first) {
      out->first = begin;
      out->last = end;
    }
  }
}

double pc_forecast_pit(const pc_forecast_shape *shape, const double *row) {
  if (shape->form == PC_FORM_GAUSSIAN)
    return pc_normal_cdf((row[2] - row[0]) / row[1]);
  if (shape->form == PC_FORM_DISTANCES)
    return 0.5;
  const size_t places = shape->columns + 1;
  pc_forecast_place place = pc_forecast_place_find(row, shape->columns, row[shape->columns]);
  if (shape->form == PC_FORM_QUANTILES)
    forecast_find_run(row, shape->columns, &place);
  const size_t run = place.first * places + place.last;
  return (double)(place.below + place.upto + 1) / (2.0 * (double)places) +
         (double)(place.upto - place.below + places * run) * FORECAST_TIE;
}

/* x as a whole number from 0 to most; 0 for NaN. */
static size_t forecast_whole(double x, size_t most) {
  return !(x > 0.0) ? 0 : x >= (double)most ? most : (size_t)x;
}

/* Scores of a forged state need not belong to any place, so that every number is limited. */
pc_forecast_place pc_forecast_place_of(const pc_forecast_shape *shape, double score) {
  const size_t places = shape->columns + 1;
  const double cells = 2.0 * (double)places;
  const double middle = round(score * cells);
  const size_t both = forecast_whole(middle - 1.0, 2 * shape->columns);
  const size_t codes = shape->form == PC_FORM_QUANTILES ? places * places * places : places;
  const size_t rest = forecast_whole(round((score - middle / cells) / FORECAST_TIE), codes - 1);
  const size_t room = both < 2 * shape->columns - both ? both : 2 * shape->columns - both;
  const size_t tied = rest % places < room ? rest % places : room, run = rest / places;
  const size_t first = run / places, last = run % places;
  const int runs = shape->form == PC_FORM_QUANTILES && first + 1 < last;
  return (pc_forecast_place){(both - tied) / 2, (both + tied) / 2, runs ? first : 0,
                             runs ? last : 0};
}

/* The level of a quantile, or k / (n + 1) for sample k. */
static double forecast_level(const pc_forecast_shape *shape, size_t column) {
  return shape->form == PC_FORM_QUANTILES
             ? shape->levels[column]
             : ((double)column + 1.0) / ((double)shape->columns + 1.0);
}

void pc_forecast_cdf(const pc_forecast_shape *shape, const double *row, double *low,
                     double *high) {
  const double y = row[shape->columns];
  const size_t last = shape->columns - 1;
  const pc_forecast_place place = pc_forecast_place_find(row, shape->columns, y);
  if (place.upto > place.below) {
    *low = forecast_level(shape, place.below);
    *high = forecast_level(shape, place.upto - 1);
  } else if (place.below == 0 || place.below > last) {
    *low = *high = place.below == 0 ? 0.5 * forecast_level(shape, 0)
                                    : 0.5 * (forecast_level(shape, last) + 1.0);
  } else {
    const double from = forecast_level(shape, place.below - 1);
    const double to = forecast_level(shape, place.below);
    const double start = row[place.below - 1], end = row[place.below];
    *low = *high = from + (y - start) / (end - start) * (to - from);
  }
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
