#include "state_help.h"

#define MERGE_SPECS "accuracy log ece ks"

static void merge_refused(pcal_measure *a, const pcal_measure *b, pcal_status status,
                          const char *sentence) {
  pcal_error err;
  const sink_bytes before = state_of(a);
  assert_int_equal(pcal_measure_merge(a, b, &err), status);
  assert_sentence(err, status, sentence);
  const sink_bytes after = state_of(a);
  assert_int_equal(before.length, after.length);
  assert_memory_equal(before.bytes, after.bytes, before.length);
  free(before.bytes);
  free(after.bytes);
}

TEST(test_parts_are_the_whole) {
  const given_data data = state_data();
  const given_data head = state_slice(&data, 0, 2), tail = state_slice(&data, 2, 4);
  pcal_measure *whole = state_measure(&data, MERGE_SPECS, 0);
  pcal_measure *a = state_part(&head, MERGE_SPECS, 0, "a.pcal");
  pcal_measure *b = state_part(&tail, MERGE_SPECS, 2, "b.pcal");
  assert_int_equal(pcal_measure_merge(b, a, NULL), PCAL_OK);
  char *expected = state_json(whole), *found = state_json(b);
  assert_string_equal(found, expected);
  free(expected);
  free(found);
  pcal_measure_free(whole);
  pcal_measure_free(a);
  pcal_measure_free(b);
}

/* ---- the order of groups ---- */

TEST(test_groups_keep_their_order) {
  static const char *const names[] = {"x", "y", "z"}, *const head_names[] = {"x"};
  static const char *const tail_names[] = {"z", "y"};
  static const uint32_t groups[] = {0, 0, 1, 2, 1, 2};
  static const uint32_t tail_groups[] = {1, 0, 1, 0}; /* as one who saw only these would say */
  given_data data = state_data();
  data.groups = groups;
  data.group_names = names;
  data.group_count = 3;
  given_data head = state_slice(&data, 0, 2), tail = state_slice(&data, 2, 4);
  head.group_names = head_names;
  head.group_count = 1;
  tail.groups = tail_groups;
  tail.group_names = tail_names;
  tail.group_count = 2;
  pcal_measure *whole = state_measure(&data, MERGE_SPECS, 0);
  char *expected = state_json(whole);
  assert_contains(expected, "[\n      \"x\",\n      \"y\",\n      \"z\"\n    ]");
  for (int swapped = 0; swapped <= 1; swapped++) {
    pcal_measure *a = state_part(&head, MERGE_SPECS, 0, "a.pcal");
    pcal_measure *b = state_part(&tail, MERGE_SPECS, 2, "b.pcal");
    assert_int_equal(pcal_measure_merge(swapped ? b : a, swapped ? a : b, NULL), PCAL_OK);
    char *found = state_json(swapped ? b : a);
    assert_string_equal(found, expected);
    free(found);
    pcal_measure_free(a);
    pcal_measure_free(b);
  }
  free(expected);
  pcal_measure_free(whole);
}

