/* smece: the smooth calibration error.
 *
 * Formula:  smECE_s = integral over t in [0, 1] of |(1/N) sum_i (c_i - a_i) K_s(t, c_i)|
 *           K_s: Gaussian of standard deviation s, reflected at 0 and 1 repeatedly
 *           smECE = the s with smECE_s = s;  c_i: score, a_i: outcome
 * Edge cases:
 * (1) smECE_s falls as s grows, so there is exactly one such s; it is 0 if the residuals of
 *     every distinct score add up to 0;
 * (2) residuals of one sign: smECE_s is |mean residual| for every s, and so is smECE; one row:
 *     |c - a|;
 * (3) scores of exactly 0 and 1 coincide with their mirror images; scores outside [0, 1] by
 *     rounding are moved to the nearer end;
 * (4) the search stops below 2^-20: smECE then lies between smECE_{2^-20}, which is reported,
 *     and 2^-20.
 * Parts: sigma, the width of the kernel, which is the value itself; signed, the mean of score -
 * outcome, never larger in absolute value; both are equal if all residuals have one sign.
 * Curve: the smooth reliability diagram (smooth_diagram.c).
 * Source: Blasiok & Nakkiran 2024.
 * Accuracy: below 1e-6.  The quadrature is off by at most PC_SMOOTH_ERROR (curve/smooth.h);
 * from 2^16 rows on, scores are joined in cells of width 2^-14 to 2^-21, fine enough to add at
 * most 6e-7 (pc_point_masses_sigma; cells below 2^-14 keep the variance of their scores, so
 * that 2^-15 suffices down to a value of about 0.001, and 2^-17 to 0.0002), and if no such
 * width is fine enough, they are not joined; and since smECE_s - s falls at least as fast as s
 * grows, the error of the root is at most that of the function.
 * Cost: one sort, or one pass over a source that can be read again and at most a few more where
 * smECE is small; then about ten quadratures of O(min(n, cells) + 1/s). */
#include <math.h>
#include <string.h>

#include "curve/curve_cursor.h"
#include "curve/smooth.h"
#include "curve/smooth_ladder.h"
#include "metrics/smooth_diagram.h"

#define SMECE_JOIN_ROWS 0x1p16  /* with fewer rows every score is used */
#define SMECE_JOIN_ERROR 6e-7   /* largest error from joining scores */
#define SMECE_TOLERANCE 1e-8    /* relative, of the root */
#define SMECE_SIGMA_MIN 0x1p-20 /* edge case 4 */
#define SMECE_STEPS 60
#define SMECE_WIDE_START 0x1p-6 /* most roots are larger */
#define SMECE_ROUGH_START 0x1p-7
#define SMECE_ROUGH_WIDE 0x1p-5
#define SMECE_ROUGH_LEAST 0x1p-12
#define SMECE_ROUGH_ERROR 5e-5     /* largest relative error from joining scores */
#define SMECE_ROUGH_TOLERANCE 1e-3 /* of the excess, which is then subtracted */
#define SMECE_ROUGH_NODES 2        /* per mass, at most: nodes are cheaper than masses */

enum { SMECE_VIEW };

static const pcal_option smece_options[] = {PC_VIEW_OPTION};

static pcal_status smece_configure(pc_options *options, const pc_layout *layout,
                                   pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_metric_choose_view(options, SMECE_VIEW, layout, config, err));
  config->need.machine = PC_CURVE;
  config->on_cells = 1;
  config->bound = PCAL_BOUND_LOWER;
  config->most = 1.0;
  config->gaps = PC_GAPS_MEAN;
  return PCAL_OK;
}

/* The residuals as point masses, and the same gathered on the nodes of a grid. */
typedef struct smece_field {
  const pcal_env *env; /* whose threads smooth; NULL: one of many replicas, in one thread */
  pc_point_masses all, gathered[2];
  const pc_point_masses *base; /* &all, or &gathered[0], on the finest grid needed */
  int64_t grid;                /* of gathered[1], gathered from the base; 0: none */
  double fine;                 /* nodes per sigma */
} smece_field;

static void smece_field_free(const pcal_env *env, smece_field *field) {
  pc_point_masses_free(env, &field->all);
  pc_point_masses_free(env, &field->gathered[0]);
  pc_point_masses_free(env, &field->gathered[1]);
}

/* Largest number of nodes for which gathering `count` masses pays. */
static size_t smece_most_nodes(const smece_field *field, size_t count) {
  return field->fine < PC_SMOOTH_FINE ? SMECE_ROUGH_NODES * count : count / 2;
}

