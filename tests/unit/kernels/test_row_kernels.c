/* Every variant of the row kernels against the portable one (the same bits) and that one
 * against a plain computation in long double. */
#include "unit.h"

#include "base/rng.h"
#include "base/sum.h"
#include "kernels/dispatch.h"
#include "narrow_help.h"

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

TEST(test_softmax_variants_agree) {
  float z[KERNELS_MOST];
  double wide[KERNELS_MOST], terms[2][KERNELS_MOST];
  for (size_t c = 0; c < UNIT_COUNT(kernels_counts); c++) {
    const size_t n = kernels_counts[c];
    kernels_draw(c, n, 5.0, z);
    for (size_t j = 0; j < n; j++)
      wide[j] = (double)z[j];
    pc_softmax_facts first, here;
    pc_kernels_at(0)->row->softmax_f32(z, n, terms[0], &first);
    for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
      const pc_row_kernels *k = pc_kernels_at(v)->row;
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

TEST(test_softmax_is_right) {
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
    pc_kernels_best()->row->softmax_f32(z, n, NULL, &facts);
    assert_true(facts.top == top && facts.max == (double)z[top] && facts.finite);
    assert_true(fabs(facts.rest - (double)rest) <= 1e-15 * (1 + (double)rest));
    assert_true(fabs(facts.rest_square - (double)square) <= 1e-15 * (1 + (double)square));
  }
}

/* Probabilities next to 1 stay distinct: the largest term never enters the sum. */
TEST(test_rest_keeps_small_terms) {
  const float z[3] = {100.0f, 60.0f, 20.0f};
  pc_softmax_facts facts;
  pc_kernels_best()->row->softmax_f32(z, 3, NULL, &facts);
  assert_true(fabs(facts.rest / (exp(-40) + exp(-80)) - 1) < 1e-15);
}

TEST(test_ties_count_and_go_to_the_lowest) {
  float z[40];
  for (size_t j = 0; j < 40; j++)
    z[j] = j == 5 || j == 21 || j == 39 ? 2.0f : -1000.0f;
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    pc_softmax_facts facts;
    pc_kernels_at(v)->row->softmax_f32(z, 40, NULL, &facts);
    assert_true(facts.top == 5 && facts.rest == 2.0 && facts.rest_square == 2.0);
  }
}

TEST(test_not_finite_is_seen_anywhere) {
  const float odd[] = {NAN, INFINITY, -INFINITY};
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t n = 2; n < 40; n += 5)
      for (size_t at = 0; at < n; at++)
        for (size_t o = 0; o < UNIT_COUNT(odd); o++) {
          float z[40] = {0.0f};
          z[at] = odd[o];
          pc_softmax_facts facts;
          pc_kernels_at(v)->row->softmax_f32(z, n, NULL, &facts);
          assert_false(facts.finite);
        }
}

/* PC_NARROW_ROWS rows of n logits, row 3 with all the same, row 4 far apart. */
static void kernels_fill_narrow(size_t n, double *wide, float *z, int32_t *labels) {
  const pc_rng rng = {9, n};
  for (size_t i = 0; i < n * PC_NARROW_ROWS; i++) {
    const double spread = i / n == 3 ? 0 : i / n == 4 ? 400 : 4;
    z[i] = (float)(spread * pc_rng_normal(&rng, i));
    wide[i] = (double)z[i];
  }
  for (size_t l = 0; l < PC_NARROW_ROWS; l++)
    labels[l] = (int32_t)(l % n);
}

static void kernels_same_narrow(const narrow_columns *a, const narrow_columns *b) {
  assert_memory_equal(a->rest, b->rest, sizeof a->rest);
  assert_memory_equal(a->rest_square, b->rest_square, sizeof a->rest_square);
  assert_memory_equal(a->gap, b->gap, sizeof a->gap);
  assert_memory_equal(a->top, b->top, sizeof a->top);
  assert_int_equal(a->facts.finite, b->facts.finite);
  assert_int_equal(a->facts.labelled, b->facts.labelled);
}

