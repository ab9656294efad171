/* Rows in memory, measured in rounds by several workers and in one process. */
#ifndef ROUNDS_HELP_H
#define ROUNDS_HELP_H

#include "../../sinks.h"
#include "../unit.h"
#include "base/checksum.h"
#include "base/envelope.h"
#include "base/rng.h"

#define ROUNDS_CLASSES 4
#define ROUNDS_WORKERS_MAX 8

typedef struct rounds_data {
  size_t rows, columns;
  pcal_kind kind;
  double *scores, *weights; /* weights NULL: none */
  int32_t *labels;
  uint32_t *groups; /* or NULL */
  double *targets;  /* in place of labels, or NULL */
} rounds_data;

static inline void rounds_data_free(rounds_data *data) {
  free(data->scores);
  free(data->weights);
  free(data->labels);
  free(data->groups);
  free(data->targets);
  *data = (rounds_data){0};
}

/* Logits of ROUNDS_CLASSES classes, or probabilities of class 1; ties: few distinct scores.
 * Weights are whole numbers from 0 to 4. */
static inline rounds_data rounds_data_draw(size_t rows, size_t columns, int ties, int weighted,
                                           size_t groups) {
  const pc_rng rng = {31, 1}, other = {31, 2};
  rounds_data data = {.rows = rows, .columns = columns};
  data.kind = columns == 1 ? PCAL_PROBABILITY : PCAL_LOGIT;
  data.scores = calloc(rows * columns, sizeof *data.scores);
  data.labels = calloc(rows, sizeof *data.labels);
  data.weights = weighted ? calloc(rows, sizeof *data.weights) : NULL;
  data.groups = groups > 0 ? calloc(rows, sizeof *data.groups) : NULL;
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < columns; j++) {
      const double u = pc_rng_uniform(&rng, i * columns + j);
      const double z = columns == 1 ? u * u : 6 * u;
      data.scores[i * columns + j] = ties ? floor(z * 13) / 13 : z;
    }
    const double u = pc_rng_uniform(&other, i);
    data.labels[i] =
        columns == 1 ? u < 0.1 + 0.7 * data.scores[i] : (int32_t)(u * (double)columns);
    if (weighted)
      data.weights[i] = (double)(pc_rng_bits(&other, rows + i) % 5);
    if (groups > 0)
      data.groups[i] = (uint32_t)(pc_rng_bits(&other, 2 * rows + i) % groups);
  }
  return data;
}

/* Rows [begin, end) of the data. */
static inline pcal_batch rounds_batch(const rounds_data *data, size_t begin, size_t end) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = data->kind;
  batch.type = PCAL_F64;
  batch.rows = end - begin;
  batch.columns = data->columns;
  batch.scores = data->scores + begin * data->columns;
  batch.labels = data->targets == NULL ? data->labels + begin : NULL;
  batch.targets = data->targets == NULL ? NULL : data->targets + begin;
  batch.weights = data->weights == NULL ? NULL : data->weights + begin;
  batch.groups = data->groups == NULL ? NULL : data->groups + begin;
  return batch;
}

static inline pcal_measure_config rounds_config(const rounds_data *data,
                                                const char *const *specs, size_t count) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  config.kind = data->kind;
  config.columns = data->columns;
  config.specs = specs;
  config.spec_count = count;
  return config;
}

static inline sink_bytes rounds_print(pcal_results *results) {
  sink_bytes out = {0};
  assert_int_equal(pcal_results_write(results, PCAL_JSON, sink_collect, &out, NULL), PCAL_OK);
  pcal_results_free(results);
  return out;
}

