/* Every variant of the fast kernels against the exact ones: sums to the stated rounding, places
 * exactly. */
#include "../unit.h"

#include "base/rng.h"
#include "kernels/dispatch.h"
#include "kernels/fast_kernels.h"
#include "narrow_help.h"

#define FAST_MOST 1003

static const size_t fast_counts[] = {2, 3, 10, 31, 32, 33, 63, 64, 65, 100, 200, FAST_MOST};

static void fast_draw(uint64_t stream, size_t count, double spread, float *z) {
  const pc_rng rng = {17, stream};
  for (size_t j = 0; j < count; j++)
    z[j] = (float)(spread * pc_rng_normal(&rng, j));
}

static void fast_near(double got, double want, double off) {
  assert_true(fabs(got - want) <= off * want + 1e-52);
}

TEST(test_softmax_is_nearly_exact) {
  float z[FAST_MOST];
  for (size_t c = 0; c < UNIT_COUNT(fast_counts); c++)
    for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
      const size_t n = fast_counts[c];
      pc_softmax_facts want, got;
      fast_draw(c, n, 3.0, z);
      pc_kernels_at(0)->row->softmax_f32(z, n, NULL, &want);
      pc_kernels_at(v)->fast->softmax(z, n, &got);
      assert_true(got.finite && got.top == want.top && got.max == want.max);
      fast_near(got.rest, want.rest, 1e-6);
      fast_near(got.rest_square, want.rest_square, 2e-6);
    }
}

/* The largest in each place, among others of which some are too far below it to count. */
TEST(test_the_largest_is_found_anywhere) {
  enum { N = 70 };
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t at = 0; at < 2 * N; at++) {
      float z[N];
      pc_softmax_facts got;
      for (size_t j = 0; j < N; j++)
        z[j] = at < N || j % 5 != 0 ? -1.0f : -500.0f;
      z[at % N] = 0.5f;
      pc_kernels_at(v)->fast->softmax(z, N, &got);
      assert_true(got.finite && got.top == at % N);
      const size_t far = at < N ? 0 : N / 5 - (at % 5 == 0);
      fast_near(got.rest, (double)(N - 1 - far) * exp(-1.5), 4e-7);
    }
}

TEST(test_rows_give_the_same_bits_wherever_they_lie) {
  enum { PLACES = 20 };
  float z[FAST_MOST + PLACES], row[FAST_MOST];
  for (size_t c = 0; c < UNIT_COUNT(fast_counts); c++)
    for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
      const size_t n = fast_counts[c];
      pc_softmax_facts want;
      fast_draw(c, n, 3.0, row);
      pc_kernels_at(v)->fast->softmax(row, n, &want);
      for (size_t at = 0; at < PLACES; at++) {
        pc_softmax_facts got;
        memcpy(z + at, row, n * sizeof *row);
        pc_kernels_at(v)->fast->softmax(z + at, n, &got);
        assert_true(got.max == want.max && got.top == want.top && got.rest == want.rest &&
                    got.rest_square == want.rest_square);
      }
    }
}

/* Probabilities next to 1 stay distinct: the largest term never enters the sum. */
TEST(test_rest_keeps_small_terms) {
  const float z[3] = {100.0f, 60.0f, 20.0f};
  float lanes[3 * PC_NARROW_ROWS];
  const int32_t labels[PC_NARROW_ROWS] = {0};
  for (size_t i = 0; i < 3 * PC_NARROW_ROWS; i++)
    lanes[i] = z[i % 3];
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    pc_softmax_facts facts;
    narrow_columns narrow;
    pc_kernels_at(v)->fast->softmax(z, 3, &facts);
    fast_near(facts.rest, exp(-40) + exp(-80), 3.4e-6);
    pc_kernels_at(v)->fast->narrow(lanes, 3, labels, narrow_into(&narrow));
    fast_near(narrow.rest[7], exp(-40) + exp(-80), 3.4e-6);
  }
}

