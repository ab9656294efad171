/* Sums over pairs of rows, shared by skce, kce, skce-test and the U-scores. */
#ifndef PC_SKCE_H
#define PC_SKCE_H

#include "metrics/metric.h"

/* The options kernel, distance and scale, in this order. */
#define PC_SKCE_KERNEL_OPTIONS                                                \
  {"kernel",                                                                  \
   PCAL_OPTION_CHOICE,                                                        \
   "exponential",                                                             \
   0,                                                                         \
   0,                                                                         \
   "exponential|gaussian",                                                    \
   "exp(-d/s) or exp(-(d/s)^2 / 2), d: distance, s: scale; gaussian with tv " \
   "is not positive definite for more than two classes"},                     \
      {"distance",                                                            \
       PCAL_OPTION_CHOICE,                                                    \
       "euclidean",                                                           \
       0,                                                                     \
       0,                                                                     \
       "euclidean|tv",                                                        \
       "distance of probability vectors: Euclidean, or half the sum of "      \
       "absolute differences"},                                               \
  {                                                                           \
    "scale", PCAL_OPTION_REAL, "1", 1e-9, 1e9, "median",                      \
        "divisor of distances; median: their median over all pairs"           \
  }

/* The kernel k(p, q) of two probability vectors. */
typedef struct pc_skce_kernel {
  int gaussian, tv;
  double scale; /* 0: the median distance of all pairs */
} pc_skce_kernel;

/* Reads the kernel from the values of those three options. */
pc_skce_kernel pc_skce_kernel_read(const pc_option_value *value);

/* Sets out->value to the mean of h_ij = k(p_i, p_j) <e_{y_i} - p_i, e_{y_j} - p_j> over i <
 * j or, with all_pairs, over all i and j; and out->inner to the mean over i < j.  Undefined
 * if the median distance is 0, and for fewer than two rows, except with all_pairs and a
 * given scale. */
PC_CHECKED pcal_status pc_skce_pairs(const pc_skce_kernel *kernel, int all_pairs,
                                     const pc_evidence *evidence, const pcal_env *env,
                                     pc_metric_result *out, pcal_error *err);

/* The kernel and size of blocks; the value of a block is the mean of h over its pairs. */
typedef struct pc_skce_blocks {
  size_t rows; /* of a block */
  int tv, gaussian;
  double scale;
} pc_skce_blocks;

/* Fills the need for block sums; weights and duplicate row indices are refused. */
void pc_skce_read_blocks(const pc_skce_blocks *blocks, pc_metric_config *config);

#endif
