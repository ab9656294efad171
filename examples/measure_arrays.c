/* Measures predictions that are already in memory.
 *
 *   cc measure_arrays.c $(pkg-config --cflags --libs propercal) -o measure_arrays
 */
#include <propercal.h>
#include <stdio.h>

static int print(void *user, const char *bytes, size_t count) {
  return fwrite(bytes, 1, count, user) != count;
}

int main(void) {
  const float probs[] = {
      0.95F, 0.05F, /* row 0: probabilities of class 0 and class 1 */
      0.85F, 0.15F, /* row 1 */
      0.70F, 0.30F, 0.35F, 0.65F, 0.10F, 0.90F, 0.25F, 0.75F,
  };
  const int32_t labels[] = {0, 0, 1, 1, 1, 0};
  const char *const metrics[] = {"accuracy", "brier", "ece"};

  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  config.kind = PCAL_PROBABILITY;
  config.columns = 2;
  config.specs = metrics;
  config.spec_count = 3;

  pcal_batch batch = PCAL_BATCH_INIT;
  batch.rows = 6;
  batch.columns = 2;
  batch.scores = probs;
  batch.labels = labels;

  pcal_error error;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_status status = pcal_measure_new(&config, NULL, &measure, &error);
  if (status == PCAL_OK)
    status = pcal_measure_update(measure, &batch, &error);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, &results, &error);
  if (status == PCAL_OK)
    status = pcal_results_write(results, PCAL_CSV, print, stdout, &error);
  if (status != PCAL_OK)
    fprintf(stderr, "%s\n", error.message);

  pcal_results_free(results);
  pcal_measure_free(measure);
  return pcal_status_exit_code(status);
}
