/* Room for everything: where title, panels and key stand, and which ticks fit. */
#ifndef PC_FIGURE_LAYOUT_H
#define PC_FIGURE_LAYOUT_H

#include "figure/figure.h"

/* Places title and subtitle, the key and the panels of a figure whose size, texts, key entries
 * and axes are known; texts that are too long lose their middle.  Marks come afterwards. */
void pc_figure_lay_out(pc_figure *figure, const pc_panel_grid *grid);

#endif
