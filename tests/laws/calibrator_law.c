#include "sinks.h"
#include "testing.h"

#include "calibrator_law.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrator_specs.h"
#include "emulated.h"
#include "io/source.h"

pcal_batch laws_batch(const laws_case *about) {
  const law_set *set = about->set;
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = set->kind;
  batch.type = set->type;
  batch.rows = set->rows;
  batch.columns = set->columns;
  batch.scores = set->scores;
  batch.row_stride = (ptrdiff_t)(set->columns * law_score_size(set));
  batch.column_stride = (ptrdiff_t)law_score_size(set);
  batch.labels = set->labels;
  batch.weights = about->weights;
  return batch;
}

pcal_status laws_try(const laws_case *about, const pcal_batch *batch, int skip_missing,
                     pcal_calibrator **out, pcal_error *err) {
  pcal_source *source = NULL;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  config.method = about->spec;
  config.skip_missing = skip_missing;
  pcal_status status = pc_source_borrow(batch, NULL, &about->env, &source, err);
  if (status == PCAL_OK)
    status = pcal_fit_run(source, &config, &about->env, out, err);
  pcal_source_free(source);
  return status;
}

pcal_calibrator *laws_fit(const laws_case *about, const pcal_batch *batch) {
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  if (laws_try(about, batch, 0, &calibrator, &err) != PCAL_OK)
    fail_msg("%s on %s: %s", about->spec, about->set->name, err.message);
  return calibrator;
}

char *laws_save(const pcal_calibrator *calibrator) {
  sink_bytes text = {0};
  assert_int_equal(pcal_calibrator_save(calibrator, sink_collect, &text, NULL), PCAL_OK);
  return text.bytes;
}

char *laws_file(const laws_case *about, const pcal_batch *batch) {
  pcal_calibrator *calibrator = laws_fit(about, batch);
  char *text = laws_save(calibrator);
  pcal_calibrator_free(calibrator);
  return text;
}

void laws_same(char *expected, char *actual, const laws_case *about, const char *what) {
  if (strcmp(expected, actual) != 0)
    fail_msg("%s on %s shows %s:\n%s\n%s", about->spec, about->set->name, what, expected,
             actual);
  free(expected);
  free(actual);
}

void laws_strip(char *text) {
  char *end = strstr(text, "\"rows\": ");
  assert_non_null(end);
  *end = '\0';
}

double *laws_apply(const pcal_calibrator *calibrator, const laws_case *about) {
  const size_t cells = about->set->rows * pcal_calibrator_column_count(calibrator);
  pcal_batch batch = laws_batch(about);
  double *scores = law_scores_as_doubles(about->set), *out = malloc(cells * sizeof *out);
  pcal_error err;
  batch.type = PCAL_F64;
  batch.scores = scores;
  batch.row_stride = (ptrdiff_t)(about->set->columns * sizeof(double));
  batch.column_stride = sizeof(double);
  if (pcal_calibrator_apply(calibrator, &batch, NULL, out, &err) != PCAL_OK)
    fail_msg("%s on %s: %s", about->spec, about->set->name, err.message);
  free(scores);
  return out;
}

int laws_slow(const char *spec) {
  const pc_calibrator_method *row = NULL;
  pc_options options;
  assert_int_equal(pc_calibrator_parse(spec, &row, &options, NULL), PCAL_OK);
  for (size_t i = 0; i < options.count; i++)
    if (strcmp(options.table[i].fallback, "auto") == 0 && options.value[i].choice == 0)
      return 1;
  return 0;
}

int laws_for_many(size_t i) {
  const char *spec = calibrator_spec_at(i), *other = i == 0 ? "" : calibrator_spec_at(i - 1);
  const size_t length = strcspn(spec, ":");
  const int first = strcspn(other, ":") != length || strncmp(spec, other, length) != 0;
  const pc_calibrator_method *row = NULL;
  pc_options options;
  assert_int_equal(pc_calibrator_parse(spec, &row, &options, NULL), PCAL_OK);
  return !laws_slow(spec) &&
         (first || (row->objective == NULL && strncmp(spec, "ets", 3) != 0));
}

int laws_square(const char *spec) {
  const pc_calibrator_method *row = NULL;
  pc_options options;
  assert_int_equal(pc_calibrator_parse(spec, &row, &options, NULL), PCAL_OK);
  return (row->traits & PC_SQUARE) != 0;
}

int laws_fits(const char *spec, const law_set *set) {
  const laws_case about = {set, spec, NULL, PCAL_ENV_INIT};
  const pcal_batch batch = laws_batch(&about);
  const pc_calibrator_method *row = NULL;
  pc_options options;
  pcal_calibrator *calibrator = NULL;
  assert_int_equal(pc_calibrator_parse(spec, &row, &options, NULL), PCAL_OK);
  if (laws_slow(spec) && set->columns != 3)
    return 0;
  const int takes = set->kind != PCAL_CONFIDENCE || (row->traits & PC_TAKES_CONFIDENCE) != 0;
  const pcal_status status = laws_try(&about, &batch, 0, &calibrator, NULL);
  pcal_calibrator_free(calibrator);
  if (!takes)
    assert_int_equal(status, PCAL_USAGE);
  return status != PCAL_USAGE;
}

/* An emulator tries a spec on one data set for each law, on the next one for the next law. */
static int laws_tried(size_t spec, size_t set, size_t law) {
  return !emulated() || (spec + law) % law_class_set_count() == set;
}

void laws_for_all(laws_body body) {
  static size_t laws;
  const pcal_env none = PCAL_ENV_INIT;
  laws++;
  for (size_t s = 0; s < law_class_set_count(); s++) {
    law_set *set = law_set_make(s);
    const double *const weights[] = {NULL, set->whole, set->fractional};
    for (size_t i = 0; i < calibrator_spec_count(); i++) {
      const int fits = laws_tried(i, s, laws) && laws_fits(calibrator_spec_at(i), set);
      const int one = fits && (emulated() || laws_slow(calibrator_spec_at(i)));
      for (size_t w = one ? 1 : 0; fits && w < (one ? 2 : 3); w++) {
        const laws_case about = {set, calibrator_spec_at(i), weights[w], none};
        body(&about);
      }
    }
    law_set_free(set);
  }
}
