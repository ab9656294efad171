/* A measure: a plan, the states of its groups, and the pass over the rows. */
#ifndef PC_MEASURE_H
#define PC_MEASURE_H

#include "data/group_rows.h"
#include "data/pass.h"
#include "data/row_fingerprint.h"
#include "device/device_scores.h"
#include "measure/results.h"
#include "measure/row_ranges.h"

/* The states of one thread during an update. */
typedef struct pc_measure_worker {
  int ready;
  pc_group_rows group_rows;
  pc_view_columns *columns; /* by view; NULL until rows are converted */
  pc_row_fingerprint rows;  /* if the measure has one */
  pc_group_states groups;
} pc_measure_worker;

struct pcal_measure {
  pcal_env env;
  pc_measure_plan plan;
  pc_pass pass;
  pc_group_states groups;
  pc_row_ranges seen;
  pc_row_ranges saved; /* those of them that came from saved states; has no groups */
  uint64_t normalized, skipped;
  int weighted;
  int fast;               /* some rows were measured in fast precision */
  int fast_on_device;     /* rows of the present batch were, on a device */
  int fractional;         /* some weight is not a whole number */
  int weights_are;        /* pcal_weights as given, or PC_WEIGHTS_EXPECTED */
  int grouped;            /* rows have groups; -1: no rows yet */
  int identified;         /* rows have ids; -1: no rows yet */
  size_t dimensions;      /* of samples of several targets; 0: no rows yet, or other kinds */
  char weights_name[256]; /* prefix of messages about weights, or "" */
  pc_measure_worker *workers;
  char **class_names;
  size_t class_count;
  char **group_names;
  size_t group_name_count;
  int fingerprinted;            /* rows are added to `rows`; set before the first row */
  pc_row_fingerprint rows;      /* not saved with the state */
  pc_group_hashes group_hashes; /* of the batch that is added, for the fingerprint; borrowed */
  const struct pc_group_tally *tallies; /* of replicas, in place of rows (rounds.h); borrowed */
  size_t tally_count;
  int from_rounds; /* intervals and nulls come from tallies, or there are none */
  int curves;      /* results keep their plot tables */
  int loaded;      /* from a saved state */
  /* By slot: 1 if a device adds rows to it itself; and pc_device_use bits of the rows so far. */
  uint8_t *slots_on_device, *slot_uses;
  /* By stage: the slots that rows passed on are not for, in the memory of slots_on_device;
   * NULL: none. */
  const uint8_t *slots_on_stage[PC_STAGE_FULL + 1];
  int totals_on_device; /* a device has added the totals of the rows that are passed on */
  pcal_device *device;  /* of the rows while their source is open; else NULL */
  void *device_stream;  /* of the last of those rows */
  pc_device_scores device_scores; /* of those rows, if the plan has them on a device */
  char *origin;                   /* the name of that state, or NULL */
};

PC_CHECKED pcal_status pc_measure_new(const pcal_measure_config *config, const pcal_env *env,
                                      pcal_measure **out, pcal_error *err);
void pc_measure_free(pcal_measure *measure);

/* True if weights are importance weights: each row is then one unit.  Known after the last
 * row. */
int pc_measure_rows_are_units(const pcal_measure *measure);

/* Adds the rows of a batch.  On failure the measure is unchanged. */
PC_CHECKED pcal_status pc_measure_update(pcal_measure *measure, const pcal_batch *batch,
                                         pcal_error *err);
/* The same for a caller that frees the measure on failure.  This is faster: rows stay in the
 * states of the workers until pc_measure_settle.
 * labels: fills in the labels of the batch. */
PC_CHECKED pcal_status pc_measure_add_window(pcal_measure *measure, const pcal_batch *batch,
                                             const pc_lazy_labels *labels, pcal_error *err);
PC_CHECKED pcal_status pc_measure_settle(pcal_measure *measure, pcal_error *err);
PC_CHECKED pcal_status pc_measure_merge(pcal_measure *measure, const pcal_measure *other,
                                        pcal_error *err);
PC_CHECKED pcal_status pc_measure_set_names(pcal_measure *measure,
                                            const char *const *class_names, size_t class_count,
                                            const char *const *group_names, size_t group_count,
                                            pcal_error *err);

/* Records that rows were measured on the host although their source names a device. */
void pc_measure_note_host(pcal_measure *measure, const pcal_device *device);

/* Fingerprints the rows; called before the first one. */
void pc_measure_use_fingerprint(pcal_measure *measure);

/* The results without the verdict; freed with pc_results_free. */
PC_CHECKED pcal_status pc_measure_finish(const pcal_measure *measure, pcal_results **out,
                                         pcal_error *err);
/* The same with the state of all groups together, or NULL to merge it from those of the
 * groups. */
PC_CHECKED pcal_status pc_measure_finish_total(const pcal_measure *measure,
                                               const pc_group_state *total, pcal_results **out,
                                               pcal_error *err);

#endif
