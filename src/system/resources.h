/* Processors and memory that the system offers to this process, control groups aside. */
#ifndef PC_RESOURCES_H
#define PC_RESOURCES_H

#include <stddef.h>
#include <stdint.h>

/* Processors that the process may run on; at least 1. */
size_t pc_processors_allowed(void);

/* Bytes of memory of the machine; UINT64_MAX if unknown. */
uint64_t pc_physical_memory(void);

#endif
