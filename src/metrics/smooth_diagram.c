/* The smooth reliability diagram of Blasiok & Nakkiran, at the kernel width that smece chose.
 *
 * Formula:  density(t)   = (1/W) sum_i w_i K(t, c_i),  W = sum_i w_i
 *           frequency(t) = sum_i w_i a_i K(t, c_i) / sum_i w_i K(t, c_i)
 *           K: Gaussian of standard deviation sigma, reflected at 0 and 1 repeatedly
 *           c_i: score, a_i: outcome, w_i: weight
 *           low, high: Wilson's 95 % interval of the frequency among
 *           (sum_i w_i K)^2 / sum_i w_i K^2  rows, each t by itself
 * Edge cases:
 * (1) sigma below 1/400, the distance of the points: smoothed with 1/400;
 * (2) points beyond the lowest and the highest score are left out, and points without a score
 *     within three sigma: the curve has gaps there;
 * (3) importance weights arrive scaled to their effective number of rows;
 * (4) a frequency of exactly 0 or 1 has an interval of width above 0.
 * Source: Blasiok & Nakkiran, Smooth ECE: principled reliability diagrams via kernel smoothing,
 * ICLR 2024; Wilson 1927.
 * Accuracy: the kernel ends at 8.5 sigma (1e-15 of its height).  More than 4096 distinct scores are
 * joined in cells of width 2^-14, or 2^-12 from sigma = 1/16 on, hits and misses each at their
 * mean: at most 3e-5 of the value for the smallest sigma, below 1e-6 from sigma = 1/80 on.
 * Cost: O(cells) for each of the 401 points. */
#include "metrics/smooth_diagram.h"

#include <math.h>

#include "base/elementary.h"
#include "base/normal.h"
#include "curve/point_masses.h"

#define DIAGRAM_REACH 8.5 /* sigmas */
#define DIAGRAM_EACH 4096
#define DIAGRAM_FINE 14
#define DIAGRAM_COARSE 12
#define DIAGRAM_WIDE 0.0625 /* sigma from which coarse cells are used */
#define DIAGRAM_NEAR 0.011  /* K / K_max at three sigma */
#define DIAGRAM_LEVEL 0.95

/* Rows at one score. */
typedef struct diagram_mass {
  double at, weight, hits;
} diagram_mass;

typedef struct diagram_masses {
  diagram_mass *masses;
  size_t count;
} diagram_masses;

static double diagram_clamp(double score) {
  return score < 0.0 ? 0.0 : score > 1.0 ? 1.0 : score;
}

/* ---- masses ---- */

static void diagram_put(diagram_masses *out, double score_sum, double weight, int hit) {
  if (weight > 0.0)
    out->masses[out->count++] =
        (diagram_mass){diagram_clamp(score_sum / weight), weight, hit ? weight : 0.0};
}

/* Misses and hits of a cell, each at their mean score. */
static void diagram_cells(const pc_curve_table *table, unsigned level, diagram_masses *out) {
  for (size_t i = 0; i < table->count;) {
    const int64_t cell = pc_point_cell(pc_curve_table_low(table, i), level);
    pc_fixed scores = {0}, hit_scores = {0};
    double weight = 0.0, hits = 0.0;
    for (; i < table->count && pc_point_cell(pc_curve_table_low(table, i), level) == cell;
         i++) {
      scores.units += pc_curve_table_score_sum(table, i).units;
      hit_scores.units += pc_curve_table_hit_sum(table, i).units;
      weight += pc_curve_table_weight(table, i);
      hits += pc_curve_table_hits(table, i);
    }
    scores.units -= hit_scores.units;
    diagram_put(out, pc_fixed_value(&scores), weight - hits, 0);
    diagram_put(out, pc_fixed_value(&hit_scores), hits, 1);
  }
}

static void diagram_scores(const pc_curve_table *table, diagram_masses *out) {
  for (size_t i = 0; i < table->count; i++)
    if (pc_curve_table_weight(table, i) > 0.0)
      out->masses[out->count++] =
          (diagram_mass){diagram_clamp(pc_curve_table_low(table, i)),
                         pc_curve_table_weight(table, i), pc_curve_table_hits(table, i)};
}

