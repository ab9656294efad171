/* spline: a cubic spline through cumulative errors; its slope corrects the score.
 *
 * Formula:  scores sorted; t = share of rows up to a score;
 *           e(t) = sum of (outcome - score) / N over these rows;
 *           s = cubic spline with `knots` equidistant knots, least squares to e at the distinct
 *           scores;  g(score) = score + s'(t), clipped to [0, 1]
 *           fit=cumulative:  s follows the sum of outcomes alone, and g = s'
 *           constrained=yes: 0 <= g <= 1 at all rows, by a quadratic program
 * Rows:     target=top:    the rank-th largest entry becomes g, the others share 1 - g in
 *                          their old proportions
 *           target=all:    a spline for each rank; rows are divided by their sums
 *           target=within: the probability that the label is among the `rank` largest; one
 *                          column
 *           target=class:  the probability of one class; one column
 * Edge cases:
 *   1. Places, ties and interpolation: see spline_fit.c.
 *   2. target=top: another entry may exceed the new value of the predicted class; entries are
 *      not reordered.
 *   3. target=top: other entries that are all 0 share equally; target=all: a row whose values
 *      are all 0 becomes uniform.
 *   4. One column of scores, and confidences, have one spline, for target=top, all, or class=1.
 *   5. Fewer distinct scores than knots: the values at the knots have the smallest norm, with a
 *      warning.
 *   6. From 65536 rows on, scores are first joined into 4096 bins of equal mass (256 or more of
 *      each spline if there are many ranks), which count as their mean scores; the lowest and
 *      the highest score stay single (curve/mass_points.h).  So fits by rounds need no other
 *      scores, and maps are short.  convention=gupta uses all scores; its map has at most 65536
 *      points, fewer for many ranks, equally spaced in the order of distinct scores.
 *   7. convention=gupta: float scores, rows as points, and reversed interpolation, as in the
 *      published code.  Applied and saved maps are clipped to [0, 1]; the unclipped map, which
 *      the tables of the paper measure, is kept for study spline-tables.
 * Source:   Gupta et al. 2021 (the text and the published code differ).
 * Accuracy: values at knots to about 1e-10.
 * Cost:     a sort and a pass over distinct scores; constrained: a further pass for each active
 *           constraint. */
#include "calibrators/spline/spline.h"

#include <math.h>

#include "calibrators/parameter_lists.h"
#include "calibrators/recipe.h"
#include "curve/mass_points.h"
#include "curve/point_masses.h"

#define SPLINE_POINTS ((size_t)1 << 16)     /* most points of a map */
#define SPLINE_POINTS_ALL ((size_t)1 << 21) /* of all maps together, about */
#define SPLINE_POINTS_LEAST ((size_t)1 << 10)
#define SPLINE_KNOTS_MAX 100
#define SPLINE_JOINED_ROWS 65536.0      /* from this weight on, scores are joined into bins: */
#define SPLINE_BINS ((size_t)4096)      /* of all splines together, and */
#define SPLINE_BINS_LEAST ((size_t)256) /* of each */
#define SPLINE_LARGEST 1e6              /* largest value at a knot in a file */

static const pcal_option spline_options[] = {
    {"knots", PCAL_OPTION_INT, "6", 3, SPLINE_KNOTS_MAX, NULL, "number of knots"},
    {"runout", PCAL_OPTION_CHOICE, "natural", 0, 0, "natural|quadratic|cubic",
     "shape of the spline at its ends: straight, a parabola, or one cubic over two intervals"},
    {"constrained", PCAL_OPTION_BOOL, "no", 0, 0, NULL,
     "constrain the map to [0, 1] during the fit, instead of clipping it afterwards"},
    {"target", PCAL_OPTION_CHOICE, "top", 0, 0, "top|all|within|class",
     "the calibrated event: one rank, all ranks, the first ranks together, one class"},
    {"rank", PCAL_OPTION_INT, "1", 1, PC_CLASSES_MAX, NULL,
     "rank of target=top, number of ranks of target=within"},
    {"class", PCAL_OPTION_INT, "0", 0, PC_CLASSES_MAX, NULL, "class of target=class"},
    {"fit", PCAL_OPTION_CHOICE, "error", 0, 0, "error|cumulative",
     "the spline follows cumulative errors, or cumulative outcomes as in the paper"},
    {"convention", PCAL_OPTION_CHOICE, "none", 0, 0, "none|gupta",
     "gupta: places and interpolation of the published code; probabilities are still clipped "
     "to [0, 1]"},
};

/* ---- Options ---- */

