/* Every variant of the pair kernels against pairs written out, and against each other bit for
 * bit. */
#include "pair_help.h"

#include <float.h>

#include "kernels/dispatch.h"
#include "kernels/pair_kernels.h"

static const size_t kernel_classes[] = {2, 3, 10, 33, 70};

/* ---- skce ---- */

typedef struct kernel_case {
  int tv, gaussian;
  double scale;
} kernel_case;

static const kernel_case kernel_cases[] = {
    {0, 0, 1.0}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 1.0},  {0, 0, 2.5},
    {0, 0, 0.1}, {0, 1, 0.3}, {1, 0, 0.2}, {1, 1, 0.05}, {0, 0, 1e-3},
};

/* Pack 0 against pack 1, by all variants. */
static void kernels_check_skce(const pair_sample *sample, const kernel_case *about) {
  const pc_pair_form form =
      pc_pair_form_make(about->tv, about->gaussian, about->scale, &sample->rows);
  const pc_pair_pack left = pc_pair_pack_at(&sample->rows, 0);
  const pc_pair_pack right = pc_pair_pack_at(&sample->rows, 1);
  double first[PC_LANES];
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    double sums[PC_LANES];
    for (size_t l = 0; l < PC_LANES; l++)
      sums[l] = (double)l / 8;
    pc_kernels_at(v)->pair->skce(&form, sample->classes, &left, &right, sums);
    if (v == 0)
      memcpy(first, sums, sizeof sums);
    assert_memory_equal(sums, first, sizeof sums);
  }
  for (size_t l = 0; l < PC_LANES; l++) {
    long double want = l / 8.0L;
    for (size_t r = 0; r < PC_LANES; r++)
      want += sample->weights[r] *
              pair_h(sample, r, PC_LANES + l, about->tv, about->gaussian, about->scale);
    assert_true(fabsl(first[l] - want) < 2e-12L);
  }
}

/* Near and far exponents, packs of one label and mixed ones, rows that are close or equal. */
TEST(test_skce) {
  for (size_t k = 0; k < UNIT_COUNT(kernel_classes); k++)
    for (size_t runs = 2; runs <= 32; runs += 30)
      for (int close = 0; close <= 2; close++)
        for (size_t c = 0; c < 2 * UNIT_COUNT(kernel_cases); c++) {
          const size_t n = kernel_classes[k];
          pair_sample sample = pair_sample_make(32, n, 2.0, runs, c % 2 == 1);
          for (size_t i = 0; close && i < 12; i++)
            memcpy(sample.probs + (31 - i) * n, sample.probs + (i % 5) * n, n * sizeof(double));
          for (size_t i = 16; close == 2 && i < 32; i++) {
            sample.probs[i * n] += 1e-9 * (double)i;
            sample.probs[i * n + 1] -= 1e-9 * (double)i;
          }
          pair_sample_lay(&sample);
          kernels_check_skce(&sample, &kernel_cases[c / 2]);
          pair_sample_free(&sample);
        }
}

/* Which exponents are certain to be near. */
TEST(test_form) {
  pair_sample sample = pair_sample_make(40, 3, 8.0, 3, 0);
  assert_true(pc_pair_form_make(0, 0, 1.0, &sample.rows).near);
  assert_true(pc_pair_form_make(1, 0, 1.0, &sample.rows).near);
  assert_true(pc_pair_form_make(0, 1, 1.0, &sample.rows).near);
  assert_true(pc_pair_form_make(1, 1, 1.0, &sample.rows).near);
  assert_false(pc_pair_form_make(0, 0, 0.9, &sample.rows).near);
  assert_false(pc_pair_form_make(0, 1, 0.8, &sample.rows).near);
  assert_false(pc_pair_form_make(1, 0, 0.6, &sample.rows).near);
  pair_sample_free(&sample);
}

/* ---- distances ---- */

