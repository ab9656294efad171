/* scaling-binning: a sigmoid, then bins of its values.
 *
 * Formula:  on one third of the rows g_k(p) = sigma(a log(p / (1 - p)) + b), with Platt's
 *           targets; on the second third bins that hold equally many of its values;
 *           on the last third v_k(b) = mean of g_k in bin b;  q_k = v_k / sum_j v_j
 * Edge cases:
 *   1. Thirds are drawn class by class: of every three neighbouring rows in the order of
 *      scores, misses before hits, one goes to each third, in an order that the seed draws.  w
 *      equal rows are one row of weight w; a row of fractional weight may be divided.
 *   2. With a total weight below three times the bins (with a warning), or split=no, all rows
 *      serve all three steps.
 *   3. A bin without rows of the last third gets the mean over all rows, and without any rows
 *      its midpoint.
 *   4. Bins are stored by their edges in p, where g is midway between neighbouring values.  g
 *      is monotone, so nothing is lost; equal values of g are never split.
 *   5. p is kept 1e-12 away from 0 and 1 in the logarithm.
 *   6. Constant scores have one bin.
 *   7. One column of scores, and confidences, have one table and are not divided.
 * Source:   Kumar, Liang & Ma 2019.
 * Accuracy: a and b to about 1e-9.
 * Cost:     a sort of each class and about ten passes over its distinct scores; memory for the
 *           scores of as many classes as fit at a time. */
#include <math.h>

#include "base/elementary.h"
#include "base/number.h"
#include "base/rng.h"
#include "calibrators/bin_maps.h"
#include "calibrators/binning/sigmoid_fit.h"
#include "calibrators/one_vs_rest.h"
#include "calibrators/parameter_lists.h"
#include "calibrators/recipe.h"
#include "calibrators/score_columns.h"
#include "curve/curve_bins.h"

#define SCALING_BINNING_STREAM (UINT64_C(0x74687264) << 32) /* plus the class */
#define SCALING_BINNING_LARGEST 1e6                         /* largest |a| and |b| in a file */

enum { SCALING_BINNING_BINS, SCALING_BINNING_SPLIT };

static const pcal_option scaling_binning_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, PC_BINS_MAX, NULL, "number of bins"},
    {"split", PCAL_OPTION_BOOL, "yes", 0, 0, NULL,
     "one third of the rows for each step, or all rows for all steps"},
};

typedef struct scaling_binning {
  pc_bin_maps *tables;
  size_t count;
  pc_sigmoid *sigmoids; /* of each table */
} scaling_binning;

/* One class: distinct scores, their weights in each third, and the sigmoid there. */
typedef struct scaling_rows {
  size_t count;
  double *score, *x, *value; /* x: log-odds of the score; value: of the sigmoid, monotone */
  double *weight[3], *hits[3];
} scaling_rows;

/* ---- Thirds ---- */

/* Distributes the rows [begin, begin + length) over the thirds: every three rows in one of six
 * orders. */
static void scaling_binning_deal(const pc_rng *rng, double begin, double length,
                                 double out[3]) {
  static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  out[0] = out[1] = out[2] = 0.0;
  while (length > 0.0) {
    const double three = floor(begin / 3.0);
    if (begin == 3.0 * three && length >= 3.0) {
      const double whole = floor(length / 3.0);
      for (int t = 0; t < 3; t++)
        out[t] += whole;
      begin += 3.0 * whole;
      length -= 3.0 * whole;
      continue;
    }
    const double end = floor(begin) + 1.0, take = fmin(end - begin, length);
    const size_t place = (size_t)fmin(fmax(floor(begin) - 3.0 * three, 0.0), 2.0);
    out[orders[pc_rng_bits(rng, (uint64_t)three) % 6][place]] += take;
    begin = take < length ? end : begin + take;
    length -= take;
  }
}

