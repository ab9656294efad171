/* Sources: the rows of a data set, from files, arrays and Arrow data. */
#ifndef PC_SOURCE_H
#define PC_SOURCE_H

#include "base/memory.h"
#include "base/sum.h"
#include "data/lazy_labels.h"
#include "io/source_derived.h"

/* As the pcal_source functions of propercal.h; arguments must not be NULL. */
PC_CHECKED pcal_status pc_source_open(const pcal_inputs *inputs, const pcal_env *env,
                                      pcal_source **out, pcal_error *err);
PC_CHECKED pcal_status pc_source_next(pcal_source *source, size_t max_rows, pcal_batch *batch,
                                      pcal_error *err);
/* The same, but labels may be left unconverted; *lazy_labels converts them on demand while the
 * window is valid. */
PC_CHECKED pcal_status pc_source_next_lazy(pcal_source *source, size_t max_rows,
                                           pcal_batch *batch, pc_lazy_labels *lazy_labels,
                                           pcal_error *err);
/* Counts the rows of a source from 0 if PCAL_FIRST_ROW_AUTO has placed them. */
void pc_source_count_from_zero(pcal_source *source);

PC_CHECKED pcal_status pc_source_rewind(pcal_source *source, pcal_error *err);

/* Fails if the rows cannot be a part of a larger data set, since weights depend on all of them. */
PC_CHECKED pcal_status pc_source_check_parts(const pcal_source *source, pcal_error *err);
/* A source of derived rows; it owns neither its base nor the data of the step. */
PC_CHECKED pcal_status pc_source_derive(const pc_source_derived *derived, const pcal_env *env,
                                        pcal_source **out, pcal_error *err);
/* A source over a batch owned by the caller; names are copied. */
PC_CHECKED pcal_status pc_source_borrow(const pcal_batch *batch, const char *const *class_names,
                                        const pcal_env *env, pcal_source **out,
                                        pcal_error *err);
/* Gives back the pages of mapped files, with all threads of env, when the rows will not be
 * read again soon. */
void pc_source_forget_pages(const pcal_source *source, const pcal_env *env);
void pc_source_free(pcal_source *source);
void pc_source_shape(const pcal_source *source, pcal_shape *shape);

/* The name of the column or array of a data file that a field was found in, or NULL. */
const char *pc_source_data_column(const pcal_source *source, const char *field);

/* As pcal_source_notation of propercal.h. */
const char *pc_source_notation(const pcal_source *source);

/* True if rows may have different numbers of choices. */
int pc_source_is_ragged(const pcal_source *source);
/* Gives rows with different numbers of choices at least so many columns; the others are choices
 * that no row has.  Other sources, and those with names of classes, stay as they are. */
PC_CHECKED pcal_status pc_source_widen(pcal_source *source, size_t columns, pcal_error *err);

/* From now on importance weights are returned in units of effective rows, until they are restored
 * (source_weights.c); *meaning is that of the weights, PCAL_WEIGHTS_AUTO if there are none.  Reads
 * all rows when first called.  A source derived from one with scaled weights has these. */
PC_CHECKED pcal_status pc_source_scale_weights(pcal_source *source, pcal_weights *meaning,
                                               pcal_error *err);
void pc_source_restore_weights(pcal_source *source);

/* True if the source has abstentions; *count is set to their number in a whole pass. */
int pc_source_abstentions(const pcal_source *source, uint64_t *count);

/* Labels that are distributions over classes (source_soft.c).  Reading them fails unless they are
 * allowed; with clusters each row of the data is a group, unless groups were given. */
int pc_source_is_soft(const pcal_source *source);
void pc_source_allow_soft(pcal_source *source);
PC_CHECKED pcal_status pc_source_check_soft(const pcal_source *source, pcal_error *err);
void pc_source_use_soft_clusters(pcal_source *source);
/* Rows of the data, after a pass over all of them. */
uint64_t pc_source_soft_rows(const pcal_source *source);
/* Rows of the last pass with a label and a weight above 0, and the sum of their squared weights. */
uint64_t pc_source_soft_kept(const pcal_source *source, pc_sum *square);

/* True if groups were given as an input of their own: in comparisons they are clusters. */
int pc_source_has_given_groups(const pcal_source *source);

/* True if the scores are 16-bit floats, and are passed on as they are. */
int pc_source_has_float16(const pcal_source *source);

/* True if batches have their scores in the memory of a device; that device. */
int pc_source_on_device(const pcal_source *source);
pcal_device *pc_source_holder(const pcal_source *source);

/* The device that the inputs name, or NULL.  The second function is true if it names one for rows
 * of logits or probabilities, so that pc_source_upload copies them there. */
pcal_device *pc_source_device(const pcal_source *source);
int pc_source_uploads(const pcal_source *source);

/* Copies the scores of a window of pc_source_next_lazy to the device that the inputs name: the
 * batch is then one of that device until the next window.  Other batches stay as they are. */
PC_CHECKED pcal_status pc_source_upload(pcal_source *source, pcal_batch *batch,
                                        pcal_error *err);

#endif