static pcal_status diagram_masses_new(const pcal_env *env, const pc_curve_table *table,
                                      double sigma, diagram_masses *out, pcal_error *err) {
  const unsigned level = sigma < DIAGRAM_WIDE ? DIAGRAM_FINE : DIAGRAM_COARSE;
  const size_t cells = 2 * (((size_t)1 << level) + 1);
  const int each = table->count <= DIAGRAM_EACH;
  *out =
      (diagram_masses){pc_alloc_raw(env, each ? table->count : cells, sizeof *out->masses), 0};
  if (out->masses == NULL)
    return pc_fail_memory(err, "smoothing a reliability diagram");
  if (each)
    diagram_scores(table, out);
  else
    diagram_cells(table, level, out);
  return PCAL_OK;
}

/* ---- smoothing ---- */

/* Sums over rows, with K / K_max in place of K: of K, of hits times K, of K squared; and the
 * largest K. */
typedef struct diagram_sums {
  double weight, hits, squares, nearest;
} diagram_sums;

/* K(t, x) / K_max: images of x at x + 2k and -x + 2k. */
static double diagram_kernel(double t, double x, double sigma) {
  const double reach = DIAGRAM_REACH * sigma;
  double sum = 0.0;
  for (int side = -1; side <= 1; side += 2) {
    const double from = t - side * x;
    for (double k = ceil((from - reach) / 2); 2 * k <= from + reach; k++) {
      const double z = (from - 2 * k) / sigma;
      sum += pc_exp(-0.5 * z * z);
    }
  }
  return sum;
}

/* True if no image of x reaches t, for sigma * DIAGRAM_REACH < 1. */
static int diagram_is_far(double t, double x, double reach) {
  return fabs(t - x) > reach && t + x > reach && 2.0 - t - x > reach;
}

static diagram_sums diagram_at(const diagram_masses *all, double t, double sigma) {
  const double reach = DIAGRAM_REACH * sigma;
  diagram_sums sums = {0.0, 0.0, 0.0, 0.0};
  for (size_t i = 0; i < all->count; i++) {
    const diagram_mass *mass = &all->masses[i];
    if (reach < 1.0 && diagram_is_far(t, mass->at, reach))
      continue;
    const double kernel = diagram_kernel(t, mass->at, sigma);
    sums.weight += mass->weight * kernel;
    sums.hits += mass->hits * kernel;
    sums.squares += mass->weight * kernel * kernel;
    sums.nearest = fmax(sums.nearest, kernel);
  }
  return sums;
}

static void diagram_wilson(double frequency, double rows, double *low, double *high) {
  const double z = pc_normal_quantile(0.5 + 0.5 * DIAGRAM_LEVEL), square = z * z / rows;
  const double middle = (frequency + 0.5 * square) / (1.0 + square);
  const double half =
      z * sqrt(frequency * (1.0 - frequency) / rows + 0.25 * square / rows) / (1.0 + square);
  *low = fmin(fmax(middle - half, 0.0), frequency);
  *high = fmax(fmin(middle + half, 1.0), frequency);
}

/* Fills one point of the graph, unless no score is near (edge case 2). */
static void diagram_point(const diagram_masses *all, double t, double sigma, double total,
                          pc_plot_table *graph) {
  const diagram_sums sums = diagram_at(all, t, sigma);
  if (sums.nearest < DIAGRAM_NEAR)
    return;
  const size_t i = graph->count++;
  graph->columns[0][i] = t;
  graph->columns[1][i] = pc_normal_density(0.0) / sigma * sums.weight / total;
  graph->columns[2][i] = fmin(sums.hits / sums.weight, 1.0);
  diagram_wilson(graph->columns[2][i], sums.weight * sums.weight / sums.squares,
                 &graph->columns[3][i], &graph->columns[4][i]);
}

pcal_status pc_smooth_diagram(const pcal_env *env, const pc_curve_table *table, double sigma,
                              pc_plot_table *graph, pcal_error *err) {
  static const char *const names[] = {"score", "density", "frequency", "low", "high", NULL};
  const double width = fmax(sigma, 1.0 / PC_DIAGRAM_STEPS);
  diagram_masses all;
  if (!graph->wanted)
    return PCAL_OK;
  PC_TRY(pc_plot_table_new(env, names, PC_DIAGRAM_STEPS + 1, graph, err));
  PC_TRY(diagram_masses_new(env, table, width, &all, err));
  const int first = (int)floor(PC_DIAGRAM_STEPS * all.masses[0].at);
  const int last = (int)ceil(PC_DIAGRAM_STEPS * all.masses[all.count - 1].at);
  for (int step = first; step <= last; step++)
    diagram_point(&all, (double)step / PC_DIAGRAM_STEPS, width, table->total, graph);
  pc_free(env, all.masses);
  return PCAL_OK;
}