TEST(test_distances) {
  for (size_t k = 0; k < UNIT_COUNT(kernel_classes); k++)
    for (int tv = 0; tv <= 1; tv++) {
      pair_sample sample = pair_sample_make(32, kernel_classes[k], 3.0, 32, 0);
      memcpy(sample.probs + 20 * sample.classes, sample.probs + 3 * sample.classes,
             sample.classes * sizeof(double));
      sample.probs[21 * sample.classes] = sample.probs[4 * sample.classes] + 1e-12;
      pair_sample_lay(&sample);
      const pc_pair_form form = pc_pair_form_make(tv, 0, 1.0, &sample.rows);
      const pc_pair_pack left = pc_pair_pack_at(&sample.rows, 0);
      const pc_pair_pack right = pc_pair_pack_at(&sample.rows, 1);
      double first[PC_PACK_PAIRS], out[PC_PACK_PAIRS];
      for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
        pc_kernels_at(v)->pair->distances(&form, sample.classes, &left, &right, out);
        if (v == 0)
          memcpy(first, out, sizeof out);
        assert_memory_equal(out, first, sizeof out);
      }
      for (size_t r = 0; r < PC_LANES; r++)
        for (size_t l = 0; l < PC_LANES; l++) {
          const long double d = pair_distance(&sample, r, PC_LANES + l, tv);
          const long double want = tv ? d : d * d / 2;
          assert_true(fabsl(out[r * PC_LANES + l] - want) <= 2e-9L * want);
        }
      assert_same(out[3 * PC_LANES + 4], 0.0);
      pair_sample_free(&sample);
    }
}

TEST(test_packs_know_their_label) {
  pair_sample sample = pair_sample_make(48, 3, 1.0, 3, 0);
  sample.labels[40] = 1 - sample.labels[39] % 2;
  pair_sample_lay(&sample);
  assert_int_equal(pc_pair_pack_at(&sample.rows, 0).label, sample.labels[0]);
  assert_int_equal(pc_pair_pack_at(&sample.rows, 1).label, sample.labels[16]);
  assert_int_equal(pc_pair_pack_at(&sample.rows, 2).label, -1);
  pair_sample_free(&sample);
}

/* ---- inner products and Dirichlet kernels ---- */

TEST(test_dots_are_inner_products) {
  pair_sample sample = pair_sample_make(32, 33, 1.0, 32, 0);
  const double *left = sample.rows.probs, *right = left + PC_LANES * 33;
  double dots[PC_PACK_PAIRS];
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    pc_kernels_at(v)->pair->dots(33, left, right, dots);
    for (size_t r = 0; r < PC_LANES; r++)
      for (size_t l = 0; l < PC_LANES; l++) {
        double want = 0.0;
        for (size_t c = 0; c < 33; c++)
          want += sample.probs[r * 33 + c] * sample.probs[(PC_LANES + l) * 33 + c];
        assert_same(dots[r * PC_LANES + l], want);
      }
  }
  pair_sample_free(&sample);
}

TEST(test_dirichlet_norm) {
  pair_sample sample = pair_sample_make(16, 5, 2.0, 5, 0);
  double first[PC_LANES], out[PC_LANES];
  sample.probs[3 * 5 + 2] = 0.0;
  sample.probs[4 * 5 + 2] = -1e-6;
  pair_sample_lay(&sample);
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    pc_kernels_at(v)->pair->dirichlet_norm(5, sample.rows.probs, 250.0, out);
    if (v == 0)
      memcpy(first, out, sizeof out);
    assert_memory_equal(out, first, sizeof out);
  }
  for (size_t l = 0; l < PC_LANES; l++) {
    long double sum = 0, logs = 0;
    for (size_t c = 0; c < 5; c++) {
      const long double a = fmaxl(0, sample.probs[l * 5 + c]) * 250 + 1;
      sum += a;
      logs += lgammal(a);
    }
    assert_true(fabsl(out[l] - (lgammal(sum) - logs)) < 1e-12L);
  }
  pair_sample_free(&sample);
}

typedef struct dirichlet_case {
  double dots[PC_PACK_PAIRS], offset[PC_LANES], peak[PC_LANES], sums[PC_PACK_PAIRS];
} dirichlet_case;

/* Rows 0 .. 3 have an exponent above their peak, 4 .. 7 nothing that counts beside it. */
static dirichlet_case kernels_dirichlet_case(void) {
  dirichlet_case about;
  const pc_rng rng = {9, 9};
  for (size_t i = 0; i < PC_PACK_PAIRS; i++) {
    about.dots[i] = -10 * pc_rng_uniform(&rng, i);
    about.sums[i] = pc_rng_uniform(&rng, 1000 + i);
  }
  for (size_t l = 0; l < PC_LANES; l++) {
    about.offset[l] = 3 * pc_rng_uniform(&rng, 2000 + l);
    about.peak[l] = l < 4 ? -60.0 : l < 8 ? 900.0 : 4.0;
  }
  about.dots[9 * PC_LANES + 2] = -INFINITY;
  about.dots[10 * PC_LANES + 3] = -1e300;
  about.offset[5] = -INFINITY;
  about.peak[11] = -DBL_MAX;
  for (size_t l = 0; l < PC_LANES; l++)
    about.dots[11 * PC_LANES + l] = -INFINITY;
  return about;
}