static pcal_status smece_field_new(const pcal_env *env, const pc_curve_table *table,
                                   unsigned level, double fine, smece_field *out,
                                   pcal_error *err) {
  memset(out, 0, sizeof *out);
  PC_TRY(pc_point_masses_new(env, table, level, &out->all, err));
  out->base = &out->all;
  out->fine = fine;
  out->env = fine < PC_SMOOTH_FINE ? NULL : env;
  const size_t room = smece_most_nodes(out, out->all.count) + 1;
  for (int i = 0; i < 2; i++) {
    out->gathered[i].at = pc_alloc_raw(env, room, sizeof(double));
    out->gathered[i].mass = pc_alloc_raw(env, room, sizeof(double));
    if (out->gathered[i].at == NULL || out->gathered[i].mass == NULL) {
      smece_field_free(env, out);
      return pc_fail_memory(err, "smoothing a curve");
    }
  }
  return PCAL_OK;
}

/* Chooses the base for values of sigma not below this one. */
static void smece_choose_base(smece_field *field, double sigma) {
  const int64_t grid = pc_smooth_grid(sigma, field->fine);
  field->base = &field->all;
  field->grid = 0;
  if ((size_t)grid > smece_most_nodes(field, field->all.count))
    return;
  pc_smooth_gather(field->env, &field->all, grid, &field->gathered[0]);
  field->base = &field->gathered[0];
}

/* smECE_s - s. */
static double smece_excess(smece_field *field, double sigma) {
  const int64_t grid = pc_smooth_grid(sigma, field->fine);
  if (field->base != &field->all && grid == (int64_t)field->base->count - 1)
    return pc_smooth_norm(field->env, field->base, sigma, field->fine) - sigma;
  if ((size_t)grid > smece_most_nodes(field, field->base->count))
    return pc_smooth_norm(field->env, field->base, sigma, field->fine) - sigma;
  if (field->grid != grid)
    pc_smooth_gather(field->env, field->base, grid, &field->gathered[1]);
  field->grid = grid;
  return pc_smooth_norm(field->env, &field->gathered[1], sigma, field->fine) - sigma;
}

/* smECE_s - s at the ends of an interval that contains the root. */
typedef struct smece_bracket {
  double low, high;
  double above, below; /* at low: not negative; at high: not positive */
} smece_bracket;

/* False position with the Illinois rule: if an end of the bracket stays the same twice, its
 * function value is halved. */
static double smece_root(smece_field *field, smece_bracket *bracket, double tolerance) {
  double sigma = bracket->low, excess = bracket->above;
  for (int step = 0, side = 0; step < SMECE_STEPS; step++) {
    if (fabs(excess) <= tolerance * sigma || bracket->high - bracket->low <= tolerance * sigma)
      break;
    const double rise = bracket->above / (bracket->above - bracket->below);
    sigma = bracket->low + rise * (bracket->high - bracket->low);
    excess = smece_excess(field, sigma);
    if (excess >= 0) {
      bracket->low = sigma;
      bracket->above = excess;
      bracket->below /= side > 0 ? 2 : 1;
      side = 1;
    } else {
      bracket->high = sigma;
      bracket->below = excess;
      bracket->above /= side < 0 ? 2 : 1;
      side = -1;
    }
  }
  return sigma + excess;
}

/* The root from a start s not above it; it lies between s and smECE_s. */
static double smece_root_from(smece_field *field, double start, double excess,
                              double tolerance) {
  const double other = fmax(fmin(start + excess, 1.0), start);
  smece_bracket bracket = {start, other, excess, smece_excess(field, other)};
  return bracket.below <= 0 ? smece_root(field, &bracket, tolerance) : other + bracket.below;
}

/* The root by halving sigma, from the total mass, an upper bound of smECE_s, until the root is
 * bracketed or below `least`.  Each halving costs as much as all steps before it together. */
static double smece_search(smece_field *field, double least, double tolerance) {
  smece_bracket bracket = {.high = 1.0};
  while (bracket.high / 2 >= field->all.size && bracket.high / 2 > least)
    bracket.high /= 2;
  bracket.below = field->all.size > bracket.high ? smece_excess(field, bracket.high)
                                                 : field->all.size - bracket.high;
  if (bracket.below > 0) /* gaps of replicas can be larger than 1 */
    return bracket.high + bracket.below;
  for (bracket.low = bracket.high / 2;; bracket.low /= 2) {
    bracket.above = smece_excess(field, bracket.low);
    if (bracket.above >= 0)
      return smece_root(field, &bracket, tolerance);
    bracket.high = bracket.low;
    bracket.below = bracket.above;
    if (bracket.low <= least)
      return bracket.high + bracket.below;
  }
}

/* ---- cells ---- */

#define SMECE_WIDEST 14
#define SMECE_FINEST 21 /* beyond this every score is used */
#define SMECE_SURE_LEVEL 9
#define SMECE_SURE_ERROR 1e-3 /* largest error of such cells, ten times that of a rough grid */

