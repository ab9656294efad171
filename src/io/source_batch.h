/* A source over one batch of arrays owned by the caller. */
#ifndef PC_SOURCE_BATCH_H
#define PC_SOURCE_BATCH_H

#include "base/memory.h"

/* Zeroed: not in use. */
typedef struct pc_source_batch {
  int used;
  pcal_batch batch; /* all rows; its names are owned */
  char *names[5];   /* of scores, labels, weights, groups and spread; owned, or NULL */
  char **class_names;
  size_t position; /* next row */
} pc_source_batch;

/* Fails if the batch is invalid or memory is exhausted; then nothing needs freeing. */
PC_CHECKED pcal_status pc_source_batch_open(const pcal_batch *batch,
                                            const char *const *class_names, const pcal_env *env,
                                            pc_source_batch *out, pcal_error *err);
void pc_source_batch_free(const pcal_env *env, pc_source_batch *borrowed);

void pc_source_batch_next(pc_source_batch *borrowed, size_t max_rows, pcal_batch *out);
void pc_source_batch_shape(const pc_source_batch *borrowed, pcal_shape *out);

#endif
