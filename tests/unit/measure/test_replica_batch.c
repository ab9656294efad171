/* Replicas that are added up together are those that come one by one. */
#include "measure_help.h"

#include "base/rng.h"
#include "curve/curve_gap.h"
#include "measure/replicas/draws.h"
#include "measure/replicas/replica_views.h"
#include "measure/results.h"

#define BATCH_ROWS 700
#define LANES_CLASSES 3
#define LANES_REPLICAS 30

typedef struct batch_case {
  double probs[BATCH_ROWS * LANES_CLASSES], weights[BATCH_ROWS];
  int32_t labels[BATCH_ROWS];
} batch_case;

/* With ties; weights 1, 2 or 2.5 where asked for. */
static given_data batch_data(batch_case *at, int weighted) {
  const pc_rng rng = {8, 8};
  for (size_t i = 0; i < BATCH_ROWS; i++) {
    double *p = at->probs + i * LANES_CLASSES;
    const double a = pc_rng_uniform(&rng, 3 * i);
    p[0] = i % 5 == 0 ? floor(8 * a) / 8 : a;
    p[1] = (1 - p[0]) * pc_rng_uniform(&rng, 3 * i + 1);
    p[2] = 1 - p[0] - p[1];
    at->labels[i] = (int32_t)(3 * pc_rng_uniform(&rng, 3 * i + 2));
    at->weights[i] = i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 2.5;
  }
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = BATCH_ROWS,
                      .columns = LANES_CLASSES,
                      .scores = at->probs,
                      .labels = at->labels,
                      .weights = weighted ? at->weights : NULL};
}

static pcal_results *batch_measure(const given_data *data, const char *const *specs,
                                   size_t count) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  const pcal_batch batch = given_batch(data);
  config.kind = data->kind;
  config.columns = data->columns;
  config.specs = specs;
  config.spec_count = count;
  config.interval = 0.95;
  config.replicas = LANES_REPLICAS;
  config.interval_method = PCAL_INTERVAL_PERCENTILE;
  config.paired = 1;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  pcal_measure_free(measure);
  return results;
}

/* Isotonic regression takes whole curves: beside it all others are evaluated on them too. */
static void batch_check(int weighted) {
  static batch_case at;
  const given_data data = batch_data(&at, weighted);
  static const char *const specs[] = {"ks",
                                      "tce:binning=mass,debias=yes",
                                      "smece",
                                      "gce:binning=adaptive,scope=all,classwise=yes",
                                      "decomposition:by=corp",
                                      "decomposition:by=corp,view=classwise"};
  pcal_results *together = batch_measure(&data, specs, 4);
  pcal_results *apart = batch_measure(&data, specs, 6);
  for (size_t m = 0; m < 4; m++)
    for (size_t r = 0; r < LANES_REPLICAS; r++) {
      const double a = together->replicas[m * LANES_REPLICAS + r];
      const double b = apart->replicas[m * LANES_REPLICAS + r];
      assert_near(a, b, m == 2 ? 1e-3 * b : 1e-11);
    }
  pcal_results_free(together);
  pcal_results_free(apart);
}

TEST(test_the_same_values) {
  batch_check(0);
}

TEST(test_with_weights) {
  batch_check(1);
}

/* ---- other labels ---- */

#define LABEL_ROWS 300

typedef struct label_case {
  uint64_t ids[LABEL_ROWS];
  int32_t labels[LABEL_ROWS], top_label[LABEL_ROWS];
  double weights[LABEL_ROWS], copies[LABEL_ROWS], score[LABEL_ROWS];
  double probs[LABEL_ROWS * LANES_CLASSES];
} label_case;

