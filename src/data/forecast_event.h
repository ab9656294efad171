/* An event about a predicted number, such as "> 20": its predicted probability, and whether it
 * occurred. */
#ifndef PC_FORECAST_EVENT_H
#define PC_FORECAST_EVENT_H

#include "data/forecast.h"

typedef struct pc_forecast_event {
  int above;     /* the number is above the limit, else below it */
  int inclusive; /* the limit itself is part of the event */
  double limit;
} pc_forecast_event;

/* Parses "> 20", ">= 20", "< 20" or "<= 20"; spaces are optional. */
PC_CHECKED pcal_status pc_forecast_event_parse(const char *text, pc_forecast_event *out,
                                               pcal_error *err);

int pc_forecast_event_occurs(const pc_forecast_event *event, double number);

/* The predicted probability of the event.  A row of samples may be in any order; row[columns],
 * the place of the target, is overwritten. */
double pc_forecast_event_prob(const pc_forecast_event *event, const pc_forecast_shape *shape,
                              double *row);

#endif
