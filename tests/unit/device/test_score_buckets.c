/* Top scores in buckets on a GPU: the kernels, run on the CPU, against plain sums; and whole measures
 * against the same rows in memory.  The driver is that of test_device.c. */
#include "unit.h"

#include <math.h>

#include "base/rng.h"
#include "curve/bucket_sums.h"
#include "gpu_fixture.h"
#include "score_buckets_emulator.h"

TEST_GROUP(set_up, tear_down)

#define TOTALS 70000

/* The words of buckets or parts hold these numbers of rows and sums. */
static void check_words(const uint64_t *words, const uint64_t *rows, const pc_int128 *units,
                        size_t count) {
  const uint64_t below = ((uint64_t)1 << PC_SCORE_BUCKETS_ROWS) - 1;
  for (size_t p = 0; p < count; p++) {
    const uint64_t low = words[2 * p], high = words[2 * p + 1];
    assert_int_equal(high >> PC_SCORE_BUCKETS_ROWS, rows[p]);
    assert_true(((pc_int128)(high & below) << 32) + low == units[p]);
  }
}

/* Totals of usual rows, of confident ones, of ties, of score 1 and on the borders of buckets. */
static double *draw_totals(void) {
  const pc_rng rng = {77, 1};
  double *totals = malloc(TOTALS * sizeof *totals);
  for (size_t i = 0; i < TOTALS; i++) {
    const double u = pc_rng_uniform(&rng, 2 * i);
    const double total = i % 7 == 0   ? 1.0
                         : i % 7 == 1 ? 1.0 + 1e-9 * u
                         : i % 7 == 2 ? 1.25
                         : i % 7 == 3 ? 16384.0 / (double)(1 + i % 16384)
                         : i % 7 == 4 ? 1.0 + 1000 * u
                                      : 1.0 + 2 * u;
    totals[i] = pc_rng_uniform(&rng, 2 * i + 1) < 1 / total ? total : -total;
  }
  return totals;
}

TEST(test_buckets_are_sums_of_scores) {
  static uint64_t words[2 * PC_SCORE_BUCKETS * PC_SCORE_BUCKETS_WORDS];
  static pc_int128 units[2 * PC_SCORE_BUCKETS];
  static uint64_t rows[2 * PC_SCORE_BUCKETS];
  static const uint32_t chunks[] = {2, 3, 40};
  double *totals = draw_totals();
  for (size_t i = 0; i < TOTALS; i++) {
    const double score = 1.0 / fabs(totals[i]);
    const size_t bucket = (size_t)(score * 16384), place = 2 * bucket + (totals[i] > 0);
    units[place] += (pc_int128)(score * 0x1p61) - ((pc_int128)bucket << 47);
    rows[place]++;
  }
  for (size_t c = 0; c < UNIT_COUNT(chunks); c++) {
    const pc_score_buckets buckets = {totals, TOTALS, words, chunks[c]};
    memset(words, 0, sizeof words);
    score_buckets_emulate(&buckets);
    check_words(words, rows, units, UNIT_COUNT(rows));
  }
  free(totals);
}

/* A full block of rows of one bucket, with the largest rest: nothing overflows. */
TEST(test_one_bucket_takes_a_whole_chunk) {
  static uint64_t words[2 * PC_SCORE_BUCKETS * PC_SCORE_BUCKETS_WORDS];
  static double totals[PC_SCORE_BUCKETS_CHUNK];
  const double total = nextafter(1.0, 2.0), score = 1.0 / total;
  for (size_t i = 0; i < UNIT_COUNT(totals); i++)
    totals[i] = total;
  const pc_score_buckets buckets = {totals, UNIT_COUNT(totals), words, 1};
  score_buckets_emulate(&buckets);
  const uint64_t low = words[2 * (2 * 16383 + 1)], high = words[2 * (2 * 16383 + 1) + 1];
  const uint64_t rest = (uint64_t)(score * 0x1p61) % ((uint64_t)1 << 47);
  assert_int_equal(high >> PC_SCORE_BUCKETS_ROWS, UNIT_COUNT(totals));
  assert_true(((pc_int128)(high & (((uint64_t)1 << PC_SCORE_BUCKETS_ROWS) - 1)) << 32) + low ==
              (pc_int128)rest * (int64_t)UNIT_COUNT(totals));
}

