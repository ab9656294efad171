/* histogram: what was observed in the bin of a score takes the score's place.
 *
 * Formula:  v_k(b) = hits of class k in bin b / rows in bin b;  q_k = v_k(b(p_k)) / sum_j v_j
 * Edge cases: (1) bins are (lo, hi], 0 in the first; equal width with edges i/M by one
 * division, or equal mass with edges midway between parts, equal edges joined (stats/bins.h);
 * scores a little outside [0, 1] belong to the end bins; (2) an empty bin keeps its midpoint;
 * (3) a row whose values are all 0 becomes uniform; (4) one-column scores and confidences have
 * one table, and their value is not rescaled; (5) classwise=no pools the pairs (p_k, 1[y = k])
 * of all classes in one table.
 * Source: Zadrozny & Elkan 2001.
 * Accuracy: counts are exact.   Cost: one pass, a few steps for each score; memory: the tables
 * (width), the scores of as many classes as fit at a time (mass). */
#include "calibrators/histogram.h"

#include <string.h>

#include "calibrators/sweep.h"
#include "core/executor.h"
#include "core/sum.h"
#include "stats/bins.h"

static const pcal_option histogram_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, PC_BINS_MAX, NULL, "number of bins"},
    {"binning", PCAL_OPTION_CHOICE, "width", 0, 0, "width|mass",
     "bins of equal width, or with equally many rows"},
    {"classwise", PCAL_OPTION_BOOL, "yes", 0, 0, NULL,
     "a table for each class, or one for all together"},
};

/* ---- Tables ---- */

pcal_status pc_histogram_new(const pcal_calibrator *calibrator, pc_histogram **out,
                             pcal_error *err) {
  const pcal_env *env = &calibrator->env;
  const pc_options *options = &calibrator->options;
  pc_histogram *histogram = pc_alloc(env, 1, sizeof *histogram);
  *out = histogram;
  if (histogram == NULL)
    return pc_fail_memory(err, "making tables of bins");
  histogram->bins = (size_t)options->value[PC_HISTOGRAM_BINS].number;
  histogram->columns = calibrator->layout.columns;
  histogram->table_count =
      options->value[PC_HISTOGRAM_CLASSWISE].number != 0 ? histogram->columns : 1;
  return PCAL_OK;
}

pcal_status pc_histogram_tables(const pcal_env *env, pc_histogram *histogram, pcal_error *err) {
  histogram->tables = pc_alloc(env, histogram->table_count, sizeof *histogram->tables);
  return histogram->tables == NULL ? pc_fail_memory(err, "making tables of bins") : PCAL_OK;
}

pcal_status pc_histogram_cells(const pcal_env *env, pc_histogram *histogram, pcal_error *err) {
  size_t total = 0;
  for (size_t t = 0; t < histogram->table_count; t++)
    total += histogram->tables[t].count;
  histogram->cells = pc_alloc(env, total, 2 * sizeof *histogram->cells);
  if (histogram->cells == NULL)
    return pc_fail_memory(err, "making tables of bins");
  double *at = histogram->cells;
  for (size_t t = 0; t < histogram->table_count; t++) {
    pc_histogram_table *table = &histogram->tables[t];
    table->values = at;
    table->edges = at + table->count;
    at += 2 * table->count;
    for (size_t b = 0; b + 1 < table->count; b++)
      table->edges[b] = (double)(b + 1) / (double)table->count;
  }
  return PCAL_OK;
}

void pc_histogram_free(const pcal_env *env, pc_histogram *histogram) {
  if (histogram == NULL)
    return;
  pc_free(env, histogram->tables);
  pc_free(env, histogram->cells);
  pc_free(env, histogram);
}

