/* Sentences of the clinical report, for the methods and the results of a paper.
 *
 * 1. Every sentence follows from a result of the report: a metric without a value, an interval
 *    that was not computed and a figure that was not drawn are not mentioned.
 * 2. The Brier score is that of the event alone, as in clinical papers: half the sum over both
 *    classes, for the value and the ends of its interval alike. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "figure/number_text.h"
#include "report/page_preset.h"

const pc_clinical_row pc_clinical_rows[] = {
    {"auc", "Discrimination", "c-statistic", "area under the ROC curve", "1", 2, 1,
     "DeLong's variance on the logit scale"},
    {"oe-ratio", "Calibration", "O/E ratio", "observed to expected events", "1", 2, 1,
     "the delta method on the log scale"},
    {"calibration-intercept", "Calibration", "calibration intercept",
     "below 0: risks are too high", "0", 2, 1, "Wald's method"},
    {"calibration-slope", "Calibration", "calibration slope", "below 1: risks are too extreme",
     "1", 2, 1, "Wald's method"},
    {"ici", "Calibration", "ICI", "mean distance of risks from the smooth curve", "0", 3, 1,
     "the covariance of the smooth curve"},
    {"e50", "Calibration", "E50", "median of these distances", "0", 3, 1,
     "the covariance of the smooth curve"},
    {"e90", "Calibration", "E90", "90 % quantile of these distances", "0", 3, 1,
     "the covariance of the smooth curve"},
    {"emax", "Calibration", "Emax", "largest of these distances", "0", 3, 1,
     "the covariance of the smooth curve"},
    {"brier", "Overall performance", "Brier score", "mean squared error of the risk", "0", 3,
     0.5, "the normal distribution"},
    {"scaled-brier", "Overall performance", "scaled Brier score",
     "share of the error that the model saves against the event rate", "1", 2, 1,
     "the normal distribution"},
    {NULL, NULL, NULL, NULL, NULL, 0, 0, NULL},
};

const pc_clinical_row *pc_clinical_row_of(const pc_result_record *record) {
  for (const pc_clinical_row *row = pc_clinical_rows; row->name != NULL; row++)
    if (strcmp(row->metric, record->label) == 0)
      return row;
  return NULL;
}

/* The record of a metric with a value; NULL if there is none. */
static const pc_result_record *clinical_record(const pcal_results *results,
                                               const char *metric) {
  const pc_result_record *record = pc_results_record(results, metric);
  return record == NULL || record->outcome.undefined ? NULL : record;
}

void pc_clinical_value(const pc_result_record *record, pc_text *out) {
  const pc_clinical_row *row = pc_clinical_row_of(record);
  const int decimals = row == NULL ? 3 : row->decimals;
  const double factor = row == NULL ? 1 : row->factor;
  const pc_interval_result *interval = &record->interval_result;
  char text[PC_NUMBER_TEXT_MAX];
  if (record->outcome.undefined) {
    pc_text_add(out, "-");
    return;
  }
  pc_fixed_text(factor * record->outcome.value, decimals, text);
  pc_text_add(out, text);
  if (!interval->has_interval)
    return;
  pc_fixed_text(factor * interval->low, decimals, text);
  pc_text_format(out, " (%s to ", text);
  pc_fixed_text(factor * interval->high, decimals, text);
  pc_text_format(out, "%s)", text);
}

/* Writes "46.0 %". */
static void clinical_percent(double share, pc_text *out) {
  char text[PC_NUMBER_TEXT_MAX];
  pc_fixed_text(100 * share, 1, text);
  pc_text_format(out, "%s %%", text);
}

void pc_clinical_level(double level, pc_text *out) {
  char text[PC_NUMBER_MAX];
  pc_number_format(floor(1e4 * level + 0.5) / 100, text);
  pc_text_format(out, "%s %%", text);
}

/* ---- patients and events ---- */

/* Importance weights have no number of events, only their share. */
static int clinical_counted(const pcal_results *results) {
  return !results->weighted || results->weights_are == PCAL_WEIGHTS_FREQUENCY;
}

static double clinical_patients(const pcal_results *results) {
  return results->weighted && clinical_counted(results) ? results->weight
                                                        : (double)results->rows;
}

/* The share of events; NaN if oe-ratio has no value. */
static double clinical_event_rate(const pcal_results *results, const char *part) {
  const pc_result_record *record = clinical_record(results, "oe-ratio");
  for (size_t p = 0; record != NULL && p < record->outcome.part_count; p++)
    if (strcmp(record->outcome.parts[p].name, part) == 0)
      return record->outcome.parts[p].value;
  return (double)NAN;
}