static inline sink_bytes rounds_in_one_process(const rounds_data *data,
                                               const pcal_measure_config *config) {
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  const pcal_batch batch = rounds_batch(data, 0, data->rows);
  assert_int_equal(pcal_measure_new(config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  pcal_measure_free(measure);
  return rounds_print(results);
}

/* The tally of worker w of `workers`, which reads its rows backwards in small batches. */
static inline sink_bytes rounds_tally(const rounds_data *data, const sink_bytes *request,
                                      size_t w, size_t workers) {
  sink_bytes out = {0};
  pcal_rounds_worker *worker = NULL;
  const size_t begin = data->rows * w / workers, end = data->rows * (w + 1) / workers;
  const size_t step = 1 + (end - begin) / 3;
  assert_int_equal(pcal_rounds_worker_new(request->bytes, request->length, NULL, &worker, NULL),
                   PCAL_OK);
  for (size_t to = end; to > begin;) {
    const size_t from = to - begin > step ? to - step : begin;
    const pcal_batch batch = rounds_batch(data, from, to);
    assert_int_equal(pcal_rounds_worker_update(worker, &batch, NULL), PCAL_OK);
    to = from;
  }
  assert_int_equal(pcal_rounds_worker_tally(worker, sink_collect, &out, NULL), PCAL_OK);
  pcal_rounds_worker_free(worker);
  return out;
}

static inline sink_bytes rounds_request(const pcal_rounds *rounds) {
  sink_bytes out = {0};
  assert_int_equal(pcal_rounds_request(rounds, sink_collect, &out, NULL), PCAL_OK);
  return out;
}

/* The merged tally of all workers. */
static inline sink_bytes rounds_answer(const rounds_data *data, const sink_bytes *request,
                                       size_t workers) {
  sink_bytes tallies[ROUNDS_WORKERS_MAX], out = {0};
  pcal_bytes bytes[ROUNDS_WORKERS_MAX];
  for (size_t w = 0; w < workers; w++) {
    tallies[w] = rounds_tally(data, request, w, workers);
    bytes[workers - 1 - w] = (pcal_bytes){tallies[w].bytes, tallies[w].length};
  }
  assert_int_equal(pcal_tally_merge(bytes, workers, NULL, sink_collect, &out, NULL), PCAL_OK);
  for (size_t w = 0; w < workers; w++)
    free(tallies[w].bytes);
  return out;
}

/* How the rounds went. */
typedef struct rounds_cost {
  unsigned rounds;
  size_t request, tally; /* bytes of the largest */
} rounds_cost;

static inline sink_bytes rounds_run(const rounds_data *data, const pcal_measure_config *config,
                                    size_t workers, rounds_cost *cost) {
  pcal_rounds *rounds = NULL;
  pcal_results *results = NULL;
  pcal_error err;
  *cost = (rounds_cost){0};
  assert_int_equal(pcal_rounds_new(config, NULL, &rounds, &err), PCAL_OK);
  while (!pcal_rounds_done(rounds)) {
    sink_bytes request = rounds_request(rounds);
    sink_bytes tally = rounds_answer(data, &request, workers);
    cost->rounds++;
    cost->request = request.length > cost->request ? request.length : cost->request;
    cost->tally = tally.length > cost->tally ? tally.length : cost->tally;
    if (pcal_rounds_absorb(rounds, tally.bytes, tally.length, &err) != PCAL_OK)
      fail_msg("%s", err.message);
    free(request.bytes);
    free(tally.bytes);
  }
  assert_int_equal(pcal_rounds_finish(rounds, &results, &err), PCAL_OK);
  pcal_rounds_free(rounds);
  return rounds_print(results);
}

/* Asserts that rounds give the bytes of one process. */
static inline rounds_cost rounds_compare(const rounds_data *data,
                                         const pcal_measure_config *config, size_t workers) {
  rounds_cost cost;
  sink_bytes expected = rounds_in_one_process(data, config);
  sink_bytes found = rounds_run(data, config, workers, &cost);
  assert_string_equal(found.bytes, expected.bytes);
  free(expected.bytes);
  free(found.bytes);
  return cost;
}

/* Writes the checksum that fits forged bytes. */
static inline void rounds_seal(sink_bytes *bytes) {
  pc_checksum checksum;
  pc_checksum_start(&checksum);
  pc_checksum_add(&checksum, bytes->bytes, bytes->length - PC_CHECKSUM_BYTES);
  const uint32_t sum = pc_checksum_value(&checksum);
  for (size_t b = 0; b < PC_CHECKSUM_BYTES; b++)
    bytes->bytes[bytes->length - PC_CHECKSUM_BYTES + b] = (char)(sum >> (8 * b));
}

#endif