/* Targets of all three actions, two of them in one bucket. */
static const pc_score_target some_targets[] = {
    {.low = 0.25, .high = 0.25 + 0x1p-15, .action = PC_SCORE_KEEP},
    {.low = 0.25 + 0x1p-15 + 0x1p-30,
     .high = 0.25 + 0x1p-14,
     .action = PC_SCORE_SPLIT,
     .shift = 34,
     .first = 0},
    {.low = 0.5, .high = 0.5 + 0x1p-15, .action = PC_SCORE_CELLS, .first = 8},
    {.low = 0.8, .high = 0.8 + 0x1p-20, .action = PC_SCORE_KEEP},
    {.low = 1 - 0x1p-14,
     .high = 1 - 0x1p-53,
     .action = PC_SCORE_SPLIT,
     .shift = 26,
     .first = 20}};
#define SOME_PARTS (20 + (1 << 13))
#define SOME_CELLS 0x1p17

static const pc_score_target *target_of(double score) {
  for (size_t t = 0; t < UNIT_COUNT(some_targets); t++)
    if (score >= some_targets[t].low && score <= some_targets[t].high)
      return &some_targets[t];
  return NULL;
}

/* Fills the table of buckets, and the units of targets. */
static pc_score_targets index_targets(pc_score_target *list, uint32_t *wanted,
                                      uint32_t *reach) {
  size_t t = 0;
  memcpy(list, some_targets, sizeof some_targets);
  for (size_t b = 0; b <= PC_SCORE_BUCKETS; b++) {
    while (t < UNIT_COUNT(some_targets) && (size_t)(list[t].high * 16384) < b)
      t++;
    reach[b] = (uint32_t)t;
  }
  for (t = 0; t < UNIT_COUNT(some_targets); t++) {
    list[t].units = (uint64_t)(list[t].low * 0x1p61);
    for (size_t b = (size_t)(list[t].low * 16384); b <= (size_t)(list[t].high * 16384); b++)
      wanted[b / 32] |= (uint32_t)1 << b % 32;
  }
  return (pc_score_targets){.list = list,
                            .target_count = UNIT_COUNT(some_targets),
                            .wanted = wanted,
                            .reach = reach,
                            .cells = SOME_CELLS,
                            .parts = SOME_PARTS};
}

/* Totals whose scores often lie in the targets or beside them. */
static double *draw_near_targets(void) {
  const pc_rng rng = {78, 1};
  double *totals = malloc(TOTALS * sizeof *totals);
  for (size_t i = 0; i < TOTALS; i++) {
    const pc_score_target *target = &some_targets[i % UNIT_COUNT(some_targets)];
    const double width = target->high - target->low, u = pc_rng_uniform(&rng, i);
    double score = i % 11 == 0   ? target->low
                   : i % 11 == 1 ? target->high
                                 : target->low + width * (1.2 * u - 0.1);
    score = score > 1 ? 1 : score;
    totals[i] = i % 3 == 0 ? -1 / score : 1 / score;
  }
  return totals;
}

static size_t part_of(const pc_score_target *target, double score) {
  return target->first +
         (target->action == PC_SCORE_CELLS
              ? (size_t)(score * SOME_CELLS) - (size_t)(target->low * SOME_CELLS)
              : (size_t)((pc_double_bits(score) - pc_double_bits(target->low)) >>
                         target->shift));
}

