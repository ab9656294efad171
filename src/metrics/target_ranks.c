/* Samples: the target and the n members of a calibrated ensemble are exchangeable, so each of
 * the n + 1 ranks of the target is equally probable.
 *   rank r     u is uniform in [r/(n + 1), (r + 1)/(n + 1)]
 *   ties       a target equal to members b + 1 .. a has each of the ranks b .. a with the same
 *              probability: u is uniform in [b/(n + 1), (a + 1)/(n + 1)]
 * u is averaged over these intervals, not drawn at random, so that results depend neither on a
 * seed nor on the order of rows.
 *
 * Quantiles: q of level t is calibrated if P(y < q) <= t <= P(y <= q).  Without ties these are
 * equal.  At a point mass u is uniform between the predicted distribution function below and at
 * the target, which lie somewhere between levels.  So rows are divided by the point mass that
 * they predict, their longest run of equal quantiles (pc_forecast_place), and in each part
 *   upto_j     the share nearest to t_j between P(y < q_j) and P(y <= q_j) within the part:
 *              right by definition where these enclose t_j, which is so for the levels inside a
 *              predicted mass
 * and the shares of the parts are added up, weighted by their rows.  An error of rows without a
 * point mass is not hidden by rows with one.  Parts of fewer than 10 rows are one part: the
 * nearest share of few rows is biased towards the middle.
 * Edge case: a point mass at one quantile only is not a run.  Its rows and those without one
 * are the same part, in which errors up to the share of the tied targets stay hidden.
 *
 * Variances of u and h = (u - 1/2)^2 for one row of a calibrated model, when both are averaged
 * over cells of width w: 1/12 minus the mean of w^2/12, and 1/180 minus the mean of
 * var(h | cell).
 * Source: Hamill, Interpretation of rank histograms, Monthly Weather Review 2001; Czado,
 * Gneiting & Held, Predictive model assessment for count data, Biometrics 2009.
 * Accuracy: weights are added in the order of scores.
 * Cost: O(rows + n); quantiles O(rows + n^2 + n parts). */
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

#define TARGET_RANKS_FEW 10.0 /* rows */

/* Rows that predict the same run of equal quantiles: weights of the targets below each
 * quantile, and below or equal to it, not yet cumulated. */
typedef struct target_ranks_part {
  double total;
  double *below, *upto;
} target_ranks_part;

typedef struct target_ranks_parts {
  size_t columns, count;
  uint32_t *index; /* of the part of run first (n + 1) + last, plus 1; 0: no row has it */
  target_ranks_part *part; /* and at [count] that of the small parts */
  double *sums;            /* of all parts */
} target_ranks_parts;

static size_t target_ranks_run(const target_ranks_parts *parts, pc_forecast_place place) {
  return place.first * (parts->columns + 1) + place.last;
}

static void target_ranks_parts_free(const pcal_env *env, target_ranks_parts *parts) {
  pc_free(env, parts->index);
  pc_free(env, parts->part);
  pc_free(env, parts->sums);
}

static pcal_status target_ranks_parts_new(const pcal_env *env, const pc_curve_table *table,
                                          const pc_forecast_shape *shape,
                                          target_ranks_parts *out, pcal_error *err) {
  const size_t places = shape->columns + 1;
  *out = (target_ranks_parts){shape->columns, 0, NULL, NULL, NULL};
  out->index = pc_alloc(env, places * places, sizeof *out->index);
  for (size_t i = 0; out->index != NULL && i < table->count; i++) {
    uint32_t *index =
        &out->index[target_ranks_run(out, pc_forecast_place_of(shape, table->score[i]))];
    if (*index == 0)
      *index = (uint32_t)++out->count;
  }
  out->part = pc_alloc(env, out->count + 1, sizeof *out->part);
  out->sums = pc_alloc(env, (out->count + 1) * 2 * shape->columns, sizeof *out->sums);
  if (out->index == NULL || out->part == NULL || out->sums == NULL)
    return pc_fail_memory(err, "counting ranks");
  for (size_t p = 0; p <= out->count; p++) {
    out->part[p].below = out->sums + p * 2 * shape->columns;
    out->part[p].upto = out->part[p].below + shape->columns;
  }
  return PCAL_OK;
}

