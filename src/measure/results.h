/* The results of a measure: plain records that all writers and figures read. */
#ifndef PC_RESULTS_H
#define PC_RESULTS_H

#include "measure/group_states.h"
#include "measure/interval_request.h"
#include "metrics/target_ranks.h"
#include "stats/class_means.h"
#include "system/threads.h"

/* How the rows behind a result were measured; combined with |. */
typedef enum pc_device_use {
  PC_USE_DEVICE = 1,  /* on a GPU */
  PC_USE_COPY = 2,    /* on the host, after a copy from a GPU */
  PC_USE_HOST = 4,    /* on the host, although a GPU was named for them */
  PC_USE_PAIRS = 8,   /* pairs of rows were compared on a GPU */
  PC_USE_TOO_OLD = 16 /* the GPU or its driver is too old for the kernels */
} pc_device_use;

/* "cuda", "pairs", "copied" or "cpu" (pcal_result.device); NULL: no GPU was used or named. */
const char *pc_device_use_name(unsigned uses);

typedef struct pc_result_record {
  const char *metric; /* name in the registry */
  pcal_notion notion;
  pcal_bound bound;
  pc_view view; /* whose score is measured */
  char spec[PC_SPEC_MAX], label[PC_SPEC_MAX];
  unsigned device_uses; /* of pc_device_use */
  size_t group;         /* PC_ALL_ROWS, or an index into group_names */
  pc_metric_result outcome;
  pc_interval_result interval_result;
  pc_part_interval part_interval_results[PC_PARTS_MAX];
} pc_result_record;

#define PC_ALL_ROWS SIZE_MAX

typedef struct pc_group_record pc_group_record; /* group_records.h */

/* The number of rows in which two compared models differ. */
typedef struct pc_model_difference {
  int known;       /* 0: not compared, or not exchangeable */
  int clusters;    /* `differ` counts clusters, not rows */
  uint64_t differ; /* rows in which the predictions of the two models differ */
} pc_model_difference;

#define PC_MODEL_DIFFERENCE_FEW 10 /* with fewer differing rows a p-value means little */

/* The change of a result from an earlier run (output/baseline.h). */
typedef struct pc_change {
  int known; /* the result can be compared */
  int lost;  /* it has no finite value any more */
  int worse; /* by more than chance */
  double before, low, high;
} pc_change;

/* The verdict in sentences, written when it is first read (output/verdict.h). */
typedef struct pc_verdict_note {
  pc_mutex lock; /* of text */
  char *text;    /* NULL until then */
} pc_verdict_note;

struct pcal_results {
  pcal_env env;
  pc_layout layout;
  uint64_t rows;
  double weight;
  int weighted;
  pcal_weights weights_are; /* PCAL_WEIGHTS_AUTO: no weights */
  double effective;         /* effective sample size (pc_effective_sample_size) */
  uint64_t normalized, skipped;
  int abstains;         /* the source says in which rows the model did not answer */
  uint64_t abstained;   /* their number */
  int soft;             /* labels are distributions over classes */
  const char *notation; /* of text files (pcal_source_notation), or NULL */
  int fast;
  int32_t only_label;             /* the label of all rows if they share one, else -1 */
  pc_result_record *records;      /* over all rows, one for each metric */
  pc_group_record *group_records; /* [group][metric] (group_records.h); read by pc_results_at */
  size_t count;                   /* of results: over all rows first, then group by group */
  size_t metric_count;            /* results of one group */
  pc_bin *bins;                   /* natural view, 15 bins of equal width */
  pcal_bin *public_bins;
  size_t bin_count;
  /* Two columns: bins of class 1, as many as `bins`; the verdict reads them.  Else NULL. */
  pc_bin *class_1_bins;
  pc_class_means class_means; /* more than two columns */
  pc_pit_summary forecast;    /* samples and quantiles only */
  char **class_names;
  size_t class_count;
  char **group_names;
  size_t group_count; /* 0: no groups */
  double *group_weights;
  double level;     /* of intervals */
  double *replicas; /* if paired, else NULL: [metric][replica], the inner value if it has one */
  double *left_out; /* the same for metrics over pairs of rows: [metric][block left out] */
  pc_kept_rows kept;           /* if paired, and not too large */
  pc_model_difference against; /* filled by pc_paired_differences */
  size_t replica_count;
  pc_verdict_note *verdict; /* NULL: the results are not judged */
  pc_change *changes;       /* one for each result, or NULL: not compared with an earlier run */
  char tried[PC_SPEC_MAX];  /* spec of the calibrator that made the predictions, or "" */
  /* Mean of the judged ECE under a null that other results of the same rows have drawn; 0: none. */
  double drawn_chance;
};

/* Copies a list of names; *out is NULL for an empty list.  Freed with pc_name_list_free. */
PC_CHECKED pcal_status pc_name_list_copy(const pcal_env *env, const char *const *names,
                                         size_t count, char ***out, pcal_error *err);
void pc_name_list_free(const pcal_env *env, char **names, size_t count);

/* The natural view: "top" or "positive"; "pit" for regression. */
const char *pc_results_view(const pcal_results *results);

/* The record of result `index`.  For a group it is assembled in *room, which owns nothing. */
const pc_result_record *pc_results_at(const pcal_results *results, size_t index,
                                      pc_result_record *room);

/* The record over all rows of a spec, in any spelling; NULL: not measured. */
const pc_result_record *pc_results_record(const pcal_results *results, const char *spec);

void pc_results_free(pcal_results *results);

#endif
