/* A clock that only goes forward, for time limits; never for results. */
#ifndef PC_CLOCK_H
#define PC_CLOCK_H

/* Seconds since some fixed moment. */
double pc_clock_seconds(void);

#endif
