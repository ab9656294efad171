/* Intervals and nulls by rounds print the bytes of one process. */
#include "rounds_help.h"

#include "base/checksum.h"
#include "base/envelope.h"
#include "emulated.h"
#include "measure/round_draws.h"

static const char *const draws_specs[] = {
    "ece", "mce", "sce", "tce:p=2,binning=width", "tce:p=2,binning=width,debias=yes", "cwce",
};
#define DRAWS_SPECS UNIT_COUNT(draws_specs)

static pcal_measure_config draws_config(const rounds_data *data, const char *const *specs,
                                        size_t count, int null) {
  pcal_measure_config config = rounds_config(data, specs, count);
  config.interval = null ? 0.0 : 0.9;
  config.null = null;
  config.replicas = fewer_if_emulated(60, 20);
  return config;
}

static rounds_cost draws_compare(const rounds_data *data, const pcal_measure_config *config,
                                 size_t workers) {
  rounds_cost cost;
  sink_bytes expected = rounds_in_one_process(data, config);
  sink_bytes found = rounds_run(data, config, workers, &cost);
  assert_string_equal(found.bytes, expected.bytes);
  if (config->interval > 0)
    assert_non_null(strstr(found.bytes, "\"inversion\""));
  if (config->null)
    assert_non_null(strstr(found.bytes, "\"p_value\""));
  free(expected.bytes);
  free(found.bytes);
  return cost;
}

/* Any number of workers; weights stand for copies of a row. */
TEST(intervals_have_the_bytes_of_one_process) {
  for (int weighted = emulated() ? 1 : 0; weighted < 2; weighted++) {
    rounds_data data = rounds_data_draw(3000, ROUNDS_CLASSES, 0, weighted, 0);
    const pcal_measure_config config = draws_config(&data, draws_specs, DRAWS_SPECS, 0);
    for (size_t workers = 1; workers <= 5; workers += 2)
      assert_int_equal(draws_compare(&data, &config, workers).rounds, 2);
    rounds_data_free(&data);
  }
}

TEST(nulls_have_the_bytes_of_one_process) {
  for (int weighted = emulated() ? 1 : 0; weighted < 2; weighted++) {
    rounds_data data = rounds_data_draw(3000, ROUNDS_CLASSES, 0, weighted, 0);
    pcal_measure_config config = draws_config(&data, draws_specs, DRAWS_SPECS, 1);
    draws_compare(&data, &config, 4);
    config.interval = 0.95;
    draws_compare(&data, &config, 3);
    rounds_data_free(&data);
  }
}

/* One column, beside metrics whose intervals have a formula. */
TEST(one_column_beside_formulas) {
  const char *const specs[] = {"ece", "brier", "accuracy", "mce", "tce:p=2,debias=yes"};
  rounds_data data = rounds_data_draw(4000, 1, 0, 0, 0);
  const pcal_measure_config config = draws_config(&data, specs, UNIT_COUNT(specs), 0);
  draws_compare(&data, &config, 4);
  rounds_data_free(&data);
}

/* Groups have replicas of their own; those of few rows say that they have none. */
TEST(groups) {
  const char *const specs[] = {"ece", "sce"};
  rounds_data data = rounds_data_draw(6000, ROUNDS_CLASSES, 0, 1, 3);
  const pcal_measure_config config = draws_config(&data, specs, 2, 0);
  draws_compare(&data, &config, 4);
  for (size_t i = 0; i < data.rows; i++)
    data.groups[i] = i < 200 ? 1 : 0;
  rounds_cost cost;
  sink_bytes found = rounds_run(&data, &config, 3, &cost);
  assert_non_null(strstr(found.bytes, "needs 1024 rows in rounds"));
  free(found.bytes);
  rounds_data_free(&data);
}

/* Scores that are sums of row values: labels are drawn by the workers, and sums are exact.  Also of few rows. */
TEST(nulls_of_sums) {
  const char *const specs[] = {"accuracy", "brier", "rbs", "log", "spherical", "ece"};
  const char *const few[] = {"brier", "log"};
  for (int variant = 0; variant < 4; variant += emulated() ? 3 : 1) {
    rounds_data data =
        rounds_data_draw(3000, variant & 2 ? 1 : ROUNDS_CLASSES, 0, variant & 1, 0);
    pcal_measure_config config = draws_config(&data, specs, UNIT_COUNT(specs), 1);
    draws_compare(&data, &config, 4);
    config.interval = 0.9;
    draws_compare(&data, &config, 3);
    config = draws_config(&data, few, 2, 1);
    data.rows = 300;
    draws_compare(&data, &config, 3);
    rounds_data_free(&data);
  }
}

