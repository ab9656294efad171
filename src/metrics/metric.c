#include "metrics/metric.h"

#include <math.h>
#include <string.h>

#include "base/aliases.h"
#include "base/text.h"

#define METRIC(file, symbol) extern const pc_metric pc_metric_##symbol;
#include "metrics/registry.def"
#undef METRIC

static const pc_metric *const metric_rows[] = {
#define METRIC(file, symbol) &pc_metric_##symbol,
#include "metrics/registry.def"
#undef METRIC
};

static const pcal_registry_row metric_groups[] = {
#define GROUP(group_name, group_title, specs) \
  {.registry = PCAL_GROUPS,                   \
   .name = group_name,                        \
   .title = group_title,                      \
   .formula = specs,                          \
   .about = "Metrics of a group that do not apply to the data are omitted."},
#include "metrics/metric_groups.def"
#undef GROUP
};

size_t pc_metric_count(void) {
  return sizeof metric_rows / sizeof *metric_rows;
}

pc_range pc_metric_range(const pc_metric *metric) {
  static const pc_range any = PC_RANGE_ANY, from_zero = PC_RANGE_FROM_ZERO;
  if (metric->range.low < metric->range.high)
    return metric->range;
  return metric->row.bound == PCAL_BOUND_NONE ? any : from_zero;
}

const pc_metric *pc_metric_at(size_t index) {
  return index < pc_metric_count() ? metric_rows[index] : NULL;
}

const pc_metric *pc_metric_find(const char *name) {
  for (size_t i = 0; i < pc_metric_count(); i++)
    if (strcmp(metric_rows[i]->row.name, name) == 0)
      return metric_rows[i];
  return NULL;
}

static const pc_metric *metric_find_task(int regression, const char *name) {
  for (size_t i = 0; i < pc_metric_count(); i++)
    if ((metric_rows[i]->row.task == PCAL_REGRESSION) == regression &&
        strcmp(metric_rows[i]->row.name, name) == 0)
      return metric_rows[i];
  return NULL;
}

const pc_metric *pc_metric_find_for(pc_form form, const char *name) {
  return metric_find_task(form != PC_FORM_CLASSES, name);
}

size_t pc_metric_group_count(void) {
  return sizeof metric_groups / sizeof *metric_groups;
}

const pcal_registry_row *pc_metric_group_at(size_t index) {
  return index < pc_metric_group_count() ? &metric_groups[index] : NULL;
}

const pcal_registry_row *pc_metric_group_find(const char *name) {
  for (size_t i = 0; i < pc_metric_group_count(); i++)
    if (strcmp(metric_groups[i].name, name) == 0)
      return &metric_groups[i];
  return NULL;
}

const pcal_registry_row *pc_calibration_notion_at(size_t index) {
  static const pcal_registry_row rows[] = {
#define NOTION(symbol, its_name, its_title, definition, its_about) \
  [PCAL_NOTION_##symbol - 1] = {.registry = PCAL_NOTIONS,          \
                                .name = its_name,                  \
                                .title = its_title,                \
                                .formula = definition,             \
                                .about = its_about,                \
                                .citation = "Gruber & Buettner, NeurIPS 2022, Theorem 3.1"},
#define FORECAST_NOTION(symbol, its_name, its_title, definition, its_about, its_citation) \
  [PCAL_NOTION_##symbol - 1] = {.registry = PCAL_NOTIONS,                                 \
                                .name = its_name,                                         \
                                .title = its_title,                                       \
                                .formula = definition,                                    \
                                .about = its_about,                                       \
                                .citation = its_citation,                                 \
                                .task = PCAL_REGRESSION},
#include "metrics/calibration_notions.def"
#undef FORECAST_NOTION
#undef NOTION
  };
  return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}

const char *pcal_notion_name(pcal_notion notion) {
  static const char *const names[] = {
#define METRIC_NOTION(notion, name) name,
      PCAL_NOTION_LIST(METRIC_NOTION)
#undef METRIC_NOTION
  };
  return notion >= 0 && notion < PCAL_NOTION_END ? names[notion] : NULL;
}

const char *pcal_bound_name(pcal_bound bound) {
  return bound == PCAL_BOUND_LOWER ? "lower" : bound == PCAL_BOUND_UPPER ? "upper" : NULL;
}

const char *pcal_unit_name(pcal_unit unit) {
  static const char *const names[] = {NULL, "share", "nats", "target", "target squared"};
  return unit >= 0 && unit <= PCAL_UNIT_TARGET_SQUARED ? names[unit] : NULL;
}

const char *pcal_machine_name(pcal_machine machine) {
  static const char *const names[] = {NULL, "sum", "grid", "curve", "pair", "keep"};
  return machine >= 0 && machine <= PCAL_MACHINE_KEEP ? names[machine] : NULL;
}

