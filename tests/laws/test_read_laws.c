/* Rows cannot be read, at any call: PCAL_IO, and nothing is left over (fault_sweep.h). */
#include "../unit/unit.h"

#include "fault_sweep.h"

static int read_sweep(row_call_function function, call_data data, const char *spec) {
  return fault_sweep(FAULT_READ, function, data, spec);
}

TEST(results_and_states) {
  static const char *const specs[] = {"default", "ks",      "skce",
                                      "crps",    "pinball", "energy-score"};
  for (size_t i = 0; i < UNIT_COUNT(specs); i++)
    assert_true(fault_sweep_spec(FAULT_READ, call_metric, specs[i]));
  assert_true(read_sweep(call_difference, CALL_LOGITS, "default"));
  assert_true(fault_sweep_spec(FAULT_READ, call_state, "ks"));
  assert_true(read_sweep(call_rounds, CALL_BINARY, "ks"));
  assert_true(read_sweep(call_rounds_fit, CALL_BINARY, "platt"));
  assert_true(read_sweep(call_watch, CALL_BINARY, "watch"));
  assert_true(fault_sweep_spec(FAULT_READ, call_inspect, "inspect"));
}

TEST(calibrators) {
  assert_true(fault_sweep_rows(FAULT_READ, call_calibrator, PCAL_CALIBRATORS, 0) > 0);
  assert_true(read_sweep(call_calibrator_by_group, CALL_LOGITS, "temperature"));
}

TEST(figures) {
  assert_true(fault_sweep_rows(FAULT_READ, call_figure, PCAL_FIGURES, 0) > 0);
  fault_sweep_rows(FAULT_READ, call_figure_of_groups, PCAL_FIGURES, 0);
  fault_sweep_rows(FAULT_READ, call_figure_of_models, PCAL_FIGURES, 0);
  fault_sweep_rows(FAULT_READ, call_figure_recalibrated, PCAL_FIGURES, 0);
}

TEST(studies) {
  static const char *const quick[] = {"taxonomy", "counterexample", "sharpness-loss",
                                      "u-score"};
  for (size_t i = 0; i < UNIT_COUNT(quick); i++)
    fault_sweep_spec(FAULT_READ, call_study, quick[i]);
}

TEST(reports_and_comparisons) {
  assert_true(read_sweep(call_report, CALL_LOGITS, "temperature"));
  assert_true(read_sweep(call_report_chosen, CALL_BINARY, "brier"));
  assert_true(read_sweep(call_report_clinical, CALL_BINARY, "brier"));
  assert_true(read_sweep(call_compare, CALL_LOGITS, "temperature"));
  assert_true(read_sweep(call_compare_models, CALL_LOGITS, "brier"));
}
