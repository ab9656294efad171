/* A saved state, whole or with a number of it changed, or any bytes: as they are, and under a
 * head and a checksum that fit, so that what lies inside is reached.  What is taken is
 * finished, saved, loaded again and merged. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../sinks.h"
#include "base/checksum.h"
#include "fuzz_count.h"
#include "fuzz_models.h"
#include "measure/saved_state.h"

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  fuzz_write_state(choice, out);
}

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  fuzz_change_state(choice, data, size, out);
}

#include "fuzz_mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static pcal_measure *fuzz_state_load(const void *bytes, size_t length) {
  pcal_env env = PCAL_ENV_INIT;
  pcal_measure *measure = NULL;
  pcal_error err;
  env.threads = 1;
  return pcal_measure_load(bytes, length, "fuzz", &env, &measure, &err) == PCAL_OK ? measure
                                                                                   : NULL;
}

static void fuzz_state_finish(const pcal_measure *measure) {
  pcal_results *results = NULL;
  pcal_error err;
  if (pcal_measure_finish(measure, &results, &err) == PCAL_OK)
    for (pcal_format format = PCAL_TEXT; format <= PCAL_LATEX; format++)
      (void)pcal_results_write(results, format, sink_count, NULL, &err);
  pcal_results_free(results);
}

/* What a loaded measure writes must be readable, and give itself again. */
static void fuzz_state_round(const pcal_measure *measure) {
  sink_bytes saved = {0}, again = {0};
  pcal_error err;
  if (pcal_measure_save(measure, sink_collect, &saved, &err) != PCAL_OK)
    abort();
  pcal_measure *loaded = fuzz_state_load(saved.bytes, saved.length);
  if (loaded == NULL || pcal_measure_save(loaded, sink_collect, &again, &err) != PCAL_OK ||
      again.length != saved.length || memcmp(again.bytes, saved.bytes, saved.length) != 0)
    abort();
  pcal_measure_free(loaded);
  free(saved.bytes);
  free(again.bytes);
}

static int fuzz_state_use(const unsigned char *bytes, size_t length) {
  pcal_measure *measure = fuzz_state_load(bytes, length);
  if (measure == NULL)
    return 0;
  pcal_measure *twin = fuzz_state_load(bytes, length);
  pcal_error err;
  fuzz_state_finish(measure);
  fuzz_state_round(measure);
  if (twin != NULL) {
    twin->loaded = 0; /* else the same rows would be refused */
    for (int i = 0; i < 3; i++)
      if (pcal_measure_merge(measure, twin, &err) == PCAL_OK)
        fuzz_state_finish(measure);
  }
  pcal_measure_free(measure);
  pcal_measure_free(twin);
  return 1;
}

static void fuzz_state_number(unsigned char *at, uint64_t number, size_t bytes) {
  for (size_t b = 0; b < bytes; b++)
    at[b] = (unsigned char)(number >> (8 * b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int valid = fuzz_state_use(data, size);
  if (size < PC_STATE_HEAD_BYTES + PC_CHECKSUM_BYTES) {
    fuzz_count(valid);
    return 0;
  }
  unsigned char *sealed = malloc(size);
  pc_checksum checksum;
  memcpy(sealed, data, size);
  memcpy(sealed, PC_STATE_MAGIC, PC_STATE_MAGIC_BYTES);
  fuzz_state_number(sealed + 8, PC_STATE_VERSION, 4);
  fuzz_state_number(sealed + 12, size, 8);
  pc_checksum_start(&checksum);
  pc_checksum_add(&checksum, sealed, size - PC_CHECKSUM_BYTES);
  fuzz_state_number(sealed + size - PC_CHECKSUM_BYTES, pc_checksum_value(&checksum),
                    PC_CHECKSUM_BYTES);
  valid |= fuzz_state_use(sealed, size);
  fuzz_count(valid);
  free(sealed);
  return 0;
}
