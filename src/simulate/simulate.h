/* Simulated predictions whose true class probabilities are known. */
#ifndef PC_SIMULATE_H
#define PC_SIMULATE_H

#include "base/error.h"

/* Fills rows x classes logits (row-major), labels and, where not NULL, the true class
 * probabilities.  The seed is that of the environment (NULL: default); threads do not change bits.
 * Fails on numbers out of bounds, logits beyond float32, lack of memory, or interruption. */
PC_CHECKED pcal_status pc_simulate(const pcal_simulation *sim, const pcal_env *env,
                                   float *logits, int32_t *labels, double *truth,
                                   pcal_error *err);

#endif