TEST(test_parts_are_sums_of_scores) {
  static uint32_t wanted[PC_SCORE_MASK], reach[PC_SCORE_BUCKETS + 1];
  static uint64_t words[2 * SOME_PARTS * PC_SCORE_BUCKETS_WORDS], rows[2 * SOME_PARTS];
  static pc_int128 units[2 * SOME_PARTS];
  pc_score_target list[UNIT_COUNT(some_targets)];
  pc_score_targets targets = index_targets(list, wanted, reach);
  double *totals = draw_near_targets();
  for (size_t i = 0; i < TOTALS; i++) {
    const double score = 1.0 / fabs(totals[i]);
    const pc_score_target *target = target_of(score);
    if (target == NULL || target->action == PC_SCORE_KEEP)
      continue;
    const size_t place = 2 * part_of(target, score) + (totals[i] > 0);
    assert_true(place < UNIT_COUNT(rows));
    rows[place]++;
    units[place] += (pc_int128)(score * 0x1p61) - (pc_int128)(target->low * 0x1p61);
  }
  targets.totals = totals;
  targets.rows = TOTALS;
  targets.words = words;
  targets.chunks = 7;
  score_split_emulate(&targets);
  check_words(words, rows, units, UNIT_COUNT(rows));
  free(totals);
}

TEST(test_filter_lists_scores_of_targets) {
  static uint32_t wanted[PC_SCORE_MASK], reach[PC_SCORE_BUCKETS + 1];
  static const uint64_t rooms[] = {TOTALS, 100, 0};
  pc_score_target list[UNIT_COUNT(some_targets)];
  pc_score_targets targets = index_targets(list, wanted, reach);
  double *totals = draw_near_targets(), *found = malloc(TOTALS * sizeof *found), sum = 0;
  uint64_t expected = 0;
  for (size_t i = 0; i < TOTALS; i++) {
    const pc_score_target *target = target_of(1.0 / fabs(totals[i]));
    const int kept = target != NULL && target->action == PC_SCORE_KEEP;
    expected += (uint64_t)kept;
    sum += kept ? floor(totals[i] * 0x1p30) : 0;
  }
  assert_true(expected > 1000);
  targets.totals = totals;
  targets.rows = TOTALS;
  targets.found = found;
  for (size_t r = 0; r < UNIT_COUNT(rooms); r++) {
    uint64_t count = 0;
    double got = 0;
    targets.count = &count;
    targets.room = rooms[r];
    found[0] = found[100] = NAN;
    score_filter_emulate(&targets);
    assert_int_equal(count, expected);
    for (size_t i = 0; i < count && count <= rooms[r]; i++)
      got += floor(found[i] * 0x1p30);
    assert_true(rooms[r] < count || got == sum);
    assert_true(rooms[r] >= count || isnan(found[rooms[r]]));
  }
  free(found);
  free(totals);
}

/* ---- measures ---- */

#define CLASSES 3

typedef struct rows_here {
  float *logits;
  uint8_t *labels;
  size_t count;
} rows_here;

/* kind 0: usual rows; 1: confident ones; 2: many ties; 3: rows that are nearly calibrated, for which
 * smece needs fine cells. */
static rows_here simulate_rows(int kind, size_t count) {
  const pc_rng rng = {11, (uint64_t)kind};
  rows_here rows = {malloc(count * CLASSES * sizeof(float)), malloc(count), count};
  for (size_t i = 0; i < count * CLASSES; i++) {
    const double normal = pc_rng_normal(&rng, i);
    rows.logits[i] = (float)(kind == 1 ? 20 * normal : kind == 2 ? floor(2 * normal) : normal);
  }
  for (size_t r = 0; r < count; r++) {
    const float *z = rows.logits + r * CLASSES;
    double u = pc_rng_uniform(&rng, count * CLASSES + r), sum = 0;
    size_t label = 0;
    for (size_t j = 0; j < CLASSES; j++)
      sum += exp((double)z[j] * (kind == 3 ? 1.0 : 0.8));
    for (u *= sum; label + 1 < CLASSES; label++)
      if ((u -= exp((double)z[label] * (kind == 3 ? 1.0 : 0.8))) < 0)
        break;
    rows.labels[r] = (uint8_t)label;
  }
  return rows;
}

static void forget_rows(rows_here *rows) {
  free(rows->logits);
  free(rows->labels);
}

/* A measure that runs between two passes of another one, on the same device. */
static struct {
  const void *logits, *labels;
  size_t count;
  pcal_device *device;
  int runs, no_memory;
} other_measure;

static void run_other_measure(void *user, const char *what, uint64_t done, uint64_t total);

