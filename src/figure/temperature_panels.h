/* Metrics by the temperature that divides the scores, one panel below the other. */
#ifndef PC_TEMPERATURE_PANELS_H
#define PC_TEMPERATURE_PANELS_H

#include "figure/figure_registry.h"
#include "studies/temperature_grid.h"

/* A curve over the temperatures of studies/temperature_grid.h; NaN where there is no value. */
typedef struct pc_temperature_curve {
  double octave[PC_TEMPERATURES], value[PC_TEMPERATURES];
  size_t lowest; /* PC_TEMPERATURES: no finite value */
  double best;   /* octave of the minimum */
  double least;  /* lowest value shown */
} pc_temperature_curve;

/* Sets the octaves and finds the minimum of the values; infinite values become NaN.  smooth: the
 * minimum is that of a parabola through the lowest points. */
void pc_temperature_curve_end(pc_temperature_curve *curve, int smooth);

/* Sets the axis of temperatures; only that of the last panel has numbers. */
void pc_temperature_axis(pc_figure *figure, size_t panel, int last);

/* Adds a panel for a curve (before the layout) and its marks (after it); second may be NULL. */
void pc_temperature_panel(pc_figure *figure, size_t row, const pc_temperature_curve *curve,
                          const char *name, int last);
void pc_temperature_marks(pc_figure *figure, size_t panel, pc_tone tone,
                          const pc_temperature_curve *curve,
                          const pc_temperature_curve *second);

/* Draws the pieces of a curve below the limit. */
void pc_temperature_line(pc_figure *figure, size_t panel, pc_look look,
                         const pc_temperature_curve *curve, double limit);

void pc_temperature_legend(pc_figure *figure, int second);

/* Adds the temperatures 2^-2 .. 2^3 to a request; refuses confidences. */
PC_CHECKED pcal_status pc_temperature_request(const char *figure, const pc_layout *layout,
                                              pc_figure_request *request, pcal_error *err);

/* Draws one panel for each name; name i belongs to spec i of the request. */
PC_CHECKED pcal_status pc_temperature_draw(const pc_figure_data *data, const char *title,
                                           const char *const *names, size_t count,
                                           pc_figure *figure, pcal_error *err);

#endif
