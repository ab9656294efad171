/* Laws for every calibrator row: neither chance shows, nor the order of rows, nor whether a row
 * is repeated or has a weight. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "calibrator_law.h"

static void law_twice(const laws_case *about) {
  const pcal_batch batch = laws_batch(about);
  laws_same(laws_file(about, &batch), laws_file(about, &batch), about, "chance");
}

TEST(test_asking_twice_agrees) {
  laws_for_all(law_twice);
}

/* Rows in another order: the same file, byte for byte. */
static void law_order(const laws_case *about) {
  const law_set *set = about->set;
  const size_t row = set->columns * law_score_size(set);
  size_t *order = law_permutation(77, set->rows);
  char *scores = malloc(set->rows * row);
  int32_t *labels = malloc(set->rows * sizeof *labels);
  double *weights = malloc(set->rows * sizeof *weights);
  for (size_t i = 0; i < set->rows; i++) {
    memcpy(scores + i * row, (const char *)set->scores + order[i] * row, row);
    labels[i] = set->labels[order[i]];
    weights[i] = about->weights == NULL ? 1.0 : about->weights[order[i]];
  }
  const pcal_batch batch = laws_batch(about);
  pcal_batch mixed = batch;
  mixed.scores = scores;
  mixed.labels = labels;
  mixed.weights = about->weights == NULL ? NULL : weights;
  laws_same(laws_file(about, &batch), laws_file(about, &mixed), about, "the order of rows");
  free(order);
  free(scores);
  free(labels);
  free(weights);
}

TEST(test_row_order_does_not_matter) {
  laws_for_all(law_order);
}

/* A row of weight w is w rows: the same parameters and outcome, byte for byte. */
static void law_repeats(const laws_case *about) {
  const law_set *set = about->set;
  const size_t row = set->columns * law_score_size(set);
  size_t total = 0, at = 0;
  if (about->weights != set->whole)
    return;
  for (size_t i = 0; i < set->rows; i++)
    total += (size_t)set->whole[i];
  char *scores = malloc(total * row);
  int32_t *labels = malloc(total * sizeof *labels);
  for (size_t i = 0; i < set->rows; i++)
    for (double copy = 0; copy < set->whole[i]; copy++, at++) {
      memcpy(scores + at * row, (const char *)set->scores + i * row, row);
      labels[at] = set->labels[i];
    }
  const pcal_batch weighted = laws_batch(about);
  pcal_batch repeated = weighted;
  repeated.rows = total;
  repeated.scores = scores;
  repeated.labels = labels;
  repeated.weights = NULL;
  char *expected = laws_file(about, &repeated), *actual = laws_file(about, &weighted);
  laws_strip(expected);
  laws_strip(actual);
  laws_same(expected, actual, about, "weights that are not repeats");
  free(scores);
  free(labels);
}

TEST(test_whole_weights_equal_repeats) {
  laws_for_all(law_repeats);
}

/* ---- Importance weights ---- */

/* weights NULL: all are 1. */
static double *law_scaled(const laws_case *about, const double *weights, double factor) {
  double *out = malloc(about->set->rows * sizeof *out);
  for (size_t i = 0; i < about->set->rows; i++)
    out[i] = factor * (weights == NULL ? 1.0 : weights[i]);
  return out;
}

/* Equal weights of any size are no weights: the same parameters and outcome, byte for byte. */
static void law_equal_weights(const laws_case *about) {
  const double factors[] = {1.0 / (double)about->set->rows, 1000.5, 3.0};
  if (about->weights != (laws_slow(about->spec) ? about->set->whole : NULL))
    return;
  for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
    pcal_batch plain = laws_batch(about), weighted = plain;
    double *weights = law_scaled(about, NULL, factors[f]);
    plain.weights = NULL;
    weighted.weights = weights;
    weighted.weights_are = factors[f] == 3.0 ? PCAL_WEIGHTS_IMPORTANCE : PCAL_WEIGHTS_AUTO;
    char *expected = laws_file(about, &plain), *actual = laws_file(about, &weighted);
    laws_strip(expected);
    laws_strip(actual);
    laws_same(expected, actual, about, "equal weights");
    free(weights);
  }
}

TEST(test_equal_weights_are_no_weights) {
  laws_for_all(law_equal_weights);
}

/* Importance weights and their halves: the same file, byte for byte. */
static void law_halves(const laws_case *about) {
  if (about->weights != about->set->whole)
    return;
  double *halves = law_scaled(about, about->weights, 0.5);
  pcal_batch whole = laws_batch(about), half = whole;
  half.weights = halves;
  whole.weights_are = half.weights_are = PCAL_WEIGHTS_IMPORTANCE;
  char *file = laws_file(about, &whole);
  assert_non_null(strstr(file, "\"weights\": \"importance\""));
  laws_same(file, laws_file(about, &half), about, "the unit of importance weights");
  free(halves);
}

TEST(test_halves_of_importance_weights_agree) {
  laws_for_all(law_halves);
}