TEST(test_dirichlet) {
  const dirichlet_case about = kernels_dirichlet_case();
  double first[PC_PACK_PAIRS];
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    dirichlet_case out = about;
    const unsigned above = pc_kernels_at(v)->pair->dirichlet(out.dots, 5.0, out.offset,
                                                             out.peak, 0xfffd, out.sums);
    assert_int_equal(above, 0xd);
    if (v == 0)
      memcpy(first, out.sums, sizeof first);
    assert_memory_equal(first, out.sums, sizeof first);
  }
  for (size_t r = 0; r < PC_LANES; r++)
    for (size_t l = 0; l < PC_LANES; l++) {
      const size_t i = r * PC_LANES + l;
      const double x = about.dots[i] * 5.0 + about.offset[l] - about.peak[r];
      if (r < 8 || r == 11)
        assert_same(first[i], about.sums[i]);
      else
        assert_near(first[i], about.sums[i] + exp(x), 1e-15);
    }
}

/* The bound of its exponential. */
TEST(test_dirichlet_exponentials) {
  const pc_rng rng = {9, 10};
  const double offset[PC_LANES] = {0}, peak[PC_LANES] = {0};
  for (uint64_t round = 0; round < 400; round++) {
    double dots[PC_PACK_PAIRS], sums[PC_PACK_PAIRS] = {0};
    for (size_t i = 0; i < PC_PACK_PAIRS; i++)
      dots[i] = -pc_rng_uniform(&rng, round * PC_PACK_PAIRS + i) * (i % 2 == 0 ? 3 : 60);
    dots[0] = -60.5;
    assert_int_equal(pc_kernels_best()->pair->dirichlet(dots, 1.0, offset, peak, 0xffff, sums),
                     0);
    assert_same(sums[0], 0.0);
    for (size_t i = 1; i < PC_PACK_PAIRS; i++)
      assert_true(fabsl(sums[i] / expl(dots[i]) - 1) < 2e-14L - 2e-16L * dots[i]);
  }
}

/* Up to e^-60 is missing of each, and nothing of what is larger; the limit itself is out. */
TEST(test_dirichlet_leaves_out_little) {
  const pc_rng rng = {9, 11};
  const double offset[PC_LANES] = {0}, peak[PC_LANES] = {0};
  double dots[PC_PACK_PAIRS];
  for (size_t i = 0; i < PC_PACK_PAIRS; i++)
    dots[i] = -59.5 - pc_rng_uniform(&rng, i) * (i < 64 ? 1 : 700);
  dots[3] = -60.0;
  dots[4] = nextafter(-60.0, 0.0);
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    double sums[PC_PACK_PAIRS] = {0};
    (void)pc_kernels_at(v)->pair->dirichlet(dots, 1.0, offset, peak, 0xffff, sums);
    for (size_t i = 0; i < PC_PACK_PAIRS; i++) {
      const long double missing = expl(dots[i]) - sums[i];
      assert_true(dots[i] > -60.0 ? fabsl(missing) < 4e-14L * expl(dots[i]) : sums[i] == 0.0);
      assert_true(missing <= expl(-60));
    }
  }
}

/* An exponent that equals the peak is not above it. */
TEST(test_dirichlet_at_the_peak) {
  dirichlet_case about = kernels_dirichlet_case();
  memset(about.sums, 0, sizeof about.sums);
  for (size_t l = 0; l < PC_LANES; l++) {
    about.offset[l] = 0.0;
    about.dots[l] = l == 7 ? -0.0 : -1.0;
  }
  about.peak[0] = 0.0;
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    about.sums[7] = 0.0;
    assert_int_equal(pc_kernels_at(v)->pair->dirichlet(about.dots, 1.0, about.offset,
                                                       about.peak, 1, about.sums),
                     0);
    assert_same(about.sums[7], 1.0);
  }
}
