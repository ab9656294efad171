/* quantile-isotonic: recalibrates predicted distributions by their empirical frequencies.
 *
 * Formula:  u_i = F_i(y_i) on the rows of the fit (data/forecast.h);
 *           R = isotonic map of u to its empirical frequency (weight below + half of the weight
 *           equal) / total, linear between distinct u, through (0, 0) and (1, 1);  F' = R(F)
 *           quantiles: q'_t = q at level R^-1(t), linear between given levels
 *           samples:   x'_k = x at level R^-1(k / (n + 1)), k = 1 .. n, linear between samples;
 *                      sample number k has the level k / (n + 1)
 *           normal:    mu' = mu + s M, v' = s^2 V, M and V the mean and variance of R(Phi(z))
 * Edge cases:
 *   1. The frequencies rise already, so pooling changes ties only.
 *   2. More than 1024 distinct u are thinned to 1024, equally spaced in rank.
 *   3. u of 0 or 1 (targets outside the predicted distribution) add no knot.
 *   4. Outside the outermost levels or samples the outermost value is used: F' cannot reach
 *      beyond them.
 *   5. Where R is flat, R^-1 is the lowest level.
 *   6. Samples are quantiles of the levels k / (n + 1), and u is linear between them, so that
 *      on the rows of the fit each new sample lies above its share of targets.
 *   7. Targets equal to quantiles or samples, as at a point mass: any frequency from the share
 *      of targets below to the share at most equal is right; the one nearest to the level is
 *      used, so that forecasts that were right do not change.
 * Source:   Kuleshov, Fenner & Ermon 2018.
 * Accuracy: M and V are sums of closed forms between knots, within 1e-13.
 * Cost:     O(N log N) for a fit, O(log knots) for each number applied. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/normal.h"
#include "base/number.h"
#include "calibrators/parameter_lists.h"
#include "calibrators/regression/forecast_table.h"

#define QUANTILE_ISOTONIC_KNOTS 1024

/* Knots strictly between 0 and 1 in level; both lists rise. */
typedef struct quantile_map {
  size_t count;
  double *level, *frequency;
  double mean, variance; /* of R(Phi(z)) */
} quantile_map;

/* The lowest and the highest u of a target; if the target equals a quantile or sample, the
 * highest is one double higher, which marks the tie. */
static void quantile_isotonic_pick(const pc_forecast_shape *shape, const double *row,
                                   pc_forecast_entry *out) {
  if (shape->form == PC_FORM_GAUSSIAN) {
    out->first = out->second = pc_forecast_pit(shape, row);
    return;
  }
  const pc_forecast_place place =
      pc_forecast_place_find(row, shape->columns, row[shape->columns]);
  pc_forecast_cdf(shape, row, &out->first, &out->second);
  if (place.upto > place.below)
    out->second = nextafter(out->second, 1.0);
}

static pcal_status quantile_isotonic_new(pcal_calibrator *calibrator, size_t room,
                                         pcal_error *err) {
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(quantile_map), err));
  quantile_map *map = calibrator->parameters;
  map->level = pc_alloc_raw(&calibrator->env, room, sizeof *map->level);
  map->frequency = pc_alloc_raw(&calibrator->env, room, sizeof *map->frequency);
  return map->level == NULL || map->frequency == NULL
             ? pc_fail_memory(err, "making a calibrator")
             : PCAL_OK;
}

/* Level or frequency of knot 0 to count + 1; knot 0 is (0, 0) and the last one (1, 1). */
static double quantile_isotonic_knot(const quantile_map *map, size_t k, int frequency) {
  if (k == 0 || k == map->count + 1)
    return k == 0 ? 0.0 : 1.0;
  return frequency ? map->frequency[k - 1] : map->level[k - 1];
}

/* z of a level, its density, and their product; all 0 at the ends. */
static void quantile_isotonic_normal(double level, double out[3]) {
  const int end = level <= 0.0 || level >= 1.0;
  out[0] = end ? 0.0 : pc_normal_quantile(level);
  out[1] = end ? 0.0 : pc_normal_density(out[0]);
  out[2] = out[0] * out[1];
}

/* Between knots the density of R(Phi(z)) is that of z times the slope of R. */
static void quantile_isotonic_moments(quantile_map *map) {
  double mean = 0.0, square = 0.0, before[3], here[3];
  quantile_isotonic_normal(0.0, before);
  for (size_t k = 1; k <= map->count + 1; k++) {
    const double low = quantile_isotonic_knot(map, k - 1, 0);
    const double high = quantile_isotonic_knot(map, k, 0), width = high - low;
    const double rise =
        quantile_isotonic_knot(map, k, 1) - quantile_isotonic_knot(map, k - 1, 1);
    quantile_isotonic_normal(high, here);
    mean += rise / width * (before[1] - here[1]);
    square += rise / width * (width - (here[2] - before[2]));
    memcpy(before, here, sizeof before);
  }
  map->mean = mean;
  map->variance = fmax(square - mean * mean, 0.0);
}

