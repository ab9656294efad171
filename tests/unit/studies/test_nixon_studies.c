/* The studies after Nixon et al. on a few rows: every allocation may fail, figures at any size
 * keep their words apart. */
#include "../figure/figure_help.h"

#include "../unit.h"

#include "figure/study_figure_registry.h"
#include "figure/svg.h"
#include "io/source.h"
#include "studies/study.h"

#define NIXON_ROWS 24
#define NIXON_CLASSES 3

typedef struct nixon_case {
  const char *spec;
  size_t models;
} nixon_case;

static const char *const nixon_methods[] = {"identity", "temperature"};
static const nixon_case nixon_cases[] = {
    {"metric-ranks:bins=3", 1},
    {"metric-ranks:bins=3", 3},
    {"bin-sensitivity:bins=2/3", 1},
    {"class-conditional:bins=3", 2},
    {"label-noise:levels=3", 1},
    {"label-noise:levels=3,rows=20,classes=3,features=2", 0},
    {"loss-surface", 1},
};

static double nixon_logits[2][NIXON_ROWS * NIXON_CLASSES];
static int32_t nixon_labels[2][NIXON_ROWS];

static void nixon_fill(void) {
  for (size_t set = 0; set < 2; set++)
    for (size_t i = 0; i < NIXON_ROWS; i++) {
      nixon_labels[set][i] = (int32_t)(i % NIXON_CLASSES);
      for (size_t k = 0; k < NIXON_CLASSES; k++)
        nixon_logits[set][i * NIXON_CLASSES + k] =
            (double)((i * 7 + k * 5 + set) % 11) / 3 + (k == i % 3 ? 2.0 : 0.0);
    }
}

static pcal_status nixon_open(const pcal_env *env, size_t set, pcal_source **out,
                              pcal_error *err) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_LOGIT;
  batch.type = PCAL_F64;
  batch.rows = NIXON_ROWS;
  batch.columns = NIXON_CLASSES;
  batch.scores = nixon_logits[set];
  batch.row_stride = NIXON_CLASSES * sizeof(double);
  batch.column_stride = sizeof(double);
  batch.labels = nixon_labels[set];
  return pc_source_borrow(&batch, NULL, env, out, err);
}

static pcal_status nixon_open_all(const pcal_env *env, size_t count, pcal_model *models,
                                  pcal_error *err) {
  static const char *const names[] = {"one", "two", "three"};
  for (size_t m = 0; m < count; m++) {
    models[m] = (pcal_model)PCAL_MODEL_INIT;
    models[m].name = names[m];
  }
  for (size_t m = 0; m < count; m++) {
    PC_TRY(nixon_open(env, m % 2, &models[m].source, err));
    PC_TRY(nixon_open(env, 1, &models[m].val, err));
  }
  return PCAL_OK;
}

/* Runs a study into findings that the caller frees. */
static pcal_status nixon_run(const nixon_case *one, const pcal_env *env, pc_findings *findings,
                             pcal_error *err) {
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  pcal_model models[3];
  static const char *const few[] = {"ece", "ks"};
  memset(models, 0, sizeof models);
  nixon_fill();
  config.models = models;
  config.model_count = one->models;
  config.methods = nixon_methods;
  config.method_count = 2;
  config.repeats = 1;
  config.specs = few;
  config.spec_count = 2;
  pc_findings_init(findings, env, one->spec);
  pcal_status status = nixon_open_all(env, one->models, models, err);
  if (status == PCAL_OK)
    status = pc_study_run(one->spec, &config, findings, err);
  for (size_t m = 0; m < one->models; m++) {
    pc_source_free(models[m].source);
    pc_source_free(models[m].val);
  }
  return status;
}

static pcal_status nixon_scenario(const pcal_env *env, void *user, pcal_error *err) {
  static pc_findings findings;
  pcal_env alone = pc_env_resolve(env);
  pc_figure figure;
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  alone.threads = 1;
  pc_figure_init(&figure, 0, 0, &alone);
  pcal_status status = nixon_run(user, &alone, &findings, err);
  if (status == PCAL_OK)
    status = pc_study_figure_draw(&findings, &config, &figure, err);
  pc_figure_free(&figure);
  pc_findings_free(&findings);
  return status;
}

/* Every allocation up to the 60th, then ever fewer of them. */
TEST(test_out_of_memory) {
  for (size_t i = 0; i < UNIT_COUNT(nixon_cases); i++) {
    nixon_case one = nixon_cases[i];
    pcal_status status = PCAL_MEMORY;
    for (size_t n = 1; status != PCAL_OK; n += n < 60 ? 1 : n / 4) {
      unit_memory memory = {0};
      const pcal_env env = unit_env(&memory);
      pcal_error err;
      atomic_store(&memory.fail_at, n);
      pc_error_clear(&err);
      status = nixon_scenario(&env, &one, &err);
      if (status != (atomic_load(&memory.calls) < n ? PCAL_OK : PCAL_MEMORY))
        fail_msg("%s with failing allocation %zu: %s", one.spec, n, err.message);
      assert_int_equal(atomic_load(&memory.live), 0);
    }
  }
}

static void nixon_check_figure(const nixon_case *one, const pc_findings *findings,
                               const pcal_env *env, double width, double height) {
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pc_figure figure;
  pc_text out;
  pcal_error err;
  config.width = width;
  config.height = height;
  pc_figure_init(&figure, 0, 0, env);
  if (pc_study_figure_draw(findings, &config, &figure, &err) != PCAL_OK)
    fail_msg("%s: %s", one->spec, err.message);
  check_words_apart(&figure, one->spec);
  check_marks_inside(&figure, one->spec);
  pc_text_init(&out, env);
  assert_int_equal(pc_svg_write(&figure, PCAL_THEME_AUTO, &out, &err), PCAL_OK);
  check_xml(out.bytes);
  assert_null(strstr(out.bytes, "nan"));
  pc_text_free(&out);
  pc_figure_free(&figure);
}

TEST(test_figures_at_any_size) {
  static const double sizes[][2] = {{0, 0}, {400, 0}, {480, 900}, {1200, 1600}, {1600, 900}};
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t i = 0; i < UNIT_COUNT(nixon_cases); i++) {
    pcal_error err;
    if (nixon_run(&nixon_cases[i], &env, &findings, &err) != PCAL_OK)
      fail_msg("%s: %s", nixon_cases[i].spec, err.message);
    assert_true(findings.table_count > 0 && findings.summary[0] != '\0');
    for (size_t s = 0; s < UNIT_COUNT(sizes); s++)
      nixon_check_figure(&nixon_cases[i], &findings, &env, sizes[s][0], sizes[s][1]);
    pc_findings_free(&findings);
  }
}
