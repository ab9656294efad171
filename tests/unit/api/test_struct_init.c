/* The _init functions: the values of the _INIT macros, for callers of this, an older and a newer
 * version. */
#include "../unit.h"
#include "propercal.h"

/* Name, initial value, and whether a text follows the size. */
#define STRUCTS(X)                               \
  X(env, PCAL_ENV_INIT, 0)                       \
  X(batch, PCAL_BATCH_INIT, 0)                   \
  X(input, PCAL_INPUT_INIT, 0)                   \
  X(inputs, PCAL_INPUTS_INIT, 0)                 \
  X(shape, PCAL_SHAPE_INIT, 0)                   \
  X(measure_config, PCAL_MEASURE_CONFIG_INIT, 0) \
  X(watch_report, PCAL_WATCH_REPORT_INIT, 0)     \
  X(result, PCAL_RESULT_INIT, 0)                 \
  X(curve, PCAL_CURVE_INIT, 0)                   \
  X(change, PCAL_CHANGE_INIT, 0)                 \
  X(plan_config, PCAL_PLAN_CONFIG_INIT, 0)       \
  X(fit_config, PCAL_FIT_CONFIG_INIT, 1)         \
  X(model, PCAL_MODEL_INIT, 0)                   \
  X(compare_config, PCAL_COMPARE_CONFIG_INIT, 0) \
  X(figure_config, PCAL_FIGURE_CONFIG_INIT, 1)   \
  X(report_config, PCAL_REPORT_CONFIG_INIT, 0)   \
  X(simulation, PCAL_SIMULATION_INIT, 0)         \
  X(study_config, PCAL_STUDY_CONFIG_INIT, 0)     \
  X(verdict, PCAL_VERDICT_INIT, 0)

/* Bytes up to the end of the text that may follow the size.  Equal texts may have different
 * addresses. */
static size_t check_text(const unsigned char *out, const unsigned char *initial) {
  const char *text, *expected;
  memcpy(&text, out + sizeof(size_t), sizeof text);
  memcpy(&expected, initial + sizeof(size_t), sizeof expected);
  assert_string_equal(text, expected);
  return sizeof(size_t) + sizeof text;
}

/* `out` was filled for a caller whose struct has `size` bytes; ours has `own`. */
static void check_struct(const unsigned char *out, size_t size, const unsigned char *initial,
                         size_t own, int has_text) {
  const size_t known = size < own ? size : own;
  const size_t from =
      has_text && known > sizeof known ? check_text(out, initial) : sizeof known;
  assert_memory_equal(out, &known, sizeof known);
  assert_memory_equal(out + from, initial + from, known - from);
  for (size_t i = known; i < size; i++)
    assert_int_equal(out[i], 0);
  assert_int_equal(out[size], 0xA5);
}

#define CHECK_STRUCT(type, INIT, TEXT)                                               \
  TEST(type) {                                                                       \
    static const pcal_##type initial = INIT;                                         \
    union {                                                                          \
      pcal_##type value;                                                             \
      unsigned char bytes[sizeof(pcal_##type) + 17];                                 \
    } out;                                                                           \
    const size_t own = sizeof initial;                                               \
    const size_t sizes[] = {own, own + 16, own - 4, sizeof(size_t)};                 \
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++) {                                 \
      memset(&out, 0xA5, sizeof out);                                                \
      pcal_##type##_init(&out.value, sizes[i]);                                      \
      check_struct(out.bytes, sizes[i], (const unsigned char *)&initial, own, TEXT); \
    }                                                                                \
    memset(&out, 0xA5, sizeof out);                                                  \
    pcal_##type##_init(&out.value, sizeof(size_t) - 1);                              \
    assert_int_equal(out.bytes[0], 0xA5);                                            \
    pcal_##type##_init(NULL, own);                                                   \
  }

STRUCTS(CHECK_STRUCT)

TEST(processors) {
  assert_true(pcal_processor_count() >= 1);
}
