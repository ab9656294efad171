#include "machine_help.h"

static machine_case grid_case(pc_edge_rule rule, size_t bins) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_GRID;
  need.view.kind = PC_VIEW_CLASS;
  need.view.index = 1;
  need.grid.rule = rule;
  need.grid.bins = bins;
  need.grid.moments = PC_MOMENT_SQUARE | PC_MOMENT_HIT;
  return machine_case_make(&pc_machine_grid, &need, 2);
}

static void grid_check(const pc_bin *bin, double weight, double hits, double score,
                       double square, double score_hit) {
  assert_same(bin->weight, weight);
  assert_same(bin->hits, hits);
  assert_same(bin->score, score);
  assert_same(bin->score_square, square);
  assert_same(bin->score_hit, score_hit);
}

TEST(test_rows_fall_into_bins) {
  machine_rows rows = {
      .score = {0.0, 0.25, 0.5, 0.75, 1.0}, .hit = {1, 0, 1, 1, 0}, .count = 5};
  const machine_case about = grid_case(PC_EDGES_RIGHT, 2);
  void *grid = machine_state(&about);
  machine_feed(&about, grid, &rows);
  pc_evidence evidence = machine_evidence(&about, grid);
  assert_int_equal(evidence.grid.bin_count, 2);
  assert_same(evidence.grid.bins[0].low, 0.0);
  assert_same(evidence.grid.bins[0].high, 0.5);
  grid_check(&evidence.grid.bins[0], 3, 2, 0.75, 0.3125, 0.5);
  grid_check(&evidence.grid.bins[1], 2, 1, 1.75, 1.5625, 0.75);
  about.machine->release(&about.env, &evidence);
  assert_null(evidence.grid.bins);
  about.machine->destroy(&about.env, grid);
}

TEST(test_a_score_may_be_in_no_bin) {
  machine_rows rows = {.score = {0.0, 0.25, 1.0}, .hit = {1, 1, 1}, .count = 3};
  const machine_case guo = grid_case(PC_EDGES_GUO, 1);
  void *grid = machine_state(&guo);
  machine_feed(&guo, grid, &rows);
  pc_evidence evidence = machine_evidence(&guo, grid);
  assert_int_equal(evidence.grid.bin_count, 1);
  grid_check(&evidence.grid.bins[0], 2, 2, 1.25, 1.0625, 1.25);
  guo.machine->release(&guo.env, &evidence);
  guo.machine->destroy(&guo.env, grid);
}

TEST(test_one_may_have_a_bin_of_its_own) {
  machine_rows rows = {.score = {0.0, 0.25, 1.0}, .hit = {1, 1, 0}, .count = 3};
  const machine_case own = grid_case(PC_EDGES_OWN_ONE, 1);
  void *grid = machine_state(&own);
  machine_feed(&own, grid, &rows);
  pc_evidence evidence = machine_evidence(&own, grid);
  assert_int_equal(evidence.grid.bin_count, 2);
  grid_check(&evidence.grid.bins[0], 2, 2, 0.25, 0.0625, 0.25);
  grid_check(&evidence.grid.bins[1], 1, 0, 1, 1, 0);
  own.machine->release(&own.env, &evidence);
  own.machine->destroy(&own.env, grid);
}

/* Rows weighted 3 and 2 against the same rows written out. */
TEST(test_weights_count_as_copies) {
  machine_rows weighted = {
      .score = {0.1, 0.7}, .weight = {3, 2}, .hit = {1, 0}, .count = 2, .weighted = 1};
  machine_rows copies = {
      .score = {0.1, 0.1, 0.7, 0.1, 0.7}, .hit = {1, 1, 0, 1, 0}, .count = 5};
  const machine_case about = grid_case(PC_EDGES_RIGHT, 3);
  void *left = machine_state(&about), *right = machine_state(&about);
  machine_feed(&about, left, &weighted);
  machine_feed(&about, right, &copies);
  pc_evidence a = machine_evidence(&about, left), b = machine_evidence(&about, right);
  assert_memory_equal(a.grid.bins, b.grid.bins, 3 * sizeof *a.grid.bins);
  about.machine->release(&about.env, &a);
  about.machine->release(&about.env, &b);
  about.machine->destroy(&about.env, left);
  about.machine->destroy(&about.env, right);
}

TEST(test_merge_and_clear) {
  machine_rows rows = {.score = {0.5, 1.0}, .hit = {1, 1}, .count = 2};
  const machine_case about = grid_case(PC_EDGES_RIGHT, 2);
  void *left = machine_state(&about), *right = machine_state(&about);
  machine_feed(&about, left, &rows);
  machine_feed(&about, right, &rows);
  machine_merge(&about, left, right);
  pc_evidence evidence = machine_evidence(&about, left);
  grid_check(&evidence.grid.bins[0], 2, 2, 1, 0.5, 1);
  grid_check(&evidence.grid.bins[1], 2, 2, 2, 2, 2);
  about.machine->release(&about.env, &evidence);
  about.machine->clear(left);
  evidence = machine_evidence(&about, left);
  grid_check(&evidence.grid.bins[0], 0, 0, 0, 0, 0);
  about.machine->release(&about.env, &evidence);
  about.machine->destroy(&about.env, left);
  about.machine->destroy(&about.env, right);
}
