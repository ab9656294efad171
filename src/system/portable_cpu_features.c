/* Processors without variants of the kernels. */
#include "system/cpu_features.h"

pc_cpu_level pc_cpu_features(void) {
  return PC_CPU_PORTABLE;
}
