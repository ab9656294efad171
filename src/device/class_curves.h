/* Arguments and results of the kernels of class_curves_body.h, shared by the host, the GPU and tests. */
#ifndef PC_CLASS_CURVES_H
#define PC_CLASS_CURVES_H

#include "device/class_bins.h"
#include "kernels/bin_index.h"

/* The first pass over sorted scores of every class: rows in buckets.  Addresses are of the GPU. */
typedef struct pc_class_curves {
  pc_class_bins bins; /* rows; no grids, no words */
  pc_class_bucket_rule rule;
  uint32_t buckets; /* of a class */
  uint32_t *counts; /* first pass, out: [class][bucket], which begin as 0 */
  /* Second pass: [class][bucket] its segment in the class, PC_CLASS_CURVES_WANTED added if its scores are
   * listed; the first segment of each class. */
  const uint16_t *segment;
  const uint32_t *first;
  uint64_t *words;  /* out: results of each segment, below, which begin as 0 */
  double *scores;   /* out: those that are listed, in any order */
  uint32_t *places; /* out: of each, 2 * class + hit */
  uint32_t *listed; /* out: their number, also if it exceeds the room; begins as 0 */
  uint32_t room;
} pc_class_curves;

#define PC_CLASS_CURVES_WANTED 0x8000U /* PC_CLASS_WANTED of curve/class_sums.h */

/* Sums of scores are in units of 2^-61; the high words in units of 2^32 of those. */
enum {
  PC_CLASS_CURVES_SCORE,
  PC_CLASS_CURVES_SCORE_HIGH,
  PC_CLASS_CURVES_HITS,
  PC_CLASS_CURVES_HIT,
  PC_CLASS_CURVES_HIT_HIGH,
  PC_CLASS_CURVES_WORDS
};

#endif
