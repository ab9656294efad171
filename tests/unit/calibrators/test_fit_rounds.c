/* Fits by rounds over several workers write the file of a fit in one process. */
#include "../measure/rounds_help.h"
#include "calibrators/linear/linear_search.h"
#include "emulated.h"
#include "io/source.h"

static sink_bytes fit_rounds_save(pcal_calibrator *calibrator) {
  sink_bytes out = {0};
  assert_int_equal(pcal_calibrator_save(calibrator, sink_collect, &out, NULL), PCAL_OK);
  pcal_calibrator_free(calibrator);
  return out;
}

static sink_bytes fit_rounds_in_one_process(const rounds_data *data,
                                            const pcal_fit_config *config) {
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_error err;
  pcal_input scores = {.size = sizeof(pcal_input),
                       .name = "scores",
                       .data = data->scores,
                       .type = PCAL_F64,
                       .rows = data->rows,
                       .columns = data->columns == 1 ? 0 : data->columns};
  pcal_input labels = {.size = sizeof(pcal_input),
                       .name = "labels",
                       .data = data->labels,
                       .type = PCAL_I32,
                       .rows = data->rows};
  pcal_input weights = {.size = sizeof(pcal_input),
                        .name = "weights",
                        .data = data->weights,
                        .type = PCAL_F64,
                        .rows = data->rows};
  if (data->kind == PCAL_LOGIT)
    inputs.logits = &scores;
  else
    inputs.probs = &scores;
  inputs.labels = &labels;
  if (data->weights != NULL)
    inputs.weights = &weights;
  if (pcal_source_open(&inputs, NULL, &source, &err) != PCAL_OK ||
      pcal_fit_run(source, config, NULL, &calibrator, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  pcal_source_free(source);
  return fit_rounds_save(calibrator);
}

static sink_bytes fit_rounds_run(const rounds_data *data, const pcal_fit_config *config,
                                 size_t workers, rounds_cost *cost) {
  pcal_rounds *rounds = NULL;
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  *cost = (rounds_cost){0};
  if (pcal_rounds_new_fit(config, NULL, &rounds, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  while (!pcal_rounds_done(rounds)) {
    sink_bytes request = rounds_request(rounds);
    sink_bytes tally = rounds_answer(data, &request, workers);
    cost->rounds++;
    assert_int_equal(pcal_rounds_round(rounds), cost->rounds);
    cost->request = request.length > cost->request ? request.length : cost->request;
    cost->tally = tally.length > cost->tally ? tally.length : cost->tally;
    if (pcal_rounds_absorb(rounds, tally.bytes, tally.length, &err) != PCAL_OK)
      fail_msg("%s", err.message);
    free(request.bytes);
    free(tally.bytes);
  }
  assert_int_equal(pcal_rounds_calibrator(rounds, &calibrator, &err), PCAL_OK);
  pcal_rounds_free(rounds);
  return fit_rounds_save(calibrator);
}

static rounds_cost fit_rounds_compare(const rounds_data *data, const char *method,
                                      size_t workers) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  rounds_cost cost;
  config.method = method;
  sink_bytes expected = fit_rounds_in_one_process(data, &config);
  sink_bytes found = fit_rounds_run(data, &config, workers, &cost);
  assert_string_equal(found.bytes, expected.bytes);
  free(expected.bytes);
  free(found.bytes);
  return cost;
}

static const char *const fit_rounds_methods[] = {
    "identity",
    "temperature",
    "temperature:objective=brier",
    "vector",
    "matrix",
    "matrix-odir:lambda=0.1,mu=0.2",
    "dirichlet-odir:lambda=0.01,mu=1",
    "platt",
    "beta",
    "isotonic",
    "isotonic-multi",
    "venn-abers",
    "histogram",
    "histogram:classwise=no",
    "histogram:binning=mass",
    "bbq",
    "spline",
};
#define FIT_ROUNDS_METHODS (sizeof fit_rounds_methods / sizeof *fit_rounds_methods)

/* Any number of workers, with and without ties and weights. */
TEST(the_file_of_one_process) {
  for (int variant = emulated() ? 3 : 0; variant < 4; variant++) {
    rounds_data data =
        rounds_data_draw(fewer_if_emulated(600, 150), 3, variant & 1, variant & 2, 0);
    for (size_t m = 0; m < FIT_ROUNDS_METHODS; m++)
      fit_rounds_compare(&data, fit_rounds_methods[m], 1 + m % 4);
    rounds_data_free(&data);
  }
}

TEST(fractional_weights) {
  rounds_data data = rounds_data_draw(fewer_if_emulated(600, 150), 3, 1, 1, 0);
  for (size_t i = 0; i < data.rows; i++)
    data.weights[i] += 0.125 * (double)(i % 7);
  for (size_t m = 0; m < FIT_ROUNDS_METHODS; m++)
    fit_rounds_compare(&data, fit_rounds_methods[m], 3);
  rounds_data_free(&data);
}

TEST(one_column) {
  static const char *const methods[] = {"temperature", "platt",      "beta",
                                        "isotonic",    "venn-abers", "histogram:binning=mass"};
  rounds_data data = rounds_data_draw(fewer_if_emulated(3000, 500), 1, 0, 0, 0);
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
    fit_rounds_compare(&data, methods[m], 4);
  rounds_data_free(&data);
}

/* More classes than a dense matrix of second derivatives is made for: each product is a round. */
TEST(many_classes) {
  rounds_data data = rounds_data_draw(400, PC_LINEAR_NEWTON + 1, 0, 0, 0);
  fit_rounds_compare(&data, "matrix", 2);
  rounds_data_free(&data);
}

/* Searches of many passes. */
TEST(ets) {
  rounds_data data = rounds_data_draw(100, 3, 0, 1, 0);
  fit_rounds_compare(&data, "ets:objective=brier", 2);
  if (!emulated())
    fit_rounds_compare(&data, "ets", 2);
  rounds_data_free(&data);
}

/* Searches begin on a sample of the rows, which workers draw together. */
TEST(more_rows_than_a_sample_holds) {
  static const char *const methods[] = {"temperature", "temperature:objective=brier", "vector",
                                        "matrix"};
  rounds_data data = rounds_data_draw(20000, 4, 0, 0, 0);
  for (size_t i = 0; i < data.rows; i += 2) { /* half of the labels follow the scores */
    size_t top = 0;
    for (size_t j = 1; j < 4; j++)
      top = data.scores[i * 4 + j] > data.scores[i * 4 + top] ? j : top;
    data.labels[i] = (int32_t)top;
  }
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
    const rounds_cost cost = fit_rounds_compare(&data, methods[m], 3);
    assert_true(cost.tally < 2000000);
  }
  rounds_data_free(&data);
}

/* Methods of sorted scores resolve only the ranges that they need: tallies stay below 2 MB, where all
 * different scores would take 9 bytes each. */
static void fit_rounds_bounded(const rounds_data *data, const char *const *methods,
                               size_t count, unsigned most) {
  for (size_t m = 0; m < count; m++) {
    const rounds_cost cost = fit_rounds_compare(data, methods[m], 3);
    if (cost.tally >= 2000000 || cost.rounds > most)
      fail_msg("%s: %zu bytes, %u rounds", methods[m], cost.tally, (unsigned)cost.rounds);
  }
}

TEST(ranges_of_one_column) {
  static const char *const methods[] = {"isotonic", "venn-abers", "histogram:binning=mass",
                                        "spline"};
  rounds_data data = rounds_data_draw(fewer_if_emulated(400000, 10000), 1, 0, 0, 0);
  fit_rounds_bounded(&data, methods, 4, 6);
  rounds_data_free(&data);
}

/* Ties, rows of weight 0 to 4, and scores that separate the outcomes. */
TEST(ranges_of_weighted_rows) {
  static const char *const methods[] = {"isotonic", "histogram:binning=mass", "spline"};
  rounds_data data = rounds_data_draw(fewer_if_emulated(200000, 10000), 1, 0, 1, 0);
  for (size_t i = 0; i < data.rows; i++) {
    data.scores[i] = i % 3 == 0 ? floor(data.scores[i] * 50) / 50 : data.scores[i];
    data.labels[i] = data.scores[i] < 0.1 ? 0 : data.scores[i] > 0.9 ? 1 : data.labels[i];
  }
  fit_rounds_bounded(&data, methods, 3, 7);
  rounds_data_free(&data);
}

TEST(ranges_of_several_columns) {
  static const char *const methods[] = {"isotonic", "isotonic-multi", "venn-abers",
                                        "histogram:binning=mass", "spline:target=all"};
  rounds_data data = rounds_data_draw(fewer_if_emulated(70000, 3000), 4, 0, 0, 0);
  fit_rounds_bounded(&data, methods, 5, 9);
  rounds_data_free(&data);
}

/* Predicted means and deviations: each evaluation of the objective is a round. */
/* So many columns that each may list fewer scores than a range with few rows has. */
TEST(ranges_of_very_many_columns) {
  skip_if_emulated();
  static const char *const methods[] = {"isotonic", "venn-abers", "histogram:binning=mass",
                                        "spline:target=all"};
  rounds_data data = rounds_data_draw(40, 2500, 0, 0, 0);
  for (size_t m = 0; m < 4; m++)
    fit_rounds_compare(&data, methods[m], 2);
  rounds_data_free(&data);
}

static sink_bytes fit_rounds_forecasts(const pcal_batch *batch, const char *method,
                                       size_t workers, unsigned *count) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_rounds *rounds = NULL;
  pcal_calibrator *calibrator = NULL;
  config.method = method;
  assert_int_equal(pcal_rounds_new_fit(&config, NULL, &rounds, NULL), PCAL_OK);
  for (*count = 0; !pcal_rounds_done(rounds); (*count)++) {
    sink_bytes request = rounds_request(rounds), tallies[4] = {{0}}, merged = {0};
    pcal_bytes bytes[4];
    for (size_t w = 0; w < workers; w++) {
      const size_t begin = batch->rows * w / workers, end = batch->rows * (w + 1) / workers;
      pcal_rounds_worker *worker = NULL;
      pcal_batch part = *batch;
      part.rows = end - begin;
      part.scores = (const double *)batch->scores + 2 * begin;
      part.targets = batch->targets + begin;
      part.weights = batch->weights == NULL ? NULL : batch->weights + begin;
      assert_int_equal(
          pcal_rounds_worker_new(request.bytes, request.length, NULL, &worker, NULL), PCAL_OK);
      assert_int_equal(pcal_rounds_worker_update(worker, &part, NULL), PCAL_OK);
      assert_int_equal(pcal_rounds_worker_tally(worker, sink_collect, &tallies[w], NULL),
                       PCAL_OK);
      pcal_rounds_worker_free(worker);
      bytes[w] = (pcal_bytes){tallies[w].bytes, tallies[w].length};
    }
    assert_int_equal(pcal_tally_merge(bytes, workers, NULL, sink_collect, &merged, NULL),
                     PCAL_OK);
    assert_true(merged.length < 10000);
    assert_int_equal(pcal_rounds_absorb(rounds, merged.bytes, merged.length, NULL), PCAL_OK);
    for (size_t w = 0; w < workers; w++)
      free(tallies[w].bytes);
    free(request.bytes);
    free(merged.bytes);
  }
  assert_int_equal(pcal_rounds_calibrator(rounds, &calibrator, NULL), PCAL_OK);
  pcal_rounds_free(rounds);
  return fit_rounds_save(calibrator);
}

TEST(variances) {
  static const char *const methods[] = {"variance-scale", "variance-platt",
                                        "variance-platt:objective=crps"};
  static double scores[2 * 500], targets[500], weights[500];
  const pc_rng rng = {8, 1};
  for (size_t i = 0; i < 500; i++) {
    scores[2 * i] = pc_rng_normal(&rng, 3 * i);
    scores[2 * i + 1] = 0.5 + pc_rng_uniform(&rng, 3 * i + 1);
    targets[i] = scores[2 * i] + 1.5 * scores[2 * i + 1] * pc_rng_normal(&rng, 3 * i + 2);
    weights[i] = (double)(i % 3);
  }
  for (size_t m = 0; m < UNIT_COUNT(methods); m++)
    for (int weighted = 0; weighted < 2; weighted++) {
      pcal_batch batch = PCAL_BATCH_INIT;
      pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
      pcal_source *source = NULL;
      pcal_calibrator *calibrator = NULL;
      unsigned count;
      batch.kind = PCAL_MEAN_STD;
      batch.type = PCAL_F64;
      batch.rows = 500;
      batch.columns = 2;
      batch.scores = scores;
      batch.targets = targets;
      batch.weights = weighted ? weights : NULL;
      config.method = methods[m];
      const pcal_env env = pc_env_resolve(NULL);
      assert_int_equal(pc_source_borrow(&batch, NULL, &env, &source, NULL), PCAL_OK);
      assert_int_equal(pcal_fit_run(source, &config, NULL, &calibrator, NULL), PCAL_OK);
      pcal_source_free(source);
      sink_bytes expected = fit_rounds_save(calibrator);
      sink_bytes found = fit_rounds_forecasts(&batch, methods[m], 1 + m, &count);
      assert_string_equal(found.bytes, expected.bytes);
      assert_in_range(count, 1, m == 0 ? 1 : 100);
      free(expected.bytes);
      free(found.bytes);
    }
}

/* Some workers have no rows. */
TEST(empty_workers) {
  rounds_data data = rounds_data_draw(8, 2, 0, 0, 0);
  data.rows = 5;
  fit_rounds_compare(&data, "temperature", ROUNDS_WORKERS_MAX);
  data.rows = 8;
  rounds_data_free(&data);
}

/* ---- Refusals ---- */

static void fit_rounds_refused(const char *method, int by_group, const char *message) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_rounds *rounds = NULL;
  pcal_error err;
  config.method = method;
  config.by_group = by_group;
  assert_int_equal(pcal_rounds_new_fit(&config, NULL, &rounds, &err), PCAL_USAGE);
  assert_null(rounds);
  assert_string_equal(err.message, message);
}

