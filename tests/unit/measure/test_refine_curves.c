/* Coarse curves, refined by reading again, print the bytes of curves that were kept. */
#include "unit.h"

#include "base/rng.h"
#include "base/text.h"
#include "emulated.h"
#include "io/source.h"
#include "measure/measure_source.h"
#include "measure/refine_curves.h"
#include "output/write_results.h"

#define REFINE_ROWS 6000
#define REFINE_WINDOW 700

static const char *const refine_specs[] = {
    "ks",
    "ece:binning=mass",
    "ece:binning=mass,bins=40,norm=l2",
    "ece:edges=left,bins=10",
    "ece:convention=guo2017,norm=max",
    "ks:class=0",
    "brier",
    "mce",
    "ks:by=label",
    "gce:variant=16",
    "gce:variant=18",
    "gce:variant=24",
    "gce:variant=27",
    "gce:variant=28",
    "gce:variant=31",
    "cwce:binning=mass",
    "smece",
    "hosmer-lemeshow",
    "ks-test",
    "kuiper",
};

#define REFINE_CLASSES 4

/* The first column by itself, or all of them as logits. */
typedef struct refine_data {
  double score[REFINE_ROWS], logits[REFINE_ROWS * REFINE_CLASSES];
  float narrow[REFINE_ROWS];
  int32_t label[REFINE_ROWS], class_label[REFINE_ROWS];
} refine_data;

static void refine_draw(int ties, refine_data *data) {
  const pc_rng rng = {21, 1}, other = {21, 2};
  for (uint64_t i = 0; i < REFINE_ROWS; i++) {
    const double u = pc_rng_uniform(&rng, i);
    data->score[i] = ties ? floor(u * 13) / 13 : u * u;
    data->narrow[i] = (float)data->score[i];
    data->label[i] = pc_rng_uniform(&other, i) < 0.1 + 0.7 * data->score[i];
    for (uint64_t j = 0; j < REFINE_CLASSES; j++) {
      const double z = 8 * pc_rng_uniform(&rng, 100000 + i * REFINE_CLASSES + j);
      data->logits[i * REFINE_CLASSES + j] = ties ? floor(z) : z * z;
    }
    data->class_label[i] = (int32_t)(pc_rng_bits(&other, 100000 + i) % REFINE_CLASSES);
  }
}

static pcal_source *refine_source(const refine_data *data, size_t rows, pcal_kind kind,
                                  size_t columns) {
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_source *source = NULL;
  batch.kind = kind;
  batch.type = PCAL_F64;
  batch.rows = rows;
  batch.columns = columns;
  batch.scores = columns == 1 ? data->score : data->logits;
  batch.row_stride = (ptrdiff_t)(columns * sizeof(double));
  batch.column_stride = sizeof(double);
  batch.labels = columns == 1 ? data->label : data->class_label;
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
  return source;
}

static void refine_print(const pcal_measure *measure, pc_text *out) {
  pcal_results *results = NULL;
  assert_int_equal(pc_measure_finish(measure, &results, NULL), PCAL_OK);
  pc_write_results_json(results, out);
  pc_results_free(results);
}

static pcal_measure_config refine_config(pcal_kind kind, size_t columns) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  config.kind = kind;
  config.columns = columns;
  config.specs = refine_specs;
  config.spec_count = kind == PCAL_CONFIDENCE ? 5 : UNIT_COUNT(refine_specs);
  config.skip_missing = 1;
  return config;
}

/* Some rows of float32 without a label or a score. */
static pcal_source *refine_narrow_source(refine_data *data) {
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_source *source = NULL;
  for (size_t i = 0; i < REFINE_ROWS; i += 7)
    data->label[i] = PCAL_MISSING_LABEL;
  for (size_t i = 0; i < REFINE_ROWS; i += 11)
    data->narrow[i] = NAN;
  batch.kind = PCAL_PROBABILITY;
  batch.type = PCAL_F32;
  batch.rows = REFINE_ROWS;
  batch.columns = 1;
  batch.scores = data->narrow;
  batch.row_stride = batch.column_stride = sizeof(float);
  batch.labels = data->label;
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
  return source;
}