static void scaling_binning_split(const pc_rng *rng, const pc_curve_table *table,
                                  scaling_rows *rows) {
  double before = 0.0;
  for (size_t i = 0; i < table->count; i++) {
    double misses[3], hits[3];
    const double hit = table->hits[i], miss = fmax(table->weight[i] - hit, 0.0);
    scaling_binning_deal(rng, before, miss, misses);
    scaling_binning_deal(rng, before + miss, hit, hits);
    before += table->weight[i];
    for (int t = 0; t < 3; t++) {
      rows->weight[t][i] = misses[t] + hits[t];
      rows->hits[t][i] = hits[t];
    }
  }
}

static void scaling_binning_share(const pc_curve_table *table, scaling_rows *rows) {
  for (size_t i = 0; i < table->count; i++)
    for (int t = 0; t < 3; t++) {
      rows->weight[t][i] = table->weight[i];
      rows->hits[t][i] = table->hits[i];
    }
}

/* ---- Bins ---- */

/* Values of the sigmoid, kept monotone also after rounding. */
static void scaling_binning_values(const pc_sigmoid *sigmoid, scaling_rows *rows) {
  for (size_t i = 0; i < rows->count; i++) {
    const double value = pc_sigmoid_at(sigmoid, rows->x[i]);
    const double last = i == 0 ? value : rows->value[i - 1];
    rows->value[i] = sigmoid->a >= 0 ? fmax(value, last) : fmin(value, last);
  }
}

/* The second third as a table of ascending values; the arrays of `out` have room. */
static void scaling_binning_second(const pc_sigmoid *sigmoid, const scaling_rows *rows,
                                   pc_curve_table *out) {
  for (size_t n = 0; n < rows->count; n++) {
    const size_t i = sigmoid->a >= 0 ? n : rows->count - 1 - n;
    if (rows->weight[1][i] <= 0.0)
      continue;
    if (out->count == 0 || rows->value[i] > out->score[out->count - 1]) {
      out->score[out->count] = rows->value[i];
      out->weight[out->count] = 0.0;
      out->hits[out->count++] = 0.0;
    }
    out->weight[out->count - 1] += rows->weight[1][i];
    out->hits[out->count - 1] += rows->hits[1][i];
    out->total += rows->weight[1][i];
  }
}

/* Number of lowest scores whose values lie on the same side of an edge. */
static size_t scaling_binning_upto(const pc_sigmoid *sigmoid, const scaling_rows *rows,
                                   double edge) {
  size_t low = 0, high = rows->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (sigmoid->a >= 0 ? rows->value[middle] <= edge : rows->value[middle] > edge)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The p at which the sigmoid has the value `edge`; there are scores on both sides. */
static double scaling_binning_edge(const pc_sigmoid *sigmoid, const scaling_rows *rows,
                                   double edge) {
  const size_t upto = scaling_binning_upto(sigmoid, rows, edge);
  const double t = (pc_sigmoid_logit(edge) - sigmoid->b) / sigmoid->a;
  const double p = 1.0 / (1.0 + pc_exp(-t));
  const double below = fmin(nextafter(rows->score[upto], -1.0), nextafter(1.0, 0.0));
  return fmin(fmax(p, rows->score[upto - 1]), below);
}

/* Sums of the sigmoid in a bin: over the last third, and over all rows. */
typedef struct scaling_sums {
  double last, last_weight, all, all_weight;
} scaling_sums;

static void scaling_binning_add(const scaling_rows *rows, const pc_bin *bins, size_t count,
                                scaling_sums *sums) {
  for (size_t i = 0; i < rows->count; i++) {
    const double value = rows->value[i], last = rows->weight[2][i];
    const double all = last + rows->weight[0][i] + rows->weight[1][i];
    size_t low = 0, high = count - 1;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (value > bins[middle].high)
        low = middle + 1;
      else
        high = middle;
    }
    sums[low].last += last * value;
    sums[low].last_weight += last;
    sums[low].all += all * value;
    sums[low].all_weight += all;
  }
}