TEST(methods_that_need_all_rows_are_refused) {
  fit_rounds_refused("network", 0,
                     "network needs all rows at once, so it cannot be fitted in rounds; fit it "
                     "in one process on a sample of the rows");
  fit_rounds_refused("dirichlet-odir:lambda=1", 0, /* mu is to be chosen, in very many passes */
                     "dirichlet-odir needs all rows at once, so it cannot be fitted in rounds; "
                     "fit it in one process on a sample of the rows");
  fit_rounds_refused("temperature", 1,
                     "calibrators of groups need all rows at once, so they cannot be fitted in "
                     "rounds; leave the groups out, or fit in one process");
}

/* A fit would ignore groups; the worker that refuses them goes on without. */
TEST(groups_are_refused) {
  static const uint32_t groups[20] = {1};
  rounds_data data = rounds_data_draw(20, 3, 0, 0, 0);
  pcal_batch batch = rounds_batch(&data, 0, 20);
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_rounds *rounds = NULL;
  pcal_rounds_worker *worker = NULL;
  pcal_error err;
  assert_int_equal(pcal_rounds_new_fit(&config, NULL, &rounds, NULL), PCAL_OK);
  sink_bytes request = rounds_request(rounds);
  assert_int_equal(pcal_rounds_worker_new(request.bytes, request.length, NULL, &worker, NULL),
                   PCAL_OK);
  batch.groups = groups;
  assert_int_equal(pcal_rounds_worker_update(worker, &batch, &err), PCAL_USAGE);
  assert_string_equal(err.message,
                      "calibrators of groups cannot be fitted in rounds; remove groups, or fit "
                      "in one process");
  batch.groups = NULL;
  assert_int_equal(pcal_rounds_worker_update(worker, &batch, &err), PCAL_OK);
  pcal_rounds_worker_free(worker);
  pcal_rounds_free(rounds);
  free(request.bytes);
  rounds_data_free(&data);
}

