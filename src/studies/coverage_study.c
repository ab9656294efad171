/* coverage: do intervals cover the truth as often as they claim, and do tests reject as often as
 * they should?
 *
 * Design:  sets of rows from the simulation of appendix G.1 (simulate/simulate.c), miscalibrated
 *          by a factor (a temperature of 1 / factor).  Each set is measured with intervals;
 *          the study reports the share of sets whose interval contains the population's value,
 *          and the shares that miss it on either side.  Tests run on the same sets (power at
 *          5 %) and on sets of factor 1 (size at 5 %).  Every number of rows and every factor
 *          is a separate experiment.
 * Edge cases:
 *   (1) the population's value is that of a hundred sets, at least 200,000 rows, with many classes
 *       fewer, in which every class counts with its true probability (simulate/population.c): an
 *       estimate, but without drawn labels;
 *   (2) where that is not possible, but the metric has an unbiased inner value, the mean of the
 *       inner values over all sets replaces it; 0, if chance alone made it negative;
 *   (3) metrics without either, or without intervals, have only their mean and deviation;
 *   (4) several numbers of rows share a population: that of the largest number, which costs more
 *       than many sets.
 * Cost: sets times the cost of a measurement with replicas; sets are spread over threads. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/executor.h"
#include "base/number.h"
#include "measure/measure_source.h"
#include "simulate/population.h"
#include "simulate/simulate.h"
#include "studies/study.h"

#define COVERAGE_SETS 1000
#define COVERAGE_REPLICAS 400
#define COVERAGE_LEVEL 0.95
#define COVERAGE_TEST_LEVEL 0.05
/* The standard error of a population is below a tenth of that of one set. */
#define COVERAGE_POPULATION_SETS 100
#define COVERAGE_POPULATION_ROWS 200000u     /* at least */
#define COVERAGE_POPULATION_SCORES 10000000u /* at most */
/* Scores times classes at most, since each row counts once with each label, if that leaves
 * enough rows: a population without drawn labels varies far less than a set. */
#define COVERAGE_POPULATION_LABELLED 20000000u
#define COVERAGE_POPULATION_ENOUGH 40000u
#define COVERAGE_ROUNDING 1e-10 /* true values of 0 are sums of rounded terms */
#define COVERAGE_CHANCE 4.0     /* standard errors of a mean that chance alone made negative */
#define COVERAGE_ROW_COST 1e4
#define COVERAGE_TRIAL_ROWS 20 /* for each class, to see which metrics are tests */

/* One metric on one set. */
typedef struct coverage_value {
  double value, low, high, inner, p_value; /* NaN: none */
  int inner_power;
  int unsure; /* the interval is marked as unsure */
} coverage_value;

/* A metric has COVERAGE_SERIES of them: its own, and those of its parts. */
#define COVERAGE_SERIES (1 + PC_PARTS_MAX)

typedef struct coverage_job {
  const pcal_env *env;
  pcal_simulation simulation;
  pcal_measure_config config;
  size_t sets, null_sets, metrics;
  coverage_value *values; /* set by set, metric by metric, series by series */
  const char **tests;     /* the specs of tests, for calibrated sets */
  size_t *test_metrics;   /* which metric each of them is */
  size_t test_count;
  double *p_values; /* calibrated set by calibrated set, test by test */
  double *scratch;  /* a number for each set */
  double scale;     /* of the simulation */
} coverage_job;

enum { COVERAGE_SCALE };

static const pcal_option coverage_options[] = {
    {"scale", PCAL_OPTION_REAL, "0.01", 1e-6, 1, NULL,
     "as in propercal simulate: the smaller, the fewer rows are wrong"},
};

static const char *const coverage_specs[] = {"brier",
                                             "rbs",
                                             "log",
                                             "accuracy",
                                             "ece",
                                             "ece:norm=l2,debias=yes",
                                             "tce:binning=mass,debias=yes",
                                             "cwce:debias=yes",
                                             "ks",
                                             "decomposition",
                                             "mmce",
                                             "skce",
                                             "spiegelhalter",
                                             "hosmer-lemeshow",
                                             "cox:clip=1e-9",
                                             "ks-test",
                                             "kuiper",
                                             "skce-test:replicas=200",
                                             "skce-test:method=block"};

