/* What holds for every figure: words stay apart at any size, names are never markup, the bytes
 * do not depend on threads, every allocation may fail. */
#include "figure_help.h"

#include "calibrators/calibrator.h"
#include "calibrators/fit.h"
#include "figure/figure_measure.h"
#include "figure/figure_registry.h"
#include "figure/svg.h"
#include "io/source.h"
#include "simulate/simulate.h"

#define STAGE_ROWS 240
#define STAGE_CLASSES 12

static float stage_logits[2][STAGE_ROWS * STAGE_CLASSES];
static int32_t stage_labels[2][STAGE_ROWS];
static double stage_numbers[2][2 * STAGE_ROWS], stage_targets[2][STAGE_ROWS];
static double stage_single[STAGE_ROWS];
static int32_t stage_hits[STAGE_ROWS];

static const char *const stage_names[STAGE_CLASSES] = {
    "<script>alert(1)</script>",
    "a & b",
    "\"quoted\"",
    "cat",
    "a class with a name that is far too long for any axis of any figure",
    "\xC3\xA9t\xC3\xA9",
    "f",
    "g",
    "h",
    "i",
    "j",
    "k"};

/* Figures, and some of them with options. */
static const char *const stage_more[] = {"reliability:band=consistency",
                                         "reliability:band=none,bins=40,binning=mass",
                                         "reliability-classwise:classes=4,band=consistency",
                                         "class-errors:metric=sce,show=5",
                                         "ks-graph:rank=2",
                                         "ks-graph:within=3",
                                         "ks-graph:class=1",
                                         "spline-fit:knots=9,class=0",
                                         "confidence-histogram:by=class",
                                         "range-bounds:scope=top,bins=40",
                                         "corp:band=none",
                                         "loss-surface:metric=ks",
                                         "bin-sensitivity:norm=l2",
                                         "taxonomy:canonical=yes",
                                         "pit:bins=40",
                                         "variance-vs-error:bins=3"};

static int stage_set_up(void **state) {
  pcal_simulation simulation = PCAL_SIMULATION_INIT;
  pcal_env env = pc_env_resolve(NULL);
  (void)state;
  simulation.rows = STAGE_ROWS;
  simulation.classes = STAGE_CLASSES;
  simulation.factor = 4;
  for (size_t i = 0; i < 2; i++) {
    env.seed = i;
    if (pc_simulate(&simulation, &env, stage_logits[i], stage_labels[i], NULL, NULL) != PCAL_OK)
      return -1;
  }
  for (size_t i = 0; i < STAGE_ROWS; i++) {
    stage_single[i] = (double)(i + 1) / (STAGE_ROWS + 1);
    stage_hits[i] = (int32_t)((i * 7919 + 13) % STAGE_ROWS < i);
    for (size_t set = 0; set < 2; set++) {
      stage_numbers[set][2 * i] = (double)(i % 17);
      stage_numbers[set][2 * i + 1] = 0.2 + (double)((i * 31 + set) % 23);
      stage_targets[set][i] = (double)((i * 7919 + 13 * set) % 29) - 5;
    }
  }
  return 0;
}

/* Whether a figure is about predictions of a number. */
static int stage_counts(const char *spec) {
  const pc_figure_row *row = NULL;
  pc_options options;
  return pc_figure_parse(spec, &row, &options, NULL) == PCAL_OK &&
         row->row.task == PCAL_REGRESSION;
}

static pcal_status stage_open_numbers(const pcal_env *env, size_t set, pcal_source **out,
                                      pcal_error *err) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_MEAN_VARIANCE;
  batch.type = PCAL_F64;
  batch.rows = STAGE_ROWS;
  batch.columns = 2;
  batch.scores = stage_numbers[set];
  batch.column_stride = sizeof(double);
  batch.row_stride = 2 * sizeof(double);
  batch.targets = stage_targets[set];
  return pc_source_borrow(&batch, NULL, env, out, err);
}

static pcal_status stage_open(const pcal_env *env, size_t set, pcal_source **out,
                              pcal_error *err) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_LOGIT;
  batch.rows = STAGE_ROWS;
  batch.columns = STAGE_CLASSES;
  batch.scores = stage_logits[set];
  batch.column_stride = sizeof(float);
  batch.row_stride = STAGE_CLASSES * sizeof(float);
  batch.labels = stage_labels[set];
  return pc_source_borrow(&batch, stage_names, env, out, err);
}

static pcal_status stage_open_single(pcal_kind kind, const pcal_env *env, pcal_source **out,
                                     pcal_error *err) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = kind;
  batch.type = PCAL_F64;
  batch.rows = STAGE_ROWS;
  batch.columns = 1;
  batch.scores = stage_single;
  batch.column_stride = batch.row_stride = sizeof(double);
  batch.labels = stage_hits;
  return pc_source_borrow(&batch, NULL, env, out, err);
}

