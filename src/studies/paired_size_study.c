/* paired-size: how often do paired comparisons find a difference where there is none?
 *
 * Design:  a row has true logits z = spread g, g standard normal, and a label drawn from
 *          softmax(z).  Two models predict logits a = f (z + noise u) and b = h (z + noise v), u
 *          and v standard normal, all draws independent.
 *            law=same:     h = f, so both models have the same distribution and error; or
 *                          h = other, to count how often a real difference is found (power).
 *            law=opposed:  for each metric, h is the factor on the other side of 1 at which both
 *                          have the same error in PAIRED_SIZE_POPULATION scores: one model
 *                          over-confident, the other under-confident.
 *            law=recalibrated: b is a after a method fitted by cross-validation, or on a second
 *                          set of as many rows.  Where a is calibrated (f = 1, noise = 0) no
 *                          method improves it, and rejected counts only the sets in which b is
 *                          found better, 0.025 of them by chance.
 *          Both models are measured on the same rows and compared.  The study reports the share
 *          of sets with p < 0.05, which should be 0.05, and the share in which p < 1 - level
 *          although the interval includes 0, or the reverse, which should be 0.
 * Edge cases:
 *   (1) share below 1: in the other rows b is a;
 *   (2) a set in which a metric has no interval of the difference is left out of the shares;
 *   (3) metrics over pairs of rows have a population of PAIRED_SIZE_PAIRED rows;
 *   (4) an error that no model on the other side of 1 has (flat predictions are calibrated class
 *       by class) has no partner for law=opposed: no sets are drawn.
 * Cost: sets times the cost of measuring two models with replicas; sets are spread over threads. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/executor.h"
#include "base/number.h"
#include "base/rng.h"
#include "compare/held_out.h"
#include "kernels/softmax.h"
#include "measure/measure_source.h"
#include "measure/replicas/paired_difference.h"
#include "studies/study.h"

#define PAIRED_SIZE_SETS 1000
#define PAIRED_SIZE_REPLICAS 400
#define PAIRED_SIZE_LEVEL 0.95
#define PAIRED_SIZE_CHANCE 0.05
#define PAIRED_SIZE_POPULATION 1000000u /* scores */
#define PAIRED_SIZE_PAIRED 10000u       /* rows of it for metrics over pairs of rows */
#define PAIRED_SIZE_FOLDS 5
#define PAIRED_SIZE_STEP 0.8 /* by which factors are tried one after the other */
#define PAIRED_SIZE_STEPS 12
#define PAIRED_SIZE_HALVINGS 8
#define PAIRED_SIZE_ROW_COST 2e4
#define PAIRED_SIZE_SECOND (UINT64_C(1) << 41) /* rows of second sets */
#define PAIRED_SIZE_STREAM UINT64_C(0x5a00000000000000)

enum {
  PAIRED_SIZE_LAW,
  PAIRED_SIZE_NOISE,
  PAIRED_SIZE_SPREAD,
  PAIRED_SIZE_SHARE,
  PAIRED_SIZE_FACTOR_TWO,
  PAIRED_SIZE_METHOD,
  PAIRED_SIZE_FIT
};
enum {
  PAIRED_SIZE_EQUAL,
  PAIRED_SIZE_OPPOSED,
  PAIRED_SIZE_RECALIBRATED
}; /* values of the option law */
enum { PAIRED_SIZE_TRUE, PAIRED_SIZE_LABEL, PAIRED_SIZE_OWN, PAIRED_SIZE_SAME };

