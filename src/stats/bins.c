#include "stats/bins.h"

#include <math.h>

#include "base/sum.h"

/* torch.linspace(0, 1, M + 1) in float32 or float64 (version 2.13): multiples of the step; from
 * the middle on 1 minus multiples of the step, rounded once. */
static double bins_torch_edge(int floats, size_t i, size_t bins) {
  const size_t left = bins - i;
  if (floats) {
    const float step = 1.0f / (float)bins;
    return (double)(i < (bins + 1) / 2 ? step * (float)i : fmaf(-step, (float)left, 1.0f));
  }
  const double step = 1.0 / (double)bins;
  return i < (bins + 1) / 2 ? step * (double)i : fma(-step, (double)left, 1.0);
}

/* Edge i of `bins`: i / M, numpy's linspace or torch's. */
static double bins_edge(pc_edge_rule rule, size_t i, size_t bins) {
  if (i == bins)
    return 1.0;
  if (rule == PC_EDGES_RIGHT || rule == PC_EDGES_LEFT)
    return (double)i / (double)bins;
  if (rule == PC_EDGES_GUO || rule == PC_EDGES_TORCH || rule == PC_EDGES_TORCH_F64)
    return bins_torch_edge(rule != PC_EDGES_TORCH_F64, i, bins);
  return (double)i * (1.0 / (double)bins);
}

/* The cut for an edge: the edge itself or, under rules that round scores to float32, the least
 * or greatest double that rounds to the edge. */
static double bins_cut(pc_edge_rule rule, double edge) {
  if (rule != PC_EDGES_TORCH && rule != PC_EDGES_GUO)
    return edge;
  const float toward = rule == PC_EDGES_TORCH ? 0.0f : 2.0f;
  const double middle = ((double)nextafterf((float)edge, toward) + edge) / 2.0;
  return (double)(float)middle == edge ? middle : nextafter(middle, edge);
}

static void bins_add_cut(pc_partition *cells, double cut) {
  cells->cuts[cells->cut_count++] = cut;
  cells->cuts[cells->cut_count] = INFINITY;
}

static void bins_add_run(pc_partition *cells, size_t first, size_t last, double low,
                         double high) {
  cells->runs[cells->bin_count++] = (struct pc_cell_run){first, last, low, high};
}

/* One cell for each bin; before, after: a cell outside all bins below the first, above the
 * last. */
static void bins_plain(pc_partition *cells, pc_edge_rule rule, size_t bins, int before,
                       int after) {
  if (before)
    bins_add_cut(cells, bins_cut(rule, 0.0));
  for (size_t i = 0; i < bins; i++) {
    const double low = bins_edge(rule, i, bins), high = bins_edge(rule, i + 1, bins);
    bins_add_run(cells, i + (size_t)before, i + (size_t)before, low, high);
    if (i + 1 < bins || after)
      bins_add_cut(cells, bins_cut(rule, high));
  }
}

static void bins_insert_cut(pc_partition *cells, double cut) {
  size_t at = cells->cut_count;
  while (at > 0 && cells->cuts[at - 1] >= cut)
    at--;
  if (at < cells->cut_count && cells->cuts[at] == cut)
    return;
  bins_add_cut(cells, cut);
  for (size_t i = cells->cut_count - 1; i > at; i--)
    cells->cuts[i] = cells->cuts[i - 1];
  cells->cuts[at] = cut;
}

/* Edges of numpy's arange(h, 1 + h, h), h = 1 / M.  The upper edge of a bin and the lower edge
 * of the next may differ in the last bit, so that a score can be in two bins or in none. */
static void bins_kull(pc_partition *cells, size_t bins) {
  const double h = 1.0 / (double)bins;
  const size_t count = (size_t)ceil((1.0 + h - h) / h);
  for (size_t i = 0; i < count; i++) {
    const double high = h + (double)i * h;
    if (high - h != 0.0)
      bins_insert_cut(cells, high - h);
    bins_insert_cut(cells, high);
  }
  for (size_t i = 0; i < count; i++) {
    const double high = h + (double)i * h, low = high - h;
    const size_t first = low == 0.0 ? 0 : pc_partition_find(cells, low) + 1;
    bins_add_run(cells, first, pc_partition_find(cells, high), low, high);
  }
}

