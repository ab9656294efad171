/* Formula:  d_i = v(p_i) (p_i - a_i), v constant on each bin;  over K classes the sum over the
 *           classes of a row, divided by K
 *             |error| >= |E d| / |v|,   low = (|mean d| - z(1 - a) se) / |v|, a = (1 - level) / 2,
 *           but 0 unless |mean d| > z(1 - a/2) se: a calibrated model errs on either side, and the
 *           error itself may exclude 0 too;   high = (|mean d| + z(1 - a) se) / |v|
 *           se^2 is the larger of the variances of mean d that the data show and that the
 *           predictions claim
 *           for a mean of absolute gaps by |sum v g| <= max |v| sum |g|, for a root mean square by
 *           the inequality of Cauchy and Schwarz with |v|^2 = E v^2
 *           v = 1, or c (1 - c) in the bin with centre c for root mean squares, which is how gaps
 *           shrink towards certain scores; over classes with the sign of c - 1/2, since gaps of
 *           over- and under-confidence change sign there
 * Why:      chance makes the error of n rows larger, but not the mean of signed gaps, so this low
 *           end is often above 0 where the error itself could be chance.
 * Edge cases:
 *   1. rows in clusters, a view other than the natural one, bins of classes that are not of equal
 *      width: 0 and infinity;
 *   2. a score on the edge between two bins counts in the upper one;
 *   3. fewer than PC_INTERVAL_FEW_ROWS rows of the rarer outcome, for which the mean is not normal:
 *      0 and infinity.
 * Source: Hoelder's inequality.   Cost: one pass over the scores. */
#include "measure/replicas/gap_direction.h"

#include <math.h>
#include <string.h>

#include "base/normal.h"
#include "measure/interval_formula.h"
#include "measure/replicas/draws.h"

typedef struct direction_job {
  const pc_kept_rows *rows;
  size_t bins; /* of equal width; 0: none */
  int squares, over_classes;
} direction_job;

static double direction_weight(const direction_job *job, double score) {
  if (job->bins == 0 || (!job->squares && !job->over_classes))
    return 1.0;
  const double bins = (double)job->bins;
  const double centre = (fmin(floor(score * bins), bins - 1.0) + 0.5) / bins;
  const double sign = job->over_classes && centre < 0.5 ? -1.0 : 1.0;
  return job->squares ? sign * centre * (1.0 - centre) : sign;
}

typedef struct direction_row {
  double gap;     /* signed */
  double square;  /* mean of v^2 over the scores of the row */
  double claimed; /* variance of the gap if the predictions are right */
} direction_row;

static direction_row direction_read(const direction_job *job, size_t row) {
  const pc_kept_rows *rows = job->rows;
  const size_t scores = job->over_classes ? rows->classes : 1;
  const double count = (double)scores;
  direction_row out = {0};
  double expected = 0.0;
  for (size_t k = 0; k < scores; k++) {
    const double p = job->over_classes ? rows->probs[row * scores + k] : rows->score[row];
    const int32_t hit = job->over_classes ? (int32_t)k : pc_draw_first(rows, row);
    const double v = direction_weight(job, p);
    out.gap += v * (p - (rows->labels[row] == hit)) / count;
    out.square += v * v / count;
    out.claimed += v * v * p / (count * count);
    expected += v * p / count;
  }
  out.claimed = fmax(out.claimed - expected * expected, 0.0);
  return out;
}

static int direction_applies(const pc_measure_plan *plan, size_t entry) {
  const pc_plan_entry *at = &plan->entries[entry];
  const pc_need *need = &plan->slots[at->slot].need;
  const pc_view *natural = &plan->slots[plan->reliability_slot].need.view;
  const int over_classes = pc_view_is_every_class(&need->view);
  return at->config.gaps != PC_GAPS_OTHER && !plan->intervals.by_cluster &&
         (over_classes ? need->machine == PC_GRID && need->grid.bins > 0
                       : memcmp(&need->view, natural, sizeof *natural) == 0);
}

/* True for a root mean square over bins. */
static int direction_squares(const pc_measure_plan *plan, size_t entry) {
  const pc_plan_entry *at = &plan->entries[entry];
  return at->config.gaps == PC_GAPS_SQUARES && plan->slots[at->slot].need.machine == PC_GRID &&
         plan->slots[at->slot].need.grid.bins > 0;
}

pc_gap_moments pc_gap_moments_of(const pc_measure_plan *plan, size_t entry,
                                 const pc_kept_rows *rows, unsigned bits) {
  const pc_need *need = &plan->slots[plan->entries[entry].slot].need;
  const direction_job job = {rows, need->machine == PC_GRID ? need->grid.bins : 0,
                             direction_squares(plan, entry),
                             pc_view_is_every_class(&need->view)};
  const double lattice = pc_row_lattice(bits);
  pc_gap_moments out = {0};
  if (!direction_applies(plan, entry) || (job.over_classes && rows->probs == NULL))
    return out;
  for (size_t i = 0; i < rows->count; i++) {
    const double w = pc_kept_weight(rows, i);
    const direction_row row = direction_read(&job, i);
    out.gap += w * pc_lattice_round(row.gap, lattice);
    out.square += w * pc_lattice_round(row.square, lattice);
    out.claimed += w * pc_lattice_round(row.claimed, lattice);
    out.gap_square += w * pc_lattice_round(row.gap * row.gap, lattice);
  }
  return out;
}

pc_interval pc_gap_direction(const pc_measure_plan *plan, size_t entry,
                             const pc_row_moments *rows, const pc_gap_moments *gaps) {
  const double total = rows->total, norm = gaps->square, mean = fabs(gaps->gap) / total;
  if (!direction_applies(plan, entry) || !(total > 1.0) || !(norm > 0.0) ||
      fmin(rows->hits, total - rows->hits) < PC_INTERVAL_FEW_ROWS)
    return (pc_interval){0.0, (double)INFINITY};
  const double a = 0.5 * (1.0 - plan->intervals.level);
  const double shown = fmax(gaps->gap_square - mean * mean * total, 0.0);
  const double se = sqrt(fmax(shown, gaps->claimed) / ((total - 1.0) * total));
  const double reach = pc_normal_quantile(1.0 - a) * se;
  const double scale = direction_squares(plan, entry) ? sqrt(norm / total) : 1.0;
  const int clear = mean > pc_normal_quantile(1.0 - 0.5 * a) * se;
  return (pc_interval){clear ? (mean - reach) / scale : 0.0, (mean + reach) / scale};
}
