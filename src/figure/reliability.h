/* The reliability diagram. */
#ifndef PC_RELIABILITY_H
#define PC_RELIABILITY_H

#include "figure/figure.h"

/* Builds the diagram into an empty figure.  PCAL_DATA when no bin has rows. */
PC_CHECKED pcal_status pc_reliability_build(const pc_figure_data *data, pc_figure *figure,
                                            pcal_error *err);

/* The 95 % Wilson score interval of a frequency seen in n rows, n > 0. */
void pc_wilson_interval(double frequency, double n, double *low, double *high);

#endif
