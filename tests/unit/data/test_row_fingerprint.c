/* Fingerprints depend on the rows, their weights and groups, not on order or division. */
#include "unit.h"

#include "data/row_fingerprint.h"

static pc_row_fingerprint print_of(const uint64_t *keys, const double *weights, size_t count) {
  const pc_rows rows = {.count = count, .keys = keys, .weights = weights};
  pc_row_fingerprint print = {0};
  pc_row_fingerprint_add(&print, &rows, (pc_group_hashes){NULL, 0});
  return print;
}

TEST(order_and_division_do_not_matter) {
  const uint64_t keys[] = {3, 99, 7, 7}, turned[] = {7, 3, 7, 99};
  const double weights[] = {1, 2, 1, 0.5}, turned_weights[] = {1, 1, 0.5, 2};
  const pc_row_fingerprint all = print_of(keys, weights, 4);
  pc_row_fingerprint parts = print_of(turned, turned_weights, 1);
  const pc_row_fingerprint rest = print_of(turned + 1, turned_weights + 1, 3);
  pc_row_fingerprint_merge(&parts, &rest);
  assert_true(pc_row_fingerprint_equal(&all, &parts));
  assert_int_equal(all.rows, 4);
}

TEST(weights_of_one_are_no_weights_and_others_count) {
  const uint64_t keys[] = {3, 99};
  const double ones[] = {1, 1}, others[] = {1, 2};
  const pc_row_fingerprint bare = print_of(keys, NULL, 2), one = print_of(keys, ones, 2);
  const pc_row_fingerprint other = print_of(keys, others, 2);
  assert_true(pc_row_fingerprint_equal(&bare, &one));
  assert_false(pc_row_fingerprint_equal(&bare, &other));
}

/* Groups count by the hashes of their names, whatever their numbers are. */
TEST(groups_count_by_name) {
  const uint64_t keys[] = {3, 99}, names[] = {11, 12}, turned_names[] = {12, 11};
  const uint32_t groups[] = {0, 1}, turned[] = {1, 0};
  pc_rows rows = {.count = 2, .keys = keys, .groups = groups};
  pc_row_fingerprint one = {0}, same = {0}, other = {0};
  pc_row_fingerprint_add(&one, &rows, (pc_group_hashes){names, 2});
  pc_row_fingerprint_add(&other, &rows, (pc_group_hashes){turned_names, 2});
  rows.groups = turned;
  pc_row_fingerprint_add(&same, &rows, (pc_group_hashes){turned_names, 2});
  assert_true(pc_row_fingerprint_equal(&one, &same));
  assert_false(pc_row_fingerprint_equal(&one, &other));
}
