#include "kernels/dispatch.h"
#include "kernels/temperature_kernels.h"

#include "base/rng.h"

#include "unit.h"

/* The result of a single row. */
typedef struct one_row {
  double loss, one, slope[PC_TEMPERATURE_SLOPES], gap;
} one_row;

static one_row read_row(const pc_temperature_block *block, pc_temperature_score wish) {
  one_row out = {.loss = block->loss[0], .gap = block->gap[0]};
  if (wish == PC_TEMPERATURE_LOG_AND_ONE)
    out.one = block->one[0];
  for (size_t k = 0; k < pc_temperature_slopes(wish); k++)
    out.slope[k] = block->slope[k][0];
  return out;
}

static size_t top_of(const double *z, size_t count) {
  size_t top = 0;
  for (size_t j = 1; j < count; j++)
    top = z[j] > z[top] ? j : top;
  return top;
}

static one_row row_of(const pc_temperature_kernels *kernels, pc_temperature_score wish,
                      const double *z, size_t count, size_t label, double beta) {
  pc_temperature_block block;
  block.count = 0;
  kernels->add_f64(wish, z, count, top_of(z, count), label, beta, &block);
  assert_int_equal(block.count, 1);
  kernels->finish(wish, beta, &block);
  return read_row(&block, wish);
}

static one_row best_row(pc_temperature_score wish, const double *z, size_t count, size_t label,
                        double beta) {
  return row_of(pc_kernels_best()->temperature, wish, z, count, label, beta);
}

/* The plain definition in long double. */
static long double plain_loss(pc_temperature_score objective, const double *z, size_t count,
                              size_t label, long double beta) {
  size_t top = 0;
  for (size_t j = 0; j < count; j++)
    top = z[j] > z[top] ? j : top;
  const long double max = z[top];
  long double rest = 0,
              brier =
                  0; /* log1pl keeps digits of a small rest, where logl of the sum does not */
  for (size_t j = 0; j < count; j++)
    rest += j == top ? 0 : expl(beta * (z[j] - max));
  const long double sum = 1 + rest;
  for (size_t j = 0; j < count; j++) {
    const long double off = expl(beta * (z[j] - max)) / sum - (j == label);
    brier += off * off;
  }
  return objective == PC_TEMPERATURE_LOG ? log1pl(rest) - beta * (z[label] - max) : brier;
}

/* Derivative number `order` of a row: the loss by its definition for 0. */
static double row_slope(pc_temperature_score objective, const double *z, size_t count,
                        size_t label, double beta, int order) {
  if (order == 0)
    return (double)plain_loss(objective, z, count, label, beta);
  return best_row(objective, z, count, label, beta).slope[order - 1];
}

/* Its derivative by differences; the error is of fourth order in the step. */
static double difference(pc_temperature_score objective, const double *z, size_t count,
                         size_t label, double beta, int order) {
  const double step = 2e-3 * beta;
  double value[2];
  for (int i = 0; i < 2; i++)
    value[i] = (row_slope(objective, z, count, label, beta + (i + 1) * step, order) -
                row_slope(objective, z, count, label, beta - (i + 1) * step, order)) /
               (2 * (i + 1) * step);
  return (4 * value[0] - value[1]) / 3;
}

static void check_row(pc_temperature_score objective, const double *z, size_t count,
                      size_t label, double beta) {
  const int orders = (int)pc_temperature_slopes(objective);
  const one_row row = best_row(objective, z, count, label, beta);
  const double loss = (double)plain_loss(objective, z, count, label, beta);
  assert_true(fabs(row.loss - loss) <= 3e-14 * loss + 1e-18);
  if (objective == PC_TEMPERATURE_LOG) {
    const one_row both = best_row(PC_TEMPERATURE_LOG_AND_ONE, z, count, label, beta);
    const double one = (double)plain_loss(objective, z, count, label, 1.0);
    assert_true(fabs(both.one - one) <= 3e-14 * one + 1e-18);
    assert_same(both.loss, row.loss);
    assert_memory_equal(both.slope, row.slope, sizeof row.slope);
  }
  for (int order = 0; order < orders; order++) {
    const double expected = difference(objective, z, count, label, beta, order);
    assert_true(fabs(row.slope[order] - expected) <=
                (order < 4 ? 1e-8 : 1e-6) * (1 + fabs(expected)));
  }
}

TEST(agrees_with_the_definition) {
  enum { ROWS = 12 };
  static const size_t widths[] = {2, 3, 8, 9, 16, 37};
  static const double betas[] = {0.2, 1.0, 2.5};
  for (size_t w = 0; w < UNIT_COUNT(widths); w++) {
    const pc_rng rng = {7, w};
    double z[ROWS * 37];
    const size_t k = widths[w];
    for (size_t i = 0; i < ROWS * k; i++)
      z[i] = 2.0 * pc_rng_normal(&rng, i);
    for (size_t i = 0; i < ROWS; i++)
      for (size_t b = 0; b < UNIT_COUNT(betas); b++) {
        const size_t label = i % k;
        check_row(PC_TEMPERATURE_LOG, z + i * k, k, label, betas[b]);
        check_row(PC_TEMPERATURE_BRIER, z + i * k, k, label, betas[b]);
      }
  }
}

