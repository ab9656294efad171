#include "stats/bins.h"

#include <math.h>

#include "base/assert.h"
#include "base/sum.h"

/* torch.linspace(0, 1, M + 1) of float32 or float64 (version 2.13): multiples of the step, and
 * from the middle on 1 less multiples of it with one rounding. */
static double bins_torch_edge(int floats, size_t i, size_t bins) {
  const size_t left = bins - i;
  if (floats) {
    const float step = 1.0f / (float)bins;
    return (double)(i < (bins + 1) / 2 ? step * (float)i : fmaf(-step, (float)left, 1.0f));
  }
  const double step = 1.0 / (double)bins;
  return i < (bins + 1) / 2 ? step * (double)i : fma(-step, (double)left, 1.0);
}

/* Edge i of M under a rule: one division, numpy's linspace or torch's. */
static double bins_edge(pc_edge_rule rule, size_t i, size_t bins) {
  if (i == bins)
    return 1.0;
  if (rule == PC_EDGES_RIGHT || rule == PC_EDGES_LEFT)
    return (double)i / (double)bins;
  if (rule == PC_EDGES_GUO || rule == PC_EDGES_TORCH || rule == PC_EDGES_TORCH_F64)
    return bins_torch_edge(rule != PC_EDGES_TORCH_F64, i, bins);
  return (double)i * (1.0 / (double)bins);
}

/* The cut for an edge: the edge itself, or, where scores are rounded to float32 first, the
 * least double that becomes the edge or the greatest that does. */
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

/* One cell a bin, with `before` and `after` telling whether cells outside exist. */
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

/* Edges as numpy's arange(h, 1 + h, h) gives them, h = 1/M: lower and upper edges of
 * neighbours may differ in the last bit, so that a score can be in two bins or in none. */
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

/* Distinct scores around position b of the sorted rows: the entry of the row just before it
 * and of the row just after it.  `at` and `before` move forward through the table. */
typedef struct bins_walk {
  size_t at;
  double before; /* weight of the entries before `at` */
} bins_walk;

static void bins_advance(const pc_curve_table *table, bins_walk *walk, double position) {
  while (walk->at + 1 < table->count &&
         walk->before + pc_curve_table_weight(table, walk->at) < position)
    walk->before += pc_curve_table_weight(table, walk->at++);
}

/* Between the last score before a position and the first behind it. */
static double bins_edge_at(const pc_curve_table *table, bins_walk *walk, double position) {
  bins_advance(table, walk, position);
  const double lower = pc_curve_table_high(table, walk->at);
  const int ends_here = walk->before + pc_curve_table_weight(table, walk->at) == position;
  const size_t next = ends_here && walk->at + 1 < table->count ? walk->at + 1 : walk->at;
  return (lower + (next == walk->at ? lower : pc_curve_table_low(table, next))) / 2.0;
}

double pc_bins_end_position(const pc_curve_table *table, size_t bins, size_t r) {
  const double q = floor(table->total / (double)bins);
  return (double)r * q + fmin((double)r, table->total - (double)bins * q);
}

size_t pc_bins_by_mass_wants(const pc_curve_table *table, size_t bins, uint8_t *wanted) {
  bins_walk walk = {0, 0.0};
  size_t count = 0;
  for (size_t r = 1; r < bins; r++) {
    const double position = pc_bins_end_position(table, bins, r);
    if (position <= 0 || position >= table->total)
      continue;
    bins_advance(table, &walk, position);
    const int ends_here = walk.before + pc_curve_table_weight(table, walk.at) == position;
    const size_t last = ends_here && walk.at + 1 < table->count ? walk.at + 1 : walk.at;
    for (size_t i = walk.at; i <= last; i++)
      if (pc_curve_table_open(table, i)) {
        count += !wanted[i];
        wanted[i] = 1;
      }
  }
  return count;
}

/* Ascending distinct upper edges; the last is 1.  Returns their number. */
static size_t bins_mass_edges(const pc_curve_table *table, size_t bins, double *edges) {
  bins_walk walk = {0, 0.0};
  size_t count = 0;
  for (size_t r = 1; r < bins; r++) {
    const double position = pc_bins_end_position(table, bins, r);
    if (position <= 0 || position >= table->total)
      continue;
    const double edge = bins_edge_at(table, &walk, position);
    if (edge < 1.0 && (count == 0 || edge > edges[count - 1]))
      edges[count++] = edge;
  }
  edges[count++] = 1.0;
  return count;
}

typedef struct bins_sums {
  pc_fixed weight, hits, score, score_square, score_hit;
} bins_sums;

static void bins_add_segment(bins_sums *sums, const pc_segment *segment) {
  const pc_int128 one = pc_fixed_units(1.0);
  sums->weight.units += one * (pc_int128)segment->rows;
  sums->hits.units += one * (pc_int128)segment->hits;
  sums->score.units += segment->score.units;
}

static void bins_add_entry(bins_sums *sums, const pc_curve_table *table, size_t i) {
  if (table->segments != NULL) {
    bins_add_segment(sums, &table->segments[i]);
    return;
  }
  const double weight = table->weight[i], hits = table->hits[i], score = table->score[i];
  pc_fixed_add_weighted(&sums->weight, weight, 1.0);
  pc_fixed_add_weighted(&sums->hits, hits, 1.0);
  pc_fixed_add_weighted(&sums->score, weight, score);
  pc_fixed_add_weighted(&sums->score_square, weight, score * score);
  pc_fixed_add_weighted(&sums->score_hit, hits, score);
}