/* Rows of one set. */
typedef struct coverage_rows {
  float *logits;
  int32_t *labels;
} coverage_rows;

static pcal_status coverage_measure(const pcal_simulation *simulation,
                                    const pcal_measure_config *config,
                                    const coverage_rows *rows, const pcal_env *env,
                                    pcal_results **out, pcal_error *err) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_LOGIT;
  batch.rows = (size_t)simulation->rows;
  batch.columns = simulation->classes;
  batch.scores = rows->logits;
  batch.row_stride = (ptrdiff_t)(simulation->classes * sizeof(float));
  batch.column_stride = sizeof(float);
  batch.labels = rows->labels;
  PC_TRY(pc_simulate(simulation, env, rows->logits, rows->labels, NULL, err));
  return pc_measure_batch(&batch, config, env, out, err);
}

static coverage_value coverage_no_value(void) {
  const double nothing = (double)NAN;
  return (coverage_value){nothing, nothing, nothing, nothing, nothing, 0, 0};
}

static coverage_value coverage_read_part(const pc_result_record *record, size_t part) {
  const pc_part_interval *interval_result = &record->part_interval_results[part];
  coverage_value out = coverage_no_value();
  if (!record->outcome.undefined && part < record->outcome.part_count)
    out.value = record->outcome.parts[part].value;
  if (interval_result->has_interval) {
    out.low = interval_result->low;
    out.high = interval_result->high;
    out.unsure = record->interval_result.few_rows[0] != '\0';
  }
  return out;
}

static coverage_value coverage_read(const pc_result_record *record) {
  const pc_metric_result *outcome = &record->outcome;
  coverage_value out = coverage_no_value();
  if (outcome->undefined || !isfinite(outcome->value))
    return out;
  out.value = outcome->value;
  if (outcome->tested)
    out.p_value = outcome->p_value;
  if (outcome->inner_power > 0) {
    out.inner = outcome->inner;
    out.inner_power = outcome->inner_power;
  }
  if (record->interval_result.has_interval) {
    out.low = record->interval_result.low;
    out.high = record->interval_result.high;
    out.unsure =
        record->interval_result.why[0] != '\0' || record->interval_result.few_rows[0] != '\0';
  }
  return out;
}

/* The rows of a set; calibrated sets have rows of their own. */
static pcal_simulation coverage_rows_of(const coverage_job *job, size_t set, int calibrated) {
  pcal_simulation simulation = job->simulation;
  const uint64_t classes = simulation.classes;
  const uint64_t step = (simulation.rows + classes - 1) / classes * classes;
  simulation.first_row = (calibrated ? job->sets + set : set) * step;
  simulation.factor = calibrated ? 1.0 : simulation.factor;
  return simulation;
}

static pcal_status coverage_set(const coverage_job *job, size_t set, const coverage_rows *rows,
                                const pcal_env *env, pcal_error *err) {
  const pcal_simulation simulation = coverage_rows_of(job, set, 0);
  pcal_results *results = NULL;
  coverage_value *out = job->values + set * job->metrics * COVERAGE_SERIES;
  PC_TRY(coverage_measure(&simulation, &job->config, rows, env, &results, err));
  for (size_t m = 0; m < job->metrics; m++) { /* a spec may come twice */
    const pc_result_record *record = pc_results_record(results, job->config.specs[m]);
    out[m * COVERAGE_SERIES] = coverage_read(record);
    for (size_t p = 0; p < PC_PARTS_MAX; p++)
      out[m * COVERAGE_SERIES + 1 + p] = coverage_read_part(record, p);
  }
  pc_results_free(results);
  return PCAL_OK;
}

