/* Limits that a Linux control group (version 1 or 2) sets, in a container for example.  Other
 * systems have none. */
#ifndef PC_CGROUP_H
#define PC_CGROUP_H

#include <stddef.h>
#include <stdint.h>

/* No limit. */
#define PC_CGROUP_NONE UINT64_MAX

/* Called with a directory of the hierarchy; version is 1 or 2. */
typedef void (*pc_cgroup_look)(void *user, const char *directory, int version);

/* Calls `look` for the group of this process and then for each of its ancestors, in the
 * hierarchy of a controller ("memory", "cpu").  root is prepended to /proc and /sys: "" except
 * in tests.  A directory may lack the files of the controller. */
void pc_cgroup_each(const char *root, const char *controller, pc_cgroup_look look, void *user);

/* Reads the first line of a file into out; returns 0 if the file cannot be read. */
int pc_cgroup_line(const char *directory, const char *file, char *out, size_t out_size);

/* Parses a whole number at *text and moves *text past it.  Returns PC_CGROUP_NONE if there is
 * no number, as for "max". */
uint64_t pc_cgroup_number(const char **text);

/* The smallest memory limit in bytes of the group of this process and its ancestors. */
uint64_t pc_cgroup_memory(const char *root);

#endif
