/* Compact storage of the results of groups.
 *
 * A pc_result_record takes some kilobytes.  Records over all rows, one for each metric, are
 * kept whole; for a group only the differences from them are stored. */
#ifndef PC_GROUP_RECORDS_H
#define PC_GROUP_RECORDS_H

#include "measure/results.h"

struct pc_group_record {
  double value, p_value;
  int undefined, tested;
  char *why;        /* or NULL */
  pcal_part *parts; /* followed by the names of parts that are named by a number */
  size_t part_count;
  pc_interval_result *interval_result;     /* NULL: no interval, null or difference */
  pc_part_interval *part_interval_results; /* by part, or NULL */
  double *class_values;
  size_t class_count;
  pc_plot_table *graph; /* NULL: none */
};

/* Stores the records of a group, one for each metric, in the results, which take over class
 * values and graphs. */
PC_CHECKED pcal_status pc_group_records_keep(pcal_results *results, size_t group,
                                             pc_result_record *records, pcal_error *err);
void pc_group_records_free(pcal_results *results);

/* The stored record of result `index`; NULL for results over all rows. */
const pc_group_record *pc_group_record_at(const pcal_results *results, size_t index);

#endif
