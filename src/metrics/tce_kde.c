/* tce-kde: the top-label calibration error, estimated by kernel densities.
 *
 * Formula:  (integral |x - acc(x)|^p f(x) dx / integral f(x) dx)^(1/p) over [0, 1]
 *           acc(x) = (sum over correct i of k(x - c_i)) / (sum over all i of k(x - c_i))
 *           f(x) = sum over all i of k(x - c_i);  root=no omits the power 1/p
 *           k(d) = (1 - (d / 3b)^2)^3 for |d| < 3b: triweight of standard deviation b
 *           b = (standard deviation of c among correct rows) (2N)^(-1/5)
 * Edge cases:
 * (1) c is the confidence in the predicted class, for two classes too;
 * (2) each c has one mirror image, -c below 0.5 and 2 - c from 0.5 on;
 * (3) everything is computed on the published grid of 2^14 points from -0.6 to 1.6: each c is
 *     distributed to its two neighbouring points, and integrals use the trapezoid rule over the
 *     points inside [0, 1];
 * (4) points with f = 0 are skipped; where both densities are below 1e-6 the published code
 *     repeats the last integrand (carry-forward), which is not done here;
 * (5) no correct row, or correct rows of one confidence only: undefined, since there is no
 *     bandwidth;
 * (6) from 2^16 rows on, scores are joined between the points of the grid and their mirror
 *     images (kde_grid.h): what points receive depends on the number of rows and the sum of
 *     scores there only, so that rounds (measure/rounds.h) need these exact sums and no score.
 *     The deviation of correct rows is computed from sums of squared scores, each truncated to
 *     a multiple of 2^-53; one below 6e-8 is undefined, as in (5);
 * (7) replicas of 2^14 rows or more are evaluated on cells (replicas/score_cells.h), which are
 *     narrower than the kernel up to TCE_KDE_CELLS_END rows: of simulated models of 10^6 to
 *     10^8 rows the values of replicas differed by less than a quarter of their deviation.
 * Source: Zhang, Kailkhura & Han 2020 (Mix-n-Match), which does not take the root; densities as
 * in KDEpy.
 * Accuracy: that of the grid, 1.3e-4 wide; sums in a fixed order.  Joined scores (6) change
 *           values by less than 1e-12.
 * Cost: one sort, or two passes from 2^16 rows on, and min(n, 2^14) times the kernel's width
 *       in points. */
#include <math.h>
#include <stdio.h>

#include "curve/kde_grid.h"
#include "curve/point_masses.h"
#include "kernels/lane_math.h"
#include "metrics/metric.h"

#define TCE_KDE_SUPPORT 3.0 /* standard deviations of the kernel */
#define TCE_KDE_CELLS_END \
  0x1p27 /* rows: the bandwidth falls to the width of the cells of replicas */
#define TCE_KDE_ALIKE 0x1p-48 /* variances below it are 0 up to rounding */

enum { TCE_KDE_P, TCE_KDE_ROOT };

static const pcal_option tce_kde_options[] = {
    {"p", PCAL_OPTION_REAL, "2", 1, 100, NULL, "power of the distance"},
    {"root", PCAL_OPTION_BOOL, "yes", 0, 0, NULL,
     "take the p-th root, which the published code does not"},
};

static pcal_status tce_kde_configure(pc_options *options, const pc_layout *layout,
                                     pc_metric_config *config, pcal_error *err) {
  (void)layout;
  (void)err;
  config->traits |= options->value[TCE_KDE_ROOT].number != 0 ? 0u : PC_SQUARED;
  config->need.machine = PC_CURVE;
  config->scores_alone = 1;
  config->on_cells = 1;
  config->cells_end = TCE_KDE_CELLS_END;
  config->need.view.kind = PC_VIEW_RANK;
  config->need.view.index = 1;
  return PCAL_OK;
}

/* x^power for x >= 0. */
static double tce_kde_power(double x, double power) {
  if (power == 1.0 || x == 0.0)
    return x;
  if (power == 2.0)
    return x * x;
  return power == 0.5 ? sqrt(x) : pc_lane_exp(power * pc_lane_log(fmax(x, 0x1p-1000)));
}

static int tce_kde_joins(const pc_curve_table *table) {
  return table->total >= PC_POINT_JOIN_ROWS;
}

/* The variance of confidences of correct rows from sums of squares (edge case 6). */
static double tce_kde_joined_variance(pc_int128 square, double hits, double mean) {
  const double variance = (double)square / PC_SEGMENT_SQUARE_ONE / hits - mean * mean;
  return variance > TCE_KDE_ALIKE ? variance : 0.0;
}

