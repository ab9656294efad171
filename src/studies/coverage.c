/* coverage: do intervals cover the truth as often as they say, and do tests reject as often as
 * they should?
 *
 * Design:  sets of rows from the simulation of appendix G.1 (studies/simulate.c), spoiled by a
 * factor; each set is measured with intervals, and the share of sets whose interval holds the
 * population's value is told, with the shares that miss it on either side.  Tests are made on
 * the same sets (power at 5 %) and on sets of factor 1 (size at 5 %). Edge cases: (1) the
 * population's value is that of a million rows in which every class counts with its true
 * probability (studies/population.c): an estimate, but without labels; (2) metrics without such
 * a value or without intervals have only their mean and spread. Cost: sets times the cost of a
 * measurement with replicas; sets are spread over threads. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/executor.h"
#include "core/number.h"
#include "measure/measure.h"
#include "studies/population.h"
#include "studies/simulate.h"
#include "studies/study.h"

#define COVERAGE_SETS 1000
#define COVERAGE_REPLICAS 400
#define COVERAGE_LEVEL 0.95
#define COVERAGE_TEST_LEVEL 0.05
#define COVERAGE_POPULATION_SCORES 10000000u
#define COVERAGE_ROW_COST 1e4

/* What one set says of one metric. */
typedef struct coverage_value {
  double value, low, high, p_value, null_p_value; /* NaN: nothing */
} coverage_value;

/* A metric has COVERAGE_SERIES of them: its own, and those of its parts. */
#define COVERAGE_SERIES (1 + PC_PARTS_MAX)

typedef struct coverage_job {
  const pcal_env *env;
  pcal_simulation simulation;
  pcal_measure_config config;
  size_t sets, metrics;
  coverage_value *values; /* set by set, metric by metric, series by series */
} coverage_job;

static const char *const coverage_specs[] = {"brier",
                                             "rbs",
                                             "log",
                                             "accuracy",
                                             "ece",
                                             "ece:norm=l2,debias=yes",
                                             "ece:binning=mass,norm=l2,debias=yes",
                                             "ks",
                                             "spiegelhalter",
                                             "hosmer-lemeshow",
                                             "cox",
                                             "ks-test",
                                             "kuiper"};

/* Rows of one set, and room for them. */
typedef struct coverage_rows {
  float *logits;
  int32_t *labels;
} coverage_rows;

static pcal_status coverage_measure(const pcal_simulation *simulation,
                                    const pcal_measure_config *config,
                                    const coverage_rows *rows, const pcal_env *env,
                                    pcal_results **out, pcal_error *err) {
  pcal_measure *measure = NULL;
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_LOGIT;
  batch.rows = (size_t)simulation->rows;
  batch.columns = simulation->classes;
  batch.scores = rows->logits;
  batch.row_stride = (ptrdiff_t)(simulation->classes * sizeof(float));
  batch.column_stride = sizeof(float);
  batch.labels = rows->labels;
  PC_TRY(pc_simulate(simulation, env, rows->logits, rows->labels, NULL, err));
  PC_TRY(pc_measure_new(config, env, &measure, err));
  pcal_status status = pc_measure_update(measure, &batch, err);
  if (status == PCAL_OK)
    status = pc_measure_finish(measure, out, err);
  pc_measure_free(measure);
  return status;
}

static coverage_value coverage_read_part(const pc_result_record *record, size_t part) {
  const double nothing = (double)NAN;
  const pc_part_surety *surety = &record->part_surety[part];
  const int defined = !record->outcome.undefined && part < record->outcome.part_count;
  return (coverage_value){.value = defined ? record->outcome.parts[part].value : nothing,
                          .low = surety->has_interval ? surety->low : nothing,
                          .high = surety->has_interval ? surety->high : nothing,
                          .p_value = nothing,
                          .null_p_value = nothing};
}

static coverage_value coverage_read(const pc_result_record *record) {
  const double nothing = (double)NAN;
  const pc_surety *surety = &record->surety;
  const int defined = !record->outcome.undefined && isfinite(record->outcome.value);
  return (coverage_value){.value = defined ? record->outcome.value : nothing,
                          .low = surety->has_interval ? surety->low : nothing,
                          .high = surety->has_interval ? surety->high : nothing,
                          .p_value = record->outcome.tested && defined ? record->outcome.p_value
                                                                       : nothing,
                          .null_p_value = nothing};
}

