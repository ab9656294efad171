/* taxonomy: all calibration errors of a data set in the order of their inequalities.
 *
 * Design:  Theorem 3.1 orders the errors of a distribution,
 *     K^(1/p - 1/2) sqrt(BS) >= CE_p >= {CWCE_p; TCE_p >= TCE_1 >= {KS, ECE, MMCE}} >= 0.
 *   Each error is reported twice: as an estimate (bins, kernels) with an interval, and for the
 *   empirical distribution of the rows ("own"), where P(label | prediction) is the share of the
 *   label among rows with exactly that prediction.  For the empirical errors every inequality
 *   holds on any data.  Of the inequalities between estimates some always hold (Jensen's
 *   inequality in each bin); the others hold only for the population and may fail on a sample.
 *   All are checked.
 * Edge cases:
 *   (1) where all predictions differ, the rows' own canonical error is the root Brier score, and
 *       only estimates are informative;
 *   (2) CWCE_p and TCE_p are not ordered: either may be larger;
 *   (3) the estimates of CE_p and KCE take all pairs of rows: with canonical=auto they are left
 *       out above 1e9 pairs of probabilities;
 *   (4) p <= 2, which the first inequality and CE_p >= KCE require;
 *   (5) the kernel k of MMCE has k(s, s) = 1, so TCE_1 >= MMCE holds without a factor;
 *   (6) `measure` gives intervals for the population value with the same bins; such an interval
 *       can lie entirely below a biased estimate.  In the table it is widened to include the
 *       estimate;
 *   (7) KCE is the root of the error that the U-score of the exponential kernel induces
 *       (appendix F), and 0 exactly where CE_p is (Theorem 3.1).  CE_p >= KCE is not in the
 *       theorem: a kernel of at most 1 gives KCE <= E |f - P(Y|f)|_2, which is at most CE_p for
 *       1 <= p <= 2.  KCE of the rows' own distribution is the root of u-divergence, which is
 *       at least the estimate, since <r, r'> <= (|r|^2 + |r'|^2) / 2.
 * Source:  Gruber & Buettner, NeurIPS 2022, Theorem 3.1 and appendices D.2 and F.
 * Cost:    sorts of the rows for each class, and one measurement with replicas. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "base/executor.h"
#include "base/number.h"
#include "studies/distinct_predictions.h"
#include "studies/study_measure.h"
#include "studies/study_probs.h"

#define TAXONOMY_STUDY_LEVEL 0.95
#define TAXONOMY_STUDY_REPLICAS 400
#define TAXONOMY_STUDY_PAIRS 1.000001e9
#define TAXONOMY_STUDY_ROUNDING 1e-9
#define TAXONOMY_STUDY_SORT_COST 200.0 /* nanoseconds for a row and class, about */

enum { TAXONOMY_STUDY_P, TAXONOMY_STUDY_BINS, TAXONOMY_STUDY_CANONICAL };

typedef enum taxonomy_study_error {
  TAXONOMY_STUDY_RBS,
  TAXONOMY_STUDY_CE,
  TAXONOMY_STUDY_CWCE,
  TAXONOMY_STUDY_TCE,
  TAXONOMY_STUDY_TCE1,
  TAXONOMY_STUDY_ECE,
  TAXONOMY_STUDY_KS,
  TAXONOMY_STUDY_MMCE,
  TAXONOMY_STUDY_KCE,
  TAXONOMY_STUDY_ERRORS
} taxonomy_study_error;

#define TAXONOMY_STUDY_SPEC_MAX 64
#define TAXONOMY_STUDY_OWN_KCE "u-divergence" /* the square of the KCE of the rows */

typedef struct taxonomy_study_work {
  const pcal_env *env, *memory;
  pc_study_probs data;
  double p;
  char specs[TAXONOMY_STUDY_ERRORS][TAXONOMY_STUDY_SPEC_MAX]; /* "": not estimated */
  const pc_result_record *records[TAXONOMY_STUDY_ERRORS];
  double scale[TAXONOMY_STUDY_ERRORS]; /* from a metric's value to the error */
  double estimate[TAXONOMY_STUDY_ERRORS], own[TAXONOMY_STUDY_ERRORS]; /* NaN: none */
  double *classwise; /* sums of |f_k - rate|^p, class by class */
} taxonomy_study_work;

