/* Random rows in packs, and pairs of rows in long double. */
#ifndef PAIR_HELP_H
#define PAIR_HELP_H

#include "../unit.h"

#include "base/rng.h"
#include "kernels/pair_rows.h"

typedef struct pair_sample {
  size_t count, classes;
  double *probs; /* row after row */
  int32_t *labels;
  double *weights;
  void *block;
  pc_pair_rows rows;
} pair_sample;

/* Puts the current rows into packs. */
static inline void pair_sample_lay(pair_sample *sample) {
  free(sample->block);
  sample->block = malloc(pc_pair_rows_bytes(sample->count, sample->classes));
  sample->rows = pc_pair_rows_in(sample->block, sample->count, sample->classes);
  for (size_t i = 0; i < sample->count; i++)
    pc_pair_rows_add(&sample->rows, sample->probs + i * sample->classes, sample->labels[i],
                     sample->weights[i]);
  pc_pair_rows_close(&sample->rows);
}

/* Probabilities from normal logits of a spread, labels in `runs` runs of equal ones, weights
 * 1, or 1 to 4 when weighted. */
static inline pair_sample pair_sample_make(size_t count, size_t classes, double spread,
                                           size_t runs, int weighted) {
  const pc_rng rng = {count, classes};
  pair_sample sample = {.count = count, .classes = classes};
  sample.probs = malloc(count * classes * sizeof(double));
  sample.labels = malloc(count * sizeof(int32_t));
  sample.weights = malloc(count * sizeof(double));
  for (size_t i = 0; i < count; i++) {
    double sum = 0.0, *p = sample.probs + i * classes;
    for (size_t c = 0; c < classes; c++)
      sum += p[c] = exp(spread * pc_rng_normal(&rng, i * classes + c));
    for (size_t c = 0; c < classes; c++)
      p[c] /= sum;
    sample.labels[i] = (int32_t)(i * runs / count * 7 % classes);
    sample.weights[i] = weighted ? (double)(1 + i % 4) : 1.0;
  }
  pair_sample_lay(&sample);
  return sample;
}

static inline void pair_sample_free(pair_sample *sample) {
  free(sample->probs);
  free(sample->labels);
  free(sample->weights);
  free(sample->block);
}

static inline long double pair_distance(const pair_sample *sample, size_t i, size_t j, int tv) {
  long double square = 0, variation = 0;
  for (size_t c = 0; c < sample->classes; c++) {
    const long double gap = (long double)sample->probs[i * sample->classes + c] -
                            sample->probs[j * sample->classes + c];
    square += gap * gap;
    variation += fabsl(gap);
  }
  return tv ? variation / 2 : sqrtl(square);
}

static inline long double pair_kernel(long double distance, int gaussian, double scale) {
  const long double d = distance / scale;
  return expl(gaussian ? -d * d / 2 : -d);
}

/* <e_y - p, e_z - q> with the unit vectors written out. */
static inline long double pair_inner(const pair_sample *sample, size_t i, size_t j) {
  long double inner = 0;
  for (size_t c = 0; c < sample->classes; c++) {
    const size_t k = sample->classes;
    inner += (((size_t)sample->labels[i] == c) - (long double)sample->probs[i * k + c]) *
             (((size_t)sample->labels[j] == c) - (long double)sample->probs[j * k + c]);
  }
  return inner;
}

static inline long double pair_h(const pair_sample *sample, size_t i, size_t j, int tv,
                                 int gaussian, double scale) {
  return pair_kernel(pair_distance(sample, i, j, tv), gaussian, scale) *
         pair_inner(sample, i, j);
}

#endif
