/* Simulates rows from index 2^40 on, which no set of a study uses. */
#include "simulate/population.h"

#include <string.h>

#include "measure/measure.h"
#include "simulate/simulate.h"

#define POPULATION_FIRST (UINT64_C(1) << 40)
#define POPULATION_CHUNK 8192
#define POPULATION_COPIES 1048576.0 /* of each row, where a metric corrects for chance */

/* Most scores that curves of every class keep: some 2 GB. */
#define POPULATION_CURVE_SCORES 100000000u

typedef struct population_chunk {
  float *logits;
  int32_t *labels;
  double *truth, *weights;
} population_chunk;

static void population_chunk_free(const pcal_env *env, population_chunk *chunk) {
  pc_free(env, chunk->logits);
  pc_free(env, chunk->labels);
  pc_free(env, chunk->truth);
  pc_free(env, chunk->weights);
}

static pcal_status population_chunk_new(const pcal_env *env, size_t classes,
                                        population_chunk *out, pcal_error *err) {
  const size_t scores = POPULATION_CHUNK * classes;
  out->logits = pc_alloc_raw(env, scores, sizeof *out->logits);
  out->truth = pc_alloc_raw(env, scores, sizeof *out->truth);
  out->labels = pc_alloc_raw(env, POPULATION_CHUNK, sizeof *out->labels);
  out->weights = pc_alloc_raw(env, POPULATION_CHUNK, sizeof *out->weights);
  if (out->logits != NULL && out->truth != NULL && out->labels != NULL && out->weights != NULL)
    return PCAL_OK;
  population_chunk_free(env, out);
  return pc_fail_memory(err, "measuring the population");
}

/* Adds the rows of a chunk once for each class. */
static pcal_status population_add(pcal_measure *measure, const pcal_simulation *sim,
                                  double copies, population_chunk *chunk, pcal_error *err) {
  const size_t rows = (size_t)sim->rows, classes = sim->classes;
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_LOGIT;
  batch.rows = rows;
  batch.columns = classes;
  batch.scores = chunk->logits;
  batch.row_stride = (ptrdiff_t)(classes * sizeof(float));
  batch.column_stride = sizeof(float);
  batch.labels = chunk->labels;
  batch.weights = chunk->weights;
  batch.weights_are = PC_WEIGHTS_EXPECTED;
  for (size_t k = 0; k < classes; k++) {
    for (size_t i = 0; i < rows; i++) {
      chunk->labels[i] = (int32_t)k;
      chunk->weights[i] = copies * chunk->truth[i * classes + k];
    }
    PC_TRY(pc_measure_update(measure, &batch, err));
  }
  return pc_check_interrupt(&measure->env, err);
}

static pcal_status population_measure(pcal_measure *measure, const pcal_simulation *simulation,
                                      uint64_t rows, double copies, pcal_error *err) {
  const pcal_env *env = &measure->env;
  const uint64_t classes = simulation->classes, step = POPULATION_CHUNK / classes * classes;
  population_chunk chunk;
  PC_TRY(population_chunk_new(env, simulation->classes, &chunk, err));
  pcal_status status = PCAL_OK;
  const uint64_t start = POPULATION_FIRST / classes * classes;
  for (uint64_t done = 0; done < rows && status == PCAL_OK; done += step) {
    pcal_simulation part = *simulation;
    part.first_row = start + done;
    part.rows = rows - done < step ? rows - done : step;
    status = pc_simulate(&part, env, chunk.logits, chunk.labels, chunk.truth, err);
    if (status == PCAL_OK)
      status = population_add(measure, &part, copies, &chunk, err);
    pc_progress(env, "measuring the population", done, rows);
  }
  population_chunk_free(env, &chunk);
  return status;
}

/* How a metric's population value is measured. */
typedef enum population_way {
  POPULATION_NONE, /* not at all: pairs of rows, or fractional weights refused */
  POPULATION_ROWS, /* all rows */
  POPULATION_BINS, /* all rows many times: debiased errors of bins would subtract chance, which a
                        population without drawn labels does not have */
  POPULATION_CURVES, /* fewer rows: a curve for each class keeps classes^2 scores of a row */
} population_way;

static int population_debiased(const pc_metric *metric, const pc_options *options) {
  for (size_t i = 0; i < metric->row.option_count; i++)
    if (strcmp(metric->row.options[i].name, "debias") == 0)
      return options->value[i].number != 0;
  return 0;
}

