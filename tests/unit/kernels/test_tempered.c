#include "kernels/tempered.h"

#include "core/rng.h"

#include "unit.h"

/* The plain definition in long double. */
static long double plain_loss(pc_tempered_objective objective, const double *z, size_t count,
                              size_t label, long double beta) {
  long double max = z[0], sum = 0, brier = 0;
  for (size_t j = 0; j < count; j++)
    max = z[j] > max ? z[j] : max;
  for (size_t j = 0; j < count; j++)
    sum += expl(beta * (z[j] - max));
  for (size_t j = 0; j < count; j++) {
    const long double off = expl(beta * (z[j] - max)) / sum - (j == label);
    brier += off * off;
  }
  return objective == PC_TEMPERED_LOG ? logl(sum) - beta * (z[label] - max) : brier;
}

/* Derivative number `order` of a row: the loss by its definition for 0. */
static double row_slope(pc_tempered_objective objective, const double *z, size_t count,
                        size_t label, double beta, int order) {
  pc_tempered row;
  if (order == 0)
    return (double)plain_loss(objective, z, count, label, beta);
  pc_tempered_kernels_best()->row(objective, z, count, label, beta, &row);
  return row.slope[order - 1];
}

/* Its derivative by differences, the error of which goes with the fourth power of the step. */
static double difference(pc_tempered_objective objective, const double *z, size_t count,
                         size_t label, double beta, int order) {
  const double step = 2e-3 * beta;
  double value[2];
  for (int i = 0; i < 2; i++)
    value[i] = (row_slope(objective, z, count, label, beta + (i + 1) * step, order) -
                row_slope(objective, z, count, label, beta - (i + 1) * step, order)) /
               (2 * (i + 1) * step);
  return (4 * value[0] - value[1]) / 3;
}

static void check_row(pc_tempered_objective objective, const double *z, size_t count,
                      size_t label, double beta) {
  pc_tempered row;
  const int orders = objective == PC_TEMPERED_LOG ? 4 : 2;
  pc_tempered_kernels_best()->row(objective, z, count, label, beta, &row);
  const double loss = (double)plain_loss(objective, z, count, label, beta);
  assert_true(fabs(row.loss - loss) <= 1e-14 * loss + 1e-18); /* logl near 1 is off by 1e-19 */
  for (int order = 0; order < orders; order++) {
    const double expected = difference(objective, z, count, label, beta, order);
    assert_true(fabs(row.slope[order] - expected) <= 1e-8 * (1 + fabs(expected)));
  }
  for (int order = orders; order < 4; order++)
    assert_same(row.slope[order], 0.0);
}

static void agrees_with_the_definition(void **state) {
  (void)state;
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
        check_row(PC_TEMPERED_LOG, z + i * k, k, label, betas[b]);
        check_row(PC_TEMPERED_BRIER, z + i * k, k, label, betas[b]);
      }
  }
}

/* Two classes, gap -g: log(1 + e^-g) and its derivative, by hand. */
static void two_classes_by_hand(void **state) {
  (void)state;
  const double z[] = {3.0, 1.0};
  pc_tempered row;
  pc_tempered_kernels_best()->row(PC_TEMPERED_LOG, z, 2, 0, 1.0, &row);
  assert_near(row.loss, log1p(exp(-2.0)), 1e-15);
  assert_near(row.slope[0], -2.0 / (1.0 + exp(2.0)), 1e-15);
  pc_tempered_kernels_best()->row(PC_TEMPERED_LOG, z, 2, 1, 1.0, &row);
  assert_near(row.loss, log1p(exp(2.0)), 1e-15);
  assert_near(row.slope[0], 2.0 / (1.0 + exp(-2.0)), 1e-15);
  pc_tempered_kernels_best()->row(PC_TEMPERED_BRIER, z, 2, 0, 1.0, &row);
  assert_near(row.loss, 2.0 / (1.0 + exp(2.0)) / (1.0 + exp(2.0)), 1e-15);
}

/* Losses far below the rounding of 1 keep their digits. */
static void small_losses_keep_their_digits(void **state) {
  (void)state;
  const double z[] = {60.0, 0.0, -1.0};
  pc_tempered row;
  pc_tempered_kernels_best()->row(PC_TEMPERED_LOG, z, 3, 0, 1.0, &row);
  assert_near(row.loss, exp(-60.0) * (1.0 + exp(-1.0)), 1e-14);
  pc_tempered_kernels_best()->row(PC_TEMPERED_BRIER, z, 3, 0, 1.0, &row);
  const double a = exp(-60.0), b = exp(-61.0);
  assert_near(row.loss, (a + b) * (a + b) + a * a + b * b, 1e-13);
}

