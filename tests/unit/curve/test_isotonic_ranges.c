/* Segments of random rows, resolved until no mark is left, against regression of all scores. */
#include "curve/isotonic_ranges.h"

#include <stdlib.h>

#include "../unit.h"
#include "base/rng.h"
#include "curve/isotonic.h"
#include "curve/venn_abers_bounds.h"

#define ROWS 400

typedef struct scored_rows {
  pc_segment single[ROWS]; /* one for each score */
  size_t count;
} scored_rows;

/* Scores 0, 1, ... with one to three rows each. */
static scored_rows draw(uint64_t seed, double slope) {
  const pc_rng rng = {seed, 7};
  scored_rows out = {.count = ROWS};
  for (size_t i = 0; i < ROWS; i++) {
    const uint64_t rows = 1 + pc_rng_bits(&rng, 3 * i) % 3;
    uint64_t hits = 0;
    for (uint64_t r = 0; r < rows; r++)
      hits +=
          pc_rng_uniform(&rng, 3 * ROWS + 3 * i + r) < 0.5 + slope * ((double)i / ROWS - 0.5);
    out.single[i] = pc_segment_none;
    pc_segment_add(&out.single[i], (double)i / 1024, rows, hits);
  }
  return out;
}

/* A table of segments; segments[s] holds the scores begin[s] to begin[s + 1] - 1. */
typedef struct range_table {
  pc_segment segments[ROWS];
  size_t begin[ROWS + 1];
  uint8_t settled[ROWS];
  size_t count;
} range_table;

static void add(const scored_rows *rows, range_table *table, size_t end, int settled) {
  pc_segment *segment = &table->segments[table->count];
  *segment = pc_segment_none;
  for (size_t i = table->begin[table->count]; i < end; i++)
    pc_segment_join(segment, &rows->single[i]);
  table->settled[table->count++] = (uint8_t)settled;
  table->begin[table->count] = end;
}

static pc_curve_table curve_of(const pc_segment *segments, size_t count) {
  pc_curve_table table = {.form = PC_CURVE_SEGMENTS, .count = count, .segments = segments};
  for (size_t i = 0; i < count; i++)
    table.total += (double)segments[i].rows;
  return table;
}

/* Halves what is marked and joins what may be joined; returns how many were marked. */
static size_t refine(const scored_rows *rows, range_table *table, const uint8_t *marks) {
  range_table next = {.count = 0};
  size_t marked = 0;
  for (size_t s = 0; s < table->count; s++) {
    const size_t end = table->begin[s + 1], begin = table->begin[s];
    if ((marks[s] & PC_RANGE_JOIN) != 0) {
      next.count--;
      add(rows, &next, end, 1);
    } else if ((marks[s] & PC_RANGE_RESOLVE) != 0) {
      assert_true(end - begin > 1);
      marked++;
      add(rows, &next, begin + (end - begin) / 2, 0);
      add(rows, &next, end, 0);
    } else {
      add(rows, &next, end, 1);
    }
  }
  *table = next;
  return marked;
}

static void check_isotonic(const scored_rows *rows, const range_table *table) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_curve_table all = curve_of(rows->single, rows->count);
  const pc_curve_table some = curve_of(table->segments, table->count);
  pc_isotonic a, b;
  assert_int_equal(pc_isotonic_fit(&env, &all, &a, NULL), PCAL_OK);
  assert_int_equal(pc_isotonic_fit(&env, &some, &b, NULL), PCAL_OK);
  assert_int_equal(a.count, b.count);
  assert_memory_equal(a.blocks, b.blocks, a.count * sizeof *a.blocks);
  pc_isotonic_free(&env, &a);
  pc_isotonic_free(&env, &b);
}

static void check_steps(const pc_venn_abers_step *a, const pc_venn_abers_step *b, size_t count,
                        const range_table *table) {
  for (size_t k = 0; k < count; k++) {
    assert_true(a[k].value == b[k].value);
    assert_int_equal(a[k].entry, table->begin[b[k].entry]);
  }
}

static void check_venn_abers(const scored_rows *rows, const range_table *table) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_curve_table all = curve_of(rows->single, rows->count);
  const pc_curve_table some = curve_of(table->segments, table->count);
  pc_venn_abers_bounds a, b;
  assert_int_equal(pc_venn_abers_bounds_new(&env, &all, &a, NULL), PCAL_OK);
  assert_int_equal(pc_venn_abers_bounds_new(&env, &some, &b, NULL), PCAL_OK);
  assert_int_equal(a.lower_count, b.lower_count);
  assert_int_equal(a.upper_count, b.upper_count);
  check_steps(a.lower, b.lower, a.lower_count, table);
  check_steps(a.upper, b.upper, a.upper_count, table);
  pc_venn_abers_bounds_free(&env, &a);
  pc_venn_abers_bounds_free(&env, &b);
}

/* Returns the number of segments in the end. */
static size_t run(uint64_t seed, double slope, unsigned slack) {
  const pcal_env env = pc_env_resolve(NULL);
  const scored_rows rows = draw(seed, slope);
  range_table table = {.count = 0};
  uint8_t marks[ROWS];
  for (size_t end = 16; end <= ROWS; end += 16)
    add(&rows, &table, end, 0);
  do {
    const pc_curve_table curve = curve_of(table.segments, table.count);
    assert_int_equal(pc_isotonic_ranges(&env, &curve, table.settled, slack, marks, NULL),
                     PCAL_OK);
  } while (refine(&rows, &table, marks) > 0);
  check_isotonic(&rows, &table);
  if (slack > 0)
    check_venn_abers(&rows, &table);
  return table.count;
}

TEST(the_blocks_of_all_scores) {
  size_t left = 0;
  for (uint64_t seed = 0; seed < 300; seed++)
    left += run(seed, seed % 3 == 0 ? 0.0 : seed % 3 == 1 ? 0.8 : -0.5, 0);
  assert_true(left < 300 * ROWS / 4); /* and most of them were never looked at */
}

TEST(the_steps_with_one_more_row) {
  size_t left = 0;
  for (uint64_t seed = 0; seed < 300; seed++)
    left += run(seed, seed % 3 == 0 ? 0.0 : seed % 3 == 1 ? 0.8 : -0.5, 1);
  assert_true(left < 300 * ROWS / 2);
}

/* Edge case (2): one outcome after the other. */
TEST(segments_of_one_outcome) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_segment segments[2] = {pc_segment_none, pc_segment_none};
  uint8_t marks[2] = {9, 9};
  for (size_t i = 0; i < 10; i++)
    pc_segment_add(&segments[i / 5], (double)i / 16, 1, i / 5);
  const pc_curve_table curve = curve_of(segments, 2);
  assert_int_equal(pc_isotonic_ranges(&env, &curve, NULL, 0, marks, NULL), PCAL_OK);
  assert_int_equal(marks[0] | marks[1], 0);
  assert_int_equal(pc_isotonic_ranges(&env, &curve, NULL, 1, marks, NULL), PCAL_OK);
  assert_int_equal(marks[0] & marks[1], PC_RANGE_RESOLVE);
}
