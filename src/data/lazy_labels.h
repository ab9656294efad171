/* Labels of a batch that are converted when somebody needs them. */
#ifndef PC_LAZY_LABELS_H
#define PC_LAZY_LABELS_H

#include "base/error.h"

typedef struct pc_lazy_labels {
  /* The labels of rows [begin, begin + count); for several threads at once.  NULL: the batch
   * has its labels. */
  pcal_status (*fill)(const void *user, size_t begin, size_t count, int32_t *out,
                      pcal_error *err);
  const void *user;
  int32_t *labels; /* where the batch has room for them */
} pc_lazy_labels;

/* Makes labels of the batch itself valid; threads may do so for rows of their own. */
static inline pcal_status pc_lazy_labels_fill(const pc_lazy_labels *feed, size_t begin,
                                              size_t count, pcal_error *err) {
  return feed->fill == NULL ? PCAL_OK
                            : feed->fill(feed->user, begin, count, feed->labels + begin, err);
}

#endif
