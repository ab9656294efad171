#include "../unit.h"
#include "measure/row_ranges.h"

static void row_ranges_rows(pc_row_ranges *seen, uint64_t first, size_t rows) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.first_row = first;
  batch.rows = rows;
  assert_int_equal(pc_row_ranges_prepare(seen, &batch, NULL), PCAL_OK);
  pc_row_ranges_add(seen, &batch);
}

static void row_ranges_is(const pc_row_ranges *seen, const pc_row_range *expected,
                          size_t count) {
  assert_int_equal(seen->range_count, count);
  for (size_t r = 0; r < count; r++) {
    assert_int_equal(seen->ranges[r].first, expected[r].first);
    assert_int_equal(seen->ranges[r].last, expected[r].last);
  }
}

TEST(test_ranges_are_joined) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_row_ranges seen;
  pc_row_ranges_init(&seen, &env);
  row_ranges_rows(&seen, 100, 10);
  row_ranges_rows(&seen, 300, 10);
  row_ranges_rows(&seen, 200, 10);
  row_ranges_rows(&seen, 0, 1);
  row_ranges_is(&seen, (const pc_row_range[]){{0, 0}, {100, 109}, {200, 209}, {300, 309}}, 4);
  row_ranges_rows(&seen, 110, 5); /* touches from above */
  row_ranges_rows(&seen, 195, 5); /* touches from below */
  row_ranges_rows(&seen, 1, 1);
  row_ranges_rows(&seen, 305, 2); /* inside */
  row_ranges_rows(&seen, 500, 0); /* nothing */
  row_ranges_is(&seen, (const pc_row_range[]){{0, 1}, {100, 114}, {195, 209}, {300, 309}}, 4);
  row_ranges_rows(&seen, 110, 200); /* over several */
  row_ranges_is(&seen, (const pc_row_range[]){{0, 1}, {100, 309}}, 2);
  row_ranges_rows(&seen, 2, 98);
  row_ranges_is(&seen, (const pc_row_range[]){{0, 309}}, 1);
  pc_row_ranges_free(&seen);
}

TEST(test_the_last_index_of_all) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_row_ranges seen;
  pc_row_ranges_init(&seen, &env);
  row_ranges_rows(&seen, UINT64_MAX - 1, 5);
  row_ranges_rows(&seen, UINT64_MAX, 1);
  row_ranges_rows(&seen, 0, 1);
  row_ranges_is(&seen, (const pc_row_range[]){{0, 0}, {UINT64_MAX - 1, UINT64_MAX}}, 2);
  pc_row_ranges_free(&seen);
}

/* Any order of single rows gives what marking them in a list gives. */
TEST(test_any_order_of_rows) {
  const pcal_env env = pc_env_resolve(NULL);
  unsigned char met[512] = {0};
  pc_row_ranges seen;
  pc_row_ranges_init(&seen, &env);
  for (uint32_t i = 0, row = 1; i < 300; i++, row = row * 1103515245 + 12345) {
    const size_t first = row >> 8 & 0xFF, count = row >> 20 & 7;
    row_ranges_rows(&seen, first, count);
    memset(met + first, 1, count);
    size_t ranges = 0;
    for (size_t r = 0; r < sizeof met; r++)
      ranges += met[r] && (r == 0 || !met[r - 1]);
    assert_int_equal(seen.range_count, ranges);
    for (size_t r = 0; r < seen.range_count; r++) {
      const pc_row_range *range = &seen.ranges[r];
      assert_true(met[range->first] && met[range->last] && !met[range->last + 1]);
      assert_true(range->first == 0 || !met[range->first - 1]);
    }
  }
  pc_row_ranges_free(&seen);
}

TEST(test_any_number_of_ranges_is_kept) {
  enum { RANGES = 20000 };
  const pcal_env env = pc_env_resolve(NULL);
  pc_row_ranges seen, other;
  pc_row_range both;
  pc_row_ranges_init(&seen, &env);
  pc_row_ranges_init(&other, &env);
  for (uint64_t r = 0; r < RANGES; r++)
    row_ranges_rows(&seen, 2 * (r * 7919 % RANGES), 1); /* each even row once */
  assert_int_equal(seen.range_count, RANGES);
  row_ranges_rows(&other, 3, 1);
  row_ranges_rows(&other, 2 * RANGES, 5);
  assert_false(pc_row_ranges_overlap(&seen, &other, &both));
  row_ranges_rows(&other, 2 * RANGES - 2, 1);
  assert_true(pc_row_ranges_overlap(&seen, &other, &both));
  assert_true(both.first == 2 * RANGES - 2 && both.last == 2 * RANGES - 2);
  assert_int_equal(pc_row_ranges_prepare_merge(&other, &seen, NULL, NULL), PCAL_OK);
  pc_row_ranges_merge(&other, &seen, NULL);
  assert_int_equal(other.range_count, RANGES); /* one more; but 2, 3 and 4 are one range */
  pc_row_ranges_free(&seen);
  pc_row_ranges_free(&other);
}