size_t pc_histogram_find(const pc_histogram_table *table, double score) {
  size_t low = 0, high = table->count - 1;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (score > table->edges[middle])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const double *pc_histogram_scores(const pc_histogram *histogram, const pc_layout *layout,
                                  const pc_rows *rows, size_t i) {
  if (layout->kind == PCAL_CONFIDENCE)
    return rows->top + i;
  return rows->probs + i * rows->classes + (histogram->columns == 1);
}

int32_t pc_histogram_hit(const pc_histogram *histogram, size_t column) {
  return histogram->columns == 1 ? 1 : (int32_t)column;
}

void pc_histogram_set(pc_histogram *histogram, size_t table, size_t bin, double weight,
                      double hits) {
  const pc_histogram_table *to = &histogram->tables[table];
  const double low = bin == 0 ? 0.0 : to->edges[bin - 1];
  const double high = bin + 1 == to->count ? 1.0 : to->edges[bin];
  to->values[bin] = weight > 0.0 ? hits / weight : (low + high) / 2.0;
  histogram->empty += weight <= 0.0;
}

/* ---- Equal width ---- */

typedef struct histogram_cell {
  pc_fixed weight, hits;
} histogram_cell;

typedef struct histogram_state {
  const pc_histogram *histogram;
  const pc_layout *layout;
  histogram_cell **workers; /* cells of all tables */
} histogram_state;

static pcal_status histogram_add(void *user, size_t worker, const pc_rows *rows,
                                 pcal_error *err) {
  const histogram_state *state = user;
  const pc_histogram *histogram = state->histogram;
  (void)err;
  for (size_t i = 0; i < rows->count; i++) {
    const double *scores = pc_histogram_scores(histogram, state->layout, rows, i);
    const double weight = rows->weights == NULL ? 1.0 : rows->weights[i];
    for (size_t c = 0; c < histogram->columns; c++) {
      const size_t t = histogram->table_count == 1 ? 0 : c;
      histogram_cell *cell = state->workers[worker] + t * histogram->bins +
                             pc_histogram_find(&histogram->tables[t], scores[c]);
      pc_fixed_add_weighted(&cell->weight, weight, 1.0);
      if (rows->labels[i] == pc_histogram_hit(histogram, c))
        pc_fixed_add_weighted(&cell->hits, weight, 1.0);
    }
  }
  return PCAL_OK;
}

static void histogram_collect(const histogram_state *state, size_t workers,
                              pc_histogram *histogram) {
  for (size_t t = 0; t < histogram->table_count; t++)
    for (size_t b = 0; b < histogram->bins; b++) {
      histogram_cell sum = {{0}, {0}};
      for (size_t w = 0; w < workers; w++) {
        const histogram_cell *cell = state->workers[w] + t * histogram->bins + b;
        sum.weight.units += cell->weight.units;
        sum.hits.units += cell->hits.units;
      }
      pc_histogram_set(histogram, t, b, pc_fixed_value(&sum.weight), pc_fixed_value(&sum.hits));
    }
}

static pcal_status histogram_fit_width(const pc_fit_task *task, pc_histogram *histogram,
                                       pcal_error *err) {
  const pcal_env *env = task->env;
  const size_t workers = pc_worker_count(env);
  const pc_policy policy = {0};
  histogram_state state = {histogram, &task->calibrator->layout, NULL};
  state.workers = pc_alloc(env, workers, sizeof *state.workers);
  int enough = state.workers != NULL;
  for (size_t w = 0; w < workers && enough; w++) {
    state.workers[w] =
        pc_alloc(env, histogram->table_count * histogram->bins, sizeof **state.workers);
    enough = state.workers[w] != NULL;
  }
  pcal_status status = enough ? PCAL_OK : pc_fail_memory(err, "making tables of bins");
  if (status == PCAL_OK)
    status = pc_sweep(task, &policy, histogram_add, &state, err);
  if (status == PCAL_OK)
    histogram_collect(&state, workers, histogram);
  for (size_t w = 0; state.workers != NULL && w < workers; w++)
    pc_free(env, state.workers[w]);
  pc_free(env, state.workers);
  return status;
}

/* ---- Row of the registry ---- */

static int histogram_by_mass(const pcal_calibrator *calibrator) {
  return calibrator->options.value[PC_HISTOGRAM_BINNING].choice == PC_HISTOGRAM_BY_MASS;
}

static pcal_status histogram_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  pc_histogram *histogram = NULL;
  PC_TRY(pc_histogram_new(calibrator, &histogram, err));
  calibrator->parameters = histogram;
  PC_TRY(pc_histogram_tables(&calibrator->env, histogram, err));
  for (size_t t = 0; t < histogram->table_count; t++)
    histogram->tables[t].count = histogram->bins;
  PC_TRY(pc_histogram_cells(&calibrator->env, histogram, err));
  PC_TRY((histogram_by_mass(calibrator) ? pc_histogram_fit_mass
                                        : histogram_fit_width)(task, histogram, err));
  calibrator->fit.status = PC_FIT_CLOSED_FORM;
  size_t bins = 0;
  for (size_t t = 0; t < histogram->table_count; t++)
    bins += histogram->tables[t].count;
  if (histogram->empty > 0)
    pc_fit_warn(&calibrator->fit, "%llu of %zu bins had no rows and keep their midpoint",
                (unsigned long long)histogram->empty, bins);
  return PCAL_OK;
}