/* ---- The rows' own distribution ---- */

static pcal_status taxonomy_study_column(const taxonomy_study_work *work, const double *scores,
                                         const int32_t *came_true, double p, double *out,
                                         pcal_error *err) {
  const pc_row_outcomes outcomes = {.rows = work->data.rows, .width = 1, .labels = came_true};
  pc_distinct_predictions cells;
  const pcal_status status =
      pc_distinct_predictions_new(scores, 1, &outcomes, work->env, &cells, err);
  *out = status == PCAL_OK ? pc_distinct_predictions_error(&cells, scores, p) : 0.0;
  pc_distinct_predictions_free(&cells);
  return status;
}

/* One column of the data and its outcomes: class k, or the top class for k = K. */
static void taxonomy_study_take(const pc_study_probs *data, size_t k, double *scores,
                                int32_t *came_true) {
  for (size_t i = 0; i < data->rows; i++) {
    const double *probs = data->probs + i * data->classes;
    size_t c = k;
    if (k == data->classes) {
      c = 0;
      for (size_t j = 1; j < data->classes; j++)
        c = probs[j] > probs[c] ? j : c;
    }
    scores[i] = probs[c];
    came_true[i] = data->labels[i] == (int32_t)c;
  }
}

/* Error of column k of order p and, unless of_one is NULL, of order 1. */
static pcal_status taxonomy_study_orders(const taxonomy_study_work *work, size_t k, double p,
                                         double *error, double *of_one, pcal_error *err) {
  const pc_study_probs *data = &work->data;
  double *scores = pc_alloc_raw(work->env, data->rows, sizeof *scores);
  int32_t *came_true = pc_alloc_raw(work->env, data->rows, sizeof *came_true);
  pcal_status status = PCAL_OK;
  if (scores == NULL || came_true == NULL)
    status = pc_fail_memory(err, "looking at equal scores");
  else
    taxonomy_study_take(data, k, scores, came_true);
  if (status == PCAL_OK)
    status = taxonomy_study_column(work, scores, came_true, p, error, err);
  if (status == PCAL_OK && of_one != NULL)
    status = taxonomy_study_column(work, scores, came_true, 1.0, of_one, err);
  pc_free(work->env, scores);
  pc_free(work->env, came_true);
  return status;
}

static pcal_status taxonomy_study_class(void *user, size_t k, size_t worker, pcal_error *err) {
  const taxonomy_study_work *work = user;
  double error = 0;
  (void)worker;
  PC_TRY(taxonomy_study_orders(work, k, work->p, &error, NULL, err));
  work->classwise[k] = pc_pow(error, work->p);
  return PCAL_OK;
}

static pcal_status taxonomy_study_own(taxonomy_study_work *work, pcal_error *err) {
  const pc_study_probs *data = &work->data;
  const pc_row_outcomes outcomes = {
      .rows = data->rows, .width = data->classes, .labels = data->labels};
  const double cost = TAXONOMY_STUDY_SORT_COST * (double)data->rows * (double)data->classes;
  double sum = 0;
  pc_distinct_predictions cells;
  work->classwise = pc_alloc(work->memory, data->classes, sizeof *work->classwise);
  if (work->classwise == NULL)
    return pc_fail_memory(err, "looking at equal scores");
  PC_TRY(pc_run_with_progress(work->env, "looking at classes", data->classes, cost,
                              taxonomy_study_class, work, err));
  for (size_t k = 0; k < data->classes; k++)
    sum += work->classwise[k];
  work->own[TAXONOMY_STUDY_CWCE] = pc_pow(sum, 1 / work->p);
  PC_TRY(taxonomy_study_orders(work, data->classes, work->p, &work->own[TAXONOMY_STUDY_TCE],
                               &work->own[TAXONOMY_STUDY_TCE1], err));
  const pcal_status status = pc_distinct_predictions_new(data->probs, data->classes, &outcomes,
                                                         work->env, &cells, err);
  if (status == PCAL_OK)
    work->own[TAXONOMY_STUDY_CE] = pc_distinct_predictions_error(&cells, data->probs, work->p);
  pc_distinct_predictions_free(&cells);
  return status;
}

/* ---- Estimates ---- */

