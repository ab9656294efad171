/* How many processors this process may use. */
#ifndef PC_PROCESSORS_H
#define PC_PROCESSORS_H

#include <stddef.h>

/* The processors of its affinity mask, or fewer where a control group has a quota of processor
 * time: 2 of 64 processors, or a quota of 150 ms in 100 ms, are 2.  At least 1. */
size_t pc_processor_count(void);

/* The quota alone, rounded up to whole processors; 0 where there is none.  `membership` is a
 * file like /proc/self/cgroup, and `root` the folder where control groups are mounted, usually
 * /sys/fs/cgroup.  Both versions of control groups are read, at the group itself and at each of
 * its parents. */
size_t pc_processor_quota(const char *membership, const char *root);

#endif