/* Groups, of which some have few rows, and one has only rows of weight 0. */
TEST(nulls_of_sums_by_groups) {
  const char *const specs[] = {"brier", "accuracy"};
  rounds_data data = rounds_data_draw(3000, ROUNDS_CLASSES, 0, 1, 3);
  for (size_t i = 0; i < data.rows; i++) {
    data.groups[i] = i < 20 ? 0 : i < 300 ? 1 : 2;
    data.weights[i] = i < 20 ? 0 : data.weights[i];
  }
  const pcal_measure_config config = draws_config(&data, specs, 2, 1);
  draws_compare(&data, &config, 4);
  rounds_data_free(&data);
}

/* Targets are drawn from normal distributions. */
TEST(nulls_of_sums_of_numbers) {
  const char *const specs[] = {"crps", "log"};
  rounds_data data = rounds_data_draw(2000, 2, 0, 0, 0);
  data.kind = PCAL_MEAN_VARIANCE;
  data.targets = calloc(data.rows, sizeof *data.targets);
  for (size_t i = 0; i < data.rows; i++) {
    data.targets[i] = data.scores[2 * i] + (double)(i % 7) - 3;
    data.scores[2 * i + 1] = 1 + data.scores[2 * i + 1];
  }
  const pcal_measure_config config = draws_config(&data, specs, 2, 1);
  draws_compare(&data, &config, 4);
  rounds_data_free(&data);
}

/* A value that is undefined has no null, and no reason why rounds could not draw it. */
TEST(undefined_values) {
  const char *const specs[] = {"cox", "brier"};
  rounds_data data = rounds_data_draw(2000, 1, 0, 0, 0);
  memset(data.labels, 0, data.rows * sizeof *data.labels); /* one outcome: no regression */
  const pcal_measure_config config = draws_config(&data, specs, 2, 1);
  draws_compare(&data, &config, 3);
  rounds_data_free(&data);
}

/* Groups of few rows: their sums are limited together. */
TEST(sums_of_many_groups) {
  const char *const specs[] = {"accuracy"};
  rounds_data data = rounds_data_draw(200, 1, 0, 0, 8);
  pcal_measure_config config = draws_config(&data, specs, 1, 1);
  config.replicas = 40000; /* 45 MB for all rows, and for each group */
  rounds_cost cost;
  sink_bytes printed = rounds_run(&data, &config, 2, &cost);
  size_t drawn = 0, lacking = 0;
  for (const char *at = printed.bytes; (at = strstr(at, "\"p_value\"")) != NULL; at++)
    drawn++;
  for (const char *at = printed.bytes; (at = strstr(at, "small groups share 256 MiB")) != NULL;
       at++)
    lacking++;
  assert_int_equal(drawn, 5);
  assert_int_equal(lacking, 4);
  free(printed.bytes);
  rounds_data_free(&data);
}

/* One process does not use cells that are as wide as the kernel either. */
TEST(cells_end) {
  const char *const specs[] = {"tce-kde"};
  const rounds_data data = {.rows = 1, .columns = 1, .kind = PCAL_PROBABILITY};
  const pcal_measure_config config = draws_config(&data, specs, 1, 0);
  pcal_measure *measure = NULL;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  double total = 1.3e8, sums = 0;
  pc_tally_slot slot = {.sums = &sums};
  const pc_replica_tally tally = {.slots = &slot, .slot_count = 1, .totals = &total};
  assert_true(pc_replica_tally_has_curve(&tally, &measure->plan, 0));
  total = 1.4e8;
  assert_false(pc_replica_tally_has_curve(&tally, &measure->plan, 0));
  pcal_measure_free(measure);
}

