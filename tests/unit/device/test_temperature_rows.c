/* The kernels for fits of the temperature on a GPU, run on the CPU: the sums of the CPU's own kernels
 * for every number of classes, type, size of labels and temperature; rows that the host must check; the
 * rows of a sample. */
#include "unit.h"

#include "base/sum.h"
#include "kernels/dispatch.h"
#include "temperature_rows_emulator.h"

#define ROWS 613
#define CLASSES_MAX 257

typedef struct test_rows {
  size_t classes;
  float z[ROWS * CLASSES_MAX];
  double doubles[ROWS * CLASSES_MAX], values[ROWS * PC_TEMPERATURE_ROWS_VALUES];
  int32_t labels[ROWS];
  int64_t wide_labels[ROWS];
  uint8_t short_labels[ROWS];
} test_rows;

static test_rows data;

/* Row r has one of six shapes: usual, extreme, with ties, all equal, with a huge gap, confident. */
static void draw(size_t classes) {
  const pc_rng rng = {21, classes};
  memset(&data, 0, sizeof data);
  data.classes = classes;
  for (size_t r = 0; r < ROWS; r++) {
    for (size_t j = 0; j < classes; j++) {
      const double normal = pc_rng_normal(&rng, r * classes + j);
      const double likely = j == r % classes ? 1.0 : 0.0;
      data.z[r * classes + j] = (float)(r % 6 == 0   ? 3 * normal
                                        : r % 6 == 1 ? 300 * normal
                                        : r % 6 == 2 ? floor(normal)
                                        : r % 6 == 3 ? -0.5
                                        : r % 6 == 4 ? 745.0 * likely + normal
                                                     : 30.0 * likely + normal);
      data.doubles[r * classes + j] = (double)data.z[r * classes + j];
    }
    data.labels[r] = (int32_t)(r % 5 == 0 ? (r * 7) % classes : r % classes);
    data.wide_labels[r] = data.labels[r];
    data.short_labels[r] = (uint8_t)data.labels[r];
  }
}

typedef struct fit_sums {
  pc_sum value[PC_TEMPERATURE_ROWS_VALUES];
} fit_sums;

/* The CPU's own sums over the rows whose index leaves no rest. */
static void expect(double beta, int is_double, size_t step, fit_sums *out) {
  static pc_temperature_block block;
  const pc_temperature_kernels *kernels = pc_kernels_best()->temperature;
  memset(out, 0, sizeof *out);
  for (size_t r = 0; r < ROWS; r += step) {
    const float *z = data.z + r * data.classes;
    size_t top = 0;
    for (size_t j = 1; j < data.classes; j++)
      top = z[j] > z[top] ? j : top;
    block.count = 0;
    if (is_double)
      kernels->add_f64(PC_TEMPERATURE_LOG_AND_ONE, data.doubles + r * data.classes,
                       data.classes, top, (size_t)data.labels[r], beta, &block);
    else
      kernels->add_f32(PC_TEMPERATURE_LOG_AND_ONE, z, data.classes, top, (size_t)data.labels[r],
                       beta, &block);
    kernels->finish(PC_TEMPERATURE_LOG_AND_ONE, beta, &block);
    pc_sum_add(&out->value[0], block.loss[0]);
    for (size_t k = 0; k < PC_TEMPERATURE_ROWS_SLOPES; k++)
      pc_sum_add(&out->value[k + 1], block.slope[k][0]);
    pc_sum_add(&out->value[PC_TEMPERATURE_ROWS_ONE], block.one[0]);
  }
}

static void run(double beta, int is_double, uint32_t label_size, const uint32_t *chosen,
                uint64_t count, uint64_t *words) {
  const int wide = data.classes > PC_NARROW_CLASSES;
  const uint64_t step = wide ? PC_TEMPERATURE_ROWS_THREADS / PC_TEMPERATURE_ROWS_LANES
                             : PC_TEMPERATURE_ROWS_THREADS;
  const pc_temperature_rows rows = {.scores = is_double ? (const void *)data.doubles : data.z,
                                    .labels = label_size == 8   ? (const void *)data.wide_labels
                                              : label_size == 4 ? (const void *)data.labels
                                                                : data.short_labels,
                                    .chosen = chosen,
                                    .values = data.values,
                                    .words = words,
                                    .rows = count,
                                    .classes = (uint32_t)data.classes,
                                    .label_size = label_size,
                                    .with_one = 1,
                                    .beta = beta};
  const pc_value_sums sums = {data.values, words, count};
  memset(words, 0, PC_TEMPERATURE_ROWS_WORDS * sizeof *words);
  temperature_rows_emulate(&rows, is_double, wide, (uint32_t)((count + step - 1) / step));
  value_sums_emulate(&sums, PC_TEMPERATURE_ROWS_VALUES * pc_value_sums_blocks(count));
}

static void check(const uint64_t *words, const fit_sums *expected) {
  assert_int_equal(words[PC_TEMPERATURE_ROWS_ODD], 0);
  assert_int_equal(words[PC_TEMPERATURE_ROWS_MISSED], 1);
  for (size_t v = 0; v < PC_TEMPERATURE_ROWS_VALUES; v++) {
    pc_sum got = {.pending = 0};
    memcpy(got.limb, words + PC_TEMPERATURE_ROWS_FIRST + v * PC_VALUE_SUMS_LIMBS,
           sizeof got.limb);
    assert_true(pc_sum_equal(&got, &expected->value[v]));
  }
}

