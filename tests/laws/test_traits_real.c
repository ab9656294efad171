/* What rows promise of their maps, on predictions of a real model that the fit has not seen:
 *
 *   test_traits_real FOLDER      with logits_val.npy, labels_val.npy, logits_test.npy and
 *                                labels_test.npy; without them the exit code is 77
 *
 * Every calibrator of classes is fitted to the first set and applied to the second; traits are
 * looked at row by row, and injectivity for rows that lie next to each other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>

#include "../file_inputs.h"
#include "calibrators/calibrator.h"
#include "propercal.h"

#define TRAITS_REAL_SKIP 77
#define TRAITS_REAL_PATH 4096

typedef struct traits_real_rows {
  size_t rows, columns;
  double *before, *after;
} traits_real_rows;

static pcal_source *traits_real_open(const char *folder, const char *set) {
  char logits[TRAITS_REAL_PATH], labels[TRAITS_REAL_PATH];
  file_inputs inputs = {0};
  pcal_source *source = NULL;
  struct stat about;
  snprintf(logits, sizeof logits, "%s/logits_%s.npy", folder, set);
  snprintf(labels, sizeof labels, "%s/labels_%s.npy", folder, set);
  inputs.logits = logits;
  inputs.labels = labels;
  return stat(logits, &about) == 0 && file_inputs_open(&inputs, NULL, &source, NULL) == PCAL_OK
             ? source
             : NULL;
}

/* The first row that breaks a promise, in words; NULL: none does. */
static const char *traits_real_row(unsigned traits, const double *p, const double *q,
                                   size_t k) {
  double sum = 0, best = 0;
  size_t top = 0;
  for (size_t j = 0; j < k; j++) {
    sum += q[j];
    best = fmax(best, q[j]);
    top = p[j] > p[top] ? j : top;
    if (!(q[j] >= 0 && q[j] <= 1 + 1e-9))
      return "is no probability";
  }
  if ((traits & PC_SUMS_TO_ONE) != 0 && fabs(sum - 1) > 1e-12)
    return "does not sum to one";
  if ((traits & PC_KEEPS_ACCURACY) != 0 && q[top] != best)
    return "has another top class";
  for (size_t a = 0; a < k && (traits & PC_KEEPS_ORDER) != 0; a++)
    for (size_t b = 0; b < k; b++)
      if (p[a] > p[b] && q[a] < q[b])
        return "has another order";
  return NULL;
}

static int traits_real_injective(const traits_real_rows *rows, size_t i) {
  const size_t k = rows->columns;
  const double *p = rows->before + i * k, *q = rows->after + i * k;
  double apart = 0;
  for (size_t j = 0; j < k; j++)
    apart = fmax(apart, fabs(p[j] - p[j - k]));
  return apart <= 1e-5 || memcmp(q, q - k, k * sizeof *q) != 0;
}

static int traits_real_check(const char *spec, unsigned traits, const traits_real_rows *rows) {
  const size_t k = rows->columns;
  for (size_t i = 0; i < rows->rows; i++) {
    const char *wrong = traits_real_row(traits, rows->before + i * k, rows->after + i * k, k);
    if (wrong == NULL && i > 0 && (traits & PC_INJECTIVE) != 0 &&
        !traits_real_injective(rows, i))
      wrong = "is the same as the one before, and was not";
    if (wrong != NULL) {
      fprintf(stderr, "%s: row %zu %s\n", spec, i, wrong);
      return 0;
    }
  }
  return 1;
}

/* Fits and applies; 1 when all that is promised holds. */
static int traits_real_method(const char *spec, pcal_source *val, const pcal_batch *test,
                              traits_real_rows *rows, double *out, int check) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  config.method = spec;
  if (pcal_fit_run(val, &config, NULL, &calibrator, &err) != PCAL_OK ||
      pcal_calibrator_column_count(calibrator) != rows->columns ||
      pcal_calibrator_apply(calibrator, test, NULL, out, &err) != PCAL_OK) {
    fprintf(stderr, "%s: %s\n", spec, calibrator == NULL ? err.message : "not all classes");
    pcal_calibrator_free(calibrator);
    return 0;
  }
  const int holds = !check || traits_real_check(spec, pc_calibrator_traits(calibrator), rows);
  pcal_calibrator_free(calibrator);
  return holds;
}

/* Penalties that are not searched for; all else as it comes, and what the defaults leave out.
 */
static const char *const traits_real_specs[] = {"matrix-odir:lambda=0.01,mu=0.01",
                                                "dirichlet-odir:lambda=0.01,mu=0.01",
                                                "vector:on=log-probs",
                                                "temperature:objective=brier",
                                                "ets:fit=sequential",
                                                "histogram:classwise=no",
                                                "spline:target=all"};

static int traits_real_all(pcal_source *val, const pcal_batch *test, traits_real_rows *rows) {
  int holds = traits_real_method("identity", val, test, rows, rows->before, 0);
  for (size_t i = 0; i < pcal_registry_count(PCAL_CALIBRATORS); i++) {
    const pcal_registry_row *row = pcal_registry_at(PCAL_CALIBRATORS, i);
    if (row->task == PCAL_CLASSIFICATION && strstr(row->name, "odir") == NULL)
      holds &= traits_real_method(row->name, val, test, rows, rows->after, 1);
  }
  for (size_t i = 0; i < sizeof traits_real_specs / sizeof *traits_real_specs; i++)
    holds &= traits_real_method(traits_real_specs[i], val, test, rows, rows->after, 1);
  return holds;
}

static double *traits_real_promote(const pcal_batch *batch) {
  double *scores = malloc(batch->rows * batch->columns * sizeof *scores);
  for (size_t i = 0; scores != NULL && i < batch->rows * batch->columns; i++)
    scores[i] = (double)((const float *)batch->scores)[i];
  return scores;
}

int main(int count, char **words) {
  pcal_source *val = traits_real_open(count > 1 ? words[1] : ".", "val");
  pcal_source *test = traits_real_open(count > 1 ? words[1] : ".", "test");
  pcal_batch batch = PCAL_BATCH_INIT;
  if (val == NULL || test == NULL)
    return TRAITS_REAL_SKIP;
  if (pcal_source_next(test, SIZE_MAX, &batch, NULL) != PCAL_OK || batch.type != PCAL_F32)
    return 1;
  traits_real_rows rows = {batch.rows, batch.columns, NULL, NULL};
  double *scores = traits_real_promote(&batch);
  rows.before = malloc(batch.rows * batch.columns * sizeof(double));
  rows.after = malloc(batch.rows * batch.columns * sizeof(double));
  batch.scores = scores;
  batch.type = PCAL_F64;
  batch.row_stride = (ptrdiff_t)(batch.columns * sizeof(double));
  batch.column_stride = sizeof(double);
  const int holds = scores != NULL && rows.before != NULL && rows.after != NULL &&
                    traits_real_all(val, &batch, &rows);
  free(scores);
  free(rows.before);
  free(rows.after);
  pcal_source_free(val);
  pcal_source_free(test);
  return holds ? 0 : 1;
}
