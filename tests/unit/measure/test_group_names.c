#include "measure/group_names.h"
#include "state_help.h"

static const uint32_t names_groups[] = {2, 0, 2, 3, 0, 2};

static void names_is(const pcal_measure *measure, const size_t *expected, size_t count) {
  size_t *order = NULL, found = 0;
  assert_int_equal(pc_group_order(measure, &order, &found, NULL), PCAL_OK);
  assert_int_equal(found, count);
  for (size_t g = 0; g < count; g++)
    assert_int_equal(order[g], expected[g]);
  pc_free(&measure->env, order);
}

TEST(test_numbers_without_names_are_all_told) {
  given_data data = state_data();
  data.groups = names_groups;
  pcal_measure *measure = state_measure(&data, "accuracy", 0);
  char buffer[PC_GROUP_NUMBER_MAX];
  assert_false(pc_groups_have_names(measure));
  assert_string_equal(pc_group_name(measure, 3, buffer), "3");
  names_is(measure, (const size_t[]){0, 1, 2, 3}, 4);
  pcal_measure_free(measure);
}

TEST(test_only_names_with_rows_are_listed) {
  static const char *const names[] = {"a", "b", "c"};
  given_data data = state_data();
  data.groups = names_groups;
  data.group_names = names;
  data.group_count = 3;
  pcal_measure *measure = state_measure(&data, "accuracy", 100);
  char buffer[PC_GROUP_NUMBER_MAX];
  assert_true(pc_groups_have_names(measure));
  assert_string_equal(pc_group_name(measure, 2, buffer), "c");
  assert_string_equal(pc_group_name(measure, 3, buffer), "3");
  names_is(measure, (const size_t[]){3, 0, 2}, 3); /* b was never met */
  pcal_measure_free(measure);
}

/* The order of rows does not matter: whole numbers by value, then other names by their bytes. */
TEST(test_groups_come_by_name) {
  static const char *const names[] = {"z", "10", "9", "A", "010", "1e1"};
  static const uint32_t rows[] = {0, 1, 2, 3, 4, 5};
  given_data data = state_data();
  data.groups = rows;
  data.group_names = names;
  data.group_count = 6;
  pcal_measure *measure = state_measure(&data, "accuracy", 0);
  names_is(measure, (const size_t[]){2, 4, 1, 5, 3, 0}, 6);
  pcal_measure_free(measure);
}

TEST(test_many_groups_are_sorted) {
  enum { MANY = 1000 };
  static uint32_t groups[MANY];
  static double scores[2 * MANY];
  static int32_t labels[MANY];
  static char texts[MANY][8];
  static const char *names[MANY];
  for (size_t i = 0; i < MANY; i++) {
    groups[i] = (uint32_t)(i * 7 % MANY);
    scores[2 * i] = scores[2 * i + 1] = 0.5;
    snprintf(texts[i], sizeof texts[i], "g%03zu", i);
    names[i] = texts[i];
  }
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = MANY,
                           .columns = 2,
                           .scores = scores,
                           .labels = labels,
                           .groups = groups,
                           .group_names = names,
                           .group_count = MANY};
  pcal_measure *measure = state_measure(&data, "accuracy", 0);
  size_t *order = NULL, count = 0;
  assert_int_equal(pc_group_order(measure, &order, &count, NULL), PCAL_OK);
  assert_int_equal(count, MANY);
  for (size_t g = 0; g < MANY; g++)
    assert_int_equal(order[g], g);
  pc_free(&measure->env, order);
  pcal_measure_free(measure);
}

TEST(test_groups_are_matched_by_name) {
  static const char *const ours[] = {"red", "blue", "unmet"};
  static const char *const theirs[] = {"blue", "nobody", "green", "red"};
  static const uint32_t own[] = {0, 1, 0, 1, 0, 1}, other[] = {2, 0, 3, 3, 0, 0};
  given_data data = state_data(), more = data;
  data.groups = own;
  data.group_names = ours;
  data.group_count = 3;
  more.groups = other;
  more.group_names = theirs;
  more.group_count = 4;
  pcal_measure *a = state_measure(&data, "accuracy", 0);
  pcal_measure *b = state_measure(&more, "accuracy", 6);
  pc_group_merge merge;
  assert_int_equal(pc_group_merge_match(a, b, &merge, NULL), PCAL_OK);
  assert_int_equal(merge.name_count, 4);
  assert_string_equal(merge.names[0], "red");
  assert_string_equal(merge.names[1], "blue");
  assert_string_equal(merge.names[2], "unmet");
  assert_string_equal(merge.names[3], "green");
  assert_int_equal(merge.map[0], 1);
  assert_true(merge.map[1] == SIZE_MAX);
  assert_int_equal(merge.map[2], 3);
  assert_int_equal(merge.map[3], 0);
  pc_group_merge_free(&a->env, &merge);
  pcal_measure_free(a);
  pcal_measure_free(b);
}

TEST(test_a_name_given_twice_is_refused) {
  static const char *const good[] = {"red", "blue"}, *const twice[] = {"red", "red"};
  static const uint32_t groups[] = {0, 1, 0, 1, 0, 1};
  given_data data = state_data(), more = data;
  data.groups = more.groups = groups;
  data.group_names = good;
  more.group_names = twice;
  data.group_count = more.group_count = 2;
  pcal_measure *a = state_measure(&data, "accuracy", 0);
  pcal_measure *b = state_measure(&more, "accuracy", 6);
  char *before = state_json(a);
  pcal_error err;
  assert_int_equal(pcal_measure_merge(a, b, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "two groups are called \"red\"; groups of measures that are merged need "
                  "different names");
  assert_int_equal(pcal_measure_merge(b, a, &err), PCAL_USAGE);
  char *after = state_json(a);
  assert_string_equal(before, after);
  free(before);
  free(after);
  pcal_measure_free(a);
  pcal_measure_free(b);
}
