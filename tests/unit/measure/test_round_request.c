/* What rounds refuse, rows with quantiles, and workers that are used in the wrong order. */
#include "rounds_help.h"

#include "file_inputs.h"
#include "measure/group_states.h"
#include "measure/saved_state.h"

static const char *const request_specs[] = {"brier", "ks"};

static void request_refused(const pcal_measure_config *config, const char *message) {
  pcal_rounds *rounds = NULL;
  pcal_error err;
  assert_int_equal(pcal_rounds_new(config, NULL, &rounds, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, message);
  assert_null(rounds);
}

TEST(what_needs_all_rows_is_refused) {
  const rounds_data data = {.kind = PCAL_LOGIT, .columns = 3};
  for (int kind = 0; kind < 3; kind++) {
    pcal_measure_config config = rounds_config(&data, request_specs, 2);
    config.by_cluster = kind == 0;
    config.paired = kind == 1;
    config.curves = kind == 2;
    request_refused(&config,
                    "clusters, comparisons with another model and plot tables need all "
                    "rows at once; measure them in one process, or leave them out");
  }
}

TEST(very_many_metrics_are_refused) {
  enum { COUNT = PC_STATE_METRICS_MAX + 1 };
  const rounds_data data = {.kind = PCAL_LOGIT, .columns = 3};
  static const char *specs[COUNT];
  for (size_t i = 0; i < COUNT; i++)
    specs[i] = "brier";
  const pcal_measure_config config = rounds_config(&data, specs, COUNT);
  request_refused(&config, "rounds measure at most 10000 metrics, not 10001; ask for fewer");
}

TEST(an_interval_that_is_none_is_refused) {
  const rounds_data data = {.kind = PCAL_LOGIT, .columns = 3};
  pcal_measure_config config = rounds_config(&data, request_specs, 2);
  config.interval = 0.9;
  config.replicas = 1;
  pcal_rounds *rounds = NULL;
  assert_int_equal(pcal_rounds_new(&config, NULL, &rounds, NULL), PCAL_USAGE);
}

/* ---- the first round ---- */

static pcal_rounds *request_begin(const pcal_measure_config *config, sink_bytes *request) {
  pcal_rounds *rounds = NULL;
  pcal_error err;
  if (pcal_rounds_new(config, NULL, &rounds, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  *request = rounds_request(rounds);
  return rounds;
}

static pcal_rounds_worker *request_worker(const sink_bytes *request) {
  pcal_rounds_worker *worker = NULL;
  assert_int_equal(pcal_rounds_worker_new(request->bytes, request->length, NULL, &worker, NULL),
                   PCAL_OK);
  return worker;
}

/* The number of columns is that of the data; their kind was given. */
TEST(scores_of_another_kind) {
  rounds_data data = rounds_data_draw(20, 3, 0, 0, 0);
  pcal_measure_config config = rounds_config(&data, request_specs, 2);
  pcal_error err;
  sink_bytes request;
  config.columns = 0;
  pcal_rounds *rounds = request_begin(&config, &request);
  for (int logs = 0; logs < 2; logs++) {
    pcal_rounds_worker *worker = request_worker(&request);
    pcal_batch batch = rounds_batch(&data, 0, 20);
    batch.kind = logs ? PCAL_LOG_PROBABILITY : PCAL_PROBABILITY;
    assert_int_equal(pcal_rounds_worker_update(worker, &batch, &err), PCAL_USAGE);
    assert_sentence(
        err, PCAL_USAGE,
        logs ? "the rounds were begun for scores of the kind logit, and these are "
               "of the kind log-probability; begin them for the kind of the data: logits "
               "with ragged are log-probabilities"
             : "the rounds were begun for scores of the kind logit, and these are "
               "of the kind probability; begin them for the kind of the data");
    pcal_rounds_worker_free(worker);
  }
  pcal_rounds_free(rounds);
  free(request.bytes);
  rounds_data_free(&data);
}

TEST(no_rows_at_all) {
  rounds_data data = rounds_data_draw(20, 3, 0, 0, 0);
  const pcal_measure_config config = rounds_config(&data, request_specs, 2);
  pcal_batch none = rounds_batch(&data, 0, 0);
  pcal_error err;
  sink_bytes request, tally = {0};
  pcal_rounds *rounds = request_begin(&config, &request);
  pcal_rounds_worker *worker = request_worker(&request);
  assert_int_equal(pcal_rounds_worker_update(worker, &none, NULL), PCAL_OK);
  assert_int_equal(pcal_rounds_worker_tally(worker, sink_collect, &tally, NULL), PCAL_OK);
  assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA, "there are no rows to measure");
  pcal_rounds_worker_free(worker);
  pcal_rounds_free(rounds);
  free(request.bytes);
  free(tally.bytes);
  rounds_data_free(&data);
}

/* A worker gives the same tally as often as it is asked, and takes no rows after that. */
TEST(a_worker_that_has_answered) {
  static const char *const specs[] = {"ece", "ks"};
  rounds_data data = rounds_data_draw(1000, 1, 0, 1, 0);
  pcal_measure_config config = rounds_config(&data, specs, 2);
  pcal_error err;
  sink_bytes request;
  for (size_t i = 0; i < data.rows; i++)
    data.weights[i] = 100;
  config.interval = 0.9;
  config.replicas = 20;
  pcal_rounds *rounds = request_begin(&config, &request);
  unsigned count = 0;
  for (; !pcal_rounds_done(rounds); count++) { /* buckets, targets, replicas */
    sink_bytes tally = {0}, again = {0};
    const pcal_batch batch = rounds_batch(&data, 0, data.rows);
    pcal_rounds_worker *worker = request_worker(&request);
    assert_int_equal(pcal_rounds_worker_update(worker, &batch, NULL), PCAL_OK);
    assert_int_equal(pcal_rounds_worker_tally(worker, sink_collect, &tally, NULL), PCAL_OK);
    assert_int_equal(pcal_rounds_worker_tally(worker, sink_collect, &again, NULL), PCAL_OK);
    assert_int_equal(tally.length, again.length);
    assert_memory_equal(tally.bytes, again.bytes, tally.length);
    assert_int_equal(pcal_rounds_worker_update(worker, &batch, &err), PCAL_USAGE);
    assert_sentence(err, PCAL_USAGE,
                    "this worker has given its tally; answer more rows with a new one");
    assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, NULL), PCAL_OK);
    pcal_rounds_worker_free(worker);
    free(tally.bytes);
    free(again.bytes);
    free(request.bytes);
    request = pcal_rounds_done(rounds) ? (sink_bytes){0} : rounds_request(rounds);
  }
  assert_true(count >= 3);
  size_t written = 0;
  assert_int_equal(pcal_rounds_request(rounds, sink_count, &written, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "the rounds are done; ask for the results");
  pcal_rounds_free(rounds);
  rounds_data_free(&data);
}

/* ---- groups ---- */

TEST(groups_with_huge_numbers) {
  rounds_data data = rounds_data_draw(20, 1, 0, 0, 2);
  const pcal_measure_config config = rounds_config(&data, request_specs, 2);
  pcal_error err;
  sink_bytes request;
  pcal_rounds *rounds = request_begin(&config, &request);
  pcal_rounds_worker *worker = request_worker(&request);
  data.groups[7] = PC_GROUPS_MAX;
  const pcal_batch batch = rounds_batch(&data, 0, 20);
  assert_int_equal(pcal_rounds_worker_update(worker, &batch, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA,
                  "more than 1048576 groups; give a column with fewer distinct values");
  pcal_rounds_worker_free(worker);
  pcal_rounds_free(rounds);
  free(request.bytes);
  rounds_data_free(&data);
}

static void request_later_refused(const sink_bytes *request, const pcal_batch *batch,
                                  pcal_status status, const char *message) {
  pcal_rounds_worker *worker = request_worker(request);
  pcal_error err;
  assert_int_equal(pcal_rounds_worker_update(worker, batch, &err), status);
  assert_sentence(err, status, message);
  pcal_rounds_worker_free(worker);
}

/* Rows whose groups are others than in the first round. */
TEST(groups_of_a_later_round) {
  for (size_t groups = 0; groups <= 2; groups += 2) {
    rounds_data data = rounds_data_draw(3000, 1, 0, 0, groups);
    const pcal_measure_config config = rounds_config(&data, request_specs, 2);
    sink_bytes first;
    pcal_rounds *rounds = request_begin(&config, &first);
    sink_bytes tally = rounds_answer(&data, &first, 2);
    assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, NULL), PCAL_OK);
    sink_bytes second = rounds_request(rounds);
    pcal_batch batch = rounds_batch(&data, 0, data.rows);
    uint32_t other[3000] = {0};
    batch.groups = groups == 0 ? other : NULL;
    request_later_refused(&second, &batch, PCAL_USAGE,
                          "some rows have groups and some have none; give all or none");
    other[5] = 7;
    batch.groups = other;
    if (groups > 0)
      request_later_refused(
          &second, &batch, PCAL_DATA,
          "the group 7 was not in the rows of the first round; store the table "
          "before measuring it, so that every round reads the same rows");
    free(first.bytes);
    free(second.bytes);
    free(tally.bytes);
    pcal_rounds_free(rounds);
    rounds_data_free(&data);
  }
}

