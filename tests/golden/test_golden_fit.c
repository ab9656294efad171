/* Fits calibrators on a validation set, applies them to a test set, and compares.
 *
 *   test_golden_fit TABLE.tsv [noise]
 *
 * Columns of the table, separated by tabs: method, quantity, expected, relative tolerance,
 * provenance.  A quantity is "T", a parameter; "after", the objective at the end; or the spec
 * of a metric, measured on the calibrated test set in double.  "rank2/" before the spec:
 * measured on what the class that had rank 2 came to, and whether it is the label; "within2/":
 * on the one column that came out, and whether the label was among the first 2.  Lines that
 * begin with '#' are left out.  The data are those of cifar10_resnet110 below
 * $PROPERCAL_SHARED, which is
 * ../shared beside the source tree unless set; when they are not there, the exit code is 77.
 * noise: row i of both sets with i % 10 == 3 has the label (y + 1 + (i / 10) % 9) % 10. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sinks.h"
#include "calibrators/calibrator.h"
#include "golden_set.h"
#include "io/source.h"
#include "propercal.h"

#define GOLDEN_FIT_LINE 1024
#define GOLDEN_FIT_SKIP 77

typedef struct golden_fit_data {
  pcal_source *val, *test;
  pcal_batch rows[2];     /* of them */
  int32_t *labels[2];     /* with noise, or NULL */
  pcal_source *noisy_val; /* over these */
  double *scores, *probs; /* of the test set, and calibrated */
  double *event;          /* of each row: the probability of one event, */
  int32_t *came_true;     /* and whether it came true */
  pcal_batch batch;       /* the test set in double */
} golden_fit_data;

static int golden_fit_add_noise(golden_fit_data *data) {
  for (int set = 0; set < 2; set++) {
    pcal_batch *batch = &data->rows[set];
    data->labels[set] = malloc(batch->rows * sizeof(int32_t));
    if (data->labels[set] == NULL)
      return 0;
    for (size_t i = 0; i < batch->rows; i++) {
      const int32_t label = batch->labels[i], step = (int32_t)(i / 10 % 9);
      data->labels[set][i] = i % 10 == 3 ? (label + 1 + step) % 10 : label;
    }
    batch->labels = data->labels[set];
  }
  return pc_source_borrow(&data->rows[0], NULL, NULL, &data->noisy_val, NULL) == PCAL_OK;
}

static int golden_fit_read(golden_fit_data *data) {
  for (int set = 0; set < 2; set++) {
    data->rows[set] = (pcal_batch)PCAL_BATCH_INIT;
    if (pcal_source_next(set == 0 ? data->val : data->test, SIZE_MAX, &data->rows[set], NULL) !=
        PCAL_OK)
      return 0;
  }
  return 1;
}

/* Promotes the test set to double, so that its results are not rounded to float. */
static int golden_fit_promote(golden_fit_data *data) {
  const pcal_batch batch = data->rows[1];
  if (batch.type != PCAL_F32)
    return 0;
  const size_t cells = batch.rows * batch.columns;
  data->scores = malloc(cells * sizeof(double));
  data->probs = malloc(cells * sizeof(double));
  data->event = malloc(batch.rows * sizeof(double));
  data->came_true = malloc(batch.rows * sizeof(int32_t));
  if (data->scores == NULL || data->probs == NULL || data->event == NULL ||
      data->came_true == NULL)
    return 0;
  for (size_t i = 0; i < cells; i++)
    data->scores[i] = (double)((const float *)batch.scores)[i];
  data->batch = batch;
  data->batch.type = PCAL_F64;
  data->batch.scores = data->scores;
  data->batch.row_stride = (ptrdiff_t)(batch.columns * sizeof(double));
  data->batch.column_stride = sizeof(double);
  return 1;
}

static pcal_calibrator *golden_fit_fit(const golden_fit_data *data, const char *method) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  config.method = method;
  pcal_source *val = data->noisy_val == NULL ? data->val : data->noisy_val;
  if (pcal_fit_run(val, &config, NULL, &calibrator, &err) != PCAL_OK ||
      pcal_calibrator_apply(calibrator, &data->batch, NULL, data->probs, &err) != PCAL_OK)
    fprintf(stderr, "%s: %s\n", method, err.message);
  return calibrator;
}

/* The rank of class c in a row of logits, from 1; ties go to the lower class. */
static size_t golden_fit_rank(const double *scores, size_t classes, size_t c) {
  size_t rank = 1;
  for (size_t j = 0; j < classes; j++)
    rank += scores[j] > scores[c] || (scores[j] == scores[c] && j < c);
  return rank;
}

/* Events of the class of a rank, or of the ranks up to it. */
static void golden_fit_events(const golden_fit_data *data, size_t rank, int within) {
  const size_t k = data->batch.columns;
  for (size_t i = 0; i < data->batch.rows; i++) {
    const double *scores = data->scores + i * k;
    const size_t label = golden_fit_rank(scores, k, (size_t)data->batch.labels[i]);
    data->came_true[i] = within ? label <= rank : label == rank;
    data->event[i] = data->probs[i];
    for (size_t c = 0; !within && c < k; c++)
      if (golden_fit_rank(scores, k, c) == rank)
        data->event[i] = data->probs[i * k + c];
  }
}