const char *pc_spline_check_options(const pc_options *options, const pc_layout *layout) {
  const int target = options->value[PC_SPLINE_TARGET].choice;
  const double rank = options->value[PC_SPLINE_RANK].number;
  const double class = options->value[PC_SPLINE_CLASS].number;
  if (layout->columns == 1) {
    if (target == PC_SPLINE_WITHIN || rank > 1.0)
      return "one column of scores has no ranks; leave target and rank out";
    if (target == PC_SPLINE_OF_CLASS && class != 1.0)
      return "one column holds the score of class 1; give class=1";
    return NULL;
  }
  if ((target == PC_SPLINE_TOP || target == PC_SPLINE_WITHIN) && rank > (double)layout->classes)
    return "the rank is beyond the number of classes; give a smaller one";
  if (target == PC_SPLINE_OF_CLASS && class >= (double)layout->classes)
    return "the class is beyond the last one; classes are counted from 0";
  return NULL;
}

static pc_spline_target spline_target(const pcal_calibrator *calibrator) {
  return calibrator->layout.columns == 1
             ? PC_SPLINE_COLUMN
             : (pc_spline_target)calibrator->options.value[PC_SPLINE_TARGET].choice;
}

pcal_status pc_spline_model_new(pcal_calibrator *calibrator, pc_spline_model **out,
                                pcal_error *err) {
  const pc_option_value *option = calibrator->options.value;
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof **out, err));
  pc_spline_model *model = *out = calibrator->parameters;
  model->target = spline_target(calibrator);
  model->rank = (size_t)option[PC_SPLINE_RANK].number;
  model->class = (size_t)option[PC_SPLINE_CLASS].number;
  model->classes = calibrator->layout.classes;
  model->published = option[PC_SPLINE_CONVENTION].choice == 1;
  model->knots = (size_t)option[PC_SPLINE_KNOTS].number;
  model->count = model->target == PC_SPLINE_ALL ? model->classes : 1;
  model->values = pc_alloc(&calibrator->env, model->count, model->knots * sizeof(double));
  return model->values == NULL ? pc_fail_memory(err, "making a calibrator") : PCAL_OK;
}

static pc_spline_rule spline_rule(const pcal_calibrator *calibrator, size_t splines) {
  const pc_option_value *option = calibrator->options.value;
  const size_t points = SPLINE_POINTS_ALL / splines;
  return (pc_spline_rule){.knots = (size_t)option[PC_SPLINE_KNOTS].number,
                          .runout = (pc_runout)option[PC_SPLINE_RUNOUT].choice,
                          .constrained = option[PC_SPLINE_CONSTRAINED].number != 0,
                          .cumulative = option[PC_SPLINE_FIT].choice == 1,
                          .published = option[PC_SPLINE_CONVENTION].choice == 1,
                          .points = points > SPLINE_POINTS         ? SPLINE_POINTS
                                    : points < SPLINE_POINTS_LEAST ? SPLINE_POINTS_LEAST
                                                                   : points};
}

/* ---- Fit ---- */

typedef struct spline_state {
  pc_spline_model *model;
  const pcal_env *memory; /* of the calibrator */
  pc_spline_rule rule;
  pc_spline_fit_result *results; /* of each spline */
} spline_state;

/* Copies a map, clipped to [0, 1]. */
static pcal_status spline_clip(const pcal_env *env, const pc_line_map *from, pc_line_map *to,
                               pcal_error *err) {
  PC_TRY(pc_line_map_alloc(env, from->count, to, err));
  for (size_t i = 0; i < from->count; i++) {
    const double value = from->value[i];
    to->score[i] = from->score[i];
    to->value[i] = value >= 1.0 ? 1.0 : value > 0.0 ? value : 0.0;
  }
  return PCAL_OK;
}

/* The table of scores comes from the calibrator's memory: the map may take it over. */
static pcal_status spline_fit_table(const spline_state *state, const pcal_env *scratch,
                                    size_t column, pc_curve_table *table, pcal_error *err) {
  const pc_spline_model *model = state->model;
  const pc_line_maps *lines = model->published ? model->unclipped : model->lines;
  pc_line_map *line = &lines->maps[column];
  PC_TRY(pc_spline_fit(state->memory, scratch, &state->rule, table,
                       model->values + column * model->knots, line, &state->results[column],
                       err));
  pc_curve_table_free(state->memory, table);
  return model->published ? spline_clip(state->memory, line, &model->lines->maps[column], err)
                          : PCAL_OK;
}

/* True if scores are joined into bins. */
static int spline_joins(const spline_state *state, double weight) {
  return weight >= SPLINE_JOINED_ROWS && !state->model->published;
}

static size_t spline_bins(const spline_state *state) {
  const size_t share = SPLINE_BINS / state->model->count;
  return share < SPLINE_BINS_LEAST ? SPLINE_BINS_LEAST : share;
}

