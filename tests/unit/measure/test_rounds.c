/* Rounds over several workers print the bytes of one process. */
#include "rounds_help.h"

#include "api/rounds_api.h"
#include "curve/refine_targets.h"
#include "emulated.h"
#include "machines/machine_curve_buckets.h"
#include "measure/rounds.h"

static const char *const rounds_specs[] = {
    "accuracy",
    "brier",
    "log",
    "ece",
    "sce",
    "ks",
    "smece",
    "tce:p=2,binning=mass,debias=yes",
    "ece:binning=mass",
    "ks:class=0",
    "gce:variant=25",
    "cwce:binning=mass",
    "ace",
    "tace",
    "rmsce",
};
#define ROUNDS_SPECS (sizeof rounds_specs / sizeof *rounds_specs)

/* Any number of workers, with and without ties, weights and groups. */
TEST(the_bytes_of_one_process) {
  for (int variant = 0; variant < 8; variant += emulated() ? 7 : 1) {
    rounds_data data =
        rounds_data_draw(500, ROUNDS_CLASSES, variant & 1, variant & 2, (variant & 4) ? 3 : 0);
    const pcal_measure_config config = rounds_config(&data, rounds_specs, ROUNDS_SPECS);
    for (size_t workers = 1; workers <= 4; workers += 3)
      rounds_compare(&data, &config, workers);
    rounds_data_free(&data);
  }
}

/* One column, whose scores are used as stored in one process. */
TEST(one_column) {
  const char *const specs[] = {"ks", "smece", "ece:binning=mass", "brier", "ece"};
  rounds_data data = rounds_data_draw(5000, 1, 0, 0, 0);
  const pcal_measure_config config = rounds_config(&data, specs, 5);
  rounds_compare(&data, &config, 3);
  rounds_data_free(&data);
}

/* Tests of calibration, which also need squares of scores; with and without ties, weights and
 * groups, of few rows that are sorted and of many. */
TEST(tests_of_calibration) {
  const char *const specs[] = {
      "hosmer-lemeshow", "hosmer-lemeshow:bins=7,variance=mean", "ks-test", "kuiper", "ks",
      "spiegelhalter"};
  for (int variant = 0; variant < 16; variant += emulated() ? 5 : 1) {
    const size_t rows = variant & 8 ? fewer_if_emulated(40000, 5000) : 400;
    rounds_data data =
        rounds_data_draw(rows, 1, variant & 1, variant & 2, (variant & 4) ? 3 : 0);
    const pcal_measure_config config = rounds_config(&data, specs, 6);
    const rounds_cost cost = rounds_compare(&data, &config, 4);
    assert_true(cost.rounds <= 4 && cost.tally < 3000000);
    rounds_data_free(&data);
  }
  rounds_data data = rounds_data_draw(3000, ROUNDS_CLASSES, 0, 0, 0);
  const pcal_measure_config config = rounds_config(&data, specs, 6);
  rounds_compare(&data, &config, 3);
  rounds_data_free(&data);
}

/* Logistic regressions: one round for each step of Newton's method. */
TEST(logistic_regressions) {
  const char *const specs[] = {"cox", "calibration-slope", "calibration-intercept",
                               "cox:clip=0.01", "ks"};
  for (int variant = 0; variant < 8; variant += emulated() ? 3 : 1) {
    rounds_data data =
        rounds_data_draw(2000, 1, variant & 1, variant & 2, (variant & 4) ? 3 : 0);
    for (size_t i = 0; i < data.rows; i++)
      data.scores[i] = 0.001 + 0.998 * data.scores[i];
    pcal_measure_config config = rounds_config(&data, specs, 5);
    config.interval = variant & 2 ? 0.9 : 0.0;
    config.spec_count = variant & 2 ? 2 : 5; /* slopes have intervals by formula */
    config.specs = variant & 2 ? specs + 1 : specs;
    const rounds_cost cost = rounds_compare(&data, &config, 4);
    assert_in_range(cost.rounds, 4, 9);
    rounds_data_free(&data);
  }
  rounds_data data = rounds_data_draw(3000, ROUNDS_CLASSES, 0, 0, 0);
  const pcal_measure_config config = rounds_config(&data, specs, 5);
  rounds_compare(&data, &config, 3);
  rounds_data_free(&data);
}

