/* A source over arrays that somebody else keeps alive. */
#ifndef PC_BORROWED_H
#define PC_BORROWED_H

#include "core/memory.h"

/* Zeroed: not in use. */
typedef struct pc_borrowed {
  int used;
  pcal_batch batch; /* all rows; its names are owned */
  char *names[5];   /* of scores, labels, weights, groups and spread, or NULL */
  char **class_names;
  size_t position; /* rows given out */
} pc_borrowed;

/* Fails when the batch cannot be one, or without memory; then nothing is left to free. */
PC_CHECKED pcal_status pc_borrowed_open(const pcal_batch *batch, const char *const *class_names,
                                        const pcal_env *env, pc_borrowed *out, pcal_error *err);
void pc_borrowed_free(const pcal_env *env, pc_borrowed *borrowed);

void pc_borrowed_next(pc_borrowed *borrowed, size_t max_rows, pcal_batch *out);
void pc_borrowed_shape(const pc_borrowed *borrowed, pcal_shape *out);

#endif
