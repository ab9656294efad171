/* isotonic, isotonic-multi: isotonic regression of the outcomes on the probabilities.
 *
 * Formula:  isotonic:       g_k minimises sum_i w_i (g_k(p_ik) - 1[y_i = k])^2 among functions
 *                           that do not fall;  q_k = g_k(p_k) / sum_j g_j(p_j)
 *           isotonic-multi: g minimises the same sum over the pairs of all classes together;
 *                           q_k = (g(p_k) + 1e-9 p_k) / sum_j (g(p_j) + 1e-9 p_j)
 * Edge cases:
 *   1. Equal scores are averaged first.
 *   2. A block of the regression has one value from its smallest to its largest score; between
 *      blocks the map is straight, outside it is constant.
 *   3. isotonic: a row whose values are all 0 becomes uniform; one column of scores, and
 *      confidences, have one map and are not divided.
 *   4. isotonic-multi: one column of scores is two classes, p and 1 - p; scores a little below
 *      0 count as 0 in 1e-9 p.
 *   5. A class that never occurs, and constant scores, give a constant map.
 * Traits:   isotonic-multi divides g(p) + 1e-9 p, which rises, by the same sum for all classes
 *           of a row: their order stays, also after rounding.  isotonic keeps no order between
 *           classes, as each has its own map; with one column it keeps the order of scores.
 * Source:   Zadrozny & Elkan 2002; several classes by one regression: Zhang, Kailkhura & Han
 *           2020.
 * Accuracy: counts are exact for whole weights.
 * Cost:     one pass and a sort of each column; memory for the scores of as many classes as fit
 *           at a time (isotonic), of all classes (isotonic-multi). */
#include <math.h>

#include "calibrators/line_maps.h"
#include "calibrators/one_vs_rest.h"
#include "calibrators/recipe.h"
#include "calibrators/score_columns.h"
#include "curve/isotonic.h"

#define ISOTONIC_MULTI_RISE 1e-9 /* slope that isotonic-multi adds */

/* ---- Fit ---- */

static pcal_status isotonic_points(const pcal_env *env, const pc_isotonic *fit,
                                   pc_line_map *line, pcal_error *err) {
  size_t points = 0;
  for (size_t b = 0; b < fit->count; b++)
    points += fit->blocks[b].high > fit->blocks[b].low ? 2 : 1;
  PC_TRY(pc_line_map_alloc(env, points, line, err));
  double value = 0.0; /* fractional weights may round to blocks that fall slightly */
  for (size_t b = 0, at = 0; b < fit->count; b++) {
    const pc_isotonic_block *block = &fit->blocks[b];
    value = fmin(fmax(value, pc_isotonic_value(block)), 1.0);
    line->score[at] = block->low;
    line->value[at++] = value;
    if (block->high > block->low) {
      line->score[at] = block->high;
      line->value[at++] = value;
    }
  }
  return PCAL_OK;
}

static pcal_status isotonic_use(void *user, const pcal_env *scratch, size_t column,
                                const pc_sorted_column *misses, const pc_sorted_column *hits,
                                pcal_error *err) {
  const pcal_calibrator *calibrator = user;
  const pc_line_maps *lines = calibrator->parameters;
  pc_isotonic fit;
  PC_TRY(pc_isotonic_fit_columns(scratch, misses, hits, &fit, err));
  return isotonic_points(&calibrator->env, &fit, &lines->maps[column], err);
}

static pcal_status isotonic_wants(void *user, const pcal_env *env, const pc_curve_table *table,
                                  const uint8_t *settled, uint8_t *marks, pcal_error *err) {
  (void)user;
  return pc_isotonic_ranges(env, table, settled, 0, marks, err);
}

static pcal_status isotonic_use_ranges(void *user, const pcal_env *scratch, size_t column,
                                       const pc_curve_table *table, pcal_error *err) {
  const pcal_calibrator *calibrator = user;
  const pc_line_maps *lines = calibrator->parameters;
  pc_isotonic fit;
  PC_TRY(pc_isotonic_fit(scratch, table, &fit, err));
  return isotonic_points(&calibrator->env, &fit, &lines->maps[column], err);
}

