/* A request or a tally of rounds, whole or with a number of it changed, or any bytes: as they
 * are, and under a head and a checksum that fit, so that what lies inside is reached.  Requests
 * are resumed from and answered, tallies merged with themselves and absorbed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../sinks.h"
#include "api/rounds_api.h"
#include "base/checksum.h"
#include "base/envelope.h"
#include "fuzz_count.h"
#include "fuzz_models.h"

#define ROUNDS_ROWS 12
#define ROUNDS_COLUMNS 3
#define ROUNDS_VERSION 4 /* of requests and tallies */
#define ROUNDS_ID_AT PC_ENVELOPE_HEAD_BYTES
#define ROUNDS_CONTENT_AT (ROUNDS_ID_AT + 8)

static const char *const fuzz_specs[] = {"brier", "ece", "ks", "smece", "ece:binning=mass",
                                         "ace"};
static const char *const fuzz_binned[] = {"brier", "ece", "sce"}; /* have intervals */

static const double fuzz_scores[ROUNDS_ROWS * ROUNDS_COLUMNS] = {
    0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.3, 0.3, 0.4, 0.5, 0.25, 0.25, 0.9, 0.1, 0,   0.2, 0.2, 0.6,
    0.7, 0.2, 0.1, 0.1, 0.1, 0.8, 0.6, 0.3, 0.1, 0.2, 0.7,  0.1,  1,   0,   0.0, 0.4, 0.4, 0.2};
static const int32_t fuzz_labels[ROUNDS_ROWS] = {0, 1, 2, 0, 0, 2, 1, 2, 0, 1, 0, 2};
static const double fuzz_weights[ROUNDS_ROWS] = {1, 2, 3, 1, 1, 2, 1, 4, 1, 2, 1, 1};
static const double fuzz_copies[ROUNDS_ROWS] = {900, 200, 310, 1,   140, 200,
                                                100, 400, 100, 220, 100, 100};
static const uint32_t fuzz_groups[ROUNDS_ROWS] = {0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1};

static pcal_env fuzz_rounds_env(void) {
  pcal_env env = PCAL_ENV_INIT;
  env.threads = 1;
  env.memory_limit = (uint64_t)256 << 20;
  return env;
}

/* variant: bit 0 weights, bit 1 groups, bit 2 intervals. */
static void fuzz_rounds_answer(const sink_bytes *request, unsigned variant, sink_bytes *out) {
  const pcal_env env = fuzz_rounds_env();
  pcal_rounds_worker *worker = NULL;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_error err;
  batch.type = PCAL_F64;
  batch.rows = ROUNDS_ROWS;
  batch.columns = ROUNDS_COLUMNS;
  batch.scores = fuzz_scores;
  batch.labels = fuzz_labels;
  batch.weights = variant & 4 ? fuzz_copies : variant & 1 ? fuzz_weights : NULL;
  batch.groups = variant & 2 ? fuzz_groups : NULL;
  if (pcal_rounds_worker_new(request->bytes, request->length, &env, &worker, &err) == PCAL_OK &&
      pcal_rounds_worker_update(worker, &batch, &err) == PCAL_OK)
    (void)pcal_rounds_worker_tally(worker, sink_collect, out, &err);
  pcal_rounds_worker_free(worker);
}

static pcal_rounds *fuzz_rounds_begin(unsigned variant) {
  const pcal_env env = fuzz_rounds_env();
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_rounds *rounds = NULL;
  pcal_error err;
  config.columns = ROUNDS_COLUMNS;
  config.specs = variant & 4 ? fuzz_binned : fuzz_specs;
  config.spec_count = variant & 4 ? sizeof fuzz_binned / sizeof *fuzz_binned
                                  : sizeof fuzz_specs / sizeof *fuzz_specs;
  config.interval = variant & 4 ? 0.9 : 0.0;
  config.null = (variant & 4) != 0;
  config.replicas = 20;
  if (pcal_rounds_new(&config, &env, &rounds, &err) != PCAL_OK)
    abort();
  return rounds;
}

static sink_bytes fuzz_rounds_request(const pcal_rounds *rounds) {
  sink_bytes out = {0};
  pcal_error err;
  if (!pcal_rounds_done(rounds) &&
      pcal_rounds_request(rounds, sink_collect, &out, &err) != PCAL_OK)
    abort();
  return out;
}

