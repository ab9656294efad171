/* histogram: replaces a score by the frequency observed in its bin.
 *
 * Formula:  v_k(b) = hits of class k in bin b / rows in bin b;  q_k = v_k(b(p_k)) / sum_j v_j
 * Edge cases:
 *   1. Bins are (lo, hi], 0 in the first.  Equal width: edges i/M by one division.  Equal mass:
 *      edges midway between neighbouring scores, equal edges joined (stats/bins.h).  Scores a
 *      little outside [0, 1] belong to the outer bins.
 *   2. An empty bin gets its midpoint.
 *   3. A row whose values are all 0 becomes uniform.
 *   4. One column of scores, and confidences, have one table and are not rescaled.
 *   5. classwise=no pools the pairs (p_k, 1[y = k]) of all classes in one table.
 *   6. bootstrap=B: the mean of the tables of B resamples drawn with the seed
 *      (histogram_bootstrap.c); with equal mass it has a bin between any two different edges.
 * Source:   Zadrozny & Elkan 2001; the bootstrap is named by Nixon et al. 2019.
 * Accuracy: counts are exact.
 * Cost:     one pass, a few steps for each score; memory for the tables (width), or for the
 *           scores of as many classes as fit at a time (mass). */
#include "calibrators/binning/histogram.h"

#include "base/executor.h"
#include "base/sum.h"
#include "calibrators/fit_pass.h"
#include "calibrators/one_vs_rest.h"
#include "calibrators/parameter_lists.h"
#include "calibrators/recipe.h"
#include "stats/bins.h"

#define HISTOGRAM_RESAMPLES 1000

static const pcal_option histogram_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, PC_BINS_MAX, NULL, "number of bins"},
    {"binning", PCAL_OPTION_CHOICE, "width", 0, 0, "width|mass",
     "bins of equal width, or with equally many rows"},
    {"classwise", PCAL_OPTION_BOOL, "yes", 0, 0, NULL,
     "one table for each class, or one for all classes together"},
    {"bootstrap", PCAL_OPTION_INT, "0", 0, HISTOGRAM_RESAMPLES, NULL,
     "average the tables of so many bootstrap resamples; 0: no bootstrap"},
};

/* ---- Equal width ---- */

/* Listed as an array of sums. */
typedef struct histogram_cell {
  pc_fixed weight, hits;
} histogram_cell;

typedef struct histogram_state {
  const pc_histogram_fit *fit;
  histogram_cell **workers; /* cells of all tables */
} histogram_state;

/* The scores of row i. */
static const double *histogram_scores(const pc_histogram_fit *fit, const pc_rows *rows,
                                      size_t i) {
  return fit->columns == 1 ? rows->positive + i : rows->probs + i * rows->classes;
}

static pcal_status histogram_add(void *user, size_t worker, const pc_rows *rows,
                                 pcal_error *err) {
  const histogram_state *state = user;
  const pc_histogram_fit *fit = state->fit;
  (void)err;
  for (size_t i = 0; i < rows->count; i++) {
    const double *scores = histogram_scores(fit, rows, i);
    const double weight = rows->weights == NULL ? 1.0 : rows->weights[i];
    for (size_t c = 0; c < fit->columns; c++) {
      const size_t t = fit->tables->count == 1 ? 0 : c;
      histogram_cell *cell = state->workers[worker] + t * fit->bins +
                             pc_bin_map_find(&fit->tables->maps[t], scores[c]);
      pc_fixed_add_weighted(&cell->weight, weight, 1.0);
      if (rows->labels[i] == (fit->columns == 1 ? 1 : (int32_t)c))
        pc_fixed_add_weighted(&cell->hits, weight, 1.0);
    }
  }
  return PCAL_OK;
}

static pcal_status histogram_list(void *user, size_t worker, pc_fit_fields *fields,
                                  pcal_error *err) {
  const histogram_state *state = user;
  const size_t cells = state->fit->tables->count * state->fit->bins;
  return pc_fit_field_fixed(fields, &state->workers[worker]->weight, 2 * cells, err);
}

static void histogram_collect(const histogram_state *state, size_t workers) {
  const pc_histogram_fit *fit = state->fit;
  for (size_t t = 0; t < fit->tables->count; t++)
    for (size_t b = 0; b < fit->bins; b++) {
      histogram_cell sum = {{0}, {0}};
      for (size_t w = 0; w < workers; w++) {
        const histogram_cell *cell = state->workers[w] + t * fit->bins + b;
        sum.weight.units += cell->weight.units;
        sum.hits.units += cell->hits.units;
      }
      const double weight = pc_fixed_value(&sum.weight);
      fit->empty[t] += weight <= 0.0;
      fit->tables->maps[t].values[b] =
          pc_histogram_bin_value(fit, t, b, weight, pc_fixed_value(&sum.hits));
    }
}

static pcal_status histogram_fit_width(pc_histogram_fit *fit, pcal_error *err) {
  const pcal_env *env = fit->task->env;
  const pc_row_policy policy = {.score_alone = fit->columns == 1};
  const size_t workers = pc_worker_count(env), cells = fit->tables->count * fit->bins;
  histogram_state state = {fit, pc_alloc(env, workers, sizeof *state.workers)};
  if (state.workers == NULL)
    return pc_fail_memory(err, "making tables of bins");
  for (size_t t = 0; t < fit->tables->count; t++)
    PC_TRY(
        pc_bin_map_alloc(&fit->task->calibrator->env, fit->bins, &fit->tables->maps[t], err));
  for (size_t w = 0; w < workers; w++) {
    state.workers[w] = pc_alloc(env, cells, sizeof **state.workers);
    if (state.workers[w] == NULL)
      return pc_fail_memory(err, "making tables of bins");
  }
  PC_TRY(pc_fit_pass(fit->task, &policy, histogram_add, histogram_list, &state, err));
  histogram_collect(&state, workers);
  return PCAL_OK;
}

