/* Laws for every calibrator, with every choice of its options, on every kind of data. */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrator_law.h"

/* ---- Laws ---- */

/* A saved and loaded calibrator has the same results, bit for bit, and saves as the same
 * bytes. */
static void law_save(const laws_case *about) {
  const pcal_batch batch = laws_batch(about);
  pcal_calibrator *calibrator = laws_fit(about, &batch), *loaded = NULL;
  char *text = laws_save(calibrator);
  pcal_error err;
  if (pcal_calibrator_load(text, strlen(text), "c", NULL, &loaded, &err) != PCAL_OK)
    fail_msg("%s on %s: %s", about->spec, about->set->name, err.message);
  double *a = laws_apply(calibrator, about), *b = laws_apply(loaded, about);
  assert_int_equal(pcal_calibrator_column_count(loaded),
                   pcal_calibrator_column_count(calibrator));
  assert_memory_equal(a, b,
                      about->set->rows * pcal_calibrator_column_count(calibrator) * sizeof *a);
  laws_same(text, laws_save(loaded), about, "a difference after loading");
  free(a);
  free(b);
  pcal_calibrator_free(calibrator);
  pcal_calibrator_free(loaded);
}

TEST(test_save_and_load_change_nothing) {
  laws_for_all(law_save);
}

/* ---- Traits ---- */

/* Mean score of probabilities over the rows of a set; infinite rows are left out of log. */
static double laws_objective(const laws_case *about, const char *name, const double *probs) {
  const law_set *set = about->set;
  const size_t columns = set->columns;
  double sum = 0, weight = 0;
  for (size_t i = 0; i < set->rows; i++) {
    double pair[2] = {1 - probs[i], probs[i]}, score = 0;
    const double *p = columns == 1 ? pair : probs + i * columns;
    const double w = about->weights == NULL ? 1 : about->weights[i];
    const size_t k = columns == 1 ? 2 : columns;
    if (strcmp(name, "log") == 0 && !(p[set->labels[i]] > 0))
      continue;
    for (size_t j = 0; j < k && strcmp(name, "brier") == 0; j++)
      score += (p[j] - (j == (size_t)set->labels[i])) * (p[j] - (j == (size_t)set->labels[i]));
    if (strcmp(name, "log") == 0)
      score = -log(p[set->labels[i]]);
    sum += w * score;
    weight += w;
  }
  return sum / weight;
}

/* True if a row has a label of probability 0. */
static int laws_impossible(const laws_case *about, const double *probs) {
  const law_set *set = about->set;
  for (size_t i = 0; i < set->rows; i++) {
    const size_t k = set->columns, y = (size_t)set->labels[i];
    const double p = k > 1 ? probs[i * k + y] : y == 1 ? probs[i] : 1 - probs[i];
    if (!(p > 0) && (about->weights == NULL || about->weights[i] > 0))
      return 1;
  }
  return 0;
}

static double *laws_identity(const laws_case *about) {
  laws_case plain = *about;
  plain.spec = "identity";
  const pcal_batch batch = laws_batch(&plain);
  pcal_calibrator *calibrator = laws_fit(&plain, &batch);
  double *out = laws_apply(calibrator, &plain);
  pcal_calibrator_free(calibrator);
  return out;
}

static void law_guarded(const laws_case *about) {
  const pcal_batch batch = laws_batch(about);
  pcal_calibrator *calibrator = laws_fit(about, &batch);
  char word[64];
  const char *name = pc_calibrator_objective(calibrator, word, sizeof word);
  if ((pc_calibrator_traits(calibrator) & PC_GUARDED) != 0 && name != NULL) {
    const int penalty = strcmp(name, "log+penalty") == 0;
    const char *score = penalty ? "log" : name;
    double *before = laws_identity(about), *after = laws_apply(calibrator, about);
    double was = laws_objective(about, score, before);
    const double is = laws_objective(about, score, after);
    assert_true(calibrator->fit.after <= calibrator->fit.before);
    if (isinf(calibrator->fit.before)) {
      assert_true(laws_impossible(about, before));
      was = INFINITY;
    }
    if (strcmp(score, "ece") != 0) {
      if (is > was + 2e-6)
        fail_msg("%s on %s: %.17g before, %.17g after", about->spec, about->set->name, was, is);
      assert_true(isinf(was) || fabs(calibrator->fit.before - was) <= 2e-6 * (1 + was));
      assert_true(penalty ? is <= calibrator->fit.after + 1e-9
                          : fabs(calibrator->fit.after - is) <= 1e-9 * (1 + is));
    }
    free(before);
    free(after);
  }
  pcal_calibrator_free(calibrator);
}