static void taxonomy_study_specs(taxonomy_study_work *work, const pc_options *options) {
  const int bins = (int)options->value[TAXONOMY_STUDY_BINS].number;
  const int canonical = options->value[TAXONOMY_STUDY_CANONICAL].choice;
  const double rows = (double)work->data.rows, classes = (double)work->data.classes;
  char p[PC_NUMBER_MAX];
  pc_show(work->p, p);
  snprintf(work->specs[TAXONOMY_STUDY_RBS], TAXONOMY_STUDY_SPEC_MAX, "rbs");
  if (canonical == 1 || (canonical == 0 && rows * rows * classes <= TAXONOMY_STUDY_PAIRS)) {
    snprintf(work->specs[TAXONOMY_STUDY_CE], TAXONOMY_STUDY_SPEC_MAX, "ce-kde:p=%s", p);
    snprintf(work->specs[TAXONOMY_STUDY_KCE], TAXONOMY_STUDY_SPEC_MAX, "u-ce:root=yes");
  }
  snprintf(work->specs[TAXONOMY_STUDY_CWCE], TAXONOMY_STUDY_SPEC_MAX, "cwce:p=%s,bins=%d", p,
           bins);
  snprintf(work->specs[TAXONOMY_STUDY_TCE], TAXONOMY_STUDY_SPEC_MAX, "tce:p=%s,bins=%d", p,
           bins);
  snprintf(work->specs[TAXONOMY_STUDY_TCE1], TAXONOMY_STUDY_SPEC_MAX, "tce:p=1,bins=%d", bins);
  snprintf(work->specs[TAXONOMY_STUDY_ECE], TAXONOMY_STUDY_SPEC_MAX, "ece:bins=%d", bins);
  snprintf(work->specs[TAXONOMY_STUDY_KS], TAXONOMY_STUDY_SPEC_MAX, "ks");
  snprintf(work->specs[TAXONOMY_STUDY_MMCE], TAXONOMY_STUDY_SPEC_MAX, "mmce");
}

static size_t taxonomy_study_ask(const taxonomy_study_work *work,
                                 const char *asked[TAXONOMY_STUDY_ERRORS + 1]) {
  size_t count = 0;
  for (size_t e = 0; e < TAXONOMY_STUDY_ERRORS; e++) {
    int there = work->specs[e][0] == '\0';
    for (size_t i = 0; i < count && !there; i++)
      there = strcmp(asked[i], work->specs[e]) == 0;
    if (!there)
      asked[count++] = work->specs[e];
  }
  if (work->specs[TAXONOMY_STUDY_KCE][0] != '\0')
    asked[count++] = TAXONOMY_STUDY_OWN_KCE;
  return count;
}

static void taxonomy_study_read(taxonomy_study_work *work, const pcal_results *results) {
  for (size_t e = 0; e < TAXONOMY_STUDY_ERRORS; e++) {
    work->scale[e] = 1;
    work->estimate[e] = (double)NAN;
    if (work->specs[e][0] == '\0')
      continue;
    work->records[e] = pc_results_record(results, work->specs[e]);
    work->estimate[e] = pc_study_value(results, work->specs[e]);
  }
  work->scale[TAXONOMY_STUDY_RBS] = pc_pow((double)work->data.classes, 1 / work->p - 0.5);
  work->estimate[TAXONOMY_STUDY_RBS] *= work->scale[TAXONOMY_STUDY_RBS];
  work->own[TAXONOMY_STUDY_RBS] = work->estimate[TAXONOMY_STUDY_RBS];
  work->own[TAXONOMY_STUDY_ECE] = work->estimate[TAXONOMY_STUDY_ECE];
  work->own[TAXONOMY_STUDY_KS] = work->estimate[TAXONOMY_STUDY_KS];
  work->own[TAXONOMY_STUDY_MMCE] = work->estimate[TAXONOMY_STUDY_MMCE];
  work->own[TAXONOMY_STUDY_KCE] = sqrt(pc_study_value(results, TAXONOMY_STUDY_OWN_KCE));
}

/* ---- Tables ---- */