/* Weight of the rows whose interval of u begins, or ends, at a level. */
typedef struct quantile_event {
  double level, begin, end;
} quantile_event;

static int quantile_isotonic_order(const void *a, const void *b) {
  const quantile_event *x = a, *y = b;
  if (x->level != y->level)
    return x->level < y->level ? -1 : 1;
  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  return (x->end > y->end) - (x->end < y->end);
}

/* Sets the frequencies at distinct levels inside (0, 1) from 2 * table->count events; returns
 * their number.  Rows that begin and end at a level are not tied: half of them count as
 * below. */
static size_t quantile_isotonic_frequencies(const pc_forecast_table *table,
                                            const quantile_event *events, quantile_map *map) {
  double begun = 0.0, ended = 0.0;
  size_t count = 0;
  for (size_t i = 0; i < 2 * table->count;) {
    const double level = events[i].level;
    double begin = 0.0, end = 0.0;
    for (; i < 2 * table->count && events[i].level == level; i++) {
      begin += events[i].begin;
      end += events[i].end;
    }
    const double whole = fmin(begin, end);
    const double low = fmin((ended + 0.5 * whole) / table->total, 1.0);
    const double high = fmin((begun + begin - 0.5 * whole) / table->total, 1.0);
    if (level > 0.0 && level < 1.0) {
      map->level[count] = level;
      map->frequency[count++] = fmin(fmax(level, low), fmax(low, high));
    }
    begun += begin;
    ended += end;
  }
  return count;
}

static pcal_status quantile_isotonic_join(const pc_fit_task *task,
                                          const pc_forecast_table *table, quantile_map *map,
                                          size_t *count, pcal_error *err) {
  quantile_event *events = pc_alloc_raw(task->env, 2 * table->count, sizeof *events);
  if (events == NULL)
    return pc_fail_memory(err, "making a calibrator");
  for (size_t i = 0; i < table->count; i++) {
    const pc_forecast_entry *entry = &table->entries[i];
    events[2 * i] = (quantile_event){entry->first, entry->weight, 0.0};
    events[2 * i + 1] = (quantile_event){entry->second, 0.0, entry->weight};
  }
  qsort(events, 2 * table->count, sizeof *events, quantile_isotonic_order);
  *count = quantile_isotonic_frequencies(table, events, map);
  return PCAL_OK;
}

static void quantile_isotonic_thin(quantile_map *map, size_t count) {
  map->count = count < QUANTILE_ISOTONIC_KNOTS ? count : QUANTILE_ISOTONIC_KNOTS;
  for (size_t k = 0; count > map->count && k < map->count; k++) {
    const size_t from = k * (count - 1) / (map->count - 1);
    map->level[k] = map->level[from];
    map->frequency[k] = map->frequency[from];
  }
}

static pcal_status quantile_isotonic_knots(const pc_fit_task *task,
                                           const pc_forecast_table *table, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  size_t count = 0;
  PC_TRY(quantile_isotonic_new(calibrator, 2 * table->count, err));
  quantile_map *map = calibrator->parameters;
  PC_TRY(quantile_isotonic_join(task, table, map, &count, err));
  quantile_isotonic_thin(map, count);
  quantile_isotonic_moments(map);
  return PCAL_OK;
}

static pcal_status quantile_isotonic_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  pc_forecast_table table;
  PC_TRY(pc_forecast_table_new(task, quantile_isotonic_pick, &table, err));
  PC_TRY(quantile_isotonic_knots(task, &table, err));
  const quantile_map *map = calibrator->parameters;
  calibrator->fit.status = PC_FIT_CLOSED_FORM;
  calibrator->fit.iterations = 1;
  if (map->count < 20)
    pc_fit_warn(&calibrator->fit, "there are only %zu distinct levels, so the map is rough",
                map->count);
  return PCAL_OK;
}

/* R^-1: the lowest level of a frequency. */
static double quantile_isotonic_level(const quantile_map *map, double frequency) {
  /* low: a knot below the frequency; high: one at or above it */
  size_t low = 0, high = map->count + 1;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (quantile_isotonic_knot(map, middle, 1) < frequency)
      low = middle;
    else
      high = middle;
  }
  const double a = quantile_isotonic_knot(map, low, 1),
               b = quantile_isotonic_knot(map, high, 1);
  const double u = quantile_isotonic_knot(map, low, 0),
               v = quantile_isotonic_knot(map, high, 0);
  return b > a ? u + (frequency - a) / (b - a) * (v - u) : v;
}

/* Linear between values at ascending places; constant outside. */
static double quantile_isotonic_between(const double *values, const double *places,
                                        size_t count, double at) {
  size_t next = 0;
  while (next < count && places[next] < at)
    next++;
  if (next == 0 || next == count)
    return values[next == 0 ? 0 : count - 1];
  const double share = (at - places[next - 1]) / (places[next] - places[next - 1]);
  return values[next - 1] + share * (values[next] - values[next - 1]);
}

static double quantile_isotonic_sample(const double *values, size_t count, double level) {
  const double place = level * ((double)count + 1.0) - 1.0;
  if (place <= 0.0)
    return values[0];
  const size_t below = (size_t)place;
  if (below + 1 >= count)
    return values[count - 1];
  return values[below] + (place - (double)below) * (values[below + 1] - values[below]);
}