TEST(test_overlap_names_the_first_rows_in_both) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_row_ranges a, b;
  pc_row_range both = {0, 0};
  pc_row_ranges_init(&a, &env);
  pc_row_ranges_init(&b, &env);
  row_ranges_rows(&a, 0, 10);
  row_ranges_rows(&a, 100, 10);
  row_ranges_rows(&b, 10, 90);
  assert_false(pc_row_ranges_overlap(&a, &b, &both));
  assert_false(pc_row_ranges_overlap(&b, &a, &both));
  row_ranges_rows(&b, 105, 100);
  assert_true(pc_row_ranges_overlap(&a, &b, &both));
  assert_int_equal(both.first, 105);
  assert_int_equal(both.last, 109);
  assert_true(pc_row_ranges_overlap(&b, &a, &both));
  assert_int_equal(both.first, 105);
  pc_row_ranges_free(&a);
  pc_row_ranges_free(&b);
}

TEST(test_groups_know_their_first_row) {
  const pcal_env env = pc_env_resolve(NULL);
  const uint32_t late[] = {0, 3, 3}, early[] = {3, 1};
  const size_t map[] = {SIZE_MAX, 0, SIZE_MAX, 5};
  pcal_batch batch = PCAL_BATCH_INIT;
  pc_row_ranges seen, other;
  pc_row_ranges_init(&seen, &env);
  pc_row_ranges_init(&other, &env);
  batch.groups = late;
  batch.rows = 3;
  batch.first_row = 50;
  assert_int_equal(pc_row_ranges_prepare(&seen, &batch, NULL), PCAL_OK);
  pc_row_ranges_add(&seen, &batch);
  batch.groups = early;
  batch.rows = 2;
  batch.first_row = 10;
  assert_int_equal(pc_row_ranges_prepare(&seen, &batch, NULL), PCAL_OK);
  pc_row_ranges_add(&seen, &batch);
  assert_int_equal(seen.group_count, 4);
  assert_int_equal(seen.first_rows[0], 50);
  assert_int_equal(seen.first_rows[1], 11);
  assert_true(seen.first_rows[2] == PCAL_NO_ROW);
  assert_int_equal(seen.first_rows[3], 10);
  assert_int_equal(pc_row_ranges_prepare_merge(&other, &seen, map, NULL), PCAL_OK);
  pc_row_ranges_merge(&other, &seen, map);
  assert_int_equal(other.group_count, 6);
  assert_int_equal(other.first_rows[0], 11);
  assert_int_equal(other.first_rows[5], 10);
  assert_true(other.first_rows[1] == PCAL_NO_ROW);
  pc_row_ranges_free(&seen);
  pc_row_ranges_free(&other);
}

TEST(test_group_numbers_have_a_limit) {
  const pcal_env env = pc_env_resolve(NULL);
  const uint32_t group = 1048576;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_error err;
  pc_row_ranges seen;
  pc_row_ranges_init(&seen, &env);
  batch.groups = &group;
  batch.rows = 1;
  assert_int_equal(pc_row_ranges_prepare(&seen, &batch, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA,
                  "more than 1048576 groups; give a column with fewer distinct values");
  pc_row_ranges_free(&seen);
}

static int row_ranges_met(const pc_row_ranges *seen, uint64_t first, size_t rows,
                          pc_row_range *out) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.first_row = first;
  batch.rows = rows;
  return pc_row_ranges_contain(seen, &batch, out);
}

TEST(test_rows_met_before) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_row_ranges seen;
  pc_row_range met;
  pc_row_ranges_init(&seen, &env);
  assert_false(row_ranges_met(&seen, 0, 5, &met));
  row_ranges_rows(&seen, 10, 5);
  row_ranges_rows(&seen, 20, 5);
  assert_false(row_ranges_met(&seen, 0, 10, &met));
  assert_false(row_ranges_met(&seen, 15, 5, &met));
  assert_false(row_ranges_met(&seen, 12, 0, &met));
  assert_true(row_ranges_met(&seen, 14, 100, &met));
  assert_int_equal(met.first, 14);
  assert_int_equal(met.last, 14);
  assert_true(row_ranges_met(&seen, 15, 100, &met));
  assert_int_equal(met.first, 20);
  assert_int_equal(met.last, 24);
  pc_row_ranges_free(&seen);
}
