/* Quota of processor time: in version 2 the file cpu.max has "QUOTA PERIOD" or "max PERIOD"; in
 * version 1 cpu.cfs_quota_us has the quota, or -1, and cpu.cfs_period_us the period.
 *
 * Edge cases:
 *  1. the smallest quota of the group and its ancestors counts.
 *  2. a quota that is 0, or that cannot be read or parsed, is ignored. */
#include "system/processors.h"

#include "system/cgroup.h"
#include "system/resources.h"

#define PROCESSORS_LINE 128

/* Reads quota and period of a directory; 0 if there is no quota. */
static int processors_read(const char *directory, int version, uint64_t *quota,
                           uint64_t *period) {
  char line[PROCESSORS_LINE];
  const char *at = line;
  if (!pc_cgroup_line(directory, version == 2 ? "cpu.max" : "cpu.cfs_quota_us", line,
                      sizeof line))
    return 0;
  *quota = pc_cgroup_number(&at);
  if (version == 1) {
    at = line;
    if (!pc_cgroup_line(directory, "cpu.cfs_period_us", line, sizeof line))
      return 0;
  }
  *period = pc_cgroup_number(&at);
  return *quota != PC_CGROUP_NONE && *period != PC_CGROUP_NONE && *quota > 0 && *period > 0;
}

static void processors_look(void *user, const char *directory, int version) {
  uint64_t *least = user, quota, period;
  if (!processors_read(directory, version, &quota, &period))
    return;
  const uint64_t processors = (quota - 1) / period + 1;
  *least = processors < *least ? processors : *least;
}

size_t pc_processor_quota(const char *root) {
  uint64_t least = PC_CGROUP_NONE;
  pc_cgroup_each(root, "cpu", processors_look, &least);
  return least == PC_CGROUP_NONE ? 0 : (size_t)least;
}

size_t pc_processor_count(void) {
  const size_t allowed = pc_processors_allowed();
  const size_t quota = allowed > 1 ? pc_processor_quota("") : 0;
  return quota > 0 && quota < allowed ? quota : allowed;
}
