#include "metrics/calibration_test.h"

#include <math.h>
#include <stdio.h>

#include "stats/distributions.h"

enum {
  CALIBRATION_TEST_AUTO,
  CALIBRATION_TEST_TOP,
  CALIBRATION_TEST_POSITIVE,
  CALIBRATION_TEST_CLASSWISE
};

double pc_calibration_test_score(double score) {
  return score < 0.0 ? 0.0 : score > 1.0 ? 1.0 : score;
}

pcal_status pc_calibration_test_configure(pc_options *options, size_t view,
                                          const pc_layout *layout, pc_metric_config *config,
                                          pcal_error *err) {
  config->need.machine = PC_CURVE;
  config->bound = PCAL_BOUND_NONE;
  if (options->value[view].choice != CALIBRATION_TEST_CLASSWISE)
    return pc_metric_choose_view(options, view, layout, config, err);
  if (layout->kind == PCAL_CONFIDENCE)
    return pc_fail(err, PCAL_USAGE,
                   "%s: view=classwise needs the probabilities of all classes; give them as "
                   "{probs} or {logits} instead of {confidence}",
                   options->name);
  config->need.view.kind = PC_VIEW_CLASSES;
  config->notion = PCAL_NOTION_CLASS_WISE;
  return PCAL_OK;
}

pcal_status pc_calibration_test_configure_segments(pc_options *options, size_t view,
                                                   const pc_layout *layout, int classes,
                                                   pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_calibration_test_configure(options, view, layout, config, err));
  config->whole_curve = config->need.view.kind == PC_VIEW_CLASSES && !classes;
  if (!config->whole_curve)
    config->need.grid.moments = PC_MOMENT_SQUARE;
  return PCAL_OK;
}

static void calibration_test_set_result(const pc_calibration_test *test, double p_value,
                                        pc_metric_result *out) {
  out->value = test->statistic;
  out->tested = 1;
  out->p_value = p_value;
  for (size_t i = 0; i < test->part_count; i++)
    pc_metric_result_part(out, test->parts[i].name, test->parts[i].value);
}

static void calibration_test_set_undefined(const char *why, pc_metric_result *out) {
  out->undefined = 1;
  snprintf(out->why, sizeof out->why, "%s", why);
}

void pc_calibration_test_result(const pc_calibration_test *test, pc_metric_result *out) {
  if (test->cannot != NULL)
    calibration_test_set_undefined(test->cannot, out);
  else
    calibration_test_set_result(test, test->p_value, out);
}

/* Tests every class and keeps the one with the smallest p-value.  The tests of two classes are
 * equal by symmetry, so there is no correction. */
static pcal_status calibration_test_classes(const pc_options *options,
                                            const pc_evidence *evidence, const pcal_env *env,
                                            pc_calibration_test_function test, double *p_values,
                                            pc_metric_result *out, pcal_error *err) {
  pc_calibration_test best = {.p_value = (double)NAN}, here = {.cannot = NULL};
  size_t class = 0;
  for (size_t c = 0; c < evidence->curve.part_count; c++) {
    here = (pc_calibration_test){
        .among = evidence->curve.part_count > 2 ? evidence->curve.part_count : 1};
    PC_TRY(test(options, &evidence->curve.parts[c], env, &here, err));
    p_values[c] = here.cannot != NULL ? (double)NAN : here.p_value;
    if (here.cannot != NULL || !(isnan(best.p_value) || here.p_value < best.p_value))
      continue;
    best = here;
    class = c;
  }
  if (isnan(best.p_value)) {
    calibration_test_set_undefined(here.cannot, out);
    return PCAL_OK;
  }
  const size_t count = evidence->curve.part_count;
  calibration_test_set_result(
      &best, count > 2 ? pc_holm_smallest(p_values, count) : best.p_value, out);
  pc_metric_result_part(out, "class", (double)class);
  return PCAL_OK;
}

pcal_status pc_calibration_test_evaluate(const pc_options *options, const pc_evidence *evidence,
                                         const pcal_env *env, pc_calibration_test_function test,
                                         pc_metric_result *out, pcal_error *err) {
  const size_t count = evidence->curve.part_count;
  if (count == 1) {
    pc_calibration_test only = {.among = 1};
    PC_TRY(test(options, &evidence->curve.parts[0], env, &only, err));
    pc_calibration_test_result(&only, out);
    return PCAL_OK;
  }
  double *p_values = pc_alloc_raw(env, count, sizeof *p_values);
  if (p_values == NULL)
    return pc_fail_memory(err, "testing classes");
  const pcal_status status =
      calibration_test_classes(options, evidence, env, test, p_values, out, err);
  pc_free(env, p_values);
  return status;
}
