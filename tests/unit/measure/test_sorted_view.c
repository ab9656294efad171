/* A walk over sorted scores says what the machines say. */
#include "measure_help.h"

#include <math.h>

#include "base/rng.h"
#include "measure/replicas/sorted_view.h"

#define SORTED_ROWS 60
#define SORTED_CLASSES 3

/* Rows with ties, weights 0 to 2, and the same as machines take them. */
typedef struct sorted_case {
  double probs[SORTED_ROWS * SORTED_CLASSES], score[SORTED_ROWS], weights[SORTED_ROWS];
  int32_t labels[SORTED_ROWS], top_label[SORTED_ROWS];
  uint64_t ids[SORTED_ROWS];
  pc_kept_rows kept;
} sorted_case;

static void sorted_fill(sorted_case *at) {
  const pc_rng rng = {3, 3};
  for (size_t i = 0; i < SORTED_ROWS; i++) {
    const double a = 0.05 * floor(20 * pc_rng_uniform(&rng, 4 * i)), rest = 1 - a;
    double *p = at->probs + i * SORTED_CLASSES;
    p[0] = a;
    p[1] = rest * 0.25 * floor(4 * pc_rng_uniform(&rng, 4 * i + 1));
    p[2] = rest - p[1];
    at->top_label[i] = p[1] > p[0] ? 1 : 0;
    at->top_label[i] = p[2] > p[at->top_label[i]] ? 2 : at->top_label[i];
    at->score[i] = p[at->top_label[i]];
    at->weights[i] = floor(3 * pc_rng_uniform(&rng, 4 * i + 2));
    at->labels[i] = (int32_t)floor(3 * pc_rng_uniform(&rng, 4 * i + 3));
    at->ids[i] = i;
  }
  at->kept = (pc_kept_rows){.count = SORTED_ROWS,
                            .classes = SORTED_CLASSES,
                            .ids = at->ids,
                            .labels = at->labels,
                            .weights = at->weights,
                            .score = at->score,
                            .top_label = at->top_label,
                            .probs = at->probs};
}

/* The evidence of an ordinary state; rows of weight 0 are left out. */
static pc_evidence sorted_by_machine(const pcal_env *env, const sorted_case *at,
                                     const pc_need *need, const pc_layout *layout) {
  sorted_case few = *at;
  size_t count = 0;
  for (size_t i = 0; i < SORTED_ROWS; i++) {
    if (at->weights[i] == 0)
      continue;
    memcpy(few.probs + count * SORTED_CLASSES, at->probs + i * SORTED_CLASSES,
           SORTED_CLASSES * sizeof(double));
    few.score[count] = at->score[i];
    few.weights[count] = at->weights[i];
    few.labels[count] = at->labels[i];
    few.top_label[count] = at->top_label[i];
    few.ids[count++] = i;
  }
  const pc_rows rows = {.count = count,
                        .classes = SORTED_CLASSES,
                        .ids = few.ids,
                        .labels = few.labels,
                        .weights = few.weights,
                        .probs = few.probs,
                        .top = few.score,
                        .top_label = few.top_label};
  const pc_machine *machine = pc_machine_of(need->machine);
  pc_view_columns columns;
  void *state;
  assert_int_equal(pc_view_columns_new(env, &need->view, count, &columns, NULL), PCAL_OK);
  if (!pc_view_is_every_class(&need->view))
    pc_view_fill(&need->view, &rows, &columns);
  pc_evidence evidence;
  memset(&evidence, 0, sizeof evidence);
  assert_int_equal(machine->create(env, need, layout, &state, NULL), PCAL_OK);
  assert_int_equal(machine->update(env, state, &rows, &columns, NULL), PCAL_OK);
  assert_int_equal(machine->finish(env, state, &evidence, NULL), PCAL_OK);
  machine->destroy(env, state);
  pc_view_columns_free(env, &columns);
  return evidence;
}

static void sorted_same_bins(const pc_evidence *a, const pc_evidence *b) {
  assert_int_equal(a->grid.part_count, b->grid.part_count);
  assert_int_equal(a->grid.bin_count, b->grid.bin_count);
  for (size_t i = 0; i < a->grid.part_count * a->grid.bin_count; i++) {
    assert_near(a->grid.bins[i].weight + 1, b->grid.bins[i].weight + 1, 1e-14);
    assert_near(a->grid.bins[i].hits + 1, b->grid.bins[i].hits + 1, 1e-14);
    assert_near(a->grid.bins[i].score + 1, b->grid.bins[i].score + 1, 1e-13);
    assert_near(a->grid.bins[i].score_square + 1, b->grid.bins[i].score_square + 1, 1e-13);
    assert_near(a->grid.bins[i].score_hit + 1, b->grid.bins[i].score_hit + 1, 1e-13);
  }
}

