/* Requests, tallies, states and watches with each of their bytes changed, or cut anywhere, under a
 * length and a checksum that fit: each is used or refused in one sentence, within a small memory
 * limit. */
#include "../io/io_help.h"
#include "../measure/rounds_help.h"

#include "base/checksum.h"
#include "base/envelope.h"
#include "file_inputs.h"

enum { FORGED_ROWS = 30, FORGED_DENSE = 160, FORGED_LAST = 64, FORGED_LENGTH_AT = 12 };

static pcal_env forged_env(void) {
  pcal_env env = PCAL_ENV_INIT;
  env.threads = 1;
  env.memory_limit = (uint64_t)64 << 20;
  return env;
}

/* Uses bytes that may be anything. */
typedef pcal_status (*forged_use)(const void *bytes, size_t length, const void *user,
                                  pcal_error *err);

/* Writes length and checksum into bytes of this length. */
static void forged_seal(unsigned char *bytes, size_t length) {
  pc_checksum checksum;
  for (size_t i = 0; i < 8; i++)
    bytes[FORGED_LENGTH_AT + i] = (unsigned char)((uint64_t)length >> (8 * i));
  pc_checksum_start(&checksum);
  pc_checksum_add(&checksum, bytes, length - 4);
  const uint32_t value = pc_checksum_value(&checksum);
  for (size_t i = 0; i < 4; i++)
    bytes[length - 4 + i] = (unsigned char)(value >> (8 * i));
}

static size_t forged_try(const unsigned char *bytes, size_t length, forged_use use,
                         const void *user) {
  pcal_error err = PCAL_ERROR_INIT;
  const pcal_status status = use(bytes, length, user, &err);
  if (status == PCAL_OK)
    return 0;
  assert_true(status == PCAL_DATA || status == PCAL_USAGE || status == PCAL_MEMORY);
  assert_true(err.message[0] != '\0');
  return 1;
}

/* Bytes in the middle in steps: they repeat the fields of earlier ones. */
static size_t forged_step(size_t at, size_t length) {
  if (at < FORGED_DENSE || at + FORGED_LAST >= length)
    return 1;
  const size_t step = 1 + at / 40, left = length - FORGED_LAST - at;
  return step < left ? step : left;
}

static void forged_sweep(const sink_bytes *valid, forged_use use, const void *user) {
  static const unsigned char changes[] = {0x01, 0x02, 0x40, 0x80, 0xff};
  unsigned char *bytes = malloc(valid->length);
  size_t refused = 0;
  memcpy(bytes, valid->bytes, valid->length);
  assert_int_equal(forged_try(bytes, valid->length, use, user), 0);
  for (size_t at = 8; at < valid->length - 4; at += forged_step(at, valid->length))
    for (size_t c = 0; c < UNIT_COUNT(changes); c++) {
      bytes[at] ^= changes[c];
      forged_seal(bytes, valid->length);
      refused += forged_try(bytes, valid->length, use, user);
      memcpy(bytes, valid->bytes, valid->length);
    }
  assert_true(refused > 0);
  for (size_t cut = PC_ENVELOPE_HEAD_BYTES + 4; cut < valid->length;
       cut += forged_step(cut, valid->length)) {
    forged_seal(bytes, cut);
    assert_int_equal(forged_try(bytes, cut, use, user), 1);
    memcpy(bytes, valid->bytes, valid->length);
  }
  free(bytes);
}

/* ---- rounds ---- */

/* Rounds with the bytes of their first two requests and tallies. */
typedef struct forged_rounds {
  rounds_data data;
  const char *file; /* rows with names of classes, in place of data; or NULL */
  sink_bytes request[2], tally[2];
} forged_rounds;

static pcal_status forged_add_rows(const forged_rounds *all, pcal_rounds_worker *worker,
                                   pcal_error *err) {
  const pcal_env env = forged_env();
  pcal_source *source = NULL;
  if (all->file == NULL) {
    const pcal_batch batch = rounds_batch(&all->data, 0, all->data.rows);
    return pcal_rounds_worker_update(worker, &batch, err);
  }
  const file_inputs files = {.data = all->file};
  pcal_status status = file_inputs_open(&files, &env, &source, err);
  if (status == PCAL_OK)
    status = pcal_rounds_worker_update_source(worker, source, err);
  pcal_source_free(source);
  return status;
}

