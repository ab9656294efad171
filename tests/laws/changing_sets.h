/* Data sets whose arrays lie in memory that can be trapped (row_trap.h), each with ids and huge
 * weights beside what a law_set has. */
#ifndef CHANGING_SETS_H
#define CHANGING_SETS_H

#include "law_data.h"

#define CHANGING_ROWS 60 /* few, so that a change often meets the row that is read */

/* Makes the small sets of law_data.h, and six more, four of them of many rows or classes. */
void changing_sets_make(void);
void changing_sets_free(void);

size_t changing_set_count(void);
law_set *changing_set(size_t number);
uint64_t *changing_set_ids(size_t number);
double *changing_set_huge(size_t number);

/* Zeroed memory; the test fails without it. */
void *changing_room(size_t count, size_t size);

#endif