/* A model that is far too sure: Newton's steps are halved often, several sizes in one round. */
TEST(logistic_regressions_with_halved_steps) {
  static const char *const specs[] = {"cox", "calibration-intercept"};
  const pc_rng rng = {77, 5};
  for (int variant = 0; variant < 2; variant++) {
    rounds_data data = rounds_data_draw(3000, 1, 0, 0, 0);
    for (size_t i = 0; i < data.rows; i++) {
      const double z = variant == 0 ? 6 + 6 * data.scores[i] : 12 + 8 * data.scores[i];
      const int up = pc_rng_uniform(&rng, 2 * i) < 0.5;
      data.scores[i] = 1 / (1 + exp(up ? -z : z));
      data.labels[i] = (pc_rng_uniform(&rng, 2 * i + 1) < 0.1) != up;
    }
    const pcal_measure_config config = rounds_config(&data, specs, 2);
    assert_in_range(rounds_compare(&data, &config, 3).rounds, 5, variant == 0 ? 9 : 15);
    rounds_data_free(&data);
  }
}

/* Without a fit the reason is that of one process. */
TEST(logistic_regressions_without_a_fit) {
  const char *const specs[] = {"cox", "calibration-slope", "calibration-intercept",
                               "cox:clip=1e-9"};
  for (int variant = 0; variant < 5; variant++) {
    rounds_data data = rounds_data_draw(600, 1, 0, 0, 0);
    for (size_t i = 0; i < data.rows; i++) {
      const double p = 0.1 + 0.8 * data.scores[i];
      data.scores[i] = variant == 2 ? 0.25 : variant == 3 && i == 5 ? 1.0 : p;
      data.labels[i] = variant == 0   ? 1
                       : variant == 1 ? p > 0.4
                       : variant == 3 ? i != 7 && data.labels[i] != 0
                                      : data.labels[i];
      if (variant == 4) /* every score is certain and comes true */
        data.scores[i] = data.labels[i];
    }
    if (variant == 3)
      data.labels[5] = 0; /* a score of 1 that did not come true */
    const pcal_measure_config config = rounds_config(&data, specs, 4);
    rounds_compare(&data, &config, 3);
    rounds_data_free(&data);
  }
}

/* Scores a little outside [0, 1] count as 0 or 1. */
TEST(tests_of_scores_outside) {
  const char *const specs[] = {"ks-test", "kuiper", "hosmer-lemeshow"};
  rounds_data data = rounds_data_draw(3000, 1, 0, 0, 0);
  for (size_t i = 0; i < data.rows; i++)
    data.scores[i] = i % 5 == 0   ? -1e-7 * data.scores[i]
                     : i % 5 == 1 ? 1.0 + 1e-7 * data.scores[i]
                                  : data.scores[i];
  const pcal_measure_config config = rounds_config(&data, specs, 3);
  rounds_compare(&data, &config, 3);
  rounds_data_free(&data);
}

/* Many rows: scores of curves are divided, not stored; at most six rounds and 2 MB. */
TEST(the_default_metrics_of_many_rows) {
  rounds_data data = rounds_data_draw(fewer_if_emulated(80000, 3000), 10, 0, 0, 0);
  const pcal_measure_config config = rounds_config(&data, NULL, 0);
  const rounds_cost cost = rounds_compare(&data, &config, 4);
  assert_true(cost.rounds <= 6);
  assert_true(cost.tally < 2000000);
  assert_true(cost.request < 500000);
  rounds_data_free(&data);
}

/* Weights that are not whole: the first round is repeated with all scores. */
TEST(fractional_weights) {
  rounds_data data = rounds_data_draw(700, ROUNDS_CLASSES, 0, 1, 2);
  for (size_t i = 0; i < data.rows; i++)
    data.weights[i] += 0.125 * (double)(i % 7);
  const pcal_measure_config config = rounds_config(&data, rounds_specs, ROUNDS_SPECS);
  assert_int_equal(rounds_compare(&data, &config, 3).rounds, 2);
  rounds_data_free(&data);
}

