/* The rows of row_calls.h: a few rows for each kind of data.  Sources are freed by the caller. */
#ifndef CALL_SOURCES_H
#define CALL_SOURCES_H

#include "row_calls.h"

#define CALL_ROWS 96
#define CALL_CLASSES 3
#define CALL_REPLICAS 20

/* If set, the rows of all sources below come through a step that fails where this returns nonzero. */
extern int (*call_reading)(void *user);
extern void *call_reading_user;
/* Frees what is behind those steps, when the sources are freed. */
void call_sources_release(void);

extern const pcal_kind call_kinds[];
extern const size_t call_columns[];

/* Weighted rows in two groups without names; not for quantiles. */
pcal_batch call_batch(call_data data);
/* The same as a source. */
pcal_status call_source(call_data data, const pcal_env *env, pcal_source **out,
                        pcal_error *err);
/* Without groups and weights. */
pcal_status call_plain_source(call_data data, const pcal_env *env, pcal_source **out,
                              pcal_error *err);
/* Classes, or answers, in groups with names; PCAL_USAGE for numbers. */
pcal_status call_named_source(call_data data, const pcal_env *env, pcal_source **out,
                              pcal_error *err);
/* Two models on the same rows; call_models_free frees their sources, after a failure too. */
pcal_status call_models(call_data data, const pcal_env *env, pcal_model models[2],
                        pcal_error *err);
void call_models_free(pcal_model models[2]);
/* PCAL_OK for a format or target that a row does not have. */
pcal_status call_unless_refused(pcal_status status);

#endif
