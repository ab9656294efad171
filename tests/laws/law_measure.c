#include "testing.h"

#include "law_measure.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "emulated.h"

#define LAW_REPLICAS 20 /* the fewest */

law_case law_case_make(const law_set *set, const law_specs *specs) {
  law_case about = {.set = set, .specs = specs};
  const pcal_env plain = PCAL_ENV_INIT;
  about.env = plain;
  about.env.threads = 1;
  return about;
}

static void law_expect_ok(pcal_status status, const pcal_error *err, const char *doing,
                          const char *set) {
  if (status != PCAL_OK)
    fail_msg("%s on %s: %s", doing, set, err->message);
}

pcal_measure *law_new(const law_case *about) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_error err;
  config.kind = about->set->kind;
  config.columns = about->set->columns;
  config.levels = about->set->levels;
  config.specs = about->specs->list;
  config.spec_count = about->specs->count;
  config.interval = about->sure ? 0.95 : 0.0;
  config.null = about->sure;
  config.replicas = LAW_REPLICAS;
  const pcal_status status = pcal_measure_new(&config, &about->env, &measure, &err);
  law_expect_ok(status, &err, "pcal_measure_new", about->set->name);
  return measure;
}

pcal_batch law_batch(const law_case *about, size_t first, size_t count) {
  const law_set *set = about->set;
  const size_t row = set->columns * law_score_size(set);
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = set->kind;
  batch.type = set->type;
  batch.rows = count;
  batch.columns = set->columns;
  batch.scores = (const char *)set->scores + first * row;
  batch.row_stride = (ptrdiff_t)row;
  batch.column_stride = (ptrdiff_t)law_score_size(set);
  batch.labels = set->labels + first;
  batch.targets = set->targets + first;
  batch.dimensions = set->kind == PCAL_SAMPLE_VECTORS ? 1 : 0;
  batch.weights = about->weights == NULL ? NULL : about->weights + first;
  batch.groups = about->groups == NULL ? NULL : about->groups + first;
  batch.first_row = first;
  return batch;
}

void law_update(pcal_measure *measure, const pcal_batch *batch) {
  pcal_error err;
  law_expect_ok(pcal_measure_update(measure, batch, &err), &err, "pcal_measure_update",
                pcal_kind_name(batch->kind));
}

void law_feed(pcal_measure *measure, const law_case *about, size_t first, size_t count) {
  const pcal_batch batch = law_batch(about, first, count);
  law_update(measure, &batch);
}

void law_feed_rows(pcal_measure *measure, const law_case *about, const size_t *rows,
                   size_t count) {
  for (size_t begin = 0; begin < count;) {
    size_t end = begin + 1;
    while (end < count && rows[end] == rows[end - 1] + 1)
      end++;
    law_feed(measure, about, rows[begin], end - begin);
    begin = end;
  }
}

pcal_results *law_finish(const pcal_measure *measure) {
  pcal_results *results = NULL;
  pcal_error err;
  law_expect_ok(pcal_measure_finish(measure, &results, &err), &err, "pcal_measure_finish",
                "its data");
  return results;
}

static int law_sink(void *user, const char *bytes, size_t count) {
  pc_text_add_bytes(user, bytes, count);
  return 0;
}

char *law_json(const pcal_measure *measure) {
  const pcal_env env = pc_env_resolve(NULL);
  pcal_results *results = law_finish(measure);
  pcal_error err;
  pc_text text;
  pc_text_init(&text, &env);
  law_expect_ok(pcal_results_write(results, PCAL_JSON, law_sink, &text, &err), &err,
                "pcal_results_write", "its data");
  pcal_results_free(results);
  return text.bytes;
}

char *law_json_of(const law_case *about) {
  pcal_measure *measure = law_new(about);
  law_feed(measure, about, 0, about->set->rows);
  char *json = law_json(measure);
  pcal_measure_free(measure);
  return json;
}

const char *law_results_part(const char *json) {
  const char *results = strstr(json, "\"results\"");
  assert_non_null(results);
  return results;
}

