/* Memory whose cells change between any two instructions that read them.
 *
 * A thread that overwrites rows seldom meets the few nanoseconds between a check and the next
 * look.  Here every access to the arrays is a fault: its handler may put hostile bits into what
 * is about to be read, lets the one instruction run, and puts the old bits back.  So a row may
 * look different each time it is looked at, the same way on every run.  Only for Linux on
 * x86-64, and for code on the calling thread. */
#ifndef ROW_TRAP_H
#define ROW_TRAP_H

#include "row_writer.h"

/* Can it be done here? */
int row_trap_possible(void);

/* Zeroed memory that can be trapped; freed with row_trap_free. */
void *row_trap_room(size_t bytes);
void row_trap_free(void *room, size_t bytes);

/* Traps arrays, each of which begins at memory of row_trap_room; about one access in `rarity`
 * changes something. */
void row_trap_start(const row_writer_array *arrays, size_t count, uint64_t seed,
                    unsigned rarity);
/* Every cell has its first value again. */
void row_trap_stop(void);

#endif
