/* Calibrators that learn from the order of scores.
 *
 *   METHOD DATA array|file THREADS    fits METHOD, a name of the registry; what it makes of the
 *                                     first rows is not timed
 *   both:METHOD DATA array THREADS    fits it and applies it to all rows, both timed */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define ORDER_ROWS ((size_t)50000) /* that are compared with peers */

/* Mean and mean square of the calibrated scores of class 1, or of class 0 of several. */
static pcal_status order_apply(const pcal_calibrator *calibrator, const pcal_batch *rows,
                               const pcal_env *env, float *out, bench_answer *answer,
                               pcal_error *err) {
  double sum = 0.0, square = 0.0;
  const pcal_status status = pcal_calibrator_apply(calibrator, rows, env, out, err);
  for (size_t i = 0; status == PCAL_OK && i < rows->rows; i++) {
    const double value = (double)out[i * rows->columns];
    sum += value;
    square += value * value;
  }
  bench_value(answer, "mean", sum / (double)rows->rows);
  bench_value(answer, "square", square / (double)rows->rows);
  return status;
}

static pcal_status order_fit(const bench_request *request, const char *method,
                             const pcal_env *env, pcal_calibrator **out, pcal_error *err) {
  pcal_source *source = NULL;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  config.method = method;
  pcal_status status = bench_source(request, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_fit_run(source, &config, env, out, err);
  pcal_source_free(source);
  return status;
}

static pcal_status order_answer(const bench_request *request, bench_answer *answer,
                                pcal_error *err) {
  const int both = strncmp(request->operation, "both:", 5) == 0;
  pcal_env env;
  const pcal_batch *kept = NULL;
  pcal_calibrator *calibrator = NULL;
  pcal_status status = bench_env(request, &env, err);
  if (status == PCAL_OK)
    status = bench_rows(request, &kept, err);
  if (status != PCAL_OK)
    return status;
  pcal_batch rows = *kept;
  rows.rows = !both && rows.rows > ORDER_ROWS ? ORDER_ROWS : rows.rows;
  float *out = calloc(rows.rows * rows.columns, sizeof *out);
  if (out == NULL)
    return bench_fail(err, PCAL_MEMORY, "no memory for the calibrated rows");
  bench_start(request, answer);
  status = order_fit(request, request->operation + (both ? 5 : 0), &env, &calibrator, err);
  if (!both)
    bench_stop(request, answer);
  if (status == PCAL_OK)
    status = order_apply(calibrator, &rows, &env, out, answer, err);
  if (both)
    bench_stop(request, answer);
  pcal_calibrator_free(calibrator);
  free(out);
  return status;
}

int main(int argc, char **argv) {
  return bench_serve(argc, argv, order_answer);
}