static pcal_status coverage_null_set(const coverage_job *job, size_t set,
                                     const coverage_rows *rows, const pcal_env *env,
                                     pcal_error *err) {
  const pcal_simulation simulation = coverage_rows_of(job, set, 1);
  pcal_measure_config plain = job->config;
  pcal_results *results = NULL;
  plain.interval = 0;
  plain.interval_method = PCAL_INTERVAL_AUTO;
  plain.specs = job->tests;
  plain.spec_count = job->test_count;
  PC_TRY(coverage_measure(&simulation, &plain, rows, env, &results, err));
  for (size_t t = 0; t < job->test_count; t++)
    job->p_values[set * job->test_count + t] =
        coverage_read(pc_results_record(results, job->tests[t])).p_value;
  pc_results_free(results);
  return PCAL_OK;
}

typedef pcal_status (*coverage_step)(const coverage_job *job, size_t set,
                                     const coverage_rows *rows, const pcal_env *env,
                                     pcal_error *err);

static pcal_status coverage_with_rows(const coverage_job *job, size_t set, coverage_step step,
                                      pcal_error *err) {
  const pcal_env env = pc_study_task_env(job->env);
  const size_t scores = (size_t)job->simulation.rows * job->simulation.classes;
  coverage_rows rows = {pc_alloc_raw(&env, scores, sizeof *rows.logits),
                        pc_alloc_raw(&env, (size_t)job->simulation.rows, sizeof *rows.labels)};
  const pcal_status status = rows.logits == NULL || rows.labels == NULL
                                 ? pc_fail_memory(err, "drawing a set")
                                 : step(job, set, &rows, &env, err);
  pc_free(&env, rows.logits);
  pc_free(&env, rows.labels);
  return status;
}

static pcal_status coverage_task(void *user, size_t set, size_t worker, pcal_error *err) {
  (void)worker;
  return coverage_with_rows(user, set, coverage_set, err);
}

static pcal_status coverage_null_task(void *user, size_t set, size_t worker, pcal_error *err) {
  (void)worker;
  return coverage_with_rows(user, set, coverage_null_set, err);
}

/* ---- the table ---- */

enum {
  COVERAGE_METRIC,
  COVERAGE_ROWS,
  COVERAGE_FACTOR,
  COVERAGE_TRUE,
  COVERAGE_MEAN,
  COVERAGE_SD,
  COVERAGE_COVERAGE,
  COVERAGE_BELOW,
  COVERAGE_ABOVE,
  COVERAGE_WIDTH,
  COVERAGE_ORACLE,
  COVERAGE_UNSURE,
  COVERAGE_SURE,
  COVERAGE_SIZE,
  COVERAGE_POWER
};

/* Mean over the sets that have a value, and their number. */
typedef struct coverage_mean {
  double sum, count;
} coverage_mean;

static void coverage_count(coverage_mean *mean, double value, int there) {
  mean->sum += there ? value : 0.0;
  mean->count += there;
}

static double coverage_share(const coverage_mean *mean) {
  return mean->count > 0 ? mean->sum / mean->count : (double)NAN;
}

static const coverage_value *coverage_at(const coverage_job *job, size_t set, size_t series) {
  return &job->values[set * job->metrics * COVERAGE_SERIES + series];
}

static double coverage_sd(const coverage_job *job, size_t series, double mean) {
  coverage_mean square = {0, 0};
  for (size_t s = 0; s < job->sets; s++) {
    const double x = coverage_at(job, s, series)->value - mean;
    coverage_count(&square, x * x, !isnan(x));
  }
  return sqrt(coverage_share(&square));
}

/* Share of calibrated sets that a test rejects; NaN for other metrics. */
static double coverage_size(const coverage_job *job, size_t series) {
  coverage_mean size = {0, 0};
  for (size_t t = 0; t < job->test_count; t++)
    for (size_t s = 0; job->test_metrics[t] * COVERAGE_SERIES == series && s < job->null_sets;
         s++) {
      const double p = job->p_values[s * job->test_count + t];
      coverage_count(&size, p < COVERAGE_TEST_LEVEL, !isnan(p));
    }
  return coverage_share(&size);
}

