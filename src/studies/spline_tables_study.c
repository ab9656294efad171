/* spline-tables: Tables 1, 2, 4, 5 and 6 of the spline paper, for any sets.
 *
 * Design:  every method is fitted to the second set of a case and judged on the first.  The
 *          tables, in percent: KS error of the top class (1), of the second class (2) and within
 *          the first two (4), accuracy (5), ECE with 25 bins (6).  Splines are fitted for the
 *          event judged, with the paper's knots: 6, 6, 14, 6 and 13.  The score judged is that of
 *          the class that had the rank before (1, 2, 6), of the event (4), and the largest of all
 *          ranks' splines (5).
 * Edge cases:
 *   (1) two splines: ours, and one with the published code's float scores and interpolation
 *       (convention=gupta), judged before its scores are limited to [0, 1], as the paper's Table 2
 *       requires; variants=yes adds both other run-outs and the constrained fit;
 *   (2) MS-ODIR and Dir-ODIR average the models of five folds, as published;
 *   (3) a method that does not suit a case, or would take hours, is left out of all tables, with a
 *       sentence; methods of the user (--method) replace those of the paper;
 *   (4) one column of scores has no ranks and is refused.
 * Source:  Gupta et al., Calibration of neural networks using splines, ICLR 2021, Tables 1, 2 and
 *          4 to 6; Kull et al., NeurIPS 2019 (ODIR).
 * Cost:    that of the fits, spread over threads. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/executor.h"
#include "base/number.h"
#include "calibrators/apply.h"
#include "calibrators/fit.h"
#include "calibrators/spline/spline.h"
#include "studies/method_grid.h"
#include "studies/study_measure.h"
#include "studies/study_probs.h"
#include "studies/unclipped_scores.h"

#define SPLINE_TABLES_BINS 25      /* of Table 6 */
#define SPLINE_TABLES_ROW_COST 2e3 /* nanoseconds for a row and a spline, about */

enum { SPLINE_TABLES_VARIANTS };

typedef struct spline_tables_table {
  int number; /* in the paper */
  const char *title;
  const char *metric; /* that judges all methods but splines */
  const char *spline; /* spec of the spline fitted for it */
  const char *event;  /* metric that judges the spline */
  size_t rank;        /* judged: the class of this rank; 0: whole rows */
  int within;         /* judged: whether the label is among the first `rank` classes */
  int higher_is_better;
} spline_tables_table;

static const spline_tables_table spline_tables_all[] = {
    {1, "Table 1: KS, top class, %", "ks", "spline:knots=6", "ks", 1, 0, 0},
    {2, "Table 2: KS, second class, %", "ks:rank=2", "spline:knots=6,rank=2", "ks", 2, 0, 0},
    {4, "Table 4: KS, first two classes, %", "ks:within=2",
     "spline:knots=14,target=within,rank=2", "ks", 2, 1, 0},
    {5, "Table 5: accuracy, %", "accuracy", "spline:knots=6,target=all", "accuracy", 0, 0, 1},
    {6, "Table 6: ECE, 25 bins, %", "ece:bins=25", "spline:knots=13", "ece:bins=25", 1, 0, 0},
};
#define SPLINE_TABLES_COUNT (sizeof spline_tables_all / sizeof *spline_tables_all)

static const char *const spline_tables_methods[] = {
    "temperature", "vector", "matrix-odir:ensemble=folds", "dirichlet-odir:ensemble=folds"};
/* Their names in figures. */
static const char *const spline_tables_labels[] = {"temperature", "vector", "matrix-odir",
                                                   "dirichlet-odir"};

#define SPLINE_TABLES_METHODS (sizeof spline_tables_methods / sizeof *spline_tables_methods)

/* Kinds of splines: options added to their specs, and names of their columns. */
static const char *const spline_tables_kinds[] = {"", ",convention=gupta", ",runout=quadratic",
                                                  ",runout=cubic", ",constrained=yes"};