/* Two classes, gap -g: log(1 + e^-g) and its derivative, by hand. */
TEST(two_classes_by_hand) {
  const double z[] = {3.0, 1.0};
  one_row row;
  row = best_row(PC_TEMPERATURE_LOG, z, 2, 0, 1.0);
  assert_near(row.loss, log1p(exp(-2.0)), 1e-14);
  assert_near(row.slope[0], -2.0 / (1.0 + exp(2.0)), 1e-14);
  row = best_row(PC_TEMPERATURE_LOG, z, 2, 1, 1.0);
  assert_near(row.loss, log1p(exp(2.0)), 1e-14);
  assert_near(row.slope[0], 2.0 / (1.0 + exp(-2.0)), 1e-14);
  row = best_row(PC_TEMPERATURE_BRIER, z, 2, 0, 1.0);
  assert_near(row.loss, 2.0 / (1.0 + exp(2.0)) / (1.0 + exp(2.0)), 3e-14);
}

/* Losses far below the rounding of 1 keep their digits. */
TEST(small_losses_keep_their_digits) {
  const double z[] = {60.0, 0.0, -1.0};
  one_row row;
  row = best_row(PC_TEMPERATURE_LOG, z, 3, 0, 1.0);
  assert_near(row.loss, exp(-60.0) * (1.0 + exp(-1.0)), 4e-14);
  row = best_row(PC_TEMPERATURE_BRIER, z, 3, 0, 1.0);
  const double a = exp(-60.0), b = exp(-61.0);
  assert_near(row.loss, (a + b) * (a + b) + a * a + b * b, 1e-13);
}

TEST(ties_count) {
  const double z[] = {2.0, 2.0, 2.0, -INFINITY};
  one_row row;
  row = best_row(PC_TEMPERATURE_LOG, z, 4, 1, 7.0);
  assert_near(row.loss, log(3.0), 1e-15);
  for (int k = 0; k < PC_TEMPERATURE_SLOPES; k++)
    assert_same(fabs(row.slope[k]), 0.0);
  row = best_row(PC_TEMPERATURE_BRIER, z, 4, 1, 7.0);
  assert_near(row.loss, 6.0 / 9.0, 1e-15);
}

/* Whatever the scores, nothing is NaN or infinite. */
TEST(nothing_overflows) {
  static const double rows[][3] = {{1e30, -1e30, 0.0},           {1.7e308, -1.7e308, 1.0},
                                   {-1.7e308, -1.7e308, -1e308}, {5e-324, 0.0, -5e-324},
                                   {0.0, -INFINITY, -1e-300},    {-3e38, -INFINITY, -INFINITY}};
  static const double betas[] = {1e-4, 1.0, 1e4};
  for (size_t i = 0; i < UNIT_COUNT(rows); i++)
    for (size_t label = 0; label < 3; label++)
      for (size_t b = 0; b < UNIT_COUNT(betas); b++) {
        one_row row;
        double q[3], sum = 0.0;
        row = best_row(PC_TEMPERATURE_BRIER, rows[i], 3, label, betas[b]);
        assert_true(row.loss >= 0.0 && row.loss <= 2.0);
        assert_true(isfinite(row.slope[0]) && isfinite(row.slope[1]));
        pc_kernels_best()->temperature->softmax(rows[i], 1, 3, betas[b], q);
        for (int j = 0; j < 3; j++) {
          assert_true(q[j] >= 0.0 && q[j] <= 1.0);
          sum += q[j];
        }
        assert_near(sum, 1.0, 1e-15);
        if (isinf(rows[i][label])) {
          assert_same(q[label], 0.0);
          continue;
        }
        row = best_row(PC_TEMPERATURE_LOG, rows[i], 3, label, betas[b]);
        assert_true(row.loss >= 0.0 && isfinite(row.loss));
        for (int k = 0; k < PC_TEMPERATURE_SLOPES; k++)
          assert_true(isfinite(row.slope[k]));
      }
}

TEST(softmax_agrees_with_libm) {
  const double z[] = {0.3, -1.2, 2.0, 1.9};
  double q[4], sum = 0.0;
  pc_kernels_best()->temperature->softmax(z, 1, 4, 0.7, q);
  for (int j = 0; j < 4; j++)
    sum += exp(0.7 * z[j]);
  for (int j = 0; j < 4; j++)
    assert_near(q[j], exp(0.7 * z[j]) / sum, 4e-16);
  double same[4] = {0.3, -1.2, 2.0, 1.9};
  pc_kernels_best()->temperature->softmax(same, 1, 4, 0.7, same);
  assert_memory_equal(same, q, sizeof q);
}