/* ---- widths ---- */

static double coverage_median_width(const coverage_job *job, size_t series) {
  for (size_t s = 0; s < job->sets; s++) {
    const coverage_value *v = coverage_at(job, s, series);
    job->scratch[s] = v->high - v->low;
  }
  const size_t kept = pc_interval_sort_values(job->scratch, job->sets);
  return kept > 0 ? pc_interval_quantile(job->scratch, kept, 0.5) : (double)NAN;
}

/* The quantile of all sets that there could be, from some of them: the i-th smallest of n
 * numbers is that of (i - 1/2) / n (Hyndman & Fan, The American Statistician 1996, definition
 * 5).  The quantiles of 50 numbers themselves lie 8 % too far inside. */
static double coverage_quantile(const double *sorted, size_t count, double p) {
  const double place = (double)count * p + 0.5;
  if (place <= 1.0)
    return sorted[0];
  if (place >= (double)count)
    return sorted[count - 1];
  const size_t below = (size_t)place - 1;
  return sorted[below] + (place - floor(place)) * (sorted[below + 1] - sorted[below]);
}

/* Width of the interval that an oracle would draw around each estimate: between the quantiles of
 * the error over all sets, extended to 0 where both lie on one side of it. */
static double coverage_oracle(const coverage_job *job, size_t series, double truth) {
  const double a = 0.5 * (1.0 - job->config.interval);
  for (size_t s = 0; s < job->sets; s++)
    job->scratch[s] = coverage_at(job, s, series)->value - truth;
  const size_t kept = pc_interval_sort_values(job->scratch, job->sets);
  if (kept == 0)
    return (double)NAN;
  return fmax(coverage_quantile(job->scratch, kept, 1.0 - a), 0.0) -
         fmin(coverage_quantile(job->scratch, kept, a), 0.0);
}

/* The population's value or, where it is unknown, the mean of unbiased inner values. */
static double coverage_truth(const coverage_job *job, size_t series, double truth) {
  coverage_mean inner = {0, 0};
  int power = 0;
  for (size_t s = 0; s < job->sets; s++) {
    const coverage_value *v = coverage_at(job, s, series);
    coverage_count(&inner, v->inner, v->inner_power > 0);
    power = v->inner_power > 0 ? v->inner_power : power;
  }
  if (fabs(truth) < COVERAGE_ROUNDING) /* a low end of 0 contains it */
    return 0.0;
  if (!isnan(truth) || power == 0)
    return truth;
  const double mean = coverage_share(&inner);
  const double chance = COVERAGE_CHANCE * coverage_sd(job, series, mean) / sqrt(inner.count);
  if (power == 1)
    return mean < 0.0 && -mean < chance ? 0.0 : mean;
  return sqrt(fmax(mean, 0.0));
}