static void target_ranks_parts_add(const target_ranks_parts *parts, pc_forecast_place place,
                                   double weight) {
  const target_ranks_part *part =
      &parts->part[parts->index[target_ranks_run(parts, place)] - 1];
  if (place.upto < parts->columns) /* the first quantile above the target */
    part->below[place.upto] += weight;
  if (place.below < parts->columns) /* the first that is not below it */
    part->upto[place.below] += weight;
}

/* Moves the rows of small parts into the last one. */
static void target_ranks_parts_join(target_ranks_parts *parts) {
  target_ranks_part *all = &parts->part[parts->count];
  for (size_t p = 0; p < parts->count; p++) {
    target_ranks_part *part = &parts->part[p];
    if (part->total >= TARGET_RANKS_FEW)
      continue;
    for (size_t j = 0; j < parts->columns; j++) {
      all->below[j] += part->below[j];
      all->upto[j] += part->upto[j];
      part->below[j] = part->upto[j] = 0.0;
    }
    all->total += part->total;
    part->total = 0.0;
  }
}

/* Adds the rows of a part up to each quantile. */
static void target_ranks_part_upto(const target_ranks_part *part, const double *levels,
                                   size_t columns, double *upto) {
  double below = 0.0, most = 0.0;
  for (size_t j = 0; j < columns; j++) {
    below += part->below[j];
    most += part->upto[j];
    upto[j] += fmin(fmax(levels[j] * part->total, below), most);
  }
}

static pcal_status target_ranks_of_quantiles(const pcal_env *env, const pc_curve_table *table,
                                             const pc_forecast_shape *shape,
                                             pc_target_ranks *out, pcal_error *err) {
  target_ranks_parts parts;
  out->upto = pc_alloc(env, out->count, sizeof *out->upto);
  pcal_status status = target_ranks_parts_new(env, table, shape, &parts, err);
  if (status == PCAL_OK && out->upto == NULL)
    status = pc_fail_memory(err, "counting ranks");
  for (size_t i = 0; status == PCAL_OK && i < table->count; i++) {
    const pc_forecast_place place = pc_forecast_place_of(shape, table->score[i]);
    target_ranks_parts_add(&parts, place, table->weight[i]);
    parts.part[parts.index[target_ranks_run(&parts, place)] - 1].total += table->weight[i];
    out->tied += place.upto > place.below ? table->weight[i] / table->total : 0.0;
  }
  if (status == PCAL_OK)
    target_ranks_parts_join(&parts);
  for (size_t p = 0; status == PCAL_OK && p <= parts.count; p++)
    target_ranks_part_upto(&parts.part[p], shape->levels, out->count, out->upto);
  for (size_t j = 0; status == PCAL_OK && j < out->count; j++)
    out->upto[j] /= table->total;
  target_ranks_parts_free(env, &parts);
  return status;
}

pcal_status pc_target_ranks_new(const pcal_env *env, const pc_layout *layout,
                                const pc_curve_table *table, pc_target_ranks *out,
                                pcal_error *err) {
  const pc_forecast_shape shape = {layout->form, layout->columns, layout->levels};
  *out = (pc_target_ranks){layout->columns, NULL, NULL, 0.0};
  const pcal_status status = layout->form == PC_FORM_QUANTILES
                                 ? target_ranks_of_quantiles(env, table, &shape, out, err)
                                 : target_ranks_of_samples(env, table, &shape, out, err);
  if (status != PCAL_OK)
    pc_target_ranks_free(env, out);
  return status;
}

void pc_target_ranks_free(const pcal_env *env, pc_target_ranks *places) {
  pc_free(env, places->mass);
  pc_free(env, places->upto);
  *places = (pc_target_ranks){0, NULL, NULL, 0.0};
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
