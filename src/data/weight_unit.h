/* Importance weights in units of effective rows. */
#ifndef PC_WEIGHT_UNIT_H
#define PC_WEIGHT_UNIT_H

#include <stddef.h>

#include "base/sum.h"

/* Sums over weights above 0; they do not depend on the order of rows. */
typedef struct pc_weight_sums {
  pc_sum sum, square;
  double least, most; /* both 0: there is none */
} pc_weight_sums;

/* True for a weight above 0 that rows may have. */
int pc_weight_counts(double weight);

void pc_weight_sums_clear(pc_weight_sums *sums);
/* Adds the weight of a row, if it counts. */
void pc_weight_sums_add(pc_weight_sums *sums, double weight);
/* Adds rows without weights, which count as 1 each. */
void pc_weight_sums_add_rows(pc_weight_sums *sums, size_t rows);

/* u of the formula; 1 if no weight was added. */
double pc_weight_unit(const pc_weight_sums *sums);

/* Divides weights by a unit.  Weights that do not count stay as they are. */
void pc_weights_scale(const double *weights, size_t count, double unit, double *out);

#endif
