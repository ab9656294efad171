/* Memory budgets: all blocks of some calls and handles, counted against one limit.
 *
 * A budget stands behind the allocator of an environment.  Every block carries its size and the
 * account that it is booked on, so that a refusal can name what has grown. */
#ifndef PC_BUDGET_H
#define PC_BUDGET_H

#include "base/memory.h"

/* Things that grow with the input: name, what fills the memory, what to do about it. */
#define PC_MEMORY_USE_LIST(X)                                                        \
  X(OTHER, "the work in hand", "give fewer rows, classes or metrics at a time")      \
  X(STREAM, "the input, a stream that is kept in memory,",                           \
    "write the data to a file, which is read piece by piece")                        \
  X(UNPACKED, "arrays unpacked from npz files",                                      \
    "write the file with numpy.savez, whose arrays are read in place")               \
  X(COLUMNS, "the columns of a table", "give a table with fewer columns")            \
  X(NAMES, "names of groups and ids", "give fewer groups")                           \
  X(GROUPS, "the states of groups", "give fewer groups, or fewer metrics at a time") \
  X(ROWS, "rows that are kept to measure them again",                                \
    "give fewer rows, or leave out intervals and the null")                          \
  X(PAIRS, "rows that are kept to compare them in pairs",                            \
    "give fewer rows, or take estimator=block where a metric has it")                \
  X(CURVES, "scores that are kept to sort them",                                     \
    "give fewer rows, or npy files, which are read again instead")                   \
  X(CELLS, "bins of all classes", "give fewer classes, or fewer metrics at a time")  \
  X(REPLICAS, "replicas of the data", "draw fewer replicas, or give fewer rows")     \
  X(RESULTS, "results and what is written of them", "give fewer groups, classes or metrics")

typedef enum pc_memory_use {
#define PC_MEMORY_ENUM(name, what, remedy) PC_MEMORY_##name,
  PC_MEMORY_USE_LIST(PC_MEMORY_ENUM)
#undef PC_MEMORY_ENUM
      PC_MEMORY_USE_COUNT
} pc_memory_use;

/* The environment of a public call: complete, and with a budget when a limit is set.  Must be
 * ended by pc_env_close; handles made in between may keep copies of it. */
PC_CHECKED pcal_status pc_env_open(const pcal_env *env, pcal_env *out, pcal_error *err);

/* Returns status; a failure for want of memory is reworded as by pc_budget_explain. */
pcal_status pc_env_close(const pcal_env *opened, pcal_status status, pcal_error *err);

/* When status is PCAL_MEMORY and the budget of env refused the last block, the sentence says
 * which limit was reached and by what.  Returns status. */
pcal_status pc_budget_explain(const pcal_env *env, pcal_status status, pcal_error *err);

/* The same environment, whose new blocks are booked on another account.  Blocks may be resized
 * and freed with any environment of the same budget, and stay on their account. */
pcal_env pc_env_for_use(const pcal_env *env, pc_memory_use what);

/* The default limit: three quarters of the smaller of physical memory and the limits of control
 * groups below root (see cgroup.h); 0 where nothing is known. */
uint64_t pc_memory_default(const char *root);

/* "1.50 GB" */
#define PC_BYTES_TEXT 32
const char *pc_bytes_show(uint64_t bytes, char out[PC_BYTES_TEXT]);

#endif