/* The results of a source, as JSON, or the message of the error. */
static char *measured(const void *logits, const void *labels, size_t count, pcal_device *device,
                      const char *const *specs, size_t spec_count) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_input parts[2] = {PCAL_INPUT_INIT, PCAL_INPUT_INIT};
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  sink_bytes text = {0};
  pcal_error err;
  pcal_env env = PCAL_ENV_INIT;
  env.progress = other_measure.device == NULL ? NULL : run_other_measure;
  parts[0].data = logits;
  parts[0].type = PCAL_F32;
  parts[0].columns = CLASSES;
  parts[1].data = labels;
  parts[1].type = PCAL_U8;
  parts[0].rows = parts[1].rows = count;
  parts[0].device = parts[1].device = device;
  inputs.logits = &parts[0];
  inputs.labels = &parts[1];
  config.specs = specs;
  config.spec_count = spec_count;
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
  if (pcal_measure_run(source, &config, &env, &results, &err) == PCAL_OK)
    assert_int_equal(pcal_results_write(results, PCAL_JSON, sink_collect, &text, NULL),
                     PCAL_OK);
  else
    sink_collect(&text, err.message, strlen(err.message));
  pcal_results_free(results);
  pcal_source_free(source);
  return text.bytes;
}

/* The same results from the GPU, of which at most `most_read` bytes are copied. */
static void check_measure(const rows_here *rows, const char *const *specs, size_t spec_count,
                          size_t most_read) {
  char *expected = measured(rows->logits, rows->labels, rows->count, NULL, specs, spec_count);
  void *logits = upload(rows->logits, rows->count * CLASSES * sizeof(float));
  void *labels = upload(rows->labels, rows->count);
  pcal_device *device = NULL;
  assert_int_equal(pcal_device_open(logits, NULL, &device, NULL), PCAL_OK);
  for (int again = 0; again < 2; again++) {
    const size_t before = fake.read();
    char *got = measured(logits, labels, rows->count, device, specs, spec_count);
    assert_in_range(fake.read() - before, 0, most_read);
    assert_string_equal(expected, without_device(got));
    free(got);
  }
  drop(logits);
  drop(labels);
  pcal_device_free(device);
  free(expected);
}

static const char *const sorted[] = {"ks", "tce:p=2,binning=mass,debias=yes", "ece"};
static const char *const all[] = {"default"};
static const char *const filled[] = {"decomposition",
                                     "gce:variant=6"}; /* bins, from the scores */
static const char *const additive[] = {"accuracy", "brier", "log", "ece"};

/* Of usual rows few scores come back beside the buckets. */
TEST(test_measures_of_many_rows) {
  for (int kind = 0; kind < 4; kind++) {
    rows_here rows = simulate_rows(kind, 70001);
    check_measure(&rows, sorted, UNIT_COUNT(sorted),
                  PC_SCORE_BUCKETS * 32 +
                      rows.count * sizeof(double) / (kind % 3 == 0 ? 8 : 1));
    check_measure(&rows, all, 1, SIZE_MAX);
    check_measure(&rows, filled, UNIT_COUNT(filled), rows.count * sizeof(double) + 9000);
    check_measure(&rows, additive, UNIT_COUNT(additive), 9000); /* no buckets */
    forget_rows(&rows);
  }
  assert_int_equal(fake.blocks(), 0);
}

/* An invalid row: the message of the same rows in memory. */
TEST(test_measures_of_invalid_rows) {
  rows_here rows = simulate_rows(0, 70001);
  rows.logits[rows.count * CLASSES - 1] = NAN;
  check_measure(&rows, sorted, UNIT_COUNT(sorted), SIZE_MAX);
  rows.logits[rows.count * CLASSES - 1] = 1;
  rows.labels[100] = 9;
  check_measure(&rows, sorted, UNIT_COUNT(sorted), SIZE_MAX);
  forget_rows(&rows);
  assert_int_equal(fake.blocks(), 0);
}

/* So many rows in one bucket, or of one score, that they are divided before they are kept. */
TEST(test_measures_of_crowded_buckets) {
  for (int kind = 1; kind < 3; kind++) {
    rows_here rows = simulate_rows(kind, 800003);
    check_measure(&rows, sorted, UNIT_COUNT(sorted), rows.count * sizeof(double));
    forget_rows(&rows);
  }
  assert_int_equal(fake.blocks(), 0);
}

