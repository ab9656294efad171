#include <string.h>
#include <windows.h>

#include "system/shared_library.h"

void *pc_shared_library_open(const char *unix_name, const char *windows_name) {
  (void)unix_name;
  return (void *)LoadLibraryExA(windows_name, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
}

int pc_shared_libraries_can_open(void) {
  return 1;
}

void pc_shared_library_close(void *library) {
  FreeLibrary((HMODULE)library);
}

int pc_shared_library_find(void *library, const char *symbol, void *function) {
  const FARPROC found = GetProcAddress((HMODULE)library, symbol);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}
