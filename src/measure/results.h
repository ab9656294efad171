/* What a measure found: plain records that every writer and figure reads. */
#ifndef PC_RESULTS_H
#define PC_RESULTS_H

#include "measure/group_states.h"
#include "measure/interval_request.h"
#include "metrics/target_ranks.h"

typedef struct pc_result_record {
  const char *metric, *notion, *bound; /* from the registry */
  char spec[PC_SPEC_MAX], label[PC_SPEC_MAX];
  size_t group; /* PC_ALL_ROWS, or an index into group_names */
  pc_metric_result outcome;
  pc_interval_result interval_result;
  pc_part_interval part_interval_results[PC_PARTS_MAX];
} pc_result_record;

#define PC_ALL_ROWS SIZE_MAX

typedef struct pc_group_record pc_group_record; /* group_records.h */

/* How far two models that were compared differ at all. */
typedef struct pc_model_difference {
  int known;       /* 0: not compared, or the models could not be exchanged */
  int clusters;    /* `differ` counts clusters, not rows */
  uint64_t differ; /* rows in which the predictions of the two models differ */
} pc_model_difference;

#define PC_MODEL_DIFFERENCE_FEW 10 /* rows that differ, below which a p-value says little */

struct pcal_results {
  pcal_env env;
  pc_layout layout;
  uint64_t rows;
  double weight;
  int weighted;
  pcal_weights weights_are; /* PCAL_WEIGHTS_AUTO: there are none */
  double effective;         /* sample size: for importance weights (sum w)^2 / sum w^2 */
  uint64_t normalized, skipped;
  int fast;
  int32_t only_label;             /* the class of every row when there is just one, else -1 */
  pc_result_record *records;      /* over all rows, one for each metric */
  pc_group_record *group_records; /* group by group (group_records.h); see pc_results_at */
  size_t count;                   /* of results: all rows first, then group by group */
  size_t metric_count;            /* records of one group */
  pc_bin *bins;                   /* natural view, 15 bins of equal width */
  pcal_bin *public_bins;
  size_t bin_count;
  pc_pit_summary forecast; /* of samples and quantiles */
  char **class_names;
  size_t class_count;
  char **group_names;
  size_t group_count; /* 0: not grouped */
  double *group_weights;
  double level;      /* of intervals */
  double *replicas;  /* values of each metric in each replica where paired, else NULL; the inner
                        ones where it has some */
  double *left_out;  /* the same without each block, for metrics over pairs of rows */
  pc_kept_rows kept; /* where paired; none when there are too many */
  pc_model_difference against; /* filled by a comparison */
  size_t replica_count;
  char *verdict;
  char tried[PC_SPEC_MAX]; /* the calibrator that the predictions have passed, or "" */
};

/* Copies a list of names; *out is NULL for an empty list. */
PC_CHECKED pcal_status pc_name_list_copy(const pcal_env *env, const char *const *names,
                                         size_t count, char ***out, pcal_error *err);
void pc_name_list_free(const pcal_env *env, char **names, size_t count);

/* "top" or "positive"; "pit" for regression. */
const char *pc_results_view(const pcal_results *results);

/* The record of a result by its index; that of a group is put together in `room`, and owns
 * nothing. */
const pc_result_record *pc_results_at(const pcal_results *results, size_t index,
                                      pc_result_record *room);

/* The record over all rows for a spec, however abbreviated; NULL when it was not measured. */
const pc_result_record *pc_results_record(const pcal_results *results, const char *spec);

void pc_results_free(pcal_results *results);

#endif
