/* Threads, locks and conditions: a ring of threads passes a number on. */
#include "system/threads.h"

#include "../unit.h"

enum { THREADS = 4, ROUNDS = 250 };

typedef struct ring {
  pc_mutex lock;
  pc_condition turned;
  size_t turn, passed;
} ring;

typedef struct ring_seat {
  ring *shared;
  size_t index;
} ring_seat;

static void *ring_main(void *user) {
  const ring_seat *seat = user;
  ring *shared = seat->shared;
  for (int i = 0; i < ROUNDS; i++) {
    pc_mutex_lock(&shared->lock);
    while (shared->turn != seat->index)
      pc_condition_wait(&shared->turned, &shared->lock);
    shared->turn = (shared->turn + 1) % THREADS;
    shared->passed++;
    pc_condition_broadcast(&shared->turned);
    pc_mutex_unlock(&shared->lock);
  }
  return NULL;
}

TEST(test_threads_take_turns) {
  const pc_affinity cores = pc_affinity_current();
  pc_thread threads[THREADS];
  ring_seat seats[THREADS];
  ring shared = {.turn = 0};
  assert_true(pc_mutex_init(&shared.lock));
  pc_condition_init(&shared.turned);
  for (size_t t = 0; t < THREADS; t++) {
    seats[t] = (ring_seat){&shared, t};
    assert_true(pc_thread_start(&threads[t], &cores, ring_main, &seats[t]));
  }
  for (size_t t = 0; t < THREADS; t++)
    pc_thread_join(&threads[t]);
  assert_int_equal(shared.passed, THREADS * ROUNDS);
  pc_condition_destroy(&shared.turned);
  pc_mutex_destroy(&shared.lock);
}

TEST(test_a_taken_lock_is_refused) {
  pc_mutex lock;
  assert_true(pc_mutex_init(&lock));
  assert_true(pc_mutex_try_lock(&lock));
  assert_false(pc_mutex_try_lock(&lock));
  pc_mutex_unlock(&lock);
  assert_true(pc_mutex_try_lock(&lock));
  pc_mutex_unlock(&lock);
  pc_mutex_destroy(&lock);
}
