/* Random rows of several classes, and what the binned family makes of them, computed plainly.
 */
#ifndef CLASS_ROWS_H
#define CLASS_ROWS_H

#include "../measure/measure_help.h"
#include "base/rng.h"

#define CLASS_ROWS_MAX 600
#define CLASS_MAX 6

typedef struct class_rows {
  size_t rows, classes;
  double probs[CLASS_ROWS_MAX * CLASS_MAX], weights[CLASS_ROWS_MAX];
  int32_t labels[CLASS_ROWS_MAX];
} class_rows;

/* Probabilities in steps of 1/64 when `coarse`, so that there are many ties; labels are drawn
 * from other probabilities than those claimed. */
static inline void class_rows_draw(uint64_t stream, size_t rows, size_t classes, int coarse,
                                   class_rows *out) {
  const pc_rng rng = {77, stream}, other = {78, stream};
  out->rows = rows;
  out->classes = classes;
  for (size_t i = 0; i < rows; i++) {
    double *p = out->probs + i * classes, sum = 0;
    for (size_t j = 0; j < classes; j++) {
      p[j] = exp(4 * pc_rng_uniform(&rng, i * classes + j));
      sum += p[j];
    }
    double left = 1;
    for (size_t j = 0; j < classes; j++) {
      p[j] = coarse ? floor(p[j] / sum * 64) / 64 : p[j] / sum;
      left -= p[j];
    }
    p[i % classes] += coarse ? left : 0;
    double u = pc_rng_uniform(&other, i);
    size_t label = 0;
    for (; label + 1 < classes && u > 0.5 * (p[label] + 1.0 / (double)classes); label++)
      u -= 0.5 * (p[label] + 1.0 / (double)classes);
    out->labels[i] = (int32_t)label;
    out->weights[i] = (double)(1 + pc_rng_bits(&other, i + 10000) % 3);
  }
}

static inline given_data class_rows_given(const class_rows *from) {
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = from->rows,
                      .columns = from->classes,
                      .scores = from->probs,
                      .labels = from->labels};
}

static inline size_t class_rows_top(const class_rows *from, size_t row) {
  const double *p = from->probs + row * from->classes;
  size_t top = 0;
  for (size_t j = 1; j < from->classes; j++)
    top = p[j] > p[top] ? j : top;
  return top;
}

/* Scores and outcomes of one slice. */
typedef struct class_slice {
  double score[CLASS_ROWS_MAX * CLASS_MAX];
  int hit[CLASS_ROWS_MAX * CLASS_MAX];
  size_t count;
} class_slice;

static inline void class_slice_add(class_slice *slice, double score, int hit,
                                   double threshold) {
  if (threshold > 0 && !(score > threshold))
    return;
  slice->score[slice->count] = score;
  slice->hit[slice->count++] = hit;
}

static inline int class_compare(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return left < right ? -1 : left > right;
}

#endif
