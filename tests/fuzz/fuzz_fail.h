/* Failing memory inside a fuzz target: the program is linked with -Wl,--wrap=malloc (and calloc, realloc), so
 * that the allocations of the library and of the program go through fuzz_fail.c. */
#ifndef FUZZ_FAIL_H
#define FUZZ_FAIL_H

/* Of the allocations from now on, this one fails, counted from 1; 0: none. */
void fuzz_fail_in(unsigned long calls);
/* Returns 1 if an allocation has failed since then; none fails any more. */
int fuzz_fail_end(void);

#endif