static double scaling_binning_mean(const scaling_sums *sums, const pc_bin *bin) {
  const double mean = sums->last_weight > 0.0  ? sums->last / sums->last_weight
                      : sums->all_weight > 0.0 ? sums->all / sums->all_weight
                                               : (bin->low + bin->high) / 2.0;
  return fmin(fmax(mean, 0.0), 1.0);
}

/* From bins of values to a map of scores, in reverse order if the sigmoid falls. */
static pcal_status scaling_binning_table(const pcal_env *scratch, const pcal_env *memory,
                                         const pc_sigmoid *sigmoid, const scaling_rows *rows,
                                         const pc_bin *bins, size_t count, pc_bin_map *out,
                                         pcal_error *err) {
  scaling_sums *sums = pc_alloc(scratch, count, sizeof *sums);
  if (sums == NULL)
    return pc_fail_memory(err, "making tables of bins");
  scaling_binning_add(rows, bins, count, sums);
  PC_TRY(pc_bin_map_alloc(memory, count, out, err));
  for (size_t b = 0; b < count; b++) {
    const size_t from = sigmoid->a >= 0 ? b : count - 1 - b;
    out->values[b] = scaling_binning_mean(&sums[from], &bins[from]);
    if (b + 1 < count)
      out->edges[b] =
          scaling_binning_edge(sigmoid, rows, bins[sigmoid->a >= 0 ? from : from - 1].high);
  }
  return PCAL_OK;
}

/* Number of bins without the empty ones at the end. */
static size_t scaling_binning_filled(const pc_bin *bins, size_t count) {
  while (count > 1 && bins[count - 1].weight <= 0.0)
    count--;
  return count;
}

static pcal_status scaling_binning_bin(const pcal_env *scratch, const pcal_env *memory,
                                       size_t bins_max, const pc_sigmoid *sigmoid,
                                       const scaling_rows *rows, pc_bin_map *out,
                                       pcal_error *err) {
  const size_t n = rows->count;
  double *columns = pc_alloc_raw(scratch, n, 3 * sizeof *columns);
  pc_bin *bins = pc_alloc(scratch, bins_max, sizeof *bins);
  if (columns == NULL || bins == NULL)
    return pc_fail_memory(err, "making equal-mass bins");
  pc_curve_table second = {.score = columns, .weight = columns + n, .hits = columns + 2 * n};
  scaling_binning_second(sigmoid, rows, &second);
  const size_t count = pc_bins_by_mass(&second, bins_max, bins);
  return scaling_binning_table(scratch, memory, sigmoid, rows, bins,
                               scaling_binning_filled(bins, count), out, err);
}

/* ---- Fit ---- */

static void scaling_binning_carve(double *space, size_t n, scaling_rows *out) {
  *out = (scaling_rows){.count = n, .score = space, .x = space + n, .value = space + 2 * n};
  for (size_t t = 0; t < 3; t++) {
    out->weight[t] = space + (3 + 2 * t) * n;
    out->hits[t] = space + (4 + 2 * t) * n;
  }
}

/* True if each step gets its own third of the rows. */
static int scaling_binning_splits(const pcal_calibrator *calibrator, double weight) {
  const pc_option_value *option = calibrator->options.value;
  return option[SCALING_BINNING_SPLIT].number != 0 &&
         weight >= 3.0 * option[SCALING_BINNING_BINS].number;
}

static pcal_status scaling_binning_class(const pc_fit_task *task, const pcal_env *scratch,
                                         size_t column, const pc_curve_table *table,
                                         scaling_rows *rows, pcal_error *err) {
  const pcal_calibrator *calibrator = task->calibrator;
  const scaling_binning *model = calibrator->parameters;
  const pc_rng rng = {task->env->seed, SCALING_BINNING_STREAM + column};
  pc_sigmoid *sigmoid = &model->sigmoids[column];
  if (scaling_binning_splits(calibrator, table->total))
    scaling_binning_split(&rng, table, rows);
  else
    scaling_binning_share(table, rows);
  for (size_t i = 0; i < rows->count; i++) {
    rows->score[i] = table->score[i];
    rows->x[i] = pc_sigmoid_logit(table->score[i]);
  }
  *sigmoid = pc_sigmoid_fit(rows->x, rows->weight[0], rows->hits[0], rows->count);
  scaling_binning_values(sigmoid, rows);
  return scaling_binning_bin(scratch, &calibrator->env,
                             (size_t)calibrator->options.value[SCALING_BINNING_BINS].number,
                             sigmoid, rows, &model->tables->maps[column], err);
}

