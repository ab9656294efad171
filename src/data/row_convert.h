/* Conversion of a chunk of a batch into a scratch: shared by row_convert.c, convert_logits.c
 * and convert_forecasts.c. */
#ifndef PC_ROW_CONVERT_H
#define PC_ROW_CONVERT_H

#include <string.h>

#include "data/row_check.h"
#include "device/device.h"

typedef struct pc_row_convert {
  const pcal_batch *batch;
  const pc_layout *layout;
  const pc_row_policy *policy;
  const pc_scratch *scratch;
  pc_row_counts *counts;
  size_t kept; /* rows kept in the scratch so far */
} pc_row_convert;

static inline const char *pc_row_convert_at(const pcal_batch *batch, size_t position) {
  return (const char *)batch->scores + (ptrdiff_t)position * batch->row_stride;
}

static inline double pc_row_convert_load(const pcal_batch *batch, const char *at) {
  if (batch->type == PCAL_F32) {
    float value;
    memcpy(&value, at, sizeof value);
    return (double)value;
  }
  double value;
  memcpy(&value, at, sizeof value);
  return value;
}

/* True if the scores are contiguous, aligned floats, which kernels can read in place. */
static inline int pc_row_convert_has_floats(const pcal_batch *batch) {
  return batch->type == PCAL_F32 && batch->column_stride == sizeof(float) &&
         (uintptr_t)batch->scores % sizeof(float) == 0 &&
         batch->row_stride % (ptrdiff_t)sizeof(float) == 0;
}

static inline void pc_row_convert_load_row(const pcal_batch *batch, size_t position,
                                           double *out) {
  const char *at = pc_row_convert_at(batch, position);
  if (pc_row_convert_has_floats(batch)) {
    const float *flat = (const float *)(const void *)at;
    for (size_t j = 0; j < batch->columns; j++)
      out[j] = (double)flat[j];
    return;
  }
  for (size_t j = 0; j < batch->columns; j++, at += batch->column_stride)
    out[j] = pc_row_convert_load(batch, at);
}

/* ids[i] = first + i. */
static inline void pc_row_convert_number(uint64_t first, size_t count, uint64_t *ids) {
  for (size_t i = 0; i < count; i++)
    ids[i] = first + i;
}

static inline int pc_row_convert_keeps_probs(const pc_row_convert *convert) {
  return convert->policy->probs == PC_PROBS_FILLED || convert->layout->classes <= 2 ||
         convert->layout->form != PC_FORM_CLASSES;
}

/* True if scores are used in place, not copied. */
static inline int pc_row_convert_in_place(const pc_row_convert *convert) {
  return convert->policy->scores >= PC_SCORES_IN_PLACE && convert->layout->kind == PCAL_LOGIT &&
         convert->layout->columns > 1 && pc_row_convert_has_floats(convert->batch);
}

/* Begins a row: checks label and weight (edge cases 1 and 2 of row_check.h). */
PC_CHECKED pcal_status pc_row_convert_begin(const pc_row_convert *convert, size_t position,
                                            pc_checked_row *row, pcal_error *err);

/* Counts the row, and keeps it unless it is missing or has weight 0. */
void pc_row_convert_end(pc_row_convert *convert, const pc_checked_row *row);

/* The logarithm of a probability; numbers below 0 count as 0. */
double pc_row_convert_log(double p);

/* Fills the columns of a row of probabilities, except log_true.  py: that of the label. */
void pc_row_convert_prob_facts(const pc_row_convert *convert, int32_t label, double py,
                               const pc_prob_row_facts *found);

/* If all labels are valid and there are no weights, copies labels, groups and indices of all
 * rows and returns 1: the rows then need no check of their own.  Otherwise returns 0. */
int pc_row_convert_keep_labels(const pc_row_convert *convert, size_t begin, size_t count);

/* Checks a prediction of a number whose row is loaded: edge cases 1 to 4 of convert_forecasts.c. */
PC_CHECKED pcal_status pc_convert_forecasts_check(pc_checked_row *row, double *numbers,
                                                  pcal_error *err);

/* Rows [begin, begin + count) of regression. */
PC_CHECKED pcal_status pc_convert_forecasts(pc_row_convert *convert, size_t begin, size_t count,
                                            pcal_error *err);

/* The same for samples of several numbers: rows of distances. */
PC_CHECKED pcal_status pc_convert_vectors(pc_row_convert *convert, size_t begin, size_t count,
                                          pcal_error *err);

/* Rows [begin, begin + count) of logits whose softmax a device has computed; the columns begin with
 * row `begin`. */
PC_CHECKED pcal_status pc_convert_device_rows(pc_row_convert *convert,
                                              const pc_device_softmax *softmax, size_t begin,
                                              size_t count, pcal_error *err);

/* Rows [begin, begin + count) of logits in several columns. */
PC_CHECKED pcal_status pc_convert_logits(pc_row_convert *convert, size_t begin, size_t count,
                                         pcal_error *err);

#endif
