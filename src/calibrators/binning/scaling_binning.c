/* scaling-binning: a sigmoid, then bins of its values.
 *
 * Formula:  on one third of the rows g_k(p) = sigma(a log(p / (1 - p)) + b), by Platt's
 * targets; on the second third bins that hold equally many of its values; v_k(b) = mean of g_k
 * in bin b over the last third;  q_k = v_k / sum_j v_j Edge cases: (1) thirds are drawn class
 * by class: of each three rows next to each other in the order of scores, misses before hits,
 * one goes into each third, in an order that the seed draws; w equal rows are a row of weight
 * w, and a row whose weight is not whole may be divided; (2) with a total weight below three
 * times the bins, or split=no, all rows serve three times, and the first is a warning; (3) a
 * bin without rows of the last third has the mean over all rows, or where there are none its
 * midpoint; (4) bins are told by their edges in p, which lie where g has the value midway
 * between neighbours: g rises or falls, so nothing is lost; equal values of g are never split;
 * (5) p is kept 1e-12 away from 0 and 1 in the logarithm; (6) constant scores have one bin; (7)
 * one column of scores, and confidences, have one table and are not divided by anything.
 * Source: Kumar, Liang & Ma 2019.
 * Accuracy: a and b to about 1e-9.   Cost: a sort of each class and some ten sweeps over its
 * distinct scores; memory for the scores of as many classes as fit at a time. */
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

#define SCALING_BINNING_STREAM (UINT64_C(0x74687264) << 32) /* behind it the class */
#define SCALING_BINNING_LARGEST 1e6                         /* of |a| and |b| in a file */

enum { SCALING_BINNING_BINS, SCALING_BINNING_SPLIT };

static const pcal_option scaling_binning_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, PC_BINS_MAX, NULL, "number of bins"},
    {"split", PCAL_OPTION_BOOL, "yes", 0, 0, NULL,
     "a third of the rows for each step, or all rows for all of them"},
};

typedef struct scaling_binning {
  pc_bin_maps *tables;
  size_t count;
  pc_sigmoid *sigmoids; /* of each table */
} scaling_binning;

/* One class: distinct scores with what each third has of them, and the sigmoid there. */
typedef struct scaling_rows {
  size_t count;
  double *score, *x, *value; /* value: of the sigmoid, never turning */
  double *weight[3], *hits[3];
} scaling_rows;

/* ---- Thirds ---- */

/* Deals the stretch [begin, begin + length) of the rows: each three are dealt in one of six
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

/* Values of the sigmoid; rounding must not make them turn. */
static void scaling_binning_values(const pc_sigmoid *sigmoid, scaling_rows *rows) {
  for (size_t i = 0; i < rows->count; i++) {
    const double value = pc_sigmoid_at(sigmoid, rows->x[i]);
    const double last = i == 0 ? value : rows->value[i - 1];
    rows->value[i] = sigmoid->a >= 0 ? fmax(value, last) : fmin(value, last);
  }
}

/* The second third as a table of values, ascending; arrays have room. */
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

/* Scores, from the lowest on, that lie on the same side of an edge of the values. */
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

/* The edge in p at which the sigmoid passes `edge`, which has scores on both sides. */
static double scaling_binning_edge(const pc_sigmoid *sigmoid, const scaling_rows *rows,
                                   double edge) {
  const size_t upto = scaling_binning_upto(sigmoid, rows, edge);
  const double t = (pc_sigmoid_logit(edge) - sigmoid->b) / sigmoid->a;
  const double p = 1.0 / (1.0 + pc_exp(-t));
  const double below = fmin(nextafter(rows->score[upto], -1.0), nextafter(1.0, 0.0));
  return fmin(fmax(p, rows->score[upto - 1]), below);
}

/* Sums of the sigmoid in bins: over the last third, and over all rows. */
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

/* From bins of values to a table of scores: backwards where the sigmoid falls. */
static pcal_status scaling_binning_table(const pcal_env *env, const pc_sigmoid *sigmoid,
                                         const scaling_rows *rows, const pc_bin *bins,
                                         size_t count, pc_bin_map *out, pcal_error *err) {
  scaling_sums *sums = pc_alloc(env, count, sizeof *sums);
  if (sums == NULL)
    return pc_fail_memory(err, "making tables of bins");
  scaling_binning_add(rows, bins, count, sums);
  const pcal_status status = pc_bin_map_alloc(env, count, out, err);
  for (size_t b = 0; status == PCAL_OK && b < count; b++) {
    const size_t from = sigmoid->a >= 0 ? b : count - 1 - b;
    out->values[b] = scaling_binning_mean(&sums[from], &bins[from]);
    if (b + 1 < count)
      out->edges[b] =
          scaling_binning_edge(sigmoid, rows, bins[sigmoid->a >= 0 ? from : from - 1].high);
  }
  pc_free(env, sums);
  return status;
}

/* Drops the bins at the end that hold nothing: no score is on their side of an edge. */
static size_t scaling_binning_filled(const pc_bin *bins, size_t count) {
  while (count > 1 && bins[count - 1].weight <= 0.0)
    count--;
  return count;
}