static const pcal_option paired_size_options[] = {
    {"law", PCAL_OPTION_CHOICE, "same", 0, 0, "same|opposed|recalibrated",
     "same: two models with the same distribution; opposed: one over-confident and one "
     "under-confident, with equal errors; recalibrated: the second is the first after a "
     "method, as in "
     "propercal compare"},
    {"noise", PCAL_OPTION_REAL, "0.3", 0, 100, NULL,
     "standard deviation of the noise that each model adds to the true logits"},
    {"spread", PCAL_OPTION_REAL, "1.5", 0, 100, NULL, "standard deviation of the true logits"},
    {"share", PCAL_OPTION_REAL, "1", 0, 1, NULL, "share of rows in which the models differ"},
    {"other", PCAL_OPTION_REAL, "0", 0, 1000, NULL,
     "with law=same: factor of the second model; 0: that of the first. Where the factors "
     "differ, the share of rejected sets is the power"},
    {"method", PCAL_OPTION_CHOICE, "temperature", 0, 0,
     "temperature|vector|isotonic|histogram|scaling-binning",
     "with law=recalibrated: the method"},
    {"fit", PCAL_OPTION_CHOICE, "folds", 0, 0, "folds|second",
     "with law=recalibrated: by cross-validation, or on a second set of as many rows"},
};

static const char *const paired_size_methods[] = {"temperature", "vector", "isotonic",
                                                  "histogram", "scaling-binning"};

static const char *const paired_size_specs[] = {"accuracy",
                                                "brier",
                                                "log",
                                                "ece",
                                                "mce",
                                                "ece:norm=l2,debias=yes",
                                                "sce",
                                                "cwce",
                                                "ks",
                                                "smece",
                                                "tce:binning=mass,debias=yes",
                                                "cwce:debias=yes"};

/* One metric on one set. */
typedef struct paired_size_value {
  double difference, p_value; /* NaN: none */
  int excludes, wide, better; /* better: the second model */
} paired_size_value;

/* Two models on the same rows. */
typedef struct paired_size_rows {
  float *logits[2];
  int32_t *labels;
} paired_size_rows;

typedef struct paired_size_job {
  const pcal_env *env;
  const pc_option_value *options;
  pcal_measure_config config;
  size_t rows, classes, sets;
  double factor, other; /* f and h */
  paired_size_rows
      population; /* law=opposed: logits[1] at factor 1, logits[0] at another factor */
  paired_size_value *values; /* set by set, metric by metric */
} paired_size_job;

static int paired_size_design(const paired_size_job *job) {
  return (int)job->options[PAIRED_SIZE_LAW].choice;
}

/* ---- rows ---- */

static pc_rng paired_size_rng(const paired_size_job *job, unsigned what) {
  return (pc_rng){job->env->seed, PAIRED_SIZE_STREAM + what};
}

static int32_t paired_size_label(const double *z, size_t k, double uniform, double *probs) {
  double sum = 0.0;
  pc_softmax_row(z, k, probs);
  for (size_t c = 0; c < k; c++) {
    sum += probs[c];
    if (uniform < sum)
      return (int32_t)c;
  }
  return (int32_t)k - 1;
}

/* Draws row number `index` into place i; scratch: 2 K doubles. */
static void paired_size_draw(const paired_size_job *job, uint64_t index, size_t i,
                             double *scratch, const paired_size_rows *out) {
  const size_t k = job->classes;
  const pc_option_value *options = job->options;
  const pc_rng truth = paired_size_rng(job, PAIRED_SIZE_TRUE);
  const pc_rng label = paired_size_rng(job, PAIRED_SIZE_LABEL);
  const pc_rng same = paired_size_rng(job, PAIRED_SIZE_SAME);
  const int equal = pc_rng_uniform(&same, index) >= options[PAIRED_SIZE_SHARE].number;
  for (size_t c = 0; c < k; c++)
    scratch[c] = options[PAIRED_SIZE_SPREAD].number * pc_rng_normal(&truth, index * k + c);
  out->labels[i] = paired_size_label(scratch, k, pc_rng_uniform(&label, index), scratch + k);
  for (size_t m = 0; m < 2; m++)
    for (size_t c = 0; c < k; c++) {
      const pc_rng own = paired_size_rng(job, PAIRED_SIZE_OWN);
      const uint64_t at = ((equal ? 0 : m) + 2 * index) * k + c;
      const double noisy =
          scratch[c] + options[PAIRED_SIZE_NOISE].number * pc_rng_normal(&own, at);
      out->logits[m][i * k + c] = (float)((m == 0 || equal ? job->factor : job->other) * noisy);
    }
}