static pcal_status isotonic_learn(const pc_fit_task *task, pc_score_columns_request *request,
                                  size_t count, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  pc_line_maps *lines = NULL;
  PC_TRY(pc_line_maps_new(&calibrator->env, count, &lines, err));
  calibrator->parameters = lines;
  calibrator->fit.status = PC_FIT_CLOSED_FORM;
  request->use = isotonic_use;
  request->wants = isotonic_wants;
  request->use_ranges = isotonic_use_ranges;
  request->user = calibrator;
  return pc_score_columns_run(task, request, err);
}

static pcal_status isotonic_fit(const pc_fit_task *task, pcal_error *err) {
  const pc_layout *layout = &task->calibrator->layout;
  pc_score_columns_request request = pc_score_columns_of_classes(layout);
  request.remedy = "use histogram, whose memory does not grow with the rows";
  return isotonic_learn(task, &request, layout->columns, err);
}

static const double *isotonic_look(const void *user, const pc_rows *rows, double *space,
                                   uint32_t *hit) {
  (void)user;
  (void)space;
  for (size_t i = 0; i < rows->count; i++)
    hit[i] = (uint32_t)rows->labels[i];
  return rows->probs;
}

static pcal_status isotonic_multi_fit(const pc_fit_task *task, pcal_error *err) {
  pc_score_columns_request request = {
      .columns = task->calibrator->layout.classes,
      .pooled = 1,
      .remedy = "use isotonic, which keeps one class at a time, or histogram",
      .look = isotonic_look};
  return isotonic_learn(task, &request, 1, err);
}

/* ---- Applying ---- */

static double isotonic_value(const void *map, size_t column, double score) {
  const pc_line_maps *lines = map;
  return pc_line_map_value(&lines->maps[column], score);
}

static void isotonic_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                           double *out) {
  pc_one_vs_rest_apply(&calibrator->layout, isotonic_value, calibrator->parameters, in, count,
                       out);
}

static const char *isotonic_recipe(const pcal_calibrator *calibrator, pc_recipe *out) {
  pc_recipe_add_line_maps(calibrator, calibrator->parameters, out);
  return NULL;
}

static const char *isotonic_multi_recipe(const pcal_calibrator *calibrator, pc_recipe *out) {
  out->wide = 1;
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_AT_LEAST});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_STORE, .size = 0});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_LINE_MAPS, .line_maps = calibrator->parameters});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_STORE, .size = 1});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_LOAD, .size = 0});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_SCALE, .a = ISOTONIC_MULTI_RISE});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_ADD, .size = 1});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_RESCALE});
  return NULL;
}

static double isotonic_multi_value(const pc_line_maps *lines, double score) {
  return pc_line_map_value(lines->maps, score) + ISOTONIC_MULTI_RISE * fmax(score, 0.0);
}

/* For two classes each operation of 1 / (1 + b / a) is monotone in a and in b, also after
 * rounding. */
static void isotonic_multi_apply(const pcal_calibrator *calibrator, const double *in,
                                 size_t count, double *out) {
  const pc_line_maps *lines = calibrator->parameters;
  const size_t k = calibrator->layout.classes;
  for (size_t i = 0; i < count; i++, in += k, out += k) {
    for (size_t c = 0; c < k; c++)
      out[c] = isotonic_multi_value(lines, in[c]);
    if (calibrator->layout.columns > 1) {
      pc_rescale_row(out, k);
    } else {
      out[1] = 1.0 / (1.0 + out[0] / out[1]);
      out[0] = 1.0 - out[1];
    }
  }
}

/* ---- Files ---- */

static void isotonic_write(const pcal_calibrator *calibrator, pc_json *json) {
  pc_line_maps_write(calibrator->parameters, json);
}

static pcal_status isotonic_read_maps(pcal_calibrator *calibrator, size_t lines,
                                      const pc_json_node *parameters, const char *file,
                                      pcal_error *err) {
  pc_line_maps *read = NULL;
  PC_TRY(pc_parameters_check_names(parameters, PC_NAMES("scores", "values"), file, err));
  PC_TRY(pc_line_maps_read(&calibrator->env, parameters, lines, PC_LIST_STRICT, PC_LIST_RISING,
                           file, &read, err));
  calibrator->parameters = read;
  return PCAL_OK;
}