/* Workers learn the number of columns from their rows; some workers have none. */
TEST(columns_of_the_data_and_empty_workers) {
  rounds_data data = rounds_data_draw(3, ROUNDS_CLASSES, 0, 0, 0);
  pcal_measure_config config = rounds_config(&data, rounds_specs, ROUNDS_SPECS);
  sink_bytes expected = rounds_in_one_process(&data, &config);
  rounds_cost cost;
  config.columns = 0;
  sink_bytes found = rounds_run(&data, &config, ROUNDS_WORKERS_MAX, &cost);
  assert_string_equal(found.bytes, expected.bytes);
  free(expected.bytes);
  free(found.bytes);
  rounds_data_free(&data);
}

/* Sums and bins alone need one round. */
TEST(one_round_for_sums_and_bins) {
  const char *const specs[] = {"brier", "log", "ece", "sce", "spiegelhalter"};
  rounds_data data = rounds_data_draw(500, ROUNDS_CLASSES, 0, 1, 3);
  pcal_measure_config config = rounds_config(&data, specs, 2);
  config.interval = 0.9;
  assert_int_equal(rounds_compare(&data, &config, 3).rounds, 1);
  config = rounds_config(&data, specs, 5);
  assert_int_equal(rounds_compare(&data, &config, 3).rounds, 1);
  rounds_data_free(&data);
}

/* Kernels on scores: every score of fewer than 2^16 rows, else cells of 2^-14, which the first round counts.
 * The last width is too narrow for them. */
TEST(kernels_on_scores) {
  static const char *const specs[] = {"mmce", "mmce:estimator=u", "mmce:width=0.05",
                                      "mmce:width=0.001"};
  for (int many = 0; many < 2; many++)
    for (int weighted = emulated() ? !many : 0; weighted < (emulated() && many ? 1 : 2);
         weighted++) {
      rounds_data data = rounds_data_draw(many ? 70000 : 5000, ROUNDS_CLASSES, 0, weighted, 0);
      pcal_measure_config config = rounds_config(&data, specs, 2);
      const rounds_cost cost = rounds_compare(&data, &config, 3);
      assert_in_range(cost.rounds, 1, many ? 1 : 2);
      assert_true(cost.tally < 1000000);
      config = rounds_config(&data, specs, 4);
      rounds_compare(&data, &config, 2);
      rounds_data_free(&data);
    }
}

/* Densities of confidences need sums in the cells of their grid, and every score of few rows; also where
 * one cell of 2^-14 holds all of them. */
TEST(densities_of_scores) {
  static const char *const specs[] = {"tce-kde", "tce-kde:p=1", "tce-kde:root=no", "ks",
                                      "smece"};
  for (int variant = 0; variant < 8; variant += emulated() ? 2 : 1) {
    const int many = variant & 1, narrow = variant & 4;
    rounds_data data =
        rounds_data_draw(many ? 70000 : 5000, narrow ? 1 : ROUNDS_CLASSES, 0, variant & 2, 0);
    for (size_t i = 0; narrow && i < data.rows; i++)
      data.scores[i] = 1 - 6e-5 * data.scores[i];
    pcal_measure_config config = rounds_config(&data, specs, 3);
    const rounds_cost cost = rounds_compare(&data, &config, 3);
    assert_int_equal(cost.rounds, 2);
    assert_true(cost.tally < (many ? 1500000 : 16 * data.rows + 200000));
    config = rounds_config(&data, specs, 5);
    if (!(variant & 2))
      rounds_compare(&data, &config, 3);
    rounds_data_free(&data);
  }
}

/* Tests of each class; cox adds up logistic regressions of all classes in the same rounds. */
TEST(tests_of_each_class) {
  static const char *const specs[] = {"hosmer-lemeshow:view=classwise",
                                      "hosmer-lemeshow:view=classwise,bins=7,variance=mean",
                                      "cox:view=classwise"};
  for (int weighted = emulated() ? 1 : 0; weighted < 2; weighted++) {
    rounds_data data =
        rounds_data_draw(fewer_if_emulated(9000, 2000), ROUNDS_CLASSES, 0, weighted, 0);
    const pcal_measure_config config = rounds_config(&data, specs, 3);
    const rounds_cost cost = rounds_compare(&data, &config, 3);
    assert_true(cost.tally < 2000000);
    assert_in_range(cost.rounds, 2, 12);
    rounds_data_free(&data);
  }
}

