/* bbq: Bayesian binning into quantiles.
 *
 * Formula:  for each number of bins B from max(1, N^(1/3) / 10) to 10 N^(1/3), bins of equal
 *           mass.  A bin with n rows, m hits and midpoint c has the prior Beta(a, s - a),
 *           s = 2 / B, a = s c.  Its value is v_b = (m + a) / (n + s), and the likelihood of
 *           the binning is
 *             L_B = prod_b  G(s) / G(n + s)  G(m + a) / G(a)  G(n - m + s - a) / G(s - a),
 *           G = Gamma.  A score becomes the mean of its bins' values over all B, weighted by
 *           L_B; rows are divided by their sums.
 * Edge cases:
 *   1. Bins as in histogram:binning=mass.  B in the prior is the number of bins after joining
 *      equal edges.  N is the total weight; both ends of the range of B are rounded down and at
 *      most 10000.
 *   2. The midpoint of a bin is kept 1e-6 away from 0 and 1, which are no valid priors.
 *   3. Binnings whose likelihood is below 2^-60 of the largest are left out.
 *   4. Numbers of bins that give the same edges are evaluated once and count as often as there
 *      are of them: few scores with large weights cost about as much as with weight 1.
 *   5. A single column of scores, or confidences, has one table, and the rows are not divided
 *      by their sums.
 * Source:   Naeini, Cooper & Hauskrecht 2015.
 * Accuracy: log-likelihoods to about 1e-15 n log n.
 * Cost:     a sort of each class, then about 50 N^(2/3) bins, at most 10^4 times twice the
 *           distinct scores; classes are processed in batches: as many at a time as fit into
 *           memory. */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "calibrators/bin_maps.h"
#include "calibrators/one_vs_rest.h"
#include "calibrators/parameter_lists.h"
#include "calibrators/recipe.h"
#include "calibrators/score_columns.h"
#include "kernels/lane_math.h"
#include "stats/bins.h"

#define BBQ_RANGE 10.0    /* B is at most this factor above or below N^(1/3) */
#define BBQ_HIGH 10000.0  /* upper bound of B: N above 1e9 costs no more */
#define BBQ_STRENGTH 2.0  /* sum of s over the bins of a binning */
#define BBQ_INSIDE 1e-6   /* least distance of prior means from 0 and 1 */
#define BBQ_LEAST 0x1p-60 /* least relative likelihood of a binning */
#define BBQ_STIRLING 12.0
/* Most bins of one table that are accepted when a calibrator file is read. */
#define BBQ_BINS_MAX ((size_t)PC_BINS_MAX * PC_BINS_MAX)

/* One class: sorted scores with cumulative sums. */
typedef struct bbq_rows {
  const pc_curve_table *table;
  double *weight, *hits; /* of all entries up to and including each */
  double total;
} bbq_rows;

/* log Gamma(x), x > 0: Stirling's series after a shift to x >= 12. */
static double bbq_log_gamma(double x) {
  double product = 1.0;
  for (; x < BBQ_STIRLING; x += 1.0)
    product *= x;
  const double inverse = 1.0 / x, square = inverse * inverse;
  const double series =
      inverse *
      (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680))));
  const double shift = product == 1.0 ? 0.0 : pc_log(product);
  return ((x - 0.5) * pc_log(x) - x) + 0.91893853320467274178 + (series - shift);
}

/* log Gamma(count + x) - log Gamma(x); most bins of a class have no hits. */
static double bbq_log_gamma_rise(double count, double x) {
  return count == 0.0 ? 0.0 : bbq_log_gamma(count + x) - bbq_log_gamma(x);
}

/* ---- One binning ---- */

/* The weight at edge r of bins of equal mass: q = floor(total / bins), rest = total - bins q. */
static double bbq_position(size_t r, double q, double rest) {
  return (double)r * q + fmin((double)r, rest);
}

/* The first edge after r whose position is at least `weight`, or `bins`; the steps double, so that
 * an entry that contains many edges costs their logarithm. */
