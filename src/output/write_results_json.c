/* Results as JSON.  Scripts rely on the names of the fields. */
#include "base/json.h"
#include "output/verdict.h"
#include "output/write_results.h"

static void results_json_names(pc_json *json, const char *key, char *const *names,
                               size_t count) {
  if (count == 0)
    return;
  pc_json_key(json, key);
  pc_json_open(json, '[');
  for (size_t i = 0; i < count; i++)
    pc_json_string(json, names[i]);
  pc_json_close(json, ']');
}

static void results_json_levels(pc_json *json, const pc_layout *layout) {
  if (layout->form != PC_FORM_QUANTILES)
    return;
  pc_json_key(json, "levels");
  pc_json_open(json, '[');
  for (size_t l = 0; l < layout->columns; l++)
    pc_json_number(json, layout->levels[l]);
  pc_json_close(json, ']');
}

static void results_json_data(pc_json *json, const pcal_results *results) {
  pc_json_key(json, "data");
  pc_json_open(json, '{');
  pc_json_key(json, "kind");
  pc_json_string(json, pcal_kind_name(results->layout.kind));
  pc_json_key(json, "view");
  pc_json_string(json, pc_results_view(results));
  pc_json_key(json, "rows");
  pc_json_integer(json, results->rows);
  pc_json_key(json, "classes");
  if (results->layout.kind == PCAL_CONFIDENCE || results->layout.form != PC_FORM_CLASSES)
    pc_json_null(json);
  else
    pc_json_integer(json, results->layout.classes);
  results_json_levels(json, &results->layout);
  pc_json_key(json, "weighted");
  pc_json_bool(json, results->weighted);
  if (results->weighted) {
    pc_json_key(json, "weight");
    pc_json_number(json, results->weight);
    pc_json_key(json, "weights");
    pc_json_open(json, '{');
    pc_json_key(json, "are");
    pc_json_string(json, pc_weights_name(results));
    pc_json_key(json, "effective_sample_size");
    pc_json_number(json, results->effective);
    pc_json_close(json, '}');
  }
  pc_json_key(json, "precision");
  pc_json_string(json, results->fast ? "fast" : "exact");
  pc_json_key(json, "normalized_rows");
  pc_json_integer(json, results->normalized);
  pc_json_key(json, "skipped_rows");
  pc_json_integer(json, results->skipped);
  if (results->abstains) {
    pc_json_key(json, "abstained_rows");
    pc_json_integer(json, results->abstained);
  }
  if (results->notation != NULL) {
    pc_json_key(json, "notation");
    pc_json_string(json, results->notation);
  }
  results_json_names(json, "class_names", results->class_names, results->class_count);
  results_json_names(json, "group_names", results->group_names, results->group_count);
  pc_json_close(json, '}');
}

static void results_json_value(pc_json *json, const pc_metric_result *outcome) {
  pc_json_key(json, "value");
  if (outcome->undefined)
    pc_json_null(json);
  else
    pc_json_number(json, outcome->value);
  if (outcome->why[0] != '\0') {
    pc_json_key(json, "why");
    pc_json_string(json, outcome->why);
  }
}

static void results_json_p_value(pc_json *json, const pc_metric_result *outcome) {
  if (!outcome->tested)
    return;
  pc_json_key(json, "p_value");
  pc_json_number(json, outcome->p_value);
}

static void results_json_pair(pc_json *json, const char *key, double value) {
  pc_json_key(json, key);
  pc_json_number(json, value);
}

static void results_json_null(pc_json *json, const pc_interval_result *interval_result) {
  if (!interval_result->has_null)
    return;
  pc_json_key(json, "null");
  pc_json_open(json, '{');
  results_json_pair(json, "mean", interval_result->null_mean);
  results_json_pair(json, "low", interval_result->null_low);
  results_json_pair(json, "high", interval_result->null_high);
  results_json_pair(json, "p_value", interval_result->null_p_value);
  pc_json_close(json, '}');
}

