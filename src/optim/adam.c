/* Formula:  m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,
 *           x = x - rate m' / (sqrt(v') + least),  m' = m / (1 - b1^t),  v' = v / (1 - b2^t).
 * Edge case: 1. a coordinate whose gradient is not finite is unchanged.
 * Source:   Kingma & Ba, ICLR 2015, algorithm 1.
 * Cost:     one pass over the parameters. */
#include "optim/adam.h"

#include <math.h>

#include "base/elementary.h"

pcal_status pc_adam_new(const pcal_env *env, size_t count, double rate, pc_adam *out,
                        pcal_error *err) {
  *out = (pc_adam){
      .env = env, .count = count, .rate = rate, .first = 0.9, .second = 0.999, .least = 1e-8};
  out->mean = pc_alloc(env, 2 * count, sizeof *out->mean);
  out->square = out->mean == NULL ? NULL : out->mean + count;
  return out->mean == NULL ? pc_fail_memory(err, "preparing a search") : PCAL_OK;
}

void pc_adam_free(pc_adam *adam) {
  if (adam->mean != NULL)
    pc_free(adam->env, adam->mean);
  *adam = (pc_adam){0};
}

void pc_adam_step(pc_adam *adam, const double *gradient, double *parameters) {
  adam->steps++;
  const double mean_share = 1.0 - pc_pow(adam->first, (double)adam->steps);
  const double square_share = 1.0 - pc_pow(adam->second, (double)adam->steps);
  for (size_t i = 0; i < adam->count; i++) {
    const double g = gradient[i];
    if (!isfinite(g))
      continue;
    adam->mean[i] = adam->first * adam->mean[i] + (1.0 - adam->first) * g;
    adam->square[i] = adam->second * adam->square[i] + (1.0 - adam->second) * g * g;
    parameters[i] -= adam->rate * (adam->mean[i] / mean_share) /
                     (sqrt(adam->square[i] / square_share) + adam->least);
  }
}
