/* The state of a watch, whole or with a number of it changed, or any bytes: as they are, and under a
 * head and a checksum that fit, so that what lies inside is reached.  What is taken is printed,
 * saved, loaded again and given more rows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../sinks.h"
#include "base/checksum.h"
#include "base/envelope.h"
#include "fuzz_count.h"
#include "fuzz_models.h"
#include "watch/watch.h"

enum { FUZZ_WATCH_ROWS = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static pcal_env fuzz_watch_env(void) {
  pcal_env env = PCAL_ENV_INIT;
  env.threads = 1;
  env.memory_limit = (uint64_t)64 << 20;
  return env;
}

/* Adds rows with scores drawn by `choice`. */
static void fuzz_watch_add(pcal_watch *watch, fuzz_choice *choice, size_t rows) {
  double scores[FUZZ_WATCH_ROWS];
  int32_t labels[FUZZ_WATCH_ROWS];
  const pcal_env env = fuzz_watch_env();
  pcal_source *source = NULL;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_error err;
  for (size_t i = 0; i < rows; i++) {
    scores[i] = fuzz_unit(choice);
    labels[i] = fuzz_chance(choice, 2);
  }
  const pcal_input probs = {.size = sizeof(pcal_input),
                            .name = "probs",
                            .data = scores,
                            .type = PCAL_F64,
                            .rows = rows};
  const pcal_input truth = {.size = sizeof(pcal_input),
                            .name = "labels",
                            .data = labels,
                            .type = PCAL_I32,
                            .rows = rows};
  inputs.probs = &probs;
  inputs.labels = &truth;
  if (pcal_source_open(&inputs, &env, &source, &err) == PCAL_OK)
    (void)pcal_watch_update(watch, source, 0, &err);
  pcal_source_free(source);
}

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  const pcal_env env = fuzz_watch_env();
  pcal_watch *watch = NULL;
  sink_bytes saved = {0};
  pcal_error err;
  if (pcal_watch_new(fuzz_chance(choice, 2) ? 0.05 : 1e-6, &env, &watch, &err) != PCAL_OK)
    abort();
  for (size_t parts = fuzz_below(choice, 3); parts > 0; parts--)
    fuzz_watch_add(watch, choice, 1 + fuzz_below(choice, FUZZ_WATCH_ROWS));
  if (pcal_watch_save(watch, sink_collect, &saved, &err) != PCAL_OK)
    abort();
  fuzz_put(out, saved.bytes, saved.length);
  free(saved.bytes);
  pcal_watch_free(watch);
}

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  fuzz_change_state(choice, data, size, out);
}

#include "fuzz_mutate.h"

static pcal_watch *fuzz_watch_load(const void *bytes, size_t length) {
  const pcal_env env = fuzz_watch_env();
  pcal_watch *watch = NULL;
  pcal_error err;
  return pcal_watch_load(bytes, length, "fuzz", &env, &watch, &err) == PCAL_OK ? watch : NULL;
}

/* What a loaded watch writes must be readable, and give itself again. */
static void fuzz_watch_round(const pcal_watch *watch) {
  sink_bytes saved = {0}, again = {0};
  pcal_error err;
  if (pcal_watch_save(watch, sink_collect, &saved, &err) != PCAL_OK)
    abort();
  pcal_watch *loaded = fuzz_watch_load(saved.bytes, saved.length);
  if (loaded == NULL || pcal_watch_save(loaded, sink_collect, &again, &err) != PCAL_OK ||
      again.length != saved.length || memcmp(again.bytes, saved.bytes, saved.length) != 0)
    abort();
  pcal_watch_free(loaded);
  free(saved.bytes);
  free(again.bytes);
}

static int fuzz_watch_use(const unsigned char *bytes, size_t length) {
  pcal_watch *watch = fuzz_watch_load(bytes, length);
  fuzz_choice choice = fuzz_choice_of_seed(length);
  pcal_watch_report report = PCAL_WATCH_REPORT_INIT;
  pcal_error err;
  if (watch == NULL)
    return 0;
  for (int more = 0; more < 2; more++) {
    (void)pcal_watch_get(watch, &report, &err);
    (void)pcal_watch_write(watch, PCAL_TEXT, sink_count, NULL, &err);
    (void)pcal_watch_write(watch, PCAL_JSON, sink_count, NULL, &err);
    fuzz_watch_round(watch);
    fuzz_watch_add(watch, &choice, FUZZ_WATCH_ROWS);
  }
  pcal_watch_free(watch);
  return 1;
}

static void fuzz_watch_number(unsigned char *at, uint64_t number, size_t bytes) {
  for (size_t b = 0; b < bytes; b++)
    at[b] = (unsigned char)(number >> (8 * b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int valid = fuzz_watch_use(data, size);
  if (size >= PC_ENVELOPE_HEAD_BYTES + PC_CHECKSUM_BYTES) {
    unsigned char *sealed = malloc(size);
    pc_checksum checksum;
    memcpy(sealed, data, size);
    memcpy(sealed, "PCALWTCH", PC_ENVELOPE_MAGIC_BYTES);
    fuzz_watch_number(sealed + 8, 1, 4);
    fuzz_watch_number(sealed + 12, size, 8);
    pc_checksum_start(&checksum);
    pc_checksum_add(&checksum, sealed, size - PC_CHECKSUM_BYTES);
    fuzz_watch_number(sealed + size - PC_CHECKSUM_BYTES, pc_checksum_value(&checksum),
                      PC_CHECKSUM_BYTES);
    valid |= fuzz_watch_use(sealed, size);
    free(sealed);
  }
  fuzz_count(valid);
  return 0;
}
