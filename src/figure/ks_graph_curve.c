/* 1. The rows between two points of the curve get the mean of their scores, limited to the two
 *    ends, since rounding of cumulative sums must not put scores out of order.  Points without
 *    rows between them are joined.
 * 2. Curves of more than about a thousand distinct scores were thinned when they were measured,
 *    with the extremes kept; splines through them differ from those through all rows by less
 *    than the width of a line. */
#include "figure/ks_graph_curve.h"

#include <math.h>

#include "calibrators/spline/spline_fit.h"

#define KS_GRAPH_CURVE_LINE 500
#define KS_GRAPH_CURVE_MAP 4096

pcal_status pc_ks_graph_curve_read(const pc_plot_table *graph, pc_ks_graph_curve *out,
                                   pcal_error *err) {
  *out = (pc_ks_graph_curve){
      graph->count, pc_graph_column(graph, "score"), pc_graph_column(graph, "fraction"),
      pc_graph_column(graph, "cumulated_score"), pc_graph_column(graph, "cumulated_outcome")};
  if (out->score == NULL || out->fraction == NULL || out->scores == NULL ||
      out->outcomes == NULL || out->count == 0)
    return pc_fail(err, PCAL_USAGE, "the curve is not one of cumulative scores and outcomes");
  return PCAL_OK;
}

pcal_status pc_ks_graph_curve_table(const pcal_env *env, const pc_ks_graph_curve *curve,
                                    double rows, pc_curve_table *out, pcal_error *err) {
  PC_TRY(pc_curve_table_room(env, curve->count, out, err));
  double fraction = 0, scores = 0, outcomes = 0, last = -HUGE_VAL;
  for (size_t i = 0; i < curve->count; i++) {
    const double weight = (curve->fraction[i] - fraction) * rows;
    const double hits = (curve->outcomes[i] - outcomes) * rows;
    if (!(weight > 0))
      continue;
    const double mean = (curve->scores[i] - scores) * rows / weight;
    const double score = fmin(fmax(mean, last), curve->score[i]);
    const int joins = out->count > 0 && score <= last;
    const size_t at = out->count - (size_t)joins;
    out->score[at] = score;
    out->weight[at] = (joins ? out->weight[at] : 0.0) + weight;
    out->hits[at] = (joins ? out->hits[at] : 0.0) + fmin(fmax(hits, 0), weight);
    out->count = at + 1;
    out->total += weight;
    fraction = curve->fraction[i];
    scores = curve->scores[i];
    outcomes = curve->outcomes[i];
    last = score;
  }
  return PCAL_OK;
}

pcal_status pc_ks_graph_curve_spline(const pcal_env *env, const pc_ks_graph_curve *curve,
                                     double rows, size_t knots, double *values,
                                     pc_line_maps **map, pcal_error *err) {
  const pc_spline_rule rule = {
      .knots = knots, .runout = PC_RUNOUT_NATURAL, .points = KS_GRAPH_CURVE_MAP};
  pc_curve_table table;
  pc_spline_fit_result result;
  pc_arena scratch;
  *map = NULL;
  PC_TRY(pc_ks_graph_curve_table(env, curve, rows, &table, err));
  pcal_status status = pc_line_maps_new(env, 1, map, err);
  if (status == PCAL_OK)
    status = pc_arena_open(&scratch, env, err);
  if (status == PCAL_OK) {
    status =
        pc_spline_fit(env, &scratch.env, &rule, &table, values, &(*map)->maps[0], &result, err);
    pc_arena_close(&scratch);
  }
  pc_curve_table_free(env, &table);
  if (status == PCAL_OK)
    return PCAL_OK;
  pc_line_maps_free(env, *map);
  *map = NULL;
  return status;
}

void pc_ks_graph_curve_line(pc_figure *figure, size_t panel, pc_look look, const double *x,
                            const double *y, size_t count) {
  const size_t stride = (count + KS_GRAPH_CURVE_LINE - 1) / KS_GRAPH_CURVE_LINE;
  pc_point points[KS_GRAPH_CURVE_LINE + 2];
  size_t used = 0;
  for (size_t i = 0; i < count; i += stride)
    points[used++] = (pc_point){x[i], y[i]};
  if (count > 0 && (count - 1) % stride != 0)
    points[used++] = (pc_point){x[count - 1], y[count - 1]};
  pc_figure_line(figure, panel, look, points, used);
}
