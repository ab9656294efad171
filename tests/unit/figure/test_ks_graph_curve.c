#include "../unit.h"

#include "figure/ks_graph_curve.h"

/* Rows of score 0.2, 0.2, 0.5, 0.9 with outcomes 0, 1, 1, 1. */
static double ks_curve_score[] = {0.2, 0.5, 0.9};
static double ks_curve_fraction[] = {0.5, 0.75, 1};
static double ks_curve_scores[] = {0.1, 0.225, 0.45};
static double ks_curve_outcomes[] = {0.25, 0.5, 0.75};

static pc_plot_table ks_curve_graph(void) {
  return (pc_plot_table){
      .count = 3,
      .column_count = 4,
      .names = {"score", "fraction", "cumulated_score", "cumulated_outcome"},
      .columns = {ks_curve_score, ks_curve_fraction, ks_curve_scores, ks_curve_outcomes}};
}

TEST(test_stretches) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_plot_table graph = ks_curve_graph();
  pc_ks_graph_curve curve;
  pc_curve_table table;
  assert_int_equal(pc_ks_graph_curve_read(&graph, &curve, NULL), PCAL_OK);
  assert_int_equal(pc_ks_graph_curve_table(&env, &curve, 4, &table, NULL), PCAL_OK);
  assert_int_equal(table.count, 3);
  for (size_t i = 0; i < 3; i++)
    assert_near(table.score[i], ks_curve_score[i], 1e-12);
  assert_near(table.weight[0], 2, 1e-12);
  assert_near(table.hits[0], 1, 1e-12);
  assert_near(table.hits[2], 1, 1e-12);
  assert_near(table.total, 4, 1e-12);
  pc_curve_table_free(&env, &table);
}

/* Outcomes that follow the scores exactly leave the map of scores alone. */
TEST(test_a_calibrated_curve_has_the_identity) {
  enum { COUNT = 50 };
  double score[COUNT], fraction[COUNT], sums[COUNT], values[6];
  const pcal_env env = pc_env_resolve(NULL);
  double sum = 0;
  for (size_t i = 0; i < COUNT; i++) {
    score[i] = (double)(i + 1) / (COUNT + 1);
    fraction[i] = (double)(i + 1) / COUNT;
    sum += score[i] / COUNT;
    sums[i] = sum;
  }
  const pc_ks_graph_curve curve = {COUNT, score, fraction, sums, sums};
  pc_line_maps *map;
  assert_int_equal(pc_ks_graph_curve_spline(&env, &curve, COUNT, 6, values, &map, NULL),
                   PCAL_OK);
  for (size_t k = 0; k < 6; k++)
    assert_true(fabs(values[k]) < 1e-9);
  for (size_t i = 0; i < COUNT; i++)
    assert_true(fabs(pc_line_map_value(&map->maps[0], score[i]) - score[i]) < 1e-6);
  pc_line_maps_free(&env, map);
}

TEST(test_other_columns_are_refused) {
  pc_plot_table graph = ks_curve_graph();
  pc_ks_graph_curve curve;
  pcal_error err;
  graph.names[0] = "low";
  assert_int_equal(pc_ks_graph_curve_read(&graph, &curve, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "the curve is not one of cumulative scores and outcomes");
}

static pcal_status ks_curve_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const pc_plot_table graph = ks_curve_graph();
  pc_ks_graph_curve curve;
  pc_line_maps *map;
  double values[3];
  (void)user;
  PC_TRY(pc_ks_graph_curve_read(&graph, &curve, err));
  const pcal_status status = pc_ks_graph_curve_spline(env, &curve, 4, 3, values, &map, err);
  pc_line_maps_free(env, map);
  return status;
}

TEST(test_every_allocation_may_fail) {
  unit_fail_each_allocation(ks_curve_scenario, NULL);
}
