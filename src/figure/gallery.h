/* The figures that exist, and drawing one by its name. */
#ifndef PC_GALLERY_H
#define PC_GALLERY_H

#include "figure/figure.h"

size_t pc_figure_row_count(void);
/* The row of a figure, or NULL behind the last one. */
const pcal_row *pc_figure_row(size_t index);

/* Appends a figure as SVG to out.  PCAL_USAGE for a name that does not exist, PCAL_DATA when
 * there is nothing to draw. */
PC_CHECKED pcal_status pc_figure_draw(const char *name, const pc_figure_data *data,
                                      const pcal_env *env, pc_text *out, pcal_error *err);
/* The same figure as JSON, as in figure_json.h. */
PC_CHECKED pcal_status pc_figure_tell(const char *name, const pc_figure_data *data,
                                      const pcal_env *env, pc_text *out, pcal_error *err);

#endif