TEST(test_sums_are_those_of_the_cpu) {
  static const size_t classes[] = {2, 3, 10, 16, 32, 33, 40, 47, 48, 100, 257};
  static const double betas[] = {1.0, 0.37, 2.5, 1e-4, 1e4};
  static uint64_t words[PC_TEMPERATURE_ROWS_WORDS];
  static uint32_t chosen[ROWS];
  fit_sums expected;
  for (size_t i = 0; i < (ROWS + 2) / 3; i++)
    chosen[i] = (uint32_t)(3 * i);
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    draw(classes[c]);
    for (size_t b = 0; b < UNIT_COUNT(betas); b++)
      for (int is_double = 0; is_double < 2; is_double++) {
        expect(betas[b], is_double, 1, &expected);
        run(betas[b], is_double,
            b == 0                       ? 8
            : b == 1 && classes[c] < 256 ? 1
                                         : 4,
            NULL, ROWS, words);
        check(words, &expected);
        expect(betas[b], is_double, 3, &expected);
        run(betas[b], is_double, 4, chosen, (ROWS + 2) / 3, words);
        check(words, &expected);
      }
  }
}

/* Edge case 4. */
TEST(test_rows_for_the_host_are_noticed) {
  static const size_t classes[] = {10, 40};
  static const float odd[] = {INFINITY, -INFINITY, NAN};
  static const int64_t bad[] = {-1, INT32_MIN, INT64_MAX, 40};
  static uint64_t words[PC_TEMPERATURE_ROWS_WORDS];
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    draw(classes[c]);
    for (size_t i = 0; i < UNIT_COUNT(odd); i++) {
      const size_t at = (ROWS - 1 - 7 * i) * classes[c] + 3 * i;
      const float before = data.z[at];
      data.z[at] = odd[i];
      run(1.0, 0, 4, NULL, ROWS, words);
      assert_int_equal(words[PC_TEMPERATURE_ROWS_ODD], 1);
      data.z[at] = before;
    }
    for (size_t i = 0; i < UNIT_COUNT(bad); i++) {
      data.wide_labels[500] = bad[i];
      run(1.0, 0, 8, NULL, ROWS, words);
      assert_int_equal(words[PC_TEMPERATURE_ROWS_ODD], 1);
    }
  }
}

/* Edge case 5: columns of values of any size, in one block and in several. */
TEST(test_columns_are_added_exactly) {
  enum { COUNT = 9001 };
  static double values[2 * COUNT];
  static uint64_t words[PC_TEMPERATURE_ROWS_WORDS];
  static const double sizes[] = {1.0, 1e-3, 1e17, 0x1p61, -0x1p62, 1e300, 1e-200, 5e-324, 0.0};
  const pc_rng rng = {4, 0};
  for (size_t i = 0; i < 2 * COUNT; i++)
    values[i] = pc_rng_normal(&rng, i) * sizes[i % UNIT_COUNT(sizes)];
  for (uint64_t rows = 1; rows <= COUNT; rows = rows * 7 + 83) {
    const pc_value_sums sums = {values, words, rows};
    memset(words, 0, sizeof words);
    value_sums_emulate(&sums, 2 * pc_value_sums_blocks(rows));
    for (uint64_t c = 0; c < 2; c++) {
      pc_sum got = {.pending = 0}, expected;
      pc_sum_clear(&expected);
      for (uint64_t i = 0; i < rows; i++)
        pc_sum_add(&expected, values[c * rows + i]);
      memcpy(got.limb, words + PC_TEMPERATURE_ROWS_FIRST + c * PC_VALUE_SUMS_LIMBS,
             sizeof got.limb);
      assert_true(pc_sum_equal(&got, &expected));
    }
    assert_int_equal(words[PC_TEMPERATURE_ROWS_ODD], 0);
  }
  values[7] = INFINITY;
  const pc_value_sums sums = {values, words, 8};
  value_sums_emulate(&sums, 1);
  assert_int_equal(words[PC_TEMPERATURE_ROWS_ODD], 1);
}

TEST(test_samples_have_the_rows_of_their_keys) {
  static pc_sample_found found;
  draw(40);
  for (uint32_t level = 0; level < 4; level++) {
    const pc_sample_rows sample = {.scores = data.z,
                                   .labels = data.labels,
                                   .found = &found,
                                   .rows = ROWS,
                                   .classes = 40,
                                   .label_size = 4,
                                   .level = level};
    size_t expected = 0;
    memset(&found, 0, sizeof found);
    sample_rows_emulate(&sample, 0,
                        (ROWS + PC_SAMPLE_ROWS_THREADS - 1) / PC_SAMPLE_ROWS_THREADS);
    for (size_t r = 0; r < ROWS; r++) {
      uint64_t key = pc_sample_key_begin(data.labels[r]);
      for (size_t i = 0; i < 3; i++)
        key =
            pc_sample_key_add(key, (double)data.z[r * 40 + ((size_t)data.labels[r] + i) % 40]);
      if (level > 0 && key >> (64 - level) != 0)
        continue;
      assert_int_equal(found.row[expected], r); /* threads run in their order here */
      assert_true(found.key[expected] == key);
      expected++;
    }
    assert_int_equal(found.count, expected);
    assert_int_equal(found.odd, 0);
  }
}
