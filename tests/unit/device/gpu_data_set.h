/* Simulated logits, labels, weights and groups for tests of rows on a GPU. */
#ifndef GPU_DATA_SET_H
#define GPU_DATA_SET_H

#include "base/rng.h"
#include "gpu_fixture.h"

#define ROWS 700

/* Metrics that the GPU adds up. */
static const char *const additive[] = {
    "accuracy",      "brier",        "rbs",
    "log",           "ece",          "mce",
    "log:clip=0.01", "ece:bins=100", "ece:convention=guo2017"};

typedef struct data_set {
  float *logits;
  int32_t *labels;
  double *weights;
  uint32_t *groups;
  size_t classes;
} data_set;

static inline data_set simulate(size_t classes) {
  const pc_rng rng = {5, classes};
  data_set data = {malloc(ROWS * classes * sizeof(float)), malloc(ROWS * sizeof(int32_t)),
                   malloc(ROWS * sizeof(double)), malloc(ROWS * sizeof(uint32_t)), classes};
  for (size_t i = 0; i < ROWS * classes; i++)
    data.logits[i] = (float)(3 * pc_rng_normal(&rng, i));
  for (size_t r = 0; r < ROWS; r++) {
    size_t top = 0;
    for (size_t j = 1; j < classes; j++)
      top = data.logits[r * classes + j] > data.logits[r * classes + top] ? j : top;
    data.labels[r] = (int32_t)(r % 4 == 0 ? r % classes : top);
    data.weights[r] = (double)(r % 3);
    data.groups[r] = (uint32_t)(r % 2);
  }
  return data;
}

static inline void forget(data_set *data) {
  free(data->logits);
  free(data->labels);
  free(data->weights);
  free(data->groups);
}

#endif
