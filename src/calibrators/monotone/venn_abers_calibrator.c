/* venn-abers: two isotonic regressions for each score, as if its outcome were known.
 *
 * Formula:  p0, p1: value of isotonic regression at the score when the score is added to the
 *           rows with outcome 0, with outcome 1;
 *           v = p1 / (1 - p0 + p1);  q_k = v_k(p_k) / sum_j v_j(p_j)
 * Edge cases:
 *   1. p1 is constant on (s, s'] between neighbouring scores of the rows, and p0 on [s, s'):
 *      both are step functions, computed once; neighbouring steps of equal value are joined.
 *   2. 0 <= p0 <= p1 <= 1, p0 < 1 and p1 > 0, so v lies inside (0, 1).
 *   3. One column of scores, and confidences, have one map and are not divided.
 *   4. A new row counts as one row, whatever the weights.
 * Traits:   p0 and p1 do not fall, and neither does 1 / (1 + (1 - p0) / p1), also after
 *           rounding: with one column the order of scores stays.
 * Source:   Vovk, Petej & Fedorova 2015 (inductive Venn-Abers predictors; v minimises regret).
 * Accuracy: exact counts for whole weights.
 * Cost:     a sort of each class, then O(n); applying: a search among the steps near a score;
 *           memory for the scores of as many classes as fit at a time. */
#include <math.h>

#include "calibrators/bin_maps.h"
#include "calibrators/one_vs_rest.h"
#include "calibrators/parameter_lists.h"
#include "calibrators/score_columns.h"
#include "curve/venn_abers_bounds.h"

typedef struct venn_abers {
  pc_bin_maps *lower, *upper; /* p0 and p1 */
  pc_bin_maps *merged;        /* v */
} venn_abers;

/* ---- Steps ---- */

/* Adds a step at an edge above all others. */
static void venn_abers_add(pc_bin_map *table, double edge, double value) {
  if (edge < 1.0 && value != table->values[table->count - 1]) {
    table->edges[table->count - 1] = edge;
    table->values[table->count++] = value;
  }
}

/* A map with one value, and room for `steps` more. */
static pcal_status venn_abers_begin(const pcal_env *env, size_t steps, double value,
                                    pc_bin_map *out, pcal_error *err) {
  PC_TRY(pc_bin_map_alloc(env, steps + 1, out, err));
  out->values[0] = value;
  out->count = 1;
  return PCAL_OK;
}

static pcal_status venn_abers_lower(const pcal_env *env, const pc_curve_table *table,
                                    const pc_venn_abers_bounds *bounds, pc_bin_map *out,
                                    pcal_error *err) {
  PC_TRY(venn_abers_begin(env, bounds->lower_count, 0.0, out, err));
  for (size_t k = 0; k < bounds->lower_count; k++)
    venn_abers_add(out, nextafter(pc_curve_table_low(table, bounds->lower[k].entry), -INFINITY),
                   bounds->lower[k].value);
  return PCAL_OK;
}

static pcal_status venn_abers_upper(const pcal_env *env, const pc_curve_table *table,
                                    const pc_venn_abers_bounds *bounds, pc_bin_map *out,
                                    pcal_error *err) {
  PC_TRY(venn_abers_begin(env, bounds->upper_count, bounds->upper[0].value, out, err));
  for (size_t k = 1; k < bounds->upper_count; k++)
    venn_abers_add(out, pc_curve_table_high(table, bounds->upper[k].entry - 1),
                   bounds->upper[k].value);
  venn_abers_add(out, pc_curve_table_high(table, table->count - 1), 1.0);
  return PCAL_OK;
}

static double venn_abers_value(double lower, double upper) {
  return 1.0 / (1.0 + (1.0 - lower) / upper);
}

/* v, with the steps of both. */
static pcal_status venn_abers_merge(const pcal_env *env, const pc_bin_map *lower,
                                    const pc_bin_map *upper, pc_bin_map *out, pcal_error *err) {
  size_t l = 0, u = 0, made = 0;
  PC_TRY(pc_bin_map_alloc(env, lower->count + upper->count - 1, out, err));
  for (;;) {
    const double next_l = l + 1 < lower->count ? lower->edges[l] : INFINITY;
    const double next_u = u + 1 < upper->count ? upper->edges[u] : INFINITY;
    const double edge = next_l < next_u ? next_l : next_u;
    out->values[made] = venn_abers_value(lower->values[l], upper->values[u]);
    if (edge == INFINITY)
      break;
    out->edges[made++] = edge;
    l += next_l == edge;
    u += next_u == edge;
  }
  out->count = made + 1;
  return pc_bin_map_build_index(env, out, err);
}

