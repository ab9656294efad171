/* The kernels that add up the bins of every class on a GPU, run on the CPU: the sums of the CPU's own
 * kernels for every number of classes, type, size of labels and number of blocks. */
#include "unit.h"

#include "class_bins_emulator.h"
#include "gpu_class_rows.h"
#include "machines/grid_cells.h"

#define GRIDS PC_CLASS_BINS_GRIDS
#define CELLS_MAX (CLASSES_MAX * 64)

static void add_grid(const pc_grid_state *grid, pc_class_bins *bins) {
  const pc_partition *cells = &grid->cells;
  bins->grid[bins->grid_count++] = (pc_class_bins_grid){
      bins->cut_count, (uint32_t)cells->cut_count, bins->cell_count,
      cells->guess,    grid->columns.rule.last,    grid->columns.rule.anchor};
  for (ptrdiff_t c = -1; c <= (ptrdiff_t)cells->cut_count; c++)
    bins->cuts[bins->cut_count++] =
        cells->closed_right ? cells->cuts[c] : nextafter(cells->cuts[c], -INFINITY);
  bins->cuts[bins->cut_count - 1] = INFINITY;
  bins->cell_count += (uint32_t)(grid->part_count * grid->cell_count);
}

static void run(pc_grid_state *const *grids, int is_double, uint32_t label_size,
                uint32_t slices, pc_class_bins *bins, uint64_t *words) {
  memset(bins, 0, sizeof *bins);
  memset(words, 0, 2 * CELLS_MAX * PC_CLASS_BINS_WORDS * sizeof *words);
  bins->scores = is_double ? (const void *)data.doubles : data.z;
  bins->labels = label_size == 8   ? (const void *)data.wide_labels
                 : label_size == 4 ? (const void *)data.labels
                                   : data.short_labels;
  bins->label_size = label_size;
  bins->total = data.total;
  bins->largest = data.largest;
  bins->words = words;
  bins->rows = ROWS;
  bins->classes = (uint32_t)data.classes;
  for (size_t g = 0; g < GRIDS; g++)
    add_grid(grids[g], bins);
  bins->slices = pc_class_bins_slices(bins, (uint64_t)slices * pc_class_bins_tiles(bins));
  class_bins_emulate(bins, is_double, pc_class_bins_blocks(bins));
}

/* One cell against the sums of the CPU. */
static void check_cell(const pc_grid_state *grid, size_t index, const uint64_t *word) {
  const size_t cell = index % grid->cell_count;
  const pc_int128 units = ((pc_int128)word[PC_CLASS_BINS_SCORE_HIGH] << PC_CLASS_BINS_HIGH) +
                          word[PC_CLASS_BINS_SCORE];
  const pc_grid_sums sums = pc_grid_read(grid, index);
  assert_true((word[PC_CLASS_BINS_COUNT] >> 32) == grid->cell[index].hits);
  if (cell > 0)
    assert_true((word[PC_CLASS_BINS_COUNT] & UINT32_MAX) == grid->cell[index].count);
  assert_true((cell == 0 ? units * ((pc_int128)1 << grid->columns.shift)
                         : units * (int64_t)(PC_FIXED_ONE / PC_GRID_ONE)) == sums.score.units);
}

static void check(pc_grid_state *const *grids, const pc_class_bins *bins,
                  const uint64_t *words) {
  for (size_t g = 0; g < GRIDS; g++)
    for (size_t i = 0; i < grids[g]->part_count * grids[g]->cell_count; i++)
      check_cell(grids[g], i, words + (bins->grid[g].first_cell + i) * PC_CLASS_BINS_WORDS);
}

/* Two grids that have seen all rows. */
static void open_grids(size_t bins, pc_grid_state **grids) {
  static const pc_edge_rule rules[GRIDS] = {PC_EDGES_OWN_ONE, PC_EDGES_RIGHT};
  const pcal_env env = pc_env_resolve(NULL);
  const pc_layout layout = {.columns = data.classes, .classes = data.classes};
  const pc_rows rows = {
      .count = ROWS, .classes = data.classes, .labels = data.labels, .probs = data.probs};
  for (size_t g = 0; g < GRIDS; g++) {
    pc_need need;
    memset(&need, 0, sizeof need);
    need.machine = PC_GRID;
    need.view.kind = PC_VIEW_CLASSES;
    need.grid.rule = rules[g];
    need.grid.bins = bins;
    assert_int_equal(pc_grid_new(&env, &need, &layout, &grids[g], NULL), PCAL_OK);
    assert_int_equal(pc_grid_add_every_class(&env, grids[g], &rows, NULL), PCAL_OK);
  }
}

static void close_grids(pc_grid_state **grids) {
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t g = 0; g < GRIDS; g++)
    pc_grid_free(&env, grids[g]);
}

TEST(test_bins_are_those_of_the_cpu) {
  static const size_t classes[] = {2, 3, 10, 15, 32, 33, 127, 128, 129, 260};
  static const size_t bins_of[] = {1, 15, 60};
  static const uint32_t slices[] = {1, 2, 200}, sizes[] = {4, 8, 1};
  static uint64_t words[2 * CELLS_MAX * PC_CLASS_BINS_WORDS];
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    draw(classes[c]);
    convert();
    for (size_t b = 0; b < UNIT_COUNT(bins_of); b++) {
      pc_grid_state *grids[GRIDS];
      pc_class_bins bins;
      open_grids(bins_of[b], grids);
      for (size_t s = 0; s < UNIT_COUNT(slices); s++) {
        run(grids, s == 1, classes[c] > 256 ? 4 : sizes[s], slices[s], &bins, words);
        check(grids, &bins, words);
      }
      close_grids(grids);
    }
  }
}

/* Rows that the host must check may have any total. */
TEST(test_any_total_is_harmless) {
  static const double totals[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-300};
  static uint64_t words[2 * CELLS_MAX * PC_CLASS_BINS_WORDS];
  static const size_t classes[] = {10, 40};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    pc_grid_state *grids[GRIDS];
    pc_class_bins bins;
    draw(classes[c]);
    convert();
    open_grids(15, grids);
    for (size_t r = 0; r < ROWS; r += 2) {
      data.total[r] = totals[r / 2 % UNIT_COUNT(totals)];
      data.largest[r] = totals[r / 7 % UNIT_COUNT(totals)];
      data.wide_labels[r] = -5;
    }
    data.wide_labels[3] = INT64_MAX;
    run(grids, 0, 8, 3, &bins, words);
    close_grids(grids);
  }
}
