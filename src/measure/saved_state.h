/* Saved states: a measure as bytes.
 *
 * The bytes depend on the rows, their indices and the configuration; not on threads, batches or
 * merges.  All numbers are little-endian; texts, sums and doubles as in base/codec.c. */
#ifndef PC_SAVED_STATE_H
#define PC_SAVED_STATE_H

#include "base/envelope.h"
#include "base/text.h"
#include "measure/measure.h"

#define PC_STATE_MAGIC "PCALSTAT"
#define PC_STATE_MAGIC_BYTES PC_ENVELOPE_MAGIC_BYTES
#define PC_STATE_VERSION 5 /* lower versions were never released */
#define PC_STATE_HEAD_BYTES PC_ENVELOPE_HEAD_BYTES
#define PC_STATE_METRICS_MAX 10000

enum {
  PC_STATE_NORMALIZE = 1,
  PC_STATE_SKIP_MISSING = 2,
  PC_STATE_FAST = 4,       /* some rows were measured in fast precision */
  PC_STATE_FAST_ASKED = 8, /* fast precision was requested, but no row used it */
  PC_STATE_FLAGS = 15      /* all of them */
};
enum { PC_STATE_UNGROUPED = 0, PC_STATE_GROUPED = 1, PC_STATE_GROUPING_UNKNOWN = 2 };

extern const pc_envelope pc_state_envelope;

/* Writes the bytes to `sink`.  PCAL_USAGE: the state of a metric cannot be saved. */
PC_CHECKED pcal_status pc_state_save(const pcal_measure *measure, pcal_sink sink, void *user,
                                     pcal_error *err);

/* Creates a measure from bytes.  PCAL_DATA: they are not a state, are truncated or damaged, or
 * were written by a newer version; the message begins with `name`. */
PC_CHECKED pcal_status pc_state_load(const void *bytes, size_t length, const char *name,
                                     const pcal_env *env, pcal_measure **out, pcal_error *err);

/* The same for a state whose plan was changed by `adapt` (or NULL) before its first row. */
PC_CHECKED pcal_status pc_state_load_adapted(const void *bytes, size_t length, const char *name,
                                             void (*adapt)(pc_measure_plan *plan),
                                             const pcal_env *env, pcal_measure **out,
                                             pcal_error *err);

/* See pcal_measure_describe. */
void pc_state_describe(const pcal_measure *measure, pc_text *out);

#endif
