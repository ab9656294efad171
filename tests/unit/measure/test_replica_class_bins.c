/* Bins of every class that are added up row by row have the sums of the sorted scores, bit by bit. */
#include "measure_help.h"

#include "base/rng.h"
#include "measure/replicas/draws.h"
#include "measure/replicas/replica_views.h"
#include "measure/replicas/row_moments.h"

#define BINS_ROWS 300
#define BINS_CLASSES 11
#define BINS_BITS 40

typedef struct bins_case {
  uint64_t ids[BINS_ROWS];
  int32_t labels[BINS_ROWS], top_label[BINS_ROWS];
  double weights[BINS_ROWS], copies[BINS_ROWS], score[BINS_ROWS];
  double probs[BINS_ROWS * BINS_CLASSES];
} bins_case;

/* With scores of 0, on the edges of 10 bins, and ties; most are small. */
static pc_kept_rows bins_rows(bins_case *at, double copies) {
  const pc_rng rng = {8, 9};
  for (size_t i = 0; i < BINS_ROWS; i++) {
    double *p = at->probs + i * BINS_CLASSES, left = 1.0;
    size_t top = 0;
    for (size_t k = 0; k < BINS_CLASSES; k++) {
      const double u = pc_rng_uniform(&rng, i * BINS_CLASSES + k);
      const double share = i % 4 == 0 ? 0.1 * floor(3.0 * u) : 0.6 * u * u;
      p[k] = k + 1 == BINS_CLASSES ? left : fmin(share, left);
      left -= p[k];
      top = p[k] > p[top] ? k : top;
    }
    at->ids[i] = pc_hash_u64(i);
    at->top_label[i] = (int32_t)top;
    at->labels[i] = (int32_t)(i % BINS_CLASSES);
    at->score[i] = p[top];
    at->weights[i] = 1.0;
    at->copies[i] = i % 3 == 0 ? copies : 1.0;
  }
  return (pc_kept_rows){.count = BINS_ROWS,
                        .classes = BINS_CLASSES,
                        .ids = at->ids,
                        .labels = at->labels,
                        .weights = at->weights,
                        .copies = at->copies,
                        .score = at->score,
                        .top_label = at->top_label,
                        .probs = at->probs};
}

/* Both ways for one slot. */
typedef struct bins_ways {
  pcal_env env;
  pc_measure_plan plan;
  size_t slot;
  pc_replica_views views; /* row by row */
  pc_sorted_view sorted;
  pc_score_ranges ranges;
  pc_replica_batch by_score, by_row;
  pc_replica_base base;
} bins_ways;

static void bins_open(const char *spec, const pc_kept_rows *rows, int index, bins_ways *out) {
  pc_layout layout;
  out->env = pc_env_resolve(NULL);
  assert_int_equal(pc_layout_make(PCAL_PROBABILITY, BINS_CLASSES, &layout, NULL), PCAL_OK);
  assert_int_equal(pc_measure_plan_new(&out->env, &layout, NULL, &spec, 1, &out->plan, NULL),
                   PCAL_OK);
  const size_t slot = out->slot = out->plan.entries[0].slot;
  const pc_need *need = &out->plan.slots[slot].need;
  assert_int_equal(pc_replica_views_new(&out->env, &out->plan, rows, &out->views, NULL),
                   PCAL_OK);
  out->views.bits = BINS_BITS;
  assert_true(pc_replica_views_by_row(&out->views, slot));
  assert_int_equal(pc_replica_views_ready(&out->views, slot, 1, index, NULL), PCAL_OK);
  assert_null(out->views.sorted[slot]);
  assert_int_equal(pc_replica_batch_new(&out->env, &out->plan, slot, NULL,
                                        &out->views.ranges[slot], &out->by_row, NULL),
                   PCAL_OK);
  assert_int_equal(
      pc_sorted_view_new(&out->env, &need->view, &out->plan.layout, rows, &out->sorted, NULL),
      PCAL_OK);
  assert_int_equal(pc_score_ranges_new(&out->env, &out->plan, slot, &out->sorted, rows->labels,
                                       NULL, &out->ranges, NULL),
                   PCAL_OK);
  out->ranges.lattice = pc_row_lattice(BINS_BITS);
  assert_int_equal(pc_replica_batch_new(&out->env, &out->plan, slot, &out->sorted, &out->ranges,
                                        &out->by_score, NULL),
                   PCAL_OK);
  assert_int_equal(pc_replica_base_new(&out->env, &out->plan, slot, &out->sorted, &out->ranges,
                                       rows, &out->base, NULL),
                   PCAL_OK);
}

