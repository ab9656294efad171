/* A thread that overwrites single cells of arrays with hostile bits and puts them back, as fast
 * as it can: what borrowed memory may do during a call. */
#ifndef ROW_WRITER_H
#define ROW_WRITER_H

#include <stddef.h>
#include <stdint.h>

typedef enum row_writer_cells {
  ROW_WRITER_F32 = 1,
  ROW_WRITER_F64,
  ROW_WRITER_LABELS,  /* int32 */
  ROW_WRITER_WEIGHTS, /* double */
  ROW_WRITER_GROUPS,  /* uint32 */
  ROW_WRITER_IDS      /* uint64 */
} row_writer_cells;

typedef struct row_writer_array {
  void *cells; /* the writer's to change until it is stopped */
  size_t count;
  row_writer_cells type;
} row_writer_array;

/* Bytes of a cell. */
size_t row_writer_width(row_writer_cells type);

/* A random number; the state is never 0. */
uint64_t row_writer_draw(uint64_t *state);

/* Writes hostile bits into a cell. */
void row_writer_put(const row_writer_array *array, size_t at, uint64_t *state);

typedef struct row_writer row_writer;

/* Starts a thread; the list of arrays is copied.  The first array is changed more often than
 * the others.  Of the time a cell is changed about 1 / rarity. */
row_writer *row_writer_start(const row_writer_array *arrays, size_t count, uint64_t seed,
                             unsigned rarity);
/* Every cell has its first value again. */
void row_writer_stop(row_writer *writer);

#endif