static const char *const spline_tables_names[] = {
    "spline", "spline:convention=gupta", "spline:runout=quadratic", "spline:runout=cubic",
    "spline:constrained=yes"};
#define SPLINE_TABLES_GUPTA 1 /* index of convention=gupta */
#define SPLINE_TABLES_USUAL 2
#define SPLINE_TABLES_KINDS (sizeof spline_tables_kinds / sizeof *spline_tables_kinds)

typedef struct spline_tables_work {
  const pc_study_job *job;
  size_t cases, kinds;
  pc_study_probs *judged, *fitted; /* one for each case */
  double *values;                  /* of splines: case by case, table by table, kind by kind */
  pc_method_grid grid;             /* of all other methods; the last one is identity */
} spline_tables_work;

/* ---- Splines ---- */

/* The class of a rank, from 1; ties go to the lower class. */
static size_t spline_tables_class(const double *probs, size_t classes, size_t rank) {
  for (size_t c = 0; c < classes; c++) {
    size_t above = 0;
    for (size_t j = 0; j < classes; j++)
      above += probs[j] > probs[c] || (probs[j] == probs[c] && j < c);
    if (above + 1 == rank)
      return c;
  }
  return 0;
}

/* The judged event of each row: its mapped score, written to the front of `mapped`, and whether it
 * came true. */
static void spline_tables_events(const pc_study_probs *data, const spline_tables_table *table,
                                 double *mapped, int32_t *came_true) {
  const size_t classes = data->classes;
  for (size_t i = 0; i < data->rows; i++) {
    const double *probs = data->probs + i * classes;
    const size_t label = (size_t)data->labels[i];
    came_true[i] = 0;
    for (size_t rank = table->within ? 1 : table->rank; rank <= table->rank; rank++) {
      const size_t class = spline_tables_class(probs, classes, rank);
      came_true[i] |= class == label;
      if (!table->within)
        mapped[i] = mapped[i * classes + class];
    }
  }
}

static pcal_status spline_tables_judge(const pc_study_probs *data,
                                       const spline_tables_table *table, double *mapped,
                                       int32_t *came_true, const pcal_env *env, double *out,
                                       pcal_error *err) {
  pcal_batch batch;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  pc_study_probs_batch(data, &batch);
  batch.scores = mapped;
  if (table->rank > 0) {
    spline_tables_events(data, table, mapped, came_true);
    batch.kind = PCAL_CONFIDENCE;
    batch.columns = 1;
    batch.row_stride = (ptrdiff_t)sizeof(double);
    batch.labels = came_true;
  }
  PC_TRY(pc_source_borrow(&batch, NULL, env, &source, err));
  const pcal_status status =
      pc_study_measure(source, &table->event, 1, 0, 0, env, &results, err);
  if (status == PCAL_OK)
    *out = pc_study_value(results, table->event);
  pc_results_free(results);
  pc_source_free(source);
  return status;
}

static pcal_status spline_tables_fit(const spline_tables_work *work, const pc_study_probs *data,
                                     const char *spec, const pcal_env *env,
                                     pcal_calibrator **out, pcal_error *err) {
  const pcal_fit_config config = {
      .size = sizeof config, .method = spec, .normalize = work->job->config->normalize};
  pcal_batch batch;
  pcal_source *source = NULL;
  pc_study_probs_batch(data, &batch);
  PC_TRY(pc_source_borrow(&batch, NULL, env, &source, err));
  const pcal_status status = pc_fit_run(source, &config, env, out, err);
  pc_source_free(source);
  return status;
}

/* Rows whose label is the class of the largest value; ties go to the lower class. */
static double spline_tables_accuracy(const pc_study_probs *data, const double *mapped) {
  size_t right = 0;
  for (size_t i = 0; i < data->rows; i++)
    right += spline_tables_class(mapped + i * data->classes, data->classes, 1) ==
             (size_t)data->labels[i];
  return (double)right / (double)data->rows;
}