static void quantile_isotonic_row(const quantile_map *map, const pc_layout *layout,
                                  const double *in, double *out) {
  const size_t n = layout->columns;
  out[n] = 0.0;
  if (layout->form == PC_FORM_GAUSSIAN) {
    out[0] = in[0] + in[1] * map->mean;
    out[1] = in[1] * in[1] * map->variance;
    return;
  }
  for (size_t j = 0; j < n; j++)
    out[j] =
        layout->form == PC_FORM_QUANTILES
            ? quantile_isotonic_between(in, layout->levels, n,
                                        quantile_isotonic_level(map, layout->levels[j]))
            : quantile_isotonic_sample(
                  in, n, quantile_isotonic_level(map, ((double)j + 1.0) / ((double)n + 1.0)));
}

static void quantile_isotonic_apply(const pcal_calibrator *calibrator, const double *in,
                                    size_t count, double *out) {
  const size_t k = calibrator->layout.classes;
  for (size_t i = 0; i < count; i++)
    quantile_isotonic_row(calibrator->parameters, &calibrator->layout, in + i * k, out + i * k);
}

static void quantile_isotonic_list(pc_json *json, const char *key, const double *numbers,
                                   size_t count) {
  pc_json_key(json, key);
  pc_json_open(json, '[');
  for (size_t i = 0; i < count; i++)
    pc_json_number(json, numbers[i]);
  pc_json_close(json, ']');
}

static void quantile_isotonic_write(const pcal_calibrator *calibrator, pc_json *json) {
  const quantile_map *map = calibrator->parameters;
  quantile_isotonic_list(json, "level", map->level, map->count);
  quantile_isotonic_list(json, "frequency", map->frequency, map->count);
}

static pcal_status quantile_isotonic_read(pcal_calibrator *calibrator,
                                          const pc_json_node *parameters, const char *file,
                                          pcal_error *err) {
  static const pc_list_rule levels = {
      DBL_MIN, 1 - 1e-17, PC_LIST_STRICT,
      "a level must be a number above 0 and below 1, each above "
      "the one before"};
  static const pc_list_rule frequencies = {
      0.0, 1.0, PC_LIST_RISING,
      "a frequency must be a number from 0 to 1, none below the one "
      "before"};
  PC_TRY(pc_parameters_check_names(parameters, PC_NAMES("level", "frequency"), file, err));
  const pc_json_node *level = pc_json_find(parameters, "level");
  const pc_json_node *frequency = pc_json_find(parameters, "frequency");
  if (level->kind != PC_JSON_ARRAY || frequency->kind != PC_JSON_ARRAY ||
      level->list.count != frequency->list.count || level->list.count > QUANTILE_ISOTONIC_KNOTS)
    return pc_parameter_error(level, file,
                              "level and frequency must be lists of the same length, at most "
                              "1024",
                              err);
  PC_TRY(quantile_isotonic_new(calibrator, level->list.count, err));
  quantile_map *map = calibrator->parameters;
  map->count = level->list.count;
  PC_TRY(pc_parameter_numbers(level, &levels, map->level, file, err));
  PC_TRY(pc_parameter_numbers(frequency, &frequencies, map->frequency, file, err));
  quantile_isotonic_moments(map);
  return PCAL_OK;
}

static void quantile_isotonic_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const quantile_map *map = calibrator->parameters;
  char mean[PC_NUMBER_MAX], width[PC_NUMBER_MAX];
  if (calibrator->layout.form != PC_FORM_GAUSSIAN) {
    pc_text_format(out, "map of levels to frequencies with %zu knots\n", map->count);
    return;
  }
  pc_number_round(map->mean, 4, mean);
  pc_number_round(sqrt(map->variance), 4, width);
  pc_text_format(out,
                 "%zu knots; a standard normal becomes one of mean %s and standard deviation "
                 "%s\n",
                 map->count, mean, width);
}

const pc_calibrator_method pc_calibrator_quantile_isotonic = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .task = PCAL_REGRESSION,
            .name = "quantile-isotonic",
            .title = "predicted distributions recalibrated by empirical frequencies",
            .formula = "F' = R(F), R the isotonic map of F_i(y_i) to its empirical frequency",
            .about =
                "Corrects any error of shape that all rows share: too narrow, too wide, "
                "shifted or skewed. Quantiles and samples stay quantiles and samples; normal "
                "predictions get the mean and variance of the corrected distribution. Needs "
                "a few hundred rows, and cannot reach beyond the outermost quantiles or "
                "samples.",
            .citation = "Kuleshov, Fenner & Ermon, Accurate uncertainties for deep learning "
                        "using calibrated regression, ICML 2018",
        },
    .traits = 0,
    .fit = quantile_isotonic_fit,
    .apply = quantile_isotonic_apply,
    .write = quantile_isotonic_write,
    .read = quantile_isotonic_read,
    .describe = quantile_isotonic_describe,
};