static paired_size_job paired_size_unscaled(const paired_size_job *job) {
  paired_size_job out = *job;
  out.factor = out.other = 1.0;
  return out;
}

static void paired_size_free(const pcal_env *env, paired_size_rows *rows) {
  pc_free(env, rows->logits[0]);
  pc_free(env, rows->logits[1]);
  pc_free(env, rows->labels);
}

/* Draws rows first .. first + count - 1; free out, also after a failure. */
static pcal_status paired_size_fill(const paired_size_job *job, const pcal_env *env,
                                    uint64_t first, size_t count, paired_size_rows *out,
                                    pcal_error *err) {
  const size_t k = job->classes;
  double *scratch = pc_alloc_raw(env, 2 * k, sizeof *scratch);
  out->logits[0] = pc_alloc_raw(env, count * k, sizeof(float));
  out->logits[1] = pc_alloc_raw(env, count * k, sizeof(float));
  out->labels = pc_alloc_raw(env, count, sizeof *out->labels);
  const int enough = scratch != NULL && out->logits[0] != NULL && out->logits[1] != NULL &&
                     out->labels != NULL;
  for (size_t i = 0; enough && i < count; i++)
    paired_size_draw(job, first + i, i, scratch, out);
  pc_free(env, scratch);
  return enough ? PCAL_OK : pc_fail_memory(err, "drawing a set");
}

static pcal_batch paired_size_batch(const paired_size_job *job, const paired_size_rows *rows,
                                    size_t model, size_t count) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_LOGIT;
  batch.rows = count;
  batch.columns = job->classes;
  batch.scores = rows->logits[model];
  batch.row_stride = (ptrdiff_t)(job->classes * sizeof(float));
  batch.column_stride = sizeof(float);
  batch.labels = rows->labels;
  return batch;
}

static pcal_status paired_size_measure(const paired_size_job *job, const paired_size_rows *rows,
                                       size_t model, size_t count,
                                       const pcal_measure_config *config, const pcal_env *env,
                                       pcal_results **out, pcal_error *err) {
  const pcal_batch batch = paired_size_batch(job, rows, model, count);
  return pc_measure_batch(&batch, config, env, out, err);
}

/* ---- one set ---- */

/* Measures the first model after the method of the study. */
static pcal_status paired_size_fit(const paired_size_job *job, pc_held_out *held_out,
                                   pcal_results **out, pcal_error *err) {
  pcal_calibrator *calibrators[PAIRED_SIZE_FOLDS] = {NULL};
  pcal_status status = pc_held_out_fit(
      held_out, paired_size_methods[job->options[PAIRED_SIZE_METHOD].choice], calibrators, err);
  if (status == PCAL_OK)
    status = pc_held_out_measure(held_out, calibrators, &job->config, out, err);
  for (size_t i = 0; i < PAIRED_SIZE_FOLDS; i++)
    pc_calibrator_free(calibrators[i]);
  return status;
}

static pcal_status paired_size_recalibrated(const paired_size_job *job, size_t set,
                                            const paired_size_rows *rows, const pcal_env *env,
                                            pcal_results **out, pcal_error *err) {
  const int second = job->options[PAIRED_SIZE_FIT].choice != 0;
  const pcal_batch batch = paired_size_batch(job, rows, 0, job->rows);
  pc_held_out held_out = {.env = env, .folds = {env->seed, second ? 1 : PAIRED_SIZE_FOLDS, 0}};
  paired_size_rows more = {{NULL, NULL}, NULL};
  pcal_status status = pc_source_borrow(&batch, NULL, env, &held_out.source, err);
  if (status == PCAL_OK && second)
    status = paired_size_fill(job, env, PAIRED_SIZE_SECOND + (uint64_t)set * job->rows,
                              job->rows, &more, err);
  const pcal_batch other = paired_size_batch(job, &more, 0, job->rows);
  if (status == PCAL_OK && second)
    status = pc_source_borrow(&other, NULL, env, &held_out.val, err);
  if (status == PCAL_OK)
    status = paired_size_fit(job, &held_out, out, err);
  pc_source_free(held_out.source);
  pc_source_free(held_out.val);
  paired_size_free(env, &more);
  return status;
}

