/* range-bounds of several models: lines at the lower bounds of adaptive bins, in order. */
#include "figure_help.h"

#include "figure/figure_measure.h"
#include "figure/figure_registry.h"
#include "figure/svg.h"
#include "io/source.h"

#define RANGE_ROWS 60
#define RANGE_MODELS 3
#define RANGE_BINS 4

static double range_scores[RANGE_MODELS][RANGE_ROWS];
static int32_t range_hits[RANGE_ROWS];
static const char *const range_names[] = {"epoch 1", "<b>2</b>", "epoch 30"};

/* Scores of model m: (i/61)^(m + 1), in an order that is not theirs. */
static void range_set_up(void) {
  for (size_t m = 0; m < RANGE_MODELS; m++)
    for (size_t i = 0; i < RANGE_ROWS; i++)
      range_scores[m][i * 7 % RANGE_ROWS] =
          pow((double)(i + 1) / (RANGE_ROWS + 1), (double)(m + 1));
  for (size_t i = 0; i < RANGE_ROWS; i++)
    range_hits[i] = (int32_t)(i % 3 == 0);
}

static pcal_status range_open(pcal_kind kind, const double *scores, const pcal_env *env,
                              pcal_source **out, pcal_error *err) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = kind;
  batch.type = PCAL_F64;
  batch.rows = RANGE_ROWS / (kind == PCAL_LOGIT ? 2 : 1);
  batch.columns = kind == PCAL_LOGIT ? 2 : 1;
  batch.scores = scores;
  batch.column_stride = sizeof(double);
  batch.row_stride = (ptrdiff_t)(batch.columns * sizeof(double));
  batch.labels = range_hits;
  return pc_source_borrow(&batch, NULL, env, out, err);
}

/* Builds a figure of `count` models, the last of kind `last`. */
static pcal_status range_build(const pcal_figure_config *config, size_t count, pcal_kind last,
                               const pcal_env *env, pc_figure *figure, pcal_error *err) {
  pcal_figure_config full = *config;
  pcal_model models[RANGE_MODELS];
  pcal_status status = PCAL_OK;
  range_set_up();
  pc_figure_init(figure, 0, 0, env);
  for (size_t i = 0; i < RANGE_MODELS; i++) {
    models[i] = (pcal_model)PCAL_MODEL_INIT;
    models[i].name = range_names[i];
    if (status == PCAL_OK && i < count)
      status = range_open(i + 1 == count ? last : PCAL_PROBABILITY, range_scores[i], env,
                          &models[i].source, err);
  }
  full.models = models;
  full.model_count = count;
  if (status == PCAL_OK)
    status = pc_figure_from_source(NULL, &full, figure, err);
  for (size_t i = 0; i < RANGE_MODELS; i++)
    pc_source_free(models[i].source);
  return status;
}

static pcal_figure_config range_config(const char *spec) {
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  config.figure = spec;
  return config;
}

/* Bin b of n sorted scores begins with score round(b n / bins). */
static double range_bound(size_t model, size_t bin) {
  return pow((double)(bin * RANGE_ROWS / RANGE_BINS + 1) / (RANGE_ROWS + 1),
             (double)(model + 1));
}

TEST(test_lines_are_lower_bounds) {
  const pcal_env env = pc_env_resolve(NULL);
  const pcal_figure_config config = range_config("range-bounds:bins=4");
  pc_figure figure;
  pcal_error err;
  size_t lines = 0, points = 0;
  assert_int_equal(range_build(&config, RANGE_MODELS, PCAL_PROBABILITY, &env, &figure, &err),
                   PCAL_OK);
  for (size_t i = 0; i < figure.mark_count; i++) {
    const pc_mark *mark = &figure.marks[i];
    points += mark->kind == PC_MARK_POINT;
    if (mark->kind != PC_MARK_LINE)
      continue;
    lines++;
    assert_int_equal(mark->count, RANGE_MODELS);
    for (size_t m = 0; m < RANGE_MODELS; m++) {
      assert_true(figure.points[mark->first + m].x == (double)m);
      assert_true(fabs(figure.points[mark->first + m].y - range_bound(m, lines)) < 1e-12);
    }
  }
  assert_int_equal(lines, RANGE_BINS - 1);
  assert_int_equal(points, (RANGE_BINS - 1) * RANGE_MODELS);
  for (size_t m = 0; m < RANGE_MODELS; m++)
    assert_string_equal(
        pc_figure_string(&figure,
                         figure.names[figure.panels[0].axis[PC_SIDE_X].first_name + m].text),
        range_names[m]);
  assert_string_equal(pc_figure_string(&figure, figure.subtitle),
                      "below 0.01: 0 of 4 bins in epoch 1, 0 of 4 in epoch 30");
  pc_figure_free(&figure);
}

