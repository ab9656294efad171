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
 * (6) from 2^16 rows on the grid has the points k 2^-13 from -0.6 to 1.6, a little closer to each other than
 *     the published ones.  What a point receives then depends on the number of rows and the sum of scores between
 *     it and its neighbours only, so that rounds (measure/rounds.h) need these exact sums and no score.
 *     Integrals have the same ends, the first and last published points inside [0, 1]: for confident models the
 *     density beyond the last one, which the published code leaves out, is one percent of all.
 *     The bandwidth is computed from the mean of correct rows in each such interval: b^2 is less than that of all
 *     scores by at most 2^-28 (2N)^(-2/5).  Correct rows in a single interval: undefined, as in (5).
 * Source: Zhang, Kailkhura & Han 2020 (Mix-n-Match), which does not take the root; densities as
 * in KDEpy.
 * Accuracy: that of the grid, 1.3e-4 wide; sums in a fixed order.  The grid of (6) moved values by less than 1e-6 where the
 * bandwidth is 25 of its steps or more, by up to 2e-5 from 10 steps on.
 * Cost: one sort, or one pass from 2^16 rows on, and min(n, 2^14) times the kernel's width in points. */
#include <math.h>
#include <stdio.h>

#include "curve/point_masses.h"
#include "kernels/lane_math.h"
#include "metrics/metric.h"

#define TCE_KDE_POINTS 18024 /* of the larger grid */
#define TCE_KDE_LEVEL 13     /* edge case 6: intervals of width 2^-13 */
#define TCE_KDE_SUPPORT 3.0  /* standard deviations of the kernel */

enum { TCE_KDE_P, TCE_KDE_ROOT };

/* Points first + j step. */
typedef struct tce_kde_axis {
  double first, step;
  size_t points;
} tce_kde_axis;

static const tce_kde_axis tce_kde_published = {-0.6, 2.2 / 16383, 16384};
static const tce_kde_axis tce_kde_binary = {-4915 * 0x1p-13, 0x1p-13, 18023};

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

/* Sets *bandwidth and returns NULL, or returns the reason why there is none. */
static const char *tce_kde_bandwidth(const pc_curve_table *table, double *bandwidth) {
  pc_fixed score = {0}, count = {0};
  size_t places = 0; /* distinct confidences of correct rows */
  for (size_t i = 0; i < table->count; i++) {
    pc_fixed_add_weighted(&score, table->hits[i], table->score[i]);
    pc_fixed_add_weighted(&count, table->hits[i], 1.0);
    places += table->hits[i] > 0;
  }
  const double hits = pc_fixed_value(&count);
  if (hits <= 0)
    return "no row is correct, and the bandwidth is computed from correct rows";
  if (places == 1 && tce_kde_joins(table))
    return "the confidences of correct rows differ by less than 1.3e-4, and the bandwidth is "
           "computed from their deviation";
  if (places == 1)
    return "the correct rows all have the same confidence, and the bandwidth is computed "
           "from their deviation";
  const double mean = pc_fixed_value(&score) / hits;
  double square = 0.0;
  for (size_t i = 0; i < table->count; i++)
    square += table->hits[i] * ((table->score[i] - mean) * (table->score[i] - mean));
  *bandwidth = sqrt(square / hits) * pc_lane_exp(-0.2 * pc_lane_log(2 * table->total));
  return NULL;
}

/* Sums at each point of the grid: over all rows, and over correct ones. */
typedef struct tce_kde_grid {
  double all[TCE_KDE_POINTS], correct[TCE_KDE_POINTS];
} tce_kde_grid;

typedef struct tce_kde_work {
  const tce_kde_axis *axis;
  tce_kde_grid mass, density;
  size_t reach;
  double kernel[2 * TCE_KDE_POINTS];
} tce_kde_work;

static void tce_kde_share(const tce_kde_axis *axis, tce_kde_grid *grid, double score,
                          double weight, double hits) {
  const double place = (score - axis->first) / axis->step;
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
    const double image = score < 0.5 ? -score : 2 - score;
    tce_kde_share(work->axis, &work->mass, score, table->weight[i], table->hits[i]);
    tce_kde_share(work->axis, &work->mass, image, table->weight[i], table->hits[i]);
  }
}

static void tce_kde_kernel(tce_kde_work *work, double bandwidth) {
  const double support = TCE_KDE_SUPPORT * bandwidth / work->axis->step;
  work->reach = (size_t)fmin(ceil(support), (double)(work->axis->points - 1));
  for (size_t k = 0; k <= work->reach; k++) {
    const double u = (double)k / support, bell = u < 1 ? 1 - u * u : 0.0;
    work->kernel[work->reach + k] = work->kernel[work->reach - k] = bell * bell * bell;
  }
}

