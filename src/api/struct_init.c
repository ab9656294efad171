/* The _init function of each struct that callers fill: the values of its _INIT macro, as many of
 * them as fit the struct of the caller's version. */
#include <string.h>

#include "propercal.h"

static void struct_init(void *out, size_t size, const void *initial, size_t own) {
  if (out == NULL || size < sizeof size)
    return;
  const size_t known = size < own ? size : own;
  memcpy(out, initial, known);
  memset((char *)out + known, 0, size - known);
  memcpy(out, &known, sizeof known);
}

#define STRUCT_INIT(type, INIT)                            \
  void pcal_##type##_init(pcal_##type *out, size_t size) { \
    static const pcal_##type initial = INIT;               \
    struct_init(out, size, &initial, sizeof initial);      \
  }

STRUCT_INIT(env, PCAL_ENV_INIT)
STRUCT_INIT(batch, PCAL_BATCH_INIT)
STRUCT_INIT(input, PCAL_INPUT_INIT)
STRUCT_INIT(inputs, PCAL_INPUTS_INIT)
STRUCT_INIT(change, PCAL_CHANGE_INIT)
STRUCT_INIT(shape, PCAL_SHAPE_INIT)
STRUCT_INIT(measure_config, PCAL_MEASURE_CONFIG_INIT)
STRUCT_INIT(watch_report, PCAL_WATCH_REPORT_INIT)
STRUCT_INIT(result, PCAL_RESULT_INIT)
STRUCT_INIT(curve, PCAL_CURVE_INIT)
STRUCT_INIT(plan_config, PCAL_PLAN_CONFIG_INIT)
STRUCT_INIT(fit_config, PCAL_FIT_CONFIG_INIT)
STRUCT_INIT(model, PCAL_MODEL_INIT)
STRUCT_INIT(compare_config, PCAL_COMPARE_CONFIG_INIT)
STRUCT_INIT(figure_config, PCAL_FIGURE_CONFIG_INIT)
STRUCT_INIT(report_config, PCAL_REPORT_CONFIG_INIT)
STRUCT_INIT(simulation, PCAL_SIMULATION_INIT)
STRUCT_INIT(study_config, PCAL_STUDY_CONFIG_INIT)
STRUCT_INIT(verdict, PCAL_VERDICT_INIT)