static void ties_count(void **state) {
  (void)state;
  const double z[] = {2.0, 2.0, 2.0, -INFINITY};
  pc_tempered row;
  pc_tempered_kernels_best()->row(PC_TEMPERED_LOG, z, 4, 1, 7.0, &row);
  assert_near(row.loss, log(3.0), 1e-15);
  for (int k = 0; k < 4; k++)
    assert_same(row.slope[k], 0.0);
  pc_tempered_kernels_best()->row(PC_TEMPERED_BRIER, z, 4, 1, 7.0, &row);
  assert_near(row.loss, 6.0 / 9.0, 1e-15);
}

/* Whatever the scores, nothing is NaN or infinite. */
static void nothing_overflows(void **state) {
  (void)state;
  static const double rows[][3] = {{1e30, -1e30, 0.0},           {1.7e308, -1.7e308, 1.0},
                                   {-1.7e308, -1.7e308, -1e308}, {5e-324, 0.0, -5e-324},
                                   {0.0, -INFINITY, -1e-300},    {-3e38, -INFINITY, -INFINITY}};
  static const double betas[] = {1e-4, 1.0, 1e4};
  for (size_t i = 0; i < UNIT_COUNT(rows); i++)
    for (size_t label = 0; label < 3; label++)
      for (size_t b = 0; b < UNIT_COUNT(betas); b++) {
        pc_tempered row;
        double q[3], sum = 0.0;
        pc_tempered_kernels_best()->row(PC_TEMPERED_BRIER, rows[i], 3, label, betas[b], &row);
        assert_true(row.loss >= 0.0 && row.loss <= 2.0);
        assert_true(isfinite(row.slope[0]) && isfinite(row.slope[1]));
        pc_tempered_kernels_best()->softmax(rows[i], 3, betas[b], q);
        for (int j = 0; j < 3; j++) {
          assert_true(q[j] >= 0.0 && q[j] <= 1.0);
          sum += q[j];
        }
        assert_near(sum, 1.0, 1e-15);
        if (isinf(rows[i][label])) {
          assert_same(q[label], 0.0);
          continue;
        }
        pc_tempered_kernels_best()->row(PC_TEMPERED_LOG, rows[i], 3, label, betas[b], &row);
        assert_true(row.loss >= 0.0 && isfinite(row.loss));
        for (int k = 0; k < 4; k++)
          assert_true(isfinite(row.slope[k]));
      }
}

static void softmax_agrees_with_libm(void **state) {
  (void)state;
  const double z[] = {0.3, -1.2, 2.0, 1.9};
  double q[4], sum = 0.0;
  pc_tempered_kernels_best()->softmax(z, 4, 0.7, q);
  for (int j = 0; j < 4; j++)
    sum += exp(0.7 * z[j]);
  for (int j = 0; j < 4; j++)
    assert_near(q[j], exp(0.7 * z[j]) / sum, 4e-16);
  double same[4] = {0.3, -1.2, 2.0, 1.9};
  pc_tempered_kernels_best()->softmax(same, 4, 0.7, same);
  assert_memory_equal(same, q, sizeof q);
}

static void test_variants_have_the_same_bits(void **state) {
  (void)state;
  const pc_rng rng = {4, 1};
  double z[100], first[100], here[100];
  for (size_t count = 2; count <= 100; count += 7) {
    for (size_t j = 0; j < count; j++)
      z[j] = 6.0 * pc_rng_normal(&rng, count * 100 + j);
    for (int objective = PC_TEMPERED_LOG; objective <= PC_TEMPERED_BRIER; objective++)
      for (size_t v = 0; pc_tempered_kernels_at(v) != NULL; v++) {
        const pc_tempered_kernels *kernels = pc_tempered_kernels_at(v);
        pc_tempered want, got;
        pc_tempered_kernels_portable.row((pc_tempered_objective)objective, z, count, 1, 0.7,
                                         &want);
        kernels->row((pc_tempered_objective)objective, z, count, 1, 0.7, &got);
        assert_memory_equal(&want, &got, sizeof want);
        pc_tempered_kernels_portable.softmax(z, count, 0.7, first);
        kernels->softmax(z, count, 0.7, here);
        assert_memory_equal(first, here, count * sizeof(double));
      }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_variants_have_the_same_bits),
      cmocka_unit_test(agrees_with_the_definition),
      cmocka_unit_test(two_classes_by_hand),
      cmocka_unit_test(small_losses_keep_their_digits),
      cmocka_unit_test(ties_count),
      cmocka_unit_test(nothing_overflows),
      cmocka_unit_test(softmax_agrees_with_libm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