static pcal_status spline_use(void *user, const pcal_env *scratch, size_t column,
                              const pc_sorted_column *misses, const pc_sorted_column *hits,
                              pcal_error *err) {
  const spline_state *state = user;
  pc_curve_table table, points;
  PC_TRY(pc_curve_table_join(state->memory, misses, hits, &table, err));
  if (!spline_joins(state, table.total))
    return spline_fit_table(state, scratch, column, &table, err);
  const pcal_status status =
      pc_mass_points(state->memory, &table, spline_bins(state), &points, err);
  pc_curve_table_free(state->memory, &table);
  PC_TRY(status);
  return spline_fit_table(state, scratch, column, &points, err);
}

static pcal_status spline_wants(void *user, const pcal_env *env, const pc_curve_table *table,
                                const uint8_t *settled, uint8_t *marks, pcal_error *err) {
  const spline_state *state = user;
  (void)env;
  (void)settled;
  (void)err;
  if (spline_joins(state, table->total))
    pc_mass_points_wants(table, spline_bins(state), marks);
  else
    for (size_t i = 0; i < table->count; i++)
      marks[i] = pc_curve_table_open(table, i) ? PC_RANGE_RESOLVE : 0;
  return PCAL_OK;
}

static pcal_status spline_use_ranges(void *user, const pcal_env *scratch, size_t column,
                                     const pc_curve_table *table, pcal_error *err) {
  const spline_state *state = user;
  pc_curve_table points;
  PC_TRY(spline_joins(state, table->total)
             ? pc_mass_points(state->memory, table, spline_bins(state), &points, err)
             : pc_point_scores(state->memory, table, PC_EACH_SCORE, &points, err));
  return spline_fit_table(state, scratch, column, &points, err);
}

static void spline_record_fit(const spline_state *state, pcal_calibrator *calibrator) {
  size_t loose = 0, stopped = 0;
  for (size_t i = 0; i < state->model->count; i++) {
    loose += state->results[i].rank < state->model->knots;
    stopped += (size_t)state->results[i].stopped;
    calibrator->fit.iterations += state->results[i].iterations;
  }
  calibrator->fit.status = stopped > 0 ? PC_FIT_STOPPED : PC_FIT_CLOSED_FORM;
  if (loose > 0)
    pc_fit_warn(&calibrator->fit,
                "%zu of %zu splines have too few distinct scores for %zu knots; use fewer "
                "knots, or temperature",
                loose, state->model->count, state->model->knots);
  if (stopped > 0)
    pc_fit_warn(&calibrator->fit, "%zu of %zu quadratic programs stopped before the solution",
                stopped, state->model->count);
}

static pcal_status spline_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  const char *unsuited = pc_spline_check_options(&calibrator->options, &calibrator->layout);
  pc_spline_model *model = NULL;
  if (unsuited != NULL)
    return pc_fail(err, PCAL_USAGE, "spline: %-s", unsuited);
  PC_TRY(pc_spline_model_new(calibrator, &model, err));
  PC_TRY(pc_line_maps_new(&calibrator->env, model->count, &model->lines, err));
  if (model->published)
    PC_TRY(pc_line_maps_new(&calibrator->env, model->count, &model->unclipped, err));
  spline_state state = {model, &calibrator->env, spline_rule(calibrator, model->count), NULL};
  state.results = pc_alloc(task->env, model->count, sizeof *state.results);
  if (state.results == NULL)
    return pc_fail_memory(err, "fitting splines");
  pc_score_columns_request request = pc_spline_score_columns(model);
  request.use = spline_use;
  if (!model->published) { /* which needs every score */
    request.wants = spline_wants;
    request.use_ranges = spline_use_ranges;
  }
  request.user = &state;
  request.remedy = "use histogram, whose memory does not grow with the rows";
  PC_TRY(pc_score_columns_run(task, &request, err));
  spline_record_fit(&state, calibrator);
  return PCAL_OK;
}

/* ---- Files ---- */

static size_t spline_columns(const pcal_calibrator *calibrator) {
  const pc_spline_model *model = calibrator->parameters;
  const int single = model->target == PC_SPLINE_WITHIN || model->target == PC_SPLINE_OF_CLASS;
  return single ? 1 : calibrator->layout.columns;
}

static void spline_write(const pcal_calibrator *calibrator, pc_json *json) {
  const pc_spline_model *model = calibrator->parameters;
  pc_json_key(json, "knots");
  pc_json_open(json, '[');
  for (size_t i = 0; i < model->count; i++)
    pc_json_numbers(json, model->values + i * model->knots, model->knots);
  pc_json_close(json, ']');
  pc_line_maps_write(model->lines, json);
}

