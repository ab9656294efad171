/* The kernels that add up rows on a GPU, run on the CPU: the sums of the CPU's own kernels for every
 * number of classes, type, size of labels and number of blocks; rows that the host must check. */
#include "unit.h"

#include "base/rng.h"
#include "base/sum.h"
#include "kernels/dispatch.h"
#include "row_sums_emulator.h"
#include "stats/bins.h"

#define ROWS 1103
#define CLASSES_MAX 257
#define GRIDS 2

static const pc_row_sums_value values[] = {
    {PC_ROW_VALUE_BRIER, 0}, {PC_ROW_VALUE_LOG, -40.0}, {PC_ROW_VALUE_SPHERICAL, 0}};

typedef struct test_rows {
  size_t classes;
  float z[ROWS * CLASSES_MAX + PC_NARROW_ROWS * PC_NARROW_CLASSES];
  double doubles[ROWS * CLASSES_MAX];
  int32_t labels[ROWS + PC_NARROW_ROWS];
  int64_t wide_labels[ROWS];
  uint8_t short_labels[ROWS];
} test_rows;

static test_rows data;

/* Row r has one of six shapes: usual, extreme, with ties, all equal, with a huge gap, confident. */
static void draw(size_t classes) {
  const pc_rng rng = {12, classes};
  memset(&data, 0, sizeof data);
  data.classes = classes;
  for (size_t r = 0; r < ROWS; r++) {
    for (size_t j = 0; j < classes; j++) {
      const double normal = pc_rng_normal(&rng, r * classes + j);
      const double likely = j == r % classes ? 1.0 : 0.0;
      data.z[r * classes + j] = (float)(r % 6 == 0   ? 3 * normal
                                        : r % 6 == 1 ? 300 * normal
                                        : r % 6 == 2 ? floor(normal)
                                        : r % 6 == 3 ? -0.5
                                        : r % 6 == 4 ? 800.0 * likely + normal
                                                     : 30.0 * likely + normal);
      data.doubles[r * classes + j] = (double)data.z[r * classes + j];
    }
    data.labels[r] = (int32_t)(r % 5 == 0 ? (r * 7) % classes : r % classes);
    data.wide_labels[r] = data.labels[r];
    data.short_labels[r] = (uint8_t)data.labels[r];
  }
}

/* ---- The CPU's own sums ---- */

typedef struct expected_sums {
  pc_sum value[PC_ROW_SUMS_VALUES];
  uint64_t hits, rows[GRIDS][64], cell_hits[GRIDS][64];
  pc_int128 score[GRIDS][64], square[GRIDS][64];
} expected_sums;

static void softmax(size_t r, double *rest, double *square, double *gap, int32_t *top) {
  const size_t classes = data.classes;
  if (classes > PC_NARROW_CLASSES) {
    pc_softmax_facts facts;
    pc_kernels_best()->row->softmax_f32(data.z + r * classes, classes, NULL, &facts);
    *rest = facts.rest;
    *square = facts.rest_square;
    *gap = (double)data.z[r * classes + (size_t)data.labels[r]] - facts.max;
    *top = (int32_t)facts.top;
    return;
  }
  double rests[PC_NARROW_ROWS], squares[PC_NARROW_ROWS], gaps[PC_NARROW_ROWS];
  int32_t tops[PC_NARROW_ROWS];
  pc_narrow_facts facts = {rests, squares, gaps, tops, 1, 1};
  pc_kernels_best()->row->narrow_f32(data.z + r * classes, classes, data.labels + r, NULL,
                                     &facts);
  *rest = rests[0];
  *square = squares[0];
  *gap = gaps[0];
  *top = tops[0];
}

static void expect(const pc_partition *grids, expected_sums *out) {
  memset(out, 0, sizeof *out);
  for (size_t r = 0; r < ROWS; r++) {
    double top, square, log_true, gap;
    int32_t label = data.labels[r], top_label;
    softmax(r, &top, &square, &log_true, &top_label);
    const pc_logit_columns columns = {&label, &top_label, &top, &square, &log_true, &gap};
    pc_kernels_best()->row->finish_logits(&columns, 1);
    pc_sum_add(&out->value[0], gap * gap + square);
    pc_sum_add(&out->value[1], log_true > -40.0 ? -log_true : 40.0);
    const double p = 1.0 - gap, norm = sqrt(p * p + square);
    pc_sum_add(&out->value[2], square / (norm * (norm + p)));
    out->hits += label == top_label;
    for (size_t g = 0; g < GRIDS; g++) {
      const size_t c = pc_partition_find(&grids[g], top);
      out->rows[g][c]++;
      out->cell_hits[g][c] += label == top_label;
      out->score[g][c] += (int64_t)(top * 0x1p53);
      out->square[g][c] += (int64_t)(top * top * 0x1p53);
    }
  }
}

