#include "call_sources.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/source.h"

static float call_scores[CALL_ROWS * CALL_CLASSES];
static double call_targets[CALL_ROWS], call_weights[CALL_ROWS];
static int32_t call_labels[CALL_ROWS];
static uint32_t call_group_of_row[CALL_ROWS];
static const char *const call_groups[] = {"north", "south"};

const pcal_kind call_kinds[] = {PCAL_LOGIT,    PCAL_PROBABILITY, PCAL_CONFIDENCE,
                                PCAL_MEAN_STD, PCAL_SAMPLES,     PCAL_SAMPLE_VECTORS,
                                PCAL_MEAN_STD};
const size_t call_columns[] = {CALL_CLASSES, 1, 1, 2, CALL_CLASSES, CALL_CLASSES, 2};

/* ---- sources that fail ---- */

#define CALL_BASES 64

int (*call_reading)(void *user);
void *call_reading_user;

static pcal_source *call_bases[CALL_BASES];
static size_t call_base_count;

void call_sources_release(void) {
  while (call_base_count > 0)
    pc_source_free(call_bases[--call_base_count]);
}

static pcal_status call_step(void *user, const pcal_batch *from, pcal_batch *to,
                             pcal_error *err) {
  (void)user;
  (void)from;
  (void)to;
  return call_reading(call_reading_user) ? pc_fail(err, PCAL_IO, "a row could not be read")
                                         : PCAL_OK;
}

/* Replaces a source that was opened by one whose rows come through call_step, if reading may fail. */
static pcal_status call_wrap(pcal_status status, const pcal_env *env, pcal_source **out,
                             pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  if (status != PCAL_OK || call_reading == NULL)
    return status;
  pcal_source *base = *out;
  *out = NULL;
  if (call_base_count == CALL_BASES)
    abort();
  call_bases[call_base_count++] = base;
  pc_source_shape(base, &shape);
  const pc_source_derived derived = {.base = base,
                                     .step = call_step,
                                     .kind = shape.kind,
                                     .type = shape.type,
                                     .columns = shape.columns,
                                     .window = CALL_ROWS / 3};
  return pc_source_derive(&derived, env, out, err);
}

/* ---- rows ---- */

/* The second model errs elsewhere. */
static void call_fill(call_data data, size_t model) {
  for (size_t i = 0; i < CALL_ROWS; i++) {
    for (size_t c = 0; c < CALL_CLASSES; c++)
      call_scores[i * CALL_CLASSES + c] =
          data == CALL_LOGITS ? (float)((i * 7 + c * 5 + model * i) % 11) / 3.0f
                              : (float)(1 + (i * 5 + c * 3 + model * i) % 9) / 10.0f;
    call_labels[i] = (int32_t)((i * i + i / 3) % (data == CALL_LOGITS ? 3 : 2));
    call_targets[i] = (double)(i % 5) / 4.0;
    call_weights[i] = 1.0 + (double)(i % 2);
    call_group_of_row[i] = (uint32_t)(i % 2);
  }
}

pcal_batch call_batch(call_data data) {
  pcal_batch batch = PCAL_BATCH_INIT;
  const int of_number = data >= CALL_NORMALS;
  call_fill(data, 0);
  batch.kind = call_kinds[data];
  batch.rows = CALL_ROWS;
  batch.columns = call_columns[data];
  batch.dimensions = data == CALL_VECTORS ? 1 : 0;
  batch.scores = call_scores;
  batch.labels = of_number ? NULL : call_labels;
  batch.targets = of_number ? call_targets : NULL;
  batch.weights = call_weights;
  batch.groups = call_group_of_row;
  return batch;
}

/* Three quantiles of each row, ascending. */
static pcal_status call_quantiles(const pcal_env *env, pcal_source **out, pcal_error *err) {
  static const double levels[] = {0.05, 0.5, 0.95};
  pcal_input quantiles = PCAL_INPUT_INIT, target = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  call_fill(CALL_QUANTILES, 0);
  for (size_t i = 0; i < CALL_ROWS; i++)
    for (size_t c = 0; c < CALL_CLASSES; c++)
      call_scores[i * CALL_CLASSES + c] = (float)(i % 4) / 8.0f + (float)c / 4.0f;
  quantiles.data = call_scores;
  quantiles.columns = CALL_CLASSES;
  target.data = call_targets;
  target.type = PCAL_F64;
  quantiles.rows = target.rows = CALL_ROWS;
  inputs.quantiles = &quantiles;
  inputs.target = &target;
  inputs.levels = levels;
  inputs.level_count = CALL_CLASSES;
  return call_wrap(pcal_source_open(&inputs, env, out, err), env, out, err);
}

pcal_status call_source(call_data data, const pcal_env *env, pcal_source **out,
                        pcal_error *err) {
  if (data == CALL_QUANTILES)
    return call_quantiles(env, out, err);
  const pcal_batch batch = call_batch(data);
  return call_wrap(pc_source_borrow(&batch, NULL, env, out, err), env, out, err);
}

pcal_status call_plain_source(call_data data, const pcal_env *env, pcal_source **out,
                              pcal_error *err) {
  if (data == CALL_QUANTILES)
    return call_quantiles(env, out, err);
  pcal_batch batch = call_batch(data);
  batch.groups = NULL;
  batch.weights = NULL;
  return call_wrap(pc_source_borrow(&batch, NULL, env, out, err), env, out, err);
}

pcal_status call_named_source(call_data data, const pcal_env *env, pcal_source **out,
                              pcal_error *err) {
  pcal_input scores = PCAL_INPUT_INIT, labels = PCAL_INPUT_INIT, groups = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  if (data >= CALL_NORMALS)
    return pc_fail(err, PCAL_USAGE, "rows with names have classes");
  const pcal_batch batch = call_batch(data);
  scores.data = batch.scores;
  labels.data = batch.labels;
  groups.data = batch.groups;
  labels.type = groups.type = PCAL_I32;
  scores.rows = labels.rows = groups.rows = CALL_ROWS;
  scores.columns = batch.columns == 1 ? 0 : batch.columns;
  groups.meanings = call_groups;
  groups.meaning_count = 2;
  if (batch.kind == PCAL_CONFIDENCE) {
    inputs.confidence = &scores;
    inputs.correct = &labels;
  } else {
    inputs.labels = &labels;
    if (batch.kind == PCAL_LOGIT)
      inputs.logits = &scores;
    else
      inputs.probs = &scores;
  }
  inputs.groups = &groups;
  return call_wrap(pcal_source_open(&inputs, env, out, err), env, out, err);
}

pcal_status call_models(call_data data, const pcal_env *env, pcal_model models[2],
                        pcal_error *err) {
  static float other[CALL_ROWS * CALL_CLASSES];
  models[0] = models[1] = (pcal_model)PCAL_MODEL_INIT;
  models[0].name = "first";
  models[1].name = "second";
  pcal_batch batch = call_batch(data);
  call_fill(data, 1);
  memcpy(other, call_scores, sizeof other);
  call_fill(data, 0);
  batch.groups = NULL;
  for (size_t m = 0; m < 2; m++) {
    PC_TRY(call_wrap(pc_source_borrow(&batch, NULL, env, &models[m].source, err), env,
                     &models[m].source, err));
    batch.scores = other;
  }
  return PCAL_OK;
}

void call_models_free(pcal_model models[2]) {
  for (size_t m = 0; m < 2; m++)
    pcal_source_free(models[m].source);
}

pcal_status call_unless_refused(pcal_status status) {
  return status == PCAL_USAGE || status == PCAL_DATA ? PCAL_OK : status;
}
