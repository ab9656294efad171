/* Results as text, JSON, CSV, Markdown and LaTeX, and the values in them. */
#ifndef PC_WRITE_RESULTS_H
#define PC_WRITE_RESULTS_H

#include "base/escape.h"
#include "measure/results.h"

/* Write all results. */
void pc_write_results_text(const pcal_results *results, pc_text *out);
void pc_write_results_json(const pcal_results *results, pc_text *out);
void pc_write_results_csv(const pcal_results *results, pc_text *out);
void pc_write_results_markdown(const pcal_results *results, pc_text *out);
void pc_write_results_latex(const pcal_results *results, pc_text *out);

/* Tables of their own, as CSV; the name is NULL after the last one. */
const char *pc_results_table_name(const pcal_results *results, size_t index);
void pc_results_table_write(const pcal_results *results, size_t index, pc_text *out);

/* "frequency" or "importance". */
const char *pc_weights_name(const pcal_results *results);

/* Writes "10000 rows, 10 classes, logits". */
void pc_write_data_summary(const pcal_results *results, pc_text *out);

/* "lower bound", "upper bound", "upper bound, class 1 alone" and the like, or "". */
const char *pc_bound_text(const pc_result_record *record);

/* Writes three significant digits. */
void pc_write_number(double value, pc_text *out);
/* Writes "[0.031, 0.047]". */
void pc_write_interval(double low, double high, pc_text *out);

/* Writes the value of a table: five significant digits, "inf", or "-" if undefined. */
void pc_write_value(const pc_result_record *record, pc_text *out);

/* The same at the right of a column. */
void pc_write_padded_value(const pc_result_record *record, size_t width, pc_text *out);

/* Writes the values of all groups; `labels` is the width of the column of metrics. */
void pc_write_groups_text(const pcal_results *results, size_t labels, pc_text *out);

/* The same as Markdown: a table with a line for each group, and the worst groups. */
void pc_write_groups_markdown(const pcal_results *results, pc_text *out);

/* With more groups a group is a line of a table, not a column. */
#define PC_GROUP_COLUMNS_SHOWN 6
#define PC_WORST_GROUPS 5

/* The worst groups by a metric, the worst first; none if there are few groups, or if the metric
 * has no better direction.  Returns their number. */
size_t pc_worst_groups(const pcal_results *results, size_t metric, size_t out[PC_WORST_GROUPS]);
/* Writes "worst first: north 0.21, south 0.18"; nothing if there are none. */
void pc_write_worst_groups(const pcal_results *results, size_t metric,
                           void (*write_name)(pc_text *out, const char *name), pc_text *out);

/* Writes the interval, "[0.031, 0.047]", the null, "(calibrated: 0.004, p = 0.001)", and the
 * difference, "(against: -0.01 [-0.02, -0.005], p = 0.003)", as far as known, each after
 * `before`. */
void pc_write_uncertainty(const pc_result_record *record, const char *before, pc_text *out);

/* Writes `before` and the interval of a part; nothing if there is none. */
void pc_write_part_interval(const pc_result_record *record, size_t part, const char *before,
                            pc_text *out);

/* Both remarks on an interval, joined; "" if there is none. */
#define PC_INTERVAL_REMARKS_MAX 400
const char *pc_interval_remarks(const pc_interval_result *interval_result,
                                char room[PC_INTERVAL_REMARKS_MAX]);
/* The metrics that a GPU has computed, and those whose scores were copied; nothing without a
 * GPU. */
void pc_write_device_note(const pcal_results *results, pc_text *out);
/* The remark on all intervals marked as unsure, which depend on few rows; NULL if there is none. */
const char *pc_few_rows_remark(const pcal_results *results);

/* Writes a paragraph on the differences to another model: `word`, a colon, how they were computed;
 * nothing without differences. */
void pc_write_difference_note(const pcal_results *results, const char *word, pc_text *out);

/* Writes `before` and the p-value of a test, "p = 0.012"; nothing for other metrics. */
void pc_write_p_value(const pc_result_record *record, const char *before, pc_text *out);

/* Place of a result's notion among the notions (metrics/calibration_notions.def), by which
 * tables are ordered; their number for a result without one. */
size_t pc_notion_count(void);
size_t pc_notion_index(const pc_result_record *record);
/* The question of a notion, worded for these results. */
const char *pc_notion_title_for(const pcal_results *results, const pcal_registry_row *notion);
/* The name of the notion of a record, for pages that people read. */
const char *pc_notion_name_for(const pcal_results *results, const pc_result_record *record);

/* Writes a whole number with thousands separators: 10,000. */
void pc_write_count(double count, pc_text *out);

#endif
