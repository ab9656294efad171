/* Calibrators judged on rows that they were not fitted to: fitted to a second set, or fold by
 * fold in cross-validation. */
#ifndef PC_HELD_OUT_H
#define PC_HELD_OUT_H

#include <stdatomic.h>

#include "compare/memory_source.h"
#include "compare/recalibrated_source.h"
#include "measure/results.h"

typedef struct pc_held_out {
  const pcal_env *env;
  pcal_source *source; /* rows to judge on */
  pcal_source *val;    /* rows to fit on, or NULL: cross-validation on source */
  pc_folds folds;      /* of the cross-validation; 1 fold with a second set */
  int normalize, skip_missing;
  const pc_memory_source
      *kept;       /* the rows of source: folds are then fitted side by side; or NULL */
  double deadline; /* moment of pc_clock_seconds at which fits are ended, or 0 */
} pc_held_out;

/* Fits one calibrator for each fold into out; the caller frees them, also after a failure.
 * Convex fits of later folds start from the result of the first.  Ends with PCAL_INTERRUPTED
 * after the deadline. */
PC_CHECKED pcal_status pc_held_out_fit(const pc_held_out *held_out, const char *method,
                                       pcal_calibrator **out, pcal_error *err);
/* The first fold, and then the others. */
PC_CHECKED pcal_status pc_held_out_fit_first(const pc_held_out *held_out, const char *method,
                                             pcal_calibrator **out, pcal_error *err);
PC_CHECKED pcal_status pc_held_out_fit_others(const pc_held_out *held_out, const char *method,
                                              pcal_calibrator **out, pcal_error *err);

/* The same rows for one task among several: a source of its own on the kept rows, and one
 * thread.  Must not move while it is open. */
typedef struct pc_held_out_alone {
  pc_held_out held_out; /* for the other functions */
  const pc_held_out *given;
  pcal_env env;
  struct pc_held_out_watch {
    const pcal_env
        *given; /* whose callbacks are called; NULL on threads other than the caller's */
    double deadline;
    atomic_int *stop; /* set when one task was interrupted */
    size_t fold, folds;
    uint64_t done; /* progress that was reported last */
  } watch;
} pc_held_out_alone;

/* worker: of the task; *stop is shared by all tasks.  Close it also after a failure. */
PC_CHECKED pcal_status pc_held_out_alone_open(const pc_held_out *given, size_t worker,
                                              atomic_int *stop, pc_held_out_alone *out,
                                              pcal_error *err);
void pc_held_out_alone_close(pc_held_out_alone *alone);
/* Fits and measures as pc_held_out_fit_first and pc_held_out_measure do, and one later fold;
 * what they return keeps nothing of the task. */
PC_CHECKED pcal_status pc_held_out_alone_fit(pc_held_out_alone *alone, const char *method,
                                             size_t fold, pcal_calibrator **out,
                                             pcal_error *err);
PC_CHECKED pcal_status pc_held_out_alone_measure(pc_held_out_alone *alone,
                                                 pcal_calibrator *const *calibrators,
                                                 const pcal_measure_config *config,
                                                 pcal_results **out, pcal_error *err);

/* True if the rows are kept, so that tasks can share them. */
int pc_held_out_is_kept(const pc_held_out *held_out);

/* Opens the rows of source from the first on, each mapped by the calibrator of its fold.  Close
 * out even after a failure. */
PC_CHECKED pcal_status pc_held_out_open(const pc_held_out *held_out,
                                        pcal_calibrator *const *calibrators,
                                        pc_recalibrated_source *out, pcal_error *err);

/* Measures those rows. */
PC_CHECKED pcal_status pc_held_out_measure(const pc_held_out *held_out,
                                           pcal_calibrator *const *calibrators,
                                           const pcal_measure_config *config,
                                           pcal_results **out, pcal_error *err);

#endif