/* Builds a figure; with a second set and a calibrator where requested for. */
static pcal_status stage_build(const pcal_figure_config *config, int second,
                               const pcal_env *env, pc_figure *figure, pcal_error *err) {
  pcal_figure_config full = *config;
  pcal_source *source = NULL;
  pc_figure_init(figure, 0, 0, env);
  pcal_status (*const open)(const pcal_env *, size_t, pcal_source **, pcal_error *) =
      stage_counts(config->figure) ? stage_open_numbers : stage_open;
  pcal_status status = open(env, 0, &source, err);
  if (status == PCAL_OK && second)
    status = open(env, 1, &full.val, err);
  if (status == PCAL_OK)
    status = pc_figure_from_source(source, &full, figure, err);
  pc_source_free(source);
  pc_source_free(full.val);
  return status;
}

/* Studies are run with as many repeats. */
static size_t stage_replicas(const char *spec) {
  const pc_figure_row *row;
  pc_options options;
  assert_int_equal(pc_figure_parse(spec, &row, &options, NULL), PCAL_OK);
  return row->study == NULL ? 20 : 2;
}

static void stage_check_words(const char *spec, double width, double height, int second) {
  const pcal_env env = pc_env_resolve(NULL);
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_error err;
  pc_figure figure;
  config.figure = spec;
  config.width = width;
  config.height = height;
  config.replicas = stage_replicas(spec);
  if (stage_build(&config, second, &env, &figure, &err) != PCAL_OK)
    fail_msg("%s: %s", spec, err.message);
  check_words_apart(&figure, spec);
  check_marks_inside(&figure, spec);
  assert_true(figure.description != 0 && figure.mark_count > 0 && figure.panel_count > 0);
  pc_text out;
  pc_text_init(&out, &env);
  assert_int_equal(pc_svg_write(&figure, PCAL_THEME_AUTO, &out, &err), PCAL_OK);
  check_xml(out.bytes);
  assert_null(strstr(out.bytes, "<script"));
  if (strstr(out.bytes, "nan") != NULL || strstr(out.bytes, "=\"inf") != NULL)
    fail_msg("%s has a number that is not finite", spec);
  pc_text_free(&out);
  pc_figure_free(&figure);
}