/* A set as it is, and for tests the same set calibrated. */
static pcal_status coverage_set(const coverage_job *job, size_t set, const coverage_rows *rows,
                                const pcal_env *env, pcal_error *err) {
  pcal_simulation simulation = job->simulation;
  pcal_measure_config plain = job->config;
  pcal_results *results = NULL;
  coverage_value *out = job->values + set * job->metrics * COVERAGE_SERIES;
  const uint64_t classes = simulation.classes;
  int tests = 0;
  simulation.first_row = set * ((simulation.rows + classes - 1) / classes * classes);
  PC_TRY(coverage_measure(&simulation, &job->config, rows, env, &results, err));
  for (size_t m = 0; m < job->metrics; m++) {
    out[m * COVERAGE_SERIES] = coverage_read(&results->records[m]);
    for (size_t p = 0; p < PC_PARTS_MAX; p++)
      out[m * COVERAGE_SERIES + 1 + p] = coverage_read_part(&results->records[m], p);
    tests |= results->records[m].outcome.tested;
  }
  pc_results_free(results);
  if (!tests)
    return PCAL_OK;
  plain.interval = 0;
  simulation.factor = 1.0;
  PC_TRY(coverage_measure(&simulation, &plain, rows, env, &results, err));
  for (size_t m = 0; m < job->metrics; m++)
    out[m * COVERAGE_SERIES].null_p_value = coverage_read(&results->records[m]).p_value;
  pc_results_free(results);
  return PCAL_OK;
}

static pcal_status coverage_task(void *user, size_t set, size_t worker, pcal_error *err) {
  (void)worker;
  const coverage_job *job = user;
  pcal_env env = *job->env;
  env.threads = 1;
  env.pool = NULL;
  env.progress = NULL;
  env.interrupted = NULL;
  const size_t scores = (size_t)job->simulation.rows * job->simulation.classes;
  coverage_rows rows = {pc_alloc_raw(&env, scores, sizeof *rows.logits),
                        pc_alloc_raw(&env, (size_t)job->simulation.rows, sizeof *rows.labels)};
  const pcal_status status = rows.logits == NULL || rows.labels == NULL
                                 ? pc_fail_memory(err, "drawing a set")
                                 : coverage_set(job, set, &rows, &env, err);
  pc_free(&env, rows.logits);
  pc_free(&env, rows.labels);
  return status;
}

/* ---- the table ---- */

