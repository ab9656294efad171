/* The guess of inspect: which input each column of a table may be. */
#ifndef PC_INSPECT_GUESS_H
#define PC_INSPECT_GUESS_H

#include "base/memory.h"

typedef struct pc_guess_table {
  const char *file;
  const char *const *names; /* NULL: columns have no names */
  size_t columns, rows;     /* rows: first rows of the table, 0 if they are not known */
  const double *cells;      /* rows x columns; NaN: missing, or a word */
  const char *words;        /* words[c]: column c contains words; NULL if rows is 0 */
  int matrix;               /* an array, whose columns belong together */
} pc_guess_table;

/* Sets roles[c] to the field of pcal_inputs that column c may be, or to NULL. */
PC_CHECKED pcal_status pc_inspect_guess(const pc_guess_table *table, const pcal_env *env,
                                        const char **roles, pcal_error *err);

/* The same for members of a container, by their names alone; columns: each is a column of one
 * table. */
PC_CHECKED pcal_status pc_inspect_guess_members(const pc_guess_table *table,
                                                const pcal_env *env, int columns,
                                                const char **roles, pcal_error *err);

#endif
