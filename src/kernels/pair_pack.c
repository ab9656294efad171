#include "kernels/pair_kernels.h"

void pc_pair_pack_fill(pc_pair_pack *pack, const double *probs, const int32_t *labels,
                       const double *weights, size_t count) {
  const size_t k = pack->classes;
  for (size_t l = 0; l < PC_LANES; l++) {
    const size_t from = l < count ? l : 0;
    double norm = 0.0;
    for (size_t c = 0; c < k; c++) {
      const double p = probs[from * k + c];
      pack->probs[c * PC_LANES + l] = p;
      norm += p * p;
    }
    pack->norm[l] = norm;
    pack->label[l] = labels[from];
    pack->weight[l] = l < count ? weights[from] : 0.0;
  }
}