/* The error's name in the theorem. */
static void taxonomy_study_name(const taxonomy_study_work *work, size_t error, char *out,
                                size_t size) {
  static const char *const names[] = {"sqrt(BS)", "CE", "CWCE", "TCE", "TCE_1",
                                      "ECE",      "KS", "MMCE", "KCE"};
  char p[PC_NUMBER_MAX];
  const int ordered = error >= TAXONOMY_STUDY_CE && error <= TAXONOMY_STUDY_TCE;
  if (error == TAXONOMY_STUDY_RBS && work->p < 2)
    snprintf(out, size, "K^(1/%s-1/2) sqrt(BS)", pc_show(work->p, p));
  else
    snprintf(out, size, "%s%s%s", names[error], ordered ? "_" : "",
             ordered ? pc_show(work->p, p) : "");
}

static int taxonomy_study_above(size_t upper, size_t lower) {
  if (upper == TAXONOMY_STUDY_CWCE || upper >= TAXONOMY_STUDY_ECE)
    return 0;
  if (lower == TAXONOMY_STUDY_KCE)
    return upper <= TAXONOMY_STUDY_CE;
  return upper < lower;
}

/* The nearest estimates above an error and below it. */
static void taxonomy_study_bounds(const taxonomy_study_work *work, size_t error, double *below,
                                  double *above) {
  *below = 0;
  *above = (double)NAN;
  for (size_t e = 0; e < TAXONOMY_STUDY_ERRORS; e++) {
    if (taxonomy_study_above(error, e))
      *below = fmax(*below, work->estimate[e]);
    if (taxonomy_study_above(e, error))
      *above = fmin(*above, work->estimate[e]);
  }
}

static pcal_status taxonomy_study_errors(const taxonomy_study_work *work, pc_findings *findings,
                                         pcal_error *err) {
  static const char *const columns[] = {"error", "notion", "spec",  "estimate", "low",
                                        "high",  "below",  "above", "rows_own"};
  static const char *const notions[] = {"proper",    "canonical", "class-wise",
                                        "top-label", "top-label", "top-label",
                                        "top-label", "top-label", "canonical"};
  pc_table *table = pc_findings_add_table(findings, "Errors in the order of Theorem 3.1");
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  for (size_t e = 0; e < TAXONOMY_STUDY_ERRORS; e++) {
    const pc_result_record *record = work->records[e];
    char name[PC_TABLE_WORD_MAX];
    double below, above;
    PC_TRY(pc_table_add_row(table, err));
    taxonomy_study_name(work, e, name, sizeof name);
    taxonomy_study_bounds(work, e, &below, &above);
    pc_table_set_word(table, 0, name);
    pc_table_set_word(table, 1, notions[e]);
    pc_table_set_word(table, 2, record == NULL ? "-" : record->label);
    pc_table_set_number(table, 3, work->estimate[e]);
    if (record != NULL && record->interval_result.has_interval) {
      const double low = work->scale[e] * record->interval_result.low;
      const double high = work->scale[e] * record->interval_result.high;
      pc_table_set_number(table, 4, fmin(low, work->estimate[e]));
      pc_table_set_number(table, 5, fmax(high, work->estimate[e]));
    }
    pc_table_set_number(table, 6, below);
    pc_table_set_number(table, 7, above);
    pc_table_set_number(table, 8, work->own[e]);
  }
  return PCAL_OK;
}

/* upper >= lower, of estimates or of the rows' own distribution. */
typedef struct taxonomy_study_pair {
  taxonomy_study_error upper, lower;
  int upper_own, lower_own;
  int always; /* holds on any rows, else only for the population */
} taxonomy_study_pair;