static void results_json_difference(pc_json *json, const pcal_results *results,
                                    const pc_interval_result *interval_result) {
  if (!interval_result->has_difference)
    return;
  pc_json_key(json, "difference");
  pc_json_open(json, '{');
  results_json_pair(json, "value", interval_result->difference);
  if (interval_result->has_difference_interval) {
    results_json_pair(json, "low", interval_result->difference_low);
    results_json_pair(json, "high", interval_result->difference_high);
    results_json_pair(json, "p_value", interval_result->difference_p_value);
    pc_json_key(json, "method");
    pc_json_string(json, pc_paired_method_name(interval_result->difference_method));
  }
  if (interval_result->has_difference_interval && results->against.known)
    results_json_pair(json, results->against.clusters && !results->soft ? "clusters" : "rows",
                      (double)results->against.differ);
  if (interval_result->difference_of_calibration) {
    pc_json_key(json, "of_calibration_error");
    pc_json_bool(json, 1);
  }
  pc_json_close(json, '}');
}

static void results_json_uncertainty(pc_json *json, const pcal_results *results,
                                     const pc_interval_result *interval_result) {
  pc_json_key(json, "interval");
  if (interval_result->has_interval) {
    pc_json_open(json, '{');
    results_json_pair(json, "level", interval_result->level);
    results_json_pair(json, "low", interval_result->low);
    results_json_pair(json, "high", interval_result->high);
    pc_json_key(json, "method");
    pc_json_string(json, pc_interval_method_name(interval_result->method));
    pc_json_close(json, '}');
  } else {
    pc_json_null(json);
  }
  pc_json_key(json, "se");
  if (interval_result->has_interval)
    pc_json_number(json, interval_result->se);
  else
    pc_json_null(json);
  results_json_null(json, interval_result);
  results_json_difference(json, results, interval_result);
  char room[PC_INTERVAL_REMARKS_MAX];
  const char *unsure = pc_interval_remarks(interval_result, room);
  if (unsure[0] != '\0') {
    pc_json_key(json, "unsure");
    pc_json_string(json, unsure);
  }
}

static void results_json_part_intervals(pc_json *json, const pc_result_record *record) {
  int any = 0;
  for (size_t p = 0; p < record->outcome.part_count; p++) {
    const pc_part_interval *interval_result = &record->part_interval_results[p];
    if (!interval_result->has_interval)
      continue;
    if (!any) {
      pc_json_key(json, "part_intervals");
      pc_json_open(json, '{');
    }
    any = 1;
    pc_json_key(json, record->outcome.parts[p].name);
    pc_json_open(json, '{');
    results_json_pair(json, "low", interval_result->low);
    results_json_pair(json, "high", interval_result->high);
    results_json_pair(json, "se", interval_result->se);
    pc_json_close(json, '}');
  }
  if (any)
    pc_json_close(json, '}');
}

static void results_json_parts(pc_json *json, const pc_metric_result *outcome) {
  pc_json_key(json, "parts");
  pc_json_open(json, '{');
  for (size_t p = 0; p < outcome->part_count; p++) {
    pc_json_key(json, outcome->parts[p].name);
    pc_json_number(json, outcome->parts[p].value);
  }
  pc_json_close(json, '}');
}

/* The value of each class, in the order of classes. */
static void results_json_classes(pc_json *json, const pc_metric_result *outcome) {
  if (outcome->class_values == NULL)
    return;
  pc_json_key(json, "classes");
  pc_json_open(json, '[');
  for (size_t k = 0; k < outcome->class_count; k++)
    pc_json_number(json, outcome->class_values[k]);
  pc_json_close(json, ']');
}

static void results_json_curve(pc_json *json, const pc_plot_table *graph) {
  if (graph->column_count == 0)
    return;
  pc_json_key(json, "curve");
  pc_json_open(json, '{');
  for (size_t c = 0; c < graph->column_count; c++) {
    pc_json_key(json, graph->names[c]);
    pc_json_numbers(json, graph->columns[c], graph->count);
  }
  pc_json_close(json, '}');
}

