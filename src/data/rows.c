/* Validation and conversion of rows.
 *
 * Edge cases, in the order in which a row is checked:
 *  1. label missing: refused, or skipped and counted; label outside 0..K-1: refused, with a
 *     hint when no label of the batch is 0 and one is K (1-based labels).
 *  2. weight missing as 1; negative, infinite or above 1e12: refused; weight 0: the row
 *     occurred no times, so it is checked and then left out.
 *  3. score NaN: missing; infinite logit: refused; a log-probability may be -inf.
 *  4. probability outside [0, 1] or a row sum off 1 by at most 1e-5: used as stored; off by at
 *     most 1e-2: rescaled under `normalize` and counted, else refused; beyond: refused. */
#include "data/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "kernels/softmax.h"

#define ROWS_AS_STORED 1e-5
#define ROWS_REPAIRABLE 1e-2
#define ROWS_WEIGHT_MAX 1e12
#define ROWS_CHUNK_DOUBLES 32768
#define ROWS_CHUNK_MAX 4096

pcal_status pc_layout_make(pcal_kind kind, size_t columns, pc_layout *out, pcal_error *err) {
  if (pcal_kind_name(kind) == NULL)
    return pc_fail(err, PCAL_USAGE, "the kind of scores %d is unknown", (int)kind);
  if (columns == 0 || columns > PC_CLASSES_MAX)
    return pc_fail(err, PCAL_DATA, "the scores have %zu columns; between 1 and %d are possible",
                   columns, PC_CLASSES_MAX);
  if (kind == PCAL_CONFIDENCE && columns != 1)
    return pc_fail(err, PCAL_DATA,
                   "confidences have one column, not %zu; give all class probabilities as "
                   "--probs",
                   columns);
  if (kind == PCAL_LOG_PROBABILITY && columns == 1)
    return pc_fail(err, PCAL_DATA,
                   "log-probabilities need a column for each class; give a binary score as "
                   "--logits or --probs");
  const size_t classes = kind == PCAL_CONFIDENCE ? 1 : columns == 1 ? 2 : columns;
  *out = (pc_layout){kind, columns, classes};
  return PCAL_OK;
}

int pc_layout_binary(const pc_layout *layout) {
  return layout->columns == 1 && layout->kind != PCAL_CONFIDENCE;
}

size_t pc_chunk_rows(const pc_layout *layout) {
  const size_t rows = ROWS_CHUNK_DOUBLES / layout->classes;
  return rows < 1 ? 1 : rows > ROWS_CHUNK_MAX ? ROWS_CHUNK_MAX : rows;
}

pcal_status pc_scratch_new(const pcal_env *env, const pc_layout *layout, pc_scratch *out,
                           pcal_error *err) {
  const size_t n = pc_chunk_rows(layout);
  *out = (pc_scratch){.capacity = n};
  out->probs = pc_alloc_raw(env, n * layout->classes, sizeof(double));
  out->scores = pc_alloc_raw(env, layout->columns, sizeof(double));
  out->weights = pc_alloc_raw(env, n, sizeof(double));
  out->log_true = pc_alloc_raw(env, n, sizeof(double));
  out->labels = pc_alloc_raw(env, n, sizeof(int32_t));
  out->ids = pc_alloc_raw(env, n, sizeof(uint64_t));
  out->groups = pc_alloc_raw(env, n, sizeof(uint32_t));
  if (out->probs != NULL && out->scores != NULL && out->weights != NULL &&
      out->log_true != NULL && out->labels != NULL && out->ids != NULL && out->groups != NULL)
    return PCAL_OK;
  pc_scratch_free(env, out);
  return pc_fail_memory(err, "preparing to read rows");
}

void pc_scratch_free(const pcal_env *env, pc_scratch *scratch) {
  pc_free(env, scratch->probs);
  pc_free(env, scratch->scores);
  pc_free(env, scratch->weights);
  pc_free(env, scratch->log_true);
  pc_free(env, scratch->labels);
  pc_free(env, scratch->ids);
  pc_free(env, scratch->groups);
  *scratch = (pc_scratch){0};
}

static const char *rows_scores_name(const pcal_batch *batch) {
  return batch->scores_name == NULL ? "scores" : batch->scores_name;
}

static const char *rows_labels_name(const pcal_batch *batch) {
  return batch->labels_name == NULL ? "labels" : batch->labels_name;
}

static const char *rows_weights_name(const pcal_batch *batch) {
  return batch->weights_name == NULL ? "weights" : batch->weights_name;
}

