/* Makes the calls of row_calls.h fail at every place: an allocation returns NULL, the caller stops the
 * call at one of its checks, a sink refuses bytes, rows cannot be read, or a lock cannot be made.  Each time the status of that fault, and nothing
 * is left over.
 *
 * A place is a call stack.  Stacks with a call that no stack before has are tried first, so that every
 * call that can fail does; then, as long as the time lasts, the other stacks, each once in a program,
 * and about FAULT_POINTS of the other points, the first ones one by one. */
#ifndef FAULT_SWEEP_H
#define FAULT_SWEEP_H

#include <stddef.h>

#include "row_calls.h"

typedef enum fault_kind {
  FAULT_MEMORY,
  FAULT_STOP,
  FAULT_SINK,
  FAULT_READ,
  FAULT_LOCK
} fault_kind;

/* For FAULT_LOCK: nonzero if the lock that is made now fails; the test makes locks fail then. */
int fault_refuses_lock(void);

/* Returns 1 if the row suits the data and was swept.  Fails the test where a fault is not
 * reported, or blocks are left. */
int fault_sweep(fault_kind kind, row_call_function function, call_data data, const char *spec);
/* The same for each kind of data. */
int fault_sweep_spec(fault_kind kind, row_call_function function, const char *spec);
/* Each row of a registry; `words`: also with each word of each of its choices.  Returns how many
 * rows were swept. */
size_t fault_sweep_rows(fault_kind kind, row_call_function function, pcal_registry registry,
                        int words);

#endif