/* Options that change the passes are refused by the first worker. */
TEST(an_option_that_needs_all_rows) {
  rounds_data data = rounds_data_draw(20, 3, 0, 0, 0);
  const pcal_batch batch = rounds_batch(&data, 0, 20);
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_rounds *rounds = NULL;
  pcal_rounds_worker *worker = NULL;
  pcal_error err;
  config.method = "temperature:objective=ece";
  assert_int_equal(pcal_rounds_new_fit(&config, NULL, &rounds, NULL), PCAL_OK);
  sink_bytes request = rounds_request(rounds);
  assert_int_equal(pcal_rounds_worker_new(request.bytes, request.length, NULL, &worker, NULL),
                   PCAL_OK);
  assert_int_equal(pcal_rounds_worker_update(worker, &batch, &err), PCAL_USAGE);
  assert_string_equal(err.message,
                      "temperature needs all rows at once, so it cannot be fitted in rounds; "
                      "fit it in one process on a sample of the rows");
  assert_int_equal(pcal_rounds_worker_tally(worker, sink_collect, &request, &err), PCAL_USAGE);
  pcal_rounds_worker_free(worker);
  pcal_rounds_free(rounds);
  free(request.bytes);
  rounds_data_free(&data);
}

/* Rounds of platt whose second request is open. */
static pcal_rounds *fit_rounds_begun(const rounds_data *data) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_rounds *rounds = NULL;
  config.method = "platt";
  assert_int_equal(pcal_rounds_new_fit(&config, NULL, &rounds, NULL), PCAL_OK);
  sink_bytes request = rounds_request(rounds), tally = rounds_answer(data, &request, 2);
  assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, NULL), PCAL_OK);
  assert_int_equal(pcal_rounds_done(rounds), 0);
  free(request.bytes);
  free(tally.bytes);
  return rounds;
}