/* True if all residuals have one sign, up to rounding. */
static int smece_one_sign(const smece_field *field) {
  return field->all.size - fabs(field->all.net) <= 1e-12 * field->all.size;
}

/* True if the root is at least `least`, the sigma from which these cells are fine enough.  Then
 * *start is a sigma from `least` to the root, large to save nodes, and *excess is smECE_s - s
 * there. */
static int smece_fine_enough(smece_field *field, double least, double *start, double *excess) {
  if (field->all.size < least || least > 1.0)
    return 0;
  for (*start = fmax(least, SMECE_WIDE_START);; *start = least) {
    smece_choose_base(field, *start);
    *excess = smece_excess(field, *start);
    if (*excess >= 0 || *start <= least)
      return *excess >= 0;
  }
}

/* The next level to try; after the widest cells the one that suits their root. */
static unsigned smece_next(smece_field *field, unsigned level) {
  if (level > SMECE_WIDEST)
    return level < SMECE_FINEST ? level + 1 : PC_EACH_SCORE;
  field->base = &field->all;
  field->grid = 0;
  const double least = pc_point_masses_sigma(&field->all, SMECE_FINEST, SMECE_JOIN_ERROR);
  const double root = 0.9 * smece_search(field, least, 0.05);
  for (level++; level <= SMECE_FINEST; level++)
    if (pc_point_masses_sigma(&field->all, level, SMECE_JOIN_ERROR) <= root)
      return level;
  return PC_EACH_SCORE;
}

/* Joins scores in cells of one level.  If they are fine enough, sets *next to 0 and, unless
 * out is NULL, the value; otherwise sets *next to the level to try next. */
static pcal_status smece_at_level(const pcal_env *env, const pc_curve_table *table,
                                  unsigned level, unsigned *next, pc_metric_result *out,
                                  pcal_error *err) {
  smece_field field;
  double start = 0.0, excess = 0.0;
  PC_TRY(smece_field_new(env, table, level, PC_SMOOTH_FINE, &field, err));
  const double least = pc_point_masses_sigma(&field.all, level, SMECE_JOIN_ERROR);
  const int one_sign = smece_one_sign(&field), each = level == PC_EACH_SCORE;
  *next = one_sign || each || smece_fine_enough(&field, least, &start, &excess)
              ? 0
              : smece_next(&field, level);
  if (*next == 0 && out != NULL) {
    const double value = one_sign ? 0.0
                         : each   ? smece_search(&field, SMECE_SIGMA_MIN, SMECE_TOLERANCE)
                                  : smece_root_from(&field, start, excess, SMECE_TOLERANCE);
    out->value = fmax(value, fabs(field.all.net));
    pc_metric_result_part(out, "sigma", out->value);
    pc_metric_result_part(out, "signed", field.all.net);
  }
  smece_field_free(env, &field);
  return PCAL_OK;
}

/* Refines cells until they are fine enough, from the level that was asked for before (*level; 0:
 * none).  With out, sets the value.  With out NULL, sets *level to the level that a coarse table
 * must resolve first, or to 0 if none. */
static pcal_status smece_refine(const pcal_env *env, const pc_curve_table *table,
                                unsigned *level, pc_metric_result *out, pcal_error *err) {
  if (*level == 0)
    *level = table->total < SMECE_JOIN_ROWS ? PC_EACH_SCORE : SMECE_WIDEST;
  while (*level != 0 && (out != NULL || pc_point_masses_wants(table, *level, NULL) == 0))
    PC_TRY(smece_at_level(env, table, *level, level, out, err));
  return PCAL_OK;
}

/* Sets *surely if cells of the widest level are certainly fine enough.  Much wider cells
 * suffice to show this: if smECE_s exceeds s by a wide margin for some s, the root is larger
 * than s. */
static pcal_status smece_surely(const pcal_env *env, const pc_curve_table *table, int *surely,
                                pcal_error *err) {
  smece_field field;
  const pc_point_masses any = {.size = 1.0};
  const double least = pc_point_masses_sigma(&any, SMECE_WIDEST, SMECE_JOIN_ERROR);
  PC_TRY(smece_field_new(env, table, SMECE_SURE_LEVEL, PC_SMOOTH_ROUGH, &field, err));
  const double sigma =
      fmax(least, pc_point_masses_sigma(&field.all, SMECE_SURE_LEVEL, SMECE_SURE_ERROR));
  *surely = sigma <= field.all.size && sigma <= 1.0 && !smece_one_sign(&field) &&
            smece_excess(&field, sigma) >= 2 * SMECE_SURE_ERROR;
  smece_field_free(env, &field);
  return PCAL_OK;
}

