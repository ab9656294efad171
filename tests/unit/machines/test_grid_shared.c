/* A grid filled from a shared pass has the bits of one that has seen the rows. */
#include "machine_help.h"

#include "base/rng.h"
#include "machines/grid_shared.h"

#define TWIN_ROWS 600
#define TWIN_CLASSES 7

static double shared_probs[TWIN_ROWS * TWIN_CLASSES];
static int32_t shared_labels[TWIN_ROWS];

/* Scores on edges of either kind, next to them, at the ends and anywhere; rows need not sum to
 * 1 here. */
static void shared_draw(size_t bins) {
  const pc_rng rng = {43, bins}, other = {44, bins};
  const double m = (double)bins;
  for (uint64_t i = 0; i < TWIN_ROWS * TWIN_CLASSES; i++) {
    const double u = pc_rng_uniform(&rng, i), edge = floor(u * (m + 1));
    const double on = i % 2 == 0 ? edge / m : edge * (1.0 / m);
    shared_probs[i] = i % 7 == 0   ? u
                      : i % 7 == 1 ? nextafter(on, 2.0)
                      : i % 7 == 2 ? nextafter(on, -1.0)
                      : i % 7 == 3 ? u / m
                                   : on;
  }
  for (uint64_t i = 0; i < TWIN_ROWS; i++)
    shared_labels[i] = (int32_t)(TWIN_CLASSES * pc_rng_uniform(&other, i));
}

static machine_case shared_case(pc_edge_rule rule, size_t bins, pc_view_kind view,
                                unsigned moments) {
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_GRID;
  need.view.kind = view;
  need.grid.rule = rule;
  need.grid.bins = bins;
  need.grid.moments = moments;
  return machine_case_make(&pc_machine_grid, &need, TWIN_CLASSES);
}

static void shared_feed(const machine_case *about, void *state, size_t begin, size_t end) {
  const pc_rows rows = {.count = end - begin,
                        .classes = TWIN_CLASSES,
                        .labels = shared_labels + begin,
                        .probs = shared_probs + begin * TWIN_CLASSES};
  machine_update(about, state, &rows, NULL);
}

typedef struct shared_pair {
  void *first, *second;
} shared_pair;

static shared_pair shared_new(const machine_case *one, const machine_case *two) {
  const shared_pair pair = {machine_state(one), machine_state(two)};
  assert_int_equal(
      pc_grid_share(&one->env, pair.first, pair.second, &one->need, &one->layout, NULL),
      PCAL_OK);
  return pair;
}

/* Rows in two parts, merged; and rows that were cleared away. */
static void shared_compare(const machine_case *one, const machine_case *two) {
  shared_pair pair = shared_new(one, two), late = shared_new(one, two);
  void *first = machine_state(one), *second = machine_state(two);
  assert_true(pc_grid_can_share(&one->need, &two->need));
  shared_feed(one, first, 0, TWIN_ROWS);
  shared_feed(two, second, 0, TWIN_ROWS);
  shared_feed(one, pair.first, 0, 100);
  pc_machine_grid.clear(pair.first);
  pc_machine_grid.clear(pair.second);
  shared_feed(one, pair.first, 0, 200);
  shared_feed(one, late.first, 200, TWIN_ROWS);
  machine_merge(one, pair.first, late.first);
  machine_merge(two, pair.second, late.second);
  pc_grid_unshare(&one->env, pair.first, pair.second);
  machine_same_bins(one, pair.first, first);
  machine_same_bins(two, pair.second, second);
  void *const states[] = {pair.first, pair.second, late.first, late.second, first, second};
  for (size_t i = 0; i < UNIT_COUNT(states); i++)
    pc_machine_grid.destroy(&one->env, states[i]);
}

TEST(test_same_bits_as_from_rows) {
  static const pc_edge_rule rules[] = {PC_EDGES_LEFT, PC_EDGES_OWN_ONE, PC_EDGES_NETCAL};
  static const size_t bins[] = {2, 10, 15, 16, 49, 100};
  static const pc_view_kind views[] = {PC_VIEW_CLASSES, PC_VIEW_POOLED};
  const unsigned all = PC_MOMENT_SQUARE | PC_MOMENT_HIT;
  for (size_t b = 0; b < UNIT_COUNT(bins); b++)
    for (size_t r = 0; r < UNIT_COUNT(rules); r++)
      for (size_t v = 0; v < UNIT_COUNT(views); v++) {
        const machine_case one = shared_case(rules[r], bins[b], views[v], all);
        const machine_case two = shared_case(PC_EDGES_RIGHT, bins[b], views[v], all);
        const machine_case bare = shared_case(PC_EDGES_RIGHT, bins[b], views[v], 0);
        shared_draw(bins[b]);
        shared_compare(&one, &two);
        shared_compare(&one, &bare);
      }
}

TEST(test_which_grids_are_twins) {
  const machine_case one = shared_case(PC_EDGES_LEFT, 15, PC_VIEW_CLASSES, 0);
  const machine_case two = shared_case(PC_EDGES_RIGHT, 15, PC_VIEW_CLASSES, 0);
  assert_true(pc_grid_can_share(&one.need, &two.need));
  assert_false(pc_grid_can_share(&two.need, &one.need));
  assert_false(pc_grid_can_share(&one.need, &one.need));
  machine_case other = two;
  other.need.grid.bins = 16;
  assert_false(pc_grid_can_share(&one.need, &other.need));
  other = two;
  other.need.grid.threshold = 0.1;
  assert_false(pc_grid_can_share(&one.need, &other.need));
  other = two;
  other.need.grid.moments = PC_MOMENT_LOG;
  assert_false(pc_grid_can_share(&one.need, &other.need));
  other = two;
  other.need.view.kind = PC_VIEW_POOLED;
  assert_false(pc_grid_can_share(&one.need, &other.need));
}