TEST(test_ties_count_and_go_to_the_lowest) {
  float z[40];
  for (size_t j = 0; j < 40; j++)
    z[j] = j == 5 || j == 21 || j == 39 ? 2.0f : -1000.0f;
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    pc_softmax_facts facts;
    pc_kernels_at(v)->fast->softmax(z, 40, &facts);
    assert_true(facts.finite);
    assert_true(facts.top == 5 && facts.rest == 2.0 && facts.rest_square == 2.0);
  }
}

TEST(test_not_finite_is_seen_anywhere) {
  const float odd[] = {NAN, -NAN, INFINITY, -INFINITY};
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t n = 2; n < 80; n += 7)
      for (size_t at = 0; at < n; at++)
        for (size_t o = 0; o < UNIT_COUNT(odd); o++) {
          float z[80];
          pc_softmax_facts facts;
          fast_draw(n, n, 2.0, z);
          z[at] = odd[o];
          pc_kernels_at(v)->fast->softmax(z, n, &facts);
          assert_false(facts.finite);
        }
}

TEST(test_huge_is_finite) {
  float z[40];
  for (size_t j = 0; j < 40; j++)
    z[j] = j == 7 ? 3.1e38f : j == 9 ? -3e38f : 3e38f;
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    pc_softmax_facts facts;
    pc_kernels_at(v)->fast->softmax(z, 40, &facts);
    assert_true(facts.finite && facts.top == 7 && facts.rest == 0.0);
  }
}

/* Row 3 with all the same, row 4 far apart. */
static void fast_fill_narrow(size_t n, float *z, int32_t *labels) {
  const pc_rng rng = {9, n};
  for (size_t i = 0; i < n * PC_NARROW_ROWS; i++) {
    const double spread = i / n == 3 ? 0 : i / n == 4 ? 400 : 4;
    z[i] = (float)(spread * pc_rng_normal(&rng, i));
  }
  for (size_t l = 0; l < PC_NARROW_ROWS; l++)
    labels[l] = (int32_t)(l % n);
}

TEST(test_narrow_is_nearly_exact) {
  static float z[PC_NARROW_CLASSES * PC_NARROW_ROWS];
  int32_t labels[PC_NARROW_ROWS];
  for (size_t n = 2; n <= PC_NARROW_CLASSES; n++)
    for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
      narrow_columns want, got;
      fast_fill_narrow(n, z, labels);
      pc_kernels_at(0)->row->narrow_f32(z, n, labels, NULL, narrow_into(&want));
      pc_kernels_at(v)->fast->narrow(z, n, labels, narrow_into(&got));
      assert_true(got.facts.finite && got.facts.labelled);
      assert_memory_equal(got.gap, want.gap, sizeof want.gap);
      assert_memory_equal(got.top, want.top, sizeof want.top);
      for (size_t l = 0; l < PC_NARROW_ROWS; l++) {
        fast_near(got.rest[l], want.rest[l], l == 4 ? 1e-5 : 1e-6);
        fast_near(got.rest_square[l], want.rest_square[l], l == 4 ? 2e-5 : 2e-6);
      }
    }
}

TEST(test_narrow_takes_a_wrong_label_for_the_first) {
  enum { N = 7 };
  static const int32_t wrong[] = {-1, N, INT32_MAX, INT32_MIN};
  float z[N * PC_NARROW_ROWS];
  int32_t labels[PC_NARROW_ROWS];
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t w = 0; w < UNIT_COUNT(wrong); w++) {
      narrow_columns want, got;
      fast_fill_narrow(N, z, labels);
      labels[w + 5] = wrong[w];
      pc_kernels_at(0)->row->narrow_f32(z, N, labels, NULL, narrow_into(&want));
      pc_kernels_at(v)->fast->narrow(z, N, labels, narrow_into(&got));
      assert_true(got.facts.finite && !got.facts.labelled);
      assert_memory_equal(got.gap, want.gap, sizeof want.gap);
      assert_memory_equal(got.top, want.top, sizeof want.top);
    }
}