static pcal_status forged_answer(const void *request, size_t length, const forged_rounds *all,
                                 sink_bytes *out, pcal_error *err) {
  const pcal_env env = forged_env();
  pcal_rounds_worker *worker = NULL;
  pcal_status status = pcal_rounds_worker_new(request, length, &env, &worker, err);
  if (status == PCAL_OK)
    status = forged_add_rows(all, worker, err);
  if (status == PCAL_OK)
    status = pcal_rounds_worker_tally(worker, sink_collect, out, err);
  pcal_rounds_worker_free(worker);
  return status;
}

static pcal_status forged_request(const void *bytes, size_t length, const void *user,
                                  pcal_error *err) {
  sink_bytes tally = {0};
  const pcal_status status = forged_answer(bytes, length, user, &tally, err);
  free(tally.bytes);
  return status;
}

/* Absorbs a tally of the first or second round, and merges it with the true one in both orders. */
static pcal_status forged_absorb(const void *bytes, size_t length, const forged_rounds *all,
                                 int second, pcal_error *err) {
  const pcal_env env = forged_env();
  const pcal_bytes both[] = {{all->tally[second].bytes, all->tally[second].length},
                             {bytes, length},
                             {all->tally[second].bytes, all->tally[second].length}};
  pcal_rounds *rounds = NULL;
  size_t written = 0;
  pcal_error apart = PCAL_ERROR_INIT;
  const pcal_status merged = pcal_tally_merge(both, 2, &env, sink_count, &written, &apart);
  if (merged == PCAL_OK)
    assert_int_equal(pcal_tally_merge(both + 1, 2, &env, sink_count, &written, NULL), PCAL_OK);
  pcal_status status =
      pcal_rounds_resume(all->request[0].bytes, all->request[0].length, &env, &rounds, err);
  if (status == PCAL_OK && second)
    status = pcal_rounds_absorb(rounds, all->tally[0].bytes, all->tally[0].length, err);
  if (status == PCAL_OK)
    status = pcal_rounds_absorb(rounds, bytes, length, err);
  pcal_rounds_free(rounds);
  if (status == PCAL_OK && merged != PCAL_OK)
    *err = apart;
  return status == PCAL_OK ? merged : status;
}

static pcal_status forged_first_tally(const void *bytes, size_t length, const void *user,
                                      pcal_error *err) {
  return forged_absorb(bytes, length, user, 0, err);
}

static pcal_status forged_second_tally(const void *bytes, size_t length, const void *user,
                                       pcal_error *err) {
  return forged_absorb(bytes, length, user, 1, err);
}

/* Answers two rounds, or one if there are no more, then changes all their bytes. */
static void forged_all_rounds(forged_rounds *all, pcal_rounds *rounds) {
  pcal_error err;
  int count = 0;
  for (; count < 2 && !pcal_rounds_done(rounds); count++) {
    all->request[count] = rounds_request(rounds);
    if (forged_answer(all->request[count].bytes, all->request[count].length, all,
                      &all->tally[count], &err) != PCAL_OK ||
        pcal_rounds_absorb(rounds, all->tally[count].bytes, all->tally[count].length, &err) !=
            PCAL_OK)
      fail_msg("%s", err.message);
  }
  for (int i = 0; i < count; i++) {
    forged_sweep(&all->request[i], forged_request, all);
    forged_sweep(&all->tally[i], i == 0 ? forged_first_tally : forged_second_tally, all);
  }
  for (int i = 0; i < 2; i++) {
    free(all->request[i].bytes);
    free(all->tally[i].bytes);
  }
  pcal_rounds_free(rounds);
  rounds_data_free(&all->data);
}

TEST(measuring_in_rounds) {
  const char *const specs[] = {"brier", "ks", "ece:binning=mass"};
  for (size_t groups = 0; groups <= 2; groups += 2) {
    forged_rounds all = {.data = rounds_data_draw(FORGED_ROWS, 1, 0, groups > 0, groups)};
    const pcal_measure_config config = rounds_config(&all.data, specs, UNIT_COUNT(specs));
    const pcal_env env = forged_env();
    pcal_rounds *rounds = NULL;
    assert_int_equal(pcal_rounds_new(&config, &env, &rounds, NULL), PCAL_OK);
    forged_all_rounds(&all, rounds);
  }
}

/* Replicas of few rows that stand for many. */
TEST(drawing_replicas_in_rounds) {
  const char *const specs[] = {"ece"};
  forged_rounds all = {.data = rounds_data_draw(FORGED_ROWS, 1, 0, 1, 2)};
  pcal_measure_config config = rounds_config(&all.data, specs, UNIT_COUNT(specs));
  const pcal_env env = forged_env();
  pcal_rounds *rounds = NULL;
  config.interval = 0.9;
  config.replicas = 20;
  for (size_t i = 0; i < all.data.rows; i++)
    all.data.weights[i] = 120;
  assert_int_equal(pcal_rounds_new(&config, &env, &rounds, NULL), PCAL_OK);
  forged_all_rounds(&all, rounds);
}