pcal_status pc_partition_new(const pcal_env *env, pc_edge_rule rule, size_t bins,
                             pc_partition *out, pcal_error *err) {
  *out = (pc_partition){.guess = (double)bins};
  double *space = pc_alloc_raw(env, 2 * bins + 6, sizeof *space);
  out->cuts = space == NULL ? NULL : space + 1;
  out->runs = pc_alloc_raw(env, bins + 2, sizeof *out->runs);
  if (out->cuts == NULL || out->runs == NULL) {
    pc_partition_free(env, out);
    return pc_fail_memory(err, "making bins");
  }
  out->cuts[-1] = -INFINITY;
  out->cuts[0] = INFINITY;
  out->closed_right = rule == PC_EDGES_RIGHT || rule == PC_EDGES_GUO || rule == PC_EDGES_KULL;
  if (rule == PC_EDGES_KULL) {
    bins_kull(out, bins);
    out->guess = (double)(out->cut_count + 1);
    return PCAL_OK;
  }
  const int own_one =
      rule == PC_EDGES_OWN_ONE || rule == PC_EDGES_TORCH || rule == PC_EDGES_TORCH_F64;
  bins_plain(out, rule, bins, rule == PC_EDGES_GUO, rule == PC_EDGES_GUO || own_one);
  if (own_one)
    bins_add_run(out, bins, bins, 1.0, 1.0);
  return PCAL_OK;
}

void pc_partition_free(const pcal_env *env, pc_partition *cells) {
  pc_free(env, cells->cuts == NULL ? NULL : cells->cuts - 1);
  pc_free(env, cells->runs);
  *cells = (pc_partition){0};
}

double pc_bin_confidence(const pc_bin *bin) {
  return bin->score / bin->weight;
}

double pc_bin_frequency(const pc_bin *bin) {
  return bin->hits / bin->weight;
}

/* The variance of an outcome in a bin.  Half a hit and half a miss are added, because a few
 * rows with the same outcome do not show that the other is impossible. */
static double bins_outcome_variance(const pc_bin *bin) {
  const double smooth = (bin->hits + 0.5) / (bin->weight + 1.0);
  return smooth * (1 - smooth);
}

/* The variance of score - outcome in a bin; if moments are unknown, that of the outcome. */
static double bins_gap_variance(const pc_bin *bin, double frequency, double gap) {
  const double square =
      (bin->score_square - 2.0 * bin->score_hit + bin->hits) / bin->weight - gap * gap;
  const double plain = frequency * (1 - frequency);
  return isfinite(square) ? fmax(square - plain + bins_outcome_variance(bin), 0.0)
                          : bins_outcome_variance(bin);
}

/* Adds the debiased square of one bin.  With gap g and variance s of a row, the square has the
 * variance 4 g^2 s / n + 2 s^2 / (n (n - 1)). */
static void bins_add_square(const pc_bin *bin, double gap, double variance, double total,
                            pc_debiased *out) {
  const double n = bin->weight, share = n / total, frequency = pc_bin_frequency(bin);
  out->square += share * (gap * gap - frequency * (1 - frequency) / (n - 1));
  out->noise += share * share * 2.0 * variance * variance / (n * (n - 1));
  out->slope_sum += share * gap * gap * 4.0 * variance / total;
  out->slope_weight += share * gap * gap;
}

static pc_debiased bins_squares(const pc_bin *bins, size_t count, double total, int moments) {
  pc_debiased out = {0};
  for (size_t b = 0; b < count; b++) {
    if (bins[b].weight < 2)
      continue;
    const double frequency = pc_bin_frequency(&bins[b]);
    const double gap = fabs(pc_bin_confidence(&bins[b]) - frequency);
    const double variance =
        moments ? bins_gap_variance(&bins[b], frequency, gap) : bins_outcome_variance(&bins[b]);
    bins_add_square(&bins[b], gap, variance, total, &out);
  }
  return out;
}

pc_debiased pc_bins_debiased(const pc_bin *bins, size_t count, double total) {
  return bins_squares(bins, count, total, 1);
}

pc_debiased pc_bins_square(const pc_bin *bins, size_t count, double total) {
  return bins_squares(bins, count, total, 0);
}

pc_debiased pc_bins_sharpness(const pc_bin *bins, size_t count, double total) {
  pc_debiased out = {0};
  double hits = 0.0;
  for (size_t b = 0; b < count; b++)
    hits += bins[b].hits;
  const double rate = hits / total;
  for (size_t b = 0; b < count; b++)
    if (bins[b].weight >= 2)
      bins_add_square(&bins[b], fabs(pc_bin_frequency(&bins[b]) - rate),
                      bins_outcome_variance(&bins[b]), total, &out);
  out.square += total < 2 ? 0.0 : rate * (1 - rate) / (total - 1);
  return out;
}

double pc_bins_error(const pc_bin *bins, size_t count, double total, pc_norm norm, int debias) {
  double result = 0.0;
  if (debias)
    return sqrt(fmax(pc_bins_debiased(bins, count, total).square, 0.0));
  for (size_t b = 0; b < count; b++) {
    const double n = bins[b].weight;
    if (n <= 0)
      continue;
    const double gap = fabs(pc_bin_confidence(&bins[b]) - pc_bin_frequency(&bins[b]));
    if (norm == PC_NORM_MAX)
      result = fmax(result, gap);
    else
      result += n / total * (norm == PC_NORM_L1 ? gap : gap * gap);
  }
  return norm == PC_NORM_L2 ? sqrt(fmax(result, 0.0)) : result;
}