static const char *metric_next_name(void *user, size_t i) {
  (void)user;
  if (i < pc_metric_count())
    return metric_rows[i]->row.name;
  i -= pc_metric_count();
  return i < pc_metric_group_count() ? metric_groups[i].name : NULL;
}

pcal_status pc_metric_parse(const char *alias, const pc_metric **metric, pc_options *options,
                            pcal_error *err) {
  char spec[PC_SPEC_MAX], name[64];
  PC_TRY(pc_spec_resolve(PCAL_METRICS, alias, spec, err));
  PC_TRY(pc_spec_name(spec, name, sizeof name, err));
  *metric = pc_metric_find(name);
  if (*metric == NULL && pc_metric_group_find(name) != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "\"%s\" is a group of metrics, which has no options and no value; name "
                   "one of its metrics, see {list_groups}",
                   name);
  if (*metric == NULL && strchr(name, ',') != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "\"%s\" is not one metric; give several as {several_metrics}", name);
  if (*metric == NULL) {
    const char *near = pc_nearest_word(name, metric_next_name, NULL);
    return pc_fail(err, PCAL_USAGE,
                   "unknown metric \"%s\"%s%s%s; {list_metrics} shows all "
                   "metrics",
                   name, near == NULL ? "" : " (did you mean \"", near == NULL ? "" : near,
                   near == NULL ? "" : "\"?)");
  }
  const pcal_registry_row *row = &(*metric)->row;
  return pc_options_parse(spec, row->name, row->options, row->option_count, options, err);
}

pcal_status pc_metric_parse_for(pc_form form, const char *alias, const pc_metric **metric,
                                pc_options *options, pcal_error *err) {
  char spec[PC_SPEC_MAX], name[64];
  const int regression = form != PC_FORM_CLASSES;
  PC_TRY(pc_spec_resolve(PCAL_METRICS, alias, spec, err));
  PC_TRY(pc_spec_name(spec, name, sizeof name, err));
  *metric = pc_metric_find_for(form, name);
  if (*metric == NULL && metric_find_task(!regression, name) != NULL)
    return pc_fail(err, PCAL_USAGE,
                   regression
                       ? "%s is a metric of class probabilities, but these data are "
                         "predictions of a number; give {probs} or {logits}, or use a "
                         "metric such as crps"
                       : "%s is a metric of predictions of a number, but these data are "
                         "scores of classes; give {mean} with {variance}, {quantiles} or "
                         "{samples}",
                   name);
  if (*metric == NULL)
    return pc_metric_parse(spec, metric, options, err);
  const pcal_registry_row *row = &(*metric)->row;
  const int several = ((*metric)->traits & PC_SEVERAL_TARGETS) != 0;
  if (several != (form == PC_FORM_DISTANCES))
    return pc_fail(err, PCAL_USAGE,
                   several
                       ? "%s is for several targets in each row; for one target use crps, or "
                         "give {target} with several columns beside {samples}"
                       : "%s is for one target in each row, and {target} has several columns; "
                         "use energy-score, or measure each target by itself",
                   name);
  return pc_options_parse(spec, row->name, row->options, row->option_count, options, err);
}

pcal_status pc_metric_result_classes(pc_metric_result *result, const pcal_env *env,
                                     size_t count, pcal_error *err) {
  result->class_values = pc_alloc(env, count, sizeof *result->class_values);
  if (result->class_values == NULL)
    return pc_fail_memory(err, "measuring each class");
  result->class_count = count;
  return PCAL_OK;
}

void pc_metric_result_inner(pc_metric_result *result, double inner, int power) {
  result->inner = inner;
  result->inner_power = power;
}

void pc_debiased_add(pc_debiased *into, pc_debiased part) {
  into->square += part.square;
  into->noise += part.noise;
  into->slope_sum += part.slope_sum;
  into->slope_weight += part.slope_weight;
}

pc_variance_model pc_debiased_variance(const pc_debiased *sum, double divisor, double most) {
  const double slope = sum->slope_weight > 0 ? sum->slope_sum / sum->slope_weight : 0.0;
  return (pc_variance_model){sum->noise / (divisor * divisor), slope / divisor, most};
}

void pc_metric_result_debiased(pc_metric_result *result, pc_debiased sum, double divisor,
                               double most) {
  pc_metric_result_inner(result, sum.square / divisor, 2);
  result->inner_variance = pc_debiased_variance(&sum, divisor, most);
}

void pc_metric_result_square(pc_metric_result *result, const pc_debiased *sum, double divisor,
                             double slope) {
  result->square = sum->square / divisor;
  result->square_variance = pc_debiased_variance(sum, divisor, 1.0);
  result->square_variance.slope *= slope;
}

pcal_status pc_metric_evaluate_mean(const pc_options *options, const pc_evidence *evidence,
                                    const pcal_env *env, pc_metric_result *out,
                                    pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  out->value = evidence->sum.value[0] / evidence->total;
  return PCAL_OK;
}

