/* Marks shared by the figures of predictions of a number. */
#ifndef PC_FORECAST_MARKS_H
#define PC_FORECAST_MARKS_H

#include "figure/figure_registry.h"

/* Sets the title and the subtitle: number of rows, metric and value ("NAME 0.0123") and, for
 * calibrated predictions, the value before calibration. */
void pc_forecast_marks_heading(const pc_figure_data *data, const pc_result_record *record,
                               const char *title, pc_figure *figure);

/* Half width of the interval that holds the share of hits among `rows` rows 95 times out of 100,
 * if each row hits with probability p. */
double pc_forecast_marks_chance(double p, double rows);

/* Styles: the predictions shown, the same before calibration, the band of chance, and the line
 * of a calibrated model. */
extern const pc_look pc_forecast_look_now, pc_forecast_look_before, pc_forecast_look_band,
    pc_forecast_look_calibrated;

/* Adds a band from (x[i], low[i]) to (x[i], high[i]), clipped to the y axis. */
PC_CHECKED pcal_status pc_forecast_marks_band(pc_figure *figure, size_t panel, const double *x,
                                              const double *low, const double *high,
                                              size_t count, pcal_error *err);

#endif
