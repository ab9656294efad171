/* Control groups: /proc/self/cgroup has a line for each hierarchy, "number:controllers:path".
 *
 *   version 2: no controllers ("0::/path").  ROOT/path/cpu.max holds "QUOTA PERIOD" or
 *              "max PERIOD"; where both versions are in use ROOT is ROOT/unified.
 *   version 1: "cpu" is among the controllers.  ROOT/cpu/path/cpu.cfs_quota_us holds the quota,
 *              or -1, and cpu.cfs_period_us the period; the folder may also be called
 *              "cpu,cpuacct".
 *
 * Edge cases:
 *  1. a container may see a path that is mounted elsewhere: missing files are skipped, and all
 *     parents up to ROOT are read.
 *  2. the smallest quota of the group and its parents counts.
 *  3. a quota that cannot be read or parsed is ignored. */
#if defined(__linux__)
#define _GNU_SOURCE /* affinity is not in POSIX */
#endif
#include "base/processors.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#endif

#define PROCESSORS_TEXT 4096
#define PROCESSORS_NONE SIZE_MAX

/* Reads a file as text, at most size - 1 bytes; 0 if it cannot be read. */
static int processors_read(const char *path, char *out, size_t size) {
  size_t length = 0;
  ssize_t got = 0;
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return 0;
  while (length + 1 < size && (got = read(descriptor, out + length, size - 1 - length)) > 0)
    length += (size_t)got;
  close(descriptor);
  out[length] = '\0';
  return got >= 0;
}

/* Parses digits at *text and moves past them; 0 if there are none. */
static uint64_t processors_number(const char **text) {
  uint64_t number = 0;
  while (**text == ' ')
    ++*text;
  for (; **text >= '0' && **text <= '9' && number < UINT64_MAX / 20; ++*text)
    number = 10 * number + (uint64_t)(**text - '0');
  return number;
}

static size_t processors_share(uint64_t quota, uint64_t period) {
  return quota == 0 || period == 0 ? PROCESSORS_NONE : (size_t)((quota - 1) / period + 1);
}

/* The quota of one folder of version 2. */
static size_t processors_max(const char *folder) {
  char path[PROCESSORS_TEXT + 32], text[128];
  const char *at = text;
  snprintf(path, sizeof path, "%s/cpu.max", folder);
  if (!processors_read(path, text, sizeof text))
    return PROCESSORS_NONE;
  const uint64_t quota = processors_number(&at); /* "max" gives 0: no quota */
  return processors_share(quota, processors_number(&at));
}

/* The quota of one folder of version 1. */
static size_t processors_cfs(const char *folder) {
  char path[PROCESSORS_TEXT + 32], quota[64], period[64];
  const char *of_quota = quota, *of_period = period;
  snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
  if (!processors_read(path, quota, sizeof quota))
    return PROCESSORS_NONE;
  snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
  if (!processors_read(path, period, sizeof period))
    return PROCESSORS_NONE;
  return processors_share(processors_number(&of_quota), processors_number(&of_period));
}

/* The smallest quota of a folder below `mount` and of its parents, `mount` included. */
static size_t processors_walk(const char *mount, const char *path,
                              size_t (*quota)(const char *folder)) {
  char folder[PROCESSORS_TEXT];
  const size_t root = strlen(mount);
  const int length = snprintf(folder, sizeof folder, "%s%s", mount, path);
  size_t least = PROCESSORS_NONE;
  if (length < 0 || (size_t)length >= sizeof folder)
    return PROCESSORS_NONE;
  for (;;) {
    const size_t here = quota(folder);
    least = here < least ? here : least;
    char *slash = strlen(folder) > root ? strrchr(folder, '/') : NULL;
    if (slash == NULL)
      return least;
    *slash = '\0';
  }
}

/* True if `word` is in a list separated by commas. */
static int processors_has(const char *words, const char *word) {
  const size_t length = strlen(word);
  for (;; words++) {
    const size_t here = strcspn(words, ",");
    if (here == length && strncmp(words, word, length) == 0)
      return 1;
    words += here;
    if (*words == '\0')
      return 0;
  }
}

/* The quota of one line of the membership. */
static size_t processors_line(char *line, const char *root) {
  static const char *const mounts[2][2] = {{"", "/unified"}, {"/cpu", "/cpu,cpuacct"}};
  char *controllers = strchr(line, ':');
  char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
  size_t least = PROCESSORS_NONE;
  if (path == NULL)
    return least;
  *path++ = '\0';
  const int first = controllers[1] != '\0';
  if (first && !processors_has(controllers + 1, "cpu"))
    return least;
  for (size_t m = 0; m < 2; m++) {
    char mount[PROCESSORS_TEXT];
    snprintf(mount, sizeof mount, "%s%s", root, mounts[first][m]);
    const size_t here = processors_walk(mount, path, first ? processors_cfs : processors_max);
    least = here < least ? here : least;
  }
  return least;
}

size_t pc_processor_quota(const char *membership, const char *root) {
  char text[PROCESSORS_TEXT];
  size_t least = PROCESSORS_NONE;
  if (!processors_read(membership, text, sizeof text))
    return 0;
  for (char *line = text, *next; *line != '\0'; line = next) {
    char *end = strchr(line, '\n');
    next = end == NULL ? line + strlen(line) : end + 1;
    if (end != NULL)
      *end = '\0';
    const size_t here = processors_line(line, root);
    least = here < least ? here : least;
  }
  return least == PROCESSORS_NONE ? 0 : least;
}

static size_t processors_allowed(void) {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return (size_t)CPU_COUNT(&set);
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : (size_t)online;
}

size_t pc_processor_count(void) {
  const size_t allowed = processors_allowed();
  const size_t quota =
      allowed > 1 ? pc_processor_quota("/proc/self/cgroup", "/sys/fs/cgroup") : 0;
  return quota > 0 && quota < allowed ? quota : allowed;
}
