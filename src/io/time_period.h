/* Times as text, and the calendar periods that contain them.  All in UTC, proleptic Gregorian. */
#ifndef PC_TIME_PERIOD_H
#define PC_TIME_PERIOD_H

#include <stdint.h>

#include "base/error.h"
#include "io/slice.h"

typedef enum pc_period_unit {
  PC_PERIOD_SECONDS, /* `seconds` seconds, counted from 1970-01-01T00:00:00Z */
  PC_PERIOD_DAY,
  PC_PERIOD_WEEK, /* ISO 8601: Monday to Sunday */
  PC_PERIOD_MONTH,
  PC_PERIOD_QUARTER,
  PC_PERIOD_YEAR
} pc_period_unit;

typedef struct pc_period {
  pc_period_unit unit;
  int64_t seconds; /* of PC_PERIOD_SECONDS */
} pc_period;

#define PC_PERIOD_NAME_MAX 24

/* Parses "hour", "day", "week", "month", "quarter", "year", or a number of seconds with an
 * optional unit: "900", "15min", "6h", "10d". */
PC_CHECKED pcal_status pc_period_parse(const char *text, pc_period *out, pcal_error *err);

/* Parses a time as seconds since 1970, fractions rounded down.  Returns NULL, or a sentence that
 * says what is wrong and the remedy. */
const char *pc_time_parse(pc_slice text, int64_t *seconds);

/* Writes the name of the period that contains a time of pc_time_parse.  Names sort by time. */
void pc_period_name(const pc_period *period, int64_t seconds, char out[PC_PERIOD_NAME_MAX]);

#endif