static size_t bbq_skip(size_t r, size_t bins, double q, double rest, double weight) {
  size_t step = 1;
  while (r + step < bins && bbq_position(r + step, q, rest) < weight) {
    r += step;
    step *= 2;
  }
  size_t high = r + step < bins ? r + step : bins;
  while (high - r > 1) {
    const size_t middle = r + (high - r) / 2;
    if (bbq_position(middle, q, rest) < weight)
      r = middle;
    else
      high = middle;
  }
  return high;
}

/* Sets the edges of at most `bins` bins, and the number of entries up to each edge.  All edges
 * inside one entry are its score, so only the first is looked at. */
static void bbq_cut(const bbq_rows *rows, size_t bins, pc_bin_map *out, size_t *upto) {
  const pc_curve_table *table = rows->table;
  const double q = floor(rows->total / (double)bins);
  const double rest = rows->total - (double)bins * q;
  size_t made = 0;
  for (size_t r = 1, next; r < bins; r = next) {
    const double position = bbq_position(r, q, rest);
    next = r + 1;
    if (position >= rows->total)
      break;
    if (position <= 0)
      continue;
    size_t at = pc_first_not_below(rows->weight, table->count - 1, position);
    const int between = rows->weight[at] == position && at + 1 < table->count;
    const double edge = (table->score[at] + table->score[between ? at + 1 : at]) / 2.0;
    if (!between)
      next = bbq_skip(r, bins, q, rest, rows->weight[at]);
    if (edge >= 1.0 || (made > 0 && edge <= out->edges[made - 1]))
      continue;
    at += between && table->score[at + 1] <= edge; /* the midpoint was rounded up to a score */
    upto[made] = at + 1;
    out->edges[made++] = edge;
  }
  upto[made++] = table->count;
  out->count = made;
}

/* True if two binnings have the same bins. */
static int bbq_same(const pc_bin_map *a, const pc_bin_map *b) {
  return a->count == b->count &&
         memcmp(a->edges, b->edges, (a->count - 1) * sizeof *a->edges) == 0;
}

/* Sets the values of a binning; returns the logarithm of its likelihood. */
static double bbq_weigh(const bbq_rows *rows, const size_t *upto, pc_bin_map *out) {
  const double strength = BBQ_STRENGTH / (double)out->count, own = bbq_log_gamma(strength);
  double likelihood = 0.0, weight = 0.0, hits = 0.0;
  for (size_t b = 0; b < out->count; b++) {
    const double middle = fmin(fmax(pc_bin_map_middle(out, b), BBQ_INSIDE), 1.0 - BBQ_INSIDE);
    const double a = strength * middle, z = strength * (1.0 - middle);
    const double n = rows->weight[upto[b] - 1] - weight;
    const double m = fmin(rows->hits[upto[b] - 1] - hits, n);
    weight = rows->weight[upto[b] - 1];
    hits = rows->hits[upto[b] - 1];
    out->values[b] = (m + a) / (n + strength);
    likelihood += own - bbq_log_gamma(n + strength) + bbq_log_gamma_rise(m, a) +
                  bbq_log_gamma_rise(n - m, z);
  }
  return likelihood;
}

/* ---- All binnings of a class ---- */

typedef struct bbq_range {
  size_t low, high;
} bbq_range;

static bbq_range bbq_range_of(double total) {
  const double root = pc_cbrt(total);
  const double low = fmin(floor(root / BBQ_RANGE), BBQ_HIGH);
  const double high = fmin(floor(root * BBQ_RANGE), BBQ_HIGH);
  return (bbq_range){low < 1.0 ? 1 : (size_t)low, high < 1.0 ? 1 : (size_t)high};
}

/* Upper bound on the number of bins: each edge is a score or the midpoint of two neighbouring
 * scores. */
static size_t bbq_room(const bbq_rows *rows, size_t bins) {
  const size_t most = 2 * rows->table->count + 1;
  return bins < most ? bins : most;
}