TEST(test_guarded_methods_are_never_worse) {
  laws_for_all(law_guarded);
}

static void laws_check_row(const laws_case *about, unsigned traits, const double *p,
                           const double *q) {
  const size_t k = about->set->columns;
  double in = 0, out = 0, best = 0;
  size_t top = 0;
  for (size_t j = 0; j < k; j++) {
    assert_true(q[j] >= 0 && q[j] <= 1 + 1e-5);
    in += p[j];
    out += q[j];
    best = fmax(best, q[j]);
    top = p[j] > p[top] ? j : top;
  }
  if ((traits & PC_SUMS_TO_ONE) != 0 && !(fabs(out - 1) <= fabs(in - 1) + 1e-12))
    fail_msg("%s on %s: a row sums to %.17g", about->spec, about->set->name, out);
  if ((traits & PC_KEEPS_ACCURACY) != 0 && q[top] != best)
    fail_msg("%s on %s: the top class changes", about->spec, about->set->name);
  for (size_t a = 0; a < k && (traits & PC_KEEPS_ORDER) != 0; a++)
    for (size_t b = 0; b < k; b++)
      if (p[a] > p[b] && q[a] < q[b])
        fail_msg("%s on %s: the order of classes changes", about->spec, about->set->name);
}

static void law_traits(const laws_case *about) {
  const law_set *set = about->set;
  const pcal_batch batch = laws_batch(about);
  pcal_calibrator *calibrator = laws_fit(about, &batch);
  const unsigned traits = pc_calibrator_traits(calibrator);
  const size_t k = pcal_calibrator_column_count(calibrator) == set->columns ? set->columns : 0;
  assert_true(k > 0 || (traits & ~(unsigned)PC_TAKES_CONFIDENCE) == 0);
  double *before = laws_identity(about), *after = laws_apply(calibrator, about);
  for (size_t i = 0; i < set->rows && k > 1; i++)
    laws_check_row(about, traits, before + i * k, after + i * k);
  /* One column: order and injectivity between rows. */
  for (size_t i = 1; i < set->rows && k == 1; i++) {
    const double step = before[i] - before[i - 1], moved = after[i] - after[i - 1];
    if ((traits & PC_KEEPS_ORDER) != 0)
      assert_true(step * moved >= 0);
    if ((traits & PC_INJECTIVE) != 0 && fabs(step) > 1e-9)
      assert_true(moved != 0);
  }
  for (size_t i = 1; i < set->rows && k > 1 && (traits & PC_INJECTIVE) != 0; i++) {
    double apart = 0;
    for (size_t j = 0; j < k; j++)
      apart = fmax(apart, fabs(before[i * k + j] - before[(i - 1) * k + j]));
    if (apart > 1e-5 && memcmp(after + i * k, after + (i - 1) * k, k * sizeof *after) == 0)
      fail_msg("%s on %s: two rows become one", about->spec, about->set->name);
  }
  free(before);
  free(after);
  pcal_calibrator_free(calibrator);
}

TEST(test_declared_traits_hold) {
  laws_for_all(law_traits);
}

/* ---- Bad rows ---- */

static void law_missing(const laws_case *about) {
  const law_set *set = about->set;
  const size_t bad = 17, cells = set->rows * set->columns;
  double *scores = law_scores_as_doubles(set), *out = malloc(cells * sizeof *out);
  pcal_batch batch = laws_batch(about);
  pcal_calibrator *calibrator = laws_fit(about, &batch), *skipped = NULL;
  pcal_error err;
  batch.type = PCAL_F64;
  batch.scores = scores;
  batch.row_stride = (ptrdiff_t)(set->columns * sizeof(double));
  batch.column_stride = sizeof(double);
  scores[bad * set->columns + set->columns - 1] = NAN;
  assert_int_equal(laws_try(about, &batch, 0, &skipped, &err), PCAL_DATA);
  assert_int_equal(err.row, bad);
  assert_int_equal(pcal_calibrator_apply(calibrator, &batch, NULL, out, &err), PCAL_DATA);
  assert_int_equal(err.row, bad);
  assert_int_equal(laws_try(about, &batch, 1, &skipped, &err), PCAL_OK);
  assert_int_equal(skipped->fit.skipped, 1);
  pcal_calibrator_free(calibrator);
  pcal_calibrator_free(skipped);
  free(scores);
  free(out);
}

TEST(test_a_missing_value_is_refused) {
  laws_for_all(law_missing);
}