static void rounds_refused(const char *spec, const char *message) {
  const rounds_data data = {.kind = PCAL_LOGIT, .columns = 3};
  pcal_measure_config config = rounds_config(&data, &spec, 1);
  pcal_rounds *rounds = NULL;
  pcal_error err;
  assert_int_equal(pcal_rounds_new(&config, NULL, &rounds, &err), PCAL_USAGE);
  assert_string_equal(err.message, message);
}

TEST(metrics_that_need_all_rows_are_refused) {
  rounds_refused("ks-test:view=classwise",
                 "ks-test needs every score, so its tallies would grow with the rows; leave it "
                 "out of the rounds, or measure it in one process");
  rounds_refused("auc",
                 "auc needs every score, so its tallies would grow with the rows; leave it "
                 "out of the rounds, or measure it in one process");
  rounds_refused("skce",
                 "skce needs all rows at once, so it cannot be measured in rounds; leave it "
                 "out, or measure it in one process on a sample of the rows");
}

/* ---- changing rows, other requests, damaged bytes ---- */

typedef struct rounds_case {
  rounds_data data;
  pcal_rounds *rounds;
  sink_bytes request;
} rounds_case;

/* Rounds whose second request is open. */
static rounds_case rounds_begun(void) {
  rounds_case all = {.data = rounds_data_draw(400, ROUNDS_CLASSES, 0, 0, 0)};
  const pcal_measure_config config = rounds_config(&all.data, rounds_specs, ROUNDS_SPECS);
  assert_int_equal(pcal_rounds_new(&config, NULL, &all.rounds, NULL), PCAL_OK);
  sink_bytes first = rounds_request(all.rounds);
  sink_bytes tally = rounds_answer(&all.data, &first, 2);
  assert_int_equal(pcal_rounds_absorb(all.rounds, tally.bytes, tally.length, NULL), PCAL_OK);
  assert_false(pcal_rounds_done(all.rounds));
  assert_int_equal(pcal_rounds_round(all.rounds), 2);
  free(first.bytes);
  free(tally.bytes);
  all.request = rounds_request(all.rounds);
  return all;
}

static void rounds_case_free(rounds_case *all) {
  free(all->request.bytes);
  pcal_rounds_free(all->rounds);
  rounds_data_free(&all->data);
}

static void rounds_absorb_refused(rounds_case *all, pcal_status status, const char *message) {
  pcal_error err;
  sink_bytes tally = rounds_answer(&all->data, &all->request, 3);
  assert_int_equal(pcal_rounds_absorb(all->rounds, tally.bytes, tally.length, &err), status);
  assert_string_equal(err.message, message);
  free(tally.bytes);
}

TEST(changed_rows_are_noticed) {
  rounds_case all = rounds_begun();
  const double kept = all.data.scores[7];
  all.data.scores[7] += 1e-9;
  rounds_absorb_refused(&all, PCAL_DATA,
                        "the rows of this round differ from those of the first (400 rows then, "
                        "400 now); store the table before measuring it, so that every round "
                        "reads the same rows");
  all.data.scores[7] = kept;
  all.data.rows--;
  rounds_absorb_refused(&all, PCAL_DATA,
                        "the rows of this round differ from those of the first (400 rows then, "
                        "399 now); store the table before measuring it, so that every round "
                        "reads the same rows");
  all.data.rows++;
  sink_bytes tally = rounds_answer(&all.data, &all.request, 3);
  assert_int_equal(pcal_rounds_absorb(all.rounds, tally.bytes, tally.length, NULL), PCAL_OK);
  pcal_error err;
  assert_int_equal(pcal_rounds_absorb(all.rounds, tally.bytes, tally.length, &err), PCAL_USAGE);
  free(tally.bytes);
  rounds_case_free(&all);
}