static void results_json_groups(pc_json *json, const pcal_results *results, size_t metric) {
  if (results->group_count == 0)
    return;
  pc_json_key(json, "groups");
  pc_json_open(json, '{');
  for (size_t g = 0; g < results->group_count; g++) {
    pc_result_record room;
    const pc_result_record *record =
        pc_results_at(results, (g + 1) * results->metric_count + metric, &room);
    const pc_metric_result *outcome = &record->outcome;
    pc_json_key(json, results->group_names[g]);
    pc_json_open(json, '{');
    pc_json_key(json, "weight");
    pc_json_number(json, results->group_weights[g]);
    results_json_value(json, outcome);
    results_json_p_value(json, outcome);
    if (record->interval_result.has_interval || record->interval_result.has_null ||
        record->interval_result.why[0] != '\0')
      results_json_uncertainty(json, results, &record->interval_result);
    results_json_parts(json, outcome);
    results_json_classes(json, outcome);
    results_json_curve(json, &outcome->graph);
    pc_json_close(json, '}');
  }
  pc_json_close(json, '}');
}

static void results_json_record(pc_json *json, const pcal_results *results, size_t metric) {
  const pc_result_record *record = &results->records[metric];
  pc_json_open(json, '{');
  pc_json_key(json, "metric");
  pc_json_string(json, record->metric);
  pc_json_key(json, "spec");
  pc_json_string(json, record->spec);
  results_json_value(json, &record->outcome);
  results_json_p_value(json, &record->outcome);
  results_json_uncertainty(json, results, &record->interval_result);
  pc_json_key(json, "notion");
  pc_json_string(json, pcal_notion_name(record->notion));
  pc_json_key(json, "bound");
  pc_json_string(json, pcal_bound_name(record->bound));
  if (pc_device_use_name(record->device_uses) != NULL) {
    pc_json_key(json, "device");
    pc_json_string(json, pc_device_use_name(record->device_uses));
  }
  results_json_parts(json, &record->outcome);
  results_json_part_intervals(json, record);
  results_json_classes(json, &record->outcome);
  results_json_curve(json, &record->outcome.graph);
  results_json_groups(json, results, metric);
  pc_json_close(json, '}');
}

/* Worded for the program, so that the bytes do not depend on the caller. */
static void results_json_verdict(pc_json *json, const pcal_results *results, pc_text *out) {
  pc_text words;
  if (results->verdict == NULL || results->env.caller == PCAL_INTERFACE_PROGRAM) {
    pc_json_string(json, pc_verdict_sentences(results, &out->failed));
    return;
  }
  pc_text_init(&words, out->env);
  pc_verdict_text(results, PCAL_INTERFACE_PROGRAM, &words);
  pc_json_string(json, words.failed ? "" : words.bytes);
  out->failed |= words.failed;
  pc_text_free(&words);
}

void pc_write_results_json(const pcal_results *results, pc_text *out) {
  pc_json json;
  pc_json_init(&json, out);
  pc_json_open(&json, '{');
  pc_json_key(&json, "propercal");
  pc_json_string(&json, PCAL_VERSION);
  results_json_data(&json, results);
  pc_json_key(&json, "results");
  pc_json_open(&json, '[');
  for (size_t m = 0; m < results->metric_count; m++)
    results_json_record(&json, results, m);
  pc_json_close(&json, ']');
  pc_json_key(&json, "verdict");
  results_json_verdict(&json, results, out);
  if (results->bins != NULL) {
    pcal_verdict verdict;
    pc_verdict_judge(results, &verdict);
    pc_json_key(&json, "judgement");
    pc_verdict_json(&verdict, &json);
  }
  pc_json_close(&json, '}');
  pc_text_add(out, "\n");
}
