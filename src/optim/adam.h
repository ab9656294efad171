/* The Adam optimiser. */
#ifndef PC_ADAM_H
#define PC_ADAM_H

#include "base/memory.h"

typedef struct pc_adam {
  const pcal_env *env;
  size_t count;
  double rate, first, second,
      least; /* step size, decay rates, denominator offset; may be changed between steps */
  uint64_t steps;
  double *mean, *square; /* running means of the gradient and its square */
} pc_adam;

/* first = 0.9, second = 0.999, least = 1e-8. */
PC_CHECKED pcal_status pc_adam_new(const pcal_env *env, size_t count, double rate, pc_adam *out,
                                   pcal_error *err);
void pc_adam_free(pc_adam *adam); /* a zeroed struct is allowed */

void pc_adam_step(pc_adam *adam, const double *gradient, double *parameters);

#endif
