/* Formula:  d_i = v(p_i) (p_i - a_i), v constant on each bin;  over K classes the sum over the
 *           classes of a row, divided by K
 *             |error| >= |E d| / |v|,   low = (|mean d| - z se) / |v|
 *           se^2 is the larger of the variances of mean d that the data show and that the predictions
 *           claim
 *           for a mean of absolute gaps by |sum v g| <= max |v| sum |g|, for a root mean square by
 *           the inequality of Cauchy and Schwarz with |v|^2 = E v^2
 *           v = 1, or c (1 - c) in the bin with centre c for root mean squares, which is how gaps
 *           shrink towards certain scores; over classes with the sign of c - 1/2, since gaps of
 *           over- and under-confidence change sign there
 * Why:      chance makes the error of n rows larger, but not the mean of signed gaps, so this low
 *           end is often above 0 where the error itself could be chance.
 * Edge cases:
 *   1. rows in clusters, a view other than the natural one, bins of classes that are not of equal
 *      width: 0;
 *   2. a score on the edge between two bins counts in the upper one;
 *   3. fewer than PC_INTERVAL_FEW_ROWS rows of the rarer outcome, for which the mean is not normal:
 *      0.
 * Source: Hoelder's inequality.   Cost: two passes over the scores. */
#include "measure/replicas/gap_direction.h"

#include <math.h>
#include <string.h>

#include "base/normal.h"
#include "measure/interval_formula.h"
#include "measure/replicas/draws.h"
#include "measure/replicas/rarer_rows.h"

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

static double direction_low(const direction_job *job, double level) {
  const pc_kept_rows *rows = job->rows;
  double total = 0.0, mean = 0.0, norm = 0.0, shown = 0.0, claimed = 0.0;
  for (size_t i = 0; i < rows->count; i++) {
    const double w = pc_kept_weight(rows, i);
    const direction_row row = direction_read(job, i);
    total += w;
    mean += w * row.gap;
    norm += w * row.square;
    claimed += w * row.claimed;
  }
  if (!(total > 1.0) || !(norm > 0.0))
    return 0.0;
  mean /= total;
  for (size_t i = 0; i < rows->count; i++) {
    const double away = direction_read(job, i).gap - mean;
    shown += pc_kept_weight(rows, i) * away * away;
  }
  const double z = pc_normal_quantile(0.5 + 0.5 * level);
  const double se = sqrt(fmax(shown, claimed) / ((total - 1.0) * total));
  return fmax(fabs(mean) - z * se, 0.0) / (job->squares ? sqrt(norm / total) : 1.0);
}

double pc_gap_direction_low(const pc_measure_plan *plan, size_t entry,
                            const pc_kept_rows *rows) {
  const pc_plan_entry *at = &plan->entries[entry];
  const pc_need *need = &plan->slots[at->slot].need;
  const pc_view *natural = &plan->slots[plan->reliability_slot].need.view;
  const int over_classes = pc_view_is_every_class(&need->view);
  const size_t bins = need->machine == PC_GRID ? need->grid.bins : 0;
  if (at->reading.gaps == PC_GAPS_OTHER || plan->intervals.by_cluster ||
      pc_rarer_count(rows).rarer < PC_INTERVAL_FEW_ROWS ||
      (over_classes && (bins == 0 || rows->probs == NULL)) ||
      (!over_classes && memcmp(&need->view, natural, sizeof *natural) != 0))
    return 0.0;
  const direction_job job = {rows, bins, at->reading.gaps == PC_GAPS_SQUARES && bins > 0,
                             over_classes};
  return direction_low(&job, plan->intervals.level);
}
