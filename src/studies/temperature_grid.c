#include "studies/temperature_grid.h"

#include "base/elementary.h"

double pc_temperature_at(size_t index) {
  return pc_exp2(PC_TEMPERATURE_FIRST + (double)index / PC_TEMPERATURE_STEPS);
}
