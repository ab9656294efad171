#include "metrics/binned_error.h"

#include <math.h>

#include "base/elementary.h"
#include "curve/curve_bins.h"

/* The errors of the classes of a row are negatively correlated.  This multiplies the variance
 * of the sum of squares by 1 + 1 / (K - 1), compared with independent errors, for K equally
 * frequent classes. */
static void binned_error_share(size_t parts, pc_debiased *sum) {
  const double shared = parts > 1 ? 1.0 + 1.0 / (double)(parts - 1) : 1.0;
  sum->noise *= shared;
  sum->slope_sum *= shared;
}

/* sum_i w_i g_i^p as scale^p * sum, without overflow or underflow of powers. */
typedef struct binned_error_sum {
  double p, scale, sum;
} binned_error_sum;

static double binned_error_power(double x, double p) {
  return p == 1.0 ? x : p == 2.0 ? x * x : pc_pow(x, p);
}

static void binned_error_add(binned_error_sum *sum, double weight, double gap) {
  if (gap <= 0 || weight <= 0)
    return;
  if (sum->p <= 2.0) {
    sum->scale = 1.0;
    sum->sum += weight * binned_error_power(gap, sum->p);
    return;
  }
  if (gap > sum->scale) {
    sum->sum *= binned_error_power(sum->scale / gap, sum->p);
    sum->scale = gap;
  }
  sum->sum += weight * binned_error_power(gap / sum->scale, sum->p);
}

static void binned_error_join(binned_error_sum *into, const binned_error_sum *from) {
  if (into->p <= 2.0) {
    into->scale = 1.0;
    into->sum += from->sum;
  } else {
    binned_error_add(into, from->sum, from->scale);
  }
}

/* The p-th root of the sum divided by `count`. */
static double binned_error_root(const binned_error_sum *sum, double count) {
  const double share = sum->sum / count;
  const double root = sum->p == 1.0   ? share
                      : sum->p == 2.0 ? sqrt(share)
                                      : pc_pow(share, 1.0 / sum->p);
  return sum->scale * root;
}

static double binned_error_weight(const pc_bin *bins, size_t count) {
  double weight = 0.0;
  for (size_t b = 0; b < count; b++)
    weight += bins[b].weight;
  return weight;
}

static binned_error_sum binned_error_part(const pc_binned_error *how, const pc_bin *bins,
                                          size_t count, double total) {
  binned_error_sum sum = {how->p, 0.0, 0.0};
  if (how->debias) {
    binned_error_add(&sum, 1.0, pc_bins_error(bins, count, total, PC_NORM_L2, 1));
    return sum;
  }
  for (size_t b = 0; b < count; b++)
    if (bins[b].weight > 0)
      binned_error_add(&sum,
                       how->equal_weights ? 1.0 / (double)how->bins : bins[b].weight / total,
                       fabs(pc_bin_confidence(&bins[b]) - pc_bin_frequency(&bins[b])));
  return sum;
}

/* True for the root mean square of gaps, weighted by rows. */
static int binned_error_squares(const pc_binned_error *how) {
  return how->p == 2.0 && !how->equal_weights;
}

/* The bins of one part: for a grid its own; for a curve and a sparse grid computed into
 * `space`. */
static void binned_error_bins(const pc_binned_error *how, const pc_evidence *evidence,
                              size_t part, pc_bin *space, const pc_bin **bins, size_t *count) {
  *bins = space;
  *count = how->bins;
  if (evidence->machine == PC_GRID) {
    *count = evidence->grid.bin_count;
    if (evidence->grid.bins == NULL)
      evidence->grid.read(evidence->grid.state, part, space);
    else
      *bins = evidence->grid.bins + part * evidence->grid.bin_count;
    return;
  }
  const pc_curve_table *table = &evidence->curve.parts[part];
  if (how->binning == PC_BINNING_MASS)
    *count = pc_bins_by_mass_of_error(table, how->bins, space);
  else if (how->binning == PC_BINNING_ADAPTIVE)
    pc_bins_adaptive(table, how->threshold, how->bins, space);
  else
    pc_bins_split_ties(table, how->bins, space);
}

static void binned_error_parts(const pc_binned_error *how, const pc_evidence *evidence,
                               size_t parts, pc_bin *space, pc_metric_result *out) {
  binned_error_sum total = {how->p, 0.0, 0.0};
  pc_debiased inner = {0};
  out->undefined = 1;
  for (size_t k = 0; k < parts; k++) {
    const pc_bin *bins;
    size_t count;
    binned_error_bins(how, evidence, k, space, &bins, &count);
    pc_plot_table_bins_add(&out->graph, k, bins, count);
    const double weight = binned_error_weight(bins, count);
    const binned_error_sum part = binned_error_part(how, bins, count, weight);
    if (out->class_values != NULL)
      out->class_values[k] = binned_error_root(&part, 1.0);
    out->undefined &= !(weight > 0);
    binned_error_join(&total, &part);
    if (how->debias && weight > 0)
      pc_debiased_add(&inner, pc_bins_debiased(bins, count, weight));
    else if (binned_error_squares(how) && weight > 0)
      pc_debiased_add(&inner, pc_bins_square(bins, count, weight));
  }
  binned_error_share(parts, &inner);
  if (how->debias)
    pc_metric_result_debiased(out, inner, how->mean ? (double)parts : 1.0,
                              evidence->machine == PC_GRID ? PC_MOST_BY_WIDTH
                              : parts > 1                  ? PC_MOST_BY_CLASS
                                                           : 1.0);
  else if (binned_error_squares(how))
    pc_metric_result_square(out, &inner, how->mean ? (double)parts : 1.0,
                            parts > 1 ? 1.0 : PC_SLOPE_ONE_SCORE);
  if (how->debias && evidence->machine == PC_GRID) /* a row changes at most two classes */
    out->inner_unseen =
        PC_UNSEEN_SQUARE * (parts > 1 ? 2.0 : 1.0) / (how->mean ? (double)parts : 1.0);
  out->value = binned_error_root(&total, how->mean ? (double)parts : 1.0);
}

static void binned_error_worst(pc_metric_result *out) {
  double worst = 0.0;
  for (size_t k = 0; k < out->class_count; k++)
    worst = fmax(worst, out->class_values[k]);
  pc_metric_result_part(out, "worst", worst);
}

pcal_status pc_binned_error_evaluate(const pc_binned_error *how, const pc_evidence *evidence,
                                     const pcal_env *env, pc_metric_result *out,
                                     pcal_error *err) {
  const int curve = evidence->machine == PC_CURVE;
  const size_t parts = curve ? evidence->curve.part_count : evidence->grid.part_count;
  if (parts > 1)
    PC_TRY(pc_metric_result_classes(out, env, parts, err));
  const size_t most = curve ? how->bins : evidence->grid.bin_count;
  PC_TRY(pc_plot_table_bins_new(env, parts, most, &out->graph, err));
  pc_bin *space = pc_alloc(env, most, sizeof *space);
  if (space == NULL)
    return pc_fail_memory(err, "making bins");
  binned_error_parts(how, evidence, parts, space, out);
  if (parts > 1 && !out->undefined)
    binned_error_worst(out);
  pc_free(env, space);
  return PCAL_OK;
}
