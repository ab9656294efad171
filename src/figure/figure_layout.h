/* Positions of title, panels and legend, and the number of ticks. */
#ifndef PC_FIGURE_LAYOUT_H
#define PC_FIGURE_LAYOUT_H

#include "figure/figure.h"

/* Places title, subtitle, legend and panels.  Size, texts, legend entries and axes must be set;
 * long texts are shortened in the middle.  Add marks afterwards. */
void pc_figure_lay_out(pc_figure *figure, const pc_panel_grid *grid);

#endif