/* ---- The kernel ---- */

static void add_grid(const pc_partition *cells, pc_row_sums *sums) {
  sums->grid[sums->grid_count++] = (pc_row_sums_grid){
      sums->cut_count, (uint32_t)cells->cut_count, sums->cell_count, cells->guess};
  for (ptrdiff_t c = -1; c <= (ptrdiff_t)cells->cut_count; c++)
    sums->cuts[sums->cut_count++] =
        cells->closed_right ? cells->cuts[c] : nextafter(cells->cuts[c], -INFINITY);
  sums->cuts[sums->cut_count - 1] = INFINITY;
  sums->cell_count += (uint32_t)cells->cut_count + 1;
}

static double row_total[ROWS], row_largest[ROWS];

static void run(const pc_partition *grids, row_sums_form form, uint32_t label_size,
                uint32_t blocks, pc_row_sums *sums, uint64_t *words) {
  const int is_double = form == ROW_SUMS_F64;
  const int wide = data.classes > PC_NARROW_CLASSES;
  memset(sums, 0, sizeof *sums);
  memset(words, 0, PC_ROW_SUMS_WORDS * sizeof *words);
  sums->scores = is_double ? (const void *)data.doubles : data.z;
  sums->labels = label_size == 8   ? (const void *)data.wide_labels
                 : label_size == 4 ? (const void *)data.labels
                                   : data.short_labels;
  sums->label_size = label_size;
  sums->words = words;
  sums->row_total = row_total;
  sums->row_largest = row_largest;
  sums->rows = ROWS;
  sums->classes = (uint32_t)data.classes;
  sums->value_count = UNIT_COUNT(values);
  memcpy(sums->value, values, sizeof values);
  for (size_t g = 0; g < GRIDS; g++)
    add_grid(&grids[g], sums);
  row_sums_emulate(sums, form, wide, blocks,
                   pc_row_sums_layout_of(sums, is_double ? 8 : 4, wide).bytes);
}

static void check(const pc_partition *grids, const pc_row_sums *sums, const uint64_t *words,
                  const expected_sums *expected) {
  assert_int_equal(words[PC_ROW_SUMS_ODD], 0);
  assert_int_equal(words[PC_ROW_SUMS_HITS], expected->hits);
  for (uint32_t v = 0; v < sums->value_count; v++) {
    pc_sum got = {.pending = 0};
    memcpy(got.limb, words + pc_row_sums_limbs(v), sizeof got.limb);
    assert_true(pc_sum_equal(&got, &expected->value[v]));
  }
  for (size_t g = 0; g < GRIDS; g++)
    for (size_t c = 0; c <= grids[g].cut_count; c++) {
      const uint64_t *cell = words + pc_row_sums_limbs(sums->value_count) +
                             (sums->grid[g].first_cell + c) * PC_ROW_SUMS_CELL_WORDS;
      assert_int_equal(cell[PC_ROW_SUMS_CELL_ROWS], expected->rows[g][c]);
      assert_int_equal(cell[PC_ROW_SUMS_CELL_HITS], expected->cell_hits[g][c]);
      assert_true(((pc_int128)cell[PC_ROW_SUMS_CELL_SCORE_HIGH] << PC_ROW_SUMS_HIGH) +
                      cell[PC_ROW_SUMS_CELL_SCORE] ==
                  expected->score[g][c]);
      assert_true(((pc_int128)cell[PC_ROW_SUMS_CELL_SQUARE_HIGH] << PC_ROW_SUMS_HIGH) +
                      cell[PC_ROW_SUMS_CELL_SQUARE] ==
                  expected->square[g][c]);
    }
}

static void open_grids(pc_partition *grids) {
  const pcal_env env = pc_env_resolve(NULL);
  assert_int_equal(pc_partition_new(&env, PC_EDGES_RIGHT, 15, &grids[0], NULL), PCAL_OK);
  assert_int_equal(pc_partition_new(&env, PC_EDGES_OWN_ONE, 40, &grids[1], NULL), PCAL_OK);
}

