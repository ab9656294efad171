/* Rows with different numbers of choices: multiple-choice questions with four or five answers.
 *
 * Formula:  a missing score is a choice that the row does not have: probability 0.  The others are
 *           normalised: p_j / sum_k p_k; log-probabilities l_j - m - log sum_k exp(l_k - m),
 *           m = max l.  Logits become log-probabilities by the same formula, so that methods that
 *           need logarithms of probabilities can be fitted to them.
 * Edge cases:
 *   1. A row without any score stays missing: whoever reads it skips or refuses it.
 *   2. The true choice must be one that the row has.
 *   3. Probabilities that sum to 1 within 1e-5 are used as stored.  Rows with a number below 0 or
 *      above 1, or without a positive one, are left alone: whoever reads them refuses them.
 *   4. Class-wise measures count a choice that a row does not have as a probability 0 that did not
 *      occur. */
#include <math.h>

#include "base/elementary.h"
#include "io/source_state.h"

#define RAGGED_TOLERANCE 1e-5 /* of a sum of probabilities, as for other rows */

/* The largest score that is not missing; NaN: none. */
static double source_ragged_max(const double *row, size_t count) {
  double max = (double)NAN;
  for (size_t k = 0; k < count; k++)
    if (!isnan(row[k]) && !(row[k] <= max))
      max = row[k];
  return max;
}

/* The logarithm of the sum of the exponentials of the scores that are not missing. */
static double source_ragged_log_sum(const double *row, size_t count, double max) {
  double sum = 0.0;
  for (size_t k = 0; k < count; k++)
    sum += isnan(row[k]) ? 0.0 : pc_exp(row[k] - max);
  return max + pc_log(sum);
}

static pcal_status source_ragged_fail(const pcal_batch *batch, size_t row, pcal_error *err) {
  pcal_location at = {0, PCAL_NO_COLUMN, NULL, PCAL_NO_ROW};
  batch->place(batch->place_user, PCAL_FIELD_LABELS, row, PCAL_NO_COLUMN, &at);
  const pc_place place = {batch->labels_name,
                          at.row == PCAL_NO_ROW ? batch->first_row + row : at.row,
                          at.line,
                          PCAL_NO_COLUMN,
                          NULL,
                          NULL};
  return pc_fail_at(
      err, PCAL_DATA, &place,
      "the label is a choice that the row has no score for; give every row a score "
      "for its true choice");
}

/* The sum of the probabilities that are not missing, if they need another one; else 1. */
static double source_ragged_sum(const double *row, size_t count) {
  double sum = 0.0;
  for (size_t k = 0; k < count; k++) {
    if (isnan(row[k]))
      continue;
    if (!(row[k] >= 0 && row[k] <= 1))
      return 1.0;
    sum += row[k];
  }
  return sum > 0 && fabs(sum - 1) > RAGGED_TOLERANCE ? sum : 1.0;
}

static void source_ragged_row(pcal_kind kind, double *row, size_t count, double max) {
  const int probs = kind == PCAL_PROBABILITY;
  const double sum = probs ? source_ragged_sum(row, count) : 1.0;
  const double shift = !probs && isfinite(max) ? source_ragged_log_sum(row, count, max) : 0.0;
  const double absent = probs ? 0.0 : -(double)INFINITY;
  const int logs_fit = kind == PCAL_LOG_PROBABILITY && fabs(shift) <= RAGGED_TOLERANCE;
  for (size_t k = 0; k < count; k++)
    row[k] = isnan(row[k]) ? absent : row[k] / sum - (logs_fit ? 0.0 : shift);
}

pcal_status pc_source_rule_out(pcal_source *source, pcal_batch *batch, pcal_error *err) {
  PC_TRY(pc_source_own_rows(source, batch, err));
  for (size_t i = 0; i < batch->rows; i++) {
    double *row = source->own_rows + i * batch->columns;
    const double max = source_ragged_max(row, batch->columns);
    if (isnan(max))
      continue;
    const int32_t label = batch->labels == NULL ? -1 : batch->labels[i];
    if (label >= 0 && (size_t)label < batch->columns && isnan(row[label]))
      return source_ragged_fail(batch, i, err);
    source_ragged_row(source->kind, row, batch->columns, max);
  }
  return PCAL_OK;
}
