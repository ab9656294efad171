/* A pool of threads for many calls, and a call that can be stopped.
 *
 *   cc share_threads.c $(pkg-config --cflags --libs propercal) -o share_threads
 */
#include <propercal.h>
#include <stdio.h>

#define ROWS 20000

static double probs[ROWS];
static int32_t labels[ROWS];

static int stop_now(void *user) {
  return *(const int *)user;
}

/* Measures all rows; writes the calibration error. */
static pcal_status measure(const pcal_env *env, double *ece, pcal_error *error) {
  pcal_input scores = PCAL_INPUT_INIT, classes = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  const char *const metrics[] = {"ece"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  pcal_result result;
  pcal_result_init(&result, sizeof result);
  scores.data = probs;
  scores.type = PCAL_F64;
  scores.rows = ROWS;
  classes.data = labels;
  classes.type = PCAL_I32;
  classes.rows = ROWS;
  inputs.probs = &scores;
  inputs.labels = &classes;
  config.specs = metrics;
  config.spec_count = 1;
  config.interval = 0.9;
  pcal_status status = pcal_source_open(&inputs, env, &source, error);
  if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, env, &results, error);
  if (status == PCAL_OK)
    status = pcal_results_find(results, "ece", &result, error);
  *ece = result.value;
  pcal_results_free(results);
  pcal_source_free(source);
  return status;
}

int main(void) {
  pcal_env env = PCAL_ENV_INIT;
  pcal_error error;
  int stop = 0;
  double alone = 0, together = 0;
  for (int i = 0; i < ROWS; i++) {
    probs[i] = (double)(i % 100) / 100;
    labels[i] = i / 100 % 7 < 7 * probs[i];
  }
  env.threads = 1;
  pcal_status status = measure(&env, &alone, &error);

  env.threads = 4;
  if (status == PCAL_OK)
    status = pcal_pool_new(env.threads, NULL, &env.pool, &error);
  if (status == PCAL_OK)
    status = measure(&env, &together, &error); /* the pool stays for the next call */
  printf("the same bits: %s\n", status == PCAL_OK && alone == together ? "yes" : "no");

  stop = 1;
  env.interrupted = stop_now;
  env.user = &stop;
  if (status == PCAL_OK)
    printf("stopped: %s\n", pcal_status_text(measure(&env, &together, &error)));
  if (status != PCAL_OK)
    fprintf(stderr, "%s\n", error.message);
  pcal_pool_free(env.pool);
  return pcal_status_exit_code(status);
}