/* Very many replicas: sums are limited too. */
TEST(too_many_sums) {
  const char *const specs[] = {"accuracy", "brier"};
  rounds_data data = rounds_data_draw(200, 1, 0, 0, 0);
  pcal_measure_config config = draws_config(&data, specs, 2, 1);
  config.replicas = 40000; /* of 1,136 bytes: one value fits */
  rounds_cost cost;
  sink_bytes printed = rounds_run(&data, &config, 2, &cost);
  assert_non_null(strstr(printed.bytes, "its replicas have too many sums for rounds"));
  assert_non_null(strstr(printed.bytes, "\"p_value\""));
  free(printed.bytes);
  rounds_data_free(&data);
}

/* The seed of the coordinator is that of the workers. */
TEST(seeds) {
  const char *const specs[] = {"ece"};
  rounds_data data = rounds_data_draw(2000, 1, 0, 0, 0);
  const pcal_measure_config config = draws_config(&data, specs, 1, 0);
  pcal_env env = PCAL_ENV_INIT;
  sink_bytes printed[2];
  for (size_t i = 0; i < 2; i++) {
    pcal_rounds *rounds = NULL, *resumed = NULL;
    pcal_results *results = NULL;
    env.seed = 5;
    assert_int_equal(pcal_rounds_new(&config, &env, &rounds, NULL), PCAL_OK);
    sink_bytes first = rounds_request(rounds);
    env.seed = 6; /* of another process */
    assert_int_equal(pcal_rounds_resume(first.bytes, first.length, &env, &resumed, NULL),
                     PCAL_OK);
    pcal_rounds *const used = i == 0 ? rounds : resumed;
    while (!pcal_rounds_done(used)) {
      sink_bytes request = rounds_request(used), tally = rounds_answer(&data, &request, 2);
      assert_int_equal(pcal_rounds_absorb(used, tally.bytes, tally.length, NULL), PCAL_OK);
      free(request.bytes);
      free(tally.bytes);
    }
    assert_int_equal(pcal_rounds_finish(used, &results, NULL), PCAL_OK);
    printed[i] = rounds_print(results);
    free(first.bytes);
    pcal_rounds_free(rounds);
    pcal_rounds_free(resumed);
  }
  assert_string_equal(printed[0].bytes, printed[1].bytes);
  sink_bytes other = rounds_in_one_process(&data, &config); /* seed 0 */
  assert_string_not_equal(other.bytes, printed[0].bytes);
  free(other.bytes);
  free(printed[0].bytes);
  free(printed[1].bytes);
  rounds_data_free(&data);
}

/* ---- refused ---- */

/* Rounds whose request for replicas is open. */
typedef struct draws_case {
  rounds_data data;
  pcal_rounds *rounds;
  sink_bytes request;
} draws_case;

static draws_case draws_begun(int ties) {
  const char *const specs[] = {"ece"};
  draws_case all = {.data = rounds_data_draw(2000, 1, ties, 0, 0)};
  pcal_measure_config config = draws_config(&all.data, specs, 1, 0);
  config.replicas = 20;
  assert_int_equal(pcal_rounds_new(&config, NULL, &all.rounds, NULL), PCAL_OK);
  sink_bytes first = rounds_request(all.rounds);
  sink_bytes tally = rounds_answer(&all.data, &first, 2);
  assert_int_equal(pcal_rounds_absorb(all.rounds, tally.bytes, tally.length, NULL), PCAL_OK);
  assert_false(pcal_rounds_done(all.rounds));
  free(first.bytes);
  free(tally.bytes);
  all.request = rounds_request(all.rounds);
  return all;
}

static void draws_case_free(draws_case *all) {
  free(all->request.bytes);
  pcal_rounds_free(all->rounds);
  rounds_data_free(&all->data);
}

/* Equal rows draw by their number, which no part knows; in one part they are counted. */
TEST(equal_rows_in_several_parts_are_refused) {
  draws_case all = draws_begun(1);
  pcal_error err;
  sink_bytes tally = rounds_answer(&all.data, &all.request, 2);
  assert_int_equal(pcal_rounds_absorb(all.rounds, tally.bytes, tally.length, &err), PCAL_DATA);
  assert_string_equal(err.message,
                      "equal rows, or rows of one id, are in several parts, and what they draw "
                      "for intervals depends on their number; bring them into one part, join "
                      "them into one row with a weight, or give each row an id of its own");
  free(tally.bytes);
  tally = rounds_answer(&all.data, &all.request, 1);
  assert_int_equal(pcal_rounds_absorb(all.rounds, tally.bytes, tally.length, &err), PCAL_OK);
  assert_true(pcal_rounds_done(all.rounds));
  free(tally.bytes);
  pcal_results *results = NULL;
  const char *const specs[] = {"ece"};
  pcal_measure_config config = draws_config(&all.data, specs, 1, 0);
  config.replicas = 20;
  assert_int_equal(pcal_rounds_finish(all.rounds, &results, &err), PCAL_OK);
  sink_bytes found = rounds_print(results),
             expected = rounds_in_one_process(&all.data, &config);
  assert_string_equal(found.bytes, expected.bytes);
  free(found.bytes);
  free(expected.bytes);
  draws_case_free(&all);
}