static pcal_status isotonic_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                                 const char *file, pcal_error *err) {
  return isotonic_read_maps(calibrator, calibrator->layout.columns, parameters, file, err);
}

static pcal_status isotonic_multi_read(pcal_calibrator *calibrator,
                                       const pc_json_node *parameters, const char *file,
                                       pcal_error *err) {
  return isotonic_read_maps(calibrator, 1, parameters, file, err);
}

static void isotonic_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const pc_line_maps *lines = calibrator->parameters;
  size_t least = SIZE_MAX, most = 0;
  for (size_t i = 0; i < lines->count; i++) {
    size_t blocks = 1;
    for (size_t p = 1; p < lines->maps[i].count; p++)
      blocks += lines->maps[i].value[p] > lines->maps[i].value[p - 1];
    least = blocks < least ? blocks : least;
    most = blocks > most ? blocks : most;
  }
  pc_text_format(out, "%zu map%s of ", lines->count, lines->count == 1 ? "" : "s");
  if (least < most)
    pc_text_format(out, "%zu to ", least);
  pc_text_format(out, "%zu nondecreasing value%s\n", most, most == 1 ? "" : "s");
}

static unsigned isotonic_traits(const pcal_calibrator *calibrator) {
  return PC_SUMS_TO_ONE | PC_TAKES_CONFIDENCE |
         (calibrator->layout.columns == 1 ? PC_KEEPS_ORDER : 0);
}

/* ---- The methods ---- */

const pc_calibrator_method pc_calibrator_isotonic = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "isotonic",
            .title = "isotonic regression, class by class",
            .formula = "g_k minimises sum_i (g_k(p_ik) - 1[y_i = k])^2 among functions that do "
                       "not fall\n"
                       "q_k = g_k(p_k) / sum_j g_j(p_j)",
            .about = "The best monotone map of the probability of each class; then rows are "
                     "rescaled to sum to one. Learns any monotone shape, but needs about a "
                     "thousand rows for each class, makes neighbouring scores equal and may "
                     "change the top class. Between the blocks of the regression the map is "
                     "linear. A row whose values are all 0 becomes uniform; probabilities of "
                     "exactly 0 make the log score infinite.",
            .citation = "Zadrozny & Elkan, KDD 2002",
        },
    .traits = PC_SUMS_TO_ONE | PC_TAKES_CONFIDENCE,
    .fitted_traits = isotonic_traits,
    .in_rounds = 1,
    .fit = isotonic_fit,
    .apply = isotonic_apply,
    .recipe = isotonic_recipe,
    .write = isotonic_write,
    .read = isotonic_read,
    .describe = isotonic_describe,
};

const pc_calibrator_method pc_calibrator_isotonic_multi = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "isotonic-multi",
            .title = "one isotonic regression for all classes",
            .formula = "g minimises sum_i sum_k (g(p_ik) - 1[y_i = k])^2 among functions that "
                       "do not fall\n"
                       "q_k = (g(p_k) + 1e-9 p_k) / sum_j (g(p_j) + 1e-9 p_j)",
            .about =
                "One monotone map for all classes, learned from all pairs of a probability "
                "and its outcome; then rows are rescaled to sum to one. Keeps the order of "
                "the classes of a row, and so the accuracy; needs fewer rows than a map for "
                "each class. The term 1e-9 p keeps different probabilities different and "
                "positive ones positive.",
            .citation = "Zhang, Kailkhura & Han, ICML 2020",
        },
    .traits = PC_KEEPS_ACCURACY | PC_KEEPS_ORDER | PC_SUMS_TO_ONE,
    .in_rounds = 1,
    .fit = isotonic_multi_fit,
    .apply = isotonic_multi_apply,
    .recipe = isotonic_multi_recipe,
    .write = isotonic_write,
    .read = isotonic_multi_read,
    .describe = isotonic_describe,
};