static void sorted_same_tables(const pc_evidence *a, const pc_evidence *b) {
  assert_int_equal(a->curve.part_count, b->curve.part_count);
  for (size_t p = 0; p < a->curve.part_count; p++) {
    const pc_curve_table *x = &a->curve.parts[p], *y = &b->curve.parts[p];
    assert_int_equal(x->count, y->count);
    assert_near(x->total, y->total, 1e-14);
    for (size_t i = 0; i < x->count; i++) {
      assert_same(x->score[i], y->score[i]);
      assert_same(x->weight[i], y->weight[i]);
      assert_same(x->hits[i], y->hits[i]);
    }
  }
}

static void sorted_check(const sorted_case *at, const pc_need *need) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_layout layout = {PCAL_PROBABILITY, SORTED_CLASSES, SORTED_CLASSES};
  pc_sorted_view sorted;
  pc_replica_evidence refilled;
  float weights[SORTED_ROWS];
  for (size_t i = 0; i < SORTED_ROWS; i++)
    weights[i] = (float)at->weights[i];
  const pc_replica_draw drawn = {weights, 1, at->labels, 1.0, NULL, NULL};
  assert_true(pc_sorted_view_applies(need, &layout, &at->kept));
  assert_int_equal(pc_sorted_view_new(&env, &need->view, &layout, &at->kept, &sorted, NULL),
                   PCAL_OK);
  assert_int_equal(pc_replica_evidence_new(&env, need, &sorted, NULL, &refilled, NULL),
                   PCAL_OK);
  pc_evidence expected = sorted_by_machine(&env, at, need, &layout);
  for (int again = 0; again < 2; again++) {
    pc_replica_evidence_fill(need, &sorted, &drawn, &refilled);
    if (need->machine == PC_GRID)
      sorted_same_bins(&refilled.evidence, &expected);
    else
      sorted_same_tables(&refilled.evidence, &expected);
  }
  pc_machine_of(need->machine)->release(&env, &expected);
  pc_replica_evidence_free(&env, &refilled);
  pc_sorted_view_free(&env, &sorted);
}

TEST(test_walks_agree_with_machines) {
  static const pc_view views[] = {{PC_VIEW_RANK, 1, 0},
                                  {PC_VIEW_RANK, 1, 1},
                                  {PC_VIEW_CLASSES, 0, 0},
                                  {PC_VIEW_POOLED, 0, 0}};
  static const pc_edge_rule rules[] = {PC_EDGES_RIGHT, PC_EDGES_LEFT, PC_EDGES_GUO,
                                       PC_EDGES_OWN_ONE, PC_EDGES_NETCAL};
  sorted_case at;
  sorted_fill(&at);
  for (size_t v = 0; v < UNIT_COUNT(views); v++) {
    pc_need need;
    memset(&need, 0, sizeof need);
    need.view = views[v];
    need.machine = PC_CURVE;
    sorted_check(&at, &need);
    need.machine = PC_GRID;
    need.grid.moments = PC_MOMENT_SQUARE | PC_MOMENT_HIT;
    for (size_t r = 0; r < UNIT_COUNT(rules); r++)
      for (size_t bins = 1; bins <= 20; bins += 19)
        for (int cut = 0; cut < 2; cut++) {
          need.grid.rule = rules[r];
          need.grid.bins = bins;
          need.grid.threshold = cut ? 0.05 : 0;
          sorted_check(&at, &need);
        }
  }
}

TEST(test_what_has_no_sorted_view) {
  const pc_layout layout = {PCAL_PROBABILITY, SORTED_CLASSES, SORTED_CLASSES};
  sorted_case at;
  sorted_fill(&at);
  pc_need need;
  memset(&need, 0, sizeof need);
  need.machine = PC_CURVE;
  need.view = (pc_view){PC_VIEW_RANK, 2, 0};
  assert_false(pc_sorted_view_applies(&need, &layout, &at.kept));
  need.view = (pc_view){PC_VIEW_CLASS, 1, 0};
  assert_false(pc_sorted_view_applies(&need, &layout, &at.kept));
  need.view = (pc_view){PC_VIEW_RANK, 1, 0};
  need.machine = PC_SUM;
  assert_false(pc_sorted_view_applies(&need, &layout, &at.kept));
  need.machine = PC_GRID;
  need.grid.rule = PC_EDGES_KULL;
  assert_false(pc_sorted_view_applies(&need, &layout, &at.kept));
  need.grid.rule = PC_EDGES_RIGHT;
  need.grid.moments = PC_MOMENT_LOG;
  assert_false(pc_sorted_view_applies(&need, &layout, &at.kept));
}
