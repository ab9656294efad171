/* Control groups of Linux: the limits that a container sets.  Versions 1 and 2 are read; other
 * systems have none. */
#ifndef PC_CGROUP_H
#define PC_CGROUP_H

#include <stddef.h>
#include <stdint.h>

/* Where an answer is that no limit was found. */
#define PC_CGROUP_NONE UINT64_MAX

/* Receives a directory of the hierarchy; version is 1 or 2. */
typedef void (*pc_cgroup_look)(void *user, const char *directory, int version);

/* Calls look for the group of this process and each of its ancestors, the nearest first, in the
 * hierarchy of a controller ("memory", "cpu").  root stands before /proc and /sys: "" on a
 * machine, a directory in tests.  A directory may lack the files of the controller. */
void pc_cgroup_each(const char *root, const char *controller, pc_cgroup_look look, void *user);

/* Reads the first line of a small file of a directory into out; 0 if there is none. */
int pc_cgroup_line(const char *directory, const char *file, char *out, size_t out_size);

/* Reads a whole number at *text and moves past it; PC_CGROUP_NONE for "max" and for anything
 * that is no number. */
uint64_t pc_cgroup_number(const char **text);

/* The smallest memory limit in bytes of the group of this process and its ancestors. */
uint64_t pc_cgroup_memory(const char *root);

#endif
