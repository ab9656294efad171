#include "kernels/dispatch.h"
#include "kernels/prob_row.h"

#include "../unit.h"
#include "base/rng.h"

#define PROB_ROW_MOST 1003

static const size_t prob_row_counts[] = {1,  2,  3,  15,  16,   17,
                                         31, 32, 33, 100, 1000, PROB_ROW_MOST};

/* Numbers of either sign, exact in float. */
static void prob_row_fill(float *narrow, double *wide, size_t count, uint64_t seed) {
  const pc_rng rng = {seed, count};
  for (size_t j = 0; j < count; j++) {
    narrow[j] = (float)(pc_rng_uniform(&rng, j) - 0.125);
    wide[j] = (double)narrow[j];
  }
}

static void prob_row_same(const pc_prob_row_facts *a, const pc_prob_row_facts *b) {
  assert_same(a->sum, b->sum);
  assert_same(a->low, b->low);
  assert_same(a->high, b->high);
  assert_same(a->rest_square, b->rest_square);
  assert_int_equal(a->top, b->top);
  assert_int_equal(a->finite, b->finite);
}

TEST(test_variants_and_widths_agree) {
  float narrow[PROB_ROW_MOST];
  double wide[PROB_ROW_MOST];
  for (size_t c = 0; c < UNIT_COUNT(prob_row_counts); c++) {
    pc_prob_row_facts first, here;
    prob_row_fill(narrow, wide, prob_row_counts[c], 5);
    pc_kernels_at(0)->prob_row->f64(wide, prob_row_counts[c], 1, &first);
    for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
      pc_kernels_at(v)->prob_row->f32(narrow, prob_row_counts[c], 1, &here);
      prob_row_same(&here, &first);
      pc_kernels_at(v)->prob_row->f64(wide, prob_row_counts[c], 1, &here);
      prob_row_same(&here, &first);
    }
  }
}

TEST(test_facts_are_right) {
  float narrow[PROB_ROW_MOST];
  double wide[PROB_ROW_MOST];
  for (size_t c = 0; c < UNIT_COUNT(prob_row_counts); c++) {
    const size_t n = prob_row_counts[c];
    long double sum = 0, square = 0;
    double low = INFINITY, high = -INFINITY;
    size_t top = 0;
    prob_row_fill(narrow, wide, n, 9);
    for (size_t j = 0; j < n; j++) {
      sum += wide[j];
      low = fmin(low, wide[j]);
      top = wide[j] > high ? j : top;
      high = fmax(high, wide[j]);
    }
    for (size_t j = 0; j < n; j++)
      square += j == top ? 0 : (long double)wide[j] * wide[j];
    pc_prob_row_facts facts;
    pc_kernels_best()->prob_row->f32(narrow, n, 1, &facts);
    assert_true(facts.finite);
    assert_int_equal(facts.top, top);
    assert_same(facts.low, low);
    assert_same(facts.high, high);
    assert_true(fabs(facts.sum - (double)sum) < 1e-12);
    assert_true(fabs(facts.rest_square - (double)square) < 1e-12);
    pc_kernels_best()->prob_row->f32(narrow, n, 0, &facts);
    assert_same(facts.rest_square, 0.0);
    assert_int_equal(facts.top, top);
  }
}

/* Of numbers of either sign the sum is off by no more than that of their sizes would be. */
TEST(test_a_glance_says_nearly_the_same) {
  float narrow[PROB_ROW_MOST];
  double wide[PROB_ROW_MOST];
  for (size_t c = 0; c < UNIT_COUNT(prob_row_counts); c++) {
    const size_t n = prob_row_counts[c];
    pc_prob_row_facts exact, first, here;
    prob_row_fill(narrow, wide, n, 13);
    pc_kernels_at(0)->prob_row->f64(wide, n, 0, &exact);
    pc_kernels_at(0)->prob_row->glance(narrow, n, &first);
    for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
      pc_kernels_at(v)->prob_row->glance(narrow, n, &here);
      prob_row_same(&here, &first);
    }
    assert_true(fabs(first.sum - exact.sum) <= (double)n * pc_prob_row_slack(n));
    first.sum = exact.sum;
    prob_row_same(&first, &exact);
  }
}

TEST(test_ties_go_to_the_lowest) {
  float narrow[40] = {0};
  pc_prob_row_facts facts;
  narrow[35] = narrow[18] = narrow[33] = 0.5f;
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    pc_kernels_at(v)->prob_row->f32(narrow, 40, 1, &facts);
    assert_int_equal(facts.top, 18);
    assert_same(facts.rest_square, 0.5);
    pc_kernels_at(v)->prob_row->glance(narrow, 40, &facts);
    assert_int_equal(facts.top, 18);
  }
}

TEST(test_not_finite_is_seen_anywhere) {
  static const float odd[] = {NAN, INFINITY, -INFINITY};
  float narrow[37];
  double wide[37];
  for (size_t o = 0; o < UNIT_COUNT(odd); o++)
    for (size_t j = 0; j < 37; j++)
      for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
        pc_prob_row_facts facts;
        prob_row_fill(narrow, wide, 37, 2);
        narrow[j] = odd[o];
        wide[j] = (double)odd[o];
        pc_kernels_at(v)->prob_row->f32(narrow, 37, 1, &facts);
        assert_true(!facts.finite && facts.top == 0 && facts.rest_square == 0);
        pc_kernels_at(v)->prob_row->f64(wide, 37, 1, &facts);
        assert_false(facts.finite);
        pc_kernels_at(v)->prob_row->glance(narrow, 37, &facts);
        assert_true(!facts.finite && facts.top == 0);
      }
}

/* Their sum overflows, but they are finite. */
TEST(test_large_numbers_are_finite) {
  double wide[33];
  for (size_t j = 0; j < 33; j++)
    wide[j] = j % 2 == 0 ? 1.5e308 : -1.5e308;
  wide[7] = 1.6e308;
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    pc_prob_row_facts facts;
    pc_kernels_at(v)->prob_row->f64(wide, 33, 1, &facts);
    assert_true(facts.finite);
    assert_int_equal(facts.top, 7);
    assert_same(facts.low, -1.5e308);
  }
}