/* A driver that lacks the kernels, or memory for the scores: the same results. */
TEST(test_measures_without_memory) {
  if (fake.is_real)
    return;
  rows_here rows = simulate_rows(0, 70001);
  char *expected =
      measured(rows.logits, rows.labels, rows.count, NULL, sorted, UNIT_COUNT(sorted));
  void *logits = upload(rows.logits, rows.count * CLASSES * sizeof(float));
  void *labels = upload(rows.labels, rows.count);
  pcal_device *device = NULL;
  assert_int_equal(pcal_device_open(logits, NULL, &device, NULL), PCAL_OK);
  /* reserves what every measure needs */
  free(measured(logits, labels, 100, device, sorted, UNIT_COUNT(sorted)));
  free(measured(logits, labels, 1000, device, all, 1));
  fake.break_down("cuMemAlloc_v2", 2);
  char *got = measured(logits, labels, rows.count, device, sorted, UNIT_COUNT(sorted));
  fake.break_down("", 0);
  assert_string_equal(expected, without_device(got));
  free(got);
  got = measured(logits, labels, rows.count, device, sorted, UNIT_COUNT(sorted));
  assert_string_equal(expected, without_device(got));
  fake.break_down("cuLaunchKernel", 700);
  free(got);
  got = measured(logits, labels, rows.count, device, sorted, UNIT_COUNT(sorted));
  fake.break_down("", 0);
  assert_non_null(strstr(got, "an illegal memory access"));
  free(got);
  free(expected);
  drop(logits);
  drop(labels);
  pcal_device_free(device);
  forget_rows(&rows);
  assert_int_equal(fake.blocks(), 0);
}

static void run_other_measure(void *user, const char *what, uint64_t done, uint64_t total) {
  pcal_device *device = other_measure.device;
  (void)user;
  (void)what;
  (void)done;
  (void)total;
  if (device == NULL)
    return;
  other_measure.device = NULL; /* once */
  if (other_measure.no_memory)
    fake.break_down("cuMemAlloc_v2", 2);
  free(measured(other_measure.logits, other_measure.labels, other_measure.count, device, sorted,
                UNIT_COUNT(sorted)));
  if (other_measure.no_memory)
    fake.break_down("", 0);
  other_measure.runs++;
}

/* Another measure takes the memory of the scores between two passes, or gives it up for more, which it
 * may not get: the scores are read again. */
static void take_turns(size_t other_count, int no_memory) {
  rows_here rows = simulate_rows(0, 70001), others = simulate_rows(1, other_count);
  char *expected =
      measured(rows.logits, rows.labels, rows.count, NULL, sorted, UNIT_COUNT(sorted));
  void *there[] = {upload(rows.logits, rows.count * CLASSES * sizeof(float)),
                   upload(rows.labels, rows.count),
                   upload(others.logits, others.count * CLASSES * sizeof(float)),
                   upload(others.labels, others.count)};
  pcal_device *device = NULL;
  assert_int_equal(pcal_device_open(there[0], NULL, &device, NULL), PCAL_OK);
  other_measure.logits = there[2];
  other_measure.labels = there[3];
  other_measure.count = others.count;
  other_measure.device = device;
  other_measure.no_memory = no_memory;
  other_measure.runs = 0;
  char *got = measured(there[0], there[1], rows.count, device, sorted, UNIT_COUNT(sorted));
  assert_int_equal(other_measure.runs, 1);
  assert_string_equal(expected, without_device(got));
  free(expected);
  free(got);
  for (size_t i = 0; i < UNIT_COUNT(there); i++)
    drop(there[i]);
  pcal_device_free(device);
  forget_rows(&rows);
  forget_rows(&others);
  assert_int_equal(fake.blocks(), 0);
}

TEST(test_measures_that_take_turns) {
  take_turns(70001, 0);
  take_turns(90001, 0);
  if (!fake.is_real)
    take_turns(90001, 1);
}