pc_bin pc_bin_between(const pc_curve_cursor *begin, const pc_curve_cursor *end) {
  return (pc_bin){.weight = end->rows - begin->rows,
                  .hits = end->hits - begin->hits,
                  .score = end->scores - begin->scores,
                  .score_square = (double)NAN,
                  .score_hit = (double)NAN};
}

/* Moves a place behind the row before a position, and returns the edge there: between the last
 * score before the position and the first behind it. */
static double bins_replica_edge(const pc_curve_prefix *prefix, double position,
                                pc_curve_cursor *place) {
  *place = pc_curve_prefix_seek(prefix, position - 0.5);
  const double lower = prefix->score[place->entry];
  pc_curve_prefix_pass(prefix, place);
  if (place->rows != position)
    return lower;
  const pc_curve_cursor next = pc_curve_prefix_seek(prefix, position);
  return (lower + prefix->score[next.entry]) / 2.0;
}

static size_t bins_of_replica(const pc_curve_table *table, size_t bins, pc_bin *out) {
  pc_curve_cursor begin = pc_curve_prefix_first(table->prefix), end;
  double low = 0.0;
  size_t count = 0;
  for (size_t r = 1; r < bins; r++) {
    const double position = pc_bins_end_position(table, bins, r);
    if (position <= 0 || position >= table->total)
      continue;
    const double edge = bins_replica_edge(table->prefix, position, &end);
    if (!(edge < 1.0) || (count > 0 && !(edge > low)))
      continue;
    out[count] = pc_bin_between(&begin, &end);
    out[count].low = low;
    out[count++].high = low = edge;
    begin = end;
  }
  end = pc_curve_prefix_last(table->prefix);
  out[count] = pc_bin_between(&begin, &end);
  out[count].low = low;
  out[count].high = 1.0;
  return count + 1;
}

pcal_status pc_bins_by_mass(const pcal_env *env, const pc_curve_table *table, size_t bins,
                            pc_bin *out, size_t *count, pcal_error *err) {
  if (table->prefix != NULL) {
    *count = bins_of_replica(table, bins, out);
    return PCAL_OK;
  }
  double *edges = pc_alloc_raw(env, bins, sizeof *edges);
  if (edges == NULL)
    return pc_fail_memory(err, "making equal-mass bins");
  const int coarse = table->segments != NULL;
  *count = bins_mass_edges(table, bins, edges);
  pc_assert(*count <= bins && pc_is_ascending(edges, *count, 1));
  size_t at = 0;
  for (size_t b = 0; b < *count; b++) {
    bins_sums sums = {{0}, {0}, {0}, {0}, {0}};
    const int last = b + 1 == *count;
    for (; at < table->count && (last || pc_curve_table_low(table, at) <= edges[b]); at++)
      bins_add_entry(&sums, table, at);
    out[b] = (pc_bin){b == 0 ? 0.0 : edges[b - 1],
                      edges[b],
                      pc_fixed_value(&sums.weight),
                      pc_fixed_value(&sums.hits),
                      pc_fixed_value(&sums.score),
                      coarse ? (double)NAN : pc_fixed_value(&sums.score_square),
                      coarse ? (double)NAN : pc_fixed_value(&sums.score_hit)};
  }
  pc_free(env, edges);
  return PCAL_OK;
}

/* The variance of an outcome inside a bin, its rate taken half a row nearer to one half: few
 * rows of one kind say little of the other. */
static double bins_variance(const pc_bin *bin) {
  const double smooth = (bin->hits + 0.5) / (bin->weight + 1.0);
  return smooth * (1 - smooth);
}

/* The variance of score - outcome inside a bin; without moments that of the outcome. */
static double bins_spread(const pc_bin *bin, double frequency, double gap) {
  const double square =
      (bin->score_square - 2.0 * bin->score_hit + bin->hits) / bin->weight - gap * gap;
  const double plain = frequency * (1 - frequency);
  return isfinite(square) ? fmax(square - plain + bins_variance(bin), 0.0) : bins_variance(bin);
}

/* Adds the square of one bin, which has variance 4 g^2 s / n + 2 s^2 / (n (n - 1)), g its gap
 * and s the variance of a row. */
static void bins_add_square(const pc_bin *bin, double gap, double spread, double total,
                            pc_debiased *out) {
  const double n = bin->weight, share = n / total, frequency = pc_bin_frequency(bin);
  out->square += share * (gap * gap - frequency * (1 - frequency) / (n - 1));
  out->noise += share * share * 2.0 * spread * spread / (n * (n - 1));
  out->slope_sum += share * gap * gap * 4.0 * spread / total;
  out->slope_weight += share * gap * gap;
}

pc_debiased pc_bins_debiased(const pc_bin *bins, size_t count, double total) {
  pc_debiased out = {0};
  for (size_t b = 0; b < count; b++) {
    if (bins[b].weight < 2)
      continue;
    const double frequency = pc_bin_frequency(&bins[b]);
    const double gap = fabs(pc_bin_confidence(&bins[b]) - frequency);
    bins_add_square(&bins[b], gap, bins_spread(&bins[b], frequency, gap), total, &out);
  }
  return out;
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
                      bins_variance(&bins[b]), total, &out);
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