/* Judges values outside [0, 1] as they are, like the tables of the paper. */
static pcal_status spline_tables_judge_raw(const pc_study_probs *data,
                                           const spline_tables_table *table,
                                           const pcal_calibrator *calibrator, double *mapped,
                                           int32_t *came_true, const pcal_env *env, double *out,
                                           pcal_error *err) {
  const size_t classes = data->classes;
  const pc_unclipped_scores raw = {mapped, came_true, data->rows};
  pc_spline_apply_unclipped(calibrator, data->probs, data->rows, mapped);
  for (size_t i = 0; table->within && i < data->rows; i++)
    mapped[i] = mapped[i * classes + classes - 1];
  if (table->rank == 0) {
    *out = spline_tables_accuracy(data, mapped);
    return PCAL_OK;
  }
  spline_tables_events(data, table, mapped, came_true);
  if (strcmp(table->event, "ks") == 0)
    return pc_unclipped_ks(&raw, env, out, err);
  *out = pc_unclipped_ece(&raw, SPLINE_TABLES_BINS);
  return PCAL_OK;
}

static pcal_status spline_tables_one(const spline_tables_work *work, size_t index,
                                     const pcal_env *env, pcal_error *err) {
  const size_t kind = index % work->kinds, place = index / work->kinds;
  const spline_tables_table *table = &spline_tables_all[place % SPLINE_TABLES_COUNT];
  const size_t at = place / SPLINE_TABLES_COUNT;
  const pc_study_probs *data = &work->judged[at];
  double *mapped = pc_alloc_raw(env, (data->rows + 1) * data->classes, sizeof *mapped);
  int32_t *came_true = pc_alloc_raw(env, data->rows, sizeof *came_true);
  pcal_calibrator *calibrator = NULL;
  pcal_batch batch;
  char spec[PC_SPEC_MAX];
  snprintf(spec, sizeof spec, "%s%s", table->spline, spline_tables_kinds[kind]);
  pcal_status status =
      mapped == NULL || came_true == NULL
          ? pc_fail_memory(err, "fitting splines")
          : spline_tables_fit(work, &work->fitted[at], spec, env, &calibrator, err);
  pc_study_probs_batch(data, &batch);
  if (status == PCAL_OK && kind == SPLINE_TABLES_GUPTA)
    status = spline_tables_judge_raw(data, table, calibrator, mapped, came_true, env,
                                     &work->values[index], err);
  else if (status == PCAL_OK)
    status = pc_calibrator_apply(calibrator, &batch, env, mapped, err);
  if (status == PCAL_OK && kind != SPLINE_TABLES_GUPTA)
    status =
        spline_tables_judge(data, table, mapped, came_true, env, &work->values[index], err);
  pc_calibrator_free(calibrator);
  pc_free(env, mapped);
  pc_free(env, came_true);
  return status;
}

static pcal_status spline_tables_task(void *user, size_t index, size_t worker,
                                      pcal_error *err) {
  const spline_tables_work *work = user;
  const pcal_env env = pc_study_task_env(work->job->env);
  (void)worker;
  return spline_tables_one(work, index, &env, err);
}

/* ---- Tables ---- */

static const char *spline_tables_case(const spline_tables_work *work, size_t at) {
  const char *name = work->job->config->models[at].name;
  return name == NULL ? "these rows" : name;
}

/* The value of a column: 0 is the uncalibrated model, then methods, then splines. */
static double spline_tables_value(const spline_tables_work *work, size_t at, size_t table,
                                  size_t column) {
  const size_t methods = work->grid.method_count;
  if (column == 0)
    return pc_method_grid_value(&work->grid, at, methods - 1, table);
  if (column < methods)
    return pc_method_grid_value(&work->grid, at, column - 1, table);
  return work->values[(at * SPLINE_TABLES_COUNT + table) * work->kinds + column - methods];
}

static const char *spline_tables_name(const spline_tables_work *work, size_t column) {
  const size_t methods = work->grid.method_count;
  return column == 0        ? "uncalibrated"
         : column < methods ? work->grid.methods[column - 1]
                            : spline_tables_names[column - methods];
}