/* As pc_measure_source does for large sources, but in small windows. */
static pcal_status refine_buckets(const pcal_env *env, pcal_source *source,
                                  const pcal_measure_config *config, pcal_measure **out,
                                  pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pcal_source_get_shape(source, &shape);
  PC_TRY(pc_measure_new(config, env, out, err));
  pc_measure_plan_use_buckets(&(*out)->plan, 1, 1, 1, 1);
  PC_TRY(pcal_source_rewind(source, err));
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    const pc_lazy_labels none = {NULL, NULL, NULL};
    PC_TRY(pcal_source_next(source, REFINE_WINDOW, &batch, err));
    if (batch.rows == 0)
      break;
    PC_TRY(pc_measure_add_window(*out, &batch, &none, err));
  }
  PC_TRY(pc_measure_settle(*out, err));
  return pc_measure_refine_curves(*out, source, REFINE_WINDOW, err);
}

/* Frees the source. */
static void refine_compare(pcal_source *source, pcal_kind kind, size_t columns,
                           unsigned threads) {
  pcal_env env = pc_env_resolve(NULL);
  env.threads = threads;
  const pcal_measure_config config = refine_config(kind, columns);
  pcal_measure *kept = NULL, *buckets = NULL;
  pc_text want, got;
  pc_text_init(&want, &env);
  pc_text_init(&got, &env);
  assert_int_equal(pc_measure_source(source, &config, 0, &env, &kept, NULL), PCAL_OK);
  assert_int_equal(refine_buckets(&env, source, &config, &buckets, NULL), PCAL_OK);
  refine_print(kept, &want);
  refine_print(buckets, &got);
  assert_string_equal(got.bytes, want.bytes);
  pc_text_free(&want);
  pc_text_free(&got);
  pc_measure_free(kept);
  pc_measure_free(buckets);
  pcal_source_free(source);
}

TEST(test_same_bytes_as_kept_curves) {
  static refine_data data;
  for (int ties = 0; ties <= 1; ties++) {
    refine_draw(ties, &data);
    for (unsigned threads = emulated() && ties ? 3 : 1; threads <= 3; threads += 2) {
      refine_compare(refine_source(&data, REFINE_ROWS, PCAL_PROBABILITY, 1), PCAL_PROBABILITY,
                     1, threads);
      refine_compare(refine_source(&data, REFINE_ROWS, PCAL_LOGIT, 1), PCAL_LOGIT, 1, threads);
      refine_compare(refine_source(&data, REFINE_ROWS, PCAL_CONFIDENCE, 1), PCAL_CONFIDENCE, 1,
                     threads);
      refine_compare(refine_source(&data, REFINE_ROWS, PCAL_LOGIT, REFINE_CLASSES), PCAL_LOGIT,
                     REFINE_CLASSES, threads);
    }
  }
}

TEST(test_rows_that_do_not_count) {
  static refine_data data;
  refine_draw(0, &data);
  for (unsigned threads = 1; threads <= 3; threads += 2)
    refine_compare(refine_narrow_source(&data), PCAL_PROBABILITY, 1, threads);
}

#define REFINE_MANY 70000

static void refine_count(void *user, const char *what, uint64_t done, uint64_t total) {
  (void)done;
  (void)total;
  *(int *)user += strcmp(what, "refining") == 0;
}