static paired_size_value paired_size_read(const pc_result_record *record) {
  const pc_interval_result *interval_result = &record->interval_result;
  const pc_metric *metric = pc_metric_find(record->metric);
  const int higher = metric != NULL && metric->row.better == PCAL_BETTER_HIGHER;
  paired_size_value out = {(double)NAN, (double)NAN, 0, 0, 0};
  if (!interval_result->has_difference_interval)
    return out;
  out.difference = interval_result->difference;
  out.p_value = interval_result->difference_p_value;
  out.excludes =
      interval_result->difference_low > 0.0 || interval_result->difference_high < 0.0;
  out.wide = interval_result->difference_method == PCAL_DIFFERENCE_EXCHANGE_WIDE;
  out.better = higher ? interval_result->difference < 0.0 : interval_result->difference > 0.0;
  return out;
}

static pcal_status paired_size_compare(const paired_size_job *job, size_t set,
                                       const pcal_env *env, paired_size_rows *rows,
                                       pcal_results *results[2], pcal_error *err) {
  const size_t metrics = job->config.spec_count;
  PC_TRY(paired_size_fill(job, env, (uint64_t)set * job->rows, job->rows, rows, err));
  PC_TRY(paired_size_measure(job, rows, 0, job->rows, &job->config, env, &results[0], err));
  if (paired_size_design(job) == PAIRED_SIZE_RECALIBRATED)
    PC_TRY(paired_size_recalibrated(job, set, rows, env, &results[1], err));
  else
    PC_TRY(paired_size_measure(job, rows, 1, job->rows, &job->config, env, &results[1], err));
  PC_TRY(pc_paired_differences(results[0], results[1], err));
  for (size_t m = 0; m < metrics; m++)
    job->values[set * metrics + m] = paired_size_read(&results[0]->records[m]);
  return PCAL_OK;
}

static pcal_status paired_size_task(void *user, size_t set, size_t worker, pcal_error *err) {
  (void)worker;
  const paired_size_job *job = user;
  pcal_env env = pc_study_task_env(job->env);
  env.seed = pc_hash_u64(job->env->seed + 1 + set); /* exchanges of their own for each set */
  paired_size_rows rows = {{NULL, NULL}, NULL};
  pcal_results *results[2] = {NULL, NULL};
  const pcal_status status = paired_size_compare(job, set, &env, &rows, results, err);
  paired_size_free(&env, &rows);
  pc_results_free(results[0]);
  pc_results_free(results[1]);
  return status;
}

/* ---- law=opposed: partners of equal error ---- */

static int paired_size_of_pairs(const paired_size_job *job, const char *spec) {
  const pc_metric *metric;
  pc_options options;
  pc_metric_config config;
  pc_layout layout;
  memset(&config, 0, sizeof config);
  return pc_layout_make(PCAL_LOGIT, job->classes, &layout, NULL) == PCAL_OK &&
         pc_metric_parse_for(PC_FORM_CLASSES, spec, &metric, &options, NULL) == PCAL_OK &&
         metric->configure(&options, &layout, &config, NULL) == PCAL_OK &&
         config.need.machine == PC_PAIR;
}