pcal_status pc_batch_check(const pcal_batch *batch, const pc_layout *layout, pcal_error *err) {
  if (batch->kind != layout->kind || batch->columns != layout->columns)
    return pc_fail(err, PCAL_DATA,
                   "%s: a batch of %s with %zu columns does not fit a measure of %s with %zu",
                   rows_scores_name(batch), pcal_kind_name(batch->kind), batch->columns,
                   pcal_kind_name(layout->kind), layout->columns);
  if (batch->rows > 0 && (batch->scores == NULL || batch->labels == NULL))
    return pc_fail(err, PCAL_USAGE, "%s: a batch needs %s; give them with %s",
                   rows_scores_name(batch), batch->scores == NULL ? "scores" : "labels",
                   batch->scores == NULL             ? "--probs or --logits"
                   : layout->kind == PCAL_CONFIDENCE ? "--correct"
                                                     : "--labels");
  if (batch->type != PCAL_F32 && batch->type != PCAL_F64)
    return pc_fail(err, PCAL_USAGE, "%s: scores must be float32 or float64",
                   rows_scores_name(batch));
  return PCAL_OK;
}

/* One row of a batch on its way through the checks. */
typedef struct rows_row {
  const pcal_batch *batch;
  const pc_layout *layout;
  const pc_policy *policy;
  size_t position; /* in the batch */
  uint64_t id;
  int32_t label;
  double weight;
  double *scores; /* as stored, promoted */
  double *probs;
  double log_true;
  int missing, normalized;
} rows_row;

static int rows_look_one_based(const pcal_batch *batch, size_t classes) {
  int has_last = 0;
  for (size_t i = 0; i < batch->rows; i++) {
    if (batch->labels[i] == PCAL_MISSING_LABEL)
      continue;
    if (batch->labels[i] < 1 || (uint64_t)batch->labels[i] > classes)
      return 0;
    has_last |= (uint64_t)batch->labels[i] == classes;
  }
  return has_last;
}

static pcal_status rows_label(rows_row *row, pcal_error *err) {
  const pcal_batch *batch = row->batch;
  const int confidence = row->layout->kind == PCAL_CONFIDENCE;
  const size_t classes = confidence ? 2 : row->layout->classes;
  row->label = batch->labels[row->position];
  if (row->label == PCAL_MISSING_LABEL) {
    row->missing = 1;
    if (row->policy->skip_missing)
      return PCAL_OK;
    return pc_fail_row(err, PCAL_DATA, row->id,
                       "%s, row %llu: the label is missing; remove the row or pass "
                       "--skip-missing",
                       rows_labels_name(batch), (unsigned long long)row->id);
  }
  if (row->label >= 0 && (size_t)row->label < classes)
    return PCAL_OK;
  if (confidence)
    return pc_fail_row(err, PCAL_DATA, row->id,
                       "%s, row %llu: %d is neither 0 (wrong) nor 1 (correct)",
                       rows_labels_name(batch), (unsigned long long)row->id, (int)row->label);
  return pc_fail_row(
      err, PCAL_DATA, row->id, "%s, row %llu: label %d is outside 0 to %zu; %s",
      rows_labels_name(batch), (unsigned long long)row->id, (int)row->label, classes - 1,
      rows_look_one_based(batch, classes) ? "the labels look 1-based, subtract 1 from each"
                                          : "labels are class numbers counted from 0");
}

static pcal_status rows_weight(rows_row *row, pcal_error *err) {
  char shown[PC_NUMBER_MAX];
  row->weight = row->batch->weights == NULL ? 1.0 : row->batch->weights[row->position];
  if (row->weight >= 0 && row->weight <= ROWS_WEIGHT_MAX)
    return PCAL_OK;
  if (isnan(row->weight)) {
    row->missing = 1;
    if (row->policy->skip_missing)
      return PCAL_OK;
    return pc_fail_row(err, PCAL_DATA, row->id,
                       "%s, row %llu: the weight is missing; remove the row or pass "
                       "--skip-missing",
                       rows_weights_name(row->batch), (unsigned long long)row->id);
  }
  return pc_fail_row(err, PCAL_DATA, row->id,
                     "%s, row %llu: the weight %s is %s; a weight says how often the row "
                     "occurred",
                     rows_weights_name(row->batch), (unsigned long long)row->id,
                     pc_show(row->weight, shown), row->weight < 0 ? "negative" : "above 1e12");
}

