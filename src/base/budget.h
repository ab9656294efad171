/* Memory budgets: a limit on the blocks of several calls and handles together.
 *
 * A budget replaces the allocator of an environment.  Every block records its size and its use,
 * so that the error of a refused block names the use that holds most memory. */
#ifndef PC_BUDGET_H
#define PC_BUDGET_H

#include "base/memory.h"

/* Uses of memory that grow with the input: name, description, remedy. */
#define PC_MEMORY_USE_LIST(X)                                                               \
  X(OTHER, "the current step", "give fewer rows, classes or metrics at a time")             \
  X(STREAM, "the input, a stream that is held in memory,",                                  \
    "write the data to a file, which is read in pieces")                                    \
  X(UNPACKED, "data unpacked from compressed files",                                        \
    "unpack the file; write npz with numpy.savez, whose arrays are read in place")          \
  X(COLUMNS, "the columns of a table", "give a table with fewer columns")                   \
  X(NAMES, "names of groups and ids", "give fewer groups")                                  \
  X(GROUPS, "the states of groups", "give fewer groups, or fewer metrics at a time")        \
  X(ROWS, "rows kept for replicas", "give fewer rows, or leave out intervals and the null") \
  X(PAIRS, "rows kept for comparing pairs",                                                 \
    "give fewer rows, or take estimator=block where a metric has it")                       \
  X(CURVES, "scores kept for sorting",                                                      \
    "give fewer rows, or npy files, which are read again instead")                          \
  X(CELLS, "bins of all classes", "give fewer classes, or fewer metrics at a time")         \
  X(REPLICAS, "replicas of the data", "draw fewer replicas, or give fewer rows")            \
  X(RESULTS, "results and their text", "give fewer groups, classes or metrics")

typedef enum pc_memory_use {
#define PC_MEMORY_ENUM(name, what, remedy) PC_MEMORY_##name,
  PC_MEMORY_USE_LIST(PC_MEMORY_ENUM)
#undef PC_MEMORY_ENUM
      PC_MEMORY_USE_COUNT
} pc_memory_use;

/* Makes the environment of a public call: defaults filled in, and a budget attached when a
 * limit is set.  End it with pc_env_close; handles made in between may keep copies. */
PC_CHECKED pcal_status pc_env_open(const pcal_env *env, pcal_env *out, pcal_error *err);

/* Releases the call's hold on the budget.  Returns status, and explains an error of memory as
 * pc_budget_explain does. */
pcal_status pc_env_close(const pcal_env *opened, pcal_status status, pcal_error *err);

/* If status is PCAL_MEMORY and the budget of env refused the last block, makes the error name
 * the limit and the use that reached it.  Returns status. */
pcal_status pc_budget_explain(const pcal_env *env, pcal_status status, pcal_error *err);

/* A copy of the environment whose new blocks are counted under `use`.  A block keeps its use,
 * whichever environment of the budget resizes or frees it. */
pcal_env pc_env_for_use(const pcal_env *env, pc_memory_use use);

/* Bytes that the budget of env can still give, less a sixteenth for what blocks need beside their
 * bytes; UINT64_MAX without a budget.  For memory that makes a call faster but is not needed. */
uint64_t pc_budget_left(const pcal_env *env);

/* The default limit: three quarters of physical memory, or of the limit of the process's
 * control group if that is smaller (root: see cgroup.h).  0 if unknown. */
uint64_t pc_memory_default(const char *root);

/* Writes a size as "1.50 GB"; returns out. */
#define PC_BYTES_TEXT 32
const char *pc_bytes_show(uint64_t bytes, char out[PC_BYTES_TEXT]);

#endif