/* The error of the second model in the population when its factor is `factor`. */
static pcal_status paired_size_error(const paired_size_job *job, const char *spec,
                                     double factor, double *out, pcal_error *err) {
  const size_t all = PAIRED_SIZE_POPULATION / job->classes;
  const int few = paired_size_of_pairs(job, spec) && all > PAIRED_SIZE_PAIRED;
  const size_t count = few ? PAIRED_SIZE_PAIRED : all;
  const paired_size_rows *rows = &job->population;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  config.kind = PCAL_LOGIT;
  config.columns = job->classes;
  config.specs = &spec;
  config.spec_count = 1;
  for (size_t i = 0; i < count * job->classes; i++)
    rows->logits[0][i] = (float)factor * rows->logits[1][i];
  PC_TRY(paired_size_measure(job, rows, 0, count, &config, job->env, &results, err));
  *out = results->records[0].outcome.value;
  pc_results_free(results);
  return PCAL_OK;
}

/* Steps away from 1 until the error is at least `wanted`; *far is NaN if that never happens. */
static pcal_status paired_size_bracket(const paired_size_job *job, const char *spec,
                                       double wanted, double *near, double *far,
                                       pcal_error *err) {
  const double step = job->factor < 1.0 ? 1.0 / PAIRED_SIZE_STEP : PAIRED_SIZE_STEP;
  double here = 0.0;
  *near = 1.0;
  for (size_t i = 0; i < PAIRED_SIZE_STEPS; i++) {
    *far = *near * step;
    PC_TRY(paired_size_error(job, spec, *far, &here, err));
    if (here >= wanted)
      return PCAL_OK;
    *near = *far;
  }
  *far = (double)NAN;
  return PCAL_OK;
}

/* Finds the h nearest to 1, on its other side, that has the error of f; NaN if there is none. */
static pcal_status paired_size_partner(const paired_size_job *job, const char *spec,
                                       double *out, pcal_error *err) {
  double near = 1.0, far = (double)NAN, wanted = 0.0, here = 0.0;
  *out = (double)NAN;
  PC_TRY(paired_size_error(job, spec, job->factor, &wanted, err));
  PC_TRY(paired_size_bracket(job, spec, wanted, &near, &far, err));
  for (size_t i = 0; !isnan(far) && i < PAIRED_SIZE_HALVINGS; i++) {
    const double middle = sqrt(near * far);
    PC_TRY(paired_size_error(job, spec, middle, &here, err));
    if (here < wanted)
      near = middle;
    else
      far = middle;
  }
  *out = sqrt(near * far);
  return PCAL_OK;
}

/* ---- the table ---- */

enum {
  PAIRED_SIZE_METRIC,
  PAIRED_SIZE_ROWS,
  PAIRED_SIZE_FACTOR,
  PAIRED_SIZE_OTHER,
  PAIRED_SIZE_MEAN,
  PAIRED_SIZE_REJECTED,
  PAIRED_SIZE_WIDE,
  PAIRED_SIZE_DISAGREE
};

static void paired_size_columns(const paired_size_job *job, pc_findings *findings,
                                pc_table *table) {
  static const char *const columns[] = {"metric", "rows",     "factor", "other",
                                        "mean",   "rejected", "wide",   "disagree"};
  static const char *const designs[] = {"with the same distribution",
                                        "with equal errors in opposite directions",
                                        "of which the second is the first, recalibrated"};
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  pc_findings_add_sentence(
      findings,
      "%zu sets with %zu classes, two models %s: their factors, the mean difference, and the "
      "shares of sets with p < 0.05 (rejected; expected: %s), judged as models that err "
      "differently (wide), and in which p-value and interval disagree",
      job->sets, job->classes, designs[paired_size_design(job)],
      paired_size_design(job) == PAIRED_SIZE_RECALIBRATED
          ? "0.025, counting only sets in which the second is better"
          : "0.05");
}