static pc_kept_rows label_rows(label_case *at) {
  const pc_rng rng = {8, 9};
  for (size_t i = 0; i < LABEL_ROWS; i++) {
    double *p = at->probs + i * LANES_CLASSES;
    p[0] = i % 6 == 0 ? 0.6 : pc_rng_uniform(&rng, 2 * i);
    p[1] = (1 - p[0]) * pc_rng_uniform(&rng, 2 * i + 1);
    p[2] = 1 - p[0] - p[1];
    const size_t top = p[0] >= p[1] ? (p[0] >= p[2] ? 0 : 2) : (p[1] >= p[2] ? 1 : 2);
    at->ids[i] = pc_hash_u64(i);
    at->top_label[i] = (int32_t)top;
    at->labels[i] = (int32_t)(i % 3);
    at->score[i] = p[top];
    at->weights[i] = at->copies[i] = 1.0;
  }
  return (pc_kept_rows){.count = LABEL_ROWS,
                        .classes = LANES_CLASSES,
                        .ids = at->ids,
                        .labels = at->labels,
                        .weights = at->weights,
                        .copies = at->copies,
                        .score = at->score,
                        .top_label = at->top_label,
                        .probs = at->probs};
}

/* One replica of a batch against the same replica by itself. */
static void label_compare(const pc_evidence *found, const pc_evidence *expected) {
  if (found->machine == PC_CURVE) {
    const pc_gap a = pc_curve_gap(&found->curve.parts[0]);
    const pc_gap b = pc_curve_gap(&expected->curve.parts[0]);
    assert_near(a.value, b.value, 1e-12 * fabs(b.value));
    return;
  }
  const size_t count = expected->grid.part_count * expected->grid.bin_count;
  assert_int_equal(found->grid.part_count * found->grid.bin_count, count);
  for (size_t i = 0; i < count; i++) {
    assert_same(found->grid.bins[i].weight, expected->grid.bins[i].weight);
    assert_same(found->grid.bins[i].hits, expected->grid.bins[i].hits);
    assert_same(found->grid.bins[i].score, expected->grid.bins[i].score);
  }
}

static void label_check(const char *spec) {
  static label_case at;
  static float weights[LABEL_ROWS * PC_REPLICA_LANES];
  static int32_t labels[LABEL_ROWS * PC_REPLICA_LANES], own[LABEL_ROWS];
  static uint8_t hits[LABEL_ROWS];
  const pcal_env env = pc_env_resolve(NULL);
  const pc_kept_rows rows = label_rows(&at);
  pc_layout layout;
  pc_measure_plan plan;
  pc_sorted_view sorted;
  pc_score_ranges ranges;
  pc_replica_batch batch;
  pc_replica_evidence alone;
  assert_int_equal(pc_layout_make(PCAL_PROBABILITY, LANES_CLASSES, &layout, NULL), PCAL_OK);
  assert_int_equal(pc_measure_plan_new(&env, &layout, NULL, &spec, 1, &plan, NULL), PCAL_OK);
  const size_t slot = plan.entries[0].slot;
  const pc_need *need = &plan.slots[slot].need;
  assert_int_equal(pc_sorted_view_new(&env, &need->view, &layout, &rows, &sorted, NULL),
                   PCAL_OK);
  assert_int_equal(
      pc_score_ranges_new(&env, &plan, slot, &sorted, rows.labels, NULL, &ranges, NULL),
      PCAL_OK);
  assert_int_equal(pc_score_ranges_index(&env, need, &rows, &sorted, &ranges, NULL), PCAL_OK);
  assert_int_equal(pc_replica_batch_new(&env, &plan, slot, &sorted, &ranges, &batch, NULL),
                   PCAL_OK);
  assert_int_equal(pc_replica_evidence_new(&env, need, &sorted, NULL, &alone, NULL), PCAL_OK);
  for (size_t i = 0; i < LABEL_ROWS * PC_REPLICA_LANES; i++)
    weights[i] = 1.0F;
  for (size_t replica = 0; replica < 4 * PC_REPLICA_LANES; replica++) {
    const size_t lane = replica % PC_REPLICA_LANES;
    const pc_batch_draws drawn = {weights, labels, hits};
    if (lane == 0) {
      pc_draw_label_lanes(7, replica, &rows, labels, hits);
      pc_replica_batch_add(&sorted, &ranges, &drawn, &batch);
    }
    for (size_t i = 0; i < LABEL_ROWS; i++) {
      own[i] = pc_draw_label(7, replica, &rows, i);
      assert_int_equal(labels[i * PC_REPLICA_LANES + lane], own[i]);
    }
    const pc_replica_draw draw = {weights, 1, own, LABEL_ROWS, NULL, NULL};
    pc_replica_batch_select(&sorted, &ranges, &drawn, lane, LABEL_ROWS, &batch);
    pc_replica_evidence_fill(need, &sorted, &draw, &alone);
    label_compare(&batch.evidence, &alone.evidence);
  }
  pc_replica_evidence_free(&env, &alone);
  pc_replica_batch_free(&env, &batch);
  pc_score_ranges_free(&env, &ranges);
  pc_sorted_view_free(&env, &sorted);
  pc_measure_plan_free(&env, &plan);
}

