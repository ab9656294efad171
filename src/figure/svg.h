/* Figures as SVG. */
#ifndef PC_SVG_H
#define PC_SVG_H

#include "figure/figure.h"

typedef enum pc_theme {
  PC_THEME_AUTO, /* what the reader's page asks for */
  PC_THEME_LIGHT,
  PC_THEME_DARK
} pc_theme;

/* By its name; NULL is auto. */
PC_CHECKED pcal_status pc_theme_find(const char *name, pc_theme *theme, pcal_error *err);

/* Appends the figure as one SVG document.  The same figure gives the same bytes everywhere. */
PC_CHECKED pcal_status pc_svg_write(const pc_figure *figure, pc_theme theme, pc_text *out,
                                    pcal_error *err);

#endif