/* Metrics that ask for cells know them from the first pass, and so do grids their bins. */
TEST(test_once_is_enough) {
  static const char *const specs[] = {"smece", "ece:edges=left,bins=10", "mce:bins=100"};
  static float score[REFINE_MANY];
  static int32_t label[REFINE_MANY];
  const pc_rng rng = {22, 1};
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_measure_config config = refine_config(PCAL_PROBABILITY, 1);
  pcal_env env = pc_env_resolve(NULL);
  int later = 0;
  for (uint64_t i = 0; i < REFINE_MANY; i++) {
    score[i] = (float)pc_rng_uniform(&rng, 2 * i);
    label[i] = pc_rng_uniform(&rng, 2 * i + 1) < 0.2 + 0.5 * (double)score[i];
  }
  batch.type = PCAL_F32;
  batch.rows = REFINE_MANY;
  batch.columns = 1;
  batch.scores = score;
  batch.row_stride = batch.column_stride = sizeof(float);
  batch.labels = label;
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  env.progress = refine_count;
  env.user = &later;
  pc_text text[2];
  for (int final = 0; final <= 1; final++) { /* kept, and not */
    pcal_source *source = NULL;
    pcal_measure *measure = NULL;
    batch.kind = PCAL_PROBABILITY;
    pc_text_init(&text[final], &env);
    assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
    assert_int_equal(pc_measure_source(source, &config, final, &env, &measure, NULL), PCAL_OK);
    refine_print(measure, &text[final]);
    pc_measure_free(measure);
    pcal_source_free(source);
  }
  assert_string_equal(text[1].bytes, text[0].bytes);
  assert_int_equal(later, 0);
  pc_text_free(&text[0]);
  pc_text_free(&text[1]);
}

#define REFINE_FEW 700

/* Fewer rows and metrics, so that there are fewer allocations. */
static pcal_status refine_scenario(const pcal_env *env, void *user, pcal_error *err) {
  static const char *const one[] = {"ks", "ece:binning=mass"};
  static const char *const several[] = {"ks:by=label", "gce:variant=24", "gce:variant=31"};
  const refine_data *data = user;
  const size_t columns = data->label[0] == 0 ? 1 : REFINE_CLASSES;
  pcal_env single = *env;
  single.threads = 1;
  pcal_measure_config config = refine_config(PCAL_LOGIT, columns);
  config.specs = columns == 1 ? one : several;
  config.spec_count = columns == 1 ? UNIT_COUNT(one) : UNIT_COUNT(several);
  pcal_source *source = refine_source(data, REFINE_FEW, PCAL_LOGIT, columns);
  pcal_measure *measure = NULL;
  const pcal_status status = refine_buckets(&single, source, &config, &measure, err);
  pc_measure_free(measure);
  pcal_source_free(source);
  return status;
}

/* A curve that is cut from the first row on. */
static pcal_status refine_narrow_scenario(const pcal_env *env, void *user, pcal_error *err) {
  static const char *const spec[] = {"smece"};
  pcal_env single = *env;
  single.threads = 1;
  pcal_measure_config config = refine_config(PCAL_PROBABILITY, 1);
  config.specs = spec;
  config.spec_count = 1;
  pcal_source *source = refine_narrow_source(user);
  pcal_measure *measure = NULL;
  const pcal_status status = refine_buckets(&single, source, &config, &measure, err);
  pc_measure_free(measure);
  pcal_source_free(source);
  return status;
}

TEST(test_every_allocation_may_fail) {
  static refine_data data;
  refine_draw(0, &data);
  unit_fail_each_allocation(refine_narrow_scenario, &data);
  refine_draw(0, &data);
  for (int32_t first = 0; first < 2; first++) {
    data.label[0] = first;
    unit_fail_each_allocation(refine_scenario, &data);
  }
}

/* Only slots whose metrics name what they need use buckets. */
static size_t refine_changed(int rows, int classes) {
  static const char *const specs[] = {"ks:by=label", "ks",
                                      "ece",         "skce",
                                      "ace",         "gce:binning=adaptive,scope=all",
                                      "ks:rank=2",   "ece:binning=sweep"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  config.columns = 3;
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  assert_int_equal(pc_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  pc_measure_plan_use_buckets(&measure->plan, rows, classes, classes, 1);
  const pc_measure_plan *plan = &measure->plan;
  size_t changed = 0;
  for (size_t s = 0; s < plan->slot_count; s++)
    changed += plan->slots[s].machine != pc_machine_of(plan->slots[s].need.machine);
  assert_true(plan->slots[plan->entries[1].slot].machine == &pc_machine_curve); /* sweep */
  pc_measure_free(measure);
  return changed;
}

TEST(test_which_slots_become_coarse) {
  assert_int_equal(refine_changed(0, 0), 0);
  assert_int_equal(refine_changed(1, 0), 2); /* by label, second */
  assert_int_equal(refine_changed(0, 1), 2); /* each class, all classes */
  assert_int_equal(refine_changed(1, 1), 4);
}
