/* Metrics on random subsets of growing size, for one model or several. */
#ifndef PC_SIZE_SWEEP_H
#define PC_SIZE_SWEEP_H

#include "studies/subset_metrics.h"

/* Ten sizes, equally spaced in their logarithm, and how many subsets of each: 2 (100 - 11 i)^2,
 * as published. */
#define PC_SIZE_STEPS 10
#define PC_SIZE_STEPS_MAX 17
#define PC_SIZE_SMALLEST 100

typedef struct pc_sizes {
  size_t count;
  size_t rows[PC_SIZE_STEPS_MAX];    /* ascending; the last is the number of all rows */
  size_t repeats[PC_SIZE_STEPS_MAX]; /* subsets of each */
} pc_sizes;

/* Chooses the sizes for a set of `all_rows` rows: the row counts of the job or, without any, ten
 * from `smallest` on. */
PC_CHECKED pcal_status pc_sizes_make(const pc_study_job *job, size_t all_rows, size_t smallest,
                                     pc_sizes *out, pcal_error *err);

/* The mean of a metric over the subsets of one size. */
typedef struct pc_size_value {
  double mean, error; /* NaN where it is undefined in some subset */
  size_t undefined;   /* subsets */
  char why[PC_SUBSET_REASON_MAX];
} pc_size_value;

/* A model or, to study improvements, a model before and after a calibrator. */
typedef struct pc_size_case {
  char name[PC_TABLE_WORD_MAX];
  const pc_study_probs *data, *after; /* set only while it is measured */
  pc_sizes sizes;
  pc_size_value *values; /* metric by metric, size by size */
} pc_size_case;

typedef struct pc_size_sweep pc_size_sweep;

/* A sweep over sizes, for all cases. */
struct pc_size_sweep {
  const pc_study_job *job;
  const char *const *specs;
  size_t spec_count;
  int squared; /* squares of errors; scores as they are */
  int apart;   /* cases are not averaged */
  int improvements;
  char (*metrics)[PC_TABLE_WORD_MAX];
  size_t metric_count; /* known after the first case */
  pc_size_case *cases;
  size_t case_count;
  /* Fills the findings.  NULL: pc_size_sweep_report. */
  pcal_status (*report)(const pc_size_sweep *plan, pc_findings *findings, pcal_error *err);
  void *user;
};

/* Fills one case, by pc_size_sweep_measure. */
typedef pcal_status (*pc_size_sweep_fill)(pc_size_sweep *plan, size_t index, pcal_error *err);

/* Measures all cases of a sweep whose job, specs and case_count are set, and fills the findings. */
PC_CHECKED pcal_status pc_size_sweep_run(pc_size_sweep *plan, pc_size_sweep_fill fill,
                                         pc_findings *findings, pcal_error *err);

/* Measures a case whose data are set, at its sizes or, if it has none, at those of pc_sizes_make.
 * Subsets depend on the seed, their size and the number of rows only, so that models of the same
 * rows share them. */
PC_CHECKED pcal_status pc_size_sweep_measure(pc_size_sweep *plan, pc_size_case *out,
                                             pcal_error *err);

const pc_size_value *pc_size_value_at(const pc_size_case *from, size_t metric, size_t size);

/* Adds a sentence for each metric that was left out at a size. */
void pc_size_sweep_report_left_out(const pc_size_sweep *plan, pc_findings *findings);

/* Adds a table of all cases and, unless they are apart, one of their means, with sentences about
 * metrics left out and about the smallest size compared with all rows. */
PC_CHECKED pcal_status pc_size_sweep_report(const pc_size_sweep *plan, pc_findings *findings,
                                            pcal_error *err);

/* Columns of both tables. */
#define PC_SIZE_COLUMN_MODEL "model"
#define PC_SIZE_COLUMN_METRIC "metric"
#define PC_SIZE_COLUMN_ROWS "rows"
#define PC_SIZE_COLUMN_MEAN "mean"
#define PC_SIZE_COLUMN_ERROR "standard_error"
#define PC_SIZE_COLUMN_RELATIVE "relative"
#define PC_SIZE_COLUMN_RELATIVE_ERROR "relative_error"

#endif