/* The request and the tally of a round, from 1; empty if there are fewer rounds. */
static void fuzz_rounds_of(unsigned round, unsigned variant, sink_bytes *request,
                           sink_bytes *tally) {
  pcal_rounds *rounds = fuzz_rounds_begin(variant);
  pcal_error err;
  for (unsigned r = 1; r <= round && !pcal_rounds_done(rounds); r++) {
    free(request->bytes);
    free(tally->bytes);
    *tally = (sink_bytes){0};
    *request = fuzz_rounds_request(rounds);
    fuzz_rounds_answer(request, variant, tally);
    if (pcal_rounds_absorb(rounds, tally->bytes, tally->length, &err) != PCAL_OK)
      abort();
  }
  pcal_rounds_free(rounds);
}

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  sink_bytes request = {0}, tally = {0};
  const unsigned variant = (unsigned)fuzz_below(choice, 8);
  fuzz_rounds_of(1 + (unsigned)fuzz_below(choice, 2), variant, &request, &tally);
  const sink_bytes *chosen = fuzz_chance(choice, 2) ? &request : &tally;
  fuzz_put(out, (const uint8_t *)chosen->bytes, chosen->length);
  free(request.bytes);
  free(tally.bytes);
}

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  fuzz_change_state(choice, data, size, out);
}

#include "fuzz_mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A tally, absorbed by rounds that wait for it. */
static void fuzz_rounds_absorb(const unsigned char *bytes, size_t length, unsigned round,
                               unsigned variant) {
  pcal_rounds *rounds = fuzz_rounds_begin(variant);
  pcal_results *results = NULL;
  pcal_error err;
  for (unsigned r = 1; r < round; r++) {
    sink_bytes request = fuzz_rounds_request(rounds), tally = {0};
    fuzz_rounds_answer(&request, variant, &tally);
    if (pcal_rounds_absorb(rounds, tally.bytes, tally.length, &err) != PCAL_OK)
      abort();
    free(request.bytes);
    free(tally.bytes);
  }
  unsigned char *mine = malloc(length);
  memcpy(mine, bytes, length);
  if (length > ROUNDS_ID_AT + 8 + PC_CHECKSUM_BYTES) { /* the answer to this request */
    pc_checksum checksum;
    memcpy(mine + ROUNDS_ID_AT, &rounds->measure->id, 8);
    pc_checksum_start(&checksum);
    pc_checksum_add(&checksum, mine, length - PC_CHECKSUM_BYTES);
    const uint32_t sum = pc_checksum_value(&checksum);
    memcpy(mine + length - PC_CHECKSUM_BYTES, &sum, sizeof sum);
  }
  rounds->measure->known = 0; /* any rows */
  (void)pcal_rounds_absorb(rounds, mine, length, &err);
  if (pcal_rounds_finish(rounds, &results, &err) == PCAL_OK)
    (void)pcal_results_write(results, PCAL_JSON, sink_count, NULL, &err);
  pcal_results_free(results);
  pcal_rounds_free(rounds);
  free(mine);
}

/* The content of a tally. */
static unsigned fuzz_rounds_content(const unsigned char *bytes, size_t length) {
  return length > ROUNDS_CONTENT_AT ? bytes[ROUNDS_CONTENT_AT] : 0;
}

static int fuzz_rounds_use(const unsigned char *bytes, size_t length) {
  const pcal_env env = fuzz_rounds_env();
  const pcal_bytes twice[] = {{bytes, length}, {bytes, length}};
  const sink_bytes request = {(char *)(uintptr_t)bytes, length, 0};
  sink_bytes tally = {0};
  pcal_rounds *resumed = NULL;
  uint64_t rows, fingerprint[2];
  pcal_error err;
  (void)pcal_rounds_resume(bytes, length, &env, &resumed, &err);
  pcal_rounds_free(resumed);
  (void)pcal_tally_rows(bytes, length, &rows, fingerprint, &err);
  fuzz_rounds_answer(&request, 0, &tally);
  const int answered = tally.length > 0;
  free(tally.bytes);
  if (pcal_tally_merge(twice, 2, &env, sink_count, NULL, &err) != PCAL_OK)
    return answered;
  const unsigned content = fuzz_rounds_content(bytes, length);
  fuzz_rounds_absorb(bytes, length,
                     content == PC_ROUND_TARGETS || content == PC_ROUND_DRAWS ? 2 : 1,
                     (content == PC_ROUND_DRAWS ? 4u : 0u) + (length % 2 == 0 ? 0u : 3u));
  return 1;
}

static void fuzz_rounds_number(unsigned char *at, uint64_t number, size_t bytes) {
  for (size_t b = 0; b < bytes; b++)
    at[b] = (unsigned char)(number >> (8 * b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int valid = fuzz_rounds_use(data, size);
  if (size >= PC_ENVELOPE_HEAD_BYTES + PC_CHECKSUM_BYTES) {
    unsigned char *sealed = malloc(size);
    pc_checksum checksum;
    memcpy(sealed, data, size);
    fuzz_rounds_number(sealed + 8, ROUNDS_VERSION, 4);
    fuzz_rounds_number(sealed + 12, size, 8);
    pc_checksum_start(&checksum);
    pc_checksum_add(&checksum, sealed, size - PC_CHECKSUM_BYTES);
    fuzz_rounds_number(sealed + size - PC_CHECKSUM_BYTES, pc_checksum_value(&checksum),
                       PC_CHECKSUM_BYTES);
    valid |= fuzz_rounds_use(sealed, size);
    free(sealed);
  }
  fuzz_count(valid);
  return 0;
}
