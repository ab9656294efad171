/* Keeps new threads off the caller's core.
 *
 * A scheduler may place a thread that was just started or woken on the core of the thread that
 * did so, and leave it waiting for milliseconds while other cores are idle.  Threads therefore
 * start on another core (pc_thread_start), and are released to all cores once they run.  On
 * systems other than Linux the affinity is unknown and these functions do nothing. */
#ifndef PC_THREAD_AFFINITY_H
#define PC_THREAD_AFFINITY_H

#include <stdint.h>

#define PC_AFFINITY_WORDS 16 /* 64 cores each */

typedef struct pc_affinity {
  int known;                          /* 0: fewer than two cores, or unknown; nothing is done */
  uint64_t all[PC_AFFINITY_WORDS];    /* cores that the caller may use */
  uint64_t others[PC_AFFINITY_WORDS]; /* the same without the core it runs on */
} pc_affinity;

typedef struct pc_thread pc_thread; /* see threads.h */

/* The affinity of the calling thread. */
pc_affinity pc_affinity_current(void);

/* Moves a sleeping thread, or one about to be started, to a core other than the caller's.
 * `attributes` is a pthread_attr_t. */
void pc_affinity_wake_elsewhere(const pc_affinity *cores, const pc_thread *thread);
void pc_affinity_start_elsewhere(const pc_affinity *cores, void *attributes);

/* Lets the calling thread run on all cores. */
void pc_affinity_release(const pc_affinity *cores);

#endif