/* Scores above 0.5 of model 0: the upper half, whose bins begin at its quarters. */
TEST(test_threshold) {
  const pcal_env env = pc_env_resolve(NULL);
  const pcal_figure_config config = range_config("range-bounds:bins=2,threshold=0.5");
  pc_figure figure;
  pcal_error err;
  assert_int_equal(range_build(&config, 2, PCAL_PROBABILITY, &env, &figure, &err), PCAL_OK);
  assert_int_equal(figure.marks[0].kind, PC_MARK_LINE);
  assert_true(fabs(figure.points[figure.marks[0].first].y - 46.0 / 61) < 1e-12);
  pc_figure_free(&figure);
}

TEST(test_words_stay_apart) {
  static const double sizes[][2] = {{0, 0}, {400, 560}, {1200, 400}};
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t i = 0; i < 3; i++) {
    pcal_figure_config config = range_config("range-bounds:bins=50");
    pc_figure figure;
    pcal_error err;
    pc_text out;
    config.width = sizes[i][0];
    config.height = sizes[i][1];
    assert_int_equal(range_build(&config, RANGE_MODELS, PCAL_PROBABILITY, &env, &figure, &err),
                     PCAL_OK);
    check_words_apart(&figure, config.figure);
    check_marks_inside(&figure, config.figure);
    pc_text_init(&out, &env);
    assert_int_equal(pc_svg_write(&figure, PCAL_THEME_AUTO, &out, &err), PCAL_OK);
    check_xml(out.bytes);
    assert_null(strstr(out.bytes, "<b>"));
    pc_text_free(&out);
    pc_figure_free(&figure);
  }
}

/* One model given as several is drawn as one. */
TEST(test_one_model) {
  const pcal_env env = pc_env_resolve(NULL);
  const pcal_figure_config config = range_config("range-bounds");
  pc_figure figure;
  pcal_error err;
  assert_int_equal(range_build(&config, 1, PCAL_PROBABILITY, &env, &figure, &err), PCAL_OK);
  assert_string_equal(pc_figure_string(&figure, figure.title), "Ranges of adaptive bins");
  pc_figure_free(&figure);
}

static void range_refused(const pcal_figure_config *config, pcal_kind last,
                          const char *sentence) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_figure figure;
  pcal_error err;
  assert_int_equal(range_build(config, 2, last, &env, &figure, &err), PCAL_USAGE);
  assert_string_equal(err.message, sentence);
  pc_figure_free(&figure);
}

TEST(test_refusals) {
  const pcal_env env = pc_env_resolve(NULL);
  pcal_figure_config config = range_config("ks-graph");
  range_refused(&config, PCAL_PROBABILITY,
                "figure ks-graph draws one model; give its predictions with logits, "
                "probs and the like");
  config.figure = "range-bounds";
  range_refused(
      &config, PCAL_LOGIT,
      "figure range-bounds cannot draw epoch 1 and <b>2</b> together: their scores are of "
      "different kinds");
  assert_int_equal(range_open(PCAL_PROBABILITY, range_scores[2], &env, &config.val, NULL),
                   PCAL_OK);
  range_refused(
      &config, PCAL_PROBABILITY,
      "figure range-bounds draws several models without calibration; leave the calibrator "
      "and the second set out");
  pc_source_free(config.val);
}

TEST(test_every_allocation_may_fail) {
  const pcal_figure_config config = range_config("range-bounds:bins=3");
  pcal_status status = PCAL_MEMORY;
  for (size_t n = 1; status != PCAL_OK; n++) {
    check_memory memory = {.fail = n};
    pcal_env env = check_env(&memory);
    env.threads = 1;
    const pcal_env whole = pc_env_resolve(&env);
    pc_figure figure;
    pcal_error err;
    status = range_build(&config, 2, PCAL_PROBABILITY, &whole, &figure, &err);
    pc_figure_free(&figure);
    assert_int_equal(status, memory.calls < n ? PCAL_OK : PCAL_MEMORY);
    assert_int_equal(memory.live, 0);
  }
}
