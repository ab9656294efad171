#include "fuzz_models.h"

#include "base/checksum.h"
#include "fuzz_text.h"
#include "io/source.h"
#include "measure/saved_state.h"
#include "propercal.h"

enum { MODELS_SPECS = 3, MODELS_SPEC_MAX = 256 };

/* ---- specs ---- */

static void models_word(const char *words, fuzz_choice *choice, fuzz_out *out) {
  size_t count = 1;
  for (const char *at = words; *at != '\0'; at++)
    count += *at == '|';
  for (size_t skip = fuzz_below(choice, count); skip > 0; skip--)
    words = strchr(words, '|') + 1;
  fuzz_put(out, words, strcspn(words, "|"));
}

/* A value inside the bounds of an option; small, so that nothing takes long. */
static void models_value(const pcal_option *option, fuzz_choice *choice, fuzz_out *out) {
  const double high = option->high < option->low + 20.0 ? option->high : option->low + 20.0;
  const double value = option->low + fuzz_unit(choice) * (high - option->low);
  if (option->choices != NULL && (option->type == PCAL_OPTION_CHOICE || fuzz_chance(choice, 3)))
    models_word(option->choices, choice, out);
  else if (option->type == PCAL_OPTION_BOOL)
    fuzz_putf(out, "%s", fuzz_chance(choice, 2) ? "yes" : "no");
  else if (option->type == PCAL_OPTION_INT)
    fuzz_putf(out, "%ld", (long)value);
  else if (option->type == PCAL_OPTION_REALS)
    fuzz_putf(out, "%.6g/%.6g", value, high);
  else
    fuzz_putf(out, "%.6g", value);
}

static void models_spec_of(const pcal_registry_row *row, fuzz_choice *choice, fuzz_out *out) {
  char before = ':';
  fuzz_putf(out, "%s", row->name);
  for (size_t o = 0; o < row->option_count; o++) {
    if (!fuzz_chance(choice, 4))
      continue;
    fuzz_putf(out, "%c%s=", before, row->options[o].name);
    models_value(&row->options[o], choice, out);
    before = ',';
  }
}

/* Rarely one for predictions of a number, which the data here are not. */
void fuzz_write_spec(pcal_registry kind, fuzz_choice *choice, fuzz_out *out) {
  const pcal_registry_row *row = NULL;
  for (int tries = 0; tries < 4 && (row == NULL || row->task == PCAL_REGRESSION); tries++)
    row = pcal_registry_at(kind, fuzz_below(choice, pcal_registry_count(kind)));
  models_spec_of(row, choice, out);
}

void fuzz_change_spec(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  fuzz_text_replace(choice, ":,=/", data, size, out);
}

/* ---- data ---- */

typedef struct models_rows {
  double *scores, *weights;
  int32_t *labels;
  uint32_t *groups;
  pcal_batch batch;
} models_rows;

static int models_rows_new(const fuzz_table *table, models_rows *out) {
  static const pcal_kind kinds[FUZZ_KINDS] = {PCAL_PROBABILITY, PCAL_LOGIT,
                                              PCAL_LOG_PROBABILITY, PCAL_CONFIDENCE};
  const pcal_batch empty = PCAL_BATCH_INIT;
  const size_t n = table->rows, k = table->columns;
  *out = (models_rows){calloc(n * k, 8), calloc(n, 8), calloc(n, 4), calloc(n, 4), empty};
  if (out->scores == NULL || out->weights == NULL || out->labels == NULL || out->groups == NULL)
    return 0;
  for (size_t row = 0; row < n; row++) {
    for (size_t c = 0; c < k; c++)
      out->scores[row * k + c] = fuzz_table_score(table, row, c);
    out->weights[row] = fuzz_table_weight(table, row);
    out->labels[row] = fuzz_table_label(table, row);
    out->groups[row] = (uint32_t)(row % 3);
  }
  out->batch.kind = kinds[table->kind];
  out->batch.type = PCAL_F64;
  out->batch.rows = n;
  out->batch.columns = k;
  out->batch.scores = out->scores;
  out->batch.labels = out->labels;
  out->batch.weights = table->weighted ? out->weights : NULL;
  out->batch.groups = table->grouped ? out->groups : NULL;
  return 1;
}

