#include <dlfcn.h>
#include <string.h>

#include "system/shared_library.h"

void *pc_shared_library_open(const char *unix_name, const char *windows_name) {
  (void)windows_name;
  return dlopen(unix_name, RTLD_NOW | RTLD_LOCAL);
}

/* A program that can open libraries can open itself. */
int pc_shared_libraries_can_open(void) {
  void *program = dlopen(NULL, RTLD_NOW | RTLD_LOCAL);
  if (program != NULL)
    dlclose(program);
  return program != NULL;
}

void pc_shared_library_close(void *library) {
  dlclose(library);
}

/* ISO C has no conversion between pointers to objects and to functions. */
int pc_shared_library_find(void *library, const char *symbol, void *function) {
  void *found = dlsym(library, symbol);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}
