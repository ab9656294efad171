/* CORP: decomposition of a proper score by isotonic regression.
 *
 * Formula, with r the isotonic regression of the outcomes on the scores p, y the mean outcome
 * and S the mean score:
 *   calibration = S(p) - S(r),   sharpness = S(y) - S(r),   entropy = S(y)
 * Edge cases:
 *   (1) 0 log 0 is 0: fitted values of 0 and 1 cost nothing;
 *   (2) a score of 0 that is a hit, or of 1 that is a miss, makes the log score infinite;
 *   (3) calibration and sharpness are never negative, whatever the rounding.
 * Source: Dimitriadis, Gneiting & Jordan 2021.
 * Cost: O(n). */
#include "curve/corp_decomposition.h"

#include <math.h>

#include "base/elementary.h"
#include "base/sum.h"
#include "curve/isotonic.h"

/* The summed score of the rows of one entry. */
static double corp_entry_score(pc_binary_score score, const pc_curve_table *table, size_t i) {
  const double p = table->score[i], hits = table->hits[i], misses = table->weight[i] - hits;
  if (score == PC_BINARY_BRIER)
    return hits * ((1 - p) * (1 - p)) + misses * (p * p);
  if ((p <= 0 && hits > 0) || (p >= 1 && misses > 0))
    return INFINITY;
  return -pc_weighted_log(hits, p) - (misses > 0 ? misses * pc_log1p(-p) : 0.0);
}

static double corp_score(pc_binary_score score, const pc_curve_table *table) {
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t i = 0; i < table->count; i++) {
    const double entry = corp_entry_score(score, table, i);
    if (isinf(entry))
      return INFINITY;
    pc_sum_add(&sum, entry);
  }
  return pc_sum_value(&sum);
}

static double corp_fitted_score(pc_binary_score score, const pc_isotonic *fit) {
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t b = 0; b < fit->count; b++)
    pc_sum_add(&sum, pc_binary_entropy(score, fit->blocks[b].hits, fit->blocks[b].weight));
  return pc_sum_value(&sum);
}

static double corp_hits(const pc_isotonic *fit) {
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t b = 0; b < fit->count; b++)
    pc_sum_add(&sum, fit->blocks[b].hits);
  return pc_sum_value(&sum);
}

pcal_status pc_decompose_corp(const pcal_env *env, const pc_curve_table *table,
                              pc_binary_score score, pc_decomposition *sum, pcal_error *err) {
  const double total = table->total;
  pc_isotonic fit;
  PC_TRY(pc_isotonic_fit(env, table, &fit, err));
  const double given = corp_score(score, table), fitted = corp_fitted_score(score, &fit);
  const double entropy = pc_binary_entropy(score, corp_hits(&fit), total);
  sum->score += given / total;
  sum->calibration += fmax(given - fitted, 0.0) / total;
  sum->sharpness += fmax(entropy - fitted, 0.0) / total;
  sum->entropy += entropy / total;
  pc_isotonic_free(env, &fit);
  return PCAL_OK;
}