/* The wide kernel on the same rows, up to the order of additions. */
static void kernels_like_rows(size_t n, const double *wide, const int32_t *labels,
                              const double *terms, const narrow_columns *facts) {
  for (size_t l = 0; l < PC_NARROW_ROWS; l++) {
    pc_softmax_facts row;
    double row_terms[PC_NARROW_CLASSES];
    pc_kernels_at(0)->row->softmax_f64(wide + l * n, n, row_terms, &row);
    assert_int_equal(facts->top[l], row.top);
    assert_true(facts->gap[l] == wide[l * n + (size_t)labels[l]] - row.max);
    assert_true(fabs(facts->rest[l] - row.rest) <= 1e-14 * row.rest);
    assert_true(fabs(facts->rest_square[l] - row.rest_square) <= 2e-14 * row.rest_square);
    for (size_t j = 0; j < n; j++)
      assert_true(terms[j * PC_NARROW_ROWS + l] == row_terms[j]);
  }
}

TEST(test_narrow_agrees_with_wide) {
  static double wide[PC_NARROW_CLASSES * PC_NARROW_ROWS];
  static double terms[2][PC_NARROW_CLASSES * PC_NARROW_ROWS];
  static float z[PC_NARROW_CLASSES * PC_NARROW_ROWS];
  int32_t labels[PC_NARROW_ROWS];
  for (size_t n = 2; n <= PC_NARROW_CLASSES; n++) {
    kernels_fill_narrow(n, wide, z, labels);
    narrow_columns first, here;
    pc_kernels_at(0)->row->narrow_f32(z, n, labels, terms[0], narrow_into(&first));
    assert_true(first.facts.finite && first.facts.labelled);
    kernels_like_rows(n, wide, labels, terms[0], &first);
    for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
      const pc_row_kernels *k = pc_kernels_at(v)->row;
      k->narrow_f32(z, n, labels, terms[1], narrow_into(&here));
      kernels_same_narrow(&first, &here);
      assert_memory_equal(terms[0], terms[1], n * PC_NARROW_ROWS * sizeof(double));
      k->narrow_f64(wide, n, labels, NULL, narrow_into(&here));
      kernels_same_narrow(&first, &here);
    }
  }
}

TEST(test_narrow_sees_what_is_not_finite) {
  enum { N = 5 };
  static const float odd[] = {NAN, INFINITY, -INFINITY};
  const int32_t labels[PC_NARROW_ROWS] = {0};
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t at = 0; at < N * PC_NARROW_ROWS; at++)
      for (size_t o = 0; o < UNIT_COUNT(odd); o++) {
        float z[N * PC_NARROW_ROWS] = {0.0f};
        narrow_columns facts;
        z[at] = odd[o];
        pc_kernels_at(v)->row->narrow_f32(z, N, labels, NULL, narrow_into(&facts));
        assert_false(facts.facts.finite);
        for (size_t l = 0; l < PC_NARROW_ROWS; l++)
          assert_true(l == at / N || facts.rest[l] == N - 1);
      }
}

TEST(test_narrow_sees_wrong_labels) {
  enum { N = 3 };
  static const int32_t wrong[] = {N, -1, INT32_MIN, INT32_MAX};
  const float z[N * PC_NARROW_ROWS] = {1.0f, 0.0f, 2.0f};
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t w = 0; w < UNIT_COUNT(wrong); w++) {
      int32_t labels[PC_NARROW_ROWS] = {1, 2};
      narrow_columns facts;
      pc_kernels_at(v)->row->narrow_f32(z, N, labels, NULL, narrow_into(&facts));
      assert_true(facts.facts.labelled && facts.gap[0] == -2.0);
      labels[0] = wrong[w];
      pc_kernels_at(v)->row->narrow_f32(z, N, labels, NULL, narrow_into(&facts));
      assert_true(!facts.facts.labelled && facts.gap[0] == -1.0);
    }
}

