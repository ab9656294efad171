/* Measures rows as they arrive, in constant memory, and joins two measures as two machines would.
 *
 *   cc stream_rows.c $(pkg-config --cflags --libs propercal) -o stream_rows
 */
#include <propercal.h>
#include <stdio.h>

#define ROWS 1000

static int print(void *user, const char *bytes, size_t count) {
  return fwrite(bytes, 1, count, user) != count;
}

/* Adds the rows [first, first + ROWS) of a stream: here probabilities that are 0.1 too high. */
static pcal_status add_rows(pcal_measure *measure, uint64_t first, pcal_error *error) {
  static double probs[ROWS];
  static int32_t labels[ROWS];
  pcal_batch batch = PCAL_BATCH_INIT;
  for (uint64_t i = 0; i < ROWS; i++) {
    const uint64_t row = first + i;
    probs[i] = 0.2 + 0.1 * (double)(row % 8);
    labels[i] = (double)(row / 8 % 100) / 100 < probs[i] - 0.1;
  }
  batch.type = PCAL_F64;
  batch.rows = ROWS;
  batch.columns = 1; /* the probability of class 1 */
  batch.scores = probs;
  batch.labels = labels;
  batch.first_row = first;
  return pcal_measure_update(measure, &batch, error);
}

int main(void) {
  const char *const metrics[] = {"accuracy", "brier", "ece"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *here = NULL, *there = NULL;
  pcal_results *results = NULL;
  pcal_error error;
  config.kind = PCAL_PROBABILITY;
  config.columns = 1;
  config.specs = metrics;
  config.spec_count = 3;

  pcal_status status = pcal_measure_new(&config, NULL, &here, &error);
  if (status == PCAL_OK)
    status = pcal_measure_new(&config, NULL, &there, &error);
  for (uint64_t first = 0; first < 8000 && status == PCAL_OK; first += ROWS)
    status = add_rows(first < 4000 ? here : there, first, &error);
  if (status == PCAL_OK)
    status = pcal_measure_merge(here, there, &error);
  if (status == PCAL_OK)
    status = pcal_measure_finish(here, &results, &error);
  if (status == PCAL_OK)
    status = pcal_results_write(results, PCAL_CSV, print, stdout, &error);
  if (status != PCAL_OK)
    fprintf(stderr, "%s\n", error.message);

  pcal_results_free(results);
  pcal_measure_free(there);
  pcal_measure_free(here);
  return pcal_status_exit_code(status);
}
