#include "data/row_check.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"

#define ROW_CHECK_WEIGHT_MAX 1e12
#define ROW_CHECK_PLACE_MAX 128

static const char *row_check_name(const char *name, const char *otherwise) {
  return name == NULL ? otherwise : name;
}

/* "row 7, column 3", or what the batch calls it.  Returns out. */
static const char *row_check_place(const pc_checked_row *row, pcal_field field, size_t column,
                                   char out[ROW_CHECK_PLACE_MAX]) {
  const pcal_batch *batch = row->batch;
  if (batch->place != NULL)
    batch->place(batch->place_user, field, row->position, column, out, ROW_CHECK_PLACE_MAX);
  else if (column == PCAL_NO_COLUMN)
    snprintf(out, ROW_CHECK_PLACE_MAX, "row %llu", (unsigned long long)row->id);
  else
    snprintf(out, ROW_CHECK_PLACE_MAX, "row %llu, column %zu", (unsigned long long)row->id,
             column);
  return out;
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

static pcal_status row_check_missing(pc_checked_row *row, pcal_field field, const char *name,
                                     const char *what, pcal_error *err) {
  char place[ROW_CHECK_PLACE_MAX];
  row->missing = 1;
  if (row->policy->skip_missing)
    return PCAL_OK;
  return pc_fail_row(err, PCAL_DATA, row->id,
                     "%s, %s: %s; remove the row or pass --skip-missing", name,
                     row_check_place(row, field, PCAL_NO_COLUMN, place), what);
}

pcal_status pc_row_check_label(pc_checked_row *row, pcal_error *err) {
  const pcal_batch *batch = row->batch;
  char place[ROW_CHECK_PLACE_MAX];
  if (row->policy->unlabelled || row->layout->form != PC_FORM_CLASSES) {
    row->label = 0;
    return PCAL_OK;
  }
  const char *name = row_check_name(batch->labels_name, "labels");
  const int confidence = row->layout->kind == PCAL_CONFIDENCE;
  const size_t classes = confidence ? 2 : row->layout->classes;
  row->label = batch->labels[row->position];
  if (row->label == PCAL_MISSING_LABEL)
    return row_check_missing(row, PCAL_FIELD_LABELS, name, "the label is missing", err);
  if (row->label >= 0 && (size_t)row->label < classes)
    return PCAL_OK;
  row_check_place(row, PCAL_FIELD_LABELS, PCAL_NO_COLUMN, place);
  if (confidence)
    return pc_fail_row(err, PCAL_DATA, row->id,
                       "%s, %s: %d is neither 0 (wrong) nor 1 (correct)", name, place,
                       (int)row->label);
  return pc_fail_row(err, PCAL_DATA, row->id, "%s, %s: label %d is outside 0 to %zu; %-s", name,
                     place, (int)row->label, classes - 1,
                     row_check_one_based(batch, classes)
                         ? "the labels look 1-based, subtract 1 from each"
                         : "labels are class numbers counted from 0");
}

pcal_status pc_row_check_weight(pc_checked_row *row, pcal_error *err) {
  char shown[PC_NUMBER_MAX], place[ROW_CHECK_PLACE_MAX];
  row->weight = row->batch->weights == NULL ? 1.0 : row->batch->weights[row->position];
  if (row->weight >= 0 && row->weight <= ROW_CHECK_WEIGHT_MAX)
    return PCAL_OK;
  const char *name = row_check_name(row->batch->weights_name, "weights");
  if (isnan(row->weight))
    return row_check_missing(row, PCAL_FIELD_WEIGHTS, name, "the weight is missing", err);
  return pc_fail_row(err, PCAL_DATA, row->id,
                     "%s, %s: the weight %s is %s; a weight says how often the row occurred",
                     name, row_check_place(row, PCAL_FIELD_WEIGHTS, PCAL_NO_COLUMN, place),
                     pc_show(row->weight, shown), row->weight < 0 ? "negative" : "above 1e12");
}

static pcal_status row_check_score(const pc_checked_row *row, size_t column, const char *what,
                                   pcal_error *err) {
  char place[ROW_CHECK_PLACE_MAX];
  return pc_fail_row(err, PCAL_DATA, row->id, "%s, %s: %-s",
                     row_check_name(row->batch->scores_name, "scores"),
                     row_check_place(row, PCAL_FIELD_SCORES, column, place), what);
}

pcal_status pc_row_check_not_finite(pc_checked_row *row, const double *scores,
                                    pcal_error *err) {
  for (size_t j = 0; j < row->batch->columns; j++) {
    if (isfinite(scores[j]))
      continue;
    if (isnan(scores[j])) {
      row->missing = 1;
      if (row->policy->skip_missing)
        return PCAL_OK;
      return row_check_score(
          row, j, "the score is missing (NaN); remove the row or pass --skip-missing", err);
    }
    if (row->layout->kind == PCAL_LOG_PROBABILITY && scores[j] < 0)
      continue;
    if (row->layout->kind == PCAL_LOGIT && scores[j] < 0)
      return row_check_score(row, j,
                             "the logit is -inf; for classes that are ruled out give "
                             "log-softmax values as --log-probs",
                             err);
    return row_check_score(row, j, "the score is infinite; a finite number is needed", err);
  }
  return PCAL_OK;
}

pcal_status pc_row_fail_changed(const pc_checked_row *row, pcal_error *err) {
  return row_check_score(row, PCAL_NO_COLUMN,
                         "the scores changed while they were read; try again when nothing "
                         "writes to them",
                         err);
}

/* The part of the prediction that a column is. */
static const char *row_check_forecast_name(const pc_checked_row *row, size_t column) {
  const char *spread = column == 1 ? row->batch->spread_name : NULL;
  return spread != NULL ? spread : row_check_name(row->batch->scores_name, "predictions");
}

pcal_status pc_row_fail_forecast(const pc_checked_row *row, size_t column, const char *why,
                                 pcal_error *err) {
  char place[ROW_CHECK_PLACE_MAX];
  return pc_fail_row(err, PCAL_DATA, row->id, "%s, %s: %-s",
                     row_check_forecast_name(row, column),
                     row_check_place(row, PCAL_FIELD_SCORES, column, place), why);
}

pcal_status pc_row_check_missing_forecast(pc_checked_row *row, size_t column, pcal_error *err) {
  row->missing = 1;
  if (row->policy->skip_missing)
    return PCAL_OK;
  return pc_row_fail_forecast(
      row, column, "the number is missing (NaN); remove the row or pass --skip-missing", err);
}

pcal_status pc_row_check_target(pc_checked_row *row, double *target, pcal_error *err) {
  char place[ROW_CHECK_PLACE_MAX], shown[PC_NUMBER_MAX];
  *target = row->policy->unlabelled ? 0.0 : row->batch->targets[row->position];
  if (fabs(*target) <= PC_FORECAST_MAX)
    return PCAL_OK;
  const char *name = row_check_name(row->batch->labels_name, "target");
  if (isnan(*target))
    return row_check_missing(row, PCAL_FIELD_LABELS, name, "the target is missing", err);
  return pc_fail_row(err, PCAL_DATA, row->id,
                     "%s, %s: the target %s is beyond 1e100; give finite numbers on a smaller "
                     "scale",
                     name, row_check_place(row, PCAL_FIELD_LABELS, PCAL_NO_COLUMN, place),
                     pc_show(*target, shown));
}

double pc_prob_excess(double p) {
  return p < 0 ? -p : p > 1 ? p - 1 : 0.0;
}

pcal_status pc_row_fail_range(const pc_checked_row *row, size_t column, double p,
                              pcal_error *err) {
  char shown[PC_NUMBER_MAX], what[256];
  const int repairable = pc_prob_excess(p) <= PC_PROB_REPAIRABLE && row->layout->columns > 1;
  const int is_log = row->layout->kind == PCAL_LOG_PROBABILITY;
  const char *remedy = repairable ? "pass --normalize to clip and rescale the row"
                       : is_log   ? "log-probabilities are at most 0; are these --logits?"
                                  : "are these --logits?";
  snprintf(what, sizeof what, "the probability %s is %s; %s", pc_show(p, shown),
           p < 0 ? "negative" : "above 1", remedy);
  return row_check_score(row, column, what, err);
}

pcal_status pc_row_fail_sum(const pc_checked_row *row, double sum, pcal_error *err) {
  char shown[PC_NUMBER_MAX], place[ROW_CHECK_PLACE_MAX];
  pc_number_round(sum, 7, shown);
  return pc_fail_row(err, PCAL_DATA, row->id, "%s, %s: the probabilities sum to %s, not 1; %-s",
                     row_check_name(row->batch->scores_name, "scores"),
                     row_check_place(row, PCAL_FIELD_SCORES, PCAL_NO_COLUMN, place), shown,
                     fabs(sum - 1) <= PC_PROB_REPAIRABLE
                         ? "pass --normalize to rescale such rows"
                         : "are these --logits, or scores of several labels at once (which "
                           "have no single true class)?");
}
