#include "base/checksum.h"
#include "emulated.h"
#include "measure/saved_state.h"
#include "state_help.h"

#define LOAD_SPECS "accuracy log ece ks"

/* Writes a length and a checksum that fit, over bytes that may make no sense. */
static void load_seal(sink_bytes *saved) {
  pc_checksum checksum;
  for (size_t b = 0; b < 8; b++)
    saved->bytes[12 + b] = (unsigned char)((uint64_t)saved->length >> (8 * b));
  pc_checksum_start(&checksum);
  pc_checksum_add(&checksum, saved->bytes, saved->length - 4);
  for (size_t b = 0; b < 4; b++)
    saved->bytes[saved->length - 4 + b] =
        (unsigned char)(pc_checksum_value(&checksum) >> (8 * b));
}

static sink_bytes load_copy(const sink_bytes *from) {
  sink_bytes copy = {.bytes = malloc(from->length + 64), .length = from->length};
  memcpy(copy.bytes, from->bytes, from->length);
  return copy;
}

/* With groups, names, weights and an infinite log score: everything that a state can hold. */
static sink_bytes load_example(void) {
  static const char *const names[] = {"x", "y"}, *const classes[] = {"cat", "dog"};
  static const uint32_t groups[] = {0, 1, 0, 1, 0, 1};
  static const double weights[] = {1, 2, 0.5, 1, 3, 1};
  given_data data = state_data();
  data.groups = groups;
  data.weights = weights;
  data.group_names = names;
  data.group_count = 2;
  data.class_names = classes;
  data.class_count = 2;
  pcal_measure *measure = state_measure(&data, LOAD_SPECS, 100);
  const sink_bytes saved = state_of(measure);
  pcal_measure_free(measure);
  return saved;
}

TEST(test_what_was_saved_is_loaded) {
  const sink_bytes saved = load_example();
  pcal_measure *loaded = state_load(&saved, "part.pcal");
  const sink_bytes again = state_of(loaded);
  assert_int_equal(again.length, saved.length);
  assert_memory_equal(again.bytes, saved.bytes, saved.length);
  char *json = state_json(loaded);
  assert_contains(json, "row 103 gives its true class probability 0");
  assert_contains(json, "\"dog\"");
  free(json);
  free(again.bytes);
  free(saved.bytes);
  pcal_measure_free(loaded);
}

/* ---- the outside ---- */

TEST(test_foreign_files) {
  static const char *const foreign[] = {"\x93NUMPY\x01", "PCALSTAY", "{\"format\": 1}", "P\n"};
  for (size_t i = 0; i < UNIT_COUNT(foreign); i++) {
    sink_bytes saved = {.bytes = malloc(32), .length = strlen(foreign[i])};
    memcpy(saved.bytes, foreign[i], saved.length);
    state_refused(&saved, "part.pcal is not a saved state; pcal_measure_save "
                          "creates one");
    free(saved.bytes);
  }
  const sink_bytes empty = {0};
  state_refused(&empty, "part.pcal is not a saved state; pcal_measure_save "
                        "creates one");
}

TEST(test_another_version) {
  sink_bytes saved = load_example();
  saved.bytes[8] = 6;
  load_seal(&saved);
  state_refused(&saved, "part.pcal was saved by a newer propercal: its format is 6, and this "
                        "program reads 5; update it or measure the part again");
  saved.bytes[8] = 1;
  load_seal(&saved);
  state_refused(&saved, "part.pcal was saved by an older propercal: its format is 1, and this "
                        "program reads 5; measure the part again");
  saved.bytes[8] = 0;
  load_seal(&saved);
  state_refused(&saved, "part.pcal is damaged: its contents contradict each other; measure the "
                        "part again");
  free(saved.bytes);
}

