/* What studies of the number of rows find on predictions of a ResNet-110 for CIFAR-10.
 *
 *   test_golden_sizes FOLDER_OF_THE_TESTS
 *
 * The findings are those of Gruber & Buettner 2022 (Figures 1, 3, 5 and 6, of other models), as
 * bounds: with the seed fixed each of them is a number that does not change.  The data are
 * those of cifar10_resnet110 below $PROPERCAL_SHARED, which is ../shared beside the source tree
 * unless set; when they are not there, the exit code is 77. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_set.h"
#include "studies/study.h"

#define GOLDEN_SIZES_PATH 2048
#define GOLDEN_SIZES_SKIP 77
#define GOLDEN_SIZES_FEW 300

typedef struct golden_sizes {
  pcal_env env;
  pcal_model model;
  pc_findings findings;
  int failed;
} golden_sizes;

static void golden_sizes_run(golden_sizes *test, const char *study, const char *const *specs,
                             size_t count, uint64_t repeats) {
  static const uint64_t rows[] = {100, 1000, 3000};
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  pcal_error err;
  config.specs = specs;
  config.spec_count = count;
  config.models = &test->model;
  config.model_count = 1;
  config.repeats = repeats;
  config.row_counts = rows;
  config.row_count_count = repeats > 0 ? sizeof rows / sizeof *rows : 0;
  pc_findings_init(&test->findings, &test->env, study);
  if (pc_study_run(study, &config, &test->findings, &err) != PCAL_OK) {
    printf("%s: %s\n", study, err.message);
    test->failed++;
  }
}

static double golden_sizes_number(const golden_sizes *test, size_t row, const char *column) {
  const pc_table *table = &test->findings.tables[0];
  return pc_table_at(table, row, pc_table_find_column(table, column))->number;
}

/* Says so when a row breaks a rule. */
static void golden_sizes_need(golden_sizes *test, int holds, size_t row, const char *rule) {
  const pc_table *table = &test->findings.tables[0];
  if (holds)
    return;
  printf("%s, %.0f rows: %.6g, not %s\n", pc_table_at(table, row, 0)->word,
         golden_sizes_number(test, row, "rows"), golden_sizes_number(test, row, "mean"), rule);
  test->failed++;
}

static size_t golden_sizes_rows(const golden_sizes *test) {
  return test->findings.table_count == 0 ? 0 : test->findings.tables[0].row_count;
}

/* rbs within 3 % and the Brier score within 1 % of all rows, at the published repeats. */
static void golden_sizes_flat(golden_sizes *test) {
  static const char *const specs[] = {"rbs", "brier"};
  golden_sizes_run(test, "test-size", specs, 2, 0);
  for (size_t r = 0; r < golden_sizes_rows(test); r++) {
    const double change = fabs(golden_sizes_number(test, r, "relative") - 1);
    const int root = strcmp(pc_table_at(&test->findings.tables[0], r, 0)->word, "rbs") == 0;
    golden_sizes_need(test, change < (root ? 0.03 : 0.01), r,
                      root ? "within 3 % of all rows" : "within 1 % of all rows");
  }
  pc_findings_free(&test->findings);
}

/* Errors that grow, or improvements that shrink (sign -1), as rows get fewer. */
static void golden_sizes_slope(golden_sizes *test, const char *study, const char *const *specs,
                               size_t count, double sign) {
  const size_t steps = 4;
  golden_sizes_run(test, study, specs, count, GOLDEN_SIZES_FEW);
  for (size_t r = 0; r < golden_sizes_rows(test) && r < count * steps; r++)
    if (r % steps > 0)
      golden_sizes_need(test,
                        sign * (golden_sizes_number(test, r - 1, "mean") -
                                golden_sizes_number(test, r, "mean")) >
                            0,
                        r, sign > 0 ? "less than at fewer rows" : "more than at fewer rows");
  pc_findings_free(&test->findings);
}

/* The Brier score's improvement stays within three standard errors of that on all rows. */
static void golden_sizes_band(golden_sizes *test) {
  static const char *const specs[] = {"brier"};
  golden_sizes_run(test, "improvement", specs, 1, GOLDEN_SIZES_FEW);
  const double full = golden_sizes_rows(test) > 3 ? golden_sizes_number(test, 3, "mean") : 0;
  for (size_t r = 0; r < 3 && r < golden_sizes_rows(test); r++)
    golden_sizes_need(test,
                      full > 0 && fabs(golden_sizes_number(test, r, "mean") - full) <
                                      3 * golden_sizes_number(test, r, "standard_error"),
                      r, "within its errors of all rows");
  pc_findings_free(&test->findings);
}

int main(int argc, char **argv) {
  static const char *const growing[] = {"ece", "cwce", "cwce:bins=100", "tce", "tce:bins=100"};
  static const char *const shrinking[] = {"ece"};
  static golden_sizes test;
  const char *shared = getenv("PROPERCAL_SHARED");
  char folder[GOLDEN_SIZES_PATH];
  if (argc != 2) {
    fprintf(stderr, "usage: test_golden_sizes FOLDER_OF_THE_TESTS\n");
    return 2;
  }
  snprintf(folder, sizeof folder,
           shared != NULL ? "%.900s/data/%s" : "%.900s/../../../shared/data/%s",
           shared != NULL ? shared : argv[1], "cifar10_resnet110");
  test.env = pc_env_resolve(NULL);
  test.model = (pcal_model)PCAL_MODEL_INIT;
  test.model.source = golden_set_open(folder, "test");
  test.model.val = golden_set_open(folder, "val");
  if (test.model.source == NULL || test.model.val == NULL) {
    printf("left out: there are no shared data in %s\n", folder);
    return GOLDEN_SIZES_SKIP;
  }
  golden_sizes_flat(&test);
  golden_sizes_slope(&test, "test-size", growing, sizeof growing / sizeof *growing, 1);
  golden_sizes_slope(&test, "improvement", shrinking, 1, -1);
  golden_sizes_band(&test);
  pcal_source_free(test.model.source);
  pcal_source_free(test.model.val);
  printf("%s\n", test.failed == 0 ? "all findings hold" : "some findings do not hold");
  return test.failed == 0 ? 0 : 1;
}