void pc_metric_result_part(pc_metric_result *result, const char *name, double value) {
  if (result->part_count < PC_PARTS_MAX)
    result->parts[result->part_count++] = (pcal_part){name, value};
}

void pc_metric_result_unbiased_part(pc_metric_result *result, const char *name, double value,
                                    pc_variance_model law) {
  const size_t part = result->part_count;
  pc_metric_result_part(result, name, value);
  if (part == PC_PARTS_MAX)
    return;
  result->part_unbiased[part] = 1;
  result->part_variances[part] = law;
}

void pc_metric_result_about_part(pc_metric_result *result, int is_error, double unseen) {
  if (result->part_count == 0)
    return;
  result->part_errors[result->part_count - 1] = (uint8_t)is_error;
  result->part_unseen[result->part_count - 1] = unseen;
}

void pc_metric_result_twin(pc_metric_result *result, size_t biased) {
  result->part_twin[biased] = (uint8_t)(result->part_count - 1);
}

void pc_metric_result_part_at(pc_metric_result *result, double number, double value) {
  if (result->part_count >= PC_PARTS_MAX)
    return;
  char *name = result->part_names[result->part_count];
  pc_show(number, name);
  pc_metric_result_part(result, name, value);
}

pcal_status pc_plot_table_new(const pcal_env *env, const char *const *names, size_t room,
                              pc_plot_table *graph, pcal_error *err) {
  size_t columns = 0;
  while (columns < PC_PLOT_TABLE_COLUMNS && names[columns] != NULL)
    columns++;
  double *values = pc_alloc(env, columns * room, sizeof *values);
  if (values == NULL)
    return pc_fail_memory(err, "keeping a curve");
  graph->column_count = columns;
  for (size_t c = 0; c < columns; c++) {
    graph->names[c] = names[c];
    graph->columns[c] = values + c * room;
  }
  return PCAL_OK;
}

void pc_plot_table_free(const pcal_env *env, pc_plot_table *graph) {
  pc_free(env, graph->columns[0]);
  *graph = (pc_plot_table){0};
}

pcal_status pc_plot_table_bins_new(const pcal_env *env, size_t parts, size_t bins,
                                   pc_plot_table *graph, pcal_error *err) {
  static const char *const names[] = {"low", "high", "weight", "confidence", "accuracy", NULL};
  static const char *const classes[] = {"low",      "high",  "weight", "confidence",
                                        "accuracy", "class", NULL};
  return graph->wanted
             ? pc_plot_table_new(env, parts > 1 ? classes : names, parts * bins, graph, err)
             : PCAL_OK;
}

void pc_plot_table_bins_add(pc_plot_table *graph, size_t part, const pc_bin *bins,
                            size_t count) {
  for (size_t b = 0; graph->wanted && b < count; b++, graph->count++) {
    const int filled = bins[b].weight > 0;
    const double cells[] = {bins[b].low,
                            bins[b].high,
                            bins[b].weight,
                            filled ? pc_bin_confidence(&bins[b]) : (double)NAN,
                            filled ? pc_bin_frequency(&bins[b]) : (double)NAN,
                            (double)part};
    for (size_t c = 0; c < graph->column_count; c++)
      graph->columns[c][graph->count] = cells[c];
  }
}

pcal_status pc_plot_table_bins(const pcal_env *env, const pc_bin *bins, size_t count,
                               pc_plot_table *graph, pcal_error *err) {
  PC_TRY(pc_plot_table_bins_new(env, 1, count, graph, err));
  pc_plot_table_bins_add(graph, 0, bins, count);
  return PCAL_OK;
}

pcal_status pc_metric_choose_view(pc_options *options, size_t index, const pc_layout *layout,
                                  pc_metric_config *config, pcal_error *err) {
  int chosen = options->value[index].choice;
  if (chosen == PC_CHOICE_AUTO)
    chosen = pc_layout_is_binary(layout) ? PC_CHOICE_POSITIVE : PC_CHOICE_TOP;
  if (chosen == PC_CHOICE_POSITIVE && layout->classes != 2)
    return pc_fail(err, PCAL_USAGE,
                   "%s: view=positive needs two classes, but the data have %s; use "
                   "view=top",
                   options->name,
                   layout->kind == PCAL_CONFIDENCE ? "only confidences" : "more");
  pc_options_choose(options, index, chosen == PC_CHOICE_TOP ? "top" : "positive");
  config->need.view.kind = chosen == PC_CHOICE_TOP ? PC_VIEW_RANK : PC_VIEW_CLASS;
  config->need.view.index = 1;
  config->notion = chosen == PC_CHOICE_TOP ? PCAL_NOTION_TOP_LABEL : PCAL_NOTION_CANONICAL;
  return PCAL_OK;
}