static const taxonomy_study_pair taxonomy_study_pairs[] = {
    {TAXONOMY_STUDY_RBS, TAXONOMY_STUDY_CE, 1, 1, 1},
    {TAXONOMY_STUDY_CE, TAXONOMY_STUDY_CWCE, 1, 1, 1},
    {TAXONOMY_STUDY_CE, TAXONOMY_STUDY_TCE, 1, 1, 1},
    {TAXONOMY_STUDY_TCE, TAXONOMY_STUDY_TCE1, 1, 1, 1},
    {TAXONOMY_STUDY_TCE1, TAXONOMY_STUDY_ECE, 1, 0, 1},
    {TAXONOMY_STUDY_TCE1, TAXONOMY_STUDY_KS, 1, 0, 1},
    {TAXONOMY_STUDY_TCE1, TAXONOMY_STUDY_MMCE, 1, 0, 1},
    {TAXONOMY_STUDY_CWCE, TAXONOMY_STUDY_CWCE, 1, 0, 1},
    {TAXONOMY_STUDY_TCE, TAXONOMY_STUDY_TCE, 1, 0, 1},
    {TAXONOMY_STUDY_CE, TAXONOMY_STUDY_KCE, 1, 1, 1},
    {TAXONOMY_STUDY_KCE, TAXONOMY_STUDY_KCE, 1, 0, 1},
    {TAXONOMY_STUDY_RBS, TAXONOMY_STUDY_CWCE, 0, 0, 1},
    {TAXONOMY_STUDY_RBS, TAXONOMY_STUDY_TCE, 0, 0, 1},
    {TAXONOMY_STUDY_TCE, TAXONOMY_STUDY_TCE1, 0, 0, 1},
    {TAXONOMY_STUDY_RBS, TAXONOMY_STUDY_CE, 0, 0, 0},
    {TAXONOMY_STUDY_CE, TAXONOMY_STUDY_CWCE, 0, 0, 0},
    {TAXONOMY_STUDY_CE, TAXONOMY_STUDY_TCE, 0, 0, 0},
    {TAXONOMY_STUDY_TCE1, TAXONOMY_STUDY_KS, 0, 0, 0},
    {TAXONOMY_STUDY_TCE1, TAXONOMY_STUDY_MMCE, 0, 0, 0},
    {TAXONOMY_STUDY_CE, TAXONOMY_STUDY_KCE, 0, 0, 0},
};

/* Inequalities checked, and those that hold. */
typedef struct taxonomy_study_counts {
  size_t seen[2], held[2]; /* 0: for the population; 1: on any rows */
} taxonomy_study_counts;

static void taxonomy_study_side(const taxonomy_study_work *work, size_t error, int own,
                                size_t column, pc_table *table) {
  char name[PC_TABLE_WORD_MAX - 16], shown[PC_TABLE_WORD_MAX];
  taxonomy_study_name(work, error, name, sizeof name);
  const int marked = own && (error == TAXONOMY_STUDY_KCE ||
                             (error >= TAXONOMY_STUDY_CE && error <= TAXONOMY_STUDY_TCE1));
  snprintf(shown, sizeof shown, "%s%s", name, marked ? " of the rows" : "");
  pc_table_set_word(table, column, shown);
  pc_table_set_number(table, column + 2, own ? work->own[error] : work->estimate[error]);
}

static pcal_status taxonomy_study_check(const taxonomy_study_work *work, pc_findings *findings,
                                        taxonomy_study_counts *counts, pcal_error *err) {
  static const char *const columns[] = {"upper",       "lower", "upper_value",
                                        "lower_value", "holds", "must_hold"};
  pc_table *table = pc_findings_add_table(findings, "Inequalities");
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  for (size_t i = 0; i < sizeof taxonomy_study_pairs / sizeof *taxonomy_study_pairs; i++) {
    const taxonomy_study_pair *pair = &taxonomy_study_pairs[i];
    const double upper = pair->upper_own ? work->own[pair->upper] : work->estimate[pair->upper];
    const double lower = pair->lower_own ? work->own[pair->lower] : work->estimate[pair->lower];
    const int holds = upper >= lower - TAXONOMY_STUDY_ROUNDING;
    if (isnan(upper) || isnan(lower))
      continue;
    PC_TRY(pc_table_add_row(table, err));
    taxonomy_study_side(work, pair->upper, pair->upper_own, 0, table);
    taxonomy_study_side(work, pair->lower, pair->lower_own, 1, table);
    pc_table_set_word(table, 4, holds ? "yes" : "no");
    pc_table_set_word(table, 5, pair->always ? "on any rows" : "in the population");
    counts->seen[pair->always]++;
    counts->held[pair->always] += (size_t)holds;
  }
  return PCAL_OK;
}