TEST(rows_that_change_between_rounds) {
  rounds_data data = rounds_data_draw(200, 3, 0, 0, 0);
  pcal_rounds *rounds = fit_rounds_begun(&data);
  sink_bytes request = rounds_request(rounds);
  pcal_error err;
  data.rows = 199;
  sink_bytes tally = rounds_answer(&data, &request, 2);
  assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, &err), PCAL_DATA);
  assert_string_equal(err.message,
                      "the rows of this round differ from those of the first (200 rows then, "
                      "199 now); store the table before fitting, so that every round reads the "
                      "same rows");
  free(tally.bytes);
  data.rows = 200;
  tally = rounds_answer(&data, &request, 2); /* the rounds are as they were */
  assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, &err), PCAL_OK);
  assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, &err), PCAL_USAGE);
  assert_string_equal(err.message,
                      "the tally answers another request; absorb the tally of the latest one");
  pcal_rounds_free(rounds);
  free(request.bytes);
  free(tally.bytes);
  rounds_data_free(&data);
}

/* A changed byte of a request or tally is found by its checksum. */
TEST(damaged_bytes) {
  rounds_data data = rounds_data_draw(50, 3, 0, 0, 0);
  pcal_rounds *rounds = fit_rounds_begun(&data);
  sink_bytes request = rounds_request(rounds), tally = rounds_answer(&data, &request, 1);
  for (size_t i = 8; i < tally.length; i += 7) {
    tally.bytes[i] ^= 1;
    assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, NULL), PCAL_DATA);
    tally.bytes[i] ^= 1;
  }
  for (size_t i = 8; i < request.length; i += 7) {
    pcal_rounds_worker *worker = NULL;
    request.bytes[i] ^= 1;
    assert_int_equal(pcal_rounds_worker_new(request.bytes, request.length, NULL, &worker, NULL),
                     PCAL_DATA);
    request.bytes[i] ^= 1;
  }
  pcal_rounds_free(rounds);
  free(request.bytes);
  free(tally.bytes);
  rounds_data_free(&data);
}

