/* Calls of the public interface on a few rows of data, one for everything that rows of the registry do.
 * The laws make them fail at every place (fault_sweep.h). */
#ifndef ROW_CALLS_H
#define ROW_CALLS_H

#include "propercal.h"

typedef enum call_data {
  CALL_LOGITS,
  CALL_BINARY,
  CALL_CONFIDENCES,
  CALL_NORMALS,
  CALL_SAMPLES,
  CALL_VECTORS,
  CALL_QUANTILES,
  CALL_DATA_COUNT
} call_data;

/* What a call is about; the caller fills it. */
typedef struct row_call {
  call_data data;
  const char *name; /* spec of the row */
  pcal_sink sink;   /* receives everything that is written */
  void *sink_user;
} row_call;

/* Frees everything that it makes.  PCAL_USAGE or PCAL_DATA: the row is not for this data. */
typedef pcal_status (*row_call_function)(const pcal_env *env, const row_call *call,
                                         pcal_error *err);

/* A metric with intervals, null and curves: written in every format, against earlier results. */
pcal_status call_metric(const pcal_env *env, const row_call *call, pcal_error *err);
/* The same metric of two models, with the differences and a plan for them. */
pcal_status call_difference(const pcal_env *env, const row_call *call, pcal_error *err);
/* A metric whose state is described, saved, loaded, and merged. */
pcal_status call_state(const pcal_env *env, const row_call *call, pcal_error *err);
/* A metric, or a calibrator, by rounds, in groups with names. */
pcal_status call_rounds(const pcal_env *env, const row_call *call, pcal_error *err);
pcal_status call_rounds_fit(const pcal_env *env, const row_call *call, pcal_error *err);
pcal_status call_watch(const pcal_env *env, const row_call *call, pcal_error *err);
/* The rows, inspected as text and JSON. */
pcal_status call_inspect(const pcal_env *env, const row_call *call, pcal_error *err);
/* A file of rows, measured and inspected; `name` is one of call_file_names, `data` is not used. */
pcal_status call_file(const pcal_env *env, const row_call *call, pcal_error *err);
extern const char *const call_file_names[]; /* ends with NULL */
/* A calibrator: fitted, described, saved, loaded, applied, exported. */
pcal_status call_calibrator(const pcal_env *env, const row_call *call, pcal_error *err);
/* The same, with a calibrator for each group. */
pcal_status call_calibrator_by_group(const pcal_env *env, const row_call *call,
                                     pcal_error *err);
pcal_status call_figure(const pcal_env *env, const row_call *call, pcal_error *err);
pcal_status call_figure_of_groups(const pcal_env *env, const row_call *call, pcal_error *err);
pcal_status call_figure_of_models(const pcal_env *env, const row_call *call, pcal_error *err);
/* Seven models: each has a panel of its own where they do not fit into one. */
pcal_status call_figure_of_many_models(const pcal_env *env, const row_call *call,
                                       pcal_error *err);
/* A figure of recalibrated rows, with a second set. */
pcal_status call_figure_recalibrated(const pcal_env *env, const row_call *call,
                                     pcal_error *err);
pcal_status call_study(const pcal_env *env, const row_call *call, pcal_error *err);
/* A report about a calibrator that is fitted by cross-validation. */
pcal_status call_report(const pcal_env *env, const row_call *call, pcal_error *err);
/* A report whose calibrator is the best of a comparison on other rows; `name` is a metric. */
pcal_status call_report_chosen(const pcal_env *env, const row_call *call, pcal_error *err);
/* The page for a paper about predicted risks; `name` is a metric. */
pcal_status call_report_clinical(const pcal_env *env, const row_call *call, pcal_error *err);
/* A comparison of one method. */
pcal_status call_compare(const pcal_env *env, const row_call *call, pcal_error *err);
/* A comparison of two models, with all methods that suit them; `name` ranks. */
pcal_status call_compare_models(const pcal_env *env, const row_call *call, pcal_error *err);

#endif