TEST(samples_and_quantiles_are_refused) {
  static const double levels[] = {0.1, 0.5, 0.9};
  static const char *const specs[] = {"pinball"};
  for (int quantiles = 0; quantiles < 2; quantiles++) {
    const rounds_data data = {.kind = quantiles ? PCAL_QUANTILES : PCAL_SAMPLES, .columns = 3};
    pcal_measure_config config = rounds_config(&data, specs, 1);
    config.levels = quantiles ? levels : NULL;
    request_refused(&config, "the verdict about samples and quantiles needs every row; measure "
                             "them in one process");
  }
}

/* ---- the interface ---- */

TEST(missing_arguments) {
  pcal_rounds *rounds = NULL;
  pcal_fit_config fit = PCAL_FIT_CONFIG_INIT;
  uint64_t rows, print[2];
  pcal_error err;
  assert_int_equal(pcal_rounds_resume(NULL, 9, NULL, &rounds, &err), PCAL_USAGE);
  assert_int_equal(pcal_rounds_resume("x", 1, NULL, NULL, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "pcal_rounds_resume needs a request and an out pointer");
  assert_int_equal(pcal_tally_rows(NULL, 9, &rows, print, &err), PCAL_USAGE);
  assert_int_equal(pcal_tally_rows("x", 1, NULL, print, &err), PCAL_USAGE);
  assert_int_equal(pcal_tally_rows("x", 1, &rows, NULL, &err), PCAL_USAGE);
  assert_sentence(
      err, PCAL_USAGE,
      "pcal_tally_rows needs a tally and pointers for the rows and the fingerprint");
  assert_int_equal(pcal_rounds_is_fit(NULL), 0);
  fit.size = 0;
  assert_int_equal(pcal_rounds_new_fit(&fit, NULL, &rounds, &err), PCAL_USAGE);
  assert_null(rounds);
}

TEST(a_source_without_outcomes) {
  rounds_data data = rounds_data_draw(20, 1, 0, 0, 0);
  const pcal_measure_config config = rounds_config(&data, request_specs, 2);
  pcal_input probs = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  pcal_error err;
  sink_bytes request;
  pcal_rounds *rounds = request_begin(&config, &request);
  pcal_rounds_worker *worker = request_worker(&request);
  probs.data = data.scores;
  probs.type = PCAL_F64;
  probs.rows = data.rows;
  inputs.probs = &probs;
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, &err), PCAL_OK);
  assert_int_equal(pcal_rounds_worker_update_source(worker, source, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "measuring needs the true outcomes; give them with labels");
  pcal_source_free(source);
  pcal_rounds_worker_free(worker);
  pcal_rounds_free(rounds);
  free(request.bytes);
  rounds_data_free(&data);
}