/* Reads "rank2/" or "within2/" and prepares the events; the batch becomes theirs. */
static const char *golden_fit_view(const golden_fit_data *data, const char *spec,
                                   pcal_batch *batch) {
  unsigned rank = 0;
  int used = 0, within = 0;
  if (sscanf(spec, "rank%u/%n", &rank, &used) != 1 || used == 0) {
    within = sscanf(spec, "within%u/%n", &rank, &used) == 1 && used > 0;
    if (!within)
      return spec;
  }
  golden_fit_events(data, rank, within);
  batch->kind = PCAL_CONFIDENCE;
  batch->columns = 1;
  batch->scores = data->event;
  batch->row_stride = sizeof(double);
  batch->labels = data->came_true;
  return spec + used;
}

static int golden_fit_metric(const golden_fit_data *data, const char *quantity, double *value) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_batch batch = data->batch;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  pcal_result result = {.size = sizeof result};
  pcal_error err;
  batch.kind = PCAL_PROBABILITY;
  batch.scores = data->probs;
  const char *spec = golden_fit_view(data, quantity, &batch);
  config.specs = &spec;
  config.spec_count = 1;
  pcal_status status = pc_source_borrow(&batch, NULL, NULL, &source, &err);
  if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, NULL, &results, &err);
  if (status == PCAL_OK)
    status = pcal_results_find(results, spec, &result, &err);
  *value = result.value;
  pcal_results_free(results);
  pcal_source_free(source);
  if (status != PCAL_OK)
    fprintf(stderr, "%s: %s\n", spec, err.message);
  return status == PCAL_OK;
}

static int golden_fit_quantity(const golden_fit_data *data, const pcal_calibrator *calibrator,
                               const char *quantity, double *value) {
  static sink_bytes text;
  *value = calibrator->fit.after;
  if (strcmp(quantity, "after") == 0)
    return 1;
  if (strcmp(quantity, "T") != 0)
    return golden_fit_metric(data, quantity, value);
  text.length = 0;
  if (pcal_calibrator_save(calibrator, sink_collect, &text, NULL) != PCAL_OK)
    return 0;
  const char *at = strstr(text.bytes, "\"T\": ");
  *value = at == NULL ? NAN : strtod(at + 5, NULL);
  return at != NULL;
}

/* The calibrator of the line before, which the next may ask for again. */
typedef struct golden_fit_last {
  char method[GOLDEN_FIT_LINE];
  pcal_calibrator *calibrator;
} golden_fit_last;

/* One line of the table; 1 if it agrees. */
static int golden_fit_line(const golden_fit_data *data, char *line, golden_fit_last *last) {
  char *field[5], *at = line;
  double value = NAN;
  for (int i = 0; i < 5; i++) {
    field[i] = at;
    at += strcspn(at, "\t\n");
    if ((i < 4) != (*at == '\t'))
      return 0;
    *at++ = '\0';
  }
  if (strcmp(last->method, field[0]) != 0) {
    pcal_calibrator_free(last->calibrator);
    last->calibrator = golden_fit_fit(data, field[0]);
    snprintf(last->method, sizeof last->method, "%s", field[0]);
  }
  const pcal_calibrator *calibrator = last->calibrator;
  const double expected = strtod(field[2], NULL), tolerance = strtod(field[3], NULL);
  const int fine = calibrator != NULL &&
                   golden_fit_quantity(data, calibrator, field[1], &value) &&
                   fabs(value - expected) <= tolerance * fabs(expected);
  if (!fine)
    fprintf(stderr, "%s: %s is %.17g, not %s within %s (%s)\n", field[0], field[1], value,
            field[2], field[3], field[4]);
  return fine;
}

static int golden_fit_table(const golden_fit_data *data, const char *path) {
  char line[GOLDEN_FIT_LINE];
  golden_fit_last last = {"", NULL};
  FILE *file = fopen(path, "r");
  int fine = file != NULL, headed = 0;
  unsigned count = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (line[0] == '#')
      continue;
    if (!headed) {
      headed = strncmp(line, "method\t", 7) == 0;
      fine &= headed;
      continue;
    }
    fine &= golden_fit_line(data, line, &last);
    count++;
  }
  if (file != NULL)
    fclose(file);
  pcal_calibrator_free(last.calibrator);
  if (fine && count > 0)
    printf("%u values agree\n", count);
  return fine && count > 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  char folder[GOLDEN_FIT_LINE];
  const char *shared = getenv("PROPERCAL_SHARED");
  golden_fit_data data = {.batch = PCAL_BATCH_INIT};
  int code = 1;
  if (argc != 2 && (argc != 3 || strcmp(argv[2], "noise") != 0)) {
    fprintf(stderr, "usage: test_golden_fit TABLE.tsv [noise]\n");
    return 2;
  }
  const char *slash = strrchr(argv[1], '/');
  const int length = slash == NULL ? 1 : (int)(slash - argv[1]);
  if (shared != NULL)
    snprintf(folder, sizeof folder, "%.900s/data/cifar10_resnet110", shared);
  else
    snprintf(folder, sizeof folder, "%.*s/../../../shared/data/cifar10_resnet110", length,
             slash == NULL ? "." : argv[1]);
  data.val = golden_set_open(folder, "val");
  data.test = golden_set_open(folder, "test");
  if (data.val == NULL || data.test == NULL) {
    printf("left out: there are no shared data in %s\n", folder);
    code = GOLDEN_FIT_SKIP;
  } else if (golden_fit_read(&data) && (argc == 2 || golden_fit_add_noise(&data)) &&
             golden_fit_promote(&data)) {
    code = golden_fit_table(&data, argv[1]);
  }
  pcal_source_free(data.noisy_val);
  pcal_source_free(data.val);
  pcal_source_free(data.test);
  free(data.labels[0]);
  free(data.labels[1]);
  free(data.scores);
  free(data.probs);
  free(data.event);
  free(data.came_true);
  return code;
}
