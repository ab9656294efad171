/* Every variant of the column sums against a plain loop. */
#include "unit.h"

#include "base/float_bits.h"
#include "base/rng.h"
#include "kernels/class_column_sums.h"
#include "kernels/dispatch.h"

#define CLASS_COLUMN_MOST 100
#define CLASS_COLUMN_ROWS_TRIED 50

typedef struct class_column_table {
  uint64_t score[CLASS_COLUMN_MOST], square[CLASS_COLUMN_MOST], kept[CLASS_COLUMN_MOST];
} class_column_table;

static const size_t class_column_counts[] = {1, 2, 15, 16, 17, 33, 100};

/* Scores on both sides of the cell's end, and on it. */
static void class_column_draw(uint64_t row, size_t count, double last, double *out) {
  const pc_rng rng = {11, row};
  for (size_t j = 0; j < count; j++) {
    const double u = pc_rng_uniform(&rng, j);
    out[j] = u < 0.1 ? last : u < 0.8 ? last * u : u < 0.9 ? -1e-5 * u : u;
  }
}

static size_t class_column_plainly(const double *scores, size_t count,
                                   const pc_class_column_rule *rule, int threshold,
                                   class_column_table *sums) {
  size_t beyond = 0;
  for (size_t j = 0; j < count; j++) {
    const int inside = scores[j] <= rule->last && (!threshold || scores[j] > rule->above);
    const double here = inside ? scores[j] : 0.0;
    sums->score[j] += pc_double_bits(rule->anchor + here);
    sums->square[j] += pc_double_bits(rule->anchor + here * here);
    sums->kept[j] += (uint64_t)inside;
    beyond += scores[j] > rule->last;
  }
  return beyond;
}

static void class_column_try(const pc_class_column_kernels *kernels, size_t count, int squares,
                             int threshold) {
  const pc_class_column_rule rule = {1.0 / 15, threshold ? 0.01 : -(double)INFINITY, 0.375};
  class_column_table found = {{0}, {0}, {0}}, expected = {{0}, {0}, {0}};
  const pc_class_column_sums sums = {found.score, squares ? found.square : NULL,
                                     threshold ? found.kept : NULL};
  for (uint64_t row = 0; row < CLASS_COLUMN_ROWS_TRIED; row++) {
    double scores[CLASS_COLUMN_MOST];
    class_column_draw(row, count, rule.last, scores);
    assert_int_equal(kernels->add(scores, count, &rule, &sums),
                     class_column_plainly(scores, count, &rule, threshold, &expected));
  }
  assert_memory_equal(found.score, expected.score, sizeof found.score);
  if (squares)
    assert_memory_equal(found.square, expected.square, sizeof found.square);
  if (threshold)
    assert_memory_equal(found.kept, expected.kept, sizeof found.kept);
}

TEST(test_all_variants) {
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t c = 0; c < UNIT_COUNT(class_column_counts); c++)
      for (int what = 0; what < 4; what++)
        class_column_try(pc_kernels_at(v)->class_column, class_column_counts[c], what & 1,
                         what >> 1);
}

/* A score is added as a whole number of units, whatever its sign. */
TEST(test_units) {
  const pc_class_column_rule rule = {0.125, -(double)INFINITY, 0.375};
  const double scores[3] = {0x1p-54, 0.125, -0x1p-20};
  uint64_t score[3] = {0, 0, 0};
  const pc_class_column_sums sums = {score, NULL, NULL};
  assert_int_equal(pc_kernels_best()->class_column->add(scores, 3, &rule, &sums), 0);
  const uint64_t base = pc_double_bits(rule.anchor);
  assert_true(score[0] - base == 1);
  assert_true(score[1] - base == UINT64_C(1) << 51);
  assert_true(base - score[2] == UINT64_C(1) << 34);
}
