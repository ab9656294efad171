#include <stddef.h>

#include "system/shared_library.h"

void *pc_shared_library_open(const char *unix_name, const char *windows_name) {
  (void)unix_name;
  (void)windows_name;
  return NULL;
}

int pc_shared_libraries_can_open(void) {
  return 0;
}

void pc_shared_library_close(void *library) {
  (void)library;
}

int pc_shared_library_find(void *library, const char *symbol, void *function) {
  (void)library;
  (void)symbol;
  (void)function;
  return 0;
}