/* Rows of several widths, in double and in float, one by one and in a block. */
TEST(test_variants_agree) {
  const pc_rng rng = {4, 1};
  static double z[1100], first[1100], here[1100];
  static float narrow[1100];
  for (size_t count = 2; count <= 1100; count += count < 100 ? 7 : 99) {
    for (size_t j = 0; j < count; j++) {
      narrow[j] = (float)(6.0 * pc_rng_normal(&rng, count * 2000 + j));
      z[j] = (double)narrow[j];
    }
    const size_t top = top_of(z, count);
    for (int wish = PC_TEMPERATURE_LOG; wish <= PC_TEMPERATURE_BRIER; wish++)
      for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
        const pc_temperature_kernels *kernels = pc_kernels_at(v)->temperature;
        const pc_temperature_score w = (pc_temperature_score)wish;
        const one_row want = row_of(pc_kernels_at(0)->temperature, w, z, count, 1, 0.7);
        const one_row got = row_of(kernels, w, z, count, 1, 0.7);
        assert_memory_equal(&want, &got, sizeof want);
        pc_temperature_block block;
        block.count = 0;
        for (int i = 0; i < 21; i++)
          kernels->add_f32(w, narrow, count, top, 1, 0.7, &block);
        kernels->finish(w, 0.7, &block);
        for (size_t i = 0; i < 21; i++) {
          assert_true(block.loss[i] == got.loss && block.gap[i] == got.gap);
          assert_true(w != PC_TEMPERATURE_LOG_AND_ONE || block.one[i] == got.one);
          for (size_t k = 0; k < pc_temperature_slopes(w); k++)
            assert_true(block.slope[k][i] == got.slope[k]);
        }
        pc_kernels_at(0)->temperature->softmax(z, 1, count, 0.7, first);
        kernels->softmax(z, 1, count, 0.7, here);
        assert_memory_equal(first, here, count * sizeof(double));
      }
  }
}

/* The same bits for terms of every size, also below the smallest double, and missing ones. */
TEST(test_variants_agree_far_away) {
  static const double betas[] = {1e-4, 0.01, 0.7, 1.0, 3.0, 1e4};
  static const double sizes[] = {1e-12, 0.1, 8.0, 200.0, 1500.0, 1e30};
  static double z[200];
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t count = 2; count <= 200; count += count < 40 ? 1 : 23)
      for (size_t c = 0; c < UNIT_COUNT(betas) * UNIT_COUNT(sizes); c++) {
        const double beta = betas[c % UNIT_COUNT(betas)], size = sizes[c / UNIT_COUNT(betas)];
        const pc_rng rng = {8, count};
        for (size_t j = 0; j < count; j++)
          z[j] = j % 13 == 5 ? -INFINITY : size * pc_rng_normal(&rng, j);
        const one_row want = row_of(pc_kernels_at(0)->temperature, PC_TEMPERATURE_LOG_AND_ONE,
                                    z, count, count / 7, beta);
        const one_row got = row_of(pc_kernels_at(v)->temperature, PC_TEMPERATURE_LOG_AND_ONE, z,
                                   count, count / 7, beta);
        assert_memory_equal(&want, &got, sizeof want);
      }
}

/* Floats as far apart as they can be, in narrow and in wide rows, with the largest anywhere:
 * its term is left out, and scores far below it have the term 0. */
TEST(far_floats_count_nothing) {
  static const size_t widths[] = {3, 33, 48, 70};
  static const double betas[] = {1e-4, 1.0, 1e4};
  float z[70];
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t w = 0; w < UNIT_COUNT(widths); w++)
      for (size_t top = 0; top < widths[w]; top++)
        for (size_t b = 0; b < UNIT_COUNT(betas); b++) {
          const pc_temperature_kernels *kernels = pc_kernels_at(v)->temperature;
          const size_t tie = top == 0 ? 1 : 0;
          pc_temperature_block block;
          block.count = 0;
          for (size_t j = 0; j < widths[w]; j++)
            z[j] = -3e38f;
          z[top] = z[tie] = 3e38f;
          kernels->add_f32(PC_TEMPERATURE_LOG_AND_ONE, z, widths[w], top, top, betas[b],
                           &block);
          kernels->finish(PC_TEMPERATURE_LOG_AND_ONE, betas[b], &block);
          assert_near(block.loss[0], log(2.0), 1e-15);
          assert_near(block.one[0], log(2.0), 1e-15);
          for (size_t k = 0; k < PC_TEMPERATURE_SLOPES; k++)
            assert_same(fabs(block.slope[k][0]), 0.0);
        }
}