static pcal_status smece_cells(const pc_options *options, const pc_curve_table *table,
                               const pcal_env *env, unsigned *level, pcal_error *err) {
  (void)options;
  int surely = 0;
  if (*level == 0 && table->total >= SMECE_JOIN_ROWS &&
      pc_point_masses_wants(table, SMECE_WIDEST, NULL) == 0)
    PC_TRY(smece_surely(env, table, &surely, err));
  return surely ? PCAL_OK : smece_refine(env, table, level, NULL, err);
}

/* Searches from wide kernels, which need few nodes, down to the net residual, a lower bound of
 * smECE. */
static double smece_rough_value(smece_field *field) {
  const double least = fmax(fabs(field->all.net), SMECE_ROUGH_START);
  if (smece_one_sign(field) || least > 1.0)
    return 0.0;
  if (field->all.size < least)
    return smece_search(field, SMECE_ROUGH_LEAST, SMECE_ROUGH_TOLERANCE);
  smece_choose_base(field, least);
  smece_bracket bracket = {.low = fmax(SMECE_ROUGH_WIDE, least)};
  bracket.above = smece_excess(field, bracket.low);
  if (bracket.above >= 0)
    return smece_root_from(field, bracket.low, bracket.above, SMECE_ROUGH_TOLERANCE);
  while (bracket.above < 0 && bracket.low > least) {
    bracket.high = bracket.low;
    bracket.below = bracket.above;
    bracket.low = fmax(bracket.low / 2, least);
    bracket.above = smece_excess(field, bracket.low);
  }
  if (bracket.above >= 0)
    return smece_root(field, &bracket, SMECE_ROUGH_TOLERANCE);
  field->base = &field->all;
  field->grid = 0;
  return smece_search(field, SMECE_ROUGH_LEAST, SMECE_ROUGH_TOLERANCE);
}

/* The widest cells for a root not below the net residual. */
static unsigned smece_rough_level(const pc_curve_table *table) {
  const pc_curve_cursor all = pc_curve_prefix_last(table->prefix);
  const double net = fabs(all.scores - all.hits) / all.rows;
  const pc_point_masses any = {.size = 1.0};
  unsigned level = 4;
  while (level < PC_PREFIX_LEVEL &&
         !(pc_point_masses_sigma(&any, level, SMECE_ROUGH_ERROR * net) <= net))
    level++;
  return level;
}

/* For one of many replicas: cells and a grid of few nodes, or a ladder of widths, are accurate
 * enough. */
static pcal_status smece_rough(const pcal_env *env, const pc_curve_table *table,
                               pc_metric_result *out, pcal_error *err) {
  const pc_prefix_gaps *gaps = table->prefix->gaps;
  smece_field field;
  out->value = (double)NAN;
  if (gaps != NULL && gaps->ladder != NULL)
    PC_TRY(pc_smooth_ladder_root(env, gaps->ladder, table->prefix, table->total, &out->value,
                                 err));
  if (!isnan(out->value))
    return PCAL_OK;
  PC_TRY(smece_field_new(env, table, smece_rough_level(table), PC_SMOOTH_ROUGH, &field, err));
  out->value = fmax(smece_rough_value(&field), fabs(field.all.net));
  pc_metric_result_part(out, "sigma", out->value);
  pc_metric_result_part(out, "signed", field.all.net);
  smece_field_free(env, &field);
  return PCAL_OK;
}

static pcal_status smece_evaluate(const pc_options *options, const pc_evidence *evidence,
                                  const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  (void)options;
  unsigned level = out->cell_level;
  if (evidence->rough)
    return smece_rough(env, &evidence->curve.parts[0], out, err);
  PC_TRY(smece_refine(env, &evidence->curve.parts[0], &level, out, err));
  return pc_smooth_diagram(env, &evidence->curve.parts[0], out->value, &out->graph, err);
}

const pc_metric pc_metric_smece = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "smece",
            .title = "smooth calibration error",
            .formula =
                "the s for which  s = integral_0^1 |(1/N) sum_i (c_i - a_i) K_s(t, c_i)| dt",
            .about =
                "The mean absolute residual after smoothing along the score with a "
                "Gaussian reflected at 0 and 1, whose width s is chosen to equal the "
                "result. It needs no bins, is continuous in the scores, and is small if "
                "and only if the predictions are close to calibrated ones. The part "
                "\"sigma\" is that width; \"signed\" is the mean of score - outcome, equal "
                "to the value in size if scores are too high, or too low, everywhere. The "
                "integral is accurate to 1e-6.",
            .citation = "Blasiok & Nakkiran, Smooth ECE: principled reliability diagrams via "
                        "kernel smoothing, ICLR 2024",
            .notion = PCAL_NOTION_TOP_LABEL,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = smece_options,
            .option_count = sizeof smece_options / sizeof *smece_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS,
    .configure = smece_configure,
    .evaluate = smece_evaluate,
    .cells = smece_cells,
};
