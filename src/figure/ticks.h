/* Round positions for the ticks of an axis. */
#ifndef PC_TICKS_H
#define PC_TICKS_H

#include <stddef.h>

#define PC_TICKS_MAX 16

typedef struct pc_ticks {
  size_t count;
  int decimals; /* decimals of every label */
  double at[PC_TICKS_MAX];
} pc_ticks;

/* At most `wanted` (2 .. PC_TICKS_MAX) round positions, multiples of 1, 2 or 5 times a power
 * of ten, inside [low, high].  A range without extent has one tick, one that is not finite
 * or has high below low none. */
void pc_ticks_place(double low, double high, size_t wanted, pc_ticks *ticks);

#endif
