/* An allocation fails, at every place, in everything that rows of the registry do, on a few rows of data:
 * each time PCAL_MEMORY, and nothing is left over (fault_sweep.h).
 *
 * Every metric, calibrator and figure, with each word of each of its choices, studies, states,
 * differences, rounds, watches, reports and comparisons. */
#include "../unit/unit.h"

#include "fault_sweep.h"

static int memory_sweep(row_call_function function, call_data data, const char *spec) {
  return fault_sweep(FAULT_MEMORY, function, data, spec);
}

TEST(metrics) {
  assert_int_equal(fault_sweep_rows(FAULT_MEMORY, call_metric, PCAL_METRICS, 1),
                   pcal_registry_count(PCAL_METRICS));
}

TEST(metrics_of_two_models) {
  assert_true(fault_sweep_rows(FAULT_MEMORY, call_difference, PCAL_METRICS, 0) >=
              pcal_registry_count(PCAL_METRICS) / 2);
}

/* Metrics over all pairs of rows have no state that can be saved. */
TEST(states) {
  assert_true(fault_sweep_rows(FAULT_MEMORY, call_state, PCAL_METRICS, 0) >
              pcal_registry_count(PCAL_METRICS) * 3 / 4);
}

TEST(rounds) {
  assert_true(fault_sweep_rows(FAULT_MEMORY, call_rounds, PCAL_METRICS, 0) >
              pcal_registry_count(PCAL_METRICS) / 3);
  assert_true(fault_sweep_rows(FAULT_MEMORY, call_rounds_fit, PCAL_CALIBRATORS, 0) > 5);
}

/* Options that allocate only together, or for numbers other than the default. */
static const char *const memory_together[] = {
    "histogram:bootstrap=2",
    "histogram:binning=mass,bins=4,bootstrap=2",
    "matrix-odir:lambda=0.1",
    "spline:target=all,constrained=yes,knots=4",
    "spline:target=within,rank=2,convention=gupta",
};

TEST(calibrators) {
  assert_int_equal(fault_sweep_rows(FAULT_MEMORY, call_calibrator, PCAL_CALIBRATORS, 1),
                   pcal_registry_count(PCAL_CALIBRATORS));
  for (size_t i = 0; i < UNIT_COUNT(memory_together); i++)
    assert_true(fault_sweep_spec(FAULT_MEMORY, call_calibrator, memory_together[i]));
}

TEST(calibrators_of_groups) {
  assert_true(memory_sweep(call_calibrator_by_group, CALL_LOGITS, "temperature"));
  assert_true(memory_sweep(call_calibrator_by_group, CALL_CONFIDENCES, "isotonic"));
}

TEST(figures) {
  assert_true(fault_sweep_rows(FAULT_MEMORY, call_figure, PCAL_FIGURES, 1) >=
              pcal_registry_count(PCAL_FIGURES) / 2);
  fault_sweep_rows(FAULT_MEMORY, call_figure_of_groups, PCAL_FIGURES, 0);
  fault_sweep_rows(FAULT_MEMORY, call_figure_of_models, PCAL_FIGURES, 0);
  fault_sweep_rows(FAULT_MEMORY, call_figure_recalibrated, PCAL_FIGURES, 0);
  assert_true(memory_sweep(call_figure_of_groups, CALL_LOGITS, "reliability"));
  assert_true(memory_sweep(call_figure_of_groups, CALL_LOGITS, "drift"));
  assert_true(memory_sweep(call_figure_of_models, CALL_LOGITS, "reliability"));
  assert_true(memory_sweep(call_figure_of_many_models, CALL_LOGITS, "reliability"));
  assert_true(memory_sweep(call_figure_recalibrated, CALL_BINARY, "reliability"));
}

TEST(studies) {
  assert_true(fault_sweep_rows(FAULT_MEMORY, call_study, PCAL_STUDIES, 0) > 0);
}

TEST(watches_and_inspections) {
  assert_true(memory_sweep(call_watch, CALL_BINARY, "watch"));
  assert_true(fault_sweep_spec(FAULT_MEMORY, call_inspect, "inspect"));
}

TEST(reports) {
  assert_true(memory_sweep(call_report, CALL_LOGITS, "temperature"));
  assert_true(memory_sweep(call_report, CALL_CONFIDENCES, "isotonic"));
  assert_true(memory_sweep(call_report, CALL_NORMALS, "variance-scale"));
  assert_true(memory_sweep(call_report_chosen, CALL_BINARY, "brier"));
  assert_true(memory_sweep(call_report_clinical, CALL_BINARY, "brier"));
}

TEST(comparisons) {
  assert_true(memory_sweep(call_compare, CALL_LOGITS, "temperature"));
  assert_true(memory_sweep(call_compare, CALL_LOGITS, "isotonic"));
  assert_true(memory_sweep(call_compare, CALL_NORMALS, "variance-scale"));
  assert_true(memory_sweep(call_compare_models, CALL_LOGITS, "brier"));
}

TEST(files) {
  for (size_t i = 0; call_file_names[i] != NULL; i++)
    if (!fault_sweep(FAULT_MEMORY, call_file, CALL_LOGITS, call_file_names[i]))
      fail_msg("%s was refused", call_file_names[i]);
}