static void taxonomy_study_summarise(const taxonomy_study_work *work,
                                     const taxonomy_study_counts *counts,
                                     pc_findings *findings) {
  char low[PC_NUMBER_MAX], high[PC_NUMBER_MAX];
  double below, above;
  taxonomy_study_bounds(work, TAXONOMY_STUDY_CE, &below, &above);
  pc_number_round(below, 3, low);
  pc_number_round(above, 3, high);
  pc_findings_add_sentence(
      findings,
      "%zu rows, %zu classes. %zu of %zu inequalities that hold on any rows hold; "
      "of the %zu that hold in the population, %zu hold for the estimates.",
      work->data.rows, work->data.classes, counts->held[1], counts->seen[1], counts->seen[0],
      counts->held[0]);
  pc_findings_add_sentence(
      findings,
      "By the estimates around it the canonical error lies between %s and %s; the "
      "errors that are usually reported are at the lower end.",
      low, high);
}

static pcal_status taxonomy_study_measure(taxonomy_study_work *work, const pc_study_job *job,
                                          pc_findings *findings, pcal_error *err) {
  const pcal_study_config *config = job->config;
  const char *asked[TAXONOMY_STUDY_ERRORS + 1];
  const size_t count = taxonomy_study_ask(work, asked);
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  taxonomy_study_counts counts = {{0, 0}, {0, 0}};
  PC_TRY(pc_study_probs_source(&work->data, &source, err));
  pcal_status status = pc_study_measure(
      source, asked, count, config->interval > 0 ? config->interval : TAXONOMY_STUDY_LEVEL,
      config->replicas == 0 ? TAXONOMY_STUDY_REPLICAS : config->replicas, work->env, &results,
      err);
  if (status == PCAL_OK) {
    taxonomy_study_read(work, results);
    status = taxonomy_study_errors(work, findings, err);
  }
  if (status == PCAL_OK)
    status = taxonomy_study_check(work, findings, &counts, err);
  if (status == PCAL_OK)
    taxonomy_study_summarise(work, &counts, findings);
  pc_results_free(results);
  pc_source_free(source);
  return status;
}

static pcal_status taxonomy_study_run(const pc_study_job *job, pc_findings *findings,
                                      pcal_error *err) {
  taxonomy_study_work work = {.env = job->env, .memory = job->memory};
  const pcal_model *model = NULL;
  work.p = job->options->value[TAXONOMY_STUDY_P].number;
  PC_TRY(pc_study_single_model(job, &model, err));
  pcal_status status = pc_study_probs_read(job, model->source, &work.data, err);
  if (status == PCAL_OK && work.data.classes < 2)
    status = pc_fail(err, PCAL_USAGE,
                     "study taxonomy needs the probabilities of all classes; confidences alone "
                     "have only top-label errors");
  if (status == PCAL_OK) {
    pc_study_probs_widen(&work.data);
    status = taxonomy_study_own(&work, err);
  }
  if (status == PCAL_OK) {
    taxonomy_study_specs(&work, job->options);
    status = taxonomy_study_measure(&work, job, findings, err);
  }
  return status;
}

static const pcal_option taxonomy_study_options[] = {
    {"p", PCAL_OPTION_REAL, "2", 1, 2, NULL, "order of the errors"},
    {"bins", PCAL_OPTION_INT, "15", 1, 1000, NULL, "number of bins of the binned errors"},
    {"canonical", PCAL_OPTION_CHOICE, "auto", 0, 0, "auto|yes|no",
     "estimate the canonical error, from all pairs of rows; auto: up to 1e9 numbers"},
};

const pc_study pc_study_taxonomy = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "taxonomy",
            .title = "which error bounds which, and does that hold on these rows?",
            .formula = "K^(1/p-1/2) sqrt(BS) >= CE_p >= {CWCE_p; TCE_p >= TCE_1 >= {KS, ECE, "
                       "MMCE}; KCE} >= 0",
            .about =
                "Measures every calibration error of a data set in the order of Theorem 3.1 "
                "and checks each inequality: those that hold on any rows, and those that hold "
                "only in the population, where a violation shows the bias of an estimate. "
                "rows_own is the error of the rows' own distribution, in which rows with equal "
                "predictions are one prediction: the theorem holds for it exactly. KCE is the "
                "root of the error that the U-score of a kernel induces (u-ce); that it is at "
                "most CE_p is no part of the theorem, but holds for kernels of at most 1. "
                "Takes the probabilities or logits of one model.",
            .citation = "Gruber & Buettner, NeurIPS 2022, Theorem 3.1",
            .options = taxonomy_study_options,
            .option_count = sizeof taxonomy_study_options / sizeof *taxonomy_study_options,
        },
    .run = taxonomy_study_run,
};
