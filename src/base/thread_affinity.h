/* Which cores threads run on.
 *
 * Schedulers may put a thread that is started or woken after a pause on the core of who does
 * that, and leave it waiting for milliseconds while other cores are idle.  So a thread begins
 * elsewhere, and may go anywhere once it runs.  Nothing happens where the system does not say.
 */
#ifndef PC_THREAD_AFFINITY_H
#define PC_THREAD_AFFINITY_H

#include <pthread.h>
#include <stdint.h>

#define PC_AFFINITY_WORDS 16 /* of 64 cores */

typedef struct pc_affinity {
  int known; /* there are at least two, the caller's among them */
  uint64_t all[PC_AFFINITY_WORDS], apart[PC_AFFINITY_WORDS];
} pc_affinity;

/* Those that the caller may use, with and without the one that it runs on. */
pc_affinity pc_affinity_current(void);

/* A thread that sleeps, or one to be started, is to begin apart from the caller. */
void pc_affinity_wake_elsewhere(const pc_affinity *cores, pthread_t thread);
void pc_affinity_start_elsewhere(const pc_affinity *cores, pthread_attr_t *attributes);

/* The calling thread may go anywhere. */
void pc_affinity_release(const pc_affinity *cores);

#endif