static void law_line(const pcal_result *result, pc_text *out) {
  pc_text_format(out, "%s = ", result->spec);
  if (result->defined)
    pc_text_number(out, result->value);
  pc_text_format(out, " %s %s %s",
                 result->notion == PCAL_NOTION_NONE ? "" : pcal_notion_name(result->notion),
                 result->bound == PCAL_BOUND_NONE ? "" : pcal_bound_name(result->bound),
                 result->why == NULL ? "" : result->why);
  for (size_t p = 0; p < result->part_count; p++) {
    pc_text_format(out, " %s = ", result->parts[p].name);
    pc_text_number(out, result->parts[p].value);
  }
  if (result->has_interval || result->has_null) {
    const double known[] = {result->low,         result->high,     result->se,
                            result->null_mean,   result->null_low, result->null_high,
                            result->null_p_value};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
      char digits[PC_NUMBER_MAX]; /* the last ones may depend on which state is shared */
      pc_number_round(known[k], 9, digits);
      pc_text_format(out, " %s", digits);
    }
    pc_text_format(out, " %s", result->unsure == NULL ? "" : result->unsure);
    pc_text_format(out, " %s", result->few_rows == NULL ? "" : result->few_rows);
  }
  pc_text_add(out, "\n");
}

char *law_lines(const pcal_results *results, const char *group) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_text text;
  pc_text_init(&text, &env);
  for (size_t i = 0; i < pcal_results_count(results); i++) {
    pcal_result result = {.size = sizeof result};
    pcal_results_get(results, i, &result);
    if (group == NULL ? result.group == NULL
                      : result.group != NULL && strcmp(result.group, group) == 0)
      law_line(&result, &text);
  }
  assert_non_null(text.bytes);
  return text.bytes;
}

uint64_t law_mask_rows(char *text) {
  uint64_t first = PCAL_NO_ROW;
  for (char *at = strstr(text, "row "); at != NULL; at = strstr(at, "row ")) {
    at += strlen("row ");
    if (!isdigit((unsigned char)*at))
      continue;
    char *end;
    const uint64_t number = strtoull(at, &end, 10);
    first = first == PCAL_NO_ROW ? number : first;
    *at = '#';
    memmove(at + 1, end, strlen(end) + 1);
  }
  return first;
}

void law_compare(char *expected, char *actual, const law_case *about, const char *what) {
  size_t line = 0;
  if (strcmp(expected, actual) != 0) {
    for (size_t at = 0; expected[at] == actual[at]; at++)
      line = expected[at] == '\n' ? at + 1 : line;
    fail_msg("%s, on %s:\n  expected %.*s\n  found    %.*s", what, about->set->name,
             (int)strcspn(expected + line, "\n"), expected + line,
             (int)strcspn(actual + line, "\n"), actual + line);
  }
  free(expected);
  free(actual);
}

typedef struct law_variant {
  int weighted, fractional, grouped;
} law_variant;

static void law_for_set(const law_set *set, unsigned with, unsigned without,
                        const law_variant *variant, int sure, law_body body) {
  law_specs specs;
  without |= variant->fractional ? PC_WHOLE_WEIGHTS : 0;
  without |= variant->weighted ? PC_NO_WEIGHTS : 0;
  law_specs_make(set, with, without, &specs);
  law_case about = law_case_make(set, &specs);
  about.weights = variant->fractional ? set->fractional : variant->weighted ? set->whole : NULL;
  about.groups = variant->grouped ? set->groups : NULL;
  about.sure = sure;
  if (specs.count > 0)
    body(&about);
  law_specs_free(&specs);
}

/* Memory errors show on some variants of each set; the release build tries them all. */
#if defined(__SANITIZE_ADDRESS__)
#define LAW_VARIANTS 2
#else
#define LAW_VARIANTS 5
#endif

static void law_for_each(unsigned with, unsigned without, int sure, law_body body) {
  static const law_variant variants[] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {1, 1, 0}, {1, 1, 1}};
  static size_t laws; /* an emulator tries each on a third of the sets, in turn */
  const size_t tried = emulated() ? 1 : LAW_VARIANTS, every = emulated() ? 3 : 1;
  laws++;
  for (size_t s = laws % every; s < law_set_count(); s += every) {
    law_set *set = law_set_make(s);
    for (size_t v = 0; v < tried; v++)
      law_for_set(set, with, without, &variants[(s + v) % (sizeof variants / sizeof *variants)],
                  sure, body);
    law_set_free(set);
  }
}

void law_for_all_but(unsigned with, unsigned without, law_body body) {
  law_for_each(with, without, 0, body);
}

void law_for_all(unsigned traits, law_body body) {
  law_for_each(traits, 0, 0, body);
}

void law_for_all_sure(unsigned traits, law_body body) {
  law_for_each(traits, 0, 1, body);
}