/* between: what stands between patients and events. */
static void clinical_counts(const pcal_results *results, const char *between, pc_text *out) {
  const double rate = clinical_event_rate(results, "observed");
  pc_write_count(clinical_patients(results), out);
  pc_text_add(out, clinical_patients(results) == 1 ? " patient" : " patients");
  if (isnan(rate))
    return;
  pc_text_add(out, between);
  if (clinical_counted(results)) {
    const double events = floor(rate * results->weight + 0.5);
    pc_write_count(events, out);
    pc_text_add(out, events == 1 ? " event (" : " events (");
    clinical_percent(rate, out);
    pc_text_add(out, ")");
  } else {
    pc_text_add(out, "weighted to ");
    clinical_percent(rate, out);
    pc_text_add(out, " with the event (effective sample size ");
    pc_write_count(floor(results->effective), out);
    pc_text_add(out, ")");
  }
}

void pc_clinical_counts(const pcal_results *results, pc_text *out) {
  clinical_counts(results, ", ", out);
}

/* ---- methods ---- */

/* How the interval of a record was computed; NULL if it has none. */
static const char *clinical_interval_words(const pc_result_record *record) {
  const pc_clinical_row *row = pc_clinical_row_of(record);
  if (record->outcome.undefined || !record->interval_result.has_interval)
    return NULL;
  switch (record->interval_result.method) {
  case PCAL_INTERVAL_NORMAL:
    return row == NULL ? "the normal distribution" : row->by_normal;
  case PCAL_INTERVAL_WILSON:
    return "Wilson's method";
  case PCAL_INTERVAL_POISSON:
    return "weighted Poisson counts";
  case PCAL_INTERVAL_JACKKNIFE:
    return "the jackknife";
  case PCAL_INTERVAL_BCA:
    return "the BCa bootstrap";
  case PCAL_INTERVAL_INVERSION:
    return "inversion of bootstrap tests";
  default:
    return "the bootstrap";
  }
}

static const char *clinical_name(const pc_result_record *record) {
  const pc_clinical_row *row = pc_clinical_row_of(record);
  return row == NULL ? record->label : row->name;
}

/* Writes "by Wald's method (calibration intercept, calibration slope)" unless an earlier record
 * has the same words; returns 1 if it did. */
static int clinical_interval_group(const pcal_results *results, size_t first, int separate,
                                   pc_text *out) {
  const char *words = clinical_interval_words(&results->records[first]);
  for (size_t m = 0; words != NULL && m < first; m++) {
    const char *earlier = clinical_interval_words(&results->records[m]);
    if (earlier != NULL && strcmp(earlier, words) == 0)
      words = NULL;
  }
  if (words == NULL)
    return 0;
  pc_text_format(out, "%s %s (", separate ? "," : " by", words);
  for (size_t m = first; m < results->metric_count; m++) {
    const char *other = clinical_interval_words(&results->records[m]);
    if (other != NULL && strcmp(other, words) == 0)
      pc_text_format(out, "%s%s", m == first ? "" : ", ", clinical_name(&results->records[m]));
  }
  pc_text_add(out, ")");
  return 1;
}

/* True if some metric has an interval. */
static int clinical_has_intervals(const pcal_results *results) {
  for (size_t m = 0; m < results->metric_count; m++)
    if (clinical_interval_words(&results->records[m]) != NULL)
      return 1;
  return 0;
}

static void clinical_intervals(const pcal_report *report, pc_text *out) {
  const pcal_results *results = report->side[PC_PAGE_BEFORE].key;
  int groups = 0;
  if (!(report->level > 0) || !clinical_has_intervals(results))
    return;
  pc_text_add(out, " Confidence intervals have the level ");
  pc_clinical_level(report->level, out);
  pc_text_add(out, " and were computed");
  for (size_t m = 0; m < results->metric_count; m++)
    groups += clinical_interval_group(results, m, groups > 0, out);
  pc_text_add(out, report->by_cluster ? "; patients of one cluster were kept together." : ".");
}

static void clinical_calibration(const pcal_results *results, pc_text *out) {
  const int ratio = clinical_record(results, "oe-ratio") != NULL,
            slope = clinical_record(results, "calibration-slope") != NULL,
            curve = clinical_record(results, "ici") != NULL;
  if (!ratio && !slope && !curve)
    return;
  pc_text_add(out, " Calibration was assessed by");
  if (ratio)
    pc_text_add(out, " the ratio of observed to expected events");
  if (slope)
    pc_text_format(out,
                   "%s the intercept of a logistic recalibration model with the logit of the "
                   "risk as offset, and its slope with the logit of the risk as covariate",
                   ratio ? "," : "");
  if (curve)
    pc_text_format(out,
                   "%s a smooth calibration curve, a logistic regression of the outcome on a "
                   "restricted cubic spline of the logit of the risk with 4 knots; ICI, E50, "
                   "E90 and Emax are the mean, median, 90 %% quantile and maximum of the "
                   "absolute differences between risks and curve",
                   ratio || slope ? ", and by" : "");
  pc_text_add(out, ".");
}

