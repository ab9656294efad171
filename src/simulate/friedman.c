/* Formula:  y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise,
 *           x1 ... x10 uniform in (0, 1), noise normal with mean 0 and standard deviation, or
 *           variance, 0.5 + x6
 * Source:   Friedman, Annals of Statistics 19, 1991; the noise: Gruber & Buettner 2022, appendix
 *           G.5.2, where the text uses the variance and the code the standard deviation. */
#include "simulate/friedman.h"

#include <math.h>

#include "base/elementary.h"
#include "base/rng.h"

#define FRIEDMAN_PI 3.14159265358979323846

double pc_friedman_mean(const double x[PC_FRIEDMAN_INPUTS]) {
  return 10.0 * pc_sin(FRIEDMAN_PI * x[0] * x[1]) + 20.0 * (x[2] - 0.5) * (x[2] - 0.5) +
         10.0 * x[3] + 5.0 * x[4];
}

void pc_friedman(uint64_t seed, uint64_t stream, size_t rows, int as_variance, double *inputs,
                 double *targets) {
  const pc_rng rng = {seed, stream};
  const size_t draws = PC_FRIEDMAN_INPUTS + 1;
  for (size_t i = 0; i < rows; i++) {
    double *x = inputs + i * PC_FRIEDMAN_INPUTS;
    for (size_t j = 0; j < PC_FRIEDMAN_INPUTS; j++)
      x[j] = pc_rng_uniform(&rng, i * draws + j);
    const double spread = as_variance ? sqrt(0.5 + x[5]) : 0.5 + x[5];
    targets[i] = pc_friedman_mean(x) + spread * pc_rng_normal(&rng, i * draws + draws - 1);
  }
}
