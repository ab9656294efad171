/* Figures as SVG. */
#ifndef PC_SVG_H
#define PC_SVG_H

#include "figure/figure.h"

/* Appends the figure as one SVG document.  The same figure gives the same bytes everywhere. */
PC_CHECKED pcal_status pc_svg_write(const pc_figure *figure, pc_text *out, pcal_error *err);

#endif
