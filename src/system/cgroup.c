/* Edge cases:
 *  1. /proc/self/cgroup names the group in each hierarchy: "4:memory:/a/b" (version 1; a line
 *     may name several controllers) or "0::/a/b" (version 2).
 *  2. in a container only part of the hierarchy may be mounted, while the path in /proc is that
 *     of the host: directories that do not exist are skipped, and the mount point is always
 *     read.
 *  3. "no limit" is "max" in version 2 and a number near 2^63 in version 1.
 *  4. limits of ancestors apply too: the smallest counts.
 *  5. memory.high (version 2) throttles a group before memory.max kills it: both count.
 *  6. version 2 is mounted at /sys/fs/cgroup, or at unified below it if both versions are in
 *     use; version 1 in a directory named after the controller or after the whole list, such as
 *     "cpu,cpuacct".
 *  7. a path that does not begin with a slash is ignored; of one that is too long for a name only
 *     the mount point is read. */
#include "system/cgroup.h"

#include <stdio.h>
#include <string.h>

#include "system/files.h"

#define CGROUP_TEXT 8192
#define CGROUP_PATH 4096

/* Reads a file as text; returns its length, 0 on failure. */
static size_t cgroup_read(const char *path, char *out, size_t out_size) {
  const int descriptor = pc_file_open(path);
  size_t length = 0;
  int64_t got = 1;
  if (descriptor < 0)
    return 0;
  while (got > 0 && length + 1 < out_size) {
    got = pc_file_read(descriptor, out + length, out_size - 1 - length);
    length += got > 0 ? (size_t)got : 0;
  }
  pc_file_close(descriptor);
  out[length] = '\0';
  return length;
}

int pc_cgroup_line(const char *directory, const char *file, char *out, size_t out_size) {
  char path[CGROUP_PATH + 64];
  const int length = snprintf(path, sizeof path, "%s/%s", directory, file);
  if ((size_t)length >= sizeof path || cgroup_read(path, out, out_size) == 0)
    return 0;
  out[strcspn(out, "\n")] = '\0';
  return 1;
}

uint64_t pc_cgroup_number(const char **text) {
  const char *at = *text + strspn(*text, " ");
  const size_t digits = strspn(at, "0123456789");
  uint64_t value = 0;
  *text = at + digits;
  if (digits == 0 || digits > 19)
    return PC_CGROUP_NONE;
  for (size_t i = 0; i < digits; i++)
    value = 10 * value + (uint64_t)(at[i] - '0');
  return value;
}

/* True if the controller is in a list such as "cpu,cpuacct". */
static int cgroup_lists(const char *list, size_t length, const char *controller) {
  const size_t wanted = strlen(controller);
  for (size_t at = 0; at < length;) {
    const size_t word = strcspn(list + at, ",:");
    if (word == wanted && memcmp(list + at, controller, wanted) == 0)
      return 1;
    at += word + 1;
  }
  return 0;
}

/* Calls `look` for mount + group and its ancestors up to the mount.  The group is empty or
 * begins with a slash. */
static void cgroup_walk(const char *mount, const char *group, size_t length, int version,
                        pc_cgroup_look look, void *user) {
  char directory[CGROUP_PATH];
  const size_t base = strlen(mount);
  if (base + length >= sizeof directory)
    length = 0;
  memcpy(directory, mount, base);
  memcpy(directory + base, group, length);
  size_t end = base + length;
  while (end > base) {
    directory[end] = '\0';
    if (directory[end - 1] != '/')
      look(user, directory, version);
    while (directory[end - 1] != '/')
      end--;
    end--;
  }
  directory[base] = '\0';
  look(user, directory, version);
}

/* Where a hierarchy may be mounted, place 0 or 1 (6); returns the length of the path. */
static int cgroup_mount(const char *root, int version, int place, const char *controller,
                        const char *list, size_t listed, char out[CGROUP_PATH]) {
  if (version == 2)
    return snprintf(out, CGROUP_PATH, "%s/sys/fs/cgroup%s", root, place == 0 ? "" : "/unified");
  if (place == 0)
    return snprintf(out, CGROUP_PATH, "%s/sys/fs/cgroup/%s", root, controller);
  return snprintf(out, CGROUP_PATH, "%s/sys/fs/cgroup/%.*s", root, (int)listed, list);
}

/* One line of /proc/self/cgroup. */
static void cgroup_line(const char *root, const char *line, size_t length,
                        const char *controller, pc_cgroup_look look, void *user) {
  char mount[CGROUP_PATH];
  const char *list = memchr(line, ':', length);
  const char *group =
      list == NULL ? NULL : memchr(list + 1, ':', (size_t)(line + length - list - 1));
  if (group == NULL)
    return;
  const size_t listed = (size_t)(group - list - 1);
  const size_t group_length = (size_t)(line + length - group - 1);
  const int version = listed == 0 ? 2 : 1;
  if (group_length > 0 && group[1] != '/')
    return;
  if (version == 1 && !cgroup_lists(list + 1, listed, controller))
    return;
  const int same = version == 1 && listed == strlen(controller);
  for (int place = 0; place < (same ? 1 : 2); place++) {
    const int made = cgroup_mount(root, version, place, controller, list + 1, listed, mount);
    if (made < CGROUP_PATH)
      cgroup_walk(mount, group + 1, group_length, version, look, user);
  }
}

void pc_cgroup_each(const char *root, const char *controller, pc_cgroup_look look, void *user) {
  char path[CGROUP_PATH], text[CGROUP_TEXT];
  const int made = snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  if ((size_t)made >= sizeof path || cgroup_read(path, text, sizeof text) == 0)
    return;
  for (const char *line = text; *line != '\0';) {
    const size_t length = strcspn(line, "\n");
    cgroup_line(root, line, length, controller, look, user);
    line += length + (line[length] == '\n');
  }
}

static void cgroup_memory_file(const char *directory, const char *file, uint64_t *smallest) {
  char line[64];
  const char *at = line;
  if (!pc_cgroup_line(directory, file, line, sizeof line))
    return;
  const uint64_t limit = pc_cgroup_number(&at);
  if (limit < *smallest)
    *smallest = limit;
}

static void cgroup_memory_look(void *user, const char *directory, int version) {
  if (version == 1) {
    cgroup_memory_file(directory, "memory.limit_in_bytes", user);
    return;
  }
  cgroup_memory_file(directory, "memory.max", user);
  cgroup_memory_file(directory, "memory.high", user);
}

uint64_t pc_cgroup_memory(const char *root) {
  uint64_t smallest = PC_CGROUP_NONE;
  pc_cgroup_each(root, "memory", cgroup_memory_look, &smallest);
  return smallest;
}
