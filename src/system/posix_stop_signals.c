#include "system/stop_signals.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

_Static_assert(sizeof(sigset_t) <= sizeof(pc_stop_mask), "room for a set of signals");

static pc_stop_handlers stop_handlers;

static const int stop_ending[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
#define STOP_ENDING_COUNT (sizeof stop_ending / sizeof stop_ending[0])

static void stop_ended(int signal_number) {
  stop_handlers.stopped(128 + signal_number);
}

static void stop_timed_out(int signal_number) {
  (void)signal_number;
  stop_handlers.timed_out();
}

static void stop_truncated(int signal_number) {
  (void)signal_number;
  stop_handlers.truncated();
}

static void stop_ending_set(sigset_t *set) {
  sigemptyset(set);
  for (size_t i = 0; i < STOP_ENDING_COUNT; i++)
    sigaddset(set, stop_ending[i]);
}

static void stop_catch(int signal_number, void (*handler)(int), int keep_ignored) {
  struct sigaction action;
  if (keep_ignored && sigaction(signal_number, NULL, &action) == 0 &&
      action.sa_handler == SIG_IGN)
    return;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  stop_ending_set(&action.sa_mask);
  sigaction(signal_number, &action, NULL);
}

void pc_stop_signals_start(const pc_stop_handlers *handlers) {
  stop_handlers = *handlers;
  stop_catch(SIGPIPE, SIG_IGN, 0);
  stop_catch(SIGXFSZ, SIG_IGN, 0);
  stop_catch(SIGBUS, stop_truncated, 0);
  for (size_t i = 0; i < STOP_ENDING_COUNT; i++)
    if (stop_ending[i] != SIGALRM)
      stop_catch(stop_ending[i], stop_ended, 1);
}

int pc_stop_signals_set_timer(double seconds) {
  const double whole = floor(seconds);
  const struct itimerval timer = {
      .it_value = {(time_t)whole, (suseconds_t)((seconds - whole) * 1e6)}};
  stop_catch(SIGALRM, stop_timed_out, 0);
  return setitimer(ITIMER_REAL, &timer, NULL) == 0;
}

void pc_stop_signals_block(pc_stop_mask *saved) {
  sigset_t ending;
  stop_ending_set(&ending);
  pthread_sigmask(SIG_BLOCK, &ending, (sigset_t *)(void *)saved);
}

void pc_stop_signals_unblock(const pc_stop_mask *saved) {
  pthread_sigmask(SIG_SETMASK, (const sigset_t *)(const void *)saved, NULL);
}