TEST(resumed_fits) {
  rounds_data data = rounds_data_draw(200, 3, 0, 0, 0);
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  pcal_rounds *rounds = NULL, *resumed = NULL;
  uint64_t rows = 0, print[2];
  pcal_error err;
  config.method = "platt";
  env.seed = 7; /* part of the request */
  assert_int_equal(pcal_rounds_new_fit(&config, &env, &rounds, &err), PCAL_OK);
  sink_bytes first = rounds_request(rounds), tally = rounds_answer(&data, &first, 2);
  assert_int_equal(pcal_tally_rows(tally.bytes, tally.length, &rows, print, &err), PCAL_OK);
  assert_int_equal(rows, 200);
  assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, &err), PCAL_OK);
  assert_int_equal(pcal_rounds_resume(first.bytes, first.length, NULL, &resumed, &err),
                   PCAL_OK);
  assert_int_equal(pcal_rounds_is_fit(resumed), 1);
  assert_int_equal(pcal_rounds_absorb(resumed, tally.bytes, tally.length, &err), PCAL_OK);
  sink_bytes next = rounds_request(rounds), same = rounds_request(resumed);
  assert_int_equal(next.length, same.length);
  assert_memory_equal(next.bytes, same.bytes, next.length);
  pcal_rounds_free(resumed);
  assert_int_equal(pcal_rounds_resume(next.bytes, next.length, NULL, &resumed, &err),
                   PCAL_USAGE);
  assert_null(resumed);
  pcal_rounds_free(rounds);
  free(first.bytes);
  free(tally.bytes);
  free(next.bytes);
  free(same.bytes);
  rounds_data_free(&data);
}
