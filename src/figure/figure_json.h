/* Figures as JSON, for other drawing programs. */
#ifndef PC_FIGURE_JSON_H
#define PC_FIGURE_JSON_H

#include "figure/figure.h"

/* Appends the figure as one JSON object: title, subtitle, description, panels with their axes,
 * marks in data units, key. */
PC_CHECKED pcal_status pc_figure_json_write(const pc_figure *figure, pc_text *out,
                                            pcal_error *err);

#endif
