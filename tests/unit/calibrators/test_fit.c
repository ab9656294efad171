/* Fitting, and passes over a source. */
#include "calibrators/fit.h"

#include "calibrator_help.h"
#include "calibrators/fit_pass.h"
#include "io/source.h"

static const double probs[][2] = {{0.8, 0.2}, {0.3, 0.7}, {0.6, 0.4}, {0.1, 0.9}};
static const int32_t labels[] = {0, 1, 1, 1};

static pcal_batch four_rows(void) {
  return help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 4, 2);
}

TEST(counts_rows_and_weights) {
  const double weights[] = {2.0, 0.0, 0.5, 1.0};
  pcal_batch batch = four_rows();
  pcal_calibrator *calibrator = help_fit(&batch, "identity");
  assert_int_equal(calibrator->fit.rows, 4);
  assert_int_equal(calibrator->fit.weighted, 0);
  assert_same(calibrator->fit.weight, 4.0);
  pcal_calibrator_free(calibrator);
  batch.weights = weights;
  calibrator = help_fit(&batch, "identity");
  assert_int_equal(calibrator->fit.rows, 3);
  assert_int_equal(calibrator->fit.weighted, 1);
  assert_int_equal(calibrator->fit.weights_are, PCAL_WEIGHTS_IMPORTANCE);
  assert_near(calibrator->fit.weight, 3.5 * 3.5 / (4.0 + 0.25 + 1.0), 1e-15);
  pcal_calibrator_free(calibrator);
}

/* Whole weights are frequencies unless they are declared to be something else; frequencies are
 * whole. */
TEST(meaning_of_weights) {
  const double whole[] = {2.0, 0.0, 3.0, 1.0}, shares[] = {0.5, 0.5, 0.5, 0.5};
  pcal_batch batch = four_rows();
  batch.weights = whole;
  pcal_calibrator *calibrator = help_fit(&batch, "identity");
  assert_int_equal(calibrator->fit.weights_are, PCAL_WEIGHTS_FREQUENCY);
  assert_same(calibrator->fit.weight, 6.0);
  pcal_calibrator_free(calibrator);
  batch.weights_are = PCAL_WEIGHTS_IMPORTANCE;
  calibrator = help_fit(&batch, "identity");
  assert_int_equal(calibrator->fit.weights_are, PCAL_WEIGHTS_IMPORTANCE);
  assert_near(calibrator->fit.weight, 36.0 / 14.0, 1e-15);
  pcal_calibrator_free(calibrator);
  batch.weights = shares;
  batch.weights_are = PCAL_WEIGHTS_FREQUENCY;
  help_refused(&batch, "platt", PCAL_DATA,
               "weights, row 0: frequencies are whole numbers, and this weight is not; leave "
               "weights_are out, or declare importance weights");
  batch.weights_are = (pcal_weights)9;
  help_refused(&batch, "platt", PCAL_USAGE,
               "weights_are 9 is unknown; start from PCAL_BATCH_INIT");
}

static pcal_status fit_with(const pcal_batch *batch, int normalize, int skip_missing,
                            pcal_calibrator **out, pcal_error *err) {
  pcal_source *source = NULL;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  config.method = "identity";
  config.normalize = normalize;
  config.skip_missing = skip_missing;
  assert_int_equal(pc_source_borrow(batch, NULL, NULL, &source, NULL), PCAL_OK);
  const pcal_status status = pcal_fit_run(source, &config, NULL, out, err);
  pcal_source_free(source);
  return status;
}

TEST(normalizes_and_skips_when_asked) {
  const double off[][2] = {{0.8, 0.205}, {NAN, 0.5}, {0.5, 0.5}};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &off[0][0], labels, 3, 2);
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  assert_int_equal(fit_with(&batch, 1, 1, &calibrator, &err), PCAL_OK);
  assert_int_equal(calibrator->fit.rows, 2);
  assert_int_equal(calibrator->fit.normalized, 1);
  assert_int_equal(calibrator->fit.skipped, 1);
  assert_int_equal(calibrator->normalize, 1);
  pcal_calibrator_free(calibrator);
  assert_int_equal(fit_with(&batch, 0, 1, &calibrator, &err), PCAL_DATA);
  assert_int_equal(err.row, 0);
  assert_int_equal(fit_with(&batch, 1, 0, &calibrator, &err), PCAL_DATA);
  assert_int_equal(err.row, 1);
}