static void close_grids(pc_partition *grids) {
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t g = 0; g < GRIDS; g++)
    pc_partition_free(&env, &grids[g]);
}

TEST(test_sums_are_those_of_the_cpu) {
  static const size_t classes[] = {2, 3, 10, 16, 31, 32, 33, 47, 100, 257};
  static const uint32_t blocks[] = {1, 3, 9, 200};
  static uint64_t words[PC_ROW_SUMS_WORDS];
  static expected_sums expected;
  pc_partition grids[GRIDS];
  pc_row_sums sums;
  open_grids(grids);
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    draw(classes[c]);
    expect(grids, &expected);
    for (size_t b = 0; b < UNIT_COUNT(blocks); b++) {
      run(grids, b % 2 == 1 ? ROW_SUMS_F64 : ROW_SUMS_F32,
          b == 2 && classes[c] < 256 ? 1
          : b == 0                   ? 8
                                     : 4,
          blocks[b], &sums, words);
      check(grids, &sums, words, &expected);
      assert_int_equal(words[PC_ROW_SUMS_LABEL_HIGH], classes[c] - 1);
      assert_int_equal(words[PC_ROW_SUMS_LABEL_LOW], classes[c] - 1);
    }
  }
  close_grids(grids);
}

/* The rest of a row, relative to its largest term, from its total as row_total has it. */
static double rest_of(double total) {
  return fabs(total) - 1.0;
}

/* Edge case 5: the same top class and hit as in the exact precision, and a rest of about seven digits, however the
 * logits of a thread are ordered. */
TEST(test_fast_rows_are_close) {
  static const size_t classes[] = {2, 10, 32, 33, 127, 128, 129, 257};
  static uint64_t words[PC_ROW_SUMS_WORDS];
  static double exact[ROWS];
  pc_partition grids[GRIDS];
  pc_row_sums sums;
  open_grids(grids);
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    draw(classes[c]);
    run(grids, ROW_SUMS_F32, 4, 3, &sums, words);
    const uint64_t hits = words[PC_ROW_SUMS_HITS];
    memcpy(exact, row_total, sizeof exact);
    run(grids, ROW_SUMS_FAST, 4, 3, &sums, words);
    assert_int_equal(words[PC_ROW_SUMS_ODD], 0);
    assert_int_equal(words[PC_ROW_SUMS_HITS], hits);
    for (size_t r = 0; r < ROWS; r++) {
      assert_int_equal(row_total[r] > 0, exact[r] > 0);
      assert_true(fabs(rest_of(row_total[r]) - rest_of(exact[r])) <=
                  4e-6 * rest_of(exact[r]) + 4e-16);
    }
  }
  close_grids(grids);
}

/* Edge case 1. */
TEST(test_rows_for_the_host_are_noticed) {
  static const size_t classes[] = {10, 40};
  static const float odd[] = {INFINITY, -INFINITY, NAN};
  static uint64_t words[PC_ROW_SUMS_WORDS];
  pc_partition grids[GRIDS];
  pc_row_sums sums;
  open_grids(grids);
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    draw(classes[c]);
    for (size_t i = 0; i < UNIT_COUNT(odd); i++) {
      const size_t at = (ROWS - 1 - 7 * i) * classes[c] + 3 * i;
      const float before = data.z[at];
      data.z[at] = odd[i];
      run(grids, ROW_SUMS_F32, 4, 3, &sums, words);
      assert_int_equal(words[PC_ROW_SUMS_ODD], 1);
      run(grids, ROW_SUMS_FAST, 4, 3, &sums, words);
      assert_int_equal(words[PC_ROW_SUMS_ODD], 1);
      data.z[at] = before;
    }
    static const int64_t bad[] = {-1, INT32_MIN, INT64_MAX, 40};
    for (size_t i = 0; i < UNIT_COUNT(bad); i++) {
      data.wide_labels[500] = bad[i];
      run(grids, ROW_SUMS_F32, 8, 3, &sums, words);
      assert_int_equal(words[PC_ROW_SUMS_ODD], 1);
    }
    data.doubles[0] = -1e308; /* the log score of label 0 is infinite */
    data.doubles[1] = 1e308;
    data.labels[0] = 0;
    run(grids, ROW_SUMS_F64, 4, 2, &sums, words);
    assert_int_equal(words[PC_ROW_SUMS_ODD], 0); /* but not below the bound */
  }
  close_grids(grids);
}
