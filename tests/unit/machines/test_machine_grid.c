#include "machines/grid_cells.h"

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

/* The sum that is made too large in one of two grids. */
typedef enum grid_large {
  LARGE_SCORE,
  LARGE_SQUARE,
  LARGE_SCORE_HIT,
  LARGE_WEIGHT,
  LARGE_HITS
} grid_large;

static pc_fixed *grid_sum(pc_grid_state *grid, grid_large which) {
  return which == LARGE_SCORE       ? &grid->cell[1].score
         : which == LARGE_SQUARE    ? &grid->square[1]
         : which == LARGE_SCORE_HIT ? &grid->score_hit[1]
         : which == LARGE_WEIGHT    ? &grid->mass[1].weight
                                    : &grid->mass[1].hits;
}

/* Sums up to 2^125 units can be added, larger ones of either sign cannot. */
TEST(test_sums_that_are_too_large) {
  const machine_case about = grid_case(PC_EDGES_RIGHT, 2);
  for (grid_large which = LARGE_SCORE; which <= LARGE_HITS; which++)
    for (int variant = 0; variant < 16; variant++) {
      const int weighted = which >= LARGE_WEIGHT || (variant & 1) != 0;
      const int other = (variant & 2) != 0, above = (variant & 4) != 0;
      const pc_int128 most = (pc_int128)1 << 125, large = most + above;
      void *states[2] = {machine_state(&about), machine_state(&about)};
      pcal_error err;
      for (int i = 0; weighted && i < 2; i++)
        assert_int_equal(pc_grid_allow_weights(&about.env, states[i], NULL), PCAL_OK);
      grid_sum(states[other], which)->units = (variant & 8) != 0 ? -large : large;
      const pcal_status status = about.machine->prepare(&about.env, states[0], states[1], &err);
      assert_int_equal(status, above ? PCAL_DATA : PCAL_OK);
      if (above)
        assert_sentence(err, PCAL_DATA, "the sums in the bins are too large to be added");
      about.machine->destroy(&about.env, states[0]);
      about.machine->destroy(&about.env, states[1]);
    }
}
