/* Measures rows that are divided among workers, in rounds.
 *
 *   cc measure_rounds.c $(pkg-config --cflags --libs propercal) -o measure_rounds
 *
 * Here the workers are loops in one process.  Elsewhere each is a process of its own: send it the
 * request, and its tally back. */
#include <propercal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 6
#define WORKERS 3

/* Two columns: probabilities of class 0 and class 1. */
static const float probs[2 * ROWS] = {0.95F, 0.05F, 0.85F, 0.15F, 0.70F, 0.30F,
                                      0.35F, 0.65F, 0.10F, 0.90F, 0.25F, 0.75F};
static const int32_t labels[ROWS] = {0, 0, 1, 1, 1, 0};

/* Bytes that the library writes; free(bytes) afterwards. */
typedef struct buffer {
  char *bytes;
  size_t length;
} buffer;

static int collect(void *user, const char *bytes, size_t count) {
  buffer *all = user;
  char *grown = realloc(all->bytes, all->length + count);
  if (grown == NULL)
    return 1;
  memcpy(grown + all->length, bytes, count);
  all->bytes = grown;
  all->length += count;
  return 0;
}

static int print(void *user, const char *bytes, size_t count) {
  return fwrite(bytes, 1, count, user) != count;
}

/* Worker w answers a request over its rows. */
static pcal_status answer(const buffer *request, int w, buffer *tally, pcal_error *error) {
  const int first = ROWS * w / WORKERS, end = ROWS * (w + 1) / WORKERS;
  pcal_rounds_worker *worker = NULL;
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.rows = (size_t)(end - first);
  batch.columns = 2;
  batch.scores = probs + 2 * first;
  batch.labels = labels + first;
  batch.first_row = (uint64_t)first;
  pcal_status status =
      pcal_rounds_worker_new(request->bytes, request->length, NULL, &worker, error);
  if (status == PCAL_OK)
    status = pcal_rounds_worker_update(worker, &batch, error); /* any number of batches */
  if (status == PCAL_OK)
    status = pcal_rounds_worker_tally(worker, collect, tally, error);
  pcal_rounds_worker_free(worker);
  return status;
}

/* One round: request, tallies, their sum, absorbed. */
static pcal_status play(pcal_rounds *rounds, pcal_error *error) {
  buffer request = {NULL, 0}, merged = {NULL, 0}, tallies[WORKERS] = {{NULL, 0}};
  pcal_bytes all[WORKERS];
  pcal_status status = pcal_rounds_request(rounds, collect, &request, error);
  for (int w = 0; w < WORKERS && status == PCAL_OK; w++) {
    status = answer(&request, w, &tallies[w], error);
    all[w].bytes = tallies[w].bytes;
    all[w].length = tallies[w].length;
  }
  if (status == PCAL_OK)
    status = pcal_tally_merge(all, WORKERS, NULL, collect, &merged, error);
  if (status == PCAL_OK)
    status = pcal_rounds_absorb(rounds, merged.bytes, merged.length, error);
  for (int w = 0; w < WORKERS; w++)
    free(tallies[w].bytes);
  free(request.bytes);
  free(merged.bytes);
  return status;
}

int main(void) {
  const char *const metrics[] = {"accuracy", "brier", "ece", "ks"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_rounds *rounds = NULL;
  pcal_results *results = NULL;
  pcal_error error;
  config.kind = PCAL_PROBABILITY;
  config.columns = 2;
  config.specs = metrics;
  config.spec_count = 4;
  pcal_status status = pcal_rounds_new(&config, NULL, &rounds, &error);
  while (status == PCAL_OK && !pcal_rounds_done(rounds))
    status = play(rounds, &error);
  if (status == PCAL_OK)
    status = pcal_rounds_finish(rounds, &results, &error);
  if (status == PCAL_OK)
    status = pcal_results_write(results, PCAL_CSV, print, stdout, &error);
  if (status != PCAL_OK)
    fprintf(stderr, "%s\n", error.message);
  pcal_results_free(results);
  pcal_rounds_free(rounds);
  return pcal_status_exit_code(status);
}
