/* What the figures of predictions of a number share. */
#ifndef PC_FORECAST_MARKS_H
#define PC_FORECAST_MARKS_H

#include "figure/figure_registry.h"

/* Title, and as subtitle the rows, "NAME 0.0123" and, after a calibrator, the value before. */
void pc_forecast_marks_heading(const pc_figure_data *data, const pc_result_record *record,
                               const char *title, pc_figure *figure);

/* Half the width of the interval in which a share of `rows` rows lies 95 times out of 100 when
 * each has the probability p. */
double pc_forecast_marks_chance(double p, double rows);

/* Keys of the marks: as it is now, before a calibrator, and what chance alone does. */
extern const pc_look pc_forecast_look_now, pc_forecast_look_before, pc_forecast_look_band,
    pc_forecast_look_calibrated;

/* A band from x[i], low[i] to x[i], high[i], kept inside the axis of y. */
PC_CHECKED pcal_status pc_forecast_marks_band(pc_figure *figure, size_t panel, const double *x,
                                              const double *low, const double *high,
                                              size_t count, pcal_error *err);

#endif
