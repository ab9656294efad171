/* The order of entries does not depend on threads or on the order of rows. */
#include "forecast_fit_help.h"

#include "calibrators/calibrator.h"
#include "calibrators/regression/forecast_table.h"
#include "io/source.h"

static void table_pick(const pc_forecast_shape *shape, const double *row,
                       pc_forecast_entry *out) {
  assert_int_equal(shape->form, PC_FORM_GAUSSIAN);
  out->first = row[0];
  out->second = row[2];
}

static pcal_status table_try(const pcal_batch *batch, const pcal_env *env,
                             const pcal_env *scratch, pc_forecast_table *out, pcal_error *err) {
  const pc_calibrator_method *row = pc_calibrator_method_find("variance-scale");
  pc_options options;
  pc_layout layout;
  pcal_calibrator *calibrator = NULL;
  pcal_source *source = NULL;
  *out = (pc_forecast_table){NULL, 0, 0.0};
  PC_TRY(pc_options_parse("variance-scale", "variance-scale", NULL, 0, &options, err));
  PC_TRY(pc_layout_make(batch->kind, batch->columns, &layout, err));
  PC_TRY(pc_calibrator_new(env, row, &options, &layout, &calibrator, err));
  pcal_status status = pc_source_borrow(batch, NULL, env, &source, err);
  const pc_fit_task task = {source, scratch, 0, calibrator};
  if (status == PCAL_OK)
    status = pc_forecast_table_new(&task, table_pick, out, err);
  pcal_source_free(source);
  pc_calibrator_free(calibrator);
  return status;
}

TEST(test_one_order) {
  static forecast_fit_set set;
  static double weights[FORECAST_FIT_ROWS];
  pc_forecast_table tables[2];
  pc_arena arenas[2];
  double total = 0;
  forecast_fit_make(&set);
  for (size_t i = 0; i < FORECAST_FIT_ROWS; i++) {
    set.pairs[2 * i] = (double)((i * 7) % 5); /* ties */
    weights[i] = (double)(i % 3);
    total += weights[i];
  }
  set.data.weights = weights;
  const pcal_batch batch = forecast_batch(&set.data);
  for (unsigned t = 0; t < 2; t++) {
    pcal_env env = pc_env_resolve(NULL);
    pcal_error err;
    env.threads = 1 + 3 * t;
    assert_int_equal(pc_arena_open(&arenas[t], &env, NULL), PCAL_OK);
    if (table_try(&batch, &env, &arenas[t].env, &tables[t], &err) != PCAL_OK)
      fail_msg("%s", err.message);
  }
  assert_int_equal(tables[0].count, tables[1].count);
  assert_int_equal(tables[0].count, FORECAST_FIT_ROWS - (FORECAST_FIT_ROWS + 2) / 3);
  assert_memory_equal(tables[0].entries, tables[1].entries,
                      tables[0].count * sizeof *tables[0].entries);
  assert_near(tables[0].total, total, 0);
  for (size_t i = 1; i < tables[0].count; i++) {
    const pc_forecast_entry *before = &tables[0].entries[i - 1], *here = before + 1;
    assert_true(before->first < here->first ||
                (before->first == here->first && before->second <= here->second));
  }
  for (unsigned t = 0; t < 2; t++)
    pc_arena_close(&arenas[t]);
}