TEST(tallies_of_other_requests_are_refused) {
  rounds_case all = rounds_begun();
  const pcal_measure_config config = rounds_config(&all.data, rounds_specs, 3);
  pcal_rounds *other = NULL;
  pcal_error err;
  size_t written = 0;
  assert_int_equal(pcal_rounds_new(&config, NULL, &other, NULL), PCAL_OK);
  sink_bytes request = rounds_request(other);
  sink_bytes mine = rounds_tally(&all.data, &all.request, 0, 2);
  sink_bytes theirs = rounds_tally(&all.data, &request, 0, 2);
  const pcal_bytes both[] = {{mine.bytes, mine.length}, {theirs.bytes, theirs.length}};
  assert_int_equal(pcal_tally_merge(both, 2, NULL, sink_count, &written, &err), PCAL_USAGE);
  assert_string_equal(err.message,
                      "the tallies answer different requests; merge those of one round only");
  assert_int_equal(written, 0);
  assert_int_equal(pcal_rounds_absorb(all.rounds, theirs.bytes, theirs.length, &err),
                   PCAL_USAGE);
  assert_string_equal(err.message,
                      "the tally answers another request; absorb the tally of the latest one");
  free(request.bytes);
  free(mine.bytes);
  free(theirs.bytes);
  pcal_rounds_free(other);
  rounds_case_free(&all);
}

/* Cut or changed anywhere, bytes are refused. */
TEST(damaged_bytes_are_refused) {
  rounds_case all = rounds_begun();
  sink_bytes tally = rounds_tally(&all.data, &all.request, 0, 1);
  pcal_error err;
  for (size_t at = 0; at < tally.length; at += 1 + at / 9) {
    assert_int_equal(pcal_rounds_absorb(all.rounds, tally.bytes, at, &err), PCAL_DATA);
    tally.bytes[at] ^= 4;
    assert_int_equal(pcal_rounds_absorb(all.rounds, tally.bytes, tally.length, &err),
                     PCAL_DATA);
    tally.bytes[at] ^= 4;
  }
  for (size_t at = 0; at < all.request.length; at += 1 + at / 9) {
    pcal_rounds_worker *worker = NULL;
    assert_int_equal(pcal_rounds_worker_new(all.request.bytes, at, NULL, &worker, &err),
                     PCAL_DATA);
    assert_null(worker);
  }
  assert_int_equal(pcal_rounds_absorb(all.rounds, tally.bytes, tally.length, &err), PCAL_OK);
  free(tally.bytes);
  rounds_case_free(&all);
}

/* A failed update ends the worker. */
TEST(a_bad_row_ends_the_worker) {
  rounds_case all = rounds_begun();
  pcal_rounds_worker *worker = NULL;
  pcal_error err;
  size_t written = 0;
  all.data.labels[5] = 9;
  const pcal_batch batch = rounds_batch(&all.data, 0, 10);
  assert_int_equal(
      pcal_rounds_worker_new(all.request.bytes, all.request.length, NULL, &worker, NULL),
      PCAL_OK);
  assert_int_equal(pcal_rounds_worker_update(worker, &batch, &err), PCAL_DATA);
  assert_int_equal(err.row, 5);
  assert_int_equal(pcal_rounds_worker_tally(worker, sink_count, &written, &err), PCAL_USAGE);
  assert_int_equal(written, 0);
  pcal_rounds_worker_free(worker);
  rounds_case_free(&all);
}

/* A coordinator in another process goes on from the first request and the merged tallies. */
TEST(resumed_rounds) {
  rounds_data data = rounds_data_draw(400, ROUNDS_CLASSES, 0, 0, 0);
  const pcal_measure_config config = rounds_config(&data, rounds_specs, ROUNDS_SPECS);
  pcal_rounds *rounds = NULL, *resumed = NULL;
  pcal_error err;
  assert_int_equal(pcal_rounds_new(&config, NULL, &rounds, &err), PCAL_OK);
  sink_bytes first = rounds_request(rounds), tally = rounds_answer(&data, &first, 3);
  assert_int_equal(pcal_rounds_resume(first.bytes, first.length, NULL, &resumed, &err),
                   PCAL_OK);
  assert_int_equal(pcal_rounds_is_fit(resumed), 0);
  assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, &err), PCAL_OK);
  assert_int_equal(pcal_rounds_absorb(resumed, tally.bytes, tally.length, &err), PCAL_OK);
  assert_int_equal(pcal_rounds_done(resumed), 0);
  sink_bytes next = rounds_request(rounds), same = rounds_request(resumed);
  assert_int_equal(next.length, same.length);
  assert_memory_equal(next.bytes, same.bytes, next.length);
  pcal_rounds_free(resumed);
  assert_int_equal(pcal_rounds_resume(next.bytes, next.length, NULL, &resumed, &err),
                   PCAL_USAGE);
  assert_null(resumed);
  assert_string_equal(
      err.message, "this is the request of a later round; resume rounds from their first one");
  pcal_rounds_free(rounds);
  free(first.bytes);
  free(tally.bytes);
  free(next.bytes);
  free(same.bytes);
  rounds_data_free(&data);
}