static pcal_status scaling_binning_use(void *user, const pcal_env *scratch, size_t column,
                                       const pc_sorted_column *misses,
                                       const pc_sorted_column *hits, pcal_error *err) {
  const pc_fit_task *task = user;
  pc_curve_table table;
  scaling_rows rows;
  PC_TRY(pc_curve_table_join(scratch, misses, hits, &table, err));
  double *columns = pc_alloc_raw(scratch, table.count, 9 * sizeof *columns);
  if (columns == NULL)
    return pc_fail_memory(err, "sorting scores");
  scaling_binning_carve(columns, table.count, &rows);
  return scaling_binning_class(task, scratch, column, &table, &rows, err);
}

static pcal_status scaling_binning_new(pcal_calibrator *calibrator, scaling_binning **out,
                                       pcal_error *err) {
  const size_t columns = calibrator->layout.columns;
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof **out, err));
  scaling_binning *model = *out = calibrator->parameters;
  model->sigmoids = pc_alloc(&calibrator->env, columns, sizeof *model->sigmoids);
  model->count = columns;
  return model->sigmoids == NULL ? pc_fail_memory(err, "making a calibrator") : PCAL_OK;
}

static pcal_status scaling_binning_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  pc_score_columns_request request = pc_score_columns_of_classes(&calibrator->layout);
  scaling_binning *model = NULL;
  pc_fit_task own = *task;
  PC_TRY(scaling_binning_new(calibrator, &model, err));
  PC_TRY(pc_bin_maps_new(&calibrator->env, model->count, &model->tables, err));
  calibrator->fit.status = PC_FIT_CLOSED_FORM;
  request.remedy = "use histogram, whose memory does not grow with the rows";
  request.use = scaling_binning_use;
  request.user = &own;
  PC_TRY(pc_score_columns_run(task, &request, err));
  if (calibrator->options.value[SCALING_BINNING_SPLIT].number != 0 &&
      !scaling_binning_splits(calibrator, calibrator->fit.weight))
    pc_fit_warn(&calibrator->fit,
                "there are fewer rows than three times the bins, so every step used all rows; "
                "use fewer bins, or temperature");
  return PCAL_OK;
}

/* ---- The method ---- */

static const char *scaling_binning_recipe(const pcal_calibrator *calibrator, pc_recipe *out) {
  const scaling_binning *model = calibrator->parameters;
  pc_recipe_add_bin_maps(calibrator, model->tables, out);
  return NULL;
}

static void scaling_binning_apply(const pcal_calibrator *calibrator, const double *in,
                                  size_t count, double *out) {
  const scaling_binning *model = calibrator->parameters;
  pc_one_vs_rest_apply(&calibrator->layout, pc_bin_maps_value, model->tables, in, count, out);
}

static void scaling_binning_write(const pcal_calibrator *calibrator, pc_json *json) {
  const scaling_binning *model = calibrator->parameters;
  for (int b = 0; b < 2; b++) {
    pc_json_key(json, b ? "b" : "a");
    pc_json_open(json, '[');
    for (size_t i = 0; i < model->count; i++)
      pc_json_number(json, b ? model->sigmoids[i].b : model->sigmoids[i].a);
    pc_json_close(json, ']');
  }
  pc_bin_maps_write(model->tables, 1, json);
}

