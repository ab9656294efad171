/* Libraries that are opened at run time. */
#ifndef PC_SHARED_LIBRARY_H
#define PC_SHARED_LIBRARY_H

/* Opens a library by its name on Unix ("libcuda.so.1") or on Windows ("nvcuda.dll"); NULL if there
 * is none, or if the system has no such libraries. */
void *pc_shared_library_open(const char *unix_name, const char *windows_name);
/* False in a static program, whose C library opens none, and where the system has none. */
int pc_shared_libraries_can_open(void);
void pc_shared_library_close(void *library);

/* Stores the address of a function in *function, a pointer to a function; returns 0 if the library
 * does not have it. */
int pc_shared_library_find(void *library, const char *symbol, void *function);

#endif
