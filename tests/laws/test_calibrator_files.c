/* Files of every calibrator with each of their values replaced or removed, one at a time: each file is
 * loaded, described and applied, or refused in one sentence, and nothing is left over. */
#include "../unit/unit.h"

#include "base/error.h"
#include "call_sources.h"

#define FILES_ITEMS 3 /* of a list; later ones repeat earlier ones */

/* The file being changed. */
typedef struct files_sweep {
  const char *text;
  call_data data;
  size_t refused, loaded;
} files_sweep;

/* ---- one file ---- */

static pcal_status files_use(const char *text, size_t length, call_data data, pcal_error *err) {
  unit_memory memory = {0};
  pcal_env env = unit_env(&memory);
  static float out[CALL_ROWS * CALL_CLASSES];
  pcal_calibrator *calibrator = NULL;
  size_t written = 0;
  env.threads = 1;
  pcal_status status = pcal_calibrator_load(text, length, "cal.json", &env, &calibrator, err);
  if (status == PCAL_OK)
    status = pcal_calibrator_describe(calibrator, PCAL_TEXT, sink_count, &written, err);
  if (status == PCAL_OK && data != CALL_QUANTILES) { /* their levels are in the source */
    const pcal_batch batch = call_batch(data);
    if (pcal_calibrator_column_count(calibrator) <= CALL_CLASSES)
      status = pcal_calibrator_apply(calibrator, &batch, &env, out, err);
  }
  pcal_calibrator_free(calibrator);
  assert_int_equal(atomic_load(&memory.live), 0);
  return status;
}

/* The file with bytes [begin, end) replaced. */
static void files_try(files_sweep *sweep, const char *begin, const char *end,
                      const char *instead) {
  pcal_error err = PCAL_ERROR_INIT;
  char *changed = malloc(strlen(sweep->text) + strlen(instead) + 1);
  const int length =
      sprintf(changed, "%.*s%s%s", (int)(begin - sweep->text), sweep->text, instead, end);
  const pcal_status status = files_use(changed, (size_t)length, sweep->data, &err);
  if (status == PCAL_OK) {
    sweep->loaded++;
  } else {
    if ((status != PCAL_DATA && status != PCAL_USAGE) || err.message[0] == '\0')
      fail_msg("status %d for %s: %s", (int)status, changed, err.message);
    sweep->refused++;
  }
  free(changed);
}

/* ---- its values ---- */

static const char *files_skip(const char *at) {
  return at + strspn(at, " \n\t\r,:");
}

static const char *files_value_end(const char *at) {
  size_t depth = 0;
  if (*at == '"') {
    for (at++; *at != '"'; at++)
      at += *at == '\\';
    return at + 1;
  }
  if (*at != '{' && *at != '[')
    return at + strcspn(at, " \n\t\r,]}");
  do {
    if (*at == '"') {
      at = files_value_end(at);
      continue;
    }
    depth += *at == '{' || *at == '[';
    depth -= *at == '}' || *at == ']';
    at++;
  } while (depth > 0);
  return at;
}

static void files_change(files_sweep *sweep, const char *begin) {
  static const char *const values[] = {"null",  "-1", "0",  "2.5", "1e300",
                                       "\"x\"", "[]", "{}", "[1]", "true"};
  const char *end = files_value_end(begin);
  for (size_t i = 0; i < UNIT_COUNT(values); i++)
    files_try(sweep, begin, end, values[i]);
  if (*begin != '{' && *begin != '[')
    return;
  const int object = *begin == '{';
  size_t count = 0;
  for (const char *at = files_skip(begin + 1); at < end - 1; count++) {
    const char *value = object ? files_skip(files_value_end(at)) : at;
    const char *next = files_skip(files_value_end(value));
    if (object || count < FILES_ITEMS) {
      files_change(sweep, value);
      files_try(sweep, at, next, ""); /* a comma may be left: then it is no JSON */
    }
    at = next;
  }
}

/* ---- every calibrator ---- */

/* Returns 1 if the method suits the data. */
static int files_sweep_method(const char *method, call_data data, int by_group) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  sink_bytes file = {0};
  pcal_status status = by_group ? call_named_source(data, NULL, &source, NULL)
                                : call_source(data, NULL, &source, NULL);
  config.method = method;
  config.by_group = by_group;
  if (status == PCAL_OK)
    status = pcal_fit_run(source, &config, NULL, &calibrator, NULL);
  if (status == PCAL_OK) {
    assert_int_equal(pcal_calibrator_save(calibrator, sink_collect, &file, NULL), PCAL_OK);
    files_sweep sweep = {file.bytes, data, 0, 0};
    files_try(&sweep, file.bytes, file.bytes, "");
    assert_int_equal(sweep.loaded, 1);
    files_change(&sweep, file.bytes);
    assert_true(sweep.refused > 20);
  }
  free(file.bytes);
  pcal_calibrator_free(calibrator);
  pcal_source_free(source);
  return status == PCAL_OK;
}

TEST(every_calibrator) {
  for (size_t i = 0; i < pcal_registry_count(PCAL_CALIBRATORS); i++) {
    const pcal_registry_row *row = pcal_registry_at(PCAL_CALIBRATORS, i);
    int swept = 0;
    for (call_data data = CALL_LOGITS; data < CALL_DATA_COUNT; data++)
      swept |= files_sweep_method(row->name, data, 0);
    if (!swept && strcmp(row->name, "prior-shift") != 0)
      fail_msg("%s suits no data", row->name);
  }
}

TEST(calibrators_of_groups) {
  assert_true(files_sweep_method("temperature", CALL_LOGITS, 1));
  assert_true(files_sweep_method("isotonic", CALL_CONFIDENCES, 1));
}
