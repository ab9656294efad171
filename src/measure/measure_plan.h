/* From specs to a plan: which metrics, which states, which views.
 *
 * Metrics with the same need share a state, states with the same view share its columns, so
 * that each row is read, converted and ranked once, however many metrics are asked for. */
#ifndef PC_MEASURE_PLAN_H
#define PC_MEASURE_PLAN_H

#include "measure/interval_request.h"

typedef struct pc_plan_entry {
  const pc_metric *metric;
  pc_options options;
  pc_metric_config reading;
  size_t slot;
} pc_plan_entry;

typedef struct pc_plan_slot {
  pc_need need;
  const pc_machine *machine;
  size_t view; /* PC_NO_VIEW for machines that take whole rows */
  size_t
      curve; /* slot of the coarse curve that fills this grid in the end (refine_curves.h), or
                   PC_NO_SLOT */
  size_t
      twin; /* slot of the grid that fills this one (machines/grid_shared.h), or PC_NO_SLOT */
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
  size_t reliability_slot; /* behind the verdict and the reliability diagram: a grid, or a curve
                              for samples and quantiles */
  int stored; /* nothing but coarse curves of scores as they are stored, and what they fill */
  int needs_log;
  int needs_facts; /* more of a one-column score than the score itself */
  int needs_rows;  /* everything that rows say, not only scores and hits of a view */
  int needs_probs; /* whole rows of probabilities, not only what is known of the top class */
  const char *whole_weights; /* a metric that refuses others, or NULL */
  const char *no_weights;    /* a metric that refuses any, or NULL */
  const char *by_index;      /* a metric that must not meet an index twice, or NULL */
  pc_interval_request certainty;
  size_t keep_slot; /* the rows for replicas, or PC_NO_SLOT */
} pc_measure_plan;

#define PC_RELIABILITY_BINS 15

/* specs may name groups; the same spec asked twice is measured once.  A metric that does not
 * fit the layout is an error when named, and left out when it came with a group. */
PC_CHECKED pcal_status pc_measure_plan_new(const pcal_env *env, const pc_layout *layout,
                                           const pc_interval_request *certainty,
                                           const char *const *specs, size_t count,
                                           pc_measure_plan *out, pcal_error *err);

/* Is an entry measured again with other weights, or with other labels? */
int pc_measure_plan_resampled(const pc_measure_plan *plan, size_t entry);
int pc_measure_plan_relabelled(const pc_measure_plan *plan, size_t entry);
/* Why an entry cannot be measured with outcomes drawn from the predictions, or NULL. */
const char *pc_measure_plan_no_null(const pc_measure_plan *plan, size_t entry);

/* Is an entry made of pairs of rows? */
int pc_measure_plan_pairs_rows(const pc_measure_plan *plan, size_t entry);
void pc_measure_plan_free(const pcal_env *env, pc_measure_plan *plan);

/* Lets grids of all classes fill others where they can.  To be called before the first row, of
 * which none may have a weight. */
void pc_measure_plan_share_grids(pc_measure_plan *plan);

/* Can every metric on a slot with a curve say what it wants to know of it: which scores, or for
 * curves that are refined by reading again also which cells? */
int pc_measure_plan_can_resolve(const pc_measure_plan *plan, size_t slot);
int pc_measure_plan_can_refine(const pc_measure_plan *plan, size_t slot);
int pc_measure_plan_entry_can_refine(const pc_measure_plan *plan, size_t entry);
/* Does any of them look at single scores, for which a curve is mostly read again? */
int pc_measure_plan_wants_scores(const pc_measure_plan *plan, size_t slot);

/* Do two plans measure the same? */
int pc_measure_plan_equal(const pc_measure_plan *a, const pc_measure_plan *b);

#endif
