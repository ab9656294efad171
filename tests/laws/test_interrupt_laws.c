/* The caller stops a call at any of its checks: PCAL_INTERRUPTED, and nothing is left over
 * (fault_sweep.h). */
#include "../unit/unit.h"

#include "fault_sweep.h"

static int interrupt_sweep(row_call_function function, call_data data, const char *spec) {
  return fault_sweep(FAULT_STOP, function, data, spec);
}

TEST(metrics_stop) {
  assert_int_equal(fault_sweep_rows(FAULT_STOP, call_metric, PCAL_METRICS, 0),
                   pcal_registry_count(PCAL_METRICS));
  assert_true(fault_sweep_rows(FAULT_STOP, call_difference, PCAL_METRICS, 0) > 0);
}

TEST(calibrators_stop) {
  assert_int_equal(fault_sweep_rows(FAULT_STOP, call_calibrator, PCAL_CALIBRATORS, 0),
                   pcal_registry_count(PCAL_CALIBRATORS));
}

TEST(figures_stop) {
  assert_true(fault_sweep_rows(FAULT_STOP, call_figure, PCAL_FIGURES, 0) >=
              pcal_registry_count(PCAL_FIGURES) / 2);
}

TEST(studies_stop) {
  assert_true(fault_sweep_rows(FAULT_STOP, call_study, PCAL_STUDIES, 0) > 0);
}

TEST(states_rounds_and_watches_stop) {
  assert_true(interrupt_sweep(call_state, CALL_LOGITS, "ks"));
  assert_true(interrupt_sweep(call_rounds, CALL_BINARY, "ks"));
  assert_true(interrupt_sweep(call_rounds_fit, CALL_BINARY, "platt"));
  assert_true(interrupt_sweep(call_watch, CALL_BINARY, "watch"));
  assert_true(interrupt_sweep(call_inspect, CALL_LOGITS, "inspect"));
}

TEST(reports_and_comparisons_stop) {
  assert_true(interrupt_sweep(call_report, CALL_BINARY, "platt"));
  assert_true(interrupt_sweep(call_report_chosen, CALL_BINARY, "brier"));
  assert_true(interrupt_sweep(call_report_clinical, CALL_BINARY, "brier"));
  assert_true(interrupt_sweep(call_compare, CALL_BINARY, "isotonic"));
  assert_true(interrupt_sweep(call_compare_models, CALL_LOGITS, "brier"));
}

TEST(files) {
  for (size_t i = 0; call_file_names[i] != NULL; i++)
    if (!fault_sweep(FAULT_STOP, call_file, CALL_LOGITS, call_file_names[i]))
      fail_msg("%s was refused", call_file_names[i]);
}