/* The same from single scores. */
static double tce_kde_variance(const pc_curve_table *table, double hits, double mean) {
  double square = 0.0;
  size_t places = 0; /* distinct confidences of correct rows */
  for (size_t i = 0; i < table->count; i++) {
    square += table->hits[i] * ((table->score[i] - mean) * (table->score[i] - mean));
    places += table->hits[i] > 0;
  }
  return places == 1 ? 0.0 : square / hits;
}

/* Sets *bandwidth and returns NULL, or returns the reason why there is none.  square: of
 * joined scores, or NULL. */
static const char *tce_kde_bandwidth(const pc_curve_table *table, const pc_int128 *square,
                                     double *bandwidth) {
  pc_fixed score = {0}, count = {0};
  for (size_t i = 0; i < table->count; i++) {
    pc_fixed_add_weighted(&score, table->hits[i], table->score[i]);
    pc_fixed_add_weighted(&count, table->hits[i], 1.0);
  }
  const double hits = pc_fixed_value(&count);
  if (hits <= 0)
    return "no row is correct, and the bandwidth is computed from correct rows";
  const double mean = pc_fixed_value(&score) / hits;
  const double variance = square == NULL ? tce_kde_variance(table, hits, mean)
                                         : tce_kde_joined_variance(*square, hits, mean);
  if (variance <= 0)
    return "the correct rows all have the same confidence, and the bandwidth is computed "
           "from their deviation";
  *bandwidth = sqrt(variance) * pc_lane_exp(-0.2 * pc_lane_log(2 * table->total));
  return NULL;
}

/* Sums at each point of the grid: over all rows, and over correct ones. */
typedef struct tce_kde_grid {
  double all[PC_KDE_POINTS], correct[PC_KDE_POINTS];
} tce_kde_grid;

typedef struct tce_kde_work {
  tce_kde_grid mass, density;
  size_t reach;
  double kernel[2 * PC_KDE_POINTS];
} tce_kde_work;

static void tce_kde_share(tce_kde_grid *grid, double score, double weight, double hits) {
  const double place = pc_kde_place(score);
  const size_t point = (size_t)place;
  const double right = place - (double)point, left = 1 - right;
  grid->all[point] += left * weight;
  grid->all[point + 1] += right * weight;
  grid->correct[point] += left * hits;
  grid->correct[point + 1] += right * hits;
}

static void tce_kde_bin(const pc_curve_table *table, tce_kde_work *work) {
  for (size_t i = 0; i < table->count; i++) {
    const double score = fmin(fmax(table->score[i], 0.0), 1.0);
    tce_kde_share(&work->mass, score, table->weight[i], table->hits[i]);
    tce_kde_share(&work->mass, pc_kde_image(score), table->weight[i], table->hits[i]);
  }
}

static void tce_kde_kernel(tce_kde_work *work, double bandwidth) {
  const double support = TCE_KDE_SUPPORT * bandwidth / PC_KDE_STEP;
  work->reach = (size_t)fmin(ceil(support), (double)(PC_KDE_POINTS - 1));
  for (size_t k = 0; k <= work->reach; k++) {
    const double u = (double)k / support, bell = u < 1 ? 1 - u * u : 0.0;
    work->kernel[work->reach + k] = work->kernel[work->reach - k] = bell * bell * bell;
  }
}

/* Computes densities at the points first .. last, up to a common factor. */
static void tce_kde_smooth(tce_kde_work *work, size_t first, size_t last) {
  for (size_t j = 0; j < PC_KDE_POINTS; j++) {
    const double all = work->mass.all[j], correct = work->mass.correct[j];
    const size_t from = j > first + work->reach ? j - work->reach : first;
    const size_t to = j + work->reach < last ? j + work->reach : last;
    if (all == 0.0 || from > to)
      continue;
    const double *kernel = work->kernel + (from + work->reach - j);
    double *density = work->density.all + from, *hits = work->density.correct + from;
    for (size_t k = 0; k <= to - from; k++)
      density[k] += all * kernel[k];
    for (size_t k = 0; correct != 0.0 && k <= to - from; k++)
      hits[k] += correct * kernel[k];
  }
}