static void rows_load(const rows_row *row) {
  const pcal_batch *batch = row->batch;
  const char *at = (const char *)batch->scores + (ptrdiff_t)row->position * batch->row_stride;
  for (size_t j = 0; j < batch->columns; j++, at += batch->column_stride) {
    if (batch->type == PCAL_F32) {
      float value;
      memcpy(&value, at, sizeof value);
      row->scores[j] = (double)value;
    } else {
      memcpy(&row->scores[j], at, sizeof(double));
    }
  }
}

static pcal_status rows_bad_score(rows_row *row, size_t column, const char *what,
                                  pcal_error *err) {
  return pc_fail_row(err, PCAL_DATA, row->id, "%s, row %llu, column %zu: %s",
                     rows_scores_name(row->batch), (unsigned long long)row->id, column, what);
}

static pcal_status rows_finite(rows_row *row, pcal_error *err) {
  for (size_t j = 0; j < row->batch->columns; j++) {
    const double score = row->scores[j];
    if (isfinite(score))
      continue;
    if (isnan(score)) {
      row->missing = 1;
      if (row->policy->skip_missing)
        return PCAL_OK;
      return rows_bad_score(row, j, "the score is NaN; remove the row or pass --skip-missing",
                            err);
    }
    if (row->layout->kind == PCAL_LOG_PROBABILITY && score < 0)
      continue;
    if (row->layout->kind == PCAL_LOGIT && score < 0)
      return rows_bad_score(row, j,
                            "the logit is -inf; for classes that are ruled out give "
                            "log-softmax values as --log-probs",
                            err);
    return rows_bad_score(row, j, "the score is infinite; a finite number is needed", err);
  }
  return PCAL_OK;
}

/* Distance by which a probability leaves [0, 1]. */
static double rows_outside(double p) {
  return p < 0 ? -p : p > 1 ? p - 1 : 0.0;
}

static pcal_status rows_bad_range(rows_row *row, size_t column, pcal_error *err) {
  char shown[PC_NUMBER_MAX], what[256];
  const double p = row->probs[column];
  const int repairable = rows_outside(p) <= ROWS_REPAIRABLE && row->layout->columns > 1;
  const int is_log = row->layout->kind == PCAL_LOG_PROBABILITY;
  const char *remedy = repairable ? "pass --normalize to clip and rescale the row"
                       : is_log   ? "log-probabilities are at most 0; are these --logits?"
                                  : "are these --logits?";
  snprintf(what, sizeof what, "the probability %s is %s; %s", pc_show(p, shown),
           p < 0 ? "negative" : "above 1", remedy);
  return rows_bad_score(row, column, what, err);
}

static pcal_status rows_bad_sum(rows_row *row, double sum, pcal_error *err) {
  char shown[PC_NUMBER_MAX];
  pc_number_round(sum, 7, shown);
  return pc_fail_row(err, PCAL_DATA, row->id,
                     "%s, row %llu: the probabilities sum to %s, not 1; %s",
                     rows_scores_name(row->batch), (unsigned long long)row->id, shown,
                     fabs(sum - 1) <= ROWS_REPAIRABLE
                         ? "pass --normalize to rescale such rows"
                         : "are these --logits, or scores of several labels at once (which "
                           "have no single true class)?");
}

static void rows_rescale(rows_row *row) {
  const size_t k = row->layout->classes;
  double sum = 0.0;
  for (size_t j = 0; j < k; j++) {
    row->probs[j] = row->probs[j] < 0 ? 0.0 : row->probs[j];
    sum += row->probs[j];
  }
  for (size_t j = 0; j < k; j++)
    row->probs[j] /= sum;
  row->normalized = 1;
}

/* Probabilities in row->probs: edge case 4. */
static pcal_status rows_simplex(rows_row *row, pcal_error *err) {
  const size_t k = row->layout->classes;
  double sum = 0.0, worst = 0.0;
  size_t worst_column = 0;
  for (size_t j = 0; j < k; j++) {
    const double outside = rows_outside(row->probs[j]);
    if (outside > worst) {
      worst = outside;
      worst_column = j;
    }
    sum += row->probs[j];
  }
  const double limit = row->policy->normalize ? ROWS_REPAIRABLE : ROWS_AS_STORED;
  if (worst > limit)
    return rows_bad_range(row, worst_column, err);
  if (fabs(sum - 1) > limit)
    return rows_bad_sum(row, sum, err);
  if (worst > ROWS_AS_STORED || fabs(sum - 1) > ROWS_AS_STORED)
    rows_rescale(row);
  return PCAL_OK;
}

static pcal_status rows_single(rows_row *row, pcal_error *err) {
  row->probs[0] = row->scores[0];
  if (rows_outside(row->scores[0]) > ROWS_AS_STORED)
    return rows_bad_range(row, 0, err);
  return PCAL_OK;
}