/* Equal rows, joined into one row with a weight, are the same rows as before. */
TEST(joined_rows_are_the_same_rows) {
  draws_case all = draws_begun(1);
  rounds_data joined = rounds_data_draw(2000, 1, 1, 1, 0);
  size_t count = 0;
  for (size_t i = 0; i < all.data.rows; i++) {
    size_t at = 0;
    while (at < count &&
           (joined.scores[at] != all.data.scores[i] || joined.labels[at] != all.data.labels[i]))
      at++;
    joined.weights[at] = at == count ? 1.0 : joined.weights[at] + 1.0;
    joined.scores[at] = all.data.scores[i];
    joined.labels[at] = all.data.labels[i];
    count += at == count;
  }
  joined.rows = count;
  assert_true(count < 60);
  pcal_error err;
  pcal_results *results = NULL;
  const char *const specs[] = {"ece"};
  pcal_measure_config config = draws_config(&all.data, specs, 1, 0);
  config.replicas = 20;
  sink_bytes tally = rounds_answer(&joined, &all.request, 3);
  assert_int_equal(pcal_rounds_absorb(all.rounds, tally.bytes, tally.length, &err), PCAL_OK);
  assert_int_equal(pcal_rounds_finish(all.rounds, &results, &err), PCAL_OK);
  sink_bytes found = rounds_print(results),
             expected = rounds_in_one_process(&all.data, &config);
  assert_string_equal(found.bytes, expected.bytes);
  free(found.bytes);
  free(expected.bytes);
  free(tally.bytes);
  rounds_data_free(&joined);
  draws_case_free(&all);
}

/* The same in rounds that refine curves, with one row twice; requests say when they draw. */
TEST(joined_rows_in_every_later_round) {
  const char *const specs[] = {"ks", "smece", "ece", "brier"};
  rounds_data data = rounds_data_draw(16401, 1, 0, 0, 0), joined = data;
  data.scores[16400] = data.scores[5];
  data.labels[16400] = data.labels[5];
  joined.rows = 16400;
  joined.weights = calloc(joined.rows, sizeof *joined.weights);
  for (size_t i = 0; i < joined.rows; i++)
    joined.weights[i] = i == 5 ? 2.0 : 1.0;
  pcal_measure_config config = draws_config(&data, specs, UNIT_COUNT(specs), 0);
  pcal_rounds *rounds = NULL;
  pcal_results *results = NULL;
  pcal_error err;
  unsigned refined = 0, drawn = 0;
  assert_int_equal(pcal_rounds_new(&config, NULL, &rounds, &err), PCAL_OK);
  while (!pcal_rounds_done(rounds)) {
    const int first = pcal_rounds_round(rounds) == 1, draws = pcal_rounds_draws(rounds);
    assert_true(!first || !draws);
    refined += !first && !draws;
    drawn += draws != 0;
    sink_bytes request = rounds_request(rounds);
    sink_bytes tally = rounds_answer(first ? &data : &joined, &request, 3);
    assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, &err), PCAL_OK);
    free(request.bytes);
    free(tally.bytes);
  }
  assert_true(refined > 0 && drawn == 1 && !pcal_rounds_draws(rounds));
  assert_int_equal(pcal_rounds_finish(rounds, &results, &err), PCAL_OK);
  sink_bytes found = rounds_print(results), expected = rounds_in_one_process(&data, &config);
  assert_string_equal(found.bytes, expected.bytes);
  pcal_rounds_free(rounds);
  free(found.bytes);
  free(expected.bytes);
  free(joined.weights);
  rounds_data_free(&data);
}

