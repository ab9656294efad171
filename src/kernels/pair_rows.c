#include <math.h>

#include "kernels/pair_rows.h"

#define PAIR_ROWS_ALIGNMENT 64 /* a load of eight doubles then never crosses a cache line */

static size_t pair_rows_padded(size_t rows) {
  return (rows + PC_LANES - 1) / PC_LANES * PC_LANES;
}

size_t pc_pair_rows_bytes(size_t capacity, size_t classes) {
  const size_t row = (classes + 2) * sizeof(double) + sizeof(int32_t);
  if (classes > SIZE_MAX / 16 || capacity > (SIZE_MAX / 2) / row)
    return 0;
  return pair_rows_padded(capacity) * row + PAIR_ROWS_ALIGNMENT;
}

pc_pair_rows pc_pair_rows_in(void *block, size_t capacity, size_t classes) {
  const size_t padded = pair_rows_padded(capacity);
  const size_t off = (size_t)((uintptr_t)block % PAIR_ROWS_ALIGNMENT);
  char *start = (char *)block + (off == 0 ? 0 : PAIR_ROWS_ALIGNMENT - off);
  pc_pair_rows rows = {.classes = classes, .probs = (double *)(void *)start};
  rows.halves = rows.probs + padded * classes;
  rows.weights = rows.halves + padded;
  rows.labels = (int32_t *)(void *)(rows.weights + padded);
  return rows;
}

static void pair_rows_put(pc_pair_rows *rows, size_t at, const double *probs, size_t stride) {
  double *to = rows->probs + at / PC_LANES * rows->classes * PC_LANES + at % PC_LANES;
  for (size_t c = 0; c < rows->classes; c++)
    to[c * PC_LANES] = probs[c * stride];
}

void pc_pair_rows_add(pc_pair_rows *rows, const double *probs, int32_t label, double weight) {
  const size_t at = rows->count++;
  pair_rows_put(rows, at, probs, 1);
  rows->labels[at] = label;
  rows->weights[at] = weight;
}

/* Lengths of the rows of a pack, and bounds of their distances. */
static void pair_rows_measure(pc_pair_rows *rows, size_t pack, double *low, double *square,
                              double *sum) {
  const double *p = rows->probs + pack * rows->classes * PC_LANES;
  double squares[PC_LANES] = {0.0}, sums[PC_LANES] = {0.0};
  for (size_t c = 0; c < rows->classes; c++, p += PC_LANES)
    for (size_t l = 0; l < PC_LANES; l++) {
      squares[l] += p[l] * p[l];
      sums[l] += fabs(p[l]);
      *low = p[l] < *low ? p[l] : *low;
    }
  for (size_t l = 0; l < PC_LANES; l++) {
    rows->halves[pack * PC_LANES + l] = 0.5 * squares[l];
    *square = squares[l] > *square ? squares[l] : *square;
    *sum = sums[l] > *sum ? sums[l] : *sum;
  }
}

/* |p - q|^2 <= |p|^2 + |q|^2 unless a probability is below 0;  TV(p, q) <= (|p|_1 + |q|_1)/2 */
void pc_pair_rows_close(pc_pair_rows *rows) {
  const size_t padded = pair_rows_padded(rows->count);
  double low = 0.0, square = 0.0, sum = 0.0;
  for (size_t at = rows->count; at < padded; at++) {
    pair_rows_put(rows, at, pc_pair_prob(rows, rows->count - 1, 0), PC_LANES);
    rows->labels[at] = rows->labels[rows->count - 1];
    rows->weights[at] = 0.0;
  }
  for (size_t pack = 0; pack < padded / PC_LANES; pack++)
    pair_rows_measure(rows, pack, &low, &square, &sum);
  rows->reach = sqrt((low < 0.0 ? 4.0 : 2.0) * square);
  rows->reach_tv = sum;
}