/* The name in figures of a method that the paper uses, else NULL. */
static const char *spline_tables_label(const char *column) {
  for (size_t m = 0; m < SPLINE_TABLES_METHODS; m++)
    if (strcmp(spline_tables_methods[m], column) == 0)
      return spline_tables_labels[m];
  return NULL;
}

/* Adds a sentence: the best column over all cases, and its mean. */
static void spline_tables_summarise(const spline_tables_work *work, size_t table,
                                    size_t columns, pc_findings *findings) {
  const spline_tables_table *about = &spline_tables_all[table];
  size_t best = 0;
  double best_mean = (double)NAN;
  char shown[PC_NUMBER_MAX];
  for (size_t c = 0; c < columns; c++) {
    double sum = 0;
    for (size_t at = 0; at < work->cases; at++)
      sum += spline_tables_value(work, at, table, c);
    const double mean = sum / (double)work->cases;
    if (isnan(best_mean) || (about->higher_is_better ? mean > best_mean : mean < best_mean)) {
      best = c;
      best_mean = mean;
    }
  }
  pc_number_fixed(100 * best_mean, 3, shown);
  pc_findings_add_sentence(findings, "Table %d: best is %s with %s %%.", about->number,
                           spline_tables_name(work, best), shown);
}

static pcal_status spline_tables_fill(const spline_tables_work *work, pc_findings *findings,
                                      pcal_error *err) {
  const size_t columns = work->grid.method_count + work->kinds;
  for (size_t t = 0; t < SPLINE_TABLES_COUNT; t++) {
    pc_table *table = pc_findings_add_table(findings, spline_tables_all[t].title);
    pc_table_add_column(table, "case");
    table->row_better =
        spline_tables_all[t].higher_is_better ? PCAL_BETTER_HIGHER : PCAL_BETTER_LOWER;
    for (size_t c = 0; c < columns; c++) {
      pc_table_add_column(table, spline_tables_name(work, c));
      pc_table_set_label(table, 1 + c, spline_tables_label(spline_tables_name(work, c)));
    }
    for (size_t at = 0; at < work->cases; at++) {
      PC_TRY(pc_table_add_row(table, err));
      pc_table_set_word(table, 0, spline_tables_case(work, at));
      for (size_t c = 0; c < columns; c++)
        pc_table_set_number(table, 1 + c, 100 * spline_tables_value(work, at, t, c));
    }
    spline_tables_summarise(work, t, columns, findings);
  }
  return PCAL_OK;
}

/* ---- The whole ---- */

static pcal_status spline_tables_read(const spline_tables_work *work, double *rows,
                                      pcal_error *err) {
  const pcal_study_config *config = work->job->config;
  for (size_t at = 0; at < work->cases; at++) {
    const pcal_model *model = &config->models[at];
    if (model->val == NULL)
      return pc_fail(err, PCAL_USAGE,
                     "study spline-tables fits to a second set; give it with {val} or as "
                     "{cases}");
    PC_TRY(pc_study_probs_read(work->job, model->source, &work->judged[at], err));
    PC_TRY(pc_study_probs_read(work->job, model->val, &work->fitted[at], err));
    if (work->judged[at].layout.columns < 2 || work->fitted[at].layout.columns < 2)
      return pc_fail(
          err, PCAL_USAGE,
          "study spline-tables ranks classes; give a column of scores for each class");
    if (work->judged[at].classes != work->fitted[at].classes)
      return pc_fail(
          err, PCAL_DATA,
          "the set to fit on has %zu classes and the other one %zu; give sets of the "
          "same classes",
          work->fitted[at].classes, work->judged[at].classes);
    *rows += (double)(work->judged[at].rows + work->fitted[at].rows);
  }
  return PCAL_OK;
}