/* Likelihoods of all binnings, relative to the largest one. */
static pcal_status bbq_likelihoods(const pcal_env *env, const bbq_rows *rows, bbq_range range,
                                   size_t *upto, double *out, pcal_error *err) {
  pc_bin_map tables[2] = {{0}, {0}}, *table = &tables[0], *before = &tables[1];
  double best = -INFINITY;
  PC_TRY(pc_bin_map_alloc(env, bbq_room(rows, range.high), table, err));
  PC_TRY(pc_bin_map_alloc(env, bbq_room(rows, range.high), before, err));
  for (size_t bins = range.low; bins <= range.high; bins++) {
    double *likelihood = &out[bins - range.low];
    bbq_cut(rows, bins, table, upto);
    *likelihood = bins > range.low && bbq_same(table, before) ? likelihood[-1]
                                                              : bbq_weigh(rows, upto, table);
    best = fmax(best, *likelihood);
    pc_bin_map *const swapped = before;
    before = table;
    table = swapped;
  }
  for (size_t i = 0; i <= range.high - range.low; i++)
    out[i] = pc_lane_exp(out[i] - best);
  return PCAL_OK;
}

/* The binnings of a class that are averaged: part p stands for first[p + 1] - first[p] binnings. */
typedef struct bbq_parts {
  pc_bin_map *maps;
  size_t *first;
  size_t count, used; /* used: weights of binnings so far */
} bbq_parts;

/* Adds a binning with values, unless the last part has the same bins. */
static pcal_status bbq_part(const pcal_env *env, const bbq_rows *rows, size_t bins,
                            pc_bin_map *table, size_t *upto, bbq_parts *out, pcal_error *err) {
  bbq_cut(rows, bins, table, upto);
  if (out->count == 0 || !bbq_same(&out->maps[out->count - 1], table)) {
    pc_bin_map *map = &out->maps[out->count];
    PC_TRY(pc_bin_map_alloc(env, table->count, map, err));
    memcpy(map->edges, table->edges, (table->count - 1) * sizeof *map->edges);
    map->count = table->count;
    bbq_weigh(rows, upto, map);
    out->first[out->count++] = out->used;
  }
  out->first[out->count] = ++out->used;
  return PCAL_OK;
}

/* Averages the binnings whose weight is at least BBQ_LEAST into *out.  Overwrites `weights`:
 * afterwards its first entries are the weights of the averaged binnings. */
static pcal_status bbq_mix(const pcal_env *env, const pcal_calibrator *calibrator,
                           const bbq_rows *rows, bbq_range range, size_t *upto, double *weights,
                           pc_bin_map *out, pcal_error *err) {
  const size_t most = range.high - range.low + 1;
  pc_bin_map table = {0};
  bbq_parts parts = {.maps = pc_alloc(env, most, sizeof *parts.maps),
                     .first = pc_alloc(env, most + 1, sizeof *parts.first)};
  if (parts.maps == NULL || parts.first == NULL)
    return pc_fail_memory(err, "averaging tables of bins");
  PC_TRY(pc_bin_map_alloc(env, bbq_room(rows, range.high), &table, err));
  for (size_t bins = range.low; bins <= range.high; bins++) {
    const double weight = weights[bins - range.low];
    if (weight < BBQ_LEAST)
      continue;
    weights[parts.used] = weight;
    PC_TRY(bbq_part(env, rows, bins, &table, upto, &parts, err));
  }
  return pc_bin_map_average(&calibrator->env, parts.maps, parts.first, weights, parts.count,
                            out, err);
}