TEST(changed_rows_are_noticed) {
  draws_case all = draws_begun(0);
  pcal_error err;
  all.data.scores[7] += 1e-9;
  sink_bytes tally = rounds_answer(&all.data, &all.request, 3);
  assert_int_equal(pcal_rounds_absorb(all.rounds, tally.bytes, tally.length, &err), PCAL_DATA);
  assert_string_equal(err.message,
                      "the rows of this round differ from those of the first (2000 rows then, "
                      "2000 now); store the table before measuring it, so that every round "
                      "reads the same rows");
  free(tally.bytes);
  draws_case_free(&all);
}

/* Sums of such rows would not be exact. */
TEST(more_rows_than_in_the_first_round) {
  draws_case all = draws_begun(0);
  rounds_data heavy = rounds_data_draw(50, 1, 0, 1, 0);
  pcal_rounds_worker *worker = NULL;
  pcal_error err;
  size_t written = 0;
  for (size_t i = 0; i < heavy.rows; i++)
    heavy.weights[i] = 1e12;
  const pcal_batch batch = rounds_batch(&heavy, 0, heavy.rows);
  assert_int_equal(
      pcal_rounds_worker_new(all.request.bytes, all.request.length, NULL, &worker, NULL),
      PCAL_OK);
  assert_int_equal(pcal_rounds_worker_update(worker, &batch, &err), PCAL_OK);
  assert_int_equal(pcal_rounds_worker_tally(worker, sink_count, &written, &err), PCAL_DATA);
  assert_string_equal(err.message,
                      "these rows have more weight than those of the first round; store the "
                      "table before measuring it, so that every round reads the same rows");
  assert_int_equal(written, 0);
  pcal_rounds_worker_free(worker);
  rounds_data_free(&heavy);
  draws_case_free(&all);
}

/* The results, as JSON; in any case there are results. */
static sink_bytes draws_print(const rounds_data *data, const pcal_measure_config *config) {
  rounds_cost cost;
  return rounds_run(data, config, 2, &cost);
}

static void draws_says(const sink_bytes *printed, size_t times, const char *remark) {
  size_t found = 0;
  for (const char *at = printed->bytes; (at = strstr(at, remark)) != NULL; at++)
    found++;
  assert_int_equal(found, times);
}

/* Metrics whose replicas are not drawn have values and say why there is no interval. */
TEST(metrics_without_replicas_say_so) {
  rounds_data data = rounds_data_draw(3000, ROUNDS_CLASSES, 0, 0, 0);
  pcal_measure_config config = draws_config(&data, NULL, 0, 0);
  config.null = 1;
  sink_bytes printed = draws_print(&data, &config);
  draws_says(&printed, 3, "\"needs 16384 rows in rounds; measure it in one process\"");
  assert_non_null(strstr(printed.bytes, "\"p_value\""));
  free(printed.bytes);
  const char *const specs[] = {"mmce:width=0.01", "smece"};
  config = draws_config(&data, specs, 2, 0);
  printed = draws_print(&data, &config);
  draws_says(&printed, 1, "its replicas need all rows at once; measure it in one process");
  draws_says(&printed, 1, "needs 16384 rows in rounds");
  free(printed.bytes);
  rounds_data_free(&data);
}

/* The bins of all replicas are limited; metrics beyond the limit say so. */
TEST(too_many_bins) {
  const char *const specs[] = {"sce:bins=10000", "ece"};
  rounds_data data = rounds_data_draw(3000, ROUNDS_CLASSES, 0, 0, 0);
  const pcal_measure_config config = draws_config(&data, specs, 2, 0);
  sink_bytes printed = draws_print(&data, &config);
  draws_says(&printed, 1, "its replicas have too many bins for rounds");
  draws_says(&printed, 1, "\"inversion\"");
  free(printed.bytes);
  rounds_data_free(&data);
}

TEST(weights_that_are_not_whole) {
  const char *const specs[] = {"ece", "ks", "brier"};
  rounds_data data = rounds_data_draw(2000, 1, 0, 1, 0);
  data.weights[4] = 0.5;
  const pcal_measure_config config = draws_config(&data, specs, 3, 0);
  sink_bytes printed = draws_print(&data, &config);
  draws_says(&printed, 2, "rounds draw rows whose weights are frequencies");
  free(printed.bytes);
  rounds_data_free(&data);
}