static void models_rows_free(models_rows *rows) {
  free(rows->scores);
  free(rows->weights);
  free(rows->labels);
  free(rows->groups);
}

static int models_sink(void *user, const char *bytes, size_t count) {
  fuzz_out *out = user;
  if (count > out->capacity - out->length)
    return 1;
  fuzz_put(out, bytes, count);
  return 0;
}

/* ---- states ---- */

static pcal_measure *models_measure(const fuzz_table *table, fuzz_choice *choice,
                                    const models_rows *rows) {
  char texts[MODELS_SPECS][MODELS_SPEC_MAX];
  const char *specs[MODELS_SPECS];
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  pcal_measure *measure = NULL;
  env.threads = 1;
  config.kind = rows->batch.kind;
  config.columns = table->columns;
  config.specs = specs;
  config.spec_count = fuzz_below(choice, MODELS_SPECS + 1);
  for (size_t i = 0; i < config.spec_count; i++) {
    fuzz_out out = {(uint8_t *)texts[i], 0, MODELS_SPEC_MAX - 1};
    fuzz_write_spec(PCAL_METRICS, choice, &out);
    texts[i][out.length] = '\0';
    specs[i] = texts[i];
  }
  if (pcal_measure_new(&config, &env, &measure, NULL) == PCAL_OK &&
      pcal_measure_update(measure, &rows->batch, NULL) == PCAL_OK)
    return measure;
  pcal_measure_free(measure);
  return NULL;
}

void fuzz_write_state(fuzz_choice *choice, fuzz_out *out) {
  const fuzz_table table = fuzz_table_make(choice);
  models_rows rows;
  for (int tries = 0; tries < 8 && models_rows_new(&table, &rows); tries++) {
    pcal_measure *measure = models_measure(&table, choice, &rows);
    const size_t before = out->length;
    const int saved =
        measure != NULL && pcal_measure_save(measure, models_sink, out, NULL) == PCAL_OK;
    pcal_measure_free(measure);
    models_rows_free(&rows);
    if (saved)
      return;
    out->length = before;
  }
}

/* One number behind the head takes another value, mostly one nearby. */
void fuzz_change_state(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  static const uint64_t odd[] = {0,
                                 1,
                                 2,
                                 0x7FFFFFFF,
                                 UINT64_MAX,
                                 UINT64_C(0x3FF0000000000000),
                                 UINT64_C(0x7FF8000000000000)};
  fuzz_put(out, data, size);
  if (size <= PC_STATE_HEAD_BYTES + PC_CHECKSUM_BYTES + 8)
    return;
  const size_t body = size - PC_STATE_HEAD_BYTES - PC_CHECKSUM_BYTES - 8;
  uint8_t *at = out->bytes + PC_STATE_HEAD_BYTES + fuzz_below(choice, body);
  const uint64_t bits = FUZZ_PICK(choice, odd);
  switch (fuzz_below(choice, 4)) {
  case 0:
    memcpy(at, &bits, 8);
    break;
  case 1:
    memcpy(at, &bits, 4);
    break;
  case 2:
    memmove(at, at + 8, (size_t)(out->bytes + size - at) - 8);
    out->length -= 8;
    break;
  default:
    *at = (uint8_t)(*at + (fuzz_chance(choice, 2) ? 1 : 255));
  }
}

/* ---- calibrators ---- */

void fuzz_write_calibrator(const fuzz_table *table, fuzz_choice *choice, fuzz_out *out) {
  char method[MODELS_SPEC_MAX];
  fuzz_out text = {(uint8_t *)method, 0, sizeof method - 1};
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  models_rows rows;
  env.threads = 1;
  fuzz_write_spec(PCAL_CALIBRATORS, choice, &text);
  method[text.length] = '\0';
  config.method = method;
  if (!models_rows_new(table, &rows)) {
    models_rows_free(&rows);
    return;
  }
  rows.batch.groups = NULL; /* learning by group takes long */
  if (pc_source_borrow(&rows.batch, NULL, &env, &source, NULL) == PCAL_OK &&
      pcal_fit_run(source, &config, &env, &calibrator, NULL) == PCAL_OK &&
      pcal_calibrator_save(calibrator, models_sink, out, NULL) != PCAL_OK)
    out->length = 0;
  pcal_calibrator_free(calibrator);
  pcal_source_free(source);
  models_rows_free(&rows);
}