static pcal_status rows_probabilities(rows_row *row, pcal_error *err) {
  const size_t k = row->layout->classes;
  switch (row->layout->kind) {
  case PCAL_LOGIT:
    if (pc_layout_binary(row->layout)) {
      const double norm = pc_sigmoid_pair(row->scores[0], row->probs);
      row->log_true = (row->label == 1 ? row->scores[0] : 0.0) - norm;
    } else {
      const double norm = pc_softmax_row(row->scores, k, row->probs);
      row->log_true = row->scores[row->label] - norm;
    }
    return PCAL_OK;
  case PCAL_CONFIDENCE:
    return rows_single(row, err);
  case PCAL_LOG_PROBABILITY:
    for (size_t j = 0; j < k; j++)
      row->probs[j] = exp(row->scores[j]);
    PC_TRY(rows_simplex(row, err));
    row->log_true = row->normalized ? log(row->probs[row->label]) : row->scores[row->label];
    return PCAL_OK;
  case PCAL_PROBABILITY:
    break;
  }
  if (pc_layout_binary(row->layout)) {
    PC_TRY(rows_single(row, err));
    row->probs[1] = row->scores[0];
    row->probs[0] = 1.0 - row->scores[0];
  } else {
    memcpy(row->probs, row->scores, k * sizeof(double));
    PC_TRY(rows_simplex(row, err));
  }
  if (row->policy->need_log)
    row->log_true = log(row->probs[row->label] > 0 ? row->probs[row->label] : 0.0);
  return PCAL_OK;
}

static pcal_status rows_one(rows_row *row, pcal_error *err) {
  PC_TRY(rows_label(row, err));
  PC_TRY(rows_weight(row, err));
  if (row->missing)
    return PCAL_OK;
  rows_load(row);
  PC_TRY(rows_finite(row, err));
  if (row->missing)
    return PCAL_OK;
  return rows_probabilities(row, err);
}

pcal_status pc_rows_derive(const pcal_batch *batch, const pc_layout *layout,
                           const pc_policy *policy, size_t begin, size_t count,
                           const pc_scratch *scratch, pc_rows *out, pc_row_counts *counts,
                           pcal_error *err) {
  const size_t k = layout->classes;
  size_t kept = 0;
  for (size_t i = begin; i < begin + count; i++) {
    rows_row row = {.batch = batch,
                    .layout = layout,
                    .policy = policy,
                    .position = i,
                    .id = batch->first_row + i,
                    .scores = scratch->scores,
                    .probs = scratch->probs + kept * k};
    PC_TRY(rows_one(&row, err));
    counts->skipped += (uint64_t)row.missing;
    counts->normalized += (uint64_t)row.normalized;
    if (row.missing || row.weight == 0)
      continue;
    if (row.weight != floor(row.weight) && row.id < counts->fractional_row)
      counts->fractional_row = row.id;
    scratch->ids[kept] = row.id;
    scratch->labels[kept] = row.label;
    scratch->weights[kept] = row.weight;
    scratch->log_true[kept] = row.log_true;
    scratch->groups[kept] = batch->groups == NULL ? 0 : batch->groups[i];
    kept++;
  }
  *out = (pc_rows){kept,
                   k,
                   scratch->ids,
                   scratch->labels,
                   batch->weights == NULL ? NULL : scratch->weights,
                   scratch->probs,
                   policy->need_log ? scratch->log_true : NULL,
                   batch->groups == NULL ? NULL : scratch->groups};
  return PCAL_OK;
}

void pc_rows_select(const pc_rows *rows, const size_t *positions, size_t count,
                    const pc_scratch *scratch, pc_rows *out) {
  const size_t k = rows->classes;
  for (size_t i = 0; i < count; i++) {
    const size_t from = positions[i];
    memcpy(scratch->probs + i * k, rows->probs + from * k, k * sizeof(double));
    scratch->ids[i] = rows->ids[from];
    scratch->labels[i] = rows->labels[from];
    scratch->weights[i] = rows->weights == NULL ? 1.0 : rows->weights[from];
    scratch->log_true[i] = rows->log_true == NULL ? 0.0 : rows->log_true[from];
  }
  *out = (pc_rows){count,
                   k,
                   scratch->ids,
                   scratch->labels,
                   rows->weights == NULL ? NULL : scratch->weights,
                   scratch->probs,
                   rows->log_true == NULL ? NULL : scratch->log_true,
                   NULL};
}
