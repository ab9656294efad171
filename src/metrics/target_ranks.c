/* Samples: the target and the n members of a calibrated ensemble are exchangeable, so each of
 * the n + 1 ranks of the target is equally probable.
 *   rank r     u is uniform in [r/(n + 1), (r + 1)/(n + 1)]
 *   ties       a target equal to members b + 1 .. a has each of the ranks b .. a with the same
 *              probability: u is uniform in [b/(n + 1), (a + 1)/(n + 1)]
 * u is averaged over these intervals, not drawn at random, so that results depend neither on a
 * seed nor on the order of rows.
 *
 * Quantiles: q of level t is calibrated if P(y < q) <= t <= P(y <= q).  Without ties these are
 * equal; at a point mass any level in between is possible, and the share nearest to t is used.
 *
 * Variances of u and h = (u - 1/2)^2 for one row of a calibrated model, when both are averaged
 * over cells of width w: 1/12 minus the mean of w^2/12, and 1/180 minus the mean of
 * var(h | cell).
 * Source: Hamill, Interpretation of rank histograms, Monthly Weather Review 2001; Czado,
 * Gneiting & Held, Predictive model assessment for count data, Biometrics 2009.
 * Accuracy: weights are added in the order of scores.
 * Cost: O(rows + n). */
#include "metrics/target_ranks.h"

#include <math.h>

#include "base/elementary.h"

static void target_ranks_add_samples(const pc_curve_table *table,
                                     const pc_forecast_shape *shape, double *mass,
                                     double *change) {
  for (size_t i = 0; i < table->count; i++) {
    const pc_forecast_place place = pc_forecast_place_of(shape, table->score[i]);
    const double share = table->weight[i] / table->total;
    if (place.below == place.upto) {
      mass[place.below] += share;
      continue;
    }
    const double each = share / (double)(place.upto - place.below + 1);
    change[place.below] += each;
    change[place.upto + 1] -= each;
  }
}

static pcal_status target_ranks_of_samples(const pcal_env *env, const pc_curve_table *table,
                                           const pc_forecast_shape *shape, pc_target_ranks *out,
                                           pcal_error *err) {
  const size_t cells = out->count + 1;
  out->mass = pc_alloc(env, cells, sizeof *out->mass);
  double *change = pc_alloc(env, cells + 1, sizeof *change), level = 0.0;
  if (out->mass == NULL || change == NULL) {
    pc_free(env, change);
    return pc_fail_memory(err, "counting ranks");
  }
  target_ranks_add_samples(table, shape, out->mass, change);
  for (size_t c = 0; c < cells; c++) {
    level += change[c];
    out->mass[c] += fmax(level, 0.0);
  }
  pc_free(env, change);
  return PCAL_OK;
}

static pcal_status target_ranks_of_quantiles(const pcal_env *env, const pc_curve_table *table,
                                             const pc_forecast_shape *shape,
                                             pc_target_ranks *out, pcal_error *err) {
  out->below = pc_alloc(env, 2 * out->count, sizeof *out->below);
  if (out->below == NULL)
    return pc_fail_memory(err, "counting ranks");
  out->upto = out->below + out->count;
  for (size_t i = 0; i < table->count; i++) {
    const pc_forecast_place place = pc_forecast_place_of(shape, table->score[i]);
    if (place.upto < out->count) /* the first quantile above the target */
      out->below[place.upto] += table->weight[i];
    if (place.below < out->count) /* the first that is not below it */
      out->upto[place.below] += table->weight[i];
  }
  for (size_t j = 1; j < out->count; j++) {
    out->below[j] += out->below[j - 1];
    out->upto[j] += out->upto[j - 1];
  }
  for (size_t j = 0; j < 2 * out->count; j++)
    out->below[j] /= table->total;
  return PCAL_OK;
}

pcal_status pc_target_ranks_new(const pcal_env *env, const pc_layout *layout,
                                const pc_curve_table *table, pc_target_ranks *out,
                                pcal_error *err) {
  const pc_forecast_shape shape = {layout->form, layout->columns, layout->levels};
  *out = (pc_target_ranks){layout->columns, NULL, NULL, NULL};
  const pcal_status status = layout->form == PC_FORM_QUANTILES
                                 ? target_ranks_of_quantiles(env, table, &shape, out, err)
                                 : target_ranks_of_samples(env, table, &shape, out, err);
  if (status != PCAL_OK)
    pc_target_ranks_free(env, out);
  return status;
}

void pc_target_ranks_free(const pcal_env *env, pc_target_ranks *places) {
  pc_free(env, places->mass);
  pc_free(env, places->below);
  *places = (pc_target_ranks){0, NULL, NULL, NULL};
}

double pc_target_ranks_share(const pc_target_ranks *places, double level) {
  const double place = fmin(fmax(level, 0.0), 1.0) * ((double)places->count + 1.0);
  double share = 0.0;
  for (size_t c = 0; c <= places->count; c++) {
    if (place < (double)c + 1.0)
      return share + fmax(place - (double)c, 0.0) * places->mass[c];
    share += places->mass[c];
  }
  return share;
}

double pc_target_ranks_upto(const pc_target_ranks *places, size_t column, double level) {
  return fmin(fmax(level, places->below[column]), places->upto[column]);
}

/* The mean of (u - 1/2)^(2 k) for u uniform in [low, high]. */
static double target_ranks_moment(double low, double high, int k) {
  const double a = low - 0.5, b = high - 0.5, power = 2.0 * k + 1.0;
  return (pc_pow(b, power) - pc_pow(a, power)) / (power * (b - a));
}

static void target_ranks_spread(const pc_curve_table *table, const pc_forecast_shape *shape,
                                pc_pit_summary *out) {
  const double cells = (double)shape->columns + 1.0;
  out->mean_variance = 1.0 / 12;
  out->square_variance = 1.0 / 180;
  for (size_t i = 0; i < table->count; i++) {
    const pc_forecast_place place = pc_forecast_place_of(shape, table->score[i]);
    const double low = (double)place.below / cells, high = ((double)place.upto + 1.0) / cells;
    const double share = table->weight[i] / table->total, width = high - low;
    const double square = target_ranks_moment(low, high, 1);
    out->mean += share * 0.5 * (low + high);
    out->square += share * square;
    out->mean_variance -= share * width * width / 12;
    out->square_variance -= share * (target_ranks_moment(low, high, 2) - square * square);
  }
  out->mean_variance = fmax(out->mean_variance, 0.0);
  out->square_variance = fmax(out->square_variance, 0.0);
}

pcal_status pc_pit_summary_new(const pcal_env *env, const pc_layout *layout,
                               const pc_curve_table *table, pc_pit_summary *out,
                               pcal_error *err) {
  const pc_forecast_shape shape = {layout->form, layout->columns, layout->levels};
  *out = (pc_pit_summary){0};
  if (layout->form == PC_FORM_SAMPLES)
    target_ranks_spread(table, &shape, out);
  return pc_target_ranks_new(env, layout, table, &out->places, err);
}