static int clinical_drawn(const pcal_report *report, const char *figure) {
  for (size_t i = 0; i < report->figure_count; i++)
    if (strcmp(report->figures[i].row->name, figure) == 0)
      return 1;
  return 0;
}

/* Rows that were left out or weighted, and the calibrator. */
static void clinical_handling(const pcal_report *report, pc_text *out) {
  const pcal_results *results = report->side[PC_PAGE_BEFORE].key;
  if (results->skipped > 0) {
    pc_text_add(out, " ");
    pc_write_count((double)results->skipped, out);
    pc_text_add(out, results->skipped == 1 ? " patient with a missing value was left out."
                                           : " patients with a missing value were left out.");
  }
  if (!clinical_counted(results))
    pc_text_add(out, " Patients were weighted by importance weights.");
  if (report->repaired) {
    pc_text_format(out, " Risks were recalibrated by the method %s; the calibrator was ",
                   report->method);
    pc_page_calibrator_origin(report, out);
    pc_text_add(out, ".");
  }
}

void pc_clinical_methods(const pcal_report *report, pc_text *out) {
  const pcal_results *results = report->side[PC_PAGE_BEFORE].key;
  pc_text_add(out, "Predicted risks were evaluated in ");
  clinical_counts(results, clinical_counted(results) ? " with " : ", ", out);
  pc_text_add(out, ".");
  clinical_handling(report, out);
  if (clinical_record(results, "auc") != NULL)
    pc_text_add(out, " Discrimination was assessed by the c-statistic.");
  clinical_calibration(results, out);
  if (clinical_record(results, "brier") != NULL)
    pc_text_add(out, " Overall performance was assessed by the Brier score");
  if (clinical_record(results, "brier") != NULL)
    pc_text_add(out, clinical_record(results, "scaled-brier") == NULL
                         ? "."
                         : " and the scaled Brier score (1 minus its ratio to the Brier score "
                           "of the event rate).");
  if (clinical_drawn(report, "decision-curve"))
    pc_text_add(out, " Clinical usefulness was assessed by decision curve analysis: the net "
                     "benefit of the model at thresholds from 1 % to 99 %, compared with "
                     "treating all patients and none.");
  clinical_intervals(report, out);
  pc_text_format(out, " The analysis used propercal %s (random seed %llu).", PCAL_VERSION,
                 (unsigned long long)report->env.seed);
}

/* ---- results ---- */

/* Which side of `ideal` the interval lies on: -1 below, 1 above, 0 neither. */
static int clinical_side(const pc_result_record *record, double ideal) {
  const pc_interval_result *interval = &record->interval_result;
  if (!interval->has_interval)
    return 0;
  return interval->high < ideal ? -1 : interval->low > ideal ? 1 : 0;
}

static void clinical_sentence(const pcal_results *results, const char *metric, double ideal,
                              const char *const words[3], pc_text *out) {
  const pc_result_record *record = clinical_record(results, metric);
  if (record == NULL)
    return;
  pc_text_format(out, " The %s was ", clinical_name(record));
  pc_clinical_value(record, out);
  if (record->interval_result.has_interval)
    pc_text_format(out, ": %s", words[1 + clinical_side(record, ideal)]);
  pc_text_add(out, ".");
}

static void clinical_results_of(const pcal_results *results, double level, pc_text *out) {
  static const char *const ratio[] = {
      "fewer events occurred than the risks predicted",
      "the number of events agrees with the risks, as far as these patients show",
      "more events occurred than the risks predicted"};
  static const char *const slope[] = {
      "risks are too extreme, high ones too high and low ones too low",
      "no sign that risks are too extreme or too timid, as far as these patients show",
      "risks are too timid, high ones too low and low ones too high"};
  const pc_result_record *auc = clinical_record(results, "auc");
  const double rate = clinical_event_rate(results, "expected");
  if (auc != NULL) {
    pc_text_add(out, "The c-statistic was ");
    pc_clinical_value(auc, out);
    if (auc->interval_result.has_interval) {
      pc_text_add(out, ", with its ");
      pc_clinical_level(level, out);
      pc_text_add(out, " confidence interval");
    }
    pc_text_add(out, ".");
  }
  if (!isnan(rate)) {
    pc_text_add(out, " The mean predicted risk was ");
    clinical_percent(rate, out);
    pc_text_add(out, ", and ");
    clinical_percent(clinical_event_rate(results, "observed"), out);
    pc_text_add(out, " had the event.");
  }
  clinical_sentence(results, "oe-ratio", 1, ratio, out);
  clinical_sentence(results, "calibration-slope", 1, slope, out);
}

void pc_clinical_results(const pcal_report *report, pc_text *out) {
  clinical_results_of(report->side[PC_PAGE_BEFORE].key, report->level, out);
  if (!report->repaired)
    return;
  pc_text_add(out, " After recalibration: ");
  clinical_results_of(report->side[PC_PAGE_AFTER].key, report->level, out);
}