/* Tallies of the same rows in another order have the same fingerprint, others another one. */
TEST(the_rows_of_a_tally) {
  rounds_case all = rounds_begun();
  sink_bytes tallies[3] = {rounds_tally(&all.data, &all.request, 0, 1),
                           rounds_answer(&all.data, &all.request, 4),
                           rounds_tally(&all.data, &all.request, 0, 2)};
  uint64_t rows[3], prints[3][2];
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(
        pcal_tally_rows(tallies[i].bytes, tallies[i].length, &rows[i], prints[i], NULL),
        PCAL_OK);
  assert_int_equal(rows[0], all.data.rows);
  assert_int_equal(rows[1], rows[0]);
  assert_int_equal(rows[2], all.data.rows / 2);
  assert_memory_equal(prints[0], prints[1], sizeof prints[0]);
  assert_memory_not_equal(prints[0], prints[2], sizeof prints[0]);
  assert_int_equal(pcal_tally_rows(tallies[0].bytes, 40, &rows[0], prints[0], NULL), PCAL_DATA);
  for (size_t i = 0; i < 3; i++)
    free(tallies[i].bytes);
  rounds_case_free(&all);
}

/* Rows that exchange their groups between rounds are other rows. */
TEST(changed_groups_are_noticed) {
  rounds_data data = rounds_data_draw(400, ROUNDS_CLASSES, 0, 0, 3);
  const pcal_measure_config config = rounds_config(&data, rounds_specs, ROUNDS_SPECS);
  pcal_rounds *rounds = NULL;
  pcal_error err;
  size_t other = 1;
  while (data.groups[other] == data.groups[0])
    other++;
  assert_int_equal(pcal_rounds_new(&config, NULL, &rounds, &err), PCAL_OK);
  sink_bytes first = rounds_request(rounds), tally = rounds_answer(&data, &first, 2);
  assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, &err), PCAL_OK);
  free(tally.bytes);
  sink_bytes second = rounds_request(rounds);
  const uint32_t kept = data.groups[0];
  data.groups[0] = data.groups[other];
  data.groups[other] = kept;
  tally = rounds_answer(&data, &second, 3);
  assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, &err), PCAL_DATA);
  assert_string_equal(
      err.message, "the rows of this round differ from those of the first (400 rows then, "
                   "400 now); store the table before measuring it, so that every round reads "
                   "the same rows");
  free(tally.bytes);
  data.groups[other] = data.groups[0];
  data.groups[0] = kept;
  tally = rounds_answer(&data, &second, 3);
  assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, &err), PCAL_OK);
  pcal_rounds_free(rounds);
  free(first.bytes);
  free(second.bytes);
  free(tally.bytes);
  rounds_data_free(&data);
}

/* ---- a request that asks for much ---- */

/* A state whose curve is split into about 2^21 sub-buckets. */
static void rounds_ask_much(const pcal_measure *measure, const char *group,
                            pc_round_state *state) {
  pc_refine_job *job = NULL;
  if (group != NULL)
    state->group = pc_copy_text(&measure->env, group);
  assert_int_equal(pc_refine_jobs_new(measure, NULL, &state->jobs, NULL), PCAL_OK);
  assert_int_equal(pc_refine_jobs_add_slot(&state->jobs, 0, &job, NULL), PCAL_OK);
  const pc_bucket_layout layout =
      pc_machine_curve_rounds_layout(&measure->plan.slots[0].need, job->part_count);
  assert_int_equal(pc_refine_targets_new(&measure->env, &layout, 1, &job->targets[0], NULL),
                   PCAL_OK);
  const pc_refine_target target = {
      .low = 0.25, .high = 0.5, .action = PC_REFINE_SPLIT, .shift = 31};
  pc_refine_targets_append(&job->targets[0], target);
  assert_true(job->targets[0].split > 2000000);
}

