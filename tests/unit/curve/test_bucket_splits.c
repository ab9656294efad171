/* Ends inside buckets, and the segments between them. */
#include "unit.h"

#include "curve/bucket_splits.h"

static pc_bucket_splits *ends_made(const pcal_env *env) {
  pc_bucket_splits *ends = NULL;
  assert_int_equal(pc_bucket_splits_new(env, 10, &ends, NULL), PCAL_OK);
  return ends;
}

TEST(test_order_of_ends_does_not_matter) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_bucket_splits *ends = ends_made(&env);
  static const double at[] = {0.75, 0.15, 0.72, 0.15};
  for (size_t e = 0; e < UNIT_COUNT(at); e++)
    pc_bucket_splits_insert(ends, at[e], (size_t)(at[e] * 10));
  assert_int_equal(ends->count, 3);
  assert_same(ends->at[0], 0.15);
  assert_same(ends->at[1], 0.72);
  assert_same(ends->at[2], 0.75);
  for (size_t b = 0; b < 10; b++)
    assert_int_equal(ends->is_split[b], b == 1 || b == 7);
  pc_free(&env, ends);
}

TEST(test_rows_between_ends) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_bucket_splits *ends = ends_made(&env), *other = ends_made(&env);
  static const double at[] = {0.15, 0.72, 0.75};
  for (size_t e = 0; e < UNIT_COUNT(at); e++) {
    pc_bucket_splits_insert(ends, at[e], (size_t)(at[e] * 10));
    pc_bucket_splits_insert(other, at[e], (size_t)(at[e] * 10));
  }
  pc_bucket_splits_add(ends, 1, 0.15, 1);
  pc_bucket_splits_add(other, 1, 0.11, 0);
  pc_bucket_splits_add(ends, 1, 0.19, 1);
  pc_bucket_splits_add(ends, 7, 0.73, 0);
  pc_bucket_splits_add(other, 7, 0.75, 1);
  pc_bucket_splits_add(other, 7, 0.79, 1);
  pc_bucket_splits_merge(ends, other);
  pc_segment out[6];
  size_t next = 0;
  assert_int_equal(pc_bucket_splits_read(ends, 0, &next, out), 0);
  assert_int_equal(pc_bucket_splits_read(ends, 1, &next, out), 2);
  assert_int_equal(out[0].rows, 2);
  assert_int_equal(out[0].hits, 1);
  assert_same(out[0].low, 0.11);
  assert_same(out[1].low, 0.19);
  assert_int_equal(next, 1);
  assert_int_equal(pc_bucket_splits_read(ends, 7, &next, out), 2);
  assert_same(out[0].low, 0.73);
  assert_same(out[0].high, 0.75);
  assert_same(out[1].high, 0.79);
  next = 0;
  pc_bucket_splits_clear(ends);
  assert_int_equal(pc_bucket_splits_read(ends, 1, &next, out), 0);
  pc_free(&env, ends);
  pc_free(&env, other);
}

TEST(test_no_room) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_bucket_splits *ends = ends_made(&env);
  for (size_t e = 0; e < 2 * PC_BUCKET_SPLITS_MAX; e++)
    pc_bucket_splits_insert(ends, 0.5 + 1e-6 * (double)e, 5);
  pc_bucket_splits_insert(ends, 0.1, 1);
  assert_int_equal(ends->count, PC_BUCKET_SPLITS_MAX);
  assert_int_equal(ends->is_split[1], 0);
  pc_free(&env, ends);
}
