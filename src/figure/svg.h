/* Figures as SVG. */
#ifndef PC_SVG_H
#define PC_SVG_H

#include "figure/figure.h"

typedef enum pcal_theme {
  PCAL_THEME_AUTO, /* as the reader's page asks */
  PCAL_THEME_LIGHT,
  PCAL_THEME_DARK,
  PCAL_THEME_PAGE /* the surrounding page defines the colours */
} pcal_theme;

/* By its name; NULL is auto. */
PC_CHECKED pcal_status pc_theme_find(const char *name, pcal_theme *theme, pcal_error *err);

/* Appends the figure as one SVG document, with the same bytes on every machine. */
PC_CHECKED pcal_status pc_svg_write(const pc_figure *figure, pcal_theme theme, pc_text *out,
                                    pcal_error *err);

/* Writes the colours of figures of PCAL_THEME_PAGE, as CSS: dark where the reader requested for it or the root
 * of the page has data-theme="dark", light with data-theme="light" and on paper. */
void pc_svg_page_rules(pc_text *out);

#endif