static pcal_status bbq_use(void *user, const pcal_env *env, size_t column,
                           const pc_sorted_column *misses, const pc_sorted_column *hits,
                           pcal_error *err) {
  const pcal_calibrator *calibrator = user;
  const pc_bin_maps *tables = calibrator->parameters;
  pc_curve_table table;
  PC_TRY(pc_curve_table_join(env, misses, hits, &table, err));
  bbq_rows rows = {.table = &table};
  rows.weight = pc_alloc_raw(env, table.count, 2 * sizeof *rows.weight);
  if (rows.weight == NULL)
    return pc_fail_memory(err, "sorting scores");
  rows.hits = rows.weight + table.count;
  double hit = 0.0;
  for (size_t i = 0; i < table.count; i++) {
    rows.weight[i] = rows.total += table.weight[i];
    rows.hits[i] = hit += table.hits[i];
  }
  const bbq_range range = bbq_range_of(rows.total);
  double *weights = pc_alloc_raw(env, range.high - range.low + 1, sizeof *weights);
  size_t *upto = pc_alloc_raw(env, range.high, sizeof *upto);
  if (weights == NULL || upto == NULL)
    return pc_fail_memory(err, "comparing numbers of bins");
  PC_TRY(bbq_likelihoods(env, &rows, range, upto, weights, err));
  return bbq_mix(env, calibrator, &rows, range, upto, weights, &tables->maps[column], err);
}

/* ---- The method ---- */

static pcal_status bbq_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  pc_score_columns_request request = pc_score_columns_of_classes(&calibrator->layout);
  pc_bin_maps *tables = NULL;
  PC_TRY(pc_bin_maps_new(&calibrator->env, calibrator->layout.columns, &tables, err));
  calibrator->parameters = tables;
  calibrator->fit.status = PC_FIT_CLOSED_FORM;
  request.remedy = "use histogram, whose memory does not grow with the rows";
  request.use = bbq_use;
  request.user = calibrator;
  return pc_score_columns_run(task, &request, err);
}

static const char *bbq_recipe(const pcal_calibrator *calibrator, pc_recipe *out) {
  pc_recipe_add_bin_maps(calibrator, calibrator->parameters, out);
  return NULL;
}

static void bbq_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                      double *out) {
  pc_one_vs_rest_apply(&calibrator->layout, pc_bin_maps_value, calibrator->parameters, in,
                       count, out);
}

static void bbq_write(const pcal_calibrator *calibrator, pc_json *json) {
  pc_bin_maps_write(calibrator->parameters, 1, json);
}

static pcal_status bbq_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                            const char *file, pcal_error *err) {
  const pc_bin_maps_rule rule = {
      .count = calibrator->layout.columns, .least = 1, .most = BBQ_BINS_MAX, .edges = 1};
  pc_bin_maps *tables = NULL;
  PC_TRY(pc_parameters_check_names(parameters, PC_NAMES("edges", "values"), file, err));
  PC_TRY(pc_bin_maps_read(&calibrator->env, parameters, &rule, file, &tables, err));
  calibrator->parameters = tables;
  return PCAL_OK;
}

static void bbq_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const pc_bin_maps *tables = calibrator->parameters;
  pc_text_format(out, "%zu table%s, averaged over numbers of bins, of ", tables->count,
                 tables->count == 1 ? "" : "s");
  pc_bin_maps_describe(tables, "bin", out);
}

const pc_calibrator_method pc_calibrator_bbq = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "bbq",
            .title = "Bayesian binning into quantiles",
            .formula =
                "q_k = sum_B L_B v_B(p_k) / sum_B L_B, then rows are divided by their "
                "sums\n"
                "v_B: (hits + a) / (rows + 2/B) in the bin of p_k among B of equal mass\n"
                "L_B: likelihood of the hits in all bins, B from N^(1/3)/10 to "
                "10 N^(1/3)",
            .about = "Histogram binning without choosing the number of bins: averages over all "
                     "numbers, weighted by the likelihood of the data. Smoother than one "
                     "histogram, and no value is exactly 0 or 1. Treats each class by itself; "
                     "the top class may change.",
            .citation = "Naeini, Cooper & Hauskrecht, AAAI 2015",
        },
    .traits = PC_SUMS_TO_ONE | PC_TAKES_CONFIDENCE,
    .in_rounds = 1,
    .fit = bbq_fit,
    .apply = bbq_apply,
    .recipe = bbq_recipe,
    .write = bbq_write,
    .read = bbq_read,
    .describe = bbq_describe,
};
