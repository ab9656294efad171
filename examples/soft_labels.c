/* Measures labels that are distributions over classes, such as the votes of several annotators: as an
 * input of a source, and as batches.
 *
 *   cc soft_labels.c $(pkg-config --cflags --libs propercal) -o soft_labels
 */
#include <propercal.h>
#include <stdio.h>

#define ROWS 4
#define CLASSES 3

static const double probs[ROWS * CLASSES] = {0.7, 0.2, 0.1, 0.3, 0.4, 0.3,
                                             0.1, 0.1, 0.8, 0.5, 0.3, 0.2};
/* Shares of the votes; rows sum to 1. */
static const double truth[ROWS * CLASSES] = {0.8, 0.2, 0.0, 0.4, 0.4, 0.2,
                                             0.0, 0.2, 0.8, 0.6, 0.2, 0.2};

static const char *const metrics[] = {"brier", "log"};

static void print_values(const char *name, const pcal_results *results) {
  pcal_result result = PCAL_RESULT_INIT;
  printf("%s:", name);
  for (size_t i = 0; i < pcal_results_count(results); i++)
    if (pcal_results_get(results, i, &result) == PCAL_OK)
      printf(" %s %.6f", result.metric, result.value);
  printf("\n");
}

/* All rows at once: labels with a column for each class. */
static pcal_status measure_source(pcal_error *error) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_input scores = PCAL_INPUT_INIT, labels = PCAL_INPUT_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  scores.data = probs;
  labels.data = truth;
  scores.type = labels.type = PCAL_F64;
  scores.rows = labels.rows = ROWS;
  scores.columns = labels.columns = CLASSES;
  inputs.probs = &scores;
  inputs.labels = &labels;
  config.specs = metrics;
  config.spec_count = 2;
  pcal_status status = pcal_source_open(&inputs, NULL, &source, error);
  if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, NULL, &results, error);
  if (status == PCAL_OK)
    print_values("source", results);
  pcal_results_free(results);
  pcal_source_free(source);
  return status;
}

/* Adds one row as a batch: once for every class, with its share as weight and the row as cluster. */
static pcal_status add_row(pcal_measure *measure, uint32_t row, pcal_error *error) {
  double scores[CLASSES * CLASSES], weights[CLASSES];
  int32_t labels[CLASSES];
  uint32_t clusters[CLASSES];
  pcal_batch batch = PCAL_BATCH_INIT;
  for (int k = 0; k < CLASSES; k++) {
    for (int j = 0; j < CLASSES; j++)
      scores[k * CLASSES + j] = probs[row * CLASSES + (uint32_t)j];
    labels[k] = k;
    weights[k] = truth[row * CLASSES + (uint32_t)k];
    clusters[k] = row;
  }
  batch.type = PCAL_F64;
  batch.rows = batch.columns = CLASSES;
  batch.scores = scores;
  batch.labels = labels;
  batch.weights = weights;
  batch.weights_are = PCAL_WEIGHTS_IMPORTANCE;
  batch.groups = clusters;
  batch.first_row = (uint64_t)row * CLASSES;
  return pcal_measure_update(measure, &batch, error);
}

/* Batch by batch; by_cluster, so that intervals draw whole rows. */
static pcal_status measure_batches(pcal_error *error) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  config.columns = CLASSES;
  config.specs = metrics;
  config.spec_count = 2;
  config.by_cluster = 1;
  config.interval = 0.95;
  pcal_status status = pcal_measure_new(&config, NULL, &measure, error);
  for (uint32_t row = 0; row < ROWS && status == PCAL_OK; row++)
    status = add_row(measure, row, error);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, &results, error);
  if (status == PCAL_OK)
    print_values("batches", results);
  pcal_results_free(results);
  pcal_measure_free(measure);
  return status;
}

int main(void) {
  pcal_error error;
  pcal_status status = measure_source(&error);
  if (status == PCAL_OK)
    status = measure_batches(&error);
  if (status != PCAL_OK)
    fprintf(stderr, "%s\n", error.message);
  return status == PCAL_OK ? 0 : 1;
}