static void stage_check_sizes(const char *spec) {
  static const double sizes[][2] = {{0, 0},     {400, 0},  {400, 560},   {480, 900},
                                    {800, 600}, {1000, 0}, {1200, 1600}, {1600, 900}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    stage_check_words(spec, sizes[i][0], sizes[i][1], 0);
  stage_check_words(spec, 0, 0, 1);
}

TEST(test_words_stay_apart_at_any_size) {
  for (size_t i = 0; i < pc_figure_row_count(); i++)
    stage_check_sizes(pc_figure_row_at(i)->name);
  for (size_t i = 0; i < sizeof stage_more / sizeof *stage_more; i++)
    stage_check_sizes(stage_more[i]);
}

/* The SVG of a figure, to be freed. */
static char *stage_svg(const char *spec, unsigned threads) {
  pcal_env env = pc_env_resolve(NULL);
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_error err;
  pc_figure figure;
  pc_text out;
  env.threads = threads;
  config.figure = spec;
  config.replicas = stage_replicas(spec);
  if (stage_build(&config, 1, &env, &figure, &err) != PCAL_OK)
    fail_msg("%s: %s", spec, err.message);
  pc_text_init(&out, &env);
  assert_int_equal(pc_svg_write(&figure, PCAL_THEME_LIGHT, &out, &err), PCAL_OK);
  pc_figure_free(&figure);
  return out.bytes;
}

TEST(test_threads_do_not_show) {
  for (size_t i = 0; i < pc_figure_row_count(); i++) {
    char *one = stage_svg(pc_figure_row_at(i)->name, 1);
    char *many = stage_svg(pc_figure_row_at(i)->name, 5);
    assert_string_equal(one, many);
    free(one);
    free(many);
  }
}

/* Every allocation up to the 60th, then ever fewer of them. */
static void stage_fail_allocations(const char *spec) {
  check_memory memory = {0};
  pcal_env env = check_env(&memory);
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_status status = PCAL_MEMORY;
  config.figure = spec;
  config.replicas = stage_replicas(spec);
  env.threads = 1;
  for (size_t n = 1; status != PCAL_OK; n += n < 60 ? 1 : n / 6) {
    memory = (check_memory){.fail = n};
    pcal_error err;
    pc_figure figure;
    const pcal_env whole = pc_env_resolve(&env);
    status = stage_build(&config, 1, &whole, &figure, &err);
    pc_figure_free(&figure);
    if (status != (memory.calls < n ? PCAL_OK : PCAL_MEMORY))
      fail_msg("%s with failing allocation %zu: %s", spec, n, err.message);
    assert_int_equal(memory.live, 0);
  }
}

TEST(test_every_allocation_may_fail) {
  for (size_t i = 0; i < pc_figure_row_count(); i++)
    stage_fail_allocations(pc_figure_row_at(i)->name);
}

static pcal_status stage_single_build(pcal_kind kind, const char *spec, pcal_error *err) {
  const pcal_env env = pc_env_resolve(NULL);
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_source *source = NULL;
  pc_figure figure;
  config.figure = spec;
  config.replicas = 20;
  pc_figure_init(&figure, 0, 0, &env);
  assert_int_equal(stage_open_single(kind, &env, &source, err), PCAL_OK);
  const pcal_status status = pc_figure_from_source(source, &config, &figure, err);
  if (status == PCAL_OK)
    check_words_apart(&figure, spec);
  pc_source_free(source);
  pc_figure_free(&figure);
  return status;
}

/* One column and confidences: a figure, or one sentence that says what to do. */
TEST(test_data_of_one_column) {
  static const struct {
    const char *name;
    pcal_status one_column, confidences;
  } expected[] = {{"reliability", PCAL_OK, PCAL_OK},
                  {"reliability-classwise", PCAL_USAGE, PCAL_USAGE},
                  {"class-errors", PCAL_USAGE, PCAL_USAGE},
                  {"corp", PCAL_OK, PCAL_OK},
                  {"smooth-reliability", PCAL_OK, PCAL_OK},
                  {"ks-graph", PCAL_OK, PCAL_OK},
                  {"ks-graph:class=0", PCAL_OK, PCAL_USAGE},
                  {"ks-graph:rank=1,class=0", PCAL_USAGE, PCAL_USAGE},
                  {"spline-fit", PCAL_OK, PCAL_OK},
                  {"confidence-histogram", PCAL_OK, PCAL_OK},
                  {"confidence-histogram:by=class", PCAL_USAGE, PCAL_USAGE},
                  {"range-bounds", PCAL_OK, PCAL_OK},
                  {"range-bounds:scope=all", PCAL_USAGE, PCAL_USAGE},
                  {"temperature", PCAL_OK, PCAL_USAGE},
                  {"loss-surface", PCAL_OK, PCAL_USAGE},
                  {"bin-sensitivity", PCAL_OK, PCAL_OK},
                  {"taxonomy", PCAL_USAGE, PCAL_USAGE}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    pcal_error err;
    pcal_status status = stage_single_build(PCAL_PROBABILITY, expected[i].name, &err);
    if (status != expected[i].one_column)
      fail_msg("%s of one column: %s", expected[i].name, err.message);
    status = stage_single_build(PCAL_CONFIDENCE, expected[i].name, &err);
    if (status != expected[i].confidences)
      fail_msg("%s of confidences: %s", expected[i].name, err.message);
    if (status != PCAL_OK) {
      const char *dot = strchr(err.message, '.');
      assert_true(strlen(err.message) > 20 && (dot == NULL || dot[1] != ' '));
    }
  }
}

/* A calibrator changes the figure: it shows the ECE before it, and a smaller one after. */
TEST(test_after_a_calibrator) {
  const pcal_env env = pc_env_resolve(NULL);
  const pcal_fit_config fit = PCAL_FIT_CONFIG_INIT;
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_calibrator *calibrator = NULL;
  pcal_source *source = NULL;
  pc_figure figure;
  pcal_error err;
  assert_int_equal(stage_open(&env, 1, &source, &err), PCAL_OK);
  assert_int_equal(pc_fit_run(source, &fit, &env, &calibrator, &err), PCAL_OK);
  pc_source_free(source);
  config.calibrator = calibrator;
  assert_int_equal(stage_build(&config, 0, &env, &figure, &err), PCAL_OK);
  const char *told = pc_figure_string(&figure, figure.description);
  const char *after = strstr(told, ", ECE "), *before = strstr(told, "ECE before ");
  assert_non_null(after);
  assert_non_null(before);
  if (!(strtod(after + 6, NULL) < strtod(before + 11, NULL)))
    fail_msg("%s", told);
  assert_non_null(strstr(pc_figure_string(&figure, figure.subtitle), "after calibration"));
  pc_figure_free(&figure);
  config.figure = "temperature";
  assert_int_equal(stage_build(&config, 0, &env, &figure, &err), PCAL_USAGE);
  assert_non_null(strstr(err.message, "leave the calibrator out"));
  pc_figure_free(&figure);
  pc_calibrator_free(calibrator);
}

/* Logits that were multiplied by 4 have their optimum near T = 4, which the title of the
 * panel shows. */
TEST(test_the_best_temperature_is_found) {
  const pcal_env env = pc_env_resolve(NULL);
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_error err;
  pc_figure figure;
  config.figure = "temperature";
  assert_int_equal(stage_build(&config, 0, &env, &figure, &err), PCAL_OK);
  const char *title = pc_figure_string(&figure, figure.panels[0].title);
  const char *at = strstr(title, "T = ");
  assert_non_null(at);
  const double best = strtod(at + 4, NULL);
  if (!(best > 2.5 && best < 5.5))
    fail_msg("%s", title);
  pc_figure_free(&figure);
}

TEST_GROUP(stage_set_up, NULL)