/* The ratio of the two integrals by the trapezoid rule; the points are evenly spaced. */
static double tce_kde_integrate(const tce_kde_work *work, size_t first, size_t last, double p) {
  const tce_kde_grid *density = &work->density;
  double error = 0.0, total = 0.0;
  for (size_t j = first; j <= last; j++) {
    const double share = j == first || j == last ? 0.5 : 1.0, f = density->all[j];
    const double x = PC_KDE_FIRST + (double)j * PC_KDE_STEP;
    if (f <= 0)
      continue;
    const double accuracy = fmin(density->correct[j] / f, 1.0);
    error += share * f * tce_kde_power(fabs(x - accuracy), p);
    total += share * f;
  }
  return error / total;
}

/* Edge case 6. */
static pcal_status tce_kde_cells(const pc_options *options, const pc_curve_table *table,
                                 const pcal_env *env, unsigned *level, pcal_error *err) {
  (void)options;
  const unsigned needed = tce_kde_joins(table) ? PC_KDE_GRID_CELLS : PC_EACH_SCORE;
  (void)env;
  (void)err;
  *level = pc_point_masses_wants(table, needed, NULL) > 0 ? needed : 0;
  return PCAL_OK;
}

static pcal_status tce_kde_of_scores(const pc_options *options, const pc_curve_table *table,
                                     const pc_int128 *square, const pcal_env *env,
                                     pc_metric_result *out, pcal_error *err) {
  const size_t first = (size_t)ceil(pc_kde_place(0)), last = (size_t)floor(pc_kde_place(1));
  const double p = options->value[TCE_KDE_P].number;
  double bandwidth = 0.0;
  const char *why = tce_kde_bandwidth(table, square, &bandwidth);
  if (why != NULL) {
    out->undefined = 1;
    snprintf(out->why, sizeof out->why, "%s", why);
    return PCAL_OK;
  }
  tce_kde_work *work = pc_alloc(env, 1, sizeof *work);
  if (work == NULL)
    return pc_fail_memory(err, "estimating densities");
  tce_kde_bin(table, work);
  tce_kde_kernel(work, bandwidth);
  tce_kde_smooth(work, first, last);
  const double power = tce_kde_integrate(work, first, last, p);
  out->value = options->value[TCE_KDE_ROOT].number != 0 ? tce_kde_power(power, 1 / p) : power;
  pc_metric_result_part(out, "bandwidth", bandwidth);
  pc_free(env, work);
  return PCAL_OK;
}

static pcal_status tce_kde_evaluate(const pc_options *options, const pc_evidence *evidence,
                                    const pcal_env *env, pc_metric_result *out,
                                    pcal_error *err) {
  const pc_curve_table *table = &evidence->curve.parts[0];
  const int joined = tce_kde_joins(table) && table->form != PC_CURVE_REPLICA;
  pc_curve_table points;
  if (table->form == PC_CURVE_SCORES && !joined)
    return tce_kde_of_scores(options, table, NULL, env, out, err);
  PC_TRY(pc_point_scores(env, table, joined ? PC_KDE_GRID_CELLS : PC_EACH_SCORE, &points, err));
  const pc_int128 square = joined ? pc_point_hit_square(table) : 0;
  const pcal_status status =
      tce_kde_of_scores(options, &points, joined ? &square : NULL, env, out, err);
  pc_curve_table_free(env, &points);
  return status;
}

const pc_metric pc_metric_tce_kde = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "tce-kde",
            .title = "top-label calibration error by kernel density estimation",
            .formula =
                "(integral |x - acc(x)|^p f(x) dx)^(1/p),  f: density of confidences,\n"
                "acc(x): share of correct rows at confidence x; both by a triweight kernel",
            .about = "A top-label error with kernels in place of bins: densities of all "
                     "confidences and of those of correct rows, mirrored at 0 and 1, on the "
                     "grid of the published code. The bandwidth (a part) is computed from the "
                     "standard deviation of the confidences of correct rows; if that is 0, or "
                     "no row is correct, the value is undefined. For two classes the predicted "
                     "class is used too. One step of the published code is omitted: where both "
                     "densities are below 1e-6 it repeats the last integrand, which carries an "
                     "error across ranges of confidence without rows; here the integrand is "
                     "always that of the densities.",
            .citation =
                "Zhang, Kailkhura & Han, Mix-n-Match: ensemble and compositional methods "
                "for uncertainty calibration in deep learning, ICML 2020",
            .notion = PCAL_NOTION_TOP_LABEL,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = tce_kde_options,
            .option_count = sizeof tce_kde_options / sizeof *tce_kde_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS,
    .configure = tce_kde_configure,
    .evaluate = tce_kde_evaluate,
    .cells = tce_kde_cells,
};