static void forged_fit(const char *method, size_t columns, const char *file) {
  forged_rounds all = {.data = rounds_data_draw(FORGED_ROWS, columns, 0, 0, 0), .file = file};
  const pcal_env env = forged_env();
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_rounds *rounds = NULL;
  config.method = method;
  assert_int_equal(pcal_rounds_new_fit(&config, &env, &rounds, NULL), PCAL_OK);
  forged_all_rounds(&all, rounds);
}

TEST(fitting_in_rounds) {
  forged_fit("platt", 1, NULL);
  forged_fit("temperature", 3, NULL);
  forged_fit("isotonic", 1, NULL);
  forged_fit("histogram", 3,
             help_text("named.csv", "probs.a,probs.b,labels\n0.5,0.5,a\n0.25,0.75,b\n"
                                    "0.125,0.875,a\n0.75,0.25,b\n"));
}

/* ---- states ---- */

static pcal_status forged_state(const void *bytes, size_t length, const void *user,
                                pcal_error *err) {
  const pcal_env env = forged_env();
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  size_t written = 0;
  (void)user;
  pcal_status status = pcal_measure_load(bytes, length, NULL, &env, &measure, err);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, &results, err);
  if (status == PCAL_OK)
    status = pcal_results_write(results, PCAL_JSON, sink_count, &written, err);
  pcal_results_free(results);
  pcal_measure_free(measure);
  return status;
}

TEST(states_of_a_measure) {
  const char *const specs[] = {"brier", "ece", "ks", "sce"};
  rounds_data data = rounds_data_draw(FORGED_ROWS, 3, 0, 1, 2);
  const pcal_measure_config config = rounds_config(&data, specs, UNIT_COUNT(specs));
  const pcal_batch batch = rounds_batch(&data, 0, data.rows);
  const pcal_env env = forged_env();
  pcal_measure *measure = NULL;
  sink_bytes saved = {0};
  assert_int_equal(pcal_measure_new(&config, &env, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_save(measure, sink_collect, &saved, NULL), PCAL_OK);
  forged_sweep(&saved, forged_state, NULL);
  pcal_measure_free(measure);
  rounds_data_free(&data);
  free(saved.bytes);
}

/* ---- watches ---- */

static pcal_status forged_watch_rows(pcal_watch *watch, const char *file, pcal_error *err) {
  const pcal_env env = forged_env();
  const file_inputs files = {.data = file};
  pcal_source *source = NULL;
  pcal_status status = file_inputs_open(&files, &env, &source, err);
  if (status == PCAL_OK)
    status = pcal_watch_update(watch, source, PCAL_WATCH_ALLOW_REPEAT, err);
  pcal_source_free(source);
  return status;
}

static pcal_status forged_watch(const void *bytes, size_t length, const void *user,
                                pcal_error *err) {
  const pcal_env env = forged_env();
  pcal_watch *watch = NULL;
  size_t written = 0;
  pcal_status status = pcal_watch_load(bytes, length, NULL, &env, &watch, err);
  for (int format = PCAL_TEXT; format <= PCAL_JSON && status == PCAL_OK; format++)
    status = pcal_watch_write(watch, (pcal_format)format, sink_count, &written, err);
  if (status == PCAL_OK)
    status = forged_watch_rows(watch, user, err);
  pcal_watch_free(watch);
  return status;
}

static void forged_watches(const char *file) {
  const pcal_env env = forged_env();
  pcal_watch *watch = NULL;
  sink_bytes saved = {0};
  assert_int_equal(pcal_watch_new(0.05, &env, &watch, NULL), PCAL_OK);
  assert_int_equal(forged_watch_rows(watch, file, NULL), PCAL_OK);
  assert_int_equal(pcal_watch_save(watch, sink_collect, &saved, NULL), PCAL_OK);
  forged_sweep(&saved, forged_watch, file);
  pcal_watch_free(watch);
  free(saved.bytes);
}

TEST(states_of_a_watch) {
  forged_watches(help_text("classes.csv", "probs,labels\n0.5,1\n0.25,0\n0.75,1\n1,0\n"));
  forged_watches(help_text("top.csv", "logits.0,logits.1,logits.2,labels\n1,2,0,1\n0,1,3,0\n"));
  forged_watches(help_text("numbers.csv", "mean,std,target\n0,1,0.5\n0,1,-0.25\n1,2,4\n"));
}

TEST_GROUP(help_setup, help_teardown)
