/* Public entry points for results, inspection and simulation: check, then call
 * inward. */
#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/text.h"
#include "measure/group_records.h"
#include "measure/measure.h"
#include "measure/replicas/paired_difference.h"
#include "output/inspect.h"
#include "output/verdict.h"
#include "output/write_results.h"
#include "simulate/population.h"
#include "simulate/simulate.h"

size_t pcal_results_count(const pcal_results *results) {
  return results == NULL ? 0 : results->count;
}

static const char *reading_text(const char *text) {
  return text[0] == '\0' ? NULL : text;
}

pcal_status pcal_results_get(const pcal_results *results, size_t index, pcal_result *out) {
  if (out == NULL || out->size < sizeof out->size)
    return PCAL_USAGE;
  const size_t size = out->size;
  const int known = results != NULL && index < results->count;
  pcal_result filled = {.size = size};
  if (known) {
    pc_result_record room;
    const pc_result_record *record = pc_results_at(results, index, &room);
    const pc_result_record *all = &results->records[index % results->metric_count];
    const pc_group_record *own = pc_group_record_at(results, index);
    filled.metric = record->metric;
    filled.spec = all->spec;
    filled.label = all->label;
    filled.group = record->group == PC_ALL_ROWS ? NULL : results->group_names[record->group];
    filled.defined = !record->outcome.undefined;
    filled.value = record->outcome.value;
    filled.why = own != NULL ? own->why : reading_text(all->outcome.why);
    filled.notion = record->notion;
    filled.bound = record->bound;
    filled.parts = own != NULL ? own->parts : all->outcome.parts;
    filled.part_count = record->outcome.part_count;
    filled.tested = record->outcome.tested;
    filled.p_value = record->outcome.undefined ? (double)NAN : record->outcome.p_value;
    const pc_interval_result *interval_result = &record->interval_result;
    filled.has_interval = interval_result->has_interval;
    filled.level = interval_result->level;
    filled.low = interval_result->low;
    filled.high = interval_result->high;
    filled.se = interval_result->se;
    filled.method =
        interval_result->has_interval ? pc_interval_method_name(interval_result->method) : NULL;
    filled.has_null = interval_result->has_null;
    filled.null_mean = interval_result->null_mean;
    filled.null_low = interval_result->null_low;
    filled.null_high = interval_result->null_high;
    filled.null_p_value = interval_result->null_p_value;
    filled.unsure = own == NULL                    ? reading_text(all->interval_result.why)
                    : own->interval_result == NULL ? NULL
                                                   : reading_text(own->interval_result->why);
    filled.has_difference = interval_result->has_difference;
    filled.difference = interval_result->difference;
    filled.has_difference_interval = interval_result->has_difference_interval;
    filled.difference_low = interval_result->difference_low;
    filled.difference_high = interval_result->difference_high;
    filled.difference_p_value = interval_result->difference_p_value;
    if (interval_result->has_difference_interval) {
      filled.difference_method = pc_paired_method_name(interval_result->difference_method);
      filled.difference_rows = results->against.differ;
    }
    filled.class_values = record->outcome.class_values;
    filled.class_count = record->outcome.class_count;
  }
  memcpy(out, &filled, size < sizeof filled ? size : sizeof filled);
  return known ? PCAL_OK : PCAL_USAGE;
}

