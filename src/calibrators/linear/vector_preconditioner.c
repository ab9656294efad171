/* Formula:  block of class k = mean of p_k (1 - p_k) [x_k^2, x_k; x_k, 1].
 * Edge cases:
 *   1. 1e-8 of the largest entry is added to diagonals.
 *   2. A block that is nearly singular is replaced by its diagonal.
 *   3. All p are 0 or 1: the preconditioner is the identity. */
#include "calibrators/linear/vector_preconditioner.h"

#include <math.h>

#define VECTOR_PRECONDITIONER_LEAST 1e-8
#define VECTOR_PRECONDITIONER_SOUND 1e-12

pcal_status pc_vector_preconditioner_new(const pcal_env *env, size_t classes,
                                         pc_vector_preconditioner *out, pcal_error *err) {
  *out = (pc_vector_preconditioner){.classes = classes};
  out->blocks = pc_alloc(env, classes, 3 * sizeof(double));
  return out->blocks == NULL ? pc_fail_memory(err, "preparing a search") : PCAL_OK;
}

static void vector_preconditioner_invert(const double from[3], double least, double out[3]) {
  const double bb = from[0] + least, wb = from[1], ww = from[2] + least;
  const double determinant = bb * ww - wb * wb;
  const int sound = determinant > VECTOR_PRECONDITIONER_SOUND * bb * ww;
  out[0] = sound ? ww / determinant : 1.0 / bb;
  out[1] = sound ? -wb / determinant : 0.0;
  out[2] = sound ? bb / determinant : 1.0 / ww;
}

void pc_vector_preconditioner_set(pc_vector_preconditioner *preconditioner,
                                  const double *class_variances) {
  double largest = 0.0;
  for (size_t i = 0; i < 3 * preconditioner->classes; i++)
    largest = fmax(largest, i % 3 == 1 ? 0.0 : class_variances[i]);
  const double least = largest > 0.0 ? VECTOR_PRECONDITIONER_LEAST * largest : 1.0;
  for (size_t c = 0; c < preconditioner->classes; c++)
    vector_preconditioner_invert(class_variances + 3 * c, least,
                                 preconditioner->blocks + 3 * c);
}

void pc_vector_preconditioner_apply(const pc_vector_preconditioner *preconditioner,
                                    double *parameters) {
  const size_t k = preconditioner->classes;
  for (size_t c = 0; c < k; c++) {
    const double w = parameters[c], b = parameters[k + c],
                 *block = preconditioner->blocks + 3 * c;
    parameters[c] = block[2] * w + block[1] * b;
    parameters[k + c] = block[1] * w + block[0] * b;
  }
}