/* ---- Fit ---- */

static pcal_status venn_abers_maps(const pcal_env *env, const pc_curve_table *table,
                                   const pc_venn_abers_bounds *bounds, const venn_abers *model,
                                   size_t column, pcal_error *err) {
  pc_bin_map *lower = &model->lower->maps[column], *upper = &model->upper->maps[column];
  PC_TRY(venn_abers_lower(env, table, bounds, lower, err));
  PC_TRY(venn_abers_upper(env, table, bounds, upper, err));
  return venn_abers_merge(env, lower, upper, &model->merged->maps[column], err);
}

static pcal_status venn_abers_use_ranges(void *user, const pcal_env *scratch, size_t column,
                                         const pc_curve_table *table, pcal_error *err) {
  const pcal_calibrator *calibrator = user;
  pc_venn_abers_bounds bounds = {0};
  PC_TRY(pc_venn_abers_bounds_new(scratch, table, &bounds, err));
  return venn_abers_maps(&calibrator->env, table, &bounds, calibrator->parameters, column, err);
}

static pcal_status venn_abers_use(void *user, const pcal_env *scratch, size_t column,
                                  const pc_sorted_column *misses, const pc_sorted_column *hits,
                                  pcal_error *err) {
  pc_curve_table table;
  PC_TRY(pc_curve_table_join(scratch, misses, hits, &table, err));
  return venn_abers_use_ranges(user, scratch, column, &table, err);
}

static pcal_status venn_abers_wants(void *user, const pcal_env *env,
                                    const pc_curve_table *table, const uint8_t *settled,
                                    uint8_t *marks, pcal_error *err) {
  (void)user;
  return pc_isotonic_ranges(env, table, settled, 1, marks, err);
}

static pcal_status venn_abers_new(pcal_calibrator *calibrator, venn_abers **out,
                                  pcal_error *err) {
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof **out, err));
  *out = calibrator->parameters;
  return pc_bin_maps_new(&calibrator->env, calibrator->layout.columns, &(*out)->merged, err);
}

static pcal_status venn_abers_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  const size_t columns = calibrator->layout.columns;
  pc_score_columns_request request = pc_score_columns_of_classes(&calibrator->layout);
  venn_abers *model = NULL;
  PC_TRY(venn_abers_new(calibrator, &model, err));
  PC_TRY(pc_bin_maps_new(&calibrator->env, columns, &model->lower, err));
  PC_TRY(pc_bin_maps_new(&calibrator->env, columns, &model->upper, err));
  calibrator->fit.status = PC_FIT_CLOSED_FORM;
  request.remedy = "use histogram, whose memory does not grow with the rows";
  request.use = venn_abers_use;
  request.wants = venn_abers_wants;
  request.use_ranges = venn_abers_use_ranges;
  request.user = calibrator;
  return pc_score_columns_run(task, &request, err);
}

/* ---- The method ---- */

static void venn_abers_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                             double *out) {
  const venn_abers *model = calibrator->parameters;
  pc_one_vs_rest_apply(&calibrator->layout, pc_bin_maps_value, model->merged, in, count, out);
}

static void venn_abers_write(const pcal_calibrator *calibrator, pc_json *json) {
  const venn_abers *model = calibrator->parameters;
  for (int upper = 0; upper < 2; upper++) {
    pc_json_key(json, upper ? "upper" : "lower");
    pc_json_open(json, '{');
    pc_bin_maps_write(upper ? model->upper : model->lower, 1, json);
    pc_json_close(json, '}');
  }
}