static pcal_status spline_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                               const char *file, pcal_error *err) {
  const pc_list_rule rule = {-SPLINE_LARGEST, SPLINE_LARGEST, PC_LIST_ANY,
                             "a value at a knot must be a number of at most 1e6 in size"};
  const char *unsuited = pc_spline_check_options(&calibrator->options, &calibrator->layout);
  const pc_json_node *lists = NULL;
  pc_spline_model *model = NULL;
  if (unsuited != NULL)
    return pc_parameter_error(parameters, file, unsuited, err);
  const size_t count =
      spline_target(calibrator) == PC_SPLINE_ALL ? calibrator->layout.classes : 1;
  PC_TRY(
      pc_parameters_check_names(parameters, PC_NAMES("knots", "scores", "values"), file, err));
  PC_TRY(pc_parameter_lists(parameters, "knots", count, file, &lists, err));
  PC_TRY(pc_spline_model_new(calibrator, &model, err));
  const pc_json_node *list = lists->list.first;
  for (size_t i = 0; i < count; i++, list = list->next) {
    if (list->list.count != model->knots)
      return pc_parameter_error(list, file, "there must be one value for each knot", err);
    PC_TRY(pc_parameter_numbers(list, &rule, model->values + i * model->knots, file, err));
  }
  return pc_line_maps_read(&calibrator->env, parameters, count, PC_LIST_PAIRED, PC_LIST_ANY,
                           file, &model->lines, err);
}

static void spline_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const pc_spline_model *model = calibrator->parameters;
  char runout[32];
  pc_options_word(&calibrator->options, PC_SPLINE_RUNOUT, runout, sizeof runout);
  pc_text_format(out, "%zu %s spline%s with %zu knots", model->count, runout,
                 model->count == 1 ? "" : "s", model->knots);
  switch (model->target) {
  case PC_SPLINE_TOP:
    pc_text_format(out, " for the class of rank %zu\n", model->rank);
    return;
  case PC_SPLINE_ALL:
    pc_text_add(out, ", one for each rank\n");
    return;
  case PC_SPLINE_WITHIN:
    pc_text_format(out, " for the first %zu ranks together: one output column\n", model->rank);
    return;
  case PC_SPLINE_OF_CLASS:
    pc_text_format(out, " for class %zu: one output column\n", model->class);
    return;
  case PC_SPLINE_COLUMN:
    pc_text_add(out, "\n");
    return;
  }
}

static const char *spline_recipe(const pcal_calibrator *calibrator, pc_recipe *out) {
  const pc_spline_model *model = calibrator->parameters;
  switch (model->target) {
  case PC_SPLINE_TOP:
    out->wide = 1;
    pc_recipe_add(
        out,
        (pc_step){.kind = PC_STEP_RANK_MAP, .size = model->rank, .line_maps = model->lines});
    return NULL;
  case PC_SPLINE_ALL:
    out->wide = 1;
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_ALL_RANKS_MAP, .line_maps = model->lines});
    pc_recipe_add(out, (pc_step){.kind = PC_STEP_RESCALE});
    return NULL;
  case PC_SPLINE_COLUMN:
    pc_recipe_add_line_maps(calibrator, model->lines, out);
    return NULL;
  case PC_SPLINE_WITHIN:
  case PC_SPLINE_OF_CLASS:
    break;
  }
  return "target=within and target=class have one output column; choose target=top or "
         "target=all";
}

static unsigned spline_traits(const pcal_calibrator *calibrator) {
  return PC_TAKES_CONFIDENCE |
         (spline_columns(calibrator) == calibrator->layout.columns ? PC_SUMS_TO_ONE : 0);
}

const pc_calibrator_method pc_calibrator_spline = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "spline",
            .title = "splines of cumulative errors",
            .formula = "e(t) = sum of (outcome - score) / N over the share t of lowest scores\n"
                       "s = cubic spline with few knots, least squares to e\n"
                       "g(score) = score + s'(t(score)), clipped to [0, 1]",
            .about =
                "Fits a spline to the cumulative errors along the sorted scores and corrects "
                "each score by its slope, without a search. target=top changes the confidence "
                "of the predicted class and shares the rest among the others in their old "
                "proportions; target=all has a spline for each rank; target=within and "
                "target=class give one column. The map may fall in places, and another class "
                "may overtake the predicted one. Needs a few thousand rows. From a total "
                "weight of 65,536 on, scores are first joined into 4,096 bins of equal mass "
                "(of all ranks together, at least 256 each), which keeps the map short and "
                "moves it less than chance does; convention=gupta uses all scores.",
            .citation = "Gupta, Rahimi, Ajanthan, Mensink, Sminchisescu & Hartley, ICLR 2021",
            .options = spline_options,
            .option_count = sizeof spline_options / sizeof *spline_options,
        },
    .traits = PC_TAKES_CONFIDENCE,
    .fitted_traits = spline_traits,
    .in_rounds = 1,
    .fit = spline_fit,
    .apply = pc_spline_apply,
    .recipe = spline_recipe,
    .output_columns = spline_columns,
    .scratch_size = pc_spline_row_space,
    .write = spline_write,
    .read = spline_read,
    .describe = spline_describe,
};
