/* Formula:  d_i the difference of the scores of row i, w_i its weight, m = sum w_i d_i / sum w_i;
 *           excess = m / s,  s^2 = sum w_i^2 (d_i - m)^2 / (sum w_i)^2.
 * Edge cases:
 *   1. s = 0 and m > 0: infinite. */
#include "compare/first_fold.h"

#include <math.h>
#include <string.h>

#include "calibrators/apply.h"

static double first_fold_brier(const double *probs, size_t columns, int32_t label) {
  double sum = 0.0;
  if (columns == 1)
    return (probs[0] - (double)label) * (probs[0] - (double)label);
  for (size_t c = 0; c < columns; c++) {
    const double gap = probs[c] - (c == (size_t)label ? 1.0 : 0.0);
    sum += gap * gap;
  }
  return sum;
}

static pcal_status first_fold_grow(const pcal_env *env, const pcal_batch *batch,
                                   pc_first_fold *out, pcal_error *err) {
  const size_t count = out->count + batch->rows;
  double *scores = pc_resize(env, out->scores, count, sizeof *scores);
  out->scores = scores == NULL ? out->scores : scores;
  double *weights =
      batch->weights == NULL ? NULL : pc_resize(env, out->weights, count, sizeof *weights);
  out->weights = weights == NULL ? out->weights : weights;
  if (scores == NULL || (batch->weights != NULL && weights == NULL))
    return pc_fail_memory(err, "comparing");
  return PCAL_OK;
}

static pcal_status first_fold_add(const pc_held_out *held_out,
                                  const pcal_calibrator *calibrator, const pcal_batch *batch,
                                  pc_first_fold *out, pcal_error *err) {
  const pcal_env *env = held_out->env;
  PC_TRY(first_fold_grow(env, batch, out, err));
  double *probs = pc_alloc_raw(env, batch->rows * batch->columns, sizeof *probs);
  if (probs == NULL)
    return pc_fail_memory(err, "comparing");
  const pcal_status status = pc_calibrator_apply(calibrator, batch, env, probs, err);
  for (size_t i = 0; status == PCAL_OK && i < batch->rows; i++)
    out->scores[out->count + i] =
        first_fold_brier(probs + i * batch->columns, batch->columns, batch->labels[i]);
  if (batch->weights != NULL)
    memcpy(out->weights + out->count, batch->weights, batch->rows * sizeof *batch->weights);
  out->count += batch->rows;
  pc_free(env, probs);
  return status;
}

static double first_fold_weight(const pc_first_fold *fold, size_t i) {
  return fold->weights == NULL ? 1.0 : fold->weights[i];
}

static pcal_status first_fold_read(const pc_held_out *held_out, pcal_source *source,
                                   const pcal_calibrator *calibrator, pc_first_fold *out,
                                   pcal_error *err) {
  double total = 0.0, weight = 0.0;
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(source, SIZE_MAX, &batch, err));
    if (batch.rows == 0)
      break;
    PC_TRY(first_fold_add(held_out, calibrator, &batch, out, err));
  }
  for (size_t i = 0; i < out->count; i++) {
    total += first_fold_weight(out, i) * out->scores[i];
    weight += first_fold_weight(out, i);
  }
  out->mean = weight > 0.0 ? total / weight : 0.0;
  return PCAL_OK;
}

pcal_status pc_first_fold_score(const pc_held_out *held_out, const pcal_calibrator *calibrator,
                                pc_first_fold *out, pcal_error *err) {
  pc_fold_source fold;
  *out = (pc_first_fold){0};
  PC_TRY(pc_source_rewind(held_out->source, err));
  pcal_status status =
      pc_fold_source_open(held_out->source, &held_out->folds, 0, held_out->env, &fold, err);
  fold.inside = 1;
  if (status == PCAL_OK)
    status = first_fold_read(held_out, fold.source, calibrator, out, err);
  pc_fold_source_close(&fold);
  return status;
}

void pc_first_fold_free(const pcal_env *env, pc_first_fold *fold) {
  pc_free(env, fold->scores);
  pc_free(env, fold->weights);
  *fold = (pc_first_fold){0};
}

double pc_first_fold_excess(const pc_first_fold *fold, const pc_first_fold *best) {
  const double mean = fold->mean - best->mean;
  double squares = 0.0, weight = 0.0;
  if (!(mean > 0.0) || fold->count != best->count)
    return 0.0;
  for (size_t i = 0; i < fold->count; i++) {
    const double w = first_fold_weight(fold, i);
    const double gap = w * (fold->scores[i] - best->scores[i] - mean);
    squares += gap * gap;
    weight += w;
  }
  return squares > 0.0 ? mean * weight / sqrt(squares) : (double)INFINITY;
}
