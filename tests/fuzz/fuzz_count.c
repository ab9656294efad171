#include "fuzz_count.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned long count_all, count_valid;
static int count_noted;

static void count_write(void) {
  const char *path = getenv("PROPERCAL_FUZZ_COUNTS");
  FILE *file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL)
    return;
  fprintf(file, "%lu %lu\n", count_valid, count_all);
  fclose(file);
}

void fuzz_count(int valid) {
  count_all++;
  if (!count_noted++)
    atexit(count_write);
  count_valid += valid != 0;
}

double fuzz_count_share(int restart) {
  const double share = count_all == 0 ? 100.0 : 100.0 * (double)count_valid / (double)count_all;
  if (restart)
    count_valid = count_all = 0;
  return share;
}
