/* Rows of logits of every kind, their probabilities by the kernels of the CPU, and the columns that
 * pc_row_sums_* writes for them: for tests of sums over every class. */
#ifndef GPU_CLASS_ROWS_H
#define GPU_CLASS_ROWS_H

#include "base/rng.h"
#include "kernels/dispatch.h"

#define ROWS 901
#define CLASSES_MAX 260

typedef struct test_rows {
  size_t classes;
  float z[ROWS * CLASSES_MAX];
  double doubles[ROWS * CLASSES_MAX], probs[ROWS * CLASSES_MAX];
  double total[ROWS], largest[ROWS];
  int32_t labels[ROWS];
  int64_t wide_labels[ROWS];
  uint8_t short_labels[ROWS];
} test_rows;

static test_rows data;

/* Row r is usual, extreme, with ties, all equal, or confident. */
static inline void draw(size_t classes) {
  const pc_rng rng = {31, classes};
  memset(&data, 0, sizeof data);
  data.classes = classes;
  for (size_t r = 0; r < ROWS; r++) {
    for (size_t j = 0; j < classes; j++) {
      const double normal = pc_rng_normal(&rng, r * classes + j);
      data.z[r * classes + j] = (float)(r % 5 == 0         ? 3 * normal
                                        : r % 5 == 1       ? 300 * normal
                                        : r % 5 == 2       ? floor(normal)
                                        : r % 5 == 3       ? -0.5
                                        : j == r % classes ? 30.0
                                                           : normal);
      data.doubles[r * classes + j] = (double)data.z[r * classes + j];
    }
    data.labels[r] = (int32_t)(r % 4 == 0 ? (r * 7) % classes : r % classes);
    data.wide_labels[r] = data.labels[r];
    data.short_labels[r] = (uint8_t)data.labels[r];
  }
}

/* Probabilities by the kernels of the CPU, and the columns that pc_row_sums_* writes. */
static inline void convert(void) {
  const size_t k = data.classes;
  for (size_t r = 0; r < ROWS; r++) {
    pc_softmax_facts facts;
    double *probs = data.probs + r * k, rest = 0;
    pc_kernels_best()->row->softmax_f32(data.z + r * k, k, probs, &facts);
    for (size_t j = 0; j < k; j++) /* the order of narrow rows */
      rest += j == facts.top ? 0.0 : probs[j];
    rest = k > PC_NARROW_CLASSES ? facts.rest : rest;
    for (size_t j = 0; j < k; j++)
      probs[j] =
          k > PC_NARROW_CLASSES ? probs[j] * (1.0 / (1.0 + rest)) : probs[j] / (1.0 + rest);
    data.total[r] = (size_t)data.labels[r] == facts.top ? 1.0 + rest : -(1.0 + rest);
    data.largest[r] = facts.max;
  }
}

#endif
