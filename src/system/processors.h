/* The number of processors that this process may use. */
#ifndef PC_PROCESSORS_H
#define PC_PROCESSORS_H

#include <stddef.h>

/* Name of the processor that this is compiled for, after a comma; empty if unknown. */
#if defined(__x86_64__)
#define PC_PROCESSOR_NAME ", x86-64"
#elif defined(__aarch64__)
#define PC_PROCESSOR_NAME ", aarch64"
#elif defined(__s390x__)
#define PC_PROCESSOR_NAME ", s390x"
#elif defined(__wasm32__)
#define PC_PROCESSOR_NAME ", wasm32"
#else
#define PC_PROCESSOR_NAME ""
#endif

/* The processors in the affinity mask, or fewer if a control group limits processor time: for
 * example 2 for a mask of 2 of 64 processors, and 2 for a quota of 150 ms per 100 ms.  At least
 * 1. */
size_t pc_processor_count(void);

/* The quota of processor time of the control group of this process, rounded up to whole
 * processors; 0 if there is none.  root: see cgroup.h. */
size_t pc_processor_quota(const char *root);

#endif
