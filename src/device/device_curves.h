/* Sorted scores of every class on a GPU, in two passes: class_curves_body.h. */
#ifndef PC_DEVICE_CURVES_H
#define PC_DEVICE_CURVES_H

#include "device/class_curves.h"
#include "device/device.h"

/* Most buckets of all classes, most segments, and most scores that the second pass lists. */
#define PC_DEVICE_CURVE_BUCKETS ((size_t)6 << 20)
#define PC_DEVICE_CURVE_SEGMENTS ((size_t)1 << 19)
#define PC_DEVICE_CURVE_LISTED ((size_t)1 << 22)

/* What a pass over the rows of a batch is to find. */
typedef struct pc_device_curves {
  pc_class_curves curves; /* the caller fills rule and buckets */
  int normalize;          /* of probabilities: as in pc_row_policy */
  /* Second pass, on the host: as in pc_class_curves; NULL: first pass. */
  const uint16_t *segment;
  const uint32_t *first;
  size_t segments;
} pc_device_curves;

/* Receives what a pass has found, which is valid until it returns: counts, or words. */
typedef pcal_status (*pc_device_receive_counts)(void *user, const uint32_t *counts,
                                                pcal_error *err);
typedef pcal_status (*pc_device_receive_words)(void *user, const uint64_t *words,
                                               pcal_error *err);
/* Receives some of the listed scores. */
typedef pcal_status (*pc_device_receive_listed)(void *user, const double *scores,
                                                const uint32_t *places, size_t count,
                                                pcal_error *err);

typedef struct pc_device_curves_found {
  pc_device_receive_counts counts; /* of the first pass; the others of the second */
  pc_device_receive_words words;
  pc_device_receive_listed listed;
  void *user;
} pc_device_curves_found;

int pc_device_has_class_curves(const pcal_device *device, pcal_type type);

/* A pass over the rows of a batch.  *done is 0, and nothing is received, if a row must be checked by the
 * host, or if there is no memory or too much to list. */
PC_CHECKED pcal_status pc_device_class_curves(pcal_device *device, const pcal_batch *batch,
                                              const pc_device_labels *labels,
                                              pc_device_curves *curves,
                                              const pc_device_curves_found *found, int *done,
                                              pcal_error *err);

#endif
