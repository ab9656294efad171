/* Measuring: a plan, a ledger, and the pass over the rows. */
#ifndef PC_MEASURE_H
#define PC_MEASURE_H

#include "data/pass.h"
#include "measure/results.h"
#include "measure/row_ranges.h"

/* What one thread gathers during an update. */
typedef struct pc_measure_worker {
  int ready;
  pc_scratch group_scratch;
  pc_view_columns *columns; /* one for each view */
  size_t *positions;
  pc_group_states ledger;
} pc_measure_worker;

struct pcal_measure {
  pcal_env env;
  pc_measure_plan plan;
  pc_pass pass;
  pc_group_states ledger;
  pc_row_ranges census;
  uint64_t normalized, skipped;
  int weighted;
  int fast;               /* some rows were measured in fast precision */
  int fractional;         /* some weight is not a whole number */
  int weights_are;        /* pcal_weights as given, or PC_WEIGHTS_EXPECTED */
  int grouped;            /* -1 until the first rows tell */
  int identified;         /* do rows have ids?  -1: no rows yet */
  char weights_name[256]; /* for sentences */
  pc_measure_worker *workers;
  char **class_names;
  size_t class_count;
  char **group_names;
  size_t group_name_count;
  int curves;   /* results keep their graphs */
  int loaded;   /* from a saved state */
  char *origin; /* the name of that state, or NULL */
};

PC_CHECKED pcal_status pc_measure_new(const pcal_measure_config *config, const pcal_env *env,
                                      pcal_measure **out, pcal_error *err);
void pc_measure_free(pcal_measure *measure);

/* What the weights are, known when all rows were seen: are rows the units? */
int pc_measure_rows_are_units(const pcal_measure *measure);

/* On failure the measure is as it was before. */
PC_CHECKED pcal_status pc_measure_update(pcal_measure *measure, const pcal_batch *batch,
                                         pcal_error *err);
/* The same for a measure that is freed on failure: rows may wait with the workers, which is
 * faster, until they are settled.  feed fills the labels of the batch. */
PC_CHECKED pcal_status pc_measure_add_window(pcal_measure *measure, const pcal_batch *batch,
                                             const pc_lazy_labels *feed, pcal_error *err);
PC_CHECKED pcal_status pc_measure_settle(pcal_measure *measure, pcal_error *err);
PC_CHECKED pcal_status pc_measure_merge(pcal_measure *measure, const pcal_measure *other,
                                        pcal_error *err);
PC_CHECKED pcal_status pc_measure_set_names(pcal_measure *measure,
                                            const char *const *class_names, size_t class_count,
                                            const char *const *group_names, size_t group_count,
                                            pcal_error *err);

/* Everything but the verdict. */
PC_CHECKED pcal_status pc_measure_finish(const pcal_measure *measure, pcal_results **out,
                                         pcal_error *err);

#endif