/* Numbers whose sum overflows are finite all the same. */
/* The lowest of the largest in rows of many widths, some of them equal; 0 beside a NaN. */
TEST(test_top) {
  const pc_rng rng = {31, 5};
  for (size_t count = 1; count <= 300; count += count < 70 ? 1 : 5)
    for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
      double wide[300];
      float narrow[300];
      size_t top = 0;
      int finite = 0;
      const double levels = count % 2 == 0 ? 5.0 : 200.0;
      for (size_t j = 0; j < count; j++) {
        wide[j] = -floor(levels * pc_rng_uniform(&rng, count * 1000 + j));
        narrow[j] = (float)wide[j];
        top = wide[j] > wide[top] ? j : top;
      }
      assert_int_equal(pc_kernels_at(v)->row->top_f32(narrow, count, &finite), top);
      assert_true(finite);
      assert_int_equal(pc_kernels_at(v)->row->top_f64(wide, count, &finite), top);
      assert_true(finite);
      for (size_t j = 0; j < count; j++) {
        const double kept = wide[j];
        narrow[j] = (float)(wide[j] = j % 3 == 0 ? NAN : j % 3 == 1 ? INFINITY : -INFINITY);
        assert_int_equal(pc_kernels_at(v)->row->top_f32(narrow, count, &finite), 0);
        assert_false(finite);
        assert_int_equal(pc_kernels_at(v)->row->top_f64(wide, count, &finite), 0);
        assert_false(finite);
        narrow[j] = (float)(wide[j] = kept);
      }
    }
}

TEST(test_huge_is_finite) {
  float z[40];
  for (size_t j = 0; j < 40; j++)
    z[j] = j == 7 ? 3.1e38f : 3e38f;
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    pc_softmax_facts facts;
    pc_kernels_at(v)->row->softmax_f32(z, 40, NULL, &facts);
    assert_true(facts.finite && facts.top == 7 && facts.rest == 0.0);
  }
}

TEST(test_narrow_probs) {
  static const size_t counts[] = {2, 3, 10, PC_NARROW_CLASSES};
  const pc_rng rng = {12, 1};
  double terms[PC_NARROW_CLASSES * PC_NARROW_ROWS], rest[PC_NARROW_ROWS];
  double probs[PC_NARROW_CLASSES * PC_NARROW_ROWS];
  for (size_t i = 0; i < PC_NARROW_CLASSES * PC_NARROW_ROWS; i++)
    terms[i] = pc_rng_uniform(&rng, i);
  for (size_t l = 0; l < PC_NARROW_ROWS; l++)
    rest[l] = 3.0 * terms[l];
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t n = 0; n < UNIT_COUNT(counts); n++) {
      const size_t k = counts[n];
      pc_kernels_at(v)->row->narrow_probs(terms, k, rest, probs);
      for (size_t l = 0; l < PC_NARROW_ROWS; l++)
        for (size_t j = 0; j < k; j++)
          assert_true(probs[l * k + j] == terms[j * PC_NARROW_ROWS + l] / (1.0 + rest[l]));
    }
}

TEST(test_finish_logits) {
  enum { ROWS = 37 };
  int32_t labels[ROWS], tops[ROWS];
  double first[4][ROWS], here[4][ROWS];
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    for (size_t i = 0; i < ROWS; i++) {
      /* Three classes, logits 0, -g, -2g. */
      const double g = 0.1 * (double)i * (double)i;
      labels[i] = (int32_t)(i % 3);
      tops[i] = 0;
      here[0][i] = exp(-g) + exp(-2 * g);
      here[1][i] = exp(-2 * g) + exp(-4 * g);
      here[2][i] = -g * (double)labels[i];
    }
    const pc_logit_columns columns = {labels, tops, here[0], here[1], here[2], here[3]};
    pc_kernels_at(v)->row->finish_logits(&columns, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
      const double g = 0.1 * (double)i * (double)i, s = 1 + exp(-g) + exp(-2 * g);
      double gap = 0, square = 0;
      for (int32_t j = 0; j < 3; j++) {
        gap += j == labels[i] ? 0 : exp(-g * j) / s;
        square += j == labels[i] ? 0 : exp(-2 * g * j) / (s * s);
      }
      assert_near(here[0][i], 1 / s, 1e-15);
      assert_near(here[1][i], square, 1e-14);
      assert_near(here[2][i], -g * labels[i] - log1p(exp(-g) + exp(-2 * g)), 1e-14);
      assert_near(here[3][i], gap, 1e-14);
    }
    if (v == 0)
      memcpy(first, here, sizeof first);
    assert_memory_equal(first, here, sizeof first);
  }
}

