/* Every figure of rows that say little: one row, rows that are all alike, certain or impossible outcomes, weights
 * that are no whole numbers, one group or two, two models.  Each is drawn as well-formed SVG and JSON without NaN, or refused in one
 * sentence. */
#include "figure_help.h"

#include <math.h>

#include "figure/figure_registry.h"
#include "io/source.h"
#include "sinks.h"

#define EDGE_ROWS 6
#define EDGE_COLUMNS 3

static double edge_scores[EDGE_ROWS * EDGE_COLUMNS], edge_targets[EDGE_ROWS];
static double edge_weights[EDGE_ROWS];
static int32_t edge_labels[EDGE_ROWS];
static uint32_t edge_groups[EDGE_ROWS];

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
    {"the same logits", PCAL_LOGIT, 6, 3, {0, 0, 0}, 2, 0},
    {"no risk, no event", PCAL_PROBABILITY, 6, 1, {0}, 0, 0},
    {"no risk, events", PCAL_PROBABILITY, 6, 1, {0}, 2, 0},
    {"a certain event", PCAL_PROBABILITY, 6, 1, {1}, 1, 0},
    {"one risk", PCAL_PROBABILITY, 1, 1, {0.5}, 1, 0},
    {"sure answers", PCAL_CONFIDENCE, 6, 1, {1}, 1, 0},
    {"wrong answers", PCAL_CONFIDENCE, 6, 1, {1}, 0, 0},
    {"one answer", PCAL_CONFIDENCE, 1, 1, {0.75}, 1, 0},
    {"exact predictions", PCAL_MEAN_STD, 6, 2, {2, 1}, 0, 2},
    {"one prediction", PCAL_MEAN_STD, 1, 2, {2, 1}, 0, 3},
    {"far from the target", PCAL_MEAN_STD, 6, 2, {0, 1e-3}, 0, 1e6},
    {"equal samples", PCAL_SAMPLES, 6, 3, {1, 1, 1}, 0, 1},
    {"samples below the target", PCAL_SAMPLES, 6, 3, {1, 2, 3}, 0, 9},
};

static pcal_batch edge_batch(const edge_data *data, int weighted, int grouped) {
  pcal_batch batch = PCAL_BATCH_INIT;
  const int of_number = data->kind == PCAL_MEAN_STD || data->kind == PCAL_SAMPLES;
  for (size_t i = 0; i < data->rows; i++) {
    memcpy(edge_scores + i * data->columns, data->row, data->columns * sizeof(double));
    edge_labels[i] = data->label == 2 ? (int32_t)(i % 2) : data->label;
    edge_targets[i] = data->target;
    edge_weights[i] = 0.5 + (double)(i % 2);
    edge_groups[i] = grouped == 2 ? (uint32_t)(i % 2) : 0;
  }
  batch.kind = data->kind;
  batch.type = PCAL_F64;
  batch.rows = data->rows;
  batch.columns = data->columns;
  batch.scores = edge_scores;
  batch.labels = of_number ? NULL : edge_labels;
  batch.targets = of_number ? edge_targets : NULL;
  batch.weights = weighted ? edge_weights : NULL;
  batch.groups = grouped ? edge_groups : NULL;
  return batch;
}

static void edge_write(const char *name, const char *spec, const pcal_figure *figure) {
  for (int json = 0; json < 2; json++) {
    sink_bytes text = {0};
    pcal_error err = PCAL_ERROR_INIT;
    if (pcal_figure_write(figure, json ? PCAL_JSON : PCAL_SVG, PCAL_THEME_AUTO, sink_collect,
                          &text, &err) != PCAL_OK)
      fail_msg("%s of %s: %s", spec, name, err.message);
    if (!json)
      check_xml(text.bytes);
    if (strstr(text.bytes, "\"nan") != NULL || strstr(text.bytes, "\"inf") != NULL ||
        strstr(text.bytes, "=\"-inf") != NULL)
      fail_msg("%s of %s: a number is not finite", spec, name);
    free(text.bytes);
  }
}

