/* The kernels of the GPU, run on the CPU: the bits of the CPU's own kernels for every number of
 * classes, both types, ties, extreme logits and unfinished blocks. */
#include "unit.h"

#include "base/rng.h"
#include "kernels/dispatch.h"
#include "softmax_rows_emulator.h"

#define ROWS 70

typedef struct outcome {
  double rest[ROWS], rest_square[ROWS], gap[ROWS];
  int32_t top[ROWS];
  uint32_t odd;
} outcome;

/* Row r has one of five shapes: usual, extreme, with ties, all equal, with a huge gap. */
static void draw(size_t classes, double *z, int32_t *labels) {
  const pc_rng rng = {11, classes};
  for (size_t r = 0; r < ROWS; r++) {
    for (size_t j = 0; j < classes; j++) {
      const double normal = pc_rng_normal(&rng, r * classes + j);
      z[r * classes + j] = r % 5 == 0   ? 3 * normal
                           : r % 5 == 1 ? 300 * normal
                           : r % 5 == 2 ? floor(normal)
                           : r % 5 == 3 ? -0.5
                                        : (j == r % classes ? 800.0 : normal);
      z[r * classes + j] = (double)(float)z[r * classes + j];
    }
    labels[r] = (int32_t)((r * 7) % classes);
  }
}

static outcome run(const void *z, int is_double, const int32_t *labels, size_t classes) {
  outcome out = {.odd = 0};
  const pc_softmax_rows rows = {z,       labels,   out.rest, out.rest_square,  out.gap,
                                out.top, &out.odd, ROWS,     (uint32_t)classes};
  const size_t of_block = PC_SOFTMAX_ROWS_THREADS / PC_SOFTMAX_ROWS_LANES;
  if (classes <= PC_NARROW_CLASSES)
    emulator_narrow(&rows, is_double, 1);
  else
    emulator_wide(&rows, is_double, (uint32_t)((ROWS + of_block - 1) / of_block));
  return out;
}

static void check_wide(const float *z, const int32_t *labels, size_t classes,
                       const outcome *got) {
  for (size_t r = 0; r < ROWS; r++) {
    pc_softmax_facts facts;
    const float *row = z + r * classes;
    pc_kernels_best()->row->softmax_f32(row, classes, NULL, &facts);
    assert_true(facts.rest == got->rest[r] && facts.rest_square == got->rest_square[r]);
    assert_true((double)row[labels[r]] - facts.max == got->gap[r]);
    assert_int_equal(facts.top, got->top[r]);
  }
}

static void check_narrow(const float *z, const int32_t *labels, size_t classes,
                         const outcome *got) {
  for (size_t r = 0; r + PC_NARROW_ROWS <= ROWS; r++) {
    double rest[PC_NARROW_ROWS], square[PC_NARROW_ROWS], gap[PC_NARROW_ROWS];
    int32_t top[PC_NARROW_ROWS];
    pc_narrow_facts facts = {rest, square, gap, top, 1, 1};
    pc_kernels_best()->row->narrow_f32(z + r * classes, classes, labels + r, NULL, &facts);
    assert_memory_equal(rest, got->rest + r, sizeof rest);
    assert_memory_equal(square, got->rest_square + r, sizeof square);
    assert_memory_equal(top, got->top + r, sizeof top);
    for (size_t i = 0; i < PC_NARROW_ROWS; i++)
      assert_true(gap[i] == got->gap[r + i]);
  }
}

TEST(test_bits_are_those_of_the_cpu) {
  static double z[ROWS * 1100];
  static float narrow[ROWS * 1100];
  int32_t labels[ROWS];
  static const size_t counts[] = {2, 3, 10, 16, 31, 32, 33, 47, 48, 100, 257, 1000, 1100};
  for (size_t c = 0; c < UNIT_COUNT(counts); c++) {
    const size_t classes = counts[c];
    draw(classes, z, labels);
    for (size_t i = 0; i < ROWS * classes; i++)
      narrow[i] = (float)z[i];
    const outcome floats = run(narrow, 0, labels, classes);
    const outcome doubles = run(z, 1, labels, classes);
    assert_memory_equal(&floats, &doubles, sizeof floats);
    assert_int_equal(floats.odd, 0);
    if (classes <= PC_NARROW_CLASSES)
      check_narrow(narrow, labels, classes, &floats);
    else
      check_wide(narrow, labels, classes, &floats);
  }
}

/* Edge case 4, at every position of a row. */
TEST(test_logits_that_are_not_finite_are_noticed) {
  static const size_t counts[] = {10, 40};
  static const double odd[] = {INFINITY, -INFINITY, NAN};
  for (size_t c = 0; c < UNIT_COUNT(counts); c++)
    for (size_t j = 0; j < counts[c]; j++)
      for (size_t o = 0; o < UNIT_COUNT(odd); o++) {
        static double z[ROWS * 40];
        int32_t labels[ROWS] = {0};
        memset(z, 0, sizeof z);
        z[(ROWS - 1) * counts[c] + j] = odd[o];
        assert_int_equal(run(z, 1, labels, counts[c]).odd, 1);
      }
}

/* Edge case 5. */
TEST(test_labels_that_are_no_class_are_not_followed) {
  static const size_t counts[] = {10, 40};
  for (size_t c = 0; c < UNIT_COUNT(counts); c++) {
    static double z[ROWS * 40];
    int32_t labels[ROWS];
    for (size_t r = 0; r < ROWS; r++)
      labels[r] = r % 2 == 0 ? INT32_MIN : (int32_t)counts[c];
    const outcome got = run(z, 1, labels, counts[c]);
    for (size_t r = 0; r < ROWS; r++)
      assert_true(got.gap[r] == 0.0);
  }
}
