#include "measure/replicas/row_moments.h"

#include <math.h>

#include "measure/replicas/draws.h"

unsigned pc_row_lattice_bits(double weight) {
  int above = 0; /* weight < 2^above */
  if (!(weight >= PC_ROW_LATTICE_LEAST) || !isfinite(weight))
    return 0;
  (void)frexp(weight, &above);
  const int bits = 52 - above;
  return bits < 1                         ? 0
         : bits > PC_ROW_LATTICE_BITS_MAX ? PC_ROW_LATTICE_BITS_MAX
                                          : (unsigned)bits;
}

double pc_row_lattice(unsigned bits) {
  return bits == 0 ? 0.0 : ldexp(1.5, 52 - (int)bits);
}

unsigned pc_kept_lattice_bits(const pc_kept_rows *rows) {
  double weight = 0.0;
  if (rows->copies == NULL || rows->clusters != NULL)
    return 0;
  for (size_t i = 0; i < rows->count; i++) {
    if (rows->weights[i] != 1.0)
      return 0;
    weight += rows->copies[i];
  }
  return pc_row_lattice_bits(weight);
}

static void row_moments_add_classes(const pc_kept_rows *rows, size_t row, double lattice,
                                    pc_row_moments *out) {
  const double weight = pc_kept_weight(rows, row);
  for (size_t k = 0; k < rows->classes; k++) {
    const double p = rows->probs[row * rows->classes + k];
    const double gap = p - (rows->labels[row] == (int32_t)k ? 1.0 : 0.0);
    out->claimed_classes += weight * pc_lattice_round(p * (1.0 - p), lattice);
    out->shown_classes += weight * pc_lattice_round(gap * gap, lattice);
  }
}

pc_row_moments pc_row_moments_of(const pc_kept_rows *rows, unsigned bits, int over_classes) {
  const double lattice = pc_row_lattice(bits);
  pc_row_moments out = {0};
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = pc_kept_weight(rows, i), p = rows->score[i];
    const double hit = rows->labels[i] == pc_draw_first(rows, i) ? 1.0 : 0.0;
    const double gap = p - hit;
    out.total += weight;
    out.copies += rows->copies == NULL ? 1.0 : rows->copies[i];
    out.hits += weight * hit;
    out.scores += weight * pc_lattice_round(p, lattice);
    out.claimed += weight * pc_lattice_round(p * (1.0 - p), lattice);
    out.shown += weight * pc_lattice_round(gap * gap, lattice);
    if (over_classes)
      row_moments_add_classes(rows, i, lattice, &out);
  }
  return out;
}