enum {
  COVERAGE_METRIC,
  COVERAGE_TRUE,
  COVERAGE_MEAN,
  COVERAGE_SD,
  COVERAGE_COVERAGE,
  COVERAGE_BELOW,
  COVERAGE_ABOVE,
  COVERAGE_WIDTH,
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

static pcal_status coverage_row(const coverage_job *job, size_t series, const char *spec,
                                double truth, pc_study_table *table, pcal_error *err) {
  coverage_mean mean = {0, 0}, inside = {0, 0}, below = {0, 0}, above = {0, 0}, width = {0, 0};
  coverage_mean size = {0, 0}, power = {0, 0};
  for (size_t s = 0; s < job->sets; s++) {
    const coverage_value *v = coverage_at(job, s, series);
    const int bounded = !isnan(v->low) && !isnan(truth);
    coverage_count(&mean, v->value, !isnan(v->value));
    coverage_count(&inside, v->low <= truth && truth <= v->high, bounded);
    coverage_count(&below, v->high < truth, bounded);
    coverage_count(&above, v->low > truth, bounded);
    coverage_count(&width, v->high - v->low, !isnan(v->low));
    coverage_count(&power, v->p_value < COVERAGE_TEST_LEVEL, !isnan(v->p_value));
    coverage_count(&size, v->null_p_value < COVERAGE_TEST_LEVEL, !isnan(v->null_p_value));
  }
  const int test = power.count > 0;
  PC_TRY(pc_study_table_row(table, err));
  pc_study_table_word(table, COVERAGE_METRIC, spec);
  pc_study_table_number(table, COVERAGE_TRUE, test ? (double)NAN : truth);
  pc_study_table_number(table, COVERAGE_MEAN, coverage_share(&mean));
  pc_study_table_number(table, COVERAGE_SD, coverage_sd(job, series, coverage_share(&mean)));
  pc_study_table_number(table, COVERAGE_COVERAGE, coverage_share(&inside));
  pc_study_table_number(table, COVERAGE_BELOW, coverage_share(&below));
  pc_study_table_number(table, COVERAGE_ABOVE, coverage_share(&above));
  pc_study_table_number(table, COVERAGE_WIDTH, coverage_share(&width));
  pc_study_table_number(table, COVERAGE_SIZE, coverage_share(&size));
  pc_study_table_number(table, COVERAGE_POWER, coverage_share(&power));
  return PCAL_OK;
}

static void coverage_columns(const coverage_job *job, pc_study_table *table) {
  static const char *const columns[] = {"metric",    "true",      "mean",  "sd",   "coverage",
                                        "all_below", "all_above", "width", "size", "power"};
  char factor[PC_NUMBER_MAX], level[PC_NUMBER_MAX];
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_study_table_column(table, columns[c]);
  snprintf(
      table->summary, sizeof table->summary,
      "%zu sets of %llu rows, %zu classes, factor %s: share of %s intervals that hold the true "
      "value, lie below or above it; share of tests that reject at 0.05 when the model is "
      "calibrated (size) and as it is (power)",
      job->sets, (unsigned long long)job->simulation.rows, job->simulation.classes,
      pc_show(job->simulation.factor, factor), pc_show(job->config.interval, level));
}

/* Parts that are the point of a metric have rows of their own. */
static pcal_status coverage_parts(const coverage_job *job, size_t metric,
                                  const pc_outcome *truth, pc_study_table *table,
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

static pcal_status coverage_tell(const coverage_job *job, const pc_outcome *truth,
                                 pc_study_table *table, pcal_error *err) {
  coverage_columns(job, table);
  for (size_t m = 0; m < job->metrics; m++) {
    PC_TRY(coverage_row(job, m * COVERAGE_SERIES, job->config.specs[m],
                        truth[m].undefined ? (double)NAN : truth[m].value, table, err));
    PC_TRY(coverage_parts(job, m, &truth[m], table, err));
  }
  return PCAL_OK;
}

static pcal_status coverage_work(coverage_job *job, pc_outcome *truth, pc_study_table *table,
                                 pcal_error *err) {
  const uint64_t population = COVERAGE_POPULATION_SCORES / job->simulation.classes;
  PC_TRY(pc_population_outcomes(&job->simulation, population, job->config.specs, job->metrics,
                                job->env, truth, err));
  PC_TRY(pc_run_shown(job->env, "drawing sets", job->sets,
                      COVERAGE_ROW_COST * (double)job->sets * (double)job->simulation.rows,
                      coverage_task, job, err));
  return coverage_tell(job, truth, table, err);
}

static pcal_status coverage_prepare(const pcal_study_config *config, coverage_job *job,
                                    pcal_error *err) {
  const int own = config->spec_count == 0;
  job->simulation = config->simulation;
  job->simulation.first_row = 0;
  job->sets = config->sets == 0 ? COVERAGE_SETS : (size_t)config->sets;
  job->config = (pcal_measure_config)PCAL_MEASURE_CONFIG_INIT;
  job->config.kind = PCAL_LOGIT;
  job->config.columns = config->simulation.classes;
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
  return PCAL_OK;
}

static pcal_status coverage_run(const pcal_study_config *config, const pcal_env *env,
                                pc_study_table *table, pcal_error *err) {
  coverage_job job = {.env = env};
  PC_TRY(coverage_prepare(config, &job, err));
  pc_outcome *truth = pc_alloc(env, job.metrics, sizeof *truth);
  job.values = pc_alloc(env, job.sets * job.metrics * COVERAGE_SERIES, sizeof *job.values);
  const pcal_status status = truth == NULL || job.values == NULL
                                 ? pc_fail_memory(err, "studying coverage")
                                 : coverage_work(&job, truth, table, err);
  pc_free(env, truth);
  pc_free(env, job.values);
  return status;
}

const pc_study pc_study_coverage = {
    .row =
        {
            .kind = "studies",
            .name = "coverage",
            .title = "do intervals cover the truth, and do tests reject as often as they say?",
            .formula = "share of simulated sets whose interval holds the population's value",
            .about =
                "Draws many sets from a simulation whose true calibration is known, measures "
                "each with intervals, and counts how often they hold the true value. For "
                "tests it counts how often they reject at 5 % when the model is calibrated "
                "(size) and when it is not (power).",
            .citation = "Gruber & Buettner, NeurIPS 2022, appendix G.1 (the simulation)",
        },
    .run = coverage_run,
};