/* Numbers up to the largest that may be split, of every size below. */
static void kernels_draw_sizes(uint64_t stream, size_t count, double *x) {
  const pc_rng rng = {11, stream};
  for (size_t i = 0; i < count; i++)
    x[i] = ldexp(2 * pc_rng_uniform(&rng, i) - 1, 10 - (int)(i % (stream == 0 ? 60 : 900)));
}

TEST(test_split_is_exact) {
  static double x[PC_SPLIT_ROWS], first[PC_SPLIT_ROWS], left[2][PC_SPLIT_ROWS];
  static const size_t counts[] = {0, 1, 15, 16, 17, 100, PC_SPLIT_ROWS};
  for (size_t c = 0; c < UNIT_COUNT(counts); c++)
    for (uint64_t stream = 0; stream < 2; stream++) {
      const size_t n = counts[c];
      pc_sum expected;
      pc_sum_clear(&expected);
      kernels_draw_sizes(stream, n, x);
      for (size_t i = 0; i < n; i++)
        pc_sum_add(&expected, x[i]);
      for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
        pc_split_sums sums;
        pc_sum total;
        pc_sum_clear(&total);
        pc_kernels_at(v)->row->split(x, n, 0, first, &sums);
        for (size_t p = 0; p < PC_SPLIT_PIECES; p++)
          pc_sum_add_units(&total, sums.units[p], pc_split_exponent(0, p));
        pc_kernels_at(v)->row->split(first, n, 1, left[v > 0], &sums);
        for (size_t p = 0; p < PC_SPLIT_PIECES; p++)
          pc_sum_add_units(&total, sums.units[p], pc_split_exponent(1, p));
        size_t not_cut = 0;
        for (size_t i = 0; i < n; i++) {
          pc_sum_add(&total, left[v > 0][i]);
          not_cut += left[v > 0][i] != 0.0;
        }
        assert_true(sums.all == (not_cut == 0) && (stream == 1 || not_cut == 0));
        assert_true(pc_sum_equal(&total, &expected));
        assert_memory_equal(left[0], left[v > 0], n * sizeof(double));
      }
    }
}

TEST(test_largest) {
  static const double sizes[] = {0x1p-1074, 3.5, -4.25, 1e300, INFINITY, -INFINITY};
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t at = 0; at < 37; at++)
      for (size_t i = 0; i < UNIT_COUNT(sizes); i++) {
        double x[37] = {0.0};
        x[at] = sizes[i];
        assert_true(pc_kernels_at(v)->row->largest(x, 37) == fabs(sizes[i]));
        assert_true(pc_kernels_at(v)->row->largest(x, at) == 0.0);
      }
}

TEST(test_columns) {
  double p[KERNELS_MOST], out[KERNELS_MOST];
  for (size_t c = 0; c < UNIT_COUNT(kernels_counts); c++) {
    const size_t n = kernels_counts[c];
    const pc_rng rng = {3, c};
    for (size_t j = 0; j < n; j++)
      p[j] = pc_rng_uniform(&rng, j);
    p[n / 2] = 1.5;
    p[n - 1] = n > 2 ? -0.25 : p[n - 1];
    for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
      pc_column_facts column;
      pc_kernels_at(v)->row->column_f64(p, n, out, &column);
      assert_true(column.high == 1.5 && column.finite);
      assert_true(n == 2 || column.low == -0.25);
      assert_memory_equal(p, out, n * sizeof(double));
    }
  }
}
