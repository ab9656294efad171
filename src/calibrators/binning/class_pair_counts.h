/* Weights of pairs of classes (predicted class, label): memory for those that occur. */
#ifndef PC_CLASS_PAIR_COUNTS_H
#define PC_CLASS_PAIR_COUNTS_H

#include "base/memory.h"
#include "base/sum.h"

/* A hash table with open addressing; begin with a zeroed one. */
typedef struct pc_class_pair_counts {
  struct pc_class_pair_cell {
    uint64_t key; /* pair + 1, or 0 if the cell is free */
    pc_fixed weight;
  } * cells;
  size_t count, capacity; /* a power of 2 */
} pc_class_pair_counts;

PC_CHECKED pcal_status pc_class_pair_counts_add(const pcal_env *env,
                                                pc_class_pair_counts *counts, uint64_t pair,
                                                double weight, pcal_error *err);
PC_CHECKED pcal_status pc_class_pair_counts_merge(const pcal_env *env,
                                                  pc_class_pair_counts *into,
                                                  const pc_class_pair_counts *from,
                                                  pcal_error *err);
void pc_class_pair_counts_free(const pcal_env *env, pc_class_pair_counts *counts);

/* All pairs in ascending order, and their weights: arrays of `count`.  The caller frees *pairs,
 * whose block holds both.  Pairs must be below 2^53. */
PC_CHECKED pcal_status pc_class_pair_counts_list(const pcal_env *env,
                                                 const pc_class_pair_counts *counts,
                                                 double **pairs, double **weights,
                                                 pcal_error *err);

#endif