static pcal_status paired_size_row(const paired_size_job *job, size_t metric, pc_table *table,
                                   pcal_error *err) {
  const double chance = 1.0 - job->config.interval;
  double count = 0.0, mean = 0.0, rejected = 0.0, wide = 0.0, disagree = 0.0;
  for (size_t s = 0; s < job->sets; s++) {
    const paired_size_value *v = &job->values[s * job->config.spec_count + metric];
    if (isnan(v->p_value))
      continue;
    count++;
    mean += v->difference;
    rejected += v->p_value < PAIRED_SIZE_CHANCE &&
                (paired_size_design(job) != PAIRED_SIZE_RECALIBRATED || v->better);
    wide += v->wide;
    disagree += (v->p_value < chance - 1e-12) != v->excludes;
  }
  PC_TRY(pc_table_add_row(table, err));
  pc_table_set_word(table, PAIRED_SIZE_METRIC, job->config.specs[metric]);
  pc_table_set_number(table, PAIRED_SIZE_ROWS, (double)job->rows);
  pc_table_set_number(table, PAIRED_SIZE_FACTOR, job->factor);
  pc_table_set_number(table, PAIRED_SIZE_OTHER, job->other);
  pc_table_set_number(table, PAIRED_SIZE_MEAN, mean / count);
  pc_table_set_number(table, PAIRED_SIZE_REJECTED, rejected / count);
  pc_table_set_number(table, PAIRED_SIZE_WIDE, wide / count);
  pc_table_set_number(table, PAIRED_SIZE_DISAGREE, disagree / count);
  return PCAL_OK;
}

/* ---- experiments ---- */

static pcal_status paired_size_sets(paired_size_job *job, pc_table *table, pcal_error *err) {
  const double cost = PAIRED_SIZE_ROW_COST * (double)job->sets * (double)job->rows;
  PC_TRY(pc_run_with_progress(job->env, "drawing sets", job->sets, cost, paired_size_task, job,
                              err));
  for (size_t m = 0; m < job->config.spec_count; m++)
    PC_TRY(paired_size_row(job, m, table, err));
  return PCAL_OK;
}

static pcal_status paired_size_no_sets(const paired_size_job *job, pc_table *table,
                                       pcal_error *err) {
  PC_TRY(pc_table_add_row(table, err));
  pc_table_set_word(table, PAIRED_SIZE_METRIC, job->config.specs[0]);
  pc_table_set_number(table, PAIRED_SIZE_ROWS, (double)job->rows);
  pc_table_set_number(table, PAIRED_SIZE_FACTOR, job->factor);
  return PCAL_OK;
}

/* Runs one experiment for each number of rows. */
static pcal_status paired_size_experiment(paired_size_job *job, const pcal_study_config *config,
                                          pc_table *table, pcal_error *err) {
  for (size_t r = 0; r < (config->row_count_count > 0 ? config->row_count_count : 1); r++) {
    if (config->row_count_count > 0)
      job->rows = (size_t)config->row_counts[r];
    PC_TRY(isnan(job->other) ? paired_size_no_sets(job, table, err)
                             : paired_size_sets(job, table, err));
  }
  return PCAL_OK;
}

static pcal_status paired_size_factor(paired_size_job *job, const pcal_study_config *config,
                                      pc_table *table, pcal_error *err) {
  const pcal_measure_config all = job->config;
  const double other = job->options[PAIRED_SIZE_FACTOR_TWO].number;
  job->other = other > 0.0 ? other : job->factor;
  if (paired_size_design(job) != PAIRED_SIZE_OPPOSED)
    return paired_size_experiment(job, config, table, err);
  for (size_t m = 0; m < all.spec_count; m++) {
    job->config.specs = all.specs + m;
    job->config.spec_count = 1;
    PC_TRY(paired_size_partner(job, all.specs[m], &job->other, err));
    PC_TRY(paired_size_experiment(job, config, table, err));
  }
  job->config = all;
  return PCAL_OK;
}