/* Chooses the paper's methods except those that would take hours; returns how many. */
static size_t spline_tables_choose(const spline_tables_work *work, pc_findings *findings,
                                   const char *out[SPLINE_TABLES_METHODS]) {
  size_t count = 0;
  for (size_t m = 0; m < SPLINE_TABLES_METHODS; m++) {
    pcal_error why;
    pcal_status status = PCAL_OK;
    for (size_t at = 0; at < work->cases && status == PCAL_OK; at++)
      status = pc_fit_check_cost(spline_tables_methods[m], work->fitted[at].rows,
                                 work->fitted[at].classes, &why);
    if (status == PCAL_OK)
      out[count++] = spline_tables_methods[m];
    else if (work->job->config->method_count == 0) {
      char shown[PC_ERROR_TEXT];
      pcal_error_text(&why, work->job->env->caller, shown, sizeof shown);
      pc_findings_add_sentence(findings, "Without %s.", shown);
    }
  }
  return count;
}

static pcal_status spline_tables_work_on(spline_tables_work *work, pc_findings *findings,
                                         pcal_error *err) {
  const char *specs[SPLINE_TABLES_COUNT], *methods[SPLINE_TABLES_METHODS];
  const size_t each = SPLINE_TABLES_COUNT * work->kinds;
  double rows = 0;
  for (size_t t = 0; t < SPLINE_TABLES_COUNT; t++)
    specs[t] = spline_tables_all[t].metric;
  PC_TRY(spline_tables_read(work, &rows, err));
  pc_findings_add_sentence(findings, "Fitted to the second set, judged on the first.");
  const size_t count = spline_tables_choose(work, findings, methods);
  PC_TRY(pc_method_grid_run(work->job, methods, count, 1, specs, SPLINE_TABLES_COUNT,
                            &work->grid, findings, err));
  PC_TRY(pc_run_with_progress(work->job->env, "fitting splines", work->cases * each,
                              SPLINE_TABLES_ROW_COST * rows * (double)each, spline_tables_task,
                              work, err));
  return spline_tables_fill(work, findings, err);
}

static pcal_status spline_tables_run(const pc_study_job *job, pc_findings *findings,
                                     pcal_error *err) {
  const pcal_env *env = job->memory;
  spline_tables_work work = {.job = job};
  PC_TRY(pc_study_require_models(job, err));
  work.cases = job->config->model_count;
  work.kinds = job->options->value[SPLINE_TABLES_VARIANTS].number > 0 ? SPLINE_TABLES_KINDS
                                                                      : SPLINE_TABLES_USUAL;
  work.judged = pc_alloc(env, work.cases, sizeof *work.judged);
  work.fitted = pc_alloc(env, work.cases, sizeof *work.fitted);
  work.values =
      pc_alloc(env, work.cases * SPLINE_TABLES_COUNT * work.kinds, sizeof *work.values);
  const int enough = work.judged != NULL && work.fitted != NULL && work.values != NULL;
  return enough ? spline_tables_work_on(&work, findings, err)
                : pc_fail_memory(err, "making tables");
}

static const pcal_option spline_tables_options[] = {
    {"variants", PCAL_OPTION_BOOL, "no", 0, 0, NULL,
     "also splines with other run-outs, and constrained ones"},
};

const pc_study pc_study_spline_tables = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "spline-tables",
            .title = "the tables of the spline paper, for your sets",
            .formula = "KS, accuracy and ECE in percent, after each method",
            .about =
                "Fits temperature and vector scaling, MS-ODIR, Dir-ODIR and splines to a "
                "second set and reports, like Tables 1, 2, 4, 5 and 6 of the paper, the KS "
                "error of the top class, of the second class and within the first two, the "
                "accuracy, and the ECE with 25 bins. Takes one case (with a second set) or "
                "several (`case` NAME=TEST,FITTING); `method` names other methods than those "
                "of the paper. Splines are fitted by propercal's rules and by those of the "
                "published code (convention=gupta); the latter is judged before its scores are "
                "limited to [0, 1].",
            .citation = "Gupta et al., Calibration of neural networks using splines, ICLR 2021",
            .options = spline_tables_options,
            .option_count = sizeof spline_tables_options / sizeof *spline_tables_options,
        },
    .run = spline_tables_run,
};
