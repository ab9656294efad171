/* The plan of a measure: which metrics, which states (slots), which views.
 *
 * Metrics with the same need share a slot; slots with the same view share its columns.  So each
 * row is read, converted and ranked once, however many metrics are measured. */
#ifndef PC_MEASURE_PLAN_H
#define PC_MEASURE_PLAN_H

#include "measure/interval_request.h"

/* One metric. */
typedef struct pc_plan_entry {
  const pc_metric *metric;
  pc_options options;
  pc_metric_config config;
  size_t slot;
} pc_plan_entry;

/* One state. */
typedef struct pc_plan_slot {
  pc_need need;
  const pc_machine *machine;
  size_t view;        /* PC_NO_VIEW: the machine takes whole rows */
  size_t curve;       /* slot of the bucket curve from which this grid is filled after the last
                         pass (refine_curves.h), or PC_NO_SLOT */
  size_t shared_grid; /* slot of the grid from which this one is filled after the last pass
                         (machines/grid_shared.h), or PC_NO_SLOT */
  int replica_cells; /* a bucket curve whose replicas are drawn on cells, which need the ends of
                         bins of equal mass (replicas/score_cells.h) */
} pc_plan_slot;

#define PC_NO_VIEW SIZE_MAX
#define PC_NO_SLOT SIZE_MAX

typedef struct pc_measure_plan {
  pc_layout layout;
  pc_plan_entry *entries;
  size_t entry_count, entry_capacity;
  pc_plan_slot *slots;
  size_t slot_count, slot_capacity;
  pc_view *views;
  size_t view_count, view_capacity;
  size_t reliability_slot; /* for the verdict and the reliability diagram: a grid; a curve for
                              samples and quantiles */
  size_t
      classes_slot; /* for the verdict: the scores of each of two or more classes in 15 bins; or
                              PC_NO_SLOT */
  int stored_scores_only; /* slots are bucket curves of stored scores, or grids filled by one */
  int scores_on_device;   /* the bucket curves are of top scores that stay on a device */
  int needs_log;
  int needs_row_terms;       /* metrics of one-column scores need more than the score itself */
  int needs_rows;            /* whole rows, not only the scores and hits of a view */
  int needs_probs;           /* all probabilities of a row, not only the largest */
  const char *whole_weights; /* a metric that takes only whole weights, or NULL */
  const char *instead;       /* a spec for any weights in its place, or NULL */
  const char *no_weights;    /* a metric that takes no weights, or NULL */
  const char *by_index;      /* a metric that needs distinct row indices, or NULL */
  pc_interval_request intervals;
  size_t rows_slot; /* stored rows, for replicas; or PC_NO_SLOT */
  int soft;         /* rows are shares of rows whose labels are distributions over classes */
} pc_measure_plan;

#define PC_RELIABILITY_BINS 15

/* True if a need reads more than the largest probability of a row. */
int pc_need_all_probs(const pc_need *need);

/* Plans the metrics of `specs`, which may name groups of metrics; count 0: the group "default".
 * A spec given twice is measured once.  A metric that does not fit the layout is an error if it
 * was named, and is left out if it comes from a group.  request NULL: no intervals.  Freed with
 * pc_measure_plan_free. */
PC_CHECKED pcal_status pc_measure_plan_new(const pcal_env *env, const pc_layout *layout,
                                           const pc_interval_request *request,
                                           const char *const *specs, size_t count,
                                           pc_measure_plan *out, pcal_error *err);

/* Sets classes_slot, in which the verdict sees classes one by one.  Of two columns it has the
 * scores of class 1, and is added after the others if no metric has it.  Of more it is the slot of
 * `cwce`, or none: a pass over every probability for the verdict alone would cost too much. */
PC_CHECKED pcal_status pc_measure_plan_judge_classes(const pcal_env *env, pc_measure_plan *plan,
                                                     pcal_error *err);

/* True if an entry is measured again with other weights, or with other labels. */
int pc_measure_plan_resampled(const pc_measure_plan *plan, size_t entry);
int pc_measure_plan_relabelled(const pc_measure_plan *plan, size_t entry);
/* Why an entry cannot be measured with outcomes drawn from the predictions; NULL: it can. */
const char *pc_measure_plan_no_null(const pc_measure_plan *plan, size_t entry);

/* True if an entry is a sum over pairs of rows. */
int pc_measure_plan_pairs_rows(const pc_measure_plan *plan, size_t entry);
void pc_measure_plan_free(const pcal_env *env, pc_measure_plan *plan);

/* Lets grids over every class share a pass (machines/grid_shared.h).  Called before the first
 * row; rows must not have weights. */
void pc_measure_plan_share_grids(pc_measure_plan *plan);

/* True if every metric on a curve slot names the scores (pc_metric.wants) or the cells
 * (pc_metric.cells) that it needs, in one process too; the same for one entry. */
int pc_measure_plan_can_refine(const pc_measure_plan *plan, size_t slot);
int pc_measure_plan_entry_can_refine(const pc_measure_plan *plan, size_t entry);
/* True if an entry fits a logistic regression by sums over all scores (pc_metric.next_point);
 * and if rounds can measure all entries of a slot, by these means. */
int pc_measure_plan_entry_sums_logits(const pc_measure_plan *plan, size_t entry);
int pc_measure_plan_can_round(const pc_measure_plan *plan, size_t slot);
/* True if results are read from the evidence of a slot, not from its rows alone. */
int pc_measure_plan_reads(const pc_measure_plan *plan, size_t slot);

/* True if a metric on the slot joins scores in cells. */
int pc_measure_plan_has_cells(const pc_measure_plan *plan, size_t slot);
/* True if a metric on the slot may want single scores, so that the source is likely to be read
 * again. */
int pc_measure_plan_wants_scores(const pc_measure_plan *plan, size_t slot);

/* True if two plans measure the same. */
int pc_measure_plan_equal(const pc_measure_plan *a, const pc_measure_plan *b);

#endif
