/* Figures as SVG. */
#ifndef PC_SVG_H
#define PC_SVG_H

#include "figure/figure.h"

/* By its name; NULL is auto. */
PC_CHECKED pcal_status pc_theme_find(const char *name, pcal_theme *theme, pcal_error *err);

/* Appends the figure as one SVG document, with the same bytes on every machine. */
PC_CHECKED pcal_status pc_svg_write(const pc_figure *figure, pcal_theme theme, pc_text *out,
                                    pcal_error *err);

/* Writes the colours of figures of PCAL_THEME_PAGE, as CSS: dark if the reader prefers dark
 * pages or the root of the page has data-theme="dark", light with data-theme="light" and on
 * paper. */
void pc_svg_page_rules(pc_text *out);

#endif
