/* The kernels that add up squares, scores of hits and scores above a threshold for every class on a
 * GPU, run on the CPU: the sums of the CPU's own kernels for every number of classes, type and number of
 * blocks. */
#include "unit.h"

#include "class_moments_emulator.h"
#include "gpu_class_rows.h"
#include "machines/grid_cells.h"

#define CELLS_MAX (CLASSES_MAX * 64)

static pc_grid_state *open_grid(size_t bins, double threshold, int pooled) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_layout layout = {.columns = data.classes, .classes = data.classes};
  const pc_rows rows = {
      .count = ROWS, .classes = data.classes, .labels = data.labels, .probs = data.probs};
  pc_grid_state *grid = NULL;
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_GRID;
  need.view.kind = pooled ? PC_VIEW_POOLED : PC_VIEW_CLASSES;
  need.grid.rule = pooled ? PC_EDGES_OWN_ONE : PC_EDGES_RIGHT;
  need.grid.bins = bins;
  need.grid.threshold = threshold;
  need.grid.moments = PC_MOMENT_SQUARE | PC_MOMENT_HIT;
  assert_int_equal(pc_grid_new(&env, &need, &layout, &grid, NULL), PCAL_OK);
  assert_int_equal(pc_grid_add_every_class(&env, grid, &rows, NULL), PCAL_OK);
  return grid;
}

static void run(const pc_grid_state *grid, int is_double, uint32_t slices, uint64_t *words) {
  const pc_partition *cells = &grid->cells;
  pc_class_moments moments;
  pc_class_bins *bins = &moments.bins;
  memset(&moments, 0, sizeof moments);
  memset(words, 0, CELLS_MAX * PC_CLASS_MOMENTS_WORDS * sizeof *words);
  *bins = (pc_class_bins){.scores = is_double ? (const void *)data.doubles : data.z,
                          .labels = data.labels,
                          .label_size = 4,
                          .total = data.total,
                          .largest = data.largest,
                          .words = words,
                          .rows = ROWS,
                          .classes = (uint32_t)data.classes,
                          .grid_count = 1};
  bins->grid[0] = (pc_class_bins_grid){.cut_count = (uint32_t)cells->cut_count,
                                       .guess = cells->guess,
                                       .last = grid->columns.rule.last,
                                       .anchor = grid->columns.rule.anchor};
  bins->cuts[0] = -INFINITY;
  for (size_t c = 0; c < cells->cut_count; c++)
    bins->cuts[c + 1] =
        cells->closed_right ? cells->cuts[c] : nextafter(cells->cuts[c], -INFINITY);
  bins->cuts[cells->cut_count + 1] = INFINITY;
  bins->cut_count = (uint32_t)cells->cut_count + 2;
  bins->cell_count = (uint32_t)(data.classes * grid->cell_count);
  moments.above = grid->columns.rule.above;
  bins->slices = pc_class_bins_slices(bins, (uint64_t)slices * pc_class_bins_tiles(bins));
  class_moments_emulate(&moments, is_double, pc_class_bins_blocks(bins));
}

typedef struct cell_sums {
  uint64_t count, hits;
  pc_int128 score, square, hit;
} cell_sums;

static pc_int128 units_of(const uint64_t *words, size_t low) {
  return ((pc_int128)words[low + 1] << PC_CLASS_BINS_HIGH) + words[low];
}

/* The sums of the cells against those of the CPU, pooled over classes if the grid is. */
static void check(const pc_grid_state *grid, const uint64_t *words) {
  static cell_sums sums[CELLS_MAX];
  memset(sums, 0, sizeof sums);
  for (size_t i = 0; i < data.classes * grid->cell_count; i++) {
    const uint64_t *word = words + i * PC_CLASS_MOMENTS_WORDS;
    const size_t cell = i % grid->cell_count;
    const pc_int128 unit = cell == 0 ? (pc_int128)1 << grid->columns.shift
                                     : (pc_int128)(PC_FIXED_ONE / PC_GRID_ONE);
    cell_sums *into = &sums[grid->part_count == 1 ? cell : i];
    into->count += word[PC_CLASS_MOMENTS_COUNT] & UINT32_MAX;
    into->hits += word[PC_CLASS_MOMENTS_COUNT] >> 32;
    into->score += unit * units_of(word, PC_CLASS_MOMENTS_SCORE);
    into->square += unit * units_of(word, PC_CLASS_MOMENTS_SQUARE);
    into->hit += unit * units_of(word, PC_CLASS_MOMENTS_HIT);
  }
  for (size_t i = 0; i < grid->part_count * grid->cell_count; i++) {
    const pc_grid_sums expected = pc_grid_read(grid, i);
    assert_true(pc_grid_whole(sums[i].count).units == expected.weight.units);
    assert_true(pc_grid_whole(sums[i].hits).units == expected.hits.units);
    assert_true(sums[i].score == expected.score.units);
    assert_true(sums[i].square == expected.square.units);
    assert_true(sums[i].hit == expected.score_hit.units);
  }
}

TEST(test_moments_are_those_of_the_cpu) {
  static const size_t classes[] = {2, 3, 10, 32, 33, 128, 129, 260};
  static const size_t bins_of[] = {1, 15, 60};
  static const double thresholds[] = {0.0, 0.01, 0.2};
  static const uint32_t slices[] = {1, 3, 200};
  static uint64_t words[CELLS_MAX * PC_CLASS_MOMENTS_WORDS];
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    draw(classes[c]);
    convert();
    for (size_t b = 0; b < 2 * UNIT_COUNT(bins_of) * UNIT_COUNT(thresholds); b++) {
      const size_t which = b / 2;
      pc_grid_state *grid = open_grid(bins_of[which / UNIT_COUNT(thresholds)],
                                      thresholds[which % UNIT_COUNT(thresholds)], (int)(b % 2));
      for (size_t s = 0; s < UNIT_COUNT(slices); s++) {
        run(grid, s == 1, slices[s], words);
        check(grid, words);
      }
      pc_grid_free(&env, grid);
    }
  }
}

/* Rows that the host must check may have any total. */
TEST(test_any_total_is_harmless) {
  static const double totals[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-300};
  static uint64_t words[CELLS_MAX * PC_CLASS_MOMENTS_WORDS];
  const pcal_env env = pc_env_resolve(NULL);
  draw(40);
  convert();
  pc_grid_state *grid = open_grid(15, 0.0, 0);
  for (size_t r = 0; r < ROWS; r += 2) {
    data.total[r] = totals[r / 2 % UNIT_COUNT(totals)];
    data.largest[r] = totals[r / 7 % UNIT_COUNT(totals)];
    data.labels[r] = -5;
  }
  run(grid, 0, 3, words);
  pc_grid_free(&env, grid);
}
