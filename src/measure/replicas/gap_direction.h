/* How large an error must be at least, by the mean of signed gaps. */
#ifndef PC_GAP_DIRECTION_H
#define PC_GAP_DIRECTION_H

#include "measure/replicas/replicas.h"

/* The lower end of the mean of signed gaps; 0 if it says nothing about this entry. */
double pc_gap_direction_low(const pc_measure_plan *plan, size_t entry,
                            const pc_kept_rows *rows);

#endif
