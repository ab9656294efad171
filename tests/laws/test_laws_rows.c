/* Laws of every row of the metric registry: how rows lie in memory does not matter, and a row
 * that is wrong is refused and leaves no trace. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emulated.h"
#include "law_measure.h"

#define LAWS_SHIFT 1000000

/* ---- the same rows, laid out differently ---- */

static char *laws_json_of_batch(const law_case *about, const pcal_batch *batch) {
  pcal_measure *measure = law_new(about);
  law_update(measure, batch);
  char *json = law_json(measure);
  pcal_measure_free(measure);
  return json;
}

static void laws_promote(const law_case *about) {
  double *scores = law_scores_as_doubles(about->set);
  pcal_batch batch = law_batch(about, 0, about->set->rows);
  batch.type = PCAL_F64;
  batch.scores = scores;
  batch.row_stride = (ptrdiff_t)(about->set->columns * sizeof *scores);
  batch.column_stride = (ptrdiff_t)sizeof *scores;
  law_compare(law_json_of(about), laws_json_of_batch(about, &batch), about,
              "scores promoted to double");
  free(scores);
}

TEST(test_float32_equals_its_double) {
  law_for_all(0, laws_promote);
}

/* A copy of the scores at other distances; negative ones count from the end of the block. */
static void laws_lay_out(const law_case *about, ptrdiff_t row, ptrdiff_t column) {
  const law_set *set = about->set;
  const size_t size = law_score_size(set);
  const size_t block = (size_t)llabs(row) * set->rows + (size_t)llabs(column) * set->columns;
  char *bytes = malloc(block + size);
  char *start = bytes + (row < 0 ? (size_t)-row * (set->rows - 1) : 0) +
                (column < 0 ? (size_t)-column * (set->columns - 1) : 0);
  memset(bytes, 0xff, block + size); /* NaN wherever nothing belongs */
  for (size_t i = 0; i < set->rows; i++)
    for (size_t j = 0; j < set->columns; j++)
      memcpy(start + (ptrdiff_t)i * row + (ptrdiff_t)j * column,
             (const char *)set->scores + (i * set->columns + j) * size, size);
  pcal_batch batch = law_batch(about, 0, set->rows);
  batch.scores = start;
  batch.row_stride = row;
  batch.column_stride = column;
  law_compare(law_json_of(about), laws_json_of_batch(about, &batch), about, "other strides");
  free(bytes);
}

static void laws_strides(const law_case *about) {
  const ptrdiff_t size = (ptrdiff_t)law_score_size(about->set);
  const ptrdiff_t rows = (ptrdiff_t)about->set->rows, columns = (ptrdiff_t)about->set->columns;
  laws_lay_out(about, size, size * rows);              /* column after column */
  laws_lay_out(about, size * (columns + 3), size);     /* gaps between rows */
  laws_lay_out(about, 2 * size * columns, 2 * size);   /* every second number */
  laws_lay_out(about, -size * columns, size);          /* from the last row to the first */
  laws_lay_out(about, size * columns, -size);          /* from the last column to the first */
  laws_lay_out(about, columns * (size + 1), size + 1); /* not aligned */
}

TEST(test_strides_are_invisible) {
  law_for_all(0, laws_strides);
}

static void laws_first_row(const law_case *about) {
  pcal_batch batch = law_batch(about, 0, about->set->rows);
  batch.first_row = LAWS_SHIFT;
  char *base = law_json_of(about), *shifted = laws_json_of_batch(about, &batch);
  const uint64_t row = law_mask_rows(base), later = law_mask_rows(shifted);
  if (row == PCAL_NO_ROW)
    assert_true(later == PCAL_NO_ROW);
  else
    assert_int_equal(later, row + LAWS_SHIFT);
  law_compare(base, shifted, about, "another index of the first row");
}

TEST(test_first_row_only_shifts_row_numbers) {
  law_for_all_but(0, PC_BY_INDEX, laws_first_row);
}

/* ---- rows that are refused ---- */

