/* The temperatures that studies try and their figures show. */
#ifndef PC_TEMPERATURE_GRID_H
#define PC_TEMPERATURE_GRID_H

#include <stddef.h>

/* Temperatures 2^-2 to 2^3 in steps of an eighth of an octave. */
#define PC_TEMPERATURE_STEPS 8 /* in an octave */
#define PC_TEMPERATURE_FIRST (-2)
#define PC_TEMPERATURE_LAST 3
#define PC_TEMPERATURES \
  ((PC_TEMPERATURE_LAST - PC_TEMPERATURE_FIRST) * PC_TEMPERATURE_STEPS + 1)

double pc_temperature_at(size_t index);

/* Values beyond this are infinite: a probability of 0 has the logit -1e30 (data/score_logit.h). */
#define PC_TEMPERATURE_INFINITE 1e20

#endif
