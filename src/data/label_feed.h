/* Labels of a batch that are converted when somebody needs them. */
#ifndef PC_LABEL_FEED_H
#define PC_LABEL_FEED_H

#include "core/error.h"

typedef struct pc_label_feed {
  /* The labels of rows [begin, begin + count); for several threads at once.  NULL: the batch
   * has its labels. */
  pcal_status (*fill)(const void *user, size_t begin, size_t count, int32_t *out,
                      pcal_error *err);
  const void *user;
  int32_t *labels; /* where the batch has room for them */
} pc_label_feed;

/* Makes labels of the batch itself valid; threads may do so for rows of their own. */
static inline pcal_status pc_label_feed_fill(const pc_label_feed *feed, size_t begin,
                                             size_t count, pcal_error *err) {
  return feed->fill == NULL ? PCAL_OK
                            : feed->fill(feed->user, begin, count, feed->labels + begin, err);
}

#endif