static pcal_status paired_size_work(paired_size_job *job, const pcal_study_config *config,
                                    pc_findings *findings, pcal_error *err) {
  pc_table *table = pc_findings_add_table(findings, "");
  paired_size_columns(job, findings, table);
  if (paired_size_design(job) == PAIRED_SIZE_OPPOSED) {
    const paired_size_job unscaled = paired_size_unscaled(job);
    PC_TRY(paired_size_fill(&unscaled, job->env, UINT64_C(1) << 40,
                            PAIRED_SIZE_POPULATION / job->classes, &job->population, err));
  }
  for (size_t f = 0; f < (config->factor_count > 0 ? config->factor_count : 1); f++) {
    if (config->factor_count > 0)
      job->factor = config->factors[f];
    PC_TRY(paired_size_factor(job, config, table, err));
  }
  return PCAL_OK;
}

static const pcal_simulation paired_size_simulation = {
    .rows = 300, .classes = 2, .factor = 1.5};

static pcal_status paired_size_prepare(const pc_study_job *study, paired_size_job *job,
                                       pcal_error *err) {
  const pcal_study_config *config = study->config;
  const int own = config->spec_count == 0;
  const pcal_simulation simulation = pc_study_simulation(config, &paired_size_simulation);
  job->options = study->options->value;
  job->rows = (size_t)simulation.rows;
  job->classes = simulation.classes;
  job->factor = simulation.factor;
  job->sets = config->sets == 0 ? PAIRED_SIZE_SETS : (size_t)config->sets;
  job->config = (pcal_measure_config)PCAL_MEASURE_CONFIG_INIT;
  job->config.kind = PCAL_LOGIT;
  job->config.columns = job->classes;
  job->config.specs = own ? paired_size_specs : config->specs;
  job->config.spec_count =
      own ? sizeof paired_size_specs / sizeof *paired_size_specs : config->spec_count;
  job->config.interval = config->interval > 0 ? config->interval : PAIRED_SIZE_LEVEL;
  job->config.replicas = config->replicas == 0 ? PAIRED_SIZE_REPLICAS : config->replicas;
  job->config.interval_method =
      PCAL_INTERVAL_PERCENTILE; /* intervals of single models are not read */
  job->config.paired = 1;
  for (size_t m = 0; m < job->config.spec_count; m++)
    if (pc_metric_group_find(job->config.specs[m]) != NULL)
      return pc_fail(err, PCAL_USAGE, "paired-size: %s is a group; name single metrics",
                     job->config.specs[m]);
  if (job->classes < 2)
    return pc_fail(err, PCAL_USAGE, "classes is %zu; a simulation needs at least 2",
                   job->classes);
  return PCAL_OK;
}

static pcal_status paired_size_run(const pc_study_job *study, pc_findings *findings,
                                   pcal_error *err) {
  paired_size_job job = {.env = study->env};
  PC_TRY(paired_size_prepare(study, &job, err));
  job.values = pc_alloc(study->memory, job.sets * job.config.spec_count, sizeof *job.values);
  if (job.values == NULL)
    return pc_fail_memory(err, "studying paired comparisons");
  const pcal_status status = paired_size_work(&job, study->config, findings, err);
  paired_size_free(study->env, &job.population);
  return status;
}

const pc_study pc_study_paired_size = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "paired-size",
            .title = "how often do paired comparisons see a difference where there is none?",
            .formula = "share of simulated sets with p < 0.05 for two models of equal error",
            .about =
                "Draws many sets from a simulation, measures two models on the same rows and "
                "compares them, as measuring one against the other does. The two have the same "
                "distribution, or (law=opposed) one is over-confident and the other "
                "under-confident with equal errors. A set has 300 rows and 2 classes, and the "
                "logits of the first model are multiplied by 1.5, unless `rows`, `classes` and "
                "`factor` say otherwise.",
            .citation = "Good, Permutation Tests, 2000, section 3.2",
            .options = paired_size_options,
            .option_count = sizeof paired_size_options / sizeof *paired_size_options,
        },
    .run = paired_size_run,
};
