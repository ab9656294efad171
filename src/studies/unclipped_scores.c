/* Formula:  ks = max over scores s of |(1/N) sum over rows with score <= s of (score - hit)|
 *           ece = sum_b (n_b/N) |mean score of bin b - mean hit of bin b|
 * Edge cases:
 *   (1) equal scores are one position of ks: their order does not matter;
 *   (2) scores outside (0, 1] are in no bin of ece.
 * Source:   Gupta et al. 2021, equation 8 and Table 6, with the bins of Guo et al. 2017.
 * Cost:     a sort. */
#include "studies/unclipped_scores.h"

#include <math.h>
#include <stdlib.h>

typedef struct unclipped_scores_row {
  double score, hit;
} unclipped_scores_row;

static int unclipped_scores_order(const void *left, const void *right) {
  const unclipped_scores_row *a = left, *b = right;
  if (a->score != b->score)
    return a->score < b->score ? -1 : 1;
  return (a->hit > b->hit) - (a->hit < b->hit);
}

pcal_status pc_unclipped_ks(const pc_unclipped_scores *raw, const pcal_env *env, double *out,
                            pcal_error *err) {
  unclipped_scores_row *rows = pc_alloc_raw(env, raw->rows, sizeof *rows);
  double sum = 0.0, most = 0.0;
  if (rows == NULL)
    return pc_fail_memory(err, "sorting scores");
  for (size_t i = 0; i < raw->rows; i++)
    rows[i] = (unclipped_scores_row){raw->scores[i], raw->hits[i] != 0};
  qsort(rows, raw->rows, sizeof *rows, unclipped_scores_order);
  for (size_t i = 0; i < raw->rows; i++) {
    sum += rows[i].score - rows[i].hit;
    if (i + 1 == raw->rows || rows[i + 1].score != rows[i].score)
      most = fmax(most, fabs(sum));
  }
  pc_free(env, rows);
  *out = most / (double)raw->rows;
  return PCAL_OK;
}

double pc_unclipped_ece(const pc_unclipped_scores *raw, size_t bins) {
  double gap[PC_UNCLIPPED_BINS_MAX] = {0}, sum = 0.0;
  for (size_t i = 0; i < raw->rows; i++) {
    const double place = ceil(raw->scores[i] * (double)bins);
    if (place >= 1 && place <= (double)bins)
      gap[(size_t)place - 1] += raw->scores[i] - (raw->hits[i] != 0);
  }
  for (size_t b = 0; b < bins; b++)
    sum += fabs(gap[b]);
  return sum / (double)raw->rows;
}
