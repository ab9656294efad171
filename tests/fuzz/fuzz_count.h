/* How many inputs passed validation: counted by every target, written to the file that
 * PROPERCAL_FUZZ_COUNTS names when the process ends. */
#ifndef FUZZ_COUNT_H
#define FUZZ_COUNT_H

void fuzz_count(int valid);

/* Percent of inputs that were valid so far; 100 without inputs.  restart: count anew. */
double fuzz_count_share(int restart);

#endif
