/* Systems on which the cores of a thread are unknown. */
#include "system/thread_affinity.h"

pc_affinity pc_affinity_current(void) {
  return (pc_affinity){.known = 0};
}

void pc_affinity_wake_elsewhere(const pc_affinity *cores, const pc_thread *thread) {
  (void)cores;
  (void)thread;
}

void pc_affinity_start_elsewhere(const pc_affinity *cores, void *attributes) {
  (void)cores;
  (void)attributes;
}

void pc_affinity_release(const pc_affinity *cores) {
  (void)cores;
}