/* ---- The method ---- */

static int histogram_by_mass(const pcal_calibrator *calibrator) {
  return calibrator->options.value[PC_HISTOGRAM_BINNING].choice == PC_HISTOGRAM_BY_MASS;
}

static size_t histogram_tables(const pcal_calibrator *calibrator) {
  return calibrator->options.value[PC_HISTOGRAM_CLASSWISE].number != 0
             ? calibrator->layout.columns
             : 1;
}

static void histogram_warn(const pc_histogram_fit *fit) {
  uint64_t bins = 0, empty = 0;
  for (size_t t = 0; t < fit->tables->count; t++) {
    bins += fit->tables->maps[t].count;
    empty += fit->empty[t];
  }
  if (empty > 0)
    pc_fit_warn(&fit->task->calibrator->fit,
                "%llu of %llu bins have no rows and get their midpoint",
                (unsigned long long)empty, (unsigned long long)bins);
}

static pcal_status histogram_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  const pc_option_value *option = calibrator->options.value;
  const size_t tables = histogram_tables(calibrator);
  pc_histogram_fit fit = {.task = task,
                          .bins = (size_t)option[PC_HISTOGRAM_BINS].number,
                          .columns = calibrator->layout.columns,
                          .resamples = (size_t)option[PC_HISTOGRAM_BOOTSTRAP].number};
  PC_TRY(pc_bin_maps_new(&calibrator->env, tables, &fit.tables, err));
  calibrator->parameters = fit.tables;
  calibrator->fit.status = PC_FIT_CLOSED_FORM;
  fit.empty = pc_alloc(task->env, tables, sizeof *fit.empty);
  if (fit.empty == NULL)
    return pc_fail_memory(err, "making tables of bins");
  PC_TRY(
      (histogram_by_mass(calibrator) ? pc_histogram_fit_mass : histogram_fit_width)(&fit, err));
  histogram_warn(&fit);
  return PCAL_OK;
}

static void histogram_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                            double *out) {
  pc_one_vs_rest_apply(&calibrator->layout, pc_bin_maps_value, calibrator->parameters, in,
                       count, out);
}

static const char *histogram_recipe(const pcal_calibrator *calibrator, pc_recipe *out) {
  pc_recipe_add_bin_maps(calibrator, calibrator->parameters, out);
  return NULL;
}

static void histogram_write(const pcal_calibrator *calibrator, pc_json *json) {
  pc_bin_maps_write(calibrator->parameters, histogram_by_mass(calibrator), json);
}

static pcal_status histogram_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                                  const char *file, pcal_error *err) {
  const pc_option_value *option = calibrator->options.value;
  const int by_mass = histogram_by_mass(calibrator);
  const size_t bins = (size_t)option[PC_HISTOGRAM_BINS].number;
  const size_t resamples = (size_t)option[PC_HISTOGRAM_BOOTSTRAP].number;
  const pc_bin_maps_rule rule = {.count = histogram_tables(calibrator),
                                 .least = by_mass ? 1 : bins,
                                 .most = by_mass && resamples > 0 ? (bins - 1) * resamples + 1
                                                                  : bins,
                                 .edges = by_mass};
  pc_bin_maps *tables = NULL;
  PC_TRY(pc_parameters_check_names(
      parameters, by_mass ? PC_NAMES("edges", "values") : PC_NAMES("values"), file, err));
  PC_TRY(pc_bin_maps_read(&calibrator->env, parameters, &rule, file, &tables, err));
  calibrator->parameters = tables;
  return PCAL_OK;
}

static void histogram_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const pc_bin_maps *tables = calibrator->parameters;
  const pc_option_value *option = calibrator->options.value;
  const int one = tables->count == 1;
  pc_text_format(out, "%zu table%s of up to %zu bins of equal %s%s", tables->count,
                 one ? "" : "s", (size_t)option[PC_HISTOGRAM_BINS].number,
                 histogram_by_mass(calibrator) ? "mass" : "width",
                 !one                              ? ", one for each class"
                 : calibrator->layout.columns == 1 ? ""
                                                   : " for all classes together");
  if (option[PC_HISTOGRAM_BOOTSTRAP].number > 0)
    pc_text_format(out, ", the mean of %zu resamples",
                   (size_t)option[PC_HISTOGRAM_BOOTSTRAP].number);
  pc_text_add(out, "\n");
}

const pc_calibrator_method pc_calibrator_histogram = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "histogram",
            .title = "histogram binning",
            .formula = "v_k(b) = hits of class k in bin b / rows in bin b\n"
                       "q_k = v_k(b(p_k)) / sum_j v_j(b(p_j))",
            .about =
                "Replaces each probability by the frequency observed in its bin, class by "
                "class, then rescales rows to sum to one. Assumes nothing about the errors "
                "of the model, but needs many rows; scores in one bin become equal, and "
                "the top class may change. Bins without rows get their midpoint; a row "
                "whose values are all 0 becomes uniform. With binning=mass the classes of "
                "a confident model have most bins near 0, which costs accuracy. "
                "bootstrap=B averages the tables of B resamples of the rows, which "
                "smooths the bins.",
            .citation = "Zadrozny & Elkan, ICML 2001; Guo et al., ICML 2017",
            .options = histogram_options,
            .option_count = sizeof histogram_options / sizeof *histogram_options,
        },
    .traits = PC_SUMS_TO_ONE | PC_TAKES_CONFIDENCE,
    .in_rounds = 1,
    .fit = histogram_fit,
    .apply = histogram_apply,
    .recipe = histogram_recipe,
    .write = histogram_write,
    .read = histogram_read,
    .describe = histogram_describe,
};