/* Computes densities at the points first .. last, up to a common factor. */
static void tce_kde_smooth(tce_kde_work *work, size_t first, size_t last) {
  for (size_t j = 0; j < work->axis->points; j++) {
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

/* The points over which integrals extend, and the parts of a step that the first two have: integrals of lines
 * between points, from the first to the last published point in [0, 1].  The last two likewise. */
typedef struct tce_kde_span {
  size_t first, last;
  double begin[2], end[2];
} tce_kde_span;

/* The points of one step that the ends of an integral cut, theta steps before the second one. */
static void tce_kde_cut(double theta, double parts[2]) {
  parts[0] = 0.5 * theta * theta;
  parts[1] = 0.5 + theta - parts[0];
}

static tce_kde_span tce_kde_range(const tce_kde_axis *axis) {
  const tce_kde_axis *own = &tce_kde_published;
  const size_t first = (size_t)ceil((0 - own->first) / own->step);
  const size_t last = (size_t)floor((1 - own->first) / own->step);
  if (axis == own)
    return (tce_kde_span){first, last, {0.5, 1.0}, {0.5, 1.0}};
  const double from = (own->first + (double)first * own->step - axis->first) / axis->step;
  const double to = (own->first + (double)last * own->step - axis->first) / axis->step;
  tce_kde_span out = {(size_t)floor(from), (size_t)ceil(to), {0.0, 0.0}, {0.0, 0.0}};
  tce_kde_cut(ceil(from) - from, out.begin);
  tce_kde_cut(to - floor(to), out.end);
  return out;
}

static double tce_kde_part(const tce_kde_span *span, size_t j) {
  return j - span->first < 2  ? span->begin[j - span->first]
         : span->last - j < 2 ? span->end[span->last - j]
                              : 1.0;
}

/* The ratio of the two integrals; the points are evenly spaced. */
static double tce_kde_integrate(const tce_kde_work *work, const tce_kde_span *span, double p) {
  const tce_kde_grid *density = &work->density;
  double error = 0.0, total = 0.0;
  for (size_t j = span->first; j <= span->last; j++) {
    const double share = tce_kde_part(span, j), f = density->all[j];
    const double x = work->axis->first + (double)j * work->axis->step;
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
  const unsigned needed = tce_kde_joins(table) ? TCE_KDE_LEVEL : PC_EACH_SCORE;
  (void)env;
  (void)err;
  *level = pc_point_masses_wants(table, needed, NULL) > 0 ? needed : 0;
  return PCAL_OK;
}

static pcal_status tce_kde_of_scores(const pc_options *options, const pc_curve_table *table,
                                     const pcal_env *env, pc_metric_result *out,
                                     pcal_error *err) {
  const double p = options->value[TCE_KDE_P].number;
  double bandwidth = 0.0;
  const char *why = tce_kde_bandwidth(table, &bandwidth);
  if (why != NULL) {
    out->undefined = 1;
    snprintf(out->why, sizeof out->why, "%s", why);
    return PCAL_OK;
  }
  tce_kde_work *work = pc_alloc(env, 1, sizeof *work);
  if (work == NULL)
    return pc_fail_memory(err, "estimating densities");
  const tce_kde_axis *axis = tce_kde_joins(table) ? &tce_kde_binary : &tce_kde_published;
  const tce_kde_span span = tce_kde_range(axis);
  work->axis = axis;
  tce_kde_bin(table, work);
  tce_kde_kernel(work, bandwidth);
  tce_kde_smooth(work, span.first, span.last);
  const double power = tce_kde_integrate(work, &span, p);
  out->value = options->value[TCE_KDE_ROOT].number != 0 ? tce_kde_power(power, 1 / p) : power;
  pc_metric_result_part(out, "bandwidth", bandwidth);
  pc_free(env, work);
  return PCAL_OK;
}

static pcal_status tce_kde_evaluate(const pc_options *options, const pc_evidence *evidence,
                                    const pcal_env *env, pc_metric_result *out,
                                    pcal_error *err) {
  const pc_curve_table *table = &evidence->curve.parts[0];
  pc_curve_table points;
  const unsigned level = tce_kde_joins(table) ? TCE_KDE_LEVEL : PC_EACH_SCORE;
  if (table->form == PC_CURVE_SCORES && level == PC_EACH_SCORE)
    return tce_kde_of_scores(options, table, env, out, err);
  PC_TRY(pc_point_scores(env, table, level, &points, err));
  const pcal_status status = tce_kde_of_scores(options, &points, env, out, err);
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
            .about =
                "A top-label error with kernels in place of bins: densities of all "
                "confidences and of those of correct rows, mirrored at 0 and 1, on the "
                "grid of the published code. The bandwidth (a part) is computed from the "
                "standard deviation of the confidences of correct rows; if that is 0, or "
                "no row is correct, the value is undefined. For two classes the predicted "
                "class is used too. One step of the published code is omitted: where both "
                "densities are below 1e-6 it repeats the last integrand, which carries an "
                "error across ranges of confidence without rows; here the integrand is "
                "always that of the densities. From 65,536 rows on the grid has the points "
                "k/8192, a little closer than those of the published code, so that "
                "measuring in rounds needs exact sums between them only; then the value is "
                "also undefined if all correct rows lie between two of them.",
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