static pcal_status coverage_row(const coverage_job *job, size_t series, const char *spec,
                                double known, pc_table *table, pcal_error *err) {
  coverage_mean mean = {0, 0}, inside = {0, 0}, below = {0, 0}, above = {0, 0};
  coverage_mean power = {0, 0}, unsure = {0, 0}, sure = {0, 0};
  const double truth = coverage_truth(job, series, known);
  for (size_t s = 0; s < job->sets; s++) {
    const coverage_value *v = coverage_at(job, s, series);
    const int bounded = !isnan(v->low) && !isnan(truth);
    coverage_count(&mean, v->value, !isnan(v->value));
    coverage_count(&inside, v->low <= truth && truth <= v->high, bounded);
    coverage_count(&below, v->high < truth, bounded);
    coverage_count(&above, v->low > truth, bounded);
    coverage_count(&unsure, v->unsure, bounded);
    coverage_count(&sure, v->low <= truth && truth <= v->high, bounded && !v->unsure);
    coverage_count(&power, v->p_value < COVERAGE_TEST_LEVEL, !isnan(v->p_value));
  }
  PC_TRY(pc_table_add_row(table, err));
  pc_table_set_word(table, COVERAGE_METRIC, spec);
  pc_table_set_number(table, COVERAGE_ROWS, (double)job->simulation.rows);
  pc_table_set_number(table, COVERAGE_FACTOR, job->simulation.factor);
  pc_table_set_number(table, COVERAGE_TRUE, power.count > 0 ? (double)NAN : truth);
  pc_table_set_number(table, COVERAGE_MEAN, coverage_share(&mean));
  pc_table_set_number(table, COVERAGE_SD, coverage_sd(job, series, coverage_share(&mean)));
  pc_table_set_number(table, COVERAGE_COVERAGE, coverage_share(&inside));
  pc_table_set_number(table, COVERAGE_BELOW, coverage_share(&below));
  pc_table_set_number(table, COVERAGE_ABOVE, coverage_share(&above));
  pc_table_set_number(table, COVERAGE_WIDTH, coverage_median_width(job, series));
  pc_table_set_number(table, COVERAGE_ORACLE, coverage_oracle(job, series, truth));
  pc_table_set_number(table, COVERAGE_UNSURE, coverage_share(&unsure));
  pc_table_set_number(table, COVERAGE_SURE, coverage_share(&sure));
  pc_table_set_number(table, COVERAGE_SIZE, coverage_size(job, series));
  pc_table_set_number(table, COVERAGE_POWER, coverage_share(&power));
  return PCAL_OK;
}

static void coverage_columns(const coverage_job *job, pc_findings *findings, pc_table *table) {
  static const char *const columns[] = {
      "metric",    "rows",  "factor", "true",   "mean", "sd",   "coverage", "all_below",
      "all_above", "width", "oracle", "unsure", "sure", "size", "power"};
  char level[PC_NUMBER_MAX];
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  pc_findings_add_sentence(
      findings,
      "%zu sets with %zu classes, logits times the factor: share of %s intervals that contain "
      "the true value, lie below it or above it; their median width beside that of an oracle, "
      "which knows the distribution of the error; share that are marked as unsure, and "
      "coverage of the others; share of tests that reject at 0.05 when the model is calibrated "
      "(size, %zu sets) and as it is (power)",
      job->sets, job->simulation.classes, pc_show(job->config.interval, level), job->null_sets);
}

/* Adds a row for each part that has intervals. */
static pcal_status coverage_parts(const coverage_job *job, size_t metric,
                                  const pc_metric_result *truth, pc_table *table,
                                  pcal_error *err) {
  for (size_t p = 0; p < truth->part_count; p++) {
    char name[PC_TABLE_WORD_MAX];
    const size_t series = metric * COVERAGE_SERIES + 1 + p;
    int any = 0;
    for (size_t s = 0; s < job->sets; s++)
      any |= !isnan(coverage_at(job, s, series)->low);
    if (!any)
      continue;
    snprintf(name, sizeof name, "%.40s.%.40s", job->config.specs[metric], truth->parts[p].name);
    PC_TRY(coverage_row(job, series, name, truth->parts[p].value, table, err));
  }
  return PCAL_OK;
}

static pcal_status coverage_fill_table(const coverage_job *job, const pc_metric_result *truth,
                                       pc_table *table, pcal_error *err) {
  for (size_t m = 0; m < job->metrics; m++) {
    PC_TRY(coverage_row(job, m * COVERAGE_SERIES, job->config.specs[m],
                        truth[m].undefined ? (double)NAN : truth[m].value, table, err));
    PC_TRY(coverage_parts(job, m, &truth[m], table, err));
  }
  return PCAL_OK;
}

/* ---- experiments ---- */

static double coverage_cost(const coverage_job *job, size_t sets) {
  return COVERAGE_ROW_COST * (double)sets * (double)job->simulation.rows;
}

static size_t coverage_factor_count(const pcal_study_config *config) {
  return config->factor_count > 0 ? config->factor_count : 1;
}

static size_t coverage_size_count(const pcal_study_config *config) {
  return config->row_count_count > 0 ? config->row_count_count : 1;
}