/* A row in a block, full or not, wide or narrow, equals the row alone and libm. */
TEST(test_softmax_of_blocks) {
  enum { ROWS = 37 };
  const pc_rng rng = {4, 2};
  static double z[ROWS * 40], all[ROWS * 40], one[40];
  for (size_t count = 2; count <= 40; count += count < 12 ? 1 : 7)
    for (size_t rows = 1; rows <= ROWS; rows += 6) {
      for (size_t i = 0; i < rows * count; i++)
        z[i] = 4.0 * pc_rng_normal(&rng, count * 5000 + i);
      z[count - 1] = -INFINITY;
      for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
        pc_kernels_at(v)->temperature->softmax(z, rows, count, 0.7, all);
        for (size_t i = 0; i < rows; i++) {
          double sum = 0.0;
          pc_kernels_at(0)->temperature->softmax(z + i * count, 1, count, 0.7, one);
          assert_memory_equal(one, all + i * count, count * sizeof(double));
          for (size_t j = 0; j < count; j++)
            sum += exp(0.7 * z[i * count + j]);
          for (size_t j = 0; j < count; j++)
            assert_near(one[j], exp(0.7 * z[i * count + j]) / sum, 1e-14);
        }
      }
      memcpy(all, z, sizeof all);
      pc_kernels_best()->temperature->softmax(all, rows, count, 0.7, all);
      assert_memory_equal(one, all + (rows - 1) * count, count * sizeof(double));
    }
}

/* Of floats: every variant gives the doubles of the first one, rounded. */
TEST(test_softmax_of_floats) {
  enum { ROWS = 35, MOST = 70 };
  static const size_t widths[] = {2, 5, 16, 32, 33, MOST};
  static float z[ROWS * MOST], q[ROWS * MOST];
  static double wide[ROWS * MOST];
  const pc_rng rng = {9, 9};
  for (size_t w = 0; w < UNIT_COUNT(widths); w++) {
    const size_t cells = ROWS * widths[w];
    for (size_t i = 0; i < cells; i++)
      wide[i] = (double)(z[i] = (float)(5 * pc_rng_normal(&rng, i)));
    pc_kernels_at(0)->temperature->softmax(wide, ROWS, widths[w], 0.7, wide);
    for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
      const pc_temperature_kernels *kernels = pc_kernels_at(v)->temperature;
      assert_true(kernels->softmax_floats(z, ROWS, widths[w], 0.7, q));
      for (size_t i = 0; i < cells; i++)
        assert_true(q[i] == (float)wide[i]);
      const float kept = z[cells - 1];
      z[cells - 1] = -INFINITY;
      assert_false(kernels->softmax_floats(z, ROWS, widths[w], 0.7, q));
      z[cells - 1] = kept;
    }
  }
}

/* Moments of gaps, by plain loops; the same bits in every variant. */
TEST(moments_of_gaps) {
  enum { CLASSES = 5, ROWS = 19 };
  const pc_rng rng = {4, 2};
  double gaps[CLASSES * ROWS], first[3 * ROWS], other[3 * ROWS];
  for (size_t r = 0; r < ROWS; r++)
    for (size_t c = 0; c < CLASSES; c++)
      gaps[c * ROWS + r] =
          c == r % CLASSES ? 0.0 : -20.0 * pc_rng_uniform(&rng, r * CLASSES + c);
  gaps[ROWS] = -INFINITY;
  gaps[2 * ROWS] = -5000.0; /* its term is 0 */
  for (size_t b = 0; b < 3; b++) {
    const double beta = b == 0 ? 0.01 : b == 1 ? 1.0 : 7.5;
    pc_kernels_at(0)->temperature->moments(gaps, CLASSES, ROWS, beta, first, first + ROWS,
                                           first + 2 * ROWS);
    for (size_t r = 0; r < ROWS; r++) {
      double sum = 0.0, mean = 0.0, square = 0.0;
      for (size_t c = 0; c < CLASSES; c++) {
        const double gap = gaps[c * ROWS + r], term = exp(beta * gap);
        sum += term;
        mean += term > 0.0 ? term * gap : 0.0;
        square += term > 0.0 ? term * gap * gap : 0.0;
      }
      mean /= sum;
      assert_near(first[r] + 1.0, log(sum) + 1.0, 1e-14);
      assert_near(first[ROWS + r] - 1.0, mean - 1.0, 1e-13);
      assert_near(first[2 * ROWS + r] + 1.0, square / sum - mean * mean + 1.0, 1e-10);
    }
    for (size_t v = 1; pc_kernels_at(v) != NULL; v++) {
      pc_kernels_at(v)->temperature->moments(gaps, CLASSES, ROWS, beta, other, other + ROWS,
                                             other + 2 * ROWS);
      assert_memory_equal(first, other, sizeof first);
    }
  }
}
