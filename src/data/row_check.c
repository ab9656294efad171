#include "data/row_check.h"

#include <math.h>

#include "base/number.h"

#define ROW_CHECK_WEIGHT_MAX 1e12

static const char *row_check_name(const char *name, const char *otherwise) {
  return name == NULL ? otherwise : name;
}

/* The position of the row, or of one of its scores; `subject` is the name of the file or
 * array. */
static pc_place row_check_place(const pc_checked_row *row, pcal_field field, size_t column,
                                const char *subject) {
  const pcal_batch *batch = row->batch;
  pcal_location at = {0, column, NULL, PCAL_NO_ROW};
  if (batch->place != NULL)
    batch->place(batch->place_user, field, row->position, column, &at);
  const uint64_t id = at.row == PCAL_NO_ROW ? row->id : at.row;
  return (pc_place){subject, id, at.line, at.column, at.column_name, NULL};
}

static int row_check_one_based(const pcal_batch *batch, size_t classes) {
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

/* The remedy for a row in which something is missing. */
static const char *row_check_missing_remedy(const pc_checked_row *row) {
  return row->policy->applying ? "remove the row: every row that goes in must come out"
                               : "remove the row or pass {skip_missing}";
}

static pcal_status row_check_missing(pc_checked_row *row, pcal_field field, const char *name,
                                     const char *what, pcal_error *err) {
  const pc_place place = row_check_place(row, field, PCAL_NO_COLUMN, name);
  row->missing = 1;
  if (row->policy->skip_missing)
    return PCAL_OK;
  return pc_fail_at(err, PCAL_DATA, &place, "the %s is missing; %-s", what,
                    row_check_missing_remedy(row));
}

pcal_status pc_row_check_label(pc_checked_row *row, pcal_error *err) {
  const pcal_batch *batch = row->batch;
  if (row->policy->unlabelled || row->layout->form != PC_FORM_CLASSES) {
    row->label = 0;
    return PCAL_OK;
  }
  const char *name = row_check_name(batch->labels_name, "labels");
  const int confidence = row->layout->kind == PCAL_CONFIDENCE;
  const size_t classes = confidence ? 2 : row->layout->classes;
  row->label = batch->labels[row->position];
  if (row->label == PCAL_MISSING_LABEL)
    return row_check_missing(row, PCAL_FIELD_LABELS, name, "label", err);
  if (row->label >= 0 && (size_t)row->label < classes)
    return PCAL_OK;
  const pc_place place = row_check_place(row, PCAL_FIELD_LABELS, PCAL_NO_COLUMN, name);
  if (confidence)
    return pc_fail_at(err, PCAL_DATA, &place, "%d is neither 0 (wrong) nor 1 (correct)",
                      (int)row->label);
  return pc_fail_at(
      err, PCAL_DATA, &place, "label %d is outside 0 to %zu; %-s", (int)row->label, classes - 1,
      row_check_one_based(batch, classes) ? "the labels look 1-based, subtract 1 from each"
                                          : "labels are class numbers counted from 0");
}

pcal_status pc_row_check_weight(pc_checked_row *row, pcal_error *err) {
  char shown[PC_NUMBER_MAX];
  row->weight = row->batch->weights == NULL ? 1.0 : row->batch->weights[row->position];
  if (row->weight >= 0 && row->weight <= ROW_CHECK_WEIGHT_MAX)
    return PCAL_OK;
  const char *name = row_check_name(row->batch->weights_name, "weights");
  if (isnan(row->weight))
    return row_check_missing(row, PCAL_FIELD_WEIGHTS, name, "weight", err);
  const pc_place place = row_check_place(row, PCAL_FIELD_WEIGHTS, PCAL_NO_COLUMN, name);
  return pc_fail_at(err, PCAL_DATA, &place,
                    "the weight %s is %s; a weight says how often the row occurred",
                    pc_show(row->weight, shown), row->weight < 0 ? "negative" : "above 1e12");
}

static pc_place row_check_score_place(const pc_checked_row *row, size_t column) {
  return row_check_place(row, PCAL_FIELD_SCORES, column,
                         row_check_name(row->batch->scores_name, "scores"));
}

/* True if -inf may stand for probability 0 in this row. */
static int row_check_may_rule_out(const pc_checked_row *row, const double *scores) {
  size_t finite = 0;
  for (size_t j = 0; j < row->batch->columns; j++)
    finite += isfinite(scores[j]) != 0;
  return row->layout->kind == PCAL_LOG_PROBABILITY ||
         (row->layout->kind == PCAL_LOGIT && row->policy->scores == PC_SCORES_NONE &&
          row->batch->columns > 1 && finite > 0);
}

/* The error of a logit of -inf that may not be. */
static pcal_status row_check_fail_ruled_out(const pc_checked_row *row, const pc_place *place,
                                            pcal_error *err) {
  if (row->policy->scores == PC_SCORES_NONE && row->batch->columns > 1)
    return pc_fail_at(err, PCAL_DATA, place,
                      "the logit is -inf, and no logit of the row is finite; a row needs a "
                      "class that is not ruled out");
  return pc_fail_at(err, PCAL_DATA, place,
                    "the logit is -inf; for classes that are ruled out give "
                    "log-softmax values as {log_probs}");
}

pcal_status pc_row_check_not_finite(pc_checked_row *row, const double *scores,
                                    pcal_error *err) {
  const int may_rule_out = row_check_may_rule_out(row, scores);
  for (size_t j = 0; j < row->batch->columns; j++) {
    const int ruled_out = may_rule_out && scores[j] < 0;
    if (isfinite(scores[j]) || ruled_out)
      continue;
    const pc_place place = row_check_score_place(row, j);
    if (isnan(scores[j])) {
      row->missing = 1;
      if (row->policy->skip_missing)
        return PCAL_OK;
      return pc_fail_at(err, PCAL_DATA, &place, "the score is missing (NaN); %-s",
                        row_check_missing_remedy(row));
    }
    if (row->layout->kind == PCAL_LOGIT && scores[j] < 0)
      return row_check_fail_ruled_out(row, &place, err);
    return pc_fail_at(err, PCAL_DATA, &place,
                      "the score is infinite; a finite number is needed");
  }
  return PCAL_OK;
}

pcal_status pc_row_fail_changed(const pc_checked_row *row, pcal_error *err) {
  const pc_place place = row_check_score_place(row, PCAL_NO_COLUMN);
  return pc_fail_at(err, PCAL_DATA, &place,
                    "the scores changed while they were read; try again when nothing writes to "
                    "them");
}

pc_place pc_row_forecast_place(const pc_checked_row *row, size_t column) {
  const char *spread = column == 1 ? row->batch->spread_name : NULL;
  return row_check_place(
      row, PCAL_FIELD_SCORES, column,
      spread != NULL ? spread : row_check_name(row->batch->scores_name, "predictions"));
}

pcal_status pc_row_check_missing_forecast(pc_checked_row *row, size_t column, pcal_error *err) {
  const pc_place place = pc_row_forecast_place(row, column);
  row->missing = 1;
  if (row->policy->skip_missing)
    return PCAL_OK;
  return pc_fail_at(err, PCAL_DATA, &place, "the number is missing (NaN); %-s",
                    row_check_missing_remedy(row));
}

pcal_status pc_row_check_target(pc_checked_row *row, double *target, pcal_error *err) {
  *target = row->policy->unlabelled ? 0.0 : row->batch->targets[row->position];
  return pc_row_check_targets(row, target, 1, err);
}

static pcal_status row_check_one_target(pc_checked_row *row, const double *target,
                                        pcal_error *err) {
  char shown[PC_NUMBER_MAX];
  if (fabs(*target) <= PC_FORECAST_MAX)
    return PCAL_OK;
  const char *name = row_check_name(row->batch->labels_name, "target");
  if (isnan(*target))
    return row_check_missing(row, PCAL_FIELD_LABELS, name, "target", err);
  const pc_place place = row_check_place(row, PCAL_FIELD_LABELS, PCAL_NO_COLUMN, name);
  return pc_fail_at(err, PCAL_DATA, &place,
                    "the target %s is beyond 1e100; give finite numbers on a smaller scale",
                    pc_show(*target, shown));
}

pcal_status pc_row_check_targets(pc_checked_row *row, const double *targets, size_t count,
                                 pcal_error *err) {
  for (size_t j = 0; j < count && !row->missing; j++)
    PC_TRY(row_check_one_target(row, &targets[j], err));
  return PCAL_OK;
}

double pc_prob_excess(double p) {
  return p < 0 ? -p : p > 1 ? p - 1 : 0.0;
}

const char *pc_row_normalize_remedy(const pc_checked_row *row) {
  return row->policy->applying ? "fit the calibrator with {normalize}" : "pass {normalize}";
}

pcal_status pc_row_fail_range(const pc_checked_row *row, size_t column, double p,
                              pcal_error *err) {
  char shown[PC_NUMBER_MAX];
  const pc_place place = row_check_score_place(row, column);
  const char *side = p < 0 ? "negative" : "above 1";
  pc_show(p, shown);
  if (pc_prob_excess(p) <= PC_PROB_REPAIRABLE && row->layout->columns > 1)
    return pc_fail_at(err, PCAL_DATA, &place,
                      "the probability %s is %s; %-s to clip and rescale the row", shown, side,
                      pc_row_normalize_remedy(row));
  if (p >= 2.0 && p <= 100.0 && row->layout->kind != PCAL_LOG_PROBABILITY)
    return pc_fail_at(
        err, PCAL_DATA, &place,
        "the probability %s is above 1; for percentages from 0 to 100 give "
        "{percent}%-s",
        shown,
        row->layout->kind == PCAL_CONFIDENCE ? "" : ", for scores before the softmax {logits}");
  return pc_fail_at(
      err, PCAL_DATA, &place, "the probability %s is %s; %-sare these {logits}?", shown, side,
      row->layout->kind == PCAL_LOG_PROBABILITY ? "log-probabilities are at most 0; " : "");
}

pcal_status pc_row_fail_sum(const pc_checked_row *row, double sum, pcal_error *err) {
  char shown[PC_NUMBER_MAX];
  const pc_place place = row_check_score_place(row, PCAL_NO_COLUMN);
  pc_number_round(sum, 7, shown);
  if (fabs(sum - 1) <= PC_PROB_REPAIRABLE)
    return pc_fail_at(err, PCAL_DATA, &place,
                      "the probabilities sum to %s, not 1; %-s to rescale such rows", shown,
                      pc_row_normalize_remedy(row));
  return pc_fail_at(err, PCAL_DATA, &place,
                    "the probabilities sum to %s, not 1; are these {logits}, or scores of "
                    "several labels at once (which have no single true class)?",
                    shown);
}
