/* The kernel calibration error's h for one tile.
 *
 * Formula:  <e_y - p, e_z - q> = [y = z] - p_z - q_y + <p, q>,  so labels need no one-hot
 * vectors; the distance is taken from direct differences, which keeps it exact for equal rows.
 * Cost: 2 K multiplications and one exp for each pair. */
#include "kernels/pair_tile.h"

#include <math.h>

double pc_skce_tile(const pc_pair_rows *rows, size_t i0, size_t i1, size_t j0, size_t j1) {
  const size_t k = rows->classes;
  double total = 0.0;
  for (size_t i = i0; i < i1; i++) {
    const double *p = rows->probs + i * k;
    const size_t y = (size_t)rows->labels[i];
    double sum = 0.0;
    for (size_t j = j0 > i + 1 ? j0 : i + 1; j < j1; j++) {
      const double *q = rows->probs + j * k;
      const size_t z = (size_t)rows->labels[j];
      double square = 0.0, dot = 0.0;
      for (size_t c = 0; c < k; c++) {
        const double gap = p[c] - q[c];
        square += gap * gap;
        dot += p[c] * q[c];
      }
      const double inner = (y == z ? 1.0 : 0.0) - p[z] - q[y] + dot;
      sum += rows->weights[j] * exp(-sqrt(square)) * inner;
    }
    total += rows->weights[i] * sum;
  }
  return total;
}

double pc_skce_self(const pc_pair_rows *rows, size_t i) {
  const double *p = rows->probs + i * rows->classes;
  double square = 0.0;
  for (size_t c = 0; c < rows->classes; c++) {
    const double gap = ((size_t)rows->labels[i] == c ? 1.0 : 0.0) - p[c];
    square += gap * gap;
  }
  return square;
}
