/* The hot loops over pairs of rows: one portable source, compiled once for each instruction
 * set, all variants with the same bits.  One row meets PC_LANES others at a time. */
#ifndef PC_PAIR_KERNELS_H
#define PC_PAIR_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/row_kernels.h"

#define PC_DOT_ROWS 4

/* Up to PC_LANES rows side by side; lanes without a row have weight 0. */
typedef struct pc_pair_pack {
  size_t classes;
  double *probs; /* [class][lane] */
  int32_t label[PC_LANES];
  double weight[PC_LANES];
  double norm[PC_LANES]; /* squared length */
} pc_pair_pack;

typedef struct pc_pair_kernels {
  const char *name;
  /* sum over lanes of w_l exp(-|p - q_l|) <e_y - p, e_{z_l} - q_l>, with the distance from
   * direct differences: equal rows have distance 0. */
  double (*skce_direct)(const double *p, int32_t label, const pc_pair_pack *pack);
  /* A tile of a matrix product: out[r][l] = <row r, q_l> for PC_DOT_ROWS rows `stride` apart.
   */
  void (*dots)(const double *rows, size_t stride, const pc_pair_pack *pack,
               double out[PC_DOT_ROWS][PC_LANES]);
  /* skce_direct from inner products; the squared distance is norm + norm_l - 2 dot, off by at
   * most 4 K ulp of 1, so that the distance is off by less than 1e-7 for 10,000 classes. */
  double (*skce_dots)(const double *p, int32_t label, double norm, const double *dots,
                      const pc_pair_pack *pack);
} pc_pair_kernels;

extern const pc_pair_kernels pc_pair_kernels_portable;

/* All variants that this processor can run, the reference first; NULL behind the last. */
const pc_pair_kernels *pc_pair_kernels_at(size_t index);
const pc_pair_kernels *pc_pair_kernels_best(void);

/* Packs rows [begin, begin + count), count <= PC_LANES, of count x classes probabilities. */
void pc_pair_pack_fill(pc_pair_pack *pack, const double *probs, const int32_t *labels,
                       const double *weights, size_t count);

#endif