static pcal_status population_choose_way(const char *spec, size_t classes, population_way *way,
                                         pcal_error *err) {
  const pc_layout layout = {.kind = PCAL_LOGIT, .columns = classes, .classes = classes};
  const pc_metric *metric;
  pc_options options;
  pc_metric_config config;
  memset(&config, 0, sizeof config);
  PC_TRY(pc_metric_parse(spec, &metric, &options, err));
  config.traits = metric->traits;
  PC_TRY(metric->configure(&options, &layout, &config, err));
  const pc_need *need = &config.need;
  const int taken = (config.traits & (PC_WHOLE_WEIGHTS | PC_NO_WEIGHTS)) == 0 &&
                    need->machine != PC_PAIR && need->machine != PC_BLOCK;
  *way = !taken                                                              ? POPULATION_NONE
         : need->machine == PC_CURVE && pc_view_is_every_class(&need->view)  ? POPULATION_CURVES
         : need->machine == PC_GRID || population_debiased(metric, &options) ? POPULATION_BINS
                                                                             : POPULATION_ROWS;
  return PCAL_OK;
}

static pcal_status population_results(const pcal_simulation *simulation, uint64_t rows,
                                      double copies, const char *const *specs, size_t count,
                                      const pcal_env *env, pcal_results **out,
                                      pcal_error *err) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  config.kind = PCAL_LOGIT;
  config.columns = simulation->classes;
  config.specs = specs;
  config.spec_count = count;
  PC_TRY(pc_measure_new(&config, env, &measure, err));
  pcal_status status = population_measure(measure, simulation, rows, copies, err);
  if (status == PCAL_OK)
    status = pc_measure_finish(measure, out, err);
  pc_measure_free(measure);
  return status;
}

/* A copy that outlives the results: without the arrays that they own. */
static pc_metric_result population_copy(const pc_metric_result *outcome) {
  pc_metric_result copy = *outcome;
  copy.class_values = NULL;
  copy.class_count = 0;
  memset(&copy.graph, 0, sizeof copy.graph);
  return copy;
}

/* Fills the outcomes of the specs that are measured in one way.  list: scratch space for
 * `count` specs. */
static pcal_status population_fill(const pcal_simulation *simulation, uint64_t rows,
                                   population_way way, const char *const *specs, size_t count,
                                   const pcal_env *env, const char **list,
                                   pc_metric_result *outcomes, pcal_error *err) {
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    population_way here;
    PC_TRY(population_choose_way(specs[i], simulation->classes, &here, err));
    if (here == way)
      list[used++] = specs[i];
  }
  if (used == 0)
    return PCAL_OK;
  pcal_results *results = NULL;
  PC_TRY(population_results(simulation, rows, way == POPULATION_BINS ? POPULATION_COPIES : 1.0,
                            list, used, env, &results, err));
  for (size_t i = 0; i < count; i++) { /* by spec: a repeated one was measured once */
    const pc_result_record *record = pc_results_record(results, specs[i]);
    if (record != NULL)
      outcomes[i] = population_copy(&record->outcome);
  }
  pc_results_free(results);
  return PCAL_OK;
}

pcal_status pc_population_outcomes(const pcal_simulation *simulation, uint64_t rows,
                                   const char *const *specs, size_t count, const pcal_env *env,
                                   pc_metric_result *outcomes, pcal_error *err) {
  if (simulation->classes > POPULATION_CHUNK)
    return pc_fail(err, PCAL_USAGE, "a population takes at most %d classes", POPULATION_CHUNK);
  const char **list = pc_alloc(env, count, sizeof *list);
  if (list == NULL)
    return pc_fail_memory(err, "measuring the population");
  for (size_t i = 0; i < count; i++)
    outcomes[i] = (pc_metric_result){.undefined = 1};
  const uint64_t classes = simulation->classes;
  const uint64_t most = POPULATION_CURVE_SCORES / (classes * classes);
  pcal_status status = population_fill(simulation, rows, POPULATION_ROWS, specs, count, env,
                                       list, outcomes, err);
  if (status == PCAL_OK)
    status = population_fill(simulation, rows, POPULATION_BINS, specs, count, env, list,
                             outcomes, err);
  if (status == PCAL_OK)
    status = population_fill(simulation, rows < most ? rows : most, POPULATION_CURVES, specs,
                             count, env, list, outcomes, err);
  pc_free(env, list);
  return status;
}