/* Returns 1 if the figure was drawn, 0 if it was refused. */
static int edge_draw(const edge_data *data, const char *spec, const pcal_batch *batch,
                     double interval, int models) {
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_model both[2] = {PCAL_MODEL_INIT, PCAL_MODEL_INIT};
  pcal_error err = PCAL_ERROR_INIT;
  pcal_figure *figure = NULL;
  pcal_source *source = NULL;
  assert_int_equal(pc_source_borrow(batch, NULL, NULL, &source, NULL), PCAL_OK);
  config.figure = spec;
  config.replicas = 8;
  config.interval = interval;
  both[0].name = "first";
  both[1].name = "second";
  both[0].source = source;
  if (models) {
    assert_int_equal(pc_source_borrow(batch, NULL, NULL, &both[1].source, NULL), PCAL_OK);
    config.models = both;
    config.model_count = 2;
  }
  const pcal_status status =
      pcal_figure_run(models ? NULL : source, &config, NULL, &figure, &err);
  if (status == PCAL_OK)
    edge_write(data->name, spec, figure);
  else if ((status != PCAL_USAGE && status != PCAL_DATA) || err.message[0] == '\0')
    fail_msg("%s of %s: status %d, \"%s\"", spec, data->name, (int)status, err.message);
  pcal_figure_free(figure);
  pcal_source_free(source);
  pcal_source_free(both[1].source);
  return status == PCAL_OK;
}

static size_t edge_draw_all(const edge_data *data, const char *spec) {
  size_t drawn = 0;
  for (int way = 0; way < 6; way++) {
    const pcal_batch batch = edge_batch(data, way == 1, way == 2 ? 1 : way == 4 ? 2 : 0);
    drawn += (size_t)edge_draw(data, spec, &batch, way == 3 ? 0 : 0.9, way == 5);
  }
  return drawn;
}

/* Figures of studies simulate rows of their own. */
static int edge_is_study(const char *name) {
  for (size_t i = 0; i < pcal_registry_count(PCAL_STUDIES); i++)
    if (strcmp(pcal_registry_at(PCAL_STUDIES, i)->name, name) == 0)
      return 1;
  return 0;
}

TEST(every_figure) {
  size_t drawn = 0, possible = 0;
  for (size_t i = 0; i < pcal_registry_count(PCAL_FIGURES); i++)
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
      const char *name = pcal_registry_at(PCAL_FIGURES, i)->name;
      if (edge_is_study(name))
        continue;
      drawn += edge_draw_all(&edges[e], name);
      possible += 4;
    }
  assert_true(drawn > possible / 8);
}

TEST(options) {
  static const char *const specs[] = {"reliability:band=consistency",
                                      "class-errors:metric=ece",
                                      "class-errors:metric=cwce",
                                      "corp:view=top",
                                      "corp:view=positive",
                                      "calibration-curve:view=top",
                                      "range-bounds:scope=top",
                                      "range-bounds:scope=all",
                                      "ks-graph:rank=2",
                                      "drift:metric=brier",
                                      "confidence-histogram:by=class"};
  for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
      edge_draw_all(&edges[e], specs[i]);
}

/* Groups that a figure cannot draw. */
TEST(refused_groups) {
  static double probs[60];
  static int32_t labels[60];
  static uint32_t groups[60];
  static double weights[60];
  static const struct {
    uint32_t count; /* of groups */
    int empty;      /* group 1 has no weight */
    const char *sentence;
  } cases[] = {{25, 0,
                "a figure draws at most 24 groups, and groups has 25; join some of them, or "
                "measure them with a table"},
               {3, 1, "all rows of group 1 have the weight 0; leave them out of the figure"}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    pcal_batch batch = PCAL_BATCH_INIT;
    pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
    pcal_source *source = NULL;
    pcal_figure *figure = NULL;
    pcal_error err;
    for (size_t i = 0; i < 60; i++) {
      probs[i] = (double)i / 60;
      labels[i] = (int32_t)(i % 2);
      groups[i] = (uint32_t)i % cases[c].count;
      weights[i] = cases[c].empty && groups[i] == 1 ? 0.0 : 1.0;
    }
    batch.kind = PCAL_PROBABILITY;
    batch.type = PCAL_F64;
    batch.rows = 60;
    batch.columns = 1;
    batch.scores = probs;
    batch.labels = labels;
    batch.groups = groups;
    batch.weights = weights;
    config.figure = "reliability";
    assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
    assert_int_not_equal(pcal_figure_run(source, &config, NULL, &figure, &err), PCAL_OK);
    assert_string_equal(err.message, cases[c].sentence);
    assert_null(figure);
    pcal_source_free(source);
  }
}