/* The worker of a request over all rows and some groups. */
static pcal_status rounds_worker_of_much(size_t groups, pcal_error *err) {
  const char *const specs[] = {"ks"};
  const pcal_env env = pc_env_resolve(NULL);
  const rounds_data data = {.kind = PCAL_PROBABILITY, .columns = 1};
  const pcal_measure_config measured = rounds_config(&data, specs, 1);
  pc_round_config config;
  pcal_measure *measure = NULL;
  pcal_rounds_worker *worker = NULL;
  sink_bytes bytes = {0};
  char name[2] = "a";
  pc_round_state *states = pc_alloc(&env, groups + 1, sizeof *states);
  assert_int_equal(pc_round_config_new(&env, &measured, &config, NULL), PCAL_OK);
  config.later = 1;
  assert_int_equal(pc_round_measure_new(&config, PCAL_PROBABILITY, 1, &env, &measure, NULL),
                   PCAL_OK);
  for (size_t s = 0; s <= groups; s++, name[0]++)
    rounds_ask_much(measure, s == 0 ? NULL : name, &states[s]);
  assert_int_equal(
      pc_round_request_write(&config, states, groups + 1, NULL, 0, sink_collect, &bytes, NULL),
      PCAL_OK);
  assert_true(bytes.length < 500);
  const pcal_status status =
      pcal_rounds_worker_new(bytes.bytes, bytes.length, NULL, &worker, err);
  pcal_rounds_worker_free(worker);
  pc_round_states_free(&env, states, groups + 1);
  pc_measure_free(measure);
  pc_round_config_free(&config);
  free(bytes.bytes);
  return status;
}

/* Runs rounds with one worker and this room for each request; returns their number. */
static unsigned rounds_with_room(const rounds_data *data, const pcal_measure_config *config,
                                 uint64_t room) {
  pcal_rounds *rounds = NULL;
  pcal_results *results = NULL;
  unsigned count = 0;
  assert_int_equal(pcal_rounds_new(config, NULL, &rounds, NULL), PCAL_OK);
  for (rounds->measure->room = room; !pcal_rounds_done(rounds); count++) {
    sink_bytes request = rounds_request(rounds), tally = rounds_tally(data, &request, 0, 1);
    assert_int_equal(pcal_rounds_absorb(rounds, tally.bytes, tally.length, NULL), PCAL_OK);
    free(request.bytes);
    free(tally.bytes);
  }
  assert_int_equal(pcal_rounds_finish(rounds, &results, NULL), PCAL_OK);
  pcal_rounds_free(rounds);
  sink_bytes expected = rounds_in_one_process(data, config), found = rounds_print(results);
  assert_string_equal(found.bytes, expected.bytes);
  free(expected.bytes);
  free(found.bytes);
  return count;
}

/* Curves that do not fit into one request take turns; the results are the same. */
TEST(curves_take_turns) {
  const char *const specs[] = {"ks", "ks:class=0"};
  rounds_data data = rounds_data_draw(600, 1, 0, 0, 5);
  for (size_t i = 0; i < data.rows; i++)
    data.scores[i] = 0.5 + 1e-6 * data.scores[i]; /* one bucket */
  const pcal_measure_config config = rounds_config(&data, specs, 2);
  assert_int_equal(rounds_with_room(&data, &config, PC_ROUND_ASKED_BYTES), 2);
  assert_int_equal(rounds_with_room(&data, &config, 300000), 4);
  assert_int_equal(rounds_with_room(&data, &config, 1), 13);
  rounds_data_free(&data);
}

/* The limit is one over all lists of targets. */
TEST(a_request_for_very_many_counters) {
  pcal_error err;
  assert_int_equal(rounds_worker_of_much(0, &err), PCAL_OK);
  assert_int_equal(rounds_worker_of_much(4, &err), PCAL_MEMORY);
  assert_string_equal(
      err.message,
      "the request asks for more than 512 MiB of counters in one round; begin the rounds with "
      "fewer metrics, or check where the request comes from");
}
