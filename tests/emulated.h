/* tools/check-systems sets PROPERCAL_EMULATED where an emulator runs the tests, twenty times slower than
 * a processor.  Laws then take fewer cases, and tests that count over many data sets are skipped:
 * they are about statistics, not about processors. */
#ifndef EMULATED_H
#define EMULATED_H

#include "testing.h"

#include <stdlib.h>

static inline int emulated(void) {
  return getenv("PROPERCAL_EMULATED") != NULL;
}

static inline void skip_if_emulated(void) {
  if (emulated())
    skip();
}

#endif
