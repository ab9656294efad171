/* Results for people and programs. */
#ifndef PC_WRITE_RESULTS_H
#define PC_WRITE_RESULTS_H

#include "base/escape.h"
#include "measure/results.h"

/* Writes results in one of the formats. */
void pc_write_results_text(const pcal_results *results, pc_text *out);
void pc_write_results_json(const pcal_results *results, pc_text *out);
void pc_write_results_csv(const pcal_results *results, pc_text *out);
void pc_write_results_markdown(const pcal_results *results, pc_text *out);

/* What the weights are: "frequency" or "importance". */
const char *pc_weights_name(const pcal_results *results);

/* "10000 rows, 10 classes, logits" and the like. */
void pc_write_data_summary(const pcal_results *results, pc_text *out);

/* "lower bound", "upper bound" or "". */
const char *pc_bound_text(const pc_result_record *record);

/* Three significant digits. */
void pc_write_number(double value, pc_text *out);
/* "[0.031, 0.047]" */
void pc_write_interval(double low, double high, pc_text *out);

/* A value as tables show it: five significant digits, "inf", or "-" when undefined. */
void pc_write_value(const pc_result_record *record, pc_text *out);

/* "[0.031, 0.047]" and, where asked for, "(calibrated: 0.004, p = 0.001)" and "(against: -0.01
 * [-0.02, -0.005], p = 0.003)", each after `before`. */
void pc_write_uncertainty(const pc_result_record *record, const char *before, pc_text *out);

/* The interval of a part, after `before`. */
void pc_write_part_interval(const pc_result_record *record, size_t part, const char *before,
                            pc_text *out);

/* What is to be said of how sure this one number is, "" where nothing; and of all intervals
 * that are marked as unsure, which hang on few rows, NULL where none is. */
void pc_write_interval_remark(const pc_result_record *record, pc_text *out);
const char *pc_few_rows_remark(const pcal_results *results);

/* What the differences to another model rest on: one paragraph that begins with `word` and a
 * colon; nothing without differences. */
void pc_write_difference_note(const pcal_results *results, const char *word, pc_text *out);

/* The p-value of a test, "p = 0.012", after `before`; nothing for other metrics. */
void pc_write_p_value(const pc_result_record *record, const char *before, pc_text *out);

/* Place of a result's notion among the notions (metrics/calibration_notions.def), by which tables are
 * ordered; their number for a result without one. */
size_t pc_notion_count(void);
size_t pc_notion_index(const pc_result_record *record);
/* What a notion asks of these results. */
const char *pc_notion_title_for(const pcal_results *results, const pcal_registry_row *notion);

/* A whole number with its thousands set apart: 10,000. */
void pc_write_count(double count, pc_text *out);

#endif
