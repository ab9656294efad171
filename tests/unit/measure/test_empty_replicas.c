#include "../unit.h"

#include "io/source.h"
#include "measure/replicas/empty_replicas.h"

#define EMPTY_ROWS 30

/* Calls that report progress of replicas. */
static void empty_count(void *user, const char *what, uint64_t done, uint64_t total) {
  (void)done;
  (void)total;
  *(size_t *)user +=
      strcmp(what, "drawing replicas") == 0 || strcmp(what, "drawing labels") == 0;
}

static pcal_batch empty_batch(size_t rows, int by_groups) {
  static double scores[EMPTY_ROWS];
  static int32_t labels[EMPTY_ROWS];
  static uint32_t groups[EMPTY_ROWS];
  for (size_t i = 0; i < EMPTY_ROWS; i++) {
    scores[i] = 0.03 + 0.03 * (double)i;
    labels[i] = (int32_t)(i % 3 == 0);
    groups[i] = (uint32_t)i;
  }
  return (pcal_batch){.size = sizeof(pcal_batch),
                      .kind = PCAL_PROBABILITY,
                      .type = PCAL_F64,
                      .rows = rows,
                      .columns = 1,
                      .scores = scores,
                      .labels = labels,
                      .groups = by_groups ? groups : NULL};
}

static pcal_results *empty_measure(size_t rows, pcal_interval_method method, size_t *drawn) {
  static const char *const specs[] = {"ece", "ks"};
  const pcal_batch batch = empty_batch(rows, 0);
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  config.specs = specs;
  config.spec_count = 2;
  config.interval = 0.9;
  config.interval_method = method;
  config.replicas = 1000;
  env.threads = 1;
  env.progress = empty_count;
  env.user = drawn;
  assert_int_equal(pc_source_borrow(&batch, NULL, &env, &source, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_run(source, &config, &env, &results, NULL), PCAL_OK);
  pcal_source_free(source);
  return results;
}

/* One row, or two: no interval, the reason, and hardly anything is evaluated. */
TEST(replicas_of_one_or_two_rows_are_not_evaluated) {
  const pcal_interval_method methods[] = {PCAL_INTERVAL_AUTO, PCAL_INTERVAL_BCA};
  for (size_t rows = 1; rows <= 6; rows += rows == 1 ? 1 : 4)
    for (size_t m = 0; m < UNIT_COUNT(methods); m++) {
      size_t drawn = 0;
      pcal_results *results = empty_measure(rows, methods[m], &drawn);
      for (size_t e = 0; e < 2; e++) {
        pcal_result result = {.size = sizeof result};
        assert_int_equal(pcal_results_get(results, e, &result), PCAL_OK);
        assert_int_equal(result.has_interval, rows > 2);
        if (rows <= 2)
          assert_string_equal(result.unsure, "too many of 1000 replicas have no value");
      }
      assert_int_equal(drawn > 10, rows > 2); /* 4 with more rows of the rarer outcome */
      pcal_results_free(results);
    }
}

static size_t empty_report(int by_groups) {
  static const char *const specs[] = {"ece", "ks"};
  const pcal_batch batch = empty_batch(EMPTY_ROWS, by_groups);
  pcal_report_config config = PCAL_REPORT_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  pcal_source *source = NULL;
  pcal_report *report = NULL;
  size_t drawn = 0;
  config.specs = specs;
  config.spec_count = 2;
  config.replicas = 100;
  env.threads = 1;
  env.progress = empty_count;
  env.user = &drawn;
  assert_int_equal(pc_source_borrow(&batch, NULL, &env, &source, NULL), PCAL_OK);
  assert_int_equal(pcal_report_run(source, &config, &env, &report, NULL), PCAL_OK);
  pcal_report_free(report);
  pcal_source_free(source);
  return drawn;
}

/* Groups of one row add nothing, and figures never draw replicas of groups. */
TEST(groups_of_one_row_cost_a_report_no_replicas) {
  assert_int_equal(empty_report(1), empty_report(0));
}