static void coverage_choose(coverage_job *job, const pcal_study_config *config, size_t size,
                            size_t factor) {
  if (config->row_count_count > 0)
    job->simulation.rows = config->row_counts[size];
  if (config->factor_count > 0)
    job->simulation.factor = config->factors[factor];
}

/* Edge case (4): one population for each factor, large enough for the largest number of rows. */
static pcal_status coverage_populations(coverage_job *job, const pcal_study_config *config,
                                        pc_metric_result *truth, pcal_error *err) {
  const uint64_t classes = job->simulation.classes;
  const uint64_t most = COVERAGE_POPULATION_SCORES / classes;
  const uint64_t labelled = COVERAGE_POPULATION_LABELLED / (classes * classes);
  uint64_t population = COVERAGE_POPULATION_ROWS;
  for (size_t r = 0; r < coverage_size_count(config); r++) {
    coverage_choose(job, config, r, 0);
    const uint64_t sets = COVERAGE_POPULATION_SETS * job->simulation.rows;
    population = sets > population ? sets : population;
  }
  if (population > labelled)
    population = labelled > COVERAGE_POPULATION_ENOUGH ? labelled : COVERAGE_POPULATION_ENOUGH;
  population = population < most ? population : most;
  for (size_t f = 0; f < coverage_factor_count(config); f++) {
    coverage_choose(job, config, 0, f);
    PC_TRY(pc_population_outcomes(&job->simulation, population, job->config.specs, job->metrics,
                                  job->env, truth + f * job->metrics, err));
  }
  return PCAL_OK;
}

/* Runs one experiment: one number of rows and one factor. */
static pcal_status coverage_experiment(coverage_job *job, const pc_metric_result *truth,
                                       pc_table *table, pcal_error *err) {
  PC_TRY(pc_run_with_progress(job->env, "drawing sets", job->sets,
                              coverage_cost(job, job->sets), coverage_task, job, err));
  return coverage_fill_table(job, truth, table, err);
}

/* True if a spec names a test; few rows may leave it without a p-value. */
static int coverage_is_test(const char *spec) {
  char name[PC_TABLE_WORD_MAX];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
  const pc_metric *metric = pc_metric_find(name);
  return metric != NULL && metric->row.is_test;
}

/* Finds the metrics that are tests, or have a p-value on a set of few rows. */
static pcal_status coverage_find_tests(coverage_job *job, pcal_error *err) {
  coverage_job small = *job;
  small.simulation.rows = COVERAGE_TRIAL_ROWS * job->simulation.classes;
  small.sets = 1;
  small.config.interval = 0;
  small.config.interval_method = PCAL_INTERVAL_AUTO;
  PC_TRY(coverage_with_rows(&small, 0, coverage_set, err));
  for (size_t m = 0; m < job->metrics; m++) {
    if (isnan(job->values[m * COVERAGE_SERIES].p_value) &&
        !coverage_is_test(job->config.specs[m]))
      continue;
    job->tests[job->test_count] = job->config.specs[m];
    job->test_metrics[job->test_count++] = m;
  }
  return PCAL_OK;
}

static pcal_status coverage_work(coverage_job *job, const pcal_study_config *config,
                                 pc_metric_result *truth, pc_findings *findings,
                                 pcal_error *err) {
  pc_table *table = pc_findings_add_table(findings, "");
  coverage_columns(job, findings, table);
  PC_TRY(coverage_find_tests(job, err));
  PC_TRY(coverage_populations(job, config, truth, err));
  for (size_t r = 0; r < coverage_size_count(config); r++) {
    coverage_choose(job, config, r, 0);
    if (job->test_count > 0)
      PC_TRY(pc_run_with_progress(job->env, "drawing calibrated sets", job->null_sets,
                                  coverage_cost(job, job->null_sets), coverage_null_task, job,
                                  err));
    for (size_t f = 0; f < coverage_factor_count(config); f++) {
      coverage_choose(job, config, r, f);
      PC_TRY(coverage_experiment(job, truth + f * job->metrics, table, err));
    }
  }
  return PCAL_OK;
}