static void bins_close(bins_ways *ways) {
  pc_replica_base_free(&ways->env, &ways->base);
  pc_replica_batch_free(&ways->env, &ways->by_score);
  pc_replica_batch_free(&ways->env, &ways->by_row);
  pc_score_ranges_free(&ways->env, &ways->ranges);
  pc_sorted_view_free(&ways->env, &ways->sorted);
  pc_replica_views_free(&ways->views);
  pc_measure_plan_free(&ways->env, &ways->plan);
}

static void bins_compare(const bins_ways *ways) {
  const pc_evidence *a = &ways->by_score.evidence, *b = &ways->by_row.evidence;
  assert_int_equal(a->grid.part_count, b->grid.part_count);
  assert_int_equal(a->grid.bin_count, b->grid.bin_count);
  for (size_t i = 0; i < a->grid.part_count * a->grid.bin_count; i++) {
    assert_same(b->grid.bins[i].weight, a->grid.bins[i].weight);
    assert_same(b->grid.bins[i].hits, a->grid.bins[i].hits);
    assert_same(b->grid.bins[i].score, a->grid.bins[i].score);
  }
}

static void bins_add(bins_ways *ways, const pc_batch_draws *drawn) {
  pc_replica_batch_add(&ways->sorted, &ways->ranges, drawn, &ways->by_score);
  pc_replica_batch_add(NULL, &ways->views.ranges[ways->slot], drawn, &ways->by_row);
}

static void bins_select(bins_ways *ways, const pc_batch_draws *drawn, size_t lane) {
  pc_replica_batch_select(&ways->sorted, &ways->ranges, drawn, lane, 9.0, &ways->by_score);
  pc_replica_batch_select(NULL, &ways->views.ranges[ways->slot], drawn, lane, 9.0,
                          &ways->by_row);
  bins_compare(ways);
}

static const char *const bins_specs[] = {
    "sce",
    "sce:bins=10",
    "cwce",
    "sce:bins=1",
    "sce:bins=3000",
    "gce:binning=width,scope=all,classwise=no,bins=10",
    "gce:binning=width,scope=all,classwise=yes,threshold=0.1"};

TEST(test_weights) {
  static bins_case at;
  static float weights[BINS_ROWS * PC_REPLICA_LANES];
  const pc_kept_rows rows = bins_rows(&at, 3.0);
  const pc_rng rng = {9, 1};
  for (size_t s = 0; s < UNIT_COUNT(bins_specs); s++) {
    bins_ways ways;
    bins_open(bins_specs[s], &rows, 0, &ways);
    for (size_t i = 0; i < BINS_ROWS * PC_REPLICA_LANES; i++)
      weights[i] = (float)floor(3 * pc_rng_uniform(&rng, i));
    const pc_batch_draws drawn = {.weights = weights};
    bins_add(&ways, &drawn);
    for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++)
      bins_select(&ways, &drawn, lane);
    bins_close(&ways);
  }
}

TEST(test_sums_of_the_data) {
  static bins_case at;
  const pc_kept_rows rows = bins_rows(&at, 3.0);
  for (size_t s = 0; s < UNIT_COUNT(bins_specs); s++) {
    bins_ways ways;
    bins_open(bins_specs[s], &rows, 0, &ways);
    const pc_replica_base *base = &ways.views.base[ways.slot];
    assert_same(base->total, ways.base.total);
    assert_same(base->tilt_mean, ways.base.tilt_mean);
    for (size_t r = 0; r < ways.ranges.count; r++)
      assert_same(base->tilt[r], ways.base.tilt[r]);
    for (size_t i = 0; i < 3 * ways.ranges.count; i++)
      assert_same(base->sums[i], ways.base.sums[i]);
    bins_close(&ways);
  }
}

/* With and without a table of all scores. */
TEST(test_labels_drawn_together) {
  static bins_case at;
  static float weights[BINS_ROWS * PC_REPLICA_LANES];
  static int32_t labels[BINS_ROWS * PC_REPLICA_LANES];
  static uint8_t hits[BINS_ROWS];
  const pc_kept_rows rows = bins_rows(&at, 1.0);
  for (size_t i = 0; i < BINS_ROWS * PC_REPLICA_LANES; i++)
    weights[i] = 1.0F;
  for (size_t s = 0; s < 2 * UNIT_COUNT(bins_specs); s++) {
    bins_ways ways;
    bins_open(bins_specs[s / 2], &rows, s % 2 == 0, &ways);
    for (size_t replica = 0; replica < 2 * PC_REPLICA_LANES; replica++) {
      const pc_batch_draws drawn = {.weights = weights, .labels = labels, .hits = hits};
      if (replica % PC_REPLICA_LANES == 0) {
        pc_draw_label_lanes(7, replica, &rows, labels, hits);
        bins_add(&ways, &drawn);
      }
      bins_select(&ways, &drawn, replica % PC_REPLICA_LANES);
    }
    bins_close(&ways);
  }
}

