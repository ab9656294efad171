/* Shows what an error holds: a status, one sentence, and its parts as data.
 *
 *   cc handle_errors.c $(pkg-config --cflags --libs propercal) -o handle_errors
 */
#include <propercal.h>
#include <stdio.h>

int main(void) {
  const double probs[] = {0.25, 0.75, 0.5, 1.5};
  const int32_t labels[] = {0, 1, 1, 0};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_measure *measure = NULL;
  pcal_error error = PCAL_ERROR_INIT;
  char remedy[256];
  config.columns = 1;
  batch.type = PCAL_F64;
  batch.rows = 4;
  batch.columns = 1;
  batch.scores = probs;
  batch.scores_name = "my probabilities"; /* for messages */
  batch.labels = labels;

  if (pcal_measure_new(&config, NULL, &measure, &error) != PCAL_OK)
    return pcal_status_exit_code(error.status);
  const pcal_status status = pcal_measure_update(measure, &batch, &error);
  pcal_error_remedy(&error, PCAL_INTERFACE_C, remedy, sizeof remedy);
  printf("status: %s\n", pcal_status_text(status));
  printf("message: %s\n", error.message);
  printf("subject: %s\n", error.subject);
  printf("row: %llu\n", (unsigned long long)error.row);
  printf("remedy: %s\n", remedy);

  /* A refused batch leaves the measure as it was: it can be given again, corrected. */
  const double corrected[] = {0.25, 0.75, 0.5, 0.5};
  batch.scores = corrected;
  printf("again: %s\n", pcal_status_text(pcal_measure_update(measure, &batch, &error)));
  pcal_measure_free(measure);
  return 0;
}
