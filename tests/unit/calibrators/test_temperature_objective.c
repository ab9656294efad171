#include "calibrators/temperature/temperature_objective.h"

#include "calibrator_help.h"
#include "io/source.h"

enum { ROWS = 3000, WIDE = 40, NARROW = 5 };

static double drawn[ROWS * WIDE];
static float floats[ROWS * WIDE], apart[ROWS * WIDE * 2];
static double doubles[ROWS * WIDE];
static int32_t labels[ROWS];

/* Logits as floats, the same as doubles, and as floats with gaps between them. */
static void draw_rows(size_t columns) {
  help_draw(drawn, labels, ROWS, columns, 3.0, 1.6);
  for (size_t i = 0; i < ROWS * columns; i++) {
    floats[i] = (float)drawn[i];
    doubles[i] = (double)floats[i];
    apart[2 * i] = floats[i];
    apart[2 * i + 1] = NAN;
  }
}

static pcal_batch float_batch(const float *scores, size_t columns, size_t step) {
  pcal_batch batch = help_batch(PCAL_LOGIT, NULL, labels, ROWS, columns);
  batch.type = PCAL_F32;
  batch.scores = scores;
  batch.row_stride = (ptrdiff_t)(columns * step * sizeof(float));
  batch.column_stride = (ptrdiff_t)(step * sizeof(float));
  return batch;
}

/* Floats are read in place, with the same results. */
TEST(floats_give_the_bits_of_doubles) {
  static const char *const methods[] = {"temperature", "temperature:objective=brier"};
  static const size_t widths[] = {NARROW, WIDE};
  for (size_t w = 0; w < UNIT_COUNT(widths); w++)
    for (size_t m = 0; m < UNIT_COUNT(methods); m++) {
      const size_t k = widths[w];
      draw_rows(k);
      const pcal_batch batches[] = {help_batch(PCAL_LOGIT, doubles, labels, ROWS, k),
                                    float_batch(floats, k, 1), float_batch(apart, k, 2)};
      sink_bytes expected = {0};
      for (size_t b = 0; b < UNIT_COUNT(batches); b++) {
        pcal_calibrator *calibrator = help_fit(&batches[b], methods[m]);
        sink_bytes text = help_save(calibrator);
        if (b == 0)
          expected = text;
        else
          assert_string_equal(text.bytes, expected.bytes);
        if (m == 0)
          assert_int_equal(calibrator->fit.iterations, 2);
        if (b > 0)
          free(text.bytes);
        pcal_calibrator_free(calibrator);
      }
      free(expected.bytes);
    }
}

/* The sample is drawn from unchecked scores; still the first bad row is reported. */
TEST(the_first_bad_row_is_reported) {
  static const size_t widths[] = {NARROW, WIDE};
  for (size_t w = 0; w < UNIT_COUNT(widths); w++) {
    const size_t k = widths[w];
    draw_rows(k);
    const pcal_batch batch = float_batch(floats, k, 1);
    pcal_calibrator *calibrator = NULL;
    pcal_error err;
    floats[1500 * k + 1] = NAN;
    labels[1700] = 1000;
    assert_int_equal(help_try_fit(&batch, "temperature", NULL, &calibrator, &err), PCAL_DATA);
    assert_true(err.row == 1500);
    labels[1400] = -1;
    assert_int_equal(help_try_fit(&batch, "temperature", NULL, &calibrator, &err), PCAL_DATA);
    assert_true(err.row == 1400);
  }
}

static double fitted(const pcal_batch *batch, int skip_missing) {
  pcal_source *source = NULL;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_calibrator *calibrator = NULL;
  config.skip_missing = skip_missing;
  assert_int_equal(pc_source_borrow(batch, NULL, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pcal_fit_run(source, &config, NULL, &calibrator, NULL), PCAL_OK);
  const double after = calibrator->fit.after;
  pcal_calibrator_free(calibrator);
  pcal_source_free(source);
  return after;
}

/* Skipped rows are not in the sample. */
TEST(skipped_rows_leave_no_trace) {
  draw_rows(WIDE);
  pcal_batch batch = float_batch(floats, WIDE, 1);
  double weights[ROWS];
  for (size_t i = 0; i < ROWS; i++)
    weights[i] = i % 3 == 1 ? 0.0 : 1.0;
  batch.weights = weights;
  const double expected = fitted(&batch, 0);
  for (size_t i = 0; i < ROWS; i++)
    weights[i] = 1.0;
  for (size_t i = 1; i < ROWS; i += 3)
    floats[i * WIDE + i % WIDE] = NAN;
  assert_same(fitted(&batch, 1), expected);
  batch.weights = NULL;
  assert_same(fitted(&batch, 1), expected);
}

/* On a sample of all rows the objective is that of all rows. */
TEST(a_full_sample_agrees) {
  static const pc_temperature_score wishes[] = {PC_TEMPERATURE_LOG_AND_ONE, PC_TEMPERATURE_LOG,
                                                PC_TEMPERATURE_BRIER};
  draw_rows(NARROW);
  pcal_batch batch = float_batch(floats, NARROW, 1);
  batch.rows = 700;
  const pcal_env env = pc_env_resolve(NULL);
  pcal_calibrator calibrator = {.env = env};
  pcal_source *source = NULL;
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pc_layout_make(PCAL_LOGIT, NARROW, &calibrator.layout, NULL), PCAL_OK);
  const pc_fit_task task = {source, &env, 0, &calibrator};
  pc_temperature_objective objective = {.task = &task, .is_log = 1};
  assert_int_equal(pc_temperature_objective_draw_sample(&objective, NULL), PCAL_OK);
  assert_int_equal(objective.sample.count, 700);
  pc_temperature_trial trials[UNIT_COUNT(wishes)];
  pc_scalar_derivatives all[UNIT_COUNT(wishes)], sample;
  for (size_t t = 0; t < UNIT_COUNT(wishes); t++)
    trials[t] = (pc_temperature_trial){wishes[t], 0.5 + 0.25 * (double)t};
  assert_int_equal(
      pc_temperature_objective_on_all(&objective, trials, UNIT_COUNT(wishes), all, NULL),
      PCAL_OK);
  assert_same(objective.weight, 700.0);
  assert_true(objective.misses > 0 && objective.misses < 700);
  assert_int_equal(objective.passes, 2);
  for (size_t t = 0; t < UNIT_COUNT(wishes); t++) {
    assert_int_equal(pc_temperature_objective_on_sample(&objective, &trials[t], &sample, NULL),
                     PCAL_OK);
    assert_memory_equal(&sample, &all[t], sizeof sample);
  }
  const double one = objective.one;
  const pc_temperature_trial plain = {PC_TEMPERATURE_LOG, 1.0};
  assert_int_equal(pc_temperature_objective_on_all(&objective, &plain, 1, &sample, NULL),
                   PCAL_OK);
  assert_near(one, sample.value, 1e-14);
  pc_temperature_objective_free(&objective);
  pcal_source_free(source);
}
