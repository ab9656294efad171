/* tools/check-systems sets PROPERCAL_EMULATED where an emulator runs the tests: arithmetic takes 80 times
 * as long on aarch64, 200 times on s390x.  Tests then take fewer rows, draws and cases: together 29 seconds of
 * an x86-64 processor, 15 minutes on aarch64 and 30 on s390x.  The few that need very many rows
 * or data sets to assert anything are skipped: they are about statistics and sizes, not about processors. */
#ifndef EMULATED_H
#define EMULATED_H

#include "testing.h"

#include <stdlib.h>

static inline int emulated(void) {
  return getenv("PROPERCAL_EMULATED") != NULL;
}

static inline size_t fewer_if_emulated(size_t many, size_t few) {
  return emulated() ? few : many;
}

static inline void skip_if_emulated(void) {
  if (emulated())
    skip();
}

#endif
