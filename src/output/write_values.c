/* Values, intervals and summaries that several writers use. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "output/write_results.h"

void pc_write_count(double count, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  const size_t length = pc_number_format(count, digits);
  if (count != floor(count) || count >= 1e15) {
    pc_text_add_bytes(out, digits, length);
    return;
  }
  for (size_t i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0)
      pc_text_add(out, ",");
    pc_text_add_bytes(out, &digits[i], 1);
  }
}

const char *pc_weights_name(const pcal_results *results) {
  return results->weights_are == PCAL_WEIGHTS_IMPORTANCE ? "importance" : "frequency";
}

void pc_write_data_summary(const pcal_results *results, pc_text *out) {
  pc_write_count((double)results->rows, out);
  pc_text_add(out, results->rows == 1 ? " row" : " rows");
  if (results->weighted) {
    pc_text_add(out, " (weight ");
    pc_write_count(results->weight, out);
    pc_text_format(out, ", %s weights", pc_weights_name(results));
    if (results->weights_are == PCAL_WEIGHTS_IMPORTANCE) {
      char digits[PC_NUMBER_MAX];
      pc_number_round(results->effective, 4, digits);
      pc_text_format(out, ", effective sample size %s", digits);
    }
    pc_text_add(out, ")");
  }
  if (pc_layout_is_binary(&results->layout))
    pc_text_format(out, ", binary %s of class 1", pc_kind_title(results->layout.kind));
  else if (results->layout.kind == PCAL_CONFIDENCE)
    pc_text_add(out, ", confidences");
  else if (results->layout.form == PC_FORM_GAUSSIAN)
    pc_text_format(out, ", %s", pc_kind_title(results->layout.kind));
  else if (results->layout.form != PC_FORM_CLASSES)
    pc_text_format(out, ", %zu %s for each", results->layout.columns,
                   pc_kind_title(results->layout.kind));
  else
    pc_text_format(out, ", %zu classes, %s", results->layout.classes,
                   pc_kind_title(results->layout.kind));
  if (results->fast)
    pc_text_add(out, ", fast precision");
  if (results->normalized > 0) {
    pc_text_add(out, ", ");
    pc_write_count((double)results->normalized, out);
    pc_text_add(out,
                results->layout.form == PC_FORM_CLASSES ? " rescaled to sum to 1" : " sorted");
  }
  if (results->abstains) {
    pc_text_add(out, ", ");
    pc_write_count((double)results->abstained, out);
    pc_text_add(out, " not answered");
  }
  if (results->skipped > 0) {
    pc_text_add(out, ", ");
    pc_write_count((double)results->skipped, out);
    pc_text_add(out, " skipped as missing");
  }
  if (results->notation != NULL)
    pc_text_format(out, ", text with %s", results->notation);
}

/* A proper score of one score for each row is half of the score over two classes, so the table
 * says which. */
const char *pc_bound_text(const pc_result_record *record) {
  const int one = record->notion == PCAL_NOTION_PROPER && record->bound == PCAL_BOUND_UPPER;
  return one && record->view.kind == PC_VIEW_CLASS  ? "upper bound, class 1 alone"
         : one && record->view.kind == PC_VIEW_RANK ? "upper bound, predicted class alone"
         : record->bound == PCAL_BOUND_LOWER        ? "lower bound"
         : record->bound == PCAL_BOUND_UPPER        ? "upper bound"
                                                    : "";
}

size_t pc_notion_count(void) {
  size_t count = 0;
  while (pc_calibration_notion_at(count) != NULL)
    count++;
  return count;
}

size_t pc_notion_index(const pc_result_record *record) {
  return record->notion == PCAL_NOTION_NONE ? pc_notion_count() : (size_t)record->notion - 1;
}

/* True if the vector of probabilities is that of class 1 and its complement. */
static int values_two_classes(const pcal_results *results) {
  const pc_layout *layout = &results->layout;
  return layout->form == PC_FORM_CLASSES &&
         (pc_layout_is_binary(layout) || layout->columns == 2);
}

/* Words the canonical notion for data without a vector of probabilities. */
const char *pc_notion_title_for(const pcal_results *results, const pcal_registry_row *notion) {
  if (notion != pc_calibration_notion_at(PCAL_NOTION_CANONICAL - 1))
    return notion->title;
  if (results->layout.form != PC_FORM_CLASSES)
    return "canonical calibration: is the whole predicted distribution right?";
  return values_two_classes(results) ? "calibration of class 1: is its probability right?"
                                     : notion->title;
}

const char *pc_notion_name_for(const pcal_results *results, const pc_result_record *record) {
  return record->notion == PCAL_NOTION_CANONICAL && values_two_classes(results)
             ? "class 1"
             : pcal_notion_name(record->notion);
}

