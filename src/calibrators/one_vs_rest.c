#include "calibrators/one_vs_rest.h"

void pc_rescale_row(double *row, size_t classes) {
  double sum = 0.0;
  for (size_t c = 0; c < classes; c++)
    sum += row[c];
  for (size_t c = 0; c < classes; c++)
    row[c] = sum > 0.0 ? row[c] / sum : 1.0 / (double)classes;
}

void pc_one_vs_rest_apply(const pc_layout *layout, pc_score_map value, const void *map,
                          const double *in, size_t count, double *out) {
  const size_t k = layout->classes;
  for (size_t i = 0; i < count; i++, in += k, out += k) {
    if (layout->columns == 1) {
      const double only = value(map, 0, in[k - 1]);
      out[0] = 1.0 - only;
      out[k - 1] = only;
      continue;
    }
    for (size_t c = 0; c < k; c++)
      out[c] = value(map, c, in[c]);
    pc_rescale_row(out, k);
  }
}