static pcal_status scaling_binning_read_sigmoids(const scaling_binning *model,
                                                 const pc_json_node *parameters,
                                                 const char *name, const char *file,
                                                 pcal_error *err) {
  const pc_json_node *list = pc_json_find(parameters, name);
  size_t i = 0;
  if (list->kind != PC_JSON_ARRAY || list->list.count != model->count)
    return pc_parameter_error(list, file, "a and b must hold one number for each table", err);
  for (const pc_json_node *item = list->list.first; item != NULL; item = item->next, i++) {
    if (item->kind != PC_JSON_NUMBER || !(fabs(item->number) <= SCALING_BINNING_LARGEST))
      return pc_parameter_error(item, file, "a and b must be numbers of at most 1e6 in size",
                                err);
    if (name[0] == 'a')
      model->sigmoids[i].a = item->number;
    else
      model->sigmoids[i].b = item->number;
  }
  return PCAL_OK;
}

static pcal_status scaling_binning_read(pcal_calibrator *calibrator,
                                        const pc_json_node *parameters, const char *file,
                                        pcal_error *err) {
  const pc_bin_maps_rule rule = {
      .count = calibrator->layout.columns,
      .least = 1,
      .most = (size_t)calibrator->options.value[SCALING_BINNING_BINS].number,
      .edges = 1};
  scaling_binning *model = NULL;
  const pc_json_node *lists = NULL;
  PC_TRY(
      pc_parameters_check_names(parameters, PC_NAMES("a", "b", "edges", "values"), file, err));
  PC_TRY(pc_parameter_lists(parameters, "values", rule.count, file, &lists, err));
  PC_TRY(scaling_binning_new(calibrator, &model, err));
  PC_TRY(scaling_binning_read_sigmoids(model, parameters, "a", file, err));
  PC_TRY(scaling_binning_read_sigmoids(model, parameters, "b", file, err));
  return pc_bin_maps_read(&calibrator->env, parameters, &rule, file, &model->tables, err);
}

static void scaling_binning_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const scaling_binning *model = calibrator->parameters;
  size_t most = 0;
  for (size_t t = 0; t < model->count; t++)
    most = model->tables->maps[t].count > most ? model->tables->maps[t].count : most;
  pc_text_format(out, "%zu sigmoid%s in up to %zu bin%s", model->count,
                 model->count == 1 ? "" : "s", most, most == 1 ? "" : "s");
  if (model->count == 1) {
    char a[PC_NUMBER_MAX], b[PC_NUMBER_MAX];
    pc_number_round(model->sigmoids[0].a, 6, a);
    pc_number_round(model->sigmoids[0].b, 6, b);
    pc_text_format(out, ", a = %s, b = %s", a, b);
  }
  pc_text_add(out, "\n");
}

const pc_calibrator_method pc_calibrator_scaling_binning = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "scaling-binning",
            .title = "a sigmoid, then bins of its values",
            .formula = "g_k(p) = sigma(a log(p / (1 - p)) + b), on a third of the rows\n"
                       "v_k(b) = mean of g_k in bin b; equal-mass bins of g_k from the second "
                       "third, means from the last\n"
                       "q_k = v_k(b(p_k)) / sum_j v_j(b(p_j))",
            .about = "Fits a sigmoid to each class and replaces its values by their means in "
                     "bins: the output has few distinct probabilities, whose calibration error "
                     "can be measured with few rows. The means are those of the sigmoid, not "
                     "of outcomes, which makes them precise. The seed assigns rows to thirds; "
                     "split=no uses all rows for all steps. The top class may change.",
            .citation = "Kumar, Liang & Ma, NeurIPS 2019",
            .options = scaling_binning_options,
            .option_count = sizeof scaling_binning_options / sizeof *scaling_binning_options,
        },
    .traits = PC_SUMS_TO_ONE | PC_TAKES_CONFIDENCE,
    .fit = scaling_binning_fit,
    .apply = scaling_binning_apply,
    .recipe = scaling_binning_recipe,
    .write = scaling_binning_write,
    .read = scaling_binning_read,
    .describe = scaling_binning_describe,
};
