/* Round positions for axis ticks.
 *
 * The step is the smallest of 1, 2, 5 x 10^e for which no more than the wanted number of its
 * multiples lie in [low, high].  A tick is a whole number divided or multiplied by a power of
 * ten, each exact, so 0.3 is the double 0.3 and not 3 * 0.1.
 *
 * 1. A range of no extent has one tick.
 * 2. A range so narrow that its ticks would not be distinct doubles has one tick, at low.
 * 3. A range that is not finite, or whose high is below low, has none. */
#include "figure/ticks.h"

#include <math.h>

/* A step factor * 10^exponent; factor and power are separate so that multiples are exact. */
typedef struct ticks_step {
  double factor, power; /* power = 10^|exponent| */
  int exponent;
} ticks_step;

static double ticks_times(const ticks_step *step, double index) {
  const double whole = index * step->factor;
  return step->exponent < 0 ? whole / step->power : whole * step->power;
}

static ticks_step ticks_make(double factor, int exponent) {
  ticks_step step = {factor, 1, exponent};
  for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++)
    step.power *= 10;
  return step;
}

static ticks_step ticks_larger(ticks_step step) {
  if (step.factor < 2)
    return ticks_make(2, step.exponent);
  if (step.factor < 5)
    return ticks_make(5, step.exponent);
  return ticks_make(1, step.exponent + 1);
}

/* A step of which at least as many multiples fit as wanted. */
static ticks_step ticks_small_step(double extent, size_t wanted) {
  int exponent = 0;
  double power = 1;
  while (power > extent / (double)wanted) {
    power /= 10;
    exponent--;
  }
  while (power * 10 <= extent / (double)wanted) {
    power *= 10;
    exponent++;
  }
  return ticks_make(1, exponent);
}

/* First and last multiple inside the range, with a tolerance for rounding. */
static void ticks_inside(const ticks_step *step, double low, double high, double *first,
                         double *last) {
  const double unit = ticks_times(step, 1);
  *first = ceil(low / unit - 1e-9);
  *last = floor(high / unit + 1e-9);
}

void pc_ticks_place(double low, double high, size_t wanted, pc_ticks *ticks) {
  const double extent = high - low;
  *ticks = (pc_ticks){0};
  if (!isfinite(low) || !isfinite(high) || !isfinite(extent) || extent < 0)
    return;
  if (extent <= 1e-12 * fmax(fabs(low), fabs(high)) || extent < 1e-200) {
    ticks->count = 1;
    ticks->at[0] = low;
    return;
  }
  wanted = wanted < 2 ? 2 : wanted > PC_TICKS_MAX ? PC_TICKS_MAX : wanted;
  ticks_step step = ticks_small_step(extent, wanted);
  double first, last;
  ticks_inside(&step, low, high, &first, &last);
  while (last - first + 1 > (double)wanted) {
    step = ticks_larger(step);
    ticks_inside(&step, low, high, &first, &last);
  }
  ticks->decimals = step.exponent < 0 ? -step.exponent : 0;
  for (double index = first; index <= last; index++)
    ticks->at[ticks->count++] = ticks_times(&step, index) + 0.0;
}