/* Each byte in turn forged, with a checksum that fits: refused, or a tally of other draws. */
TEST(forged_tallies) {
  draws_case all = draws_begun(0);
  sink_bytes tally = rounds_tally(&all.data, &all.request, 0, 1);
  size_t refused = 0, tried = 0;
  for (size_t at = 0; at + PC_CHECKSUM_BYTES < tally.length;
       at += 1 + at / (emulated() ? 50 : 200)) {
    pcal_rounds *rounds = NULL;
    pcal_results *results = NULL;
    pcal_error err;
    sink_bytes forged = {malloc(tally.length), tally.length, 0};
    memcpy(forged.bytes, tally.bytes, tally.length);
    forged.bytes[at] ^= (char)(1 << (at % 8));
    rounds_seal(&forged);
    const char *const specs[] = {"ece"};
    pcal_measure_config config = draws_config(&all.data, specs, 1, 0);
    config.replicas = 20;
    assert_int_equal(pcal_rounds_new(&config, NULL, &rounds, NULL), PCAL_OK);
    sink_bytes first = rounds_request(rounds), answer = rounds_answer(&all.data, &first, 1);
    assert_int_equal(pcal_rounds_absorb(rounds, answer.bytes, answer.length, NULL), PCAL_OK);
    const pcal_status status = pcal_rounds_absorb(rounds, forged.bytes, forged.length, &err);
    assert_true(status == PCAL_OK || status == PCAL_DATA || status == PCAL_USAGE);
    if (status == PCAL_OK)
      assert_int_equal(pcal_rounds_finish(rounds, &results, &err), PCAL_OK);
    pcal_results_free(results);
    tried++;
    refused += status != PCAL_OK;
    pcal_rounds_free(rounds);
    free(forged.bytes);
    free(first.bytes);
    free(answer.bytes);
  }
  assert_true(tried > fewer_if_emulated(300, 100) && refused > tried / 4);
  free(tally.bytes);
  draws_case_free(&all);
}

/* The same for requests: a worker refuses them, or answers. */
TEST(forged_requests) {
  draws_case all = draws_begun(0);
  for (size_t at = 0; at + PC_CHECKSUM_BYTES < all.request.length; at++)
    for (int bit = emulated() ? (int)at % 8 : 0; bit < 8; bit += emulated() ? 8 : 1) {
      pcal_rounds_worker *worker = NULL;
      pcal_error err;
      all.request.bytes[at] ^= (char)(1 << bit);
      rounds_seal(&all.request);
      const pcal_status status =
          pcal_rounds_worker_new(all.request.bytes, all.request.length, NULL, &worker, &err);
      assert_true(status == PCAL_OK || status == PCAL_DATA || status == PCAL_USAGE ||
                  status == PCAL_MEMORY);
      pcal_rounds_worker_free(worker);
      all.request.bytes[at] ^= (char)(1 << bit);
    }
  draws_case_free(&all);
}

/* Tallies merge in any order to the same bytes. */
TEST(any_order_of_merges) {
  draws_case all = draws_begun(0);
  sink_bytes parts[3], merged[2] = {{0}, {0}}, pair = {0};
  for (size_t w = 0; w < 3; w++)
    parts[w] = rounds_tally(&all.data, &all.request, w, 3);
  const pcal_bytes some[] = {{parts[2].bytes, parts[2].length},
                             {parts[0].bytes, parts[0].length}};
  assert_int_equal(pcal_tally_merge(some, 2, NULL, sink_collect, &pair, NULL), PCAL_OK);
  const pcal_bytes ways[2][3] = {
      {{parts[0].bytes, parts[0].length},
       {parts[1].bytes, parts[1].length},
       {parts[2].bytes, parts[2].length}},
      {{parts[1].bytes, parts[1].length}, {pair.bytes, pair.length}}};
  for (size_t w = 0; w < 2; w++)
    assert_int_equal(pcal_tally_merge(ways[w], 3 - w, NULL, sink_collect, &merged[w], NULL),
                     PCAL_OK);
  assert_int_equal(merged[0].length, merged[1].length);
  assert_memory_equal(merged[0].bytes, merged[1].bytes, merged[0].length);
  for (size_t w = 0; w < 3; w++)
    free(parts[w].bytes);
  free(pair.bytes);
  free(merged[0].bytes);
  free(merged[1].bytes);
  draws_case_free(&all);
}