static const pcal_simulation coverage_simulation = {.rows = 1000, .classes = 10, .factor = 1.5};

static pcal_status coverage_prepare(const pcal_study_config *config, coverage_job *job,
                                    pcal_error *err) {
  const int own = config->spec_count == 0;
  job->simulation = pc_study_simulation(config, &coverage_simulation);
  job->simulation.scale = job->scale;
  job->simulation.first_row = 0;
  job->sets = config->sets == 0 ? COVERAGE_SETS : (size_t)config->sets;
  job->null_sets = config->null_sets == 0 ? job->sets : (size_t)config->null_sets;
  job->config = (pcal_measure_config)PCAL_MEASURE_CONFIG_INIT;
  job->config.kind = PCAL_LOGIT;
  job->config.columns = job->simulation.classes;
  job->config.specs = own ? coverage_specs : config->specs;
  job->config.spec_count =
      own ? sizeof coverage_specs / sizeof *coverage_specs : config->spec_count;
  job->config.interval = config->interval > 0 ? config->interval : COVERAGE_LEVEL;
  job->config.replicas = config->replicas == 0 ? COVERAGE_REPLICAS : config->replicas;
  job->config.interval_method = config->interval_method;
  job->metrics = job->config.spec_count;
  for (size_t m = 0; m < job->metrics; m++)
    if (pc_metric_group_find(job->config.specs[m]) != NULL)
      return pc_fail(err, PCAL_USAGE, "coverage: %s is a group; name single metrics",
                     job->config.specs[m]);
  if (job->simulation.classes < 2)
    return pc_fail(err, PCAL_USAGE, "classes is %zu; a simulation needs at least 2",
                   job->simulation.classes);
  return PCAL_OK;
}

static pcal_status coverage_run(const pc_study_job *study, pc_findings *findings,
                                pcal_error *err) {
  const pcal_study_config *config = study->config;
  const pcal_env *env = study->env;
  coverage_job job = {.env = env, .scale = study->options->value[COVERAGE_SCALE].number};
  PC_TRY(coverage_prepare(config, &job, err));
  pc_metric_result *truth =
      pc_alloc(study->memory, coverage_factor_count(config) * job.metrics, sizeof *truth);
  job.values =
      pc_alloc(study->memory, job.sets * job.metrics * COVERAGE_SERIES, sizeof *job.values);
  job.tests = pc_alloc(study->memory, job.metrics, sizeof *job.tests);
  job.test_metrics = pc_alloc(study->memory, job.metrics, sizeof *job.test_metrics);
  job.scratch = pc_alloc(study->memory, job.sets, sizeof *job.scratch);
  job.p_values = pc_alloc(study->memory, job.null_sets * job.metrics, sizeof *job.p_values);
  const int enough = truth != NULL && job.values != NULL && job.tests != NULL &&
                     job.test_metrics != NULL && job.p_values != NULL && job.scratch != NULL;
  return enough ? coverage_work(&job, config, truth, findings, err)
                : pc_fail_memory(err, "studying coverage");
}

const pc_study pc_study_coverage = {
    .row =
        {
            .registry = PCAL_STUDIES,
            .name = "coverage",
            .title =
                "do intervals cover the truth, and do tests reject as often as they should?",
            .formula = "share of simulated sets whose interval contains the population's value",
            .about =
                "Draws many sets from a simulation whose true calibration is known, measures "
                "each with intervals, and counts how often they contain the true value. For "
                "tests it counts how often they reject at 5 % when the model is calibrated "
                "(size) and when it is not (power). A set has 1000 rows and 10 classes, and "
                "its logits are multiplied by 1.5, unless `rows`, `classes` and `factor` say "
                "otherwise.",
            .citation = "Gruber & Buettner, NeurIPS 2022, appendix G.1 (the simulation)",
            .options = coverage_options,
            .option_count = sizeof coverage_options / sizeof *coverage_options,
        },
    .run = coverage_run,
};
