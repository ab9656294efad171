/* Public entry points for results: check arguments, then call the implementation. */
#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/text.h"
#include "measure/group_records.h"
#include "measure/measure.h"
#include "measure/replicas/paired_difference.h"
#include "output/baseline.h"
#include "output/verdict.h"
#include "output/write_results.h"

const char *pcal_difference_method_name(pcal_difference_method method) {
  return method >= PCAL_DIFFERENCE_EXCHANGE && method <= PCAL_DIFFERENCE_DELONG
             ? pc_paired_method_name(method)
             : NULL;
}

size_t pcal_results_count(const pcal_results *results) {
  return results == NULL ? 0 : results->count;
}

static const char *results_text(const char *text) {
  return text[0] == '\0' ? NULL : text;
}

static void results_fill_interval(const pcal_results *results,
                                  const pc_interval_result *interval, pcal_result *out) {
  out->has_interval = interval->has_interval;
  out->level = interval->level;
  out->low = interval->low;
  out->high = interval->high;
  out->se = interval->se;
  out->interval_method = interval->has_interval ? interval->method : PCAL_INTERVAL_AUTO;
  out->has_null = interval->has_null;
  out->null_mean = interval->null_mean;
  out->null_low = interval->null_low;
  out->null_high = interval->null_high;
  out->null_p_value = interval->null_p_value;
  out->has_difference = interval->has_difference;
  out->difference = interval->difference;
  out->has_difference_interval = interval->has_difference_interval;
  out->difference_low = interval->difference_low;
  out->difference_high = interval->difference_high;
  out->difference_p_value = interval->difference_p_value;
  if (interval->has_difference_interval) {
    out->difference_method = interval->difference_method;
    out->difference_rows = results->against.differ;
  }
}

/* Texts and arrays, which belong to the results: those of a group, or of the metric. */
static void results_fill_pointers(const pcal_results *results, size_t index, pcal_result *out) {
  const pc_result_record *all = &results->records[index % results->metric_count];
  const pc_group_record *own = pc_group_record_at(results, index);
  const pc_interval_result *remarks =
      own == NULL ? &all->interval_result : own->interval_result;
  out->spec = all->spec;
  out->label = all->label;
  out->why = own != NULL ? own->why : results_text(all->outcome.why);
  out->parts = own != NULL ? own->parts : all->outcome.parts;
  out->unsure = remarks == NULL ? NULL : results_text(remarks->why);
  out->few_rows = remarks == NULL ? NULL : results_text(remarks->few_rows);
}

static void results_fill(const pcal_results *results, size_t index, pcal_result *out) {
  pc_result_record room;
  const pc_result_record *record = pc_results_at(results, index, &room);
  const pc_metric_result *outcome = &record->outcome;
  out->metric = record->metric;
  out->group = record->group == PC_ALL_ROWS ? NULL : results->group_names[record->group];
  out->defined = !outcome->undefined;
  out->value = outcome->value;
  out->notion = record->notion;
  out->bound = record->bound;
  out->part_count = outcome->part_count;
  out->tested = outcome->tested;
  out->p_value = outcome->undefined ? (double)NAN : outcome->p_value;
  out->class_values = outcome->class_values;
  out->class_count = outcome->class_count;
  out->device = pc_device_use_name(record->device_uses);
  results_fill_interval(results, &record->interval_result, out);
  results_fill_pointers(results, index, out);
}

pcal_status pcal_results_get(const pcal_results *results, size_t index, pcal_result *out) {
  if (out == NULL || out->size < sizeof out->size)
    return PCAL_USAGE;
  const size_t size = out->size;
  const int known = results != NULL && index < results->count;
  pcal_result filled = {.size = size};
  if (known)
    results_fill(results, index, &filled);
  memcpy(out, &filled, size < sizeof filled ? size : sizeof filled);
  return known ? PCAL_OK : PCAL_USAGE;
}

pcal_status pcal_results_find(const pcal_results *results, const char *spec, pcal_result *out,
                              pcal_error *err) {
  pc_error_clear(err);
  if (results == NULL || spec == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_results_find needs results, a spec and an out pointer");
  if (out->size < sizeof out->size)
    return pc_fail(err, PCAL_USAGE,
                   "the size of the result is not set; start from PCAL_RESULT_INIT");
  const pc_metric *metric;
  pc_options options;
  pc_metric_config config;
  memset(&config, 0, sizeof config);
  PC_TRY(pc_metric_parse_for(results->layout.form, spec, &metric, &options, err));
  PC_TRY(metric->configure(&options, &results->layout, &config, err));
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

pcal_status pcal_results_add_baseline(pcal_results *results, const void *json, size_t length,
                                      const char *name, pcal_error *err) {
  pc_error_clear(err);
  if (results == NULL || json == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_results_add_baseline needs results and the JSON text of earlier ones");
  return pc_budget_explain(
      &results->env,
      pc_baseline_compare(results, json, length, name == NULL ? "baseline" : name, err), err);
}

pcal_status pcal_results_get_change(const pcal_results *results, size_t index,
                                    pcal_change *out) {
  if (out == NULL || out->size < sizeof out->size)
    return PCAL_USAGE;
  const size_t size = out->size;
  const int known = results != NULL && index < results->count && results->changes != NULL;
  pcal_change filled = {.size = size};
  if (known) {
    const pc_change *change = &results->changes[index];
    filled.compared = change->known;
    filled.worse = change->worse;
    filled.before = change->before;
    filled.low = change->low;
    filled.high = change->high;
  }
  memcpy(out, &filled, size < sizeof filled ? size : sizeof filled);
  return known ? PCAL_OK : PCAL_USAGE;
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

pcal_weights pcal_results_weights_are(const pcal_results *results) {
  return results == NULL ? PCAL_WEIGHTS_AUTO : results->weights_are;
}

double pcal_results_effective_rows(const pcal_results *results) {
  return results == NULL ? 0.0 : results->effective;
}

uint64_t pcal_results_abstained(const pcal_results *results) {
  return results == NULL || !results->abstains ? PCAL_NO_ROW : results->abstained;
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
  int failed = 0;
  return results == NULL ? NULL : pc_verdict_sentences(results, &failed);
}

pcal_status pcal_results_write(const pcal_results *results, pcal_format format, pcal_sink sink,
                               void *user, pcal_error *err) {
  static void (*const writers[])(const pcal_results *, pc_text *) = {
      [PCAL_TEXT] = pc_write_results_text,   [PCAL_JSON] = pc_write_results_json,
      [PCAL_CSV] = pc_write_results_csv,     [PCAL_MARKDOWN] = pc_write_results_markdown,
      [PCAL_LATEX] = pc_write_results_latex,
  };
  pc_error_clear(err);
  if (results == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_results_write needs results and a sink");
  if (format < PCAL_TEXT || format > PCAL_LATEX)
    return pc_fail(err, PCAL_USAGE, "the format %d is unknown", (int)format);
  pc_text text;
  pc_text_init(&text, &results->env);
  writers[format](results, &text);
  const pcal_status status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&results->env, status, err);
}

const char *pcal_results_table_name(const pcal_results *results, size_t index) {
  return results == NULL ? NULL : pc_results_table_name(results, index);
}

pcal_status pcal_results_table_write(const pcal_results *results, size_t index, pcal_sink sink,
                                     void *user, pcal_error *err) {
  pc_error_clear(err);
  if (sink == NULL || pcal_results_table_name(results, index) == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_results_table_write needs results, a sink and the index of a table");
  pc_text text;
  pc_text_init(&text, &results->env);
  pc_results_table_write(results, index, &text);
  const pcal_status status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&results->env, status, err);
}
