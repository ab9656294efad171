/* Calibrators: fitting them, and applying a temperature.
 *
 *   temperature DATA array|file THREADS
 *   vector DATA array|file THREADS
 *   dirichlet-odir DATA array|file THREADS   lambda and mu 0.001
 *   apply DATA array THREADS             T = 2, into rows in memory */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct fit_text {
  char *bytes;
  size_t length;
} fit_text;

static int fit_sink(void *user, const char *bytes, size_t count) {
  fit_text *text = user;
  char *longer = realloc(text->bytes, text->length + count + 1);
  if (longer == NULL)
    return 1;
  text->bytes = longer;
  memcpy(text->bytes + text->length, bytes, count);
  text->length += count;
  text->bytes[text->length] = '\0';
  return 0;
}

static double fit_number(const fit_text *text, const char *key) {
  const char *found = text->bytes == NULL ? NULL : strstr(text->bytes, key);
  double value = 0.0;
  if (found == NULL || sscanf(found + strlen(key), "%lf", &value) != 1)
    return -1.0;
  return value;
}

static pcal_status fit_timed(const bench_request *request, const pcal_env *env,
                             pcal_source *source, bench_answer *answer, pcal_error *err) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_calibrator *calibrator = NULL;
  fit_text text = {NULL, 0};
  config.method = strcmp(request->operation, "dirichlet-odir") == 0
                      ? "dirichlet-odir:lambda=0.001,mu=0.001"
                      : request->operation;
  bench_start(request, answer);
  pcal_status status = pcal_fit_run(source, &config, env, &calibrator, err);
  bench_stop(request, answer);
  if (status == PCAL_OK)
    status = pcal_calibrator_save(calibrator, fit_sink, &text, err);
  if (strcmp(request->operation, "temperature") == 0)
    bench_value(answer, "T", fit_number(&text, "\"T\": "));
  bench_value(answer, "objective", fit_number(&text, "\"after\": "));
  bench_value(answer, "passes", fit_number(&text, "\"iterations\": "));
  bench_value(answer, "gradient", fit_number(&text, "\"gradient\": "));
  pcal_calibrator_free(calibrator);
  free(text.bytes);
  return status;
}

static pcal_status fit_source(const bench_request *request, bench_answer *answer,
                              pcal_error *err) {
  pcal_env env;
  pcal_source *source = NULL;
  pcal_status status = bench_env(request, &env, err);
  if (status == PCAL_OK)
    status = bench_source(request, &env, &source, err);
  if (status == PCAL_OK)
    status = fit_timed(request, &env, source, answer, err);
  pcal_source_free(source);
  return status;
}

static pcal_status fit_fixed(size_t classes, pcal_calibrator **out, pcal_error *err) {
  char text[1024];
  const int length = snprintf(
      text, sizeof text,
      "{\"format\": \"propercal-calibrator\", \"version\": 1, \"spec\": "
      "\"temperature:objective=log\", \"method\": \"temperature\", \"classes\": %zu, "
      "\"columns\": %zu, \"input\": \"logit\", \"normalize\": false, \"parameters\": "
      "{\"T\": 2}, \"fit\": {\"status\": \"converged\", \"iterations\": 1, \"gradient\": 0, "
      "\"objective\": {\"name\": \"log\", \"before\": 1, \"after\": 1}, \"rows\": 1, "
      "\"weighted\": false, \"weight\": 1, \"normalized_rows\": 0, \"skipped_rows\": 0, "
      "\"warnings\": []}}",
      classes, classes);
  return pcal_calibrator_load(text, (size_t)length, "bench_fit", NULL, out, err);
}

static pcal_status fit_apply(const bench_request *request, bench_answer *answer,
                             pcal_error *err) {
  static float *out;
  static size_t out_count;
  pcal_env env;
  const pcal_batch *rows = NULL;
  pcal_calibrator *calibrator = NULL;
  pcal_status status = bench_env(request, &env, err);
  if (status == PCAL_OK)
    status = bench_rows(request, &rows, err);
  if (status == PCAL_OK)
    status = fit_fixed(rows->columns, &calibrator, err);
  if (status != PCAL_OK)
    return status;
  const size_t count = rows->rows * rows->columns;
  if (out_count != count) {
    free(out);
    out = calloc(count, sizeof *out);
    out_count = count;
  }
  bench_start(request, answer);
  if (out != NULL)
    status = pcal_calibrator_apply(calibrator, rows, &env, out, err);
  else
    status = bench_fail(err, PCAL_MEMORY, "no memory for the calibrated rows");
  bench_stop(request, answer);
  double sum = 0.0;
  for (size_t i = 0; status == PCAL_OK && i < count; i += rows->columns)
    sum += (double)out[i];
  bench_value(answer, "first", sum / (double)rows->rows);
  pcal_calibrator_free(calibrator);
  return status;
}

static pcal_status fit_answer(const bench_request *request, bench_answer *answer,
                              pcal_error *err) {
  static const char *const fitted[] = {"temperature", "vector", "dirichlet-odir"};
  for (size_t i = 0; i < sizeof fitted / sizeof *fitted; i++)
    if (strcmp(request->operation, fitted[i]) == 0)
      return fit_source(request, answer, err);
  if (strcmp(request->operation, "apply") == 0)
    return fit_apply(request, answer, err);
  return bench_fail(
      err, PCAL_USAGE,
      "bench_fit knows the operations temperature, vector, dirichlet-odir and apply");
}

int main(int argc, char **argv) {
  return bench_serve(argc, argv, fit_answer);
}