static double histogram_look_up(const pc_histogram *histogram, size_t column, double score) {
  const pc_histogram_table *table =
      &histogram->tables[histogram->table_count == 1 ? 0 : column];
  return table->values[pc_histogram_find(table, score)];
}

static void histogram_apply_row(const pc_histogram *histogram, const double *in, double *out) {
  const size_t k = histogram->columns;
  double sum = 0.0;
  for (size_t c = 0; c < k; c++) {
    out[c] = histogram_look_up(histogram, c, in[c]);
    sum += out[c];
  }
  for (size_t c = 0; c < k; c++)
    out[c] = sum > 0.0 ? out[c] / sum : 1.0 / (double)k;
}

static void histogram_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                            double *out) {
  const pc_histogram *histogram = calibrator->parameters;
  const size_t k = calibrator->layout.classes;
  for (size_t i = 0; i < count; i++) {
    if (histogram->columns > 1) {
      histogram_apply_row(histogram, in + i * k, out + i * k);
      continue;
    }
    const double value = histogram_look_up(histogram, 0, in[i * k + k - 1]);
    out[i * k] = 1.0 - value;
    out[i * k + k - 1] = value;
  }
}

static void histogram_write_lists(const pc_histogram *histogram, pc_json *json, int edges) {
  pc_json_key(json, edges ? "edges" : "values");
  pc_json_open(json, '[');
  for (size_t t = 0; t < histogram->table_count; t++) {
    const pc_histogram_table *table = &histogram->tables[t];
    pc_json_numbers(json, edges ? table->edges : table->values,
                    edges ? table->count - 1 : table->count);
  }
  pc_json_close(json, ']');
}

static void histogram_write(const pcal_calibrator *calibrator, pc_json *json) {
  const pc_histogram *histogram = calibrator->parameters;
  if (histogram_by_mass(calibrator))
    histogram_write_lists(histogram, json, 1);
  histogram_write_lists(histogram, json, 0);
}

static pcal_status histogram_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                                  const char *file, pcal_error *err) {
  pc_histogram *histogram = NULL;
  PC_TRY(pc_histogram_new(calibrator, &histogram, err));
  calibrator->parameters = histogram;
  return pc_histogram_read(&calibrator->env, histogram, histogram_by_mass(calibrator),
                           parameters, file, err);
}

static void histogram_tell(const pcal_calibrator *calibrator, pc_text *out) {
  const pc_histogram *histogram = calibrator->parameters;
  const int one = histogram->table_count == 1;
  pc_text_format(out, "%zu table%s of up to %zu bins of equal %s%s\n", histogram->table_count,
                 one ? "" : "s", histogram->bins,
                 histogram_by_mass(calibrator) ? "mass" : "width",
                 !one                      ? ", one for each class"
                 : histogram->columns == 1 ? ""
                                           : " for all classes together");
}

static void histogram_release(pcal_calibrator *calibrator) {
  pc_histogram_free(&calibrator->env, calibrator->parameters);
  calibrator->parameters = NULL;
}

const pc_calibrator_row pc_calibrator_histogram = {
    .row =
        {
            .kind = "calibrators",
            .name = "histogram",
            .title = "histogram binning",
            .formula = "v_k(b) = hits of class k in bin b / rows in bin b\n"
                       "q_k = v_k(b(p_k)) / sum_j v_j(b(p_j))",
            .about = "Replaces each probability by the frequency observed in its bin, class by "
                     "class, then rescales rows to sum to one. Needs no assumption on how the "
                     "model errs, but many rows; scores in one bin become equal, and the top "
                     "class may change. Bins without rows keep their midpoint; a row whose "
                     "values are all 0 becomes uniform. binning=mass for each class of a "
                     "confident model puts most bins near 0 and costs accuracy.",
            .citation = "Zadrozny & Elkan, ICML 2001; Guo et al., ICML 2017",
            .options = histogram_options,
            .option_count = sizeof histogram_options / sizeof *histogram_options,
        },
    .traits = PC_SUMS_TO_ONE | PC_TAKES_CONFIDENCE,
    .fit = histogram_fit,
    .apply = histogram_apply,
    .write = histogram_write,
    .read = histogram_read,
    .tell = histogram_tell,
    .release = histogram_release,
};
