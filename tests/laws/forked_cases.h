/* Runs numbered cases in child processes: a case that ends its process, or does not come back
 * in time, is reported by name, and the next case runs in a new process. */
#ifndef FORKED_CASES_H
#define FORKED_CASES_H

#include <stddef.h>

typedef struct forked_cases {
  size_t count;
  void (*name)(size_t index, char *out, size_t out_size);
  void (*run)(size_t index);
  unsigned seconds; /* a case may take */
} forked_cases;

/* Runs cases 0 .. count-1; returns how many ended badly, each with a line on standard error. */
size_t forked_cases_run(const forked_cases *cases);

#endif
