/* Metrics against the temperature that divides the scores, one panel below the other. */
#ifndef PC_TEMPERATURE_PANELS_H
#define PC_TEMPERATURE_PANELS_H

#include "figure/gallery.h"

/* Adds the temperatures 2^-2 .. 2^3 to a wish; refuses confidences. */
PC_CHECKED pcal_status pc_temperature_wish(const char *figure, const pc_layout *layout,
                                           pc_figure_wish *wish, pcal_error *err);

/* One panel for each name: name i belongs to spec i of the wish. */
PC_CHECKED pcal_status pc_temperature_draw(const pc_figure_data *data, const char *title,
                                           const char *const *names, size_t count,
                                           pc_figure *figure, pcal_error *err);

#endif