/* The labels of one replica, in which rows stand for several copies. */
TEST(test_labels_of_copies) {
  static bins_case at;
  static int32_t labels[BINS_ROWS];
  const pc_kept_rows rows = bins_rows(&at, 3.0);
  for (size_t s = 0; s < UNIT_COUNT(bins_specs); s++) {
    bins_ways ways;
    pc_drawn_outcomes outcomes = {0};
    bins_open(bins_specs[s], &rows, 0, &ways);
    const pc_need *need = &ways.plan.slots[ways.slot].need;
    assert_int_equal(
        pc_draw_outcomes(&ways.env, 3, &ways.plan.layout, &rows, &outcomes, labels, NULL),
        PCAL_OK);
    const pc_replica_draw drawn = {ways.base.weight, 1,        labels, ways.base.total,
                                   rows.weights,     &outcomes};
    pc_replica_evidence alone;
    assert_int_equal(pc_replica_evidence_new(&ways.env, need, &ways.sorted, NULL, &alone, NULL),
                     PCAL_OK);
    alone.lattice = ways.ranges.lattice;
    pc_replica_evidence_fill(need, &ways.sorted, &drawn, &alone);
    pc_replica_batch_count(&ways.views.ranges[ways.slot], &ways.views.base[ways.slot], &drawn,
                           &ways.by_row);
    for (size_t r = 0; r < ways.ranges.count; r++) {
      assert_same(ways.by_row.evidence.grid.bins[r].hits, alone.evidence.grid.bins[r].hits);
      assert_same(ways.by_row.evidence.grid.bins[r].score, alone.evidence.grid.bins[r].score);
      assert_same(ways.by_row.evidence.grid.bins[r].weight, alone.evidence.grid.bins[r].weight);
    }
    pc_replica_evidence_free(&ways.env, &alone);
    pc_drawn_outcomes_free(&ways.env, &outcomes);
    bins_close(&ways);
  }
}

/* Columns are added up once for all requests of the same views. */
TEST(test_columns_are_kept) {
  static bins_case at;
  static float weights[BINS_ROWS * PC_REPLICA_LANES];
  const pc_kept_rows rows = bins_rows(&at, 1.0);
  double room[(BINS_CLASSES + 1) * PC_REPLICA_LANES];
  bins_ways ways;
  bins_open("sce", &rows, 0, &ways);
  for (size_t i = 0; i < BINS_ROWS * PC_REPLICA_LANES; i++)
    weights[i] = 2.0F;
  pc_replica_views_keep_columns(&ways.views, 2);
  const double *kept = pc_replica_views_columns(&ways.views, 1, 1, weights, room);
  assert_same(kept[BINS_CLASSES * PC_REPLICA_LANES], 2.0 * BINS_ROWS);
  weights[0] = 3.0F;
  assert_ptr_equal(pc_replica_views_columns(&ways.views, 1, 1, weights, room), kept);
  assert_same(kept[BINS_CLASSES * PC_REPLICA_LANES], 2.0 * BINS_ROWS);
  assert_ptr_equal(pc_replica_views_columns(&ways.views, 0, 1, weights, room), room);
  assert_ptr_equal(pc_replica_views_columns(&ways.views, 1, 2, weights, room), room);
  assert_same(room[BINS_CLASSES * PC_REPLICA_LANES], 2.0 * BINS_ROWS + 1.0);
  bins_close(&ways);
}

/* More scores than are sorted, if their bins need less memory than the rows. */
TEST(test_many_scores) {
  static double none[1];
  static const char *const specs[] = {"sce", "sce:bins=5000"};
  const pc_kept_rows rows = {.count = 50000, .classes = 1000, .probs = none};
  for (size_t s = 0; s < UNIT_COUNT(specs); s++) {
    const pcal_env env = pc_env_resolve(NULL);
    pc_layout layout;
    pc_measure_plan plan;
    assert_int_equal(pc_layout_make(PCAL_PROBABILITY, rows.classes, &layout, NULL), PCAL_OK);
    assert_int_equal(pc_measure_plan_new(&env, &layout, NULL, &specs[s], 1, &plan, NULL),
                     PCAL_OK);
    const pc_need *need = &plan.slots[plan.entries[0].slot].need;
    assert_false(pc_sorted_view_applies(need, &layout, &rows));
    assert_int_equal(pc_replica_class_bins_suit(need, &layout, &rows), s == 0);
    pc_measure_plan_free(&env, &plan);
  }
}