typedef struct laws_fault {
  const char *what;
  int in_score, in_weight; /* else in the label */
  double value;
} laws_fault;

static const laws_fault laws_faults[] = {
    {"a NaN score", 1, 0, (double)NAN},
    {"an infinite score", 1, 0, (double)INFINITY},
    {"a negative weight", 0, 1, -1},
    {"a missing weight", 0, 1, (double)NAN},
    {"a missing label", 0, 0, PCAL_MISSING_LABEL},
    {"a label out of range", 0, 0, 100000},
};

/* The second half of the rows with one fault, all in a group that no good row is in. */
static void laws_offer_fault(pcal_measure *measure, const law_case *about,
                             const laws_fault *fault, uint64_t draw) {
  const law_set *set = about->set;
  const size_t first = set->rows / 2, count = set->rows - first;
  const size_t at = law_below(77, draw, count);
  double *scores = law_scores_as_doubles(set), *weights = calloc(count, sizeof *weights);
  double *targets = calloc(count, sizeof *targets);
  int32_t *labels = calloc(count, sizeof *labels);
  uint32_t *groups = calloc(count, sizeof *groups);
  pcal_batch batch = law_batch(about, first, count);
  pcal_error err;
  memcpy(labels, batch.labels, count * sizeof *labels);
  memcpy(targets, batch.targets, count * sizeof *targets);
  for (size_t i = 0; i < count; i++) {
    weights[i] = batch.weights == NULL ? 1.0 : batch.weights[i];
    groups[i] = LAW_GROUPS + 5;
  }
  if (fault->in_score)
    scores[(first + at) * set->columns + law_below(78, draw, set->columns)] = fault->value;
  else if (fault->in_weight)
    weights[at] = fault->value;
  else {
    labels[at] = (int32_t)fault->value;
    targets[at] = fault->value < 0 ? (double)NAN : (double)INFINITY;
  }
  batch.type = PCAL_F64;
  batch.scores = scores + first * set->columns;
  batch.row_stride = (ptrdiff_t)(set->columns * sizeof *scores);
  batch.column_stride = (ptrdiff_t)sizeof *scores;
  batch.labels = labels;
  batch.targets = targets;
  batch.weights = fault->in_weight || batch.weights != NULL ? weights : NULL;
  batch.groups = about->groups == NULL ? NULL : groups;
  const pcal_status status = pcal_measure_update(measure, &batch, &err);
  if (status != PCAL_DATA || err.row != first + at)
    fail_msg("%s in row %zu of %s: status %d, row %llu, %s", fault->what, first + at, set->name,
             (int)status, (unsigned long long)err.row, status == PCAL_OK ? "" : err.message);
  free(scores);
  free(weights);
  free(labels);
  free(targets);
  free(groups);
}

static void laws_refuse(const law_case *about) {
  const size_t half = about->set->rows / 2;
  const size_t faults = sizeof laws_faults / sizeof *laws_faults;
  pcal_measure *measure = law_new(about);
  law_feed(measure, about, 0, half);
  for (size_t f = 0; f < faults; f += emulated() ? 2 : 1) {
    char *before = law_json(measure);
    laws_offer_fault(measure, about, &laws_faults[f], f);
    law_compare(before, law_json(measure), about, laws_faults[f].what);
  }
  law_feed(measure, about, half, about->set->rows - half);
  law_compare(law_json_of(about), law_json(measure), about, "going on after refused rows");
  pcal_measure_free(measure);
}

TEST(test_a_wrong_row_is_refused_and_leaves_no_trace) {
  law_for_all(0, laws_refuse);
}

/* The same while several threads are at work. */
TEST(test_a_wrong_row_is_refused_by_threads) {
  law_set *set = law_set_large();
  law_specs specs;
  law_specs_make(set, 0, PC_WHOLE_WEIGHTS, &specs);
  law_case about = law_case_make(set, &specs);
  about.env.threads = 3;
  about.groups = set->groups;
  laws_refuse(&about);
  law_specs_free(&specs);
  law_set_free(set);
}
