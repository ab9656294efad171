/* A grid filled from a bucket curve has the bits of one that has seen the rows. */
#include "machine_help.h"

#include "base/rng.h"
#include "machines/grid_from_curve.h"

#define FILL_ROWS 4096

static const pc_edge_rule fill_rules[] = {PC_EDGES_RIGHT, PC_EDGES_LEFT, PC_EDGES_OWN_ONE,
                                          PC_EDGES_NETCAL, PC_EDGES_KULL};

static machine_case fill_case(pc_edge_rule rule, size_t bins, unsigned moments) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_GRID;
  need.view.kind = PC_VIEW_CLASS;
  need.view.index = 1;
  need.grid.rule = rule;
  need.grid.bins = bins;
  need.grid.moments = moments;
  return machine_case_make(&pc_machine_grid, &need, 2);
}

static double fill_score[FILL_ROWS];
static uint8_t fill_hit[FILL_ROWS];

/* Floats or doubles: anything in [0, 1], edges of bins, some that are smaller than a unit of a grid,
 * and what is used as stored beyond. */
static void fill_draw(int floats) {
  const pc_rng rng = {41, 1}, other = {41, 2};
  for (uint64_t i = 0; i < FILL_ROWS; i++) {
    const double u = pc_rng_uniform(&rng, i);
    const double score = i % 5 == 0   ? u
                         : i % 5 == 1 ? floor(u * 16) / 15
                         : i % 5 == 2 ? floor(u * 17) * (1.0 / 16)
                         : i % 5 == 3 ? (i % 2 == 0 ? 1 : -1) * ldexp(1 + u, -(int)(i % 80))
                         : u < 0.5    ? -1e-6 * u
                                      : 1 + 1e-6 * u;
    fill_score[i] = fabs(score) < 1.001 ? score : u;
    fill_score[i] = floats ? (double)(float)fill_score[i] : fill_score[i];
    fill_hit[i] = pc_rng_uniform(&other, i) < 0.4;
  }
}

static void fill_tally(const pcal_env *env, const pc_refine_targets *targets,
                       pc_bucket_tally *out) {
  assert_int_equal(pc_bucket_tally_new(env, targets, out, NULL), PCAL_OK);
  assert_int_equal(pc_bucket_tally_add(out, fill_score, fill_hit, FILL_ROWS, NULL), PCAL_OK);
}

/* A first pass, which is cut at the ends from the beginning or not. */
static void fill_first(const pcal_env *env, const double *ends, size_t count,
                       pc_bucket_curve *curve) {
  pc_bucket_tally tally;
  assert_int_equal(pc_bucket_tally_new(env, NULL, &tally, NULL), PCAL_OK);
  if (ends != NULL)
    assert_int_equal(pc_bucket_tally_split(&tally, ends, count, NULL), PCAL_OK);
  assert_int_equal(pc_bucket_tally_add(&tally, fill_score, fill_hit, FILL_ROWS, NULL), PCAL_OK);
  assert_int_equal(pc_bucket_curve_new(env, &tally, curve, NULL), PCAL_OK);
  if (ends != NULL && count <= PC_BUCKET_SPLITS_MAX)
    assert_int_equal(pc_bucket_curve_count_cut(curve, ends, count), 0);
  pc_bucket_tally_free(&tally);
}

static void fill_from_curve(const machine_case *about, int cut, void *grid) {
  pc_bucket_tally tally;
  pc_bucket_curve curve;
  pc_refine_targets targets;
  double ends[PC_GRID_FROM_CURVE_ENDS_MAX];
  const size_t count = pc_grid_cell_ends(grid, NULL);
  assert_int_equal(pc_grid_cell_ends(grid, ends), count);
  fill_first(&about->env, cut ? ends : NULL, count, &curve);
  uint8_t *wanted = calloc(curve.count, 1);
  const pc_refine_request wish = {.wanted = wanted, .ends = ends, .end_count = count};
  assert_int_equal(pc_bucket_curve_targets(&curve, &wish, &targets, NULL), PCAL_OK);
  fill_tally(&about->env, &targets, &tally);
  assert_int_equal(pc_bucket_curve_refine(&curve, &tally, NULL), PCAL_OK);
  assert_true(curve.count > 500);
  pc_grid_fill_from_curve(grid, &curve);
  free(wanted);
  pc_bucket_tally_free(&tally);
  pc_refine_targets_free(&targets);
  pc_bucket_curve_free(&curve);
}

static void fill_compare(const machine_case *about) {
  const pc_rows rows = {.count = FILL_ROWS, .classes = 2};
  const pc_view_columns columns = {.score = fill_score, .hit = fill_hit};
  void *fed = machine_state(about);
  machine_update(about, fed, &rows, &columns);
  for (int cut = 0; cut <= 1; cut++) {
    void *filled = machine_state(about);
    fill_from_curve(about, cut, filled);
    machine_same_bins(about, fed, filled);
    about->machine->destroy(&about->env, filled);
  }
  about->machine->destroy(&about->env, fed);
}

static void check_same_bits(int floats) {
  static const size_t bins[] = {1, 15, 16, 100};
  fill_draw(floats);
  for (size_t r = 0; r < UNIT_COUNT(fill_rules); r++)
    for (size_t b = 0; b < UNIT_COUNT(bins); b++) {
      const machine_case all = fill_case(fill_rules[r], bins[b], PC_MOMENT_SQUARE);
      const machine_case none = fill_case(fill_rules[r], bins[b], 0);
      fill_compare(&all);
      fill_compare(&none);
    }
}

TEST(test_same_bits_as_from_rows) {
  check_same_bits(1);
  check_same_bits(0);
}

TEST(test_which_grids_can_be_filled) {
  machine_case about = fill_case(PC_EDGES_RIGHT, 100, 0);
  assert_true(pc_grid_can_fill_from_curve(&about.need));
  about.need.grid.bins = 101;
  assert_false(pc_grid_can_fill_from_curve(&about.need));
  about.need.grid.bins = 15;
  about.need.grid.threshold = 0.1;
  assert_false(pc_grid_can_fill_from_curve(&about.need));
  about.need.grid.threshold = 0;
  about.need.grid.moments = PC_MOMENT_LOG;
  assert_false(pc_grid_can_fill_from_curve(&about.need));
  about.need.grid.moments = PC_MOMENT_HIT;
  assert_false(pc_grid_can_fill_from_curve(&about.need));
  about.need.grid.moments = PC_MOMENT_SQUARE;
  about.need.grid.rule = PC_EDGES_GUO;
  assert_false(pc_grid_can_fill_from_curve(&about.need));
  about.need.grid.rule = PC_EDGES_LEFT;
  about.need.view.kind = PC_VIEW_CLASSES;
  assert_false(pc_grid_can_fill_from_curve(&about.need));
  about.need.view.kind = PC_VIEW_RANK;
  about.need.view.by_label = 1;
  assert_false(pc_grid_can_fill_from_curve(&about.need));
  about.need.view.by_label = 0;
  about.need.machine = PC_CURVE;
  assert_false(pc_grid_can_fill_from_curve(&about.need));
}
