/* Laws of every row of the metric registry: weights are frequencies. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "law_measure.h"

#define LAWS_COPIES_MAX 8

/* Each row written out as often as its weight says, under its own index. */
static void laws_feed_copies(pcal_measure *measure, const law_case *about) {
  law_case unweighted = *about;
  unweighted.weights = NULL;
  for (size_t i = 0; i < about->set->rows; i++) {
    int32_t labels[LAWS_COPIES_MAX];
    double targets[LAWS_COPIES_MAX];
    uint32_t groups[LAWS_COPIES_MAX];
    pcal_batch copies = law_batch(&unweighted, i, 1);
    const size_t row = (size_t)copies.row_stride;
    char *scores = malloc(LAWS_COPIES_MAX * row);
    copies.rows = (size_t)about->weights[i];
    assert_true(copies.rows < LAWS_COPIES_MAX);
    for (size_t c = 0; c < copies.rows; c++) {
      memcpy(scores + c * row, copies.scores, row);
      labels[c] = about->set->labels[i];
      targets[c] = about->set->targets[i];
      groups[c] = about->set->groups[i];
    }
    copies.scores = scores;
    copies.labels = labels;
    copies.targets = targets;
    copies.groups = about->groups == NULL ? NULL : groups;
    law_update(measure, &copies);
    free(scores);
  }
}

static char *laws_copy(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  strcpy(copy, text);
  return copy;
}

/* Compares what was found, without how many rows it was written in. */
static void laws_compare_results(char *expected, char *actual, const law_case *about,
                                 const char *what) {
  law_compare(laws_copy(law_results_part(expected)), laws_copy(law_results_part(actual)), about,
              what);
  free(expected);
  free(actual);
}

static void laws_repeat(const law_case *about) {
  if (about->weights != about->set->whole)
    return;
  pcal_measure *measure = law_new(about);
  laws_feed_copies(measure, about);
  laws_compare_results(law_json_of(about), law_json(measure), about,
                       "rows written out as often as their weight");
  pcal_measure_free(measure);
}

TEST(test_whole_weight_equals_repeated_row) {
  law_for_all(PC_FREQUENCY_WEIGHTS, laws_repeat);
}

TEST(test_whole_weight_equals_repeated_row_in_intervals) {
  law_for_all_sure(PC_FREQUENCY_WEIGHTS, laws_repeat);
}

static void laws_ones(const law_case *about) {
  if (about->weights != NULL)
    return;
  law_case weighted = *about;
  double *ones = calloc(about->set->rows, sizeof *ones);
  for (size_t i = 0; i < about->set->rows; i++)
    ones[i] = 1.0;
  weighted.weights = ones;
  laws_compare_results(law_json_of(about), law_json_of(&weighted), about, "weights of one");
  free(ones);
}

TEST(test_weights_of_one_equal_no_weights) {
  law_for_all(PC_FREQUENCY_WEIGHTS, laws_ones);
}

/* Batches with and without weights in one measure. */
static void laws_weights_come_late(const law_case *about) {
  if (about->weights != about->set->whole)
    return;
  const size_t half = about->set->rows / 2;
  law_case late = *about, first = *about;
  double *weights = calloc(about->set->rows, sizeof *weights);
  for (size_t i = 0; i < about->set->rows; i++)
    weights[i] = i < half ? 1.0 : about->weights[i];
  late.weights = weights;
  first.weights = NULL;
  pcal_measure *measure = law_new(about);
  law_feed(measure, &first, 0, half);
  law_feed(measure, &late, half, about->set->rows - half);
  law_compare(law_json_of(&late), law_json(measure), about, "weights in the second batch only");
  pcal_measure_free(measure);
  free(weights);
}

TEST(test_weights_may_come_late) {
  law_for_all(PC_FREQUENCY_WEIGHTS, laws_weights_come_late);
}

static void laws_leave_out(const law_case *about) {
  if (about->weights == NULL)
    return;
  size_t *rows = calloc(about->set->rows, sizeof *rows), count = 0;
  for (size_t i = 0; i < about->set->rows; i++)
    if (about->weights[i] > 0)
      rows[count++] = i;
  assert_true(count < about->set->rows);
  pcal_measure *measure = law_new(about);
  law_feed_rows(measure, about, rows, count);
  law_compare(law_json_of(about), law_json(measure), about, "rows of weight 0 left out");
  pcal_measure_free(measure);
  free(rows);
}

TEST(test_weight_zero_equals_the_row_left_out) {
  law_for_all(0, laws_leave_out);
}

/* ---- weights that are not whole ---- */

static void laws_offer_fraction(const law_set *set, const law_specs *specs, size_t i) {
  const law_specs one = {.list = specs->list + i, .count = 1};
  const int refuses = (specs->config[i].traits & PC_WHOLE_WEIGHTS) != 0;
  law_case about = law_case_make(set, &one);
  pcal_measure *measure = law_new(&about);
  pcal_error err;
  law_feed(measure, &about, 0, set->rows);
  char *before = law_json(measure);
  about.weights = set->fractional;
  const pcal_batch batch = law_batch(&about, 0, set->rows);
  const pcal_status status = pcal_measure_update(measure, &batch, &err);
  if (status != (refuses ? PCAL_DATA : PCAL_OK))
    fail_msg("%s on %s with fractional weights: %s", one.list[0], set->name,
             status == PCAL_OK ? "accepted" : err.message);
  if (refuses) {
    assert_int_equal(err.row, 0);
    assert_non_null(strstr(err.message, specs->metric[i]->row.name));
    law_compare(before, law_json(measure), &about, "a refused weight");
  } else {
    free(before);
  }
  pcal_measure_free(measure);
}

TEST(test_fractional_weight_is_refused_or_taken) {
  for (size_t s = 0; s < law_set_count(); s++) {
    law_set *set = law_set_make(s);
    law_specs specs;
    law_specs_make(set, 0, PC_NO_WEIGHTS, &specs);
    for (size_t i = 0; i < specs.count; i++)
      laws_offer_fraction(set, &specs, i);
    law_specs_free(&specs);
    law_set_free(set);
  }
}

/* Some specs refuse weights, even weights of one. */
TEST(test_weights_are_refused_where_they_have_no_meaning) {
  law_set *set = law_set_make(0);
  law_specs specs;
  law_specs_make(set, PC_NO_WEIGHTS, 0, &specs);
  assert_true(specs.count > 0);
  for (size_t i = 0; i < specs.count; i++) {
    const law_specs one = {.list = specs.list + i, .count = 1};
    law_case about = law_case_make(set, &one);
    pcal_measure *measure = law_new(&about);
    pcal_error err;
    law_feed(measure, &about, 0, set->rows / 2);
    char *before = law_json(measure);
    about.weights = set->whole;
    const pcal_batch batch = law_batch(&about, set->rows / 2, set->rows / 2);
    assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_USAGE);
    assert_non_null(strstr(err.message, "leave the weights out"));
    law_compare(before, law_json(measure), &about, "refused weights");
    pcal_measure_free(measure);
  }
  law_specs_free(&specs);
  law_set_free(set);
}
