/* Every metric of rows that say little, with intervals and the null, in groups and without, in every format:
 * written without a failure, as JSON that can be read, or refused in one sentence. */
#include "../unit.h"

#include "base/json_read.h"
#include "io/source.h"

#define EDGE_ROWS 6
#define EDGE_COLUMNS 3

typedef struct edge_data {
  const char *name;
  pcal_kind kind;
  size_t rows, columns;
  double row[EDGE_COLUMNS]; /* the scores of every row */
  int label;                /* of every row; 2: 0 and 1 in turn */
  double target;
} edge_data;

static const edge_data edges[] = {
    {"one row of logits", PCAL_LOGIT, 1, 3, {1, 2, 3}, 0, 0},
    {"certain and right", PCAL_PROBABILITY, 6, 3, {0, 1, 0}, 1, 0},
    {"certain and wrong", PCAL_PROBABILITY, 6, 3, {0, 1, 0}, 0, 0},
    {"all alike", PCAL_PROBABILITY, 6, 3, {0.25, 0.5, 0.25}, 2, 0},
    {"no risk, no event", PCAL_PROBABILITY, 6, 1, {0}, 0, 0},
    {"no risk, events", PCAL_PROBABILITY, 6, 1, {0}, 2, 0},
    {"a certain event", PCAL_PROBABILITY, 6, 1, {1}, 1, 0},
    {"one risk", PCAL_PROBABILITY, 1, 1, {0.5}, 1, 0},
    {"sure answers", PCAL_CONFIDENCE, 6, 1, {1}, 1, 0},
    {"wrong answers", PCAL_CONFIDENCE, 6, 1, {1}, 0, 0},
    {"exact predictions", PCAL_MEAN_STD, 6, 2, {2, 1}, 0, 2},
    {"one prediction", PCAL_MEAN_STD, 1, 2, {2, 1}, 0, 3},
    {"equal samples", PCAL_SAMPLES, 6, 3, {1, 1, 1}, 0, 1},
    {"samples below the target", PCAL_SAMPLES, 6, 3, {1, 2, 3}, 0, 9},
};

typedef struct edge_arrays {
  double scores[EDGE_ROWS * EDGE_COLUMNS], targets[EDGE_ROWS], weights[EDGE_ROWS];
  int32_t labels[EDGE_ROWS];
  uint32_t groups[EDGE_ROWS];
} edge_arrays;

/* Ways: plain, weighted, in two groups, without an interval. */
static pcal_batch edge_batch(const edge_data *data, int way, edge_arrays *out) {
  pcal_batch batch = PCAL_BATCH_INIT;
  const int of_number = data->kind == PCAL_MEAN_STD || data->kind == PCAL_SAMPLES;
  for (size_t i = 0; i < data->rows; i++) {
    memcpy(out->scores + i * data->columns, data->row, data->columns * sizeof(double));
    out->labels[i] = data->label == 2 ? (int32_t)(i % 2) : data->label;
    out->targets[i] = data->target;
    out->weights[i] = 0.5 + (double)(i % 2);
    out->groups[i] = (uint32_t)(i % 2);
  }
  batch.kind = data->kind;
  batch.type = PCAL_F64;
  batch.rows = data->rows;
  batch.columns = data->columns;
  batch.scores = out->scores;
  batch.labels = of_number ? NULL : out->labels;
  batch.targets = of_number ? out->targets : NULL;
  batch.weights = way == 1 ? out->weights : NULL;
  batch.groups = way == 2 ? out->groups : NULL;
  return batch;
}

static void edge_parse(const char *name, const sink_bytes *text) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_json_tree document;
  pcal_error err;
  if (pc_json_read(text->bytes, text->length, name, &env, &document, &err) != PCAL_OK)
    fail_msg("%s: %s", name, err.message);
  pc_json_tree_free(&document);
}

static void edge_write(const char *name, pcal_results *results) {
  for (int format = PCAL_TEXT; format <= PCAL_LATEX; format++) {
    sink_bytes text = {0};
    pcal_error err = PCAL_ERROR_INIT;
    const pcal_status status =
        pcal_results_write(results, (pcal_format)format, sink_collect, &text, &err);
    if (status != PCAL_OK && status != PCAL_USAGE)
      fail_msg("%s, format %d: %s", name, format, err.message);
    if (status == PCAL_OK)
      assert_true(text.length > 0);
    if (status == PCAL_OK && format == PCAL_JSON)
      edge_parse(name, &text);
    free(text.bytes);
  }
}

static size_t edge_measure(const edge_data *data, const char *metric, int way) {
  edge_arrays arrays;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  pcal_source *source = NULL;
  pcal_error err = PCAL_ERROR_INIT;
  const pcal_batch batch = edge_batch(data, way, &arrays);
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
  config.specs = &metric;
  config.spec_count = 1;
  config.replicas = 20;
  config.interval = way == 3 ? 0 : 0.9;
  config.null = way == 0 || way == 2;
  const pcal_status status = pcal_measure_run(source, &config, NULL, &results, &err);
  if (status == PCAL_OK)
    edge_write(data->name, results);
  else if ((status != PCAL_USAGE && status != PCAL_DATA) || err.message[0] == '\0')
    fail_msg("%s of %s: status %d, \"%s\"", metric, data->name, (int)status, err.message);
  pcal_results_free(results);
  pcal_source_free(source);
  return status == PCAL_OK;
}

TEST(every_metric) {
  for (size_t m = 0; m < pcal_registry_count(PCAL_METRICS); m++) {
    const char *metric = pcal_registry_at(PCAL_METRICS, m)->name;
    size_t measured = 0;
    for (size_t e = 0; e < UNIT_COUNT(edges); e++)
      for (int way = 0; way < 4; way++)
        measured += edge_measure(&edges[e], metric, way);
    if (measured == 0 && strcmp(metric, "energy-score") != 0) /* of several targets */
      fail_msg("%s was never measured", metric);
  }
}
