/* Which cores threads run on.
 *
 * Schedulers may put a thread that is started or woken after a pause on the core of who does
 * that, and leave it waiting for milliseconds while other cores are idle.  So a thread begins
 * elsewhere, and may go anywhere once it runs.  Nothing happens where the system does not say.
 */
#ifndef PC_APART_H
#define PC_APART_H

#include <pthread.h>
#include <stdint.h>

#define PC_CORES_WORDS 16 /* of 64 cores */

typedef struct pc_cores {
  int known; /* there are at least two, the caller's among them */
  uint64_t all[PC_CORES_WORDS], apart[PC_CORES_WORDS];
} pc_cores;

/* Those that the caller may use, with and without the one that it runs on. */
pc_cores pc_cores_here(void);

/* A thread that sleeps, or one to be started, is to begin apart from the caller. */
void pc_cores_wake_apart(const pc_cores *cores, pthread_t thread);
void pc_cores_start_apart(const pc_cores *cores, pthread_attr_t *attributes);

/* The calling thread may go anywhere. */
void pc_cores_roam(const pc_cores *cores);

#endif
