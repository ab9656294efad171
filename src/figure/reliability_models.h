/* Reliability diagrams of several models. */
#ifndef PC_RELIABILITY_MODELS_H
#define PC_RELIABILITY_MODELS_H

#include "figure/reliability_marks.h"

/* Draws the models of `data`, whose first requested metric has bins, into a figure whose size is
 * set. */
PC_CHECKED pcal_status pc_reliability_draw_models(const pc_figure_data *data, pc_band band,
                                                  pc_figure *figure, pcal_error *err);

#endif