TEST(test_narrow_sees_what_is_wrong) {
  enum { N = 5 };
  static const float odd[] = {NAN, INFINITY, -INFINITY};
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t at = 0; at < N * PC_NARROW_ROWS; at++)
      for (size_t o = 0; o < UNIT_COUNT(odd); o++) {
        float z[N * PC_NARROW_ROWS] = {0.0f};
        int32_t labels[PC_NARROW_ROWS] = {0};
        narrow_columns facts;
        labels[at % PC_NARROW_ROWS] = o == 0 ? N : -1;
        pc_kernels_at(v)->fast->narrow(z, N, labels, narrow_into(&facts));
        assert_true(facts.facts.finite && !facts.facts.labelled);
        z[at] = odd[o];
        pc_kernels_at(v)->fast->narrow(z, N, labels, narrow_into(&facts));
        assert_false(facts.facts.finite);
        for (size_t l = 0; l < PC_NARROW_ROWS; l++)
          assert_true(l == at / N || (facts.rest[l] == N - 1 && facts.top[l] == 0));
      }
}

/* Columns as the exact kernels finish them. */
TEST(test_columns_are_nearly_exact) {
  enum { ROWS = 67 };
  int32_t labels[ROWS], tops[ROWS];
  double want[4][ROWS], got[4][ROWS];
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    for (size_t i = 0; i < ROWS; i++) {
      /* Three classes, logits 0, -g, -2g. */
      const double g = (double)(float)(0.02 * (double)i * (double)i);
      labels[i] = (int32_t)(i % 3);
      tops[i] = 0;
      want[0][i] = got[0][i] = exp(-g) + exp(-2 * g);
      want[1][i] = got[1][i] = exp(-2 * g) + exp(-4 * g);
      want[2][i] = got[2][i] = -g * (double)labels[i];
    }
    const pc_logit_columns exact = {labels, tops, want[0], want[1], want[2], want[3]};
    const pc_logit_columns fast = {labels, tops, got[0], got[1], got[2], got[3]};
    pc_kernels_at(0)->row->finish_logits(&exact, ROWS);
    pc_kernels_at(v)->fast->finish_logits(&fast, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
      assert_near(got[0][i], want[0][i], 2e-14);
      fast_near(got[1][i], want[1][i], 4e-7);
      fast_near(-got[2][i], -want[2][i], 4e-7);
      fast_near(got[3][i], want[3][i], 4e-7);
    }
  }
}

/* Whatever rows stand beside it: batches can be cut anywhere. */
TEST(test_columns_have_the_same_bits_alone) {
  enum { ROWS = 67 };
  const pc_rng rng = {9, 77};
  int32_t labels[ROWS], tops[ROWS];
  double all[4][ROWS], one[4][ROWS];
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    for (size_t i = 0; i < ROWS; i++) {
      const double gap = 9 * pc_rng_uniform(&rng, 3 * i);
      labels[i] = (int32_t)(i % 3);
      tops[i] = 0;
      all[0][i] = exp(-gap) + 3 * pc_rng_uniform(&rng, 3 * i + 1);
      all[1][i] = exp(-2 * gap) + pc_rng_uniform(&rng, 3 * i + 2);
      all[2][i] = labels[i] == 0 ? 0 : -gap;
    }
    memcpy(one, all, sizeof one);
    const pc_logit_columns columns = {labels, tops, all[0], all[1], all[2], all[3]};
    pc_kernels_at(v)->fast->finish_logits(&columns, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
      const pc_logit_columns row = {labels + i, tops + i,   one[0] + i,
                                    one[1] + i, one[2] + i, one[3] + i};
      pc_kernels_at(v)->fast->finish_logits(&row, 1);
      for (size_t c = 0; c < 4; c++)
        assert_same(one[c][i], all[c][i]);
    }
  }
}