static pcal_status venn_abers_read_side(const pcal_calibrator *calibrator,
                                        const pc_json_node *parameters, const char *name,
                                        pc_bin_maps **out, const char *file, pcal_error *err) {
  const pc_bin_maps_rule rule = {
      .count = calibrator->layout.columns, .least = 1, .most = UINT32_MAX, .edges = 1};
  const pc_json_node *side = pc_json_find(parameters, name);
  if (side->kind != PC_JSON_OBJECT)
    return pc_parameter_error(side, file, "lower and upper must hold edges and values", err);
  PC_TRY(pc_parameters_check_names(side, PC_NAMES("edges", "values"), file, err));
  return pc_bin_maps_read(&calibrator->env, side, &rule, file, out, err);
}

/* Neither map may fall, and the lower one must stay below the upper one. */
static pcal_status venn_abers_check(const venn_abers *model, size_t column,
                                    const pc_json_node *parameters, const char *file,
                                    pcal_error *err) {
  const pc_bin_map *lower = &model->lower->maps[column];
  const pc_bin_map *upper = &model->upper->maps[column];
  const pc_bin_map *merged = &model->merged->maps[column];
  int valid = upper->values[0] > 0.0 && lower->values[lower->count - 1] < 1.0;
  for (size_t b = 1; b < merged->count; b++)
    valid &= merged->values[b] >= merged->values[b - 1];
  for (size_t b = 0; b + 1 < merged->count; b++)
    valid &= lower->values[pc_bin_map_find(lower, merged->edges[b])] <=
             upper->values[pc_bin_map_find(upper, merged->edges[b])];
  return valid ? PCAL_OK
               : pc_parameter_error(parameters, file,
                                    "lower must be below upper, and neither may fall", err);
}

static pcal_status venn_abers_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                                   const char *file, pcal_error *err) {
  venn_abers *model = NULL;
  const pc_json_node *lists = NULL;
  PC_TRY(pc_parameters_check_names(parameters, PC_NAMES("lower", "upper"), file, err));
  PC_TRY(pc_parameter_lists(pc_json_find(parameters, "lower"), "values",
                            calibrator->layout.columns, file, &lists, err));
  PC_TRY(venn_abers_new(calibrator, &model, err));
  PC_TRY(venn_abers_read_side(calibrator, parameters, "lower", &model->lower, file, err));
  PC_TRY(venn_abers_read_side(calibrator, parameters, "upper", &model->upper, file, err));
  for (size_t c = 0; c < model->merged->count; c++) {
    PC_TRY(venn_abers_merge(&calibrator->env, &model->lower->maps[c], &model->upper->maps[c],
                            &model->merged->maps[c], err));
    PC_TRY(venn_abers_check(model, c, parameters, file, err));
  }
  return PCAL_OK;
}

static void venn_abers_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const pc_bin_maps *merged = ((const venn_abers *)calibrator->parameters)->merged;
  pc_text_format(out, "%zu map%s of ", merged->count, merged->count == 1 ? "" : "s");
  pc_bin_maps_describe(merged, "step", out);
}

static unsigned venn_abers_traits(const pcal_calibrator *calibrator) {
  return PC_SUMS_TO_ONE | PC_TAKES_CONFIDENCE |
         (calibrator->layout.columns == 1 ? PC_KEEPS_ORDER : 0);
}

const pc_calibrator_method pc_calibrator_venn_abers = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "venn-abers",
            .title = "inductive Venn-Abers prediction",
            .formula =
                "p0, p1 = isotonic regression at the score, added with outcome 0, with 1\n"
                "v = p1 / (1 - p0 + p1),  q_k = v_k(p_k) / sum_j v_j(p_j)",
            .about = "Isotonic regression with its uncertainty: the score is added to the rows "
                     "once with each outcome, and the two values, between which a valid "
                     "probability lies, are combined. Never exactly 0 or 1, and better than "
                     "isotonic regression with few rows. Treats each class by itself; the top "
                     "class may change. The file holds both values.",
            .citation = "Vovk, Petej & Fedorova, NeurIPS 2015",
        },
    .traits = PC_SUMS_TO_ONE | PC_TAKES_CONFIDENCE,
    .fitted_traits = venn_abers_traits,
    .in_rounds = 1,
    .fit = venn_abers_fit,
    .apply = venn_abers_apply,
    .write = venn_abers_write,
    .read = venn_abers_read,
    .describe = venn_abers_describe,
};
