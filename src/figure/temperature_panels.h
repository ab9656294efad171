/* Metrics against the temperature that divides the scores, one panel below the other. */
#ifndef PC_TEMPERATURE_PANELS_H
#define PC_TEMPERATURE_PANELS_H

#include "figure/figure_registry.h"
#include "studies/temperature_sweep.h"

/* A curve over the temperatures of studies/temperature_sweep.h; NaN where there is no value. */
typedef struct pc_temperature_curve {
  double octave[PC_TEMPERATURES], value[PC_TEMPERATURES];
  size_t lowest; /* PC_TEMPERATURES: no value at all */
  double best;   /* octave of the minimum */
  double least;  /* that the panel shows */
} pc_temperature_curve;

/* Sets octaves and finds the minimum of values that are set; what is infinite becomes NaN.
 * smooth: the minimum is that of a parabola. */
void pc_temperature_curve_end(pc_temperature_curve *curve, int smooth);

/* The axis of temperatures; only that of the last panel has numbers. */
void pc_temperature_axis(pc_figure *figure, size_t panel, int last);

/* A panel for a curve, before the layout, and its marks afterwards; second may be NULL. */
void pc_temperature_panel(pc_figure *figure, size_t row, const pc_temperature_curve *curve,
                          const char *name, int last);
void pc_temperature_marks(pc_figure *figure, size_t panel, pc_tone tone,
                          const pc_temperature_curve *curve,
                          const pc_temperature_curve *second);

/* Pieces of a curve that lie below the limit. */
void pc_temperature_line(pc_figure *figure, size_t panel, pc_look look,
                         const pc_temperature_curve *curve, double limit);

void pc_temperature_key(pc_figure *figure, int second);

/* Adds the temperatures 2^-2 .. 2^3 to a wish; refuses confidences. */
PC_CHECKED pcal_status pc_temperature_request(const char *figure, const pc_layout *layout,
                                              pc_figure_request *wish, pcal_error *err);

/* One panel for each name: name i belongs to spec i of the wish. */
PC_CHECKED pcal_status pc_temperature_draw(const pc_figure_data *data, const char *title,
                                           const char *const *names, size_t count,
                                           pc_figure *figure, pcal_error *err);

#endif
