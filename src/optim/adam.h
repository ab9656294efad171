/* Adam: steps along averaged gradients, each coordinate at its own pace. */
#ifndef PC_ADAM_H
#define PC_ADAM_H

#include "base/memory.h"

typedef struct pc_adam {
  const pcal_env *env;
  size_t count;
  double rate, first, second, least; /* may be changed between steps */
  uint64_t steps;
  double *mean, *square; /* of the gradients */
} pc_adam;

/* With the usual 0.9, 0.999 and 1e-8. */
PC_CHECKED pcal_status pc_adam_new(const pcal_env *env, size_t count, double rate, pc_adam *out,
                                   pcal_error *err);
void pc_adam_free(pc_adam *adam); /* a zeroed one is fine */

void pc_adam_step(pc_adam *adam, const double *gradient, double *parameters);

#endif