TEST(test_an_empty_measure_takes_names_over) {
  static const char *const names[] = {"x", "y"}, *const classes[] = {"cat", "dog"};
  static const uint32_t groups[] = {0, 1, 0, 1, 0, 1};
  given_data data = state_data();
  data.groups = groups;
  data.group_names = names;
  data.group_count = 2;
  data.class_names = classes;
  data.class_count = 2;
  pcal_measure *empty = NULL, *part = state_part(&data, MERGE_SPECS, 0, "a.pcal");
  assert_int_equal(given_new(&data, MERGE_SPECS, NULL, &empty, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_merge(empty, part, NULL), PCAL_OK);
  char *expected = state_json(part), *found = state_json(empty);
  assert_string_equal(found, expected);
  merge_refused(empty, part, PCAL_DATA,
                "a.pcal: rows 0 to 5 are in another part too; pass first_row when measuring a "
                "part, and merge each part once");
  free(expected);
  free(found);
  pcal_measure_free(empty);
  pcal_measure_free(part);
}

/* ---- clusters ---- */

#define MERGE_ROWS 8

static const double merge_scores[] = {0.9, 0.8, 0.3, 0.6, 0.2, 0.7, 0.4, 0.55};
static const int32_t merge_labels[] = {1, 1, 0, 0, 0, 1, 1, 0};

/* Rows [first, first + count) with clusters of these numbers and names. */
static pcal_measure *merge_clustered(size_t first, size_t count, const uint32_t *clusters,
                                     const char *const *names, size_t name_count) {
  static const char *const specs[] = {"brier", "ece:bins=4", "accuracy"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_batch batch = PCAL_BATCH_INIT;
  config.columns = batch.columns = 1;
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  config.interval = 0.95;
  config.replicas = 60;
  config.by_cluster = 1;
  batch.type = PCAL_F64;
  batch.rows = count;
  batch.scores = merge_scores + first;
  batch.labels = merge_labels + first;
  batch.groups = clusters;
  batch.first_row = first;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_set_names(measure, NULL, 0, names, name_count, NULL), PCAL_OK);
  return measure;
}

/* Parts whose clusters have the same names under other numbers, merged in either order, give
 * the bytes of the whole: all rows, and draws that know which of them belong together. */
TEST(test_clusters_are_matched_by_name) {
  static const char *const names[] = {"x", "y", "z"}, *const tail_names[] = {"z", "y"};
  static const char *const turned[] = {"z", "x", "y"};
  static const uint32_t clusters[MERGE_ROWS] = {0, 0, 1, 1, 1, 2, 2, 1};
  static const uint32_t tail[] = {1, 0, 0, 1}, turned_clusters[] = {1, 1, 2, 2, 2, 0, 0, 2};
  pcal_measure *whole = merge_clustered(0, MERGE_ROWS, clusters, names, 3);
  pcal_measure *other = merge_clustered(0, MERGE_ROWS, turned_clusters, turned, 3);
  char *expected = state_json(whole), *again = state_json(other);
  assert_string_equal(again, expected);
  free(again);
  for (int swapped = 0; swapped <= 1; swapped++) {
    pcal_measure *a = merge_clustered(0, 4, clusters, names, 2);
    pcal_measure *b = merge_clustered(4, 4, tail, tail_names, 2);
    assert_int_equal(pcal_measure_merge(swapped ? b : a, swapped ? a : b, NULL), PCAL_OK);
    char *found = state_json(swapped ? b : a);
    assert_string_equal(found, expected);
    free(found);
    pcal_measure_free(a);
    pcal_measure_free(b);
  }
  free(expected);
  pcal_measure_free(whole);
  pcal_measure_free(other);
}

/* Clusters without names are matched by number. */
TEST(test_clusters_by_number) {
  static const uint32_t clusters[MERGE_ROWS] = {0, 0, 1, 1, 1, 2, 2, 1};
  pcal_measure *whole = merge_clustered(0, MERGE_ROWS, clusters, NULL, 0);
  pcal_measure *a = merge_clustered(0, 3, clusters, NULL, 0);
  pcal_measure *b = merge_clustered(3, 5, clusters + 3, NULL, 0);
  assert_int_equal(pcal_measure_merge(b, a, NULL), PCAL_OK);
  char *expected = state_json(whole), *found = state_json(b);
  assert_string_equal(found, expected);
  free(expected);
  free(found);
  pcal_measure_free(whole);
  pcal_measure_free(a);
  pcal_measure_free(b);
}

/* Names of groups are given, but no row has a group. */
TEST(test_names_without_groups) {
  static const char *const names[] = {"x", "y"}, *const others[] = {"y", "z"};
  const given_data data = state_data();
  given_data head = state_slice(&data, 0, 2), tail = state_slice(&data, 2, 4);
  pcal_measure *whole = state_measure(&data, MERGE_SPECS, 0), *empty = NULL;
  head.group_names = names;
  tail.group_names = others;
  head.group_count = tail.group_count = 2;
  pcal_measure *a = state_measure(&head, MERGE_SPECS, 0);
  pcal_measure *b = state_measure(&tail, MERGE_SPECS, 2);
  assert_int_equal(given_new(&data, MERGE_SPECS, NULL, &empty, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_set_names(empty, NULL, 0, others, 2, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_merge(empty, a, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_merge(empty, b, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_merge(a, b, NULL), PCAL_OK);
  char *expected = state_json(whole), *found = state_json(a), *third = state_json(empty);
  assert_string_equal(found, expected);
  assert_string_equal(third, expected);
  free(expected);
  free(found);
  free(third);
  pcal_measure_free(whole);
  pcal_measure_free(empty);
  pcal_measure_free(a);
  pcal_measure_free(b);
}

/* ---- refused ---- */

TEST(test_the_same_rows_twice) {
  const given_data data = state_data();
  pcal_measure *a = state_part(&data, MERGE_SPECS, 0, "a.pcal");
  pcal_measure *b = state_part(&data, MERGE_SPECS, 4, "b.pcal");
  pcal_measure *c = state_part(&data, MERGE_SPECS, 10, "c.pcal");
  merge_refused(a, b, PCAL_DATA,
                "b.pcal: rows 4 to 5 are in another part too; pass first_row when measuring a "
                "part, and merge each part once");
  assert_int_equal(pcal_measure_merge(b, c, NULL), PCAL_OK);
  pcal_measure_free(a);
  pcal_measure_free(b);
  pcal_measure_free(c);
}

/* Also where rows that were measured here came before it, with any index. */
TEST(test_a_part_twice_beside_fresh_rows) {
  const given_data data = state_data();
  const given_data tail = state_slice(&data, 2, 4);
  pcal_measure *a = state_measure(&data, MERGE_SPECS, 0);
  pcal_measure *b = state_part(&tail, MERGE_SPECS, 2, "b.pcal");
  assert_int_equal(pcal_measure_merge(a, b, NULL), PCAL_OK);
  merge_refused(a, b, PCAL_DATA,
                "b.pcal: rows 2 to 5 are in another part too; pass first_row when measuring a "
                "part, and merge each part once");
  pcal_measure_free(a);
  pcal_measure_free(b);
}

/* Measures that were never saved may count all their batches from 0. */
TEST(test_measures_in_memory_may_overlap) {
  const given_data data = state_data();
  pcal_measure *a = state_measure(&data, MERGE_SPECS, 0);
  pcal_measure *b = state_measure(&data, MERGE_SPECS, 0);
  pcal_measure *c = state_part(&data, MERGE_SPECS, 0, "c.pcal");
  assert_int_equal(pcal_measure_merge(a, b, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_merge(a, c, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_merge(c, b, NULL), PCAL_OK);
  pcal_measure_free(a);
  pcal_measure_free(b);
  pcal_measure_free(c);
}

TEST(test_other_metrics_or_data) {
  const given_data data = state_data();
  given_data binary = data, skipping = data, normal = data;
  binary.columns = 1;
  skipping.skip_missing = 1;
  normal.normalize = 1;
  pcal_measure *a = state_part(&data, "ece", 0, "a.pcal");
  pcal_measure *metrics = state_part(&data, "ece:bins=10", 6, "b.pcal");
  pcal_measure *layout = state_part(&binary, "ece", 6, "b.pcal");
  pcal_measure *skip = state_part(&skipping, "ece", 6, "b.pcal");
  pcal_measure *rescale = state_measure(&normal, "ece", 6);
  merge_refused(
      a, metrics, PCAL_USAGE,
      "b.pcal was measured with other metrics than a.pcal; measure all parts with the "
      "same metrics");
  merge_refused(a, layout, PCAL_USAGE,
                "b.pcal has scores of the kind probability in 1 column, and a.pcal of the kind "
                "probability in 2; only parts of one data set can be merged");
  merge_refused(a, skip, PCAL_USAGE,
                "b.pcal was measured with skip_missing and a.pcal without; measure all parts "
                "in the same way");
  merge_refused(skip, a, PCAL_USAGE,
                "a.pcal was measured without skip_missing and b.pcal with; measure all parts "
                "in the same way");
  merge_refused(a, rescale, PCAL_USAGE,
                "the other measure was measured with normalize and a.pcal without; measure "
                "all parts in the same way");
  pcal_measure_free(a);
  pcal_measure_free(metrics);
  pcal_measure_free(layout);
  pcal_measure_free(skip);
  pcal_measure_free(rescale);
}

TEST(test_groups_in_one_part_only) {
  static const uint32_t groups[] = {0, 1, 0, 1, 0, 1};
  static const char *const names[] = {"x", "y"};
  const given_data data = state_data();
  given_data grouped = data, named;
  grouped.groups = groups;
  named = grouped;
  named.group_names = names;
  named.group_count = 2;
  pcal_measure *plain = state_part(&data, "ece", 0, "plain.pcal");
  pcal_measure *numbers = state_part(&grouped, "ece", 6, "numbers.pcal");
  pcal_measure *called = state_part(&named, "ece", 12, "named.pcal");
  merge_refused(plain, numbers, PCAL_USAGE,
                "numbers.pcal has groups and plain.pcal does not; measure all parts with "
                "groups or none");
  merge_refused(numbers, plain, PCAL_USAGE,
                "plain.pcal has no groups and numbers.pcal does; measure all parts with "
                "groups or none");
  merge_refused(numbers, called, PCAL_USAGE,
                "the groups of named.pcal have names and those of numbers.pcal only numbers; "
                "name them all or none");
  pcal_measure_free(plain);
  pcal_measure_free(numbers);
  pcal_measure_free(called);
}

TEST(test_other_classes) {
  static const char *const one[] = {"cat", "dog"}, *const other[] = {"dog", "cat"};
  given_data data = state_data(), swapped = data;
  data.class_names = one;
  swapped.class_names = other;
  data.class_count = swapped.class_count = 2;
  pcal_measure *a = state_part(&data, "ece", 0, "a.pcal");
  pcal_measure *b = state_part(&swapped, "ece", 6, "b.pcal");
  merge_refused(
      a, b, PCAL_USAGE,
      "the classes of b.pcal have other names, or another order, than those of "
      "a.pcal; select the columns of all parts in the same order, or name all choices "
      "of ragged in class_names");
  pcal_measure_free(a);
  pcal_measure_free(b);
}

/* ---- memory ---- */

/* A merge that failed leaves the measure as it was, and able to go on. */
static void merge_unchanged(const pcal_measure *measure, const sink_bytes *saved) {
  const sink_bytes found = state_of(measure);
  assert_int_equal(found.length, saved->length);
  assert_memory_equal(found.bytes, saved->bytes, saved->length);
  free(found.bytes);
}

static pcal_status merge_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const sink_bytes *saved = user;
  pcal_measure *whole = NULL, *part = NULL;
  pcal_status status =
      pcal_measure_load(saved[0].bytes, saved[0].length, "a.pcal", env, &whole, err);
  if (status == PCAL_OK)
    status = pcal_measure_load(saved[1].bytes, saved[1].length, "b.pcal", env, &part, err);
  if (status == PCAL_OK) {
    status = pcal_measure_merge(whole, part, err);
    if (status != PCAL_OK)
      merge_unchanged(whole, &saved[0]);
  }
  pcal_measure_free(whole);
  pcal_measure_free(part);
  return status;
}

TEST(test_every_allocation_may_fail) {
  static const char *const first_names[] = {"x", "y"}, *const second_names[] = {"y", "z"};
  static const uint32_t groups[] = {0, 1, 0, 1, 0, 1};
  static const double weights[] = {1, 2, 0.5, 1, 3, 1};
  given_data data = state_data(), more;
  data.groups = groups;
  data.group_names = first_names;
  data.group_count = 2;
  more = data;
  more.group_names = second_names;
  more.weights = weights;
  pcal_measure *a = state_measure(&data, MERGE_SPECS, 0);
  pcal_measure *b = state_measure(&more, MERGE_SPECS, 6);
  sink_bytes saved[] = {state_of(a), state_of(b)};
  unit_fail_each_allocation(merge_scenario, saved);
  pcal_measure_free(a);
  pcal_measure_free(b);
  free(saved[0].bytes);
  free(saved[1].bytes);
}

/* ---- weights, ids and levels ---- */

typedef struct merge_part {
  double weight; /* of each row; 0: none */
  int weights_are;
  const uint64_t *ids;
} merge_part;

static pcal_measure *merge_weighted(const merge_part *part) {
  static const char *const specs[] = {"brier"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_measure *measure = NULL;
  pcal_error err;
  double weights[] = {part->weight, part->weight};
  config.columns = 1;
  config.specs = specs;
  config.spec_count = 1;
  batch.type = PCAL_F64;
  batch.columns = 1;
  batch.rows = 2;
  batch.scores = merge_scores;
  batch.labels = merge_labels;
  batch.weights = part->weight > 0 ? weights : NULL;
  batch.weights_are = part->weights_are;
  batch.ids = part->ids;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  if (pcal_measure_update(measure, &batch, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return measure;
}

/* Merges two parts of rows; message NULL: they fit. */
static void merge_two(merge_part first, merge_part second, pcal_status status,
                      const char *message) {
  pcal_error err;
  pcal_measure *a = merge_weighted(&first), *b = merge_weighted(&second);
  assert_int_equal(pcal_measure_merge(a, b, &err), status);
  if (message != NULL)
    assert_sentence(err, status, message);
  pcal_measure_free(a);
  pcal_measure_free(b);
}

TEST(test_meanings_of_weights) {
  static const char *const apart =
      "the weights of one measure are frequencies and those of the other are not; measure all "
      "parts with the same weights_are";
  const merge_part frequency = {2, PCAL_WEIGHTS_FREQUENCY, NULL};
  const merge_part importance = {2, PCAL_WEIGHTS_IMPORTANCE, NULL};
  const merge_part unsaid = {2, PCAL_WEIGHTS_AUTO, NULL};
  const merge_part fractions = {0.5, PCAL_WEIGHTS_AUTO, NULL};
  merge_two(frequency, importance, PCAL_USAGE, apart);
  merge_two(importance, frequency, PCAL_USAGE, apart);
  merge_two(fractions, frequency, PCAL_USAGE, apart);
  merge_two(frequency, fractions, PCAL_USAGE, apart);
  merge_two(unsaid, frequency, PCAL_OK, NULL);
  merge_two(importance, fractions, PCAL_OK, NULL);
  merge_two(importance, importance, PCAL_OK, NULL);
}

/* Two parts of weight 2 10^12 each, merged in turn: sums are 2 10^12 times the Fibonacci numbers 2, 3, 5, ...,
 * of which F(32) = 2178309 is the last below 2^62. */
TEST(test_weights_beyond_the_largest_sum) {
  const merge_part heavy = {1e12, PCAL_WEIGHTS_AUTO, NULL};
  pcal_error err;
  pcal_measure *parts[] = {merge_weighted(&heavy), merge_weighted(&heavy)};
  size_t merges = 0;
  while (pcal_measure_merge(parts[merges % 2], parts[1 - merges % 2], &err) == PCAL_OK)
    merges++;
  assert_sentence(err, PCAL_DATA, "the weights sum to more than 2^62; give smaller weights");
  assert_int_equal(merges, 30);
  pcal_measure_free(parts[0]);
  pcal_measure_free(parts[1]);
}

TEST(test_quantiles_at_other_levels) {
  static const double levels[2][2] = {{0.1, 0.9}, {0.2, 0.9}};
  static const char *const specs[] = {"pinball"};
  pcal_measure *measures[2];
  pcal_error err;
  for (size_t i = 0; i < 2; i++) {
    pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
    config.kind = PCAL_QUANTILES;
    config.columns = 2;
    config.levels = levels[i];
    config.specs = specs;
    config.spec_count = 1;
    assert_int_equal(pcal_measure_new(&config, NULL, &measures[i], NULL), PCAL_OK);
  }
  assert_int_equal(pcal_measure_merge(measures[0], measures[1], &err), PCAL_USAGE);
  assert_sentence(
      err, PCAL_USAGE,
      "the other measure has quantiles at other levels than this one; only parts of "
      "one data set can be merged");
  pcal_measure_free(measures[0]);
  pcal_measure_free(measures[1]);
}
