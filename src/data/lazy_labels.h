/* Labels of a batch that are converted on demand. */
#ifndef PC_LAZY_LABELS_H
#define PC_LAZY_LABELS_H

#include "base/error.h"

typedef struct pc_lazy_labels {
  /* Writes the labels of rows [begin, begin + count) to out; may be called from several threads
   * at once.  NULL: the batch already has its labels. */
  pcal_status (*fill)(const void *user, size_t begin, size_t count, int32_t *out,
                      pcal_error *err);
  const void *user;
  int32_t *labels; /* array of the batch that receives them */
  /* Labels that are still in the memory of a device, in the order of `stream`; NULL: they are not.
   * `fill` copies them. */
  const void *on_device;
  const pcal_device *device;
  const void *stream;
  uint32_t size; /* bytes of each: 8, 4 (signed) or 1 (unsigned) */
} pc_lazy_labels;

/* Converts labels into the array of the batch; threads may do so for disjoint rows. */
static inline pcal_status pc_lazy_labels_fill(const pc_lazy_labels *labels, size_t begin,
                                              size_t count, pcal_error *err) {
  return labels->fill == NULL
             ? PCAL_OK
             : labels->fill(labels->user, begin, count, labels->labels + begin, err);
}

#endif