static pcal_status scaling_binning_bin(const pcal_env *env, size_t bins_max,
                                       const pc_sigmoid *sigmoid, const scaling_rows *rows,
                                       pc_bin_map *out, pcal_error *err) {
  const size_t n = rows->count;
  size_t count = 0;
  double *space = pc_alloc_raw(env, n, 3 * sizeof *space);
  pc_bin *bins = pc_alloc(env, bins_max, sizeof *bins);
  pcal_status status =
      space == NULL || bins == NULL ? pc_fail_memory(err, "making equal-mass bins") : PCAL_OK;
  if (status == PCAL_OK) {
    pc_curve_table second = {.score = space, .weight = space + n, .hits = space + 2 * n};
    scaling_binning_second(sigmoid, rows, &second);
    count = pc_bins_by_mass(&second, bins_max, bins);
  }
  if (status == PCAL_OK)
    status = scaling_binning_table(env, sigmoid, rows, bins,
                                   scaling_binning_filled(bins, count), out, err);
  pc_free(env, bins);
  pc_free(env, space);
  return status;
}

/* ---- Fit ---- */

static void scaling_binning_carve(double *space, size_t n, scaling_rows *out) {
  *out = (scaling_rows){.count = n, .score = space, .x = space + n, .value = space + 2 * n};
  for (size_t t = 0; t < 3; t++) {
    out->weight[t] = space + (3 + 2 * t) * n;
    out->hits[t] = space + (4 + 2 * t) * n;
  }
}

static int scaling_binning_splits(const pcal_calibrator *calibrator, double weight) {
  const pc_option_value *option = calibrator->options.value;
  return option[SCALING_BINNING_SPLIT].number != 0 &&
         weight >= 3.0 * option[SCALING_BINNING_BINS].number;
}

static pcal_status scaling_binning_class(const pc_fit_task *task, size_t column,
                                         const pc_curve_table *table, scaling_rows *rows,
                                         pcal_error *err) {
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
  return scaling_binning_bin(task->env,
                             (size_t)calibrator->options.value[SCALING_BINNING_BINS].number,
                             sigmoid, rows, &model->tables->tables[column], err);
}

static pcal_status scaling_binning_use(void *user, size_t column,
                                       const pc_sorted_column *misses,
                                       const pc_sorted_column *hits, pcal_error *err) {
  const pc_fit_task *task = user;
  pc_curve_table table;
  PC_TRY(pc_curve_table_join(task->env, misses, hits, &table, err));
  double *space = pc_alloc_raw(task->env, table.count, 9 * sizeof *space);
  pcal_status status = space == NULL ? pc_fail_memory(err, "sorting scores") : PCAL_OK;
  if (status == PCAL_OK) {
    scaling_rows rows;
    scaling_binning_carve(space, table.count, &rows);
    status = scaling_binning_class(task, column, &table, &rows, err);
  }
  pc_free(task->env, space);
  pc_curve_table_free(task->env, &table);
  return status;
}

static pcal_status scaling_binning_new(pcal_calibrator *calibrator, scaling_binning **out,
                                       pcal_error *err) {
  const pcal_env *env = &calibrator->env;
  const size_t columns = calibrator->layout.columns;
  scaling_binning *model = pc_alloc(env, 1, sizeof *model);
  calibrator->parameters = *out = model;
  if (model != NULL)
    model->sigmoids = pc_alloc(env, columns, sizeof *model->sigmoids);
  if (model == NULL || model->sigmoids == NULL)
    return pc_fail_memory(err, "making a calibrator");
  model->count = columns;
  return PCAL_OK;
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
                "there are fewer rows than three times the bins, so all rows served for each "
                "step; use fewer bins, or temperature");
  return PCAL_OK;
}

/* ---- Row of the registry ---- */

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
  PC_TRY(pc_parameters_check_names(parameters, "a b edges values", file, err));
  PC_TRY(pc_parameter_lists(parameters, "values", rule.count, file, &lists, err));
  PC_TRY(scaling_binning_new(calibrator, &model, err));
  PC_TRY(scaling_binning_read_sigmoids(model, parameters, "a", file, err));
  PC_TRY(scaling_binning_read_sigmoids(model, parameters, "b", file, err));
  return pc_bin_maps_read(&calibrator->env, parameters, &rule, file, &model->tables, err);
}

static void scaling_binning_tell(const pcal_calibrator *calibrator, pc_text *out) {
  const scaling_binning *model = calibrator->parameters;
  size_t most = 0;
  for (size_t t = 0; t < model->count; t++)
    most = model->tables->tables[t].count > most ? model->tables->tables[t].count : most;
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

static void scaling_binning_release(pcal_calibrator *calibrator) {
  scaling_binning *model = calibrator->parameters;
  if (model != NULL) {
    pc_bin_maps_free(&calibrator->env, model->tables);
    pc_free(&calibrator->env, model->sigmoids);
  }
  pc_free(&calibrator->env, model);
  calibrator->parameters = NULL;
}

const pc_calibrator_method pc_calibrator_scaling_binning = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "scaling-binning",
            .title = "a sigmoid, then bins of its values",
            .formula = "g_k(p) = sigma(a log(p / (1 - p)) + b), on a third of the rows\n"
                       "v_k(b) = mean of g_k in bin b of equally many values, bins by the "
                       "second third, means by the last\n"
                       "q_k = v_k(b(p_k)) / sum_j v_j(b(p_j))",
            .about = "Fits a sigmoid to each class and rounds its values to the means of bins, "
                     "so that few different probabilities come out and their calibration error "
                     "can be measured with few rows. The means are of the sigmoid, not of "
                     "outcomes, which makes them precise. Which rows make which third is drawn "
                     "by the seed; split=no uses all rows for all steps. The top class may "
                     "change.",
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
    .tell = scaling_binning_tell,
    .release = scaling_binning_release,
};
