/* Rows of probabilities as the GPU checks them, thread by thread: the verdict and the bits of
 * data/row_convert.c, for rows as stored, rescaled, of half precision, and refused. */
#include "unit.h"

#include <math.h>

#include "base/rng.h"
#include "data/rows.h"
#include "prob_rows_emulator.h"

#define ROWS 60
#define CLASSES_MAX 200

TEST_GROUP(NULL, NULL)

typedef struct checked {
  double high[ROWS], rest_square[ROWS], stored[ROWS], scale[ROWS];
  int32_t top[ROWS], labels[ROWS];
  uint32_t odd;
} checked;

static double scores[ROWS * CLASSES_MAX];
static float floats[ROWS * CLASSES_MAX];

static double rounded(double p, int form) {
  return form == 1 ? floor(p * 0x1p12 + 0.5) * 0x1p-12
                   : p; /* a few bits, as half precision has */
}

/* Rows of probabilities, or of logarithms; `off`: added to class 1 of row 17. */
static void make(size_t classes, int logs, int form, double off) {
  const pc_rng rng = {9, classes};
  for (size_t r = 0; r < ROWS; r++) {
    double sum = 0, *p = scores + r * classes;
    for (size_t j = 0; j < classes; j++)
      sum += p[j] = exp(3 * pc_rng_normal(&rng, r * classes + j));
    for (size_t j = 0; j < classes; j++)
      p[j] = rounded(p[j] / sum, form);
    p[1] += r == 17 ? off : 0;
    for (size_t j = 0; j < classes; j++) {
      p[j] = logs ? log(p[j]) : p[j];
      floats[r * classes + j] = (float)p[j];
    }
  }
}

static void run(size_t classes, int logs, int normalize, int is_double, checked *out) {
  const size_t each = PC_PROB_ROWS_THREADS / PC_PROB_ROWS_LANES;
  const pc_prob_rows rows = {
      .scores = is_double ? (const void *)scores : (const void *)floats,
      .labels = out->labels,
      .out = {out->high, out->rest_square, out->stored, out->scale, out->top},
      .odd = &out->odd,
      .rows = ROWS,
      .classes = (uint32_t)classes,
      .label_size = 4,
      .form = logs ? PC_ROW_LOG_PROBS : PC_ROW_PROBS,
      .normalize = (uint32_t)normalize};
  out->odd = 0;
  for (size_t r = 0; r < ROWS; r++)
    out->labels[r] = (int32_t)(r % classes);
  prob_rows_emulate(&rows, is_double, (uint32_t)((ROWS + each - 1) / each));
}

/* The columns of the CPU are those that follow from the columns of the kernel. */
static void check(size_t classes, int logs, int normalize, int is_double, uint64_t rescaled) {
  static checked found;
  const pcal_env env = pc_env_resolve(NULL);
  pc_layout layout;
  pc_scratch scratch;
  pc_rows rows;
  pc_row_counts counts = {.fractional_row = PCAL_NO_ROW};
  pcal_batch batch = PCAL_BATCH_INIT, resolved;
  const pc_row_policy policy = {.normalize = normalize, .probs = PC_PROBS_LEAN, .need_log = 1};
  run(classes, logs, normalize, is_double, &found);
  batch.kind = logs ? PCAL_LOG_PROBABILITY : PCAL_PROBABILITY;
  batch.type = is_double ? PCAL_F64 : PCAL_F32;
  batch.rows = ROWS;
  batch.columns = classes;
  batch.scores = is_double ? (const void *)scores : (const void *)floats;
  batch.labels = found.labels;
  assert_int_equal(pc_batch_resolve(&batch, &resolved, NULL), PCAL_OK);
  assert_int_equal(pc_layout_make(batch.kind, classes, &layout, NULL), PCAL_OK);
  assert_int_equal(pc_scratch_new(&env, &layout, &scratch, NULL), PCAL_OK);
  const pcal_status status =
      pc_rows_convert(&resolved, &layout, &policy, 0, ROWS, &scratch, &rows, &counts, NULL);
  assert_int_equal(found.odd == PC_PROB_ROWS_ODD, status != PCAL_OK);
  if (status == PCAL_OK) {
    size_t scaled = 0;
    assert_int_equal(rows.count, ROWS);
    for (size_t r = 0; r < ROWS; r++) {
      const double value = pc_prob_rows_value(found.stored[r], logs ? PC_ROW_LOG_PROBS : 1);
      const double py = pc_prob_rows_scaled(value, found.scale[r]), high = found.high[r];
      const double rest = found.rest_square[r], square = classes == 2 ? rest * rest : rest;
      scaled += found.scale[r] != 0;
      assert_true(rows.top[r] == high);
      assert_int_equal(rows.top_label[r], found.top[r]);
      assert_true(rows.true_gap[r] == 1.0 - py);
      assert_true(
          rows.others_square[r] ==
          (found.top[r] == found.labels[r] ? square : square + (high * high - py * py)));
    }
    assert_int_equal(scaled, counts.normalized);
    assert_int_equal(scaled, rescaled);
  }
  pc_scratch_free(&env, &scratch);
}

TEST(test_rows_of_every_width) {
  static const size_t classes[] = {2, 3, 10, 15, 16, 17, 33, 200};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++)
    for (int form = 0; form < 4; form++) {
      make(classes[c], form & 1, 0, 0.0);
      check(classes[c], form & 1, 0, form >> 1, 0);
    }
}

/* Used as stored, rescaled, refused. */
TEST(test_rows_that_are_off) {
  static const double offs[] = {1e-6, 3e-5, 5e-3, 0.1, 1.0, INFINITY};
  for (size_t i = 0; i < UNIT_COUNT(offs); i++)
    for (int normalize = 0; normalize < 2; normalize++)
      for (int logs = 0; logs < 2; logs++) {
        make(10, logs, 0, offs[i]);
        check(10, logs, normalize, 1, (uint64_t)(normalize && (i == 1 || i == 2)));
      }
  make(10, 0, 0, -10.0); /* below 0, and a logarithm of a negative number */
  check(10, 0, 1, 1, 0);
  make(10, 1, 0, -10.0);
  check(10, 1, 1, 1, 0);
}

/* Numbers outside [0, 1] by no more than is accepted. */
TEST(test_rows_slightly_outside) {
  static checked found;
  make(10, 0, 0, 0.0);
  scores[3 * 10 + 2] = -1e-7;
  double sum = 0;
  for (size_t j = 0; j < 9; j++)
    sum += scores[3 * 10 + j];
  scores[3 * 10 + 9] = 1.0 - sum;
  run(10, 0, 0, 1, &found);
  assert_int_equal(found.odd, PC_PROB_ROWS_OUTSIDE);
  check(10, 0, 0, 1, 0);
}

/* A negative number that is repaired counts as 0 in the sum that its row is divided by. */
TEST(test_a_rescaled_row_with_a_negative_number) {
  make(10, 0, 0, 0.0);
  double *p = scores + 3 * 10, sum = 0;
  p[2] = -5e-3;
  for (size_t j = 0; j < 9; j++)
    sum += p[j];
  p[9] = 1.0 - sum;
  check(10, 0, 1, 1, 1);
  check(10, 0, 0, 1, 0);
}

/* Few bits: rows are rescaled without `normalize`. */
TEST(test_rows_of_half_precision) {
  static checked found;
  uint64_t scaled = 0;
  make(100, 0, 1, 0.0);
  run(100, 0, 0, 0, &found);
  for (size_t r = 0; r < ROWS; r++)
    scaled += found.scale[r] != 0;
  check(100, 0, 0, 0, scaled);
}