pcal_status pcal_results_find(const pcal_results *results, const char *spec, pcal_result *out,
                              pcal_error *err) {
  pc_error_clear(err);
  if (results == NULL || spec == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_results_find needs results, a spec and a place");
  if (out->size < sizeof out->size)
    return pc_fail(err, PCAL_USAGE,
                   "the size of the result is not set; start from PCAL_RESULT_INIT");
  const pc_metric *metric;
  pc_options options;
  pc_metric_config reading;
  memset(&reading, 0, sizeof reading);
  PC_TRY(pc_metric_parse_for(results->layout.form, spec, &metric, &options, err));
  PC_TRY(metric->configure(&options, &results->layout, &reading, err));
  const pc_result_record *record = pc_results_record(results, spec);
  if (record != NULL) {
    return pcal_results_get(results, (size_t)(record - results->records), out);
  }
  char full[PC_SPEC_MAX];
  pc_options_write(&options, 1, full, sizeof full);
  return pc_fail(err, PCAL_USAGE,
                 "%s was not measured; ask for it with {metrics_begin}%s{metrics_end}", full,
                 spec);
}

pcal_status pcal_results_add_difference(pcal_results *results, const pcal_results *other,
                                        pcal_error *err) {
  pc_error_clear(err);
  if (results == NULL || other == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_results_add_difference needs two results");
  return pc_budget_explain(&results->env, pc_paired_differences(results, other, err), err);
}

void pcal_results_set_injective(pcal_results *results) {
  if (results != NULL)
    pc_paired_differences_mark_injective(results);
}

pcal_status pcal_results_get_curve(const pcal_results *results, size_t index, pcal_curve *out) {
  if (out == NULL || out->size < sizeof out->size)
    return PCAL_USAGE;
  const size_t size = out->size;
  const int known = results != NULL && index < results->count;
  pcal_curve filled = {.size = size};
  if (known) {
    const pc_group_record *own = pc_group_record_at(results, index);
    const pc_plot_table *graph =
        own == NULL ? &results->records[index].outcome.graph : own->graph;
    if (graph != NULL) {
      filled.count = graph->count;
      filled.column_count = graph->column_count;
      filled.names = graph->names;
      filled.columns = (const double *const *)graph->columns;
    }
  }
  memcpy(out, &filled, size < sizeof filled ? size : sizeof filled);
  return known ? PCAL_OK : PCAL_USAGE;
}

void pcal_results_free(pcal_results *results) {
  pc_results_free(results);
}

const pcal_bin *pcal_results_bins(const pcal_results *results, size_t *count) {
  if (count != NULL)
    *count = results == NULL ? 0 : results->bin_count;
  return results == NULL ? NULL : results->public_bins;
}

pcal_weights pcal_results_weights(const pcal_results *results, double *effective) {
  if (effective != NULL)
    *effective = results == NULL ? 0.0 : results->effective;
  return results == NULL ? PCAL_WEIGHTS_AUTO : results->weights_are;
}

int32_t pcal_results_only_label(const pcal_results *results) {
  return results == NULL ? -1 : results->only_label;
}

pcal_status pcal_results_get_verdict(const pcal_results *results, pcal_verdict *out) {
  if (results == NULL || results->bins == NULL || out == NULL || out->size < sizeof out->size)
    return PCAL_USAGE;
  const size_t size = out->size;
  pcal_verdict filled;
  pc_verdict_judge(results, &filled);
  filled.size = size;
  memcpy(out, &filled, size < sizeof filled ? size : sizeof filled);
  return PCAL_OK;
}

const char *pcal_results_verdict_text(const pcal_results *results) {
  return results == NULL ? NULL : results->verdict;
}

pcal_status pcal_results_write(const pcal_results *results, pcal_format format, pcal_sink sink,
                               void *user, pcal_error *err) {
  static void (*const writers[])(const pcal_results *, pc_text *) = {
      [PCAL_TEXT] = pc_write_results_text,
      [PCAL_JSON] = pc_write_results_json,
      [PCAL_CSV] = pc_write_results_csv,
      [PCAL_MARKDOWN] = pc_write_results_markdown,
  };
  pc_error_clear(err);
  if (results == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_results_write needs results and a sink");
  if (format < PCAL_TEXT || format > PCAL_MARKDOWN)
    return pc_fail(err, PCAL_USAGE, "the format %d is unknown", (int)format);
  pc_text text;
  pc_text_init(&text, &results->env);
  writers[format](results, &text);
  const pcal_status status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&results->env, status, err);
}

/* ---- simulation ---- */

pcal_status pcal_simulate(const pcal_simulation *simulation, const pcal_env *env, float *logits,
                          int32_t *labels, double *truth, pcal_error *err) {
  pc_error_clear(err);
  if (simulation == NULL || logits == NULL || labels == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_simulate needs places for logits and labels");
  pcal_simulation full = PCAL_SIMULATION_INIT;
  memcpy(&full, simulation, simulation->size < sizeof full ? simulation->size : sizeof full);
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_simulate(&full, &opened, logits, labels, truth, err), err);
}

#define READING_POPULATION 10000000u /* scores */

static pcal_status reading_truths(const pcal_simulation *simulation, const char *const *specs,
                                  size_t count, const pcal_env *env, double *values,
                                  pcal_error *err) {
  pc_metric_result *outcomes = pc_alloc(env, count, sizeof *outcomes);
  if (outcomes == NULL)
    return pc_fail_memory(err, "measuring the population");
  const uint64_t rows = READING_POPULATION / simulation->classes;
  const pcal_status status =
      pc_population_outcomes(simulation, rows, specs, count, env, outcomes, err);
  for (size_t i = 0; status == PCAL_OK && i < count; i++)
    values[i] = outcomes[i].undefined || outcomes[i].tested ? (double)NAN : outcomes[i].value;
  pc_free(env, outcomes);
  return status;
}

pcal_status pcal_simulation_population_values(const pcal_simulation *simulation,
                                              const char *const *specs, size_t count,
                                              const pcal_env *env, double *values,
                                              pcal_error *err) {
  pc_error_clear(err);
  if (simulation == NULL || (count > 0 && (specs == NULL || values == NULL)))
    return pc_fail(
        err, PCAL_USAGE,
        "pcal_simulation_population_values needs a simulation, metrics and a place for values");
  pcal_simulation full = PCAL_SIMULATION_INIT;
  memcpy(&full, simulation, simulation->size < sizeof full ? simulation->size : sizeof full);
  if (full.classes < 2)
    return pc_fail(err, PCAL_USAGE, "classes is %zu; a simulation needs at least 2",
                   full.classes);
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, reading_truths(&full, specs, count, &opened, values, err), err);
}

/* ---- inspection ---- */

static pcal_status reading_send(pc_text *text, pcal_status status, pcal_sink sink, void *user,
                                pcal_error *err) {
  if (status == PCAL_OK)
    status = pc_text_send(text, sink, user, err);
  pc_text_free(text);
  return status;
}

pcal_status pcal_inspect_file(const char *file, int header, const pcal_env *env,
                              pcal_format format, pcal_sink sink, void *user,
                              size_t *problems_out, pcal_error *err) {
  pc_error_clear(err);
  if (file == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_inspect_file needs a file and a sink");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  size_t problems = 0;
  pc_text text;
  pc_text_init(&text, &opened);
  const pcal_status status =
      pc_inspect_file(file, header, &opened, format, &text, &problems, err);
  if (problems_out != NULL)
    *problems_out = problems;
  return pc_env_close(&opened, reading_send(&text, status, sink, user, err), err);
}

pcal_status pcal_inspect_source(pcal_source *source, const pcal_env *env, pcal_format format,
                                pcal_sink sink, void *user, size_t *problems_out,
                                pcal_error *err) {
  pc_error_clear(err);
  if (source == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_inspect_source needs a source and a sink");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  size_t problems = 0;
  pc_text text;
  pc_text_init(&text, &opened);
  const pcal_status status = pc_inspect_source(source, &opened, format, &text, &problems, err);
  if (problems_out != NULL)
    *problems_out = problems;
  return pc_env_close(&opened, reading_send(&text, status, sink, user, err), err);
}
