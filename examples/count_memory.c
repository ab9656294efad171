/* An allocator of one's own, and a limit on memory.
 *
 *   cc count_memory.c $(pkg-config --cflags --libs propercal) -o count_memory
 */
#include <propercal.h>
#include <stdio.h>
#include <stdlib.h>

/* With threads = 1 the allocator is called from one thread only; else it must be thread-safe. */
typedef struct counter {
  size_t blocks;
} counter;

static void *counter_resize(void *user, void *block, size_t size) {
  counter *count = user;
  void *grown = realloc(block, size);
  if (grown != NULL && block == NULL)
    count->blocks++;
  return grown;
}

static void counter_release(void *user, void *block) {
  counter *count = user;
  count->blocks--;
  free(block);
}

static pcal_status measure(const pcal_env *env, pcal_error *error) {
  static double probs[50000];
  static int32_t labels[50000];
  const char *const metrics[] = {"ks"}; /* which keeps scores */
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  for (int i = 0; i < 50000; i++)
    probs[i] = (double)i / 50000;
  config.columns = 1;
  config.specs = metrics;
  config.spec_count = 1;
  batch.type = PCAL_F64;
  batch.rows = 50000;
  batch.columns = 1;
  batch.scores = probs;
  batch.labels = labels;
  pcal_status status = pcal_measure_new(&config, env, &measure, error);
  if (status == PCAL_OK)
    status = pcal_measure_update(measure, &batch, error);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, &results, error);
  pcal_results_free(results);
  pcal_measure_free(measure);
  return status;
}

int main(void) {
  counter count = {0};
  pcal_env env = PCAL_ENV_INIT;
  pcal_error error;
  env.threads = 1;
  env.allocator.resize = counter_resize;
  env.allocator.release = counter_release;
  env.allocator.user = &count;
  pcal_status status = measure(&env, &error);
  printf("measured: %s, blocks left: %zu\n", pcal_status_text(status), count.blocks);

  env.memory_limit = 100000;
  status = measure(&env, &error);
  printf("with 100 kB: %s, blocks left: %zu\n", pcal_status_text(status), count.blocks);
  printf("%s\n", error.message);
  return status == PCAL_MEMORY ? 0 : 1;
}
