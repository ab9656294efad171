/* Every variant of the row kernels against the portable one (the same bits) and that one
 * against a plain computation in long double. */
#include "unit.h"

#include "core/rng.h"
#include "kernels/row_kernels.h"

#define KERNELS_MOST 200

static const size_t kernels_counts[] = {2, 3, 10, 15, 16, 17, 31, 32, 33, 64, 100, 200};

static void kernels_draw(uint64_t stream, size_t count, double spread, float *z) {
  const pc_rng rng = {7, stream};
  for (size_t j = 0; j < count; j++)
    z[j] = (float)(spread * pc_rng_normal(&rng, j));
}

static void kernels_same(const pc_softmax_facts *a, const pc_softmax_facts *b) {
  assert_true(a->max == b->max && a->rest == b->rest && a->rest_square == b->rest_square);
  assert_true(a->top == b->top && a->finite == b->finite);
}

static void test_softmax_variants_agree(void **state) {
  (void)state;
  float z[KERNELS_MOST];
  double wide[KERNELS_MOST], terms[2][KERNELS_MOST];
  for (size_t c = 0; c < UNIT_COUNT(kernels_counts); c++) {
    const size_t n = kernels_counts[c];
    kernels_draw(c, n, 5.0, z);
    for (size_t j = 0; j < n; j++)
      wide[j] = (double)z[j];
    pc_softmax_facts first, here;
    pc_row_kernels_portable.softmax_f32(z, n, terms[0], &first);
    for (size_t v = 0; pc_row_kernels_at(v) != NULL; v++) {
      const pc_row_kernels *k = pc_row_kernels_at(v);
      k->softmax_f32(z, n, terms[1], &here);
      kernels_same(&first, &here);
      assert_memory_equal(terms[0], terms[1], n * sizeof(double));
      k->softmax_f32(z, n, NULL, &here);
      kernels_same(&first, &here);
      k->softmax_f64(wide, n, terms[1], &here);
      kernels_same(&first, &here);
      assert_memory_equal(terms[0], terms[1], n * sizeof(double));
    }
  }
}

static void test_softmax_is_right(void **state) {
  (void)state;
  float z[KERNELS_MOST];
  for (size_t c = 0; c < UNIT_COUNT(kernels_counts); c++) {
    const size_t n = kernels_counts[c];
    kernels_draw(100 + c, n, 4.0, z);
    size_t top = 0;
    for (size_t j = 1; j < n; j++)
      top = z[j] > z[top] ? j : top;
    long double rest = 0, square = 0;
    for (size_t j = 0; j < n; j++) {
      const long double e = j == top ? 0 : expl((long double)z[j] - (long double)z[top]);
      rest += e;
      square += e * e;
    }
    pc_softmax_facts facts;
    pc_row_kernels_best()->softmax_f32(z, n, NULL, &facts);
    assert_true(facts.top == top && facts.max == (double)z[top] && facts.finite);
    assert_true(fabs(facts.rest - (double)rest) <= 1e-15 * (1 + (double)rest));
    assert_true(fabs(facts.rest_square - (double)square) <= 1e-15 * (1 + (double)square));
    pc_row_kernels_best()->softmax_fast(z, n, &facts);
    assert_true(facts.top == top);
    assert_true(fabs(facts.rest - (double)rest) <= 2e-7 * (double)rest);
    assert_true(fabs(facts.rest_square - (double)square) <= 4e-7 * (double)square);
  }
}

/* Probabilities next to 1 stay distinct: the largest term never enters the sum. */
static void test_rest_keeps_small_terms(void **state) {
  (void)state;
  const float z[3] = {100.0f, 60.0f, 20.0f};
  pc_softmax_facts facts;
  pc_row_kernels_best()->softmax_f32(z, 3, NULL, &facts);
  assert_true(fabs(facts.rest / (exp(-40) + exp(-80)) - 1) < 1e-15);
  pc_row_kernels_best()->softmax_fast(z, 3, &facts);
  assert_true(fabs(facts.rest / (exp(-40) + exp(-80)) - 1) < 2e-7);
}

static void test_ties_count_and_go_to_the_lowest(void **state) {
  (void)state;
  float z[40];
  for (size_t j = 0; j < 40; j++)
    z[j] = j == 5 || j == 21 || j == 39 ? 2.0f : -1000.0f;
  for (size_t v = 0; pc_row_kernels_at(v) != NULL; v++) {
    pc_softmax_facts facts;
    pc_row_kernels_at(v)->softmax_f32(z, 40, NULL, &facts);
    assert_true(facts.top == 5 && facts.rest == 2.0 && facts.rest_square == 2.0);
    pc_row_kernels_at(v)->softmax_fast(z, 40, &facts);
    assert_true(facts.top == 5 && facts.rest == 2.0 && facts.rest_square == 2.0);
  }
}