TEST(test_labels_drawn_together) {
  static const char *const specs[] = {"ece",  "sce", "cwce:p=2,debias=yes", "gce:variant=12",
                                      "cwce", "ks"};
  for (size_t s = 0; s < UNIT_COUNT(specs); s++)
    label_check(specs[s]);
}

/* ---- gap points ---- */

/* Gaps of every class that are added row by row are those of the sorted scores. */
TEST(test_class_gaps_by_row) {
  static label_case at;
  static float weights[LABEL_ROWS * PC_REPLICA_LANES];
  const char *const spec = "sce";
  const pcal_env env = pc_env_resolve(NULL);
  const pc_rng rng = {9, 1};
  const pc_kept_rows rows = label_rows(&at);
  pc_layout layout;
  pc_measure_plan plan;
  pc_replica_views views;
  pc_replica_batch by_score, by_row;
  assert_int_equal(pc_layout_make(PCAL_PROBABILITY, LANES_CLASSES, &layout, NULL), PCAL_OK);
  assert_int_equal(pc_measure_plan_new(&env, &layout, NULL, &spec, 1, &plan, NULL), PCAL_OK);
  assert_int_equal(pc_replica_views_new(&env, &plan, &rows, &views, NULL), PCAL_OK);
  const size_t slot = plan.entries[0].slot;
  assert_int_equal(pc_replica_views_add_data(&views, slot, NULL), PCAL_OK);
  const pc_sorted_view *sorted = views.sorted[slot];
  const pc_score_ranges *ranges = &views.ranges[slot];
  assert_int_equal(pc_replica_batch_new(&env, &plan, slot, sorted, ranges, &by_score, NULL),
                   PCAL_OK);
  assert_int_equal(pc_replica_batch_reserve_points(&env, sorted, ranges, &by_score, NULL),
                   PCAL_OK);
  assert_int_equal(pc_replica_views_index(&views, slot, NULL), PCAL_OK);
  assert_int_equal(pc_replica_batch_new(&env, &plan, slot, sorted, ranges, &by_row, NULL),
                   PCAL_OK);
  assert_int_equal(pc_replica_batch_reserve_points(&env, sorted, ranges, &by_row, NULL),
                   PCAL_OK);
  for (size_t i = 0; i < LABEL_ROWS * PC_REPLICA_LANES; i++)
    weights[i] = (float)floor(3 * pc_rng_uniform(&rng, i));
  const pc_batch_draws drawn = {.weights = weights};
  const pc_gap_point point = {0.4, 1.1, 0.01};
  pc_replica_batch_add(sorted, ranges, &drawn, &by_score);
  pc_replica_batch_add(sorted, ranges, &drawn, &by_row);
  assert_null(by_score.class_gaps);
  assert_non_null(by_row.class_gaps);
  for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++) {
    pc_replica_batch_select_point(sorted, ranges, &views.base[slot], weights, lane, 200.0,
                                  &point, &by_score);
    pc_replica_batch_select_point(sorted, ranges, &views.base[slot], weights, lane, 200.0,
                                  &point, &by_row);
    for (size_t r = 0; r < ranges->count; r++)
      assert_near(by_row.evidence.grid.bins[r].hits, by_score.evidence.grid.bins[r].hits,
                  1e-11);
  }
  pc_replica_batch_free(&env, &by_score);
  pc_replica_batch_free(&env, &by_row);
  pc_replica_views_free(&views);
  pc_measure_plan_free(&env, &plan);
}