TEST(test_every_cut_is_refused) {
  const sink_bytes whole = load_example();
  for (size_t length = 1; length < whole.length; length += emulated() ? 5 : 1) {
    char sentence[256];
    sink_bytes cut = {malloc(length), length}; /* so that reading further is seen */
    memcpy(cut.bytes, whole.bytes, length);
    if (length < 24)
      snprintf(sentence, sizeof sentence,
               "part.pcal is cut off after %zu bytes; copy it again or measure the part again",
               length);
    else
      snprintf(sentence, sizeof sentence,
               "part.pcal is cut off: %zu of %zu bytes are there; copy it again or measure the "
               "part again",
               length, whole.length);
    state_refused(&cut, sentence);
    free(cut.bytes);
  }
  free(whole.bytes);
}

TEST(test_every_changed_bit_is_refused) {
  const sink_bytes saved = load_example();
  for (size_t bit = 0; bit < 8 * saved.length; bit += emulated() ? 11 : 1) {
    pcal_measure *measure = NULL;
    pcal_error err;
    saved.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    assert_int_equal(
        pcal_measure_load(saved.bytes, saved.length, "part.pcal", NULL, &measure, &err),
        PCAL_DATA);
    assert_memory_equal(err.message, "part.pcal ", 10);
    if (bit / 8 >= 20)
      assert_sentence(err, PCAL_DATA,
                      "part.pcal is damaged: its checksum does not match; copy it again or "
                      "measure the part again");
    saved.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
  free(saved.bytes);
}

TEST(test_bytes_behind_the_end) {
  const sink_bytes whole = load_example();
  sink_bytes saved = load_copy(&whole);
  saved.length += 3;
  state_refused(&saved, "part.pcal has 3 bytes after the end of the state; copy it again or "
                        "measure the part again");
  load_seal(&saved); /* now they are inside, but nobody asked for them */
  state_refused(&saved, "part.pcal is damaged: its contents contradict each other; measure the "
                        "part again");
  free(saved.bytes);
  free(whole.bytes);
}

/* ---- the inside, under a checksum that fits ---- */

/* Replaces a text inside the state by one of the same length. */
static sink_bytes load_replaced(const sink_bytes *from, const char *old, const char *new,
                                size_t which) {
  sink_bytes copy = load_copy(from);
  for (size_t at = 0; at + strlen(old) <= copy.length; at++)
    if (memcmp(copy.bytes + at, old, strlen(old)) == 0 && which-- == 0) {
      memcpy(copy.bytes + at, new, strlen(new));
      load_seal(&copy);
      return copy;
    }
  fail_msg("%s is not there", old);
  return copy;
}

TEST(test_metrics_that_nobody_knows) {
  const sink_bytes saved = load_example();
  sink_bytes unknown = load_replaced(&saved, "accuracy", "quixotic", 0);
  state_refused(&unknown,
                "part.pcal cannot be read by this program: unknown metric \"quixotic\"; "
                "pcal_registry_at shows all metrics; measure the part again");
  free(unknown.bytes);
  sink_bytes meaning = load_replaced(&saved, "bins=15", "bins=25", 0);
  pcal_error err;
  pcal_measure *measure = NULL;
  assert_int_equal(
      pcal_measure_load(meaning.bytes, meaning.length, "part.pcal", NULL, &measure, &err),
      PCAL_DATA);
  assert_contains(err.message, "part.pcal holds ece:bins=25,");
  assert_contains(err.message, "which this program reads as ece:bins=15,");
  free(meaning.bytes);
  free(saved.bytes);
}

/* Where the only group of a saved state of six rows begins. */
static size_t load_group(const sink_bytes *saved) {
  static const unsigned char start[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                        0, 0, 6, 0, 0, 0, 0, 0, 0, 0};
  for (size_t at = 0; at + sizeof start < saved->length; at++)
    if (memcmp(saved->bytes + at, start, sizeof start) == 0)
      return at;
  fail_msg("there is no group");
  return 0;
}

/* Rows, weights and labels that no rows can add up to. */
TEST(test_totals_that_cannot_be) {
  enum { ROWS = 12, SUM = 20, TOP = 26, LOW = 48, HIGH = 52 }; /* squares before them */
  static const struct {
    size_t at;
    unsigned char value, good;
  } wrong[] = {
      {ROWS, 0, 6},       /* a group without rows */
      {SUM + 1, 0, 1},    /* no weight, but then the rest is out of step too */
      {SUM, 36, 33},      /* 2^96 times the weight */
      {TOP + 7, 1, 0},    /* beyond everything */
      {TOP + 7, 255, 0},  /* negative */
      {LOW, 2, 0},        /* lowest label above the highest */
      {HIGH, 2, 1},       /* as many labels as classes */
      {HIGH + 3, 255, 0}, /* a negative label */
  };
  const given_data data = state_data();
  pcal_measure *measure = state_measure(&data, "accuracy", 0);
  const sink_bytes saved = state_of(measure);
  const size_t group = load_group(&saved);
  for (size_t i = 0; i < UNIT_COUNT(wrong); i++) {
    sink_bytes copy = load_copy(&saved);
    assert_int_equal(copy.bytes[group + wrong[i].at], wrong[i].good);
    copy.bytes[group + wrong[i].at] = wrong[i].value;
    load_seal(&copy);
    state_refused(&copy, "part.pcal is damaged: its contents contradict each other; measure "
                         "the part again");
    free(copy.bytes);
  }
  free(saved.bytes);
  pcal_measure_free(measure);
}

/* Replaces every run of bytes by another of the same length; returns how many there were. */
static size_t load_patch(sink_bytes *saved, const unsigned char *old, const unsigned char *new,
                         size_t length) {
  size_t found = 0;
  for (size_t at = 0; at + length <= saved->length; at++)
    if (memcmp(saved->bytes + at, old, length) == 0) {
      memcpy(saved->bytes + at, new, length);
      found++;
    }
  load_seal(saved);
  return found;
}

/* Each of two groups could be so heavy, but not both. */
TEST(test_weights_of_all_groups_together) {
  static const unsigned char three[] = {3, 0, 0, 0, 0, 0, 0, 0, 33, 1, 0, 0, 12, 0};
  static const unsigned char huge[] = {3, 0, 0, 0, 0, 0, 0, 0, 35, 1, 0, 0xC0, 0, 0};
  static const uint32_t groups[] = {0, 1, 0, 1, 0, 1};
  given_data data = state_data();
  data.groups = groups;
  pcal_measure *measure = state_measure(&data, "accuracy", 0);
  sink_bytes saved = state_of(measure);
  assert_int_equal(load_patch(&saved, three, huge, sizeof three), 2);
  state_refused(&saved, "part.pcal is damaged: its contents contradict each other; measure the "
                        "part again");
  free(saved.bytes);
  pcal_measure_free(measure);
}

/* Groups where there are said to be none. */
TEST(test_groups_that_contradict_each_other) {
  static const unsigned char grouped[] = {1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}; /* one range */
  static const unsigned char ungrouped[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
  static const uint32_t groups[] = {0, 0, 0, 0, 0, 0};
  given_data data = state_data();
  data.groups = groups;
  pcal_measure *measure = state_measure(&data, "accuracy", 0);
  sink_bytes saved = state_of(measure);
  assert_int_equal(load_patch(&saved, grouped, ungrouped, sizeof grouped), 1);
  state_refused(&saved, "part.pcal is damaged: its contents contradict each other; measure the "
                        "part again");
  free(saved.bytes);
  pcal_measure_free(measure);
}

/* Memory that is counted. */
typedef struct load_memory {
  size_t held, peak;
} load_memory;

static void *load_resize(void *user, void *block, size_t size) {
  load_memory *memory = user;
  size_t *grown =
      realloc(block == NULL ? NULL : (size_t *)block - 2, size + 2 * sizeof(size_t));
  if (grown == NULL)
    return NULL;
  memory->held += size - (block == NULL ? 0 : grown[0]);
  memory->peak = memory->held > memory->peak ? memory->held : memory->peak;
  grown[0] = size;
  return grown + 2;
}

static void load_release(void *user, void *block) {
  load_memory *memory = user;
  memory->held -= ((size_t *)block - 2)[0];
  free((size_t *)block - 2);
}

#define LOAD_MEMORY_MAX 400000

/* Loads what may be nonsense.  What is taken must be safe to use. */
static int load_try(const sink_bytes *saved) {
  load_memory memory = {0, 0};
  pcal_env env = PCAL_ENV_INIT;
  pcal_measure *measure = NULL;
  pcal_error err;
  env.threads = 1;
  env.allocator = (pcal_allocator){load_resize, load_release, &memory};
  const pcal_status status =
      pcal_measure_load(saved->bytes, saved->length, "part.pcal", &env, &measure, &err);
  assert_true(status == PCAL_OK || status == PCAL_DATA);
  if (memory.peak > LOAD_MEMORY_MAX)
    fail_msg("%zu bytes asked for %zu bytes of memory", saved->length, memory.peak);
  if (status == PCAL_OK) {
    pcal_results *results = NULL;
    if (pcal_measure_finish(measure, &results, NULL) == PCAL_OK)
      free(given_written(results, PCAL_JSON));
    pcal_results_free(results);
    const sink_bytes again = state_of(measure);
    free(again.bytes);
  }
  pcal_measure_free(measure);
  assert_int_equal(memory.held, 0);
  return status == PCAL_OK;
}

/* Every byte at first, then some of those in the many alike cells of grids. */
static size_t load_next(size_t at) {
  return at + (at < 800 ? 1 : 7) * (emulated() ? 5 : 1);
}

TEST(test_no_byte_is_believed) {
  static const unsigned char changes[] = {0x01, 0x80, 0xFF, 0x7F};
  const sink_bytes whole = load_example();
  size_t taken = 0, tried = 0;
  for (size_t at = PC_STATE_HEAD_BYTES; at + 4 < whole.length; at = load_next(at))
    for (size_t c = 0; c < UNIT_COUNT(changes); c++) {
      sink_bytes saved = load_copy(&whole);
      saved.bytes[at] ^= changes[c];
      load_seal(&saved);
      taken += (size_t)load_try(&saved);
      tried++;
      free(saved.bytes);
    }
  assert_true(taken > 0 && taken < tried); /* sums may be any, most else may not */
  free(whole.bytes);
}

/* Eight bytes at once, as large as can be: every count and size. */
TEST(test_no_size_is_believed) {
  static const uint64_t sizes[] = {UINT64_MAX, UINT64_C(1) << 62, UINT64_C(1) << 33, 1000000,
                                   0};
  const sink_bytes whole = load_example();
  for (size_t at = PC_STATE_HEAD_BYTES; at + 12 < whole.length; at = load_next(at))
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++) {
      sink_bytes saved = load_copy(&whole);
      for (size_t b = 0; b < 8; b++)
        saved.bytes[at + b] = (unsigned char)(sizes[i] >> (8 * b));
      load_seal(&saved);
      load_try(&saved);
      free(saved.bytes);
    }
  free(whole.bytes);
}

TEST(test_missing_arguments) {
  pcal_measure *measure = NULL;
  pcal_error err;
  assert_int_equal(pcal_measure_load(NULL, 5, "x", NULL, &measure, &err), PCAL_USAGE);
  assert_int_equal(pcal_measure_load("PCALSTAT", 8, "x", NULL, NULL, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "pcal_measure_load needs bytes and an out pointer");
  assert_int_equal(pcal_measure_load("PCALSTAT", 8, NULL, NULL, &measure, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA,
                  "the state is cut off after 8 bytes; copy it again or measure the part "
                  "again");
}

static pcal_status load_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const sink_bytes *saved = user;
  pcal_measure *measure = NULL;
  const pcal_status status =
      pcal_measure_load(saved->bytes, saved->length, "part.pcal", env, &measure, err);
  pcal_measure_free(measure);
  return status;
}

TEST(test_every_allocation_may_fail) {
  sink_bytes saved = load_example();
  unit_fail_each_allocation(load_scenario, &saved);
  free(saved.bytes);
}
