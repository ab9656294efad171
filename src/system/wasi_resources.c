/* One thread, and as much memory as the host grants. */
#include "system/resources.h"

size_t pc_processors_allowed(void) {
  return 1;
}

uint64_t pc_physical_memory(void) {
  return UINT64_MAX;
}
