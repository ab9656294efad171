/* Laws for every calibrator on many rows: neither threads nor windows matter. */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrator_law.h"
#include "calibrator_specs.h"
#include "file_inputs.h"

/* Enough rows that threads are really started, and that a sample of them is taken. */
TEST(test_threads_are_invisible) {
  static const unsigned threads[] = {2, 3, 7};
  law_set *large = law_set_large(), *narrow = law_set_narrow();
  for (size_t i = 0; i < calibrator_spec_count(); i++) {
    law_set *set = laws_square(calibrator_spec_at(i)) ? narrow : large;
    laws_case about = {set, calibrator_spec_at(i), NULL, PCAL_ENV_INIT};
    if (!laws_for_many(i))
      continue;
    const pcal_batch batch = laws_batch(&about);
    about.env.threads = 1;
    char *expected = laws_file(&about, &batch);
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
      about.env.threads = threads[t];
      laws_same(strcpy(malloc(strlen(expected) + 1), expected), laws_file(&about, &batch),
                &about, "threads");
    }
    free(expected);
  }
  law_set_free(large);
  law_set_free(narrow);
}

/* The rows of a batch backwards; `labels` has room for theirs. */
static pcal_batch laws_backwards(const pcal_batch *batch, int32_t *labels) {
  pcal_batch turned = *batch;
  for (size_t i = 0; i < batch->rows; i++)
    labels[i] = batch->labels[batch->rows - 1 - i];
  turned.labels = labels;
  turned.scores =
      (const char *)batch->scores + (ptrdiff_t)(batch->rows - 1) * batch->row_stride;
  turned.row_stride = -batch->row_stride;
  return turned;
}

/* The same numbers from a text file, which come in several windows, from one array, and from
 * that array backwards: so many rows that a search starts from a sample of them. */
TEST(test_windows_are_invisible) {
  enum { ROWS = 30000, COLUMNS = 5 };
  double *scores = malloc(ROWS * COLUMNS * sizeof *scores);
  int32_t *labels = malloc(ROWS * sizeof *labels);
  int32_t *turned_labels = malloc(ROWS * sizeof *labels);
  FILE *file = fopen("laws_windows.csv", "w");
  assert_non_null(file);
  fputs("logits.a,logits.b,logits.c,logits.d,logits.e,labels\n", file);
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t j = 0; j < COLUMNS; j++) {
      scores[i * COLUMNS + j] = (double)law_below(1, i * COLUMNS + j, 4001) / 500.0 - 4.0;
      fprintf(file, "%.17g,", scores[i * COLUMNS + j]);
    }
    labels[i] = (int32_t)law_below(2, i, COLUMNS);
    if (i % 3 != 0)
      for (size_t j = 0; j < COLUMNS; j++)
        labels[i] = scores[i * COLUMNS + j] > scores[i * COLUMNS + (size_t)labels[i]]
                        ? (int32_t)j
                        : labels[i];
    fprintf(file, "%d\n", (int)labels[i]);
  }
  assert_int_equal(fclose(file), 0);
  const law_set set = {.name = "many rows",
                       .kind = PCAL_LOGIT,
                       .type = PCAL_F64,
                       .rows = ROWS,
                       .columns = COLUMNS,
                       .scores = scores,
                       .labels = labels};
  for (size_t i = 0; i < calibrator_spec_count(); i++) {
    const laws_case about = {&set, calibrator_spec_at(i), NULL, PCAL_ENV_INIT};
    if (!laws_for_many(i) || !laws_fits(about.spec, &set))
      continue;
    file_inputs inputs = {0};
    pcal_source *source = NULL;
    pcal_calibrator *calibrator = NULL;
    pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
    pcal_batch window = PCAL_BATCH_INIT;
    const pcal_batch batch = laws_batch(&about);
    inputs.data = "laws_windows.csv";
    config.method = calibrator_spec_at(i);
    assert_int_equal(file_inputs_open(&inputs, NULL, &source, NULL), PCAL_OK);
    assert_int_equal(pcal_source_next(source, ROWS, &window, NULL), PCAL_OK);
    assert_true(window.rows < ROWS);
    assert_int_equal(pcal_fit_run(source, &config, NULL, &calibrator, NULL), PCAL_OK);
    char *expected = laws_file(&about, &batch), *actual = laws_save(calibrator);
    laws_same(strcpy(malloc(strlen(expected) + 1), strstr(expected, "\"parameters\"")),
              strcpy(malloc(strlen(actual) + 1), strstr(actual, "\"parameters\"")), &about,
              "windows");
    const pcal_batch turned = laws_backwards(&batch, turned_labels);
    laws_same(expected, laws_file(&about, &turned), &about, "the order of many rows");
    free(actual);
    pcal_calibrator_free(calibrator);
    pcal_source_free(source);
  }
  remove("laws_windows.csv");
  free(scores);
  free(labels);
  free(turned_labels);
}