void pc_write_value(const pc_result_record *record, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  if (record->outcome.undefined) {
    pc_text_add(out, "-");
    return;
  }
  if (!isfinite(record->outcome.value))
    pc_number_format(record->outcome.value, digits);
  else
    pc_number_round(record->outcome.value, 5, digits);
  pc_text_add(out, digits);
}

void pc_write_number(double value, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_number_round(value, 3, digits);
  pc_text_add(out, digits);
}

void pc_write_interval(double low, double high, pc_text *out) {
  pc_text_add(out, "[");
  pc_write_number(low, out);
  pc_text_add(out, ", ");
  pc_write_number(high, out);
  pc_text_add(out, "]");
}

static void write_values_bounds(double low, double high, int unsure, const char *before,
                                pc_text *out) {
  pc_text_add(out, before);
  pc_write_interval(low, high, out);
  pc_text_add(out, unsure ? " unsure" : "");
}

void pc_write_part_interval(const pc_result_record *record, size_t part, const char *before,
                            pc_text *out) {
  const pc_part_interval *interval_result = &record->part_interval_results[part];
  if (interval_result->has_interval)
    write_values_bounds(interval_result->low, interval_result->high,
                        record->interval_result.few_rows[0] != '\0', before, out);
}

const char *pc_interval_remarks(const pc_interval_result *interval_result,
                                char room[PC_INTERVAL_REMARKS_MAX]) {
  const char *why = interval_result->why, *few_rows = interval_result->few_rows;
  snprintf(room, PC_INTERVAL_REMARKS_MAX, "%s%s%s", why,
           why[0] != '\0' && few_rows[0] != '\0' ? "; " : "", few_rows);
  return room;
}

/* The metrics of one kind of pc_device_use_name, after `title`; returns their number. */
static size_t write_values_devices(const pcal_results *results, const char *name,
                                   const char *title, int separated, pc_text *out) {
  size_t count = 0;
  for (size_t m = 0; m < results->metric_count; m++) {
    const char *device = pc_device_use_name(results->records[m].device_uses);
    if (device == NULL || strcmp(device, name) != 0)
      continue;
    if (count == 0)
      pc_text_format(out, "%s%s: ", separated ? "; " : "", title);
    pc_text_format(out, "%s%s", count == 0 ? "" : ", ", results->records[m].label);
    count++;
  }
  return count;
}

void pc_write_device_note(const pcal_results *results, pc_text *out) {
  static const char *const kinds[][2] = {{"cuda", "computed on the GPU"},
                                         {"pairs", "pairs compared on the GPU"},
                                         {"copied", "copied to memory and computed there"},
                                         {"cpu", "computed in memory"}};
  size_t count = 0;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    count += write_values_devices(results, kinds[k][0], kinds[k][1], count > 0, out);
  for (size_t m = 0; m < results->metric_count; m++)
    if (results->records[m].device_uses & PC_USE_TOO_OLD) {
      pc_text_add(out,
                  "; this GPU or its driver is too old to compute there, which takes a GPU "
                  "from Turing on and a driver of CUDA 12 or later");
      return;
    }
}

const char *pc_few_rows_remark(const pcal_results *results) {
  for (size_t m = 0; m < results->metric_count; m++)
    if (results->records[m].interval_result.few_rows[0] != '\0')
      return results->records[m].interval_result.few_rows;
  return NULL;
}

static void write_values_p(double p_value, const char *before, pc_text *out) {
  if (p_value < 1e-4) {
    pc_text_format(out, "%sp < 0.0001", before);
    return;
  }
  pc_text_format(out, "%sp = ", before);
  pc_write_number(p_value, out);
}

void pc_write_uncertainty(const pc_result_record *record, const char *before, pc_text *out) {
  const pc_interval_result *interval_result = &record->interval_result;
  if (interval_result->has_interval)
    write_values_bounds(interval_result->low, interval_result->high,
                        interval_result->few_rows[0] != '\0', before, out);
  if (interval_result->has_null) {
    pc_text_format(out, "%s(calibrated: ", before);
    pc_write_number(interval_result->null_mean, out);
    pc_text_add(out, ", p = ");
    pc_write_number(interval_result->null_p_value, out);
    pc_text_add(out, ")");
  }
  if (interval_result->has_difference) {
    pc_text_format(out, "%s(against: %s", before, interval_result->difference > 0 ? "+" : "");
    pc_write_number(interval_result->difference, out);
    if (interval_result->has_difference_interval) {
      pc_text_add(out, " ");
      pc_write_interval(interval_result->difference_low, interval_result->difference_high, out);
      write_values_p(interval_result->difference_p_value, ", ", out);
    }
    pc_text_add(out, ")");
  }
}

void pc_write_p_value(const pc_result_record *record, const char *before, pc_text *out) {
  if (record->outcome.tested && !record->outcome.undefined)
    write_values_p(record->outcome.p_value, before, out);
}