TEST(refuses_no_rows) {
  const double none[] = {0.0, 0.0, 0.0, 0.0};
  pcal_batch batch = four_rows();
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  batch.weights = none;
  help_refused(&batch, "temperature", PCAL_DATA,
               "there are no rows to fit (all weights are zero); give more data");
  batch.weights = NULL;
  batch.rows = 0;
  help_refused(&batch, "histogram", PCAL_DATA, "there are no rows to fit; give more data");
  const double missing[][2] = {{NAN, 0.5}};
  const pcal_batch gap = help_batch(PCAL_PROBABILITY, &missing[0][0], labels, 1, 2);
  assert_int_equal(fit_with(&gap, 0, 1, &calibrator, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA,
                  "there are no rows to fit (rows with a missing value were skipped); give "
                  "more data");
}

TEST(needs_labels) {
  pcal_batch batch = four_rows();
  batch.labels = NULL;
  help_refused(&batch, "temperature", PCAL_USAGE,
               "fitting needs the true outcomes; give them with labels");
  const double confidence[] = {0.5};
  const pcal_batch lone = help_batch(PCAL_CONFIDENCE, confidence, NULL, 1, 1);
  help_refused(&lone, "histogram", PCAL_USAGE,
               "fitting needs the true outcomes; give them with correct");
}

TEST(keeps_class_names) {
  static const char *const names[] = {"cat", "d\"og"};
  pcal_batch batch = four_rows();
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  assert_int_equal(pc_source_borrow(&batch, names, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pcal_fit_run(source, NULL, NULL, &calibrator, NULL), PCAL_OK);
  pcal_source_free(source);
  assert_string_equal(calibrator->class_names[0], "cat");
  assert_string_equal(calibrator->class_names[1], "d\"og");
  assert_string_equal(calibrator->method->row.name, "temperature");
  pcal_calibrator_free(calibrator);
}

/* A source that was read before is read from its first row. */
TEST(starts_at_the_first_row) {
  pcal_batch batch = four_rows(), window = PCAL_BATCH_INIT;
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pcal_source_next(source, 3, &window, NULL), PCAL_OK);
  assert_int_equal(pcal_fit_run(source, NULL, NULL, &calibrator, NULL), PCAL_OK);
  assert_int_equal(calibrator->fit.rows, 4);
  pcal_calibrator_free(calibrator);
  pcal_source_free(source);
}

typedef struct watch {
  int calls;
  int stop_at;
  uint64_t done, total;
  char what[32];
} watch;

static void watch_progress(void *user, const char *what, uint64_t done, uint64_t total) {
  watch *seen = user;
  seen->done = done;
  seen->total = total;
  snprintf(seen->what, sizeof seen->what, "%s", what);
}

static int watch_interrupt(void *user) {
  watch *seen = user;
  return ++seen->calls == seen->stop_at;
}

TEST(reports_progress_and_can_be_interrupted) {
  const pcal_batch batch = four_rows();
  watch seen = {0, 0, 0, 0, ""};
  unit_memory memory = {0};
  pcal_env env = unit_env(&memory);
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  env.user = &seen;
  env.progress = watch_progress;
  env.interrupted = watch_interrupt;
  assert_int_equal(help_try_fit(&batch, "temperature", &env, &calibrator, &err), PCAL_OK);
  assert_string_equal(seen.what, "fitting");
  assert_int_equal(seen.done, 4);
  assert_int_equal(seen.total, 4);
  pcal_calibrator_free(calibrator);
  const int asked = seen.calls;
  for (int stop = 1; stop <= asked; stop++) {
    seen = (watch){.stop_at = stop};
    assert_int_equal(help_try_fit(&batch, "temperature", &env, &calibrator, &err),
                     PCAL_INTERRUPTED);
    assert_null(calibrator);
  }
  assert_int_equal(atomic_load(&memory.live), 0);
}

TEST(windows_are_bounded) {
  pcal_shape shape = {.size = sizeof shape, .type = PCAL_F32, .columns = 1000};
  assert_int_equal(pc_fit_pass_window(&shape, PC_FIT_PASS_BYTES), PC_FIT_PASS_BYTES / 4000);
  shape.type = PCAL_F64;
  assert_int_equal(pc_fit_pass_window(&shape, PC_FIT_PASS_BYTES), PC_FIT_PASS_BYTES / 8000);
  shape.columns = 1;
  assert_int_equal(pc_fit_pass_window(&shape, PC_FIT_PASS_BYTES), 1 << 20);
  shape.columns = PC_CLASSES_MAX;
  assert_int_equal(pc_fit_pass_window(&shape, 100), 1);
}

/* Only methods whose parameters grow with the square of the columns can take too long. */
TEST(methods_that_take_long) {
  pcal_error err;
  assert_int_equal(pc_fit_check_cost("dirichlet-odir", 10000, 100, &err), PCAL_OK);
  assert_int_equal(pc_fit_check_cost("vector", 1000000, 1000, &err), PCAL_OK);
  assert_int_equal(pc_fit_check_cost("dirichlet-odir", 25000, 1000, &err), PCAL_USAGE);
  assert_non_null(strstr(err.message, "method \"dirichlet-odir\""));
  assert_int_equal(pc_fit_check_cost("dirichlt", 1, 2, &err), PCAL_USAGE);
}
