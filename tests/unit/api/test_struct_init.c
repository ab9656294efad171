/* The _init functions: the values of the _INIT macros, for callers of this, an older and a newer
 * version. */
#include "../unit.h"
#include "propercal.h"

#define STRUCTS(X)                            \
  X(env, PCAL_ENV_INIT)                       \
  X(batch, PCAL_BATCH_INIT)                   \
  X(input, PCAL_INPUT_INIT)                   \
  X(inputs, PCAL_INPUTS_INIT)                 \
  X(shape, PCAL_SHAPE_INIT)                   \
  X(measure_config, PCAL_MEASURE_CONFIG_INIT) \
  X(watch_report, PCAL_WATCH_REPORT_INIT)     \
  X(result, PCAL_RESULT_INIT)                 \
  X(curve, PCAL_CURVE_INIT)                   \
  X(plan_config, PCAL_PLAN_CONFIG_INIT)       \
  X(fit_config, PCAL_FIT_CONFIG_INIT)         \
  X(model, PCAL_MODEL_INIT)                   \
  X(compare_config, PCAL_COMPARE_CONFIG_INIT) \
  X(figure_config, PCAL_FIGURE_CONFIG_INIT)   \
  X(report_config, PCAL_REPORT_CONFIG_INIT)   \
  X(simulation, PCAL_SIMULATION_INIT)         \
  X(study_config, PCAL_STUDY_CONFIG_INIT)     \
  X(verdict, PCAL_VERDICT_INIT)

/* `out` was filled for a caller whose struct has `size` bytes; ours has `own`. */
static void check_struct(const unsigned char *out, size_t size, const void *initial,
                         size_t own) {
  const size_t known = size < own ? size : own;
  assert_memory_equal(out, &known, sizeof known);
  assert_memory_equal(out + sizeof known, (const char *)initial + sizeof known,
                      known - sizeof known);
  for (size_t i = known; i < size; i++)
    assert_int_equal(out[i], 0);
  assert_int_equal(out[size], 0xA5);
}

#define CHECK_STRUCT(type, INIT)                                     \
  TEST(type) {                                                       \
    static const pcal_##type initial = INIT;                         \
    union {                                                          \
      pcal_##type value;                                             \
      unsigned char bytes[sizeof(pcal_##type) + 17];                 \
    } out;                                                           \
    const size_t own = sizeof initial;                               \
    const size_t sizes[] = {own, own + 16, own - 4, sizeof(size_t)}; \
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++) {                 \
      memset(&out, 0xA5, sizeof out);                                \
      pcal_##type##_init(&out.value, sizes[i]);                      \
      check_struct(out.bytes, sizes[i], &initial, own);              \
    }                                                                \
    memset(&out, 0xA5, sizeof out);                                  \
    pcal_##type##_init(&out.value, sizeof(size_t) - 1);              \
    assert_int_equal(out.bytes[0], 0xA5);                            \
    pcal_##type##_init(NULL, own);                                   \
  }

STRUCTS(CHECK_STRUCT)

TEST(processors) {
  assert_true(pcal_processor_count() >= 1);
}
