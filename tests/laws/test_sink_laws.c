/* A sink refuses bytes, at any call: PCAL_IO, and nothing is left over (fault_sweep.h). */
#include "../unit/unit.h"

#include "fault_sweep.h"

static int sink_sweep(row_call_function function, call_data data, const char *spec) {
  return fault_sweep(FAULT_SINK, function, data, spec);
}

TEST(results_and_states) {
  assert_true(fault_sweep_spec(FAULT_SINK, call_metric, "ece"));
  assert_true(sink_sweep(call_difference, CALL_LOGITS, "default"));
  assert_true(fault_sweep_spec(FAULT_SINK, call_state, "ks"));
  assert_true(sink_sweep(call_rounds, CALL_BINARY, "ks"));
  assert_true(sink_sweep(call_rounds_fit, CALL_BINARY, "platt"));
  assert_true(sink_sweep(call_watch, CALL_BINARY, "watch"));
  assert_true(sink_sweep(call_inspect, CALL_LOGITS, "inspect"));
}

TEST(calibrators) {
  assert_int_equal(fault_sweep_rows(FAULT_SINK, call_calibrator, PCAL_CALIBRATORS, 0),
                   pcal_registry_count(PCAL_CALIBRATORS));
  assert_true(sink_sweep(call_calibrator_by_group, CALL_LOGITS, "temperature"));
}

TEST(figures_studies_and_pages) {
  assert_true(sink_sweep(call_figure, CALL_LOGITS, "reliability"));
  assert_true(sink_sweep(call_study, CALL_LOGITS, "taxonomy"));
  assert_true(sink_sweep(call_report, CALL_LOGITS, "temperature"));
  assert_true(sink_sweep(call_compare, CALL_LOGITS, "temperature"));
}

TEST(files) {
  for (size_t i = 0; call_file_names[i] != NULL; i++)
    if (!fault_sweep(FAULT_SINK, call_file, CALL_LOGITS, call_file_names[i]))
      fail_msg("%s was refused", call_file_names[i]);
}