static void test_not_finite_is_seen_anywhere(void **state) {
  (void)state;
  const float odd[] = {NAN, INFINITY, -INFINITY};
  for (size_t v = 0; pc_row_kernels_at(v) != NULL; v++)
    for (size_t n = 2; n < 40; n += 5)
      for (size_t at = 0; at < n; at++)
        for (size_t o = 0; o < UNIT_COUNT(odd); o++) {
          float z[40] = {0.0f};
          z[at] = odd[o];
          pc_softmax_facts facts;
          pc_row_kernels_at(v)->softmax_f32(z, n, NULL, &facts);
          assert_false(facts.finite);
          pc_row_kernels_at(v)->softmax_fast(z, n, &facts);
          assert_false(facts.finite);
        }
}

static void kernels_fill_lanes(size_t n, double *z, float *narrow) {
  const pc_rng rng = {9, n};
  for (size_t i = 0; i < n * PC_LANES; i++) {
    narrow[i] = (float)(4 * pc_rng_normal(&rng, i));
    z[i] = (double)narrow[i];
  }
}

static void test_lanes_agree_with_rows(void **state) {
  (void)state;
  static double z[PC_NARROW_CLASSES * PC_LANES], terms[PC_NARROW_CLASSES * PC_LANES];
  static float narrow[PC_NARROW_CLASSES * PC_LANES];
  for (size_t n = 2; n <= PC_NARROW_CLASSES; n++) {
    kernels_fill_lanes(n, z, narrow);
    pc_softmax_lanes first, here;
    pc_row_kernels_portable.softmax_lanes(z, n, terms, &first);
    for (size_t l = 0; l < PC_LANES; l++) {
      double row[PC_NARROW_CLASSES];
      pc_softmax_facts facts;
      for (size_t j = 0; j < n; j++)
        row[j] = z[j * PC_LANES + l];
      pc_row_kernels_portable.softmax_f64(row, n, NULL, &facts);
      assert_true(first.max[l] == facts.max && first.top[l] == (double)facts.top);
      assert_true(fabs(first.rest[l] - facts.rest) <= 1e-14 * facts.rest);
      assert_true(fabs(first.log_norm[l] - log1p(facts.rest)) <= 1e-15 * (1 + facts.rest));
    }
    for (size_t v = 1; pc_row_kernels_at(v) != NULL; v++) {
      pc_row_kernels_at(v)->softmax_lanes(z, n, terms, &here);
      assert_memory_equal(&first, &here, sizeof first);
    }
    pc_row_kernels_best()->softmax_fast_lanes(narrow, n, &here);
    for (size_t l = 0; l < PC_LANES; l++)
      assert_true(fabs(here.rest[l] - first.rest[l]) <= 1e-6 * first.rest[l] &&
                  here.top[l] == first.top[l]);
  }
}

static void test_simplex_and_columns(void **state) {
  (void)state;
  double p[KERNELS_MOST], out[KERNELS_MOST];
  for (size_t c = 0; c < UNIT_COUNT(kernels_counts); c++) {
    const size_t n = kernels_counts[c];
    const pc_rng rng = {3, c};
    for (size_t j = 0; j < n; j++)
      p[j] = pc_rng_uniform(&rng, j);
    p[n / 2] = 1.5;
    p[n - 1] = n > 2 ? -0.25 : p[n - 1];
    long double sum = 0, square = 0;
    for (size_t j = 0; j < n; j++) {
      sum += p[j];
      square += j == n / 2 ? 0 : (long double)p[j] * p[j];
    }
    for (size_t v = 0; pc_row_kernels_at(v) != NULL; v++) {
      pc_simplex_facts facts;
      pc_column_facts column;
      pc_row_kernels_at(v)->simplex_f64(p, n, &facts);
      assert_true(facts.top == n / 2 && facts.high == 1.5 && facts.finite);
      assert_true(n == 2 || facts.low == -0.25);
      assert_true(fabs(facts.sum - (double)sum) < 1e-13);
      assert_true(fabs(facts.rest_square - (double)square) < 1e-13);
      pc_row_kernels_at(v)->column_f64(p, n, out, &column);
      assert_true(column.high == 1.5 && column.low == facts.low && column.finite);
      assert_memory_equal(p, out, n * sizeof(double));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_softmax_variants_agree),
      cmocka_unit_test(test_softmax_is_right),
      cmocka_unit_test(test_rest_keeps_small_terms),
      cmocka_unit_test(test_ties_count_and_go_to_the_lowest),
      cmocka_unit_test(test_not_finite_is_seen_anywhere),
      cmocka_unit_test(test_lanes_agree_with_rows),
      cmocka_unit_test(test_simplex_and_columns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
