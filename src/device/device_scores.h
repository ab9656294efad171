/* Top scores that stay on a GPU between the passes of a measure, so that curves are counted and
 * refined there: curve/bucket_curve.h with the kernels of score_buckets_body.h. */
#ifndef PC_DEVICE_SCORES_H
#define PC_DEVICE_SCORES_H

#include "device/device.h"
#include "device/score_buckets.h"

/* Most rows whose scores stay there: 8 bytes each, which the device keeps for the next measure. */
#define PC_DEVICE_SCORES_ROWS (((uint64_t)1 << 24) - 1)

/* The scores of the rows of one source. */
typedef struct pc_device_scores {
  uint64_t room; /* rows of the source; 0: scores do not stay */
  uint64_t rows; /* on the device so far: pc_device_row_sums with `keep` adds them */
  uint64_t
      ticket;   /* of the device's memory; it changes when another measure takes it.  0: none */
  void *stream; /* of the last rows */
} pc_device_scores;

int pc_device_has_scores(const pcal_device *device);

/* Most targets, and parts of all targets, of one search. */
#define PC_DEVICE_TARGETS ((size_t)1 << 13)
#define PC_DEVICE_PARTS ((size_t)1 << 15)

/* A later pass: its targets, as in pc_score_targets. */
typedef struct pc_device_search {
  const pc_score_target *list;
  size_t count;                         /* at most PC_DEVICE_TARGETS */
  size_t parts;                         /* at most PC_DEVICE_PARTS */
  int keeps;                            /* some target is of PC_SCORE_KEEP */
  double cells;                         /* 2^level, of PC_SCORE_CELLS */
  uint32_t wanted[PC_SCORE_MASK];       /* a bit for each bucket */
  uint32_t reach[PC_SCORE_BUCKETS + 1]; /* by bucket */
} pc_device_search;

/* Receives totals, as those of pc_row_sums; the words of all parts, as in score_buckets.h. */
typedef pcal_status (*pc_device_receive_totals)(void *user, const double *totals, size_t count,
                                                pcal_error *err);
typedef pcal_status (*pc_device_receive_parts)(void *user, const uint64_t *words,
                                               pcal_error *err);

/* What a search finds. */
typedef struct pc_device_found {
  pc_device_receive_totals kept,
      all; /* scores of PC_SCORE_KEEP; or all, if those are too many */
  pc_device_receive_parts parts;
  void *user;
} pc_device_found;

/* Passes on what is in the targets; search NULL: all totals.  *done is 0, and nothing is passed on, if
 * the totals are not there any more. */
PC_CHECKED pcal_status pc_device_scores_search(pcal_device *device,
                                               const pc_device_scores *scores,
                                               const pc_device_search *search,
                                               const pc_device_found *found, int *done,
                                               pcal_error *err);

#endif
