#include "system/resources.h"

#include <windows.h>

size_t pc_processors_allowed(void) {
  DWORD_PTR own = 0, all = 0;
  size_t count = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &own, &all))
    for (; own != 0; own &= own - 1)
      count++;
  return count < 1 ? 1 : count;
}

uint64_t pc_physical_memory(void) {
  MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
  return GlobalMemoryStatusEx(&memory) ? memory.ullTotalPhys : UINT64_MAX;
}
