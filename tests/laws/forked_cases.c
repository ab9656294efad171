#define _DEFAULT_SOURCE /* memory shared with a child is not in POSIX */
#include "forked_cases.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FORKED_FAILURES_MAX 40 /* after which the rest is not tried */

/* Written by the child. */
typedef struct forked_progress {
  atomic_size_t at; /* the case that runs */
} forked_progress;

static double forked_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void forked_child(const forked_cases *cases, forked_progress *progress, size_t first) {
  for (size_t i = first; i < cases->count; i++) {
    atomic_store(&progress->at, i);
    cases->run(i);
  }
  exit(0); /* not _exit, which loses the counters of make coverage */
}

/* Waits for a child; *late says that it was ended because a case took too long. */
static int forked_wait(const forked_cases *cases, const forked_progress *progress, pid_t child,
                       int *late) {
  const struct timespec pause = {0, 5000000};
  size_t seen = atomic_load(&progress->at);
  double since = forked_clock();
  int outcome = 0;
  *late = 0;
  while (waitpid(child, &outcome, WNOHANG) == 0) {
    const size_t now = atomic_load(&progress->at);
    if (now != seen)
      since = forked_clock();
    seen = now;
    if (!*late && forked_clock() - since > cases->seconds) {
      *late = 1;
      kill(child, SIGKILL);
    }
    nanosleep(&pause, NULL);
  }
  return outcome;
}

static void forked_report(const forked_cases *cases, size_t at, int outcome, int late) {
  char name[512];
  cases->name(at, name, sizeof name);
  if (late)
    fprintf(stderr, "%s: did not come back within %u seconds\n", name, cases->seconds);
  else if (WIFSIGNALED(outcome))
    fprintf(stderr, "%s: ended by signal %d\n", name, WTERMSIG(outcome));
  else
    fprintf(stderr, "%s: exit code %d\n", name, WEXITSTATUS(outcome));
}

size_t forked_cases_run(const forked_cases *cases) {
  size_t failures = 0;
  forked_progress *progress =
      mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (progress == MAP_FAILED)
    return 1;
  for (size_t first = 0; first < cases->count && failures < FORKED_FAILURES_MAX;) {
    int late = 0;
    atomic_store(&progress->at, first);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
      forked_child(cases, progress, first);
    if (child < 0)
      return failures + 1;
    const int outcome = forked_wait(cases, progress, child, &late);
    if (WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0)
      break;
    forked_report(cases, atomic_load(&progress->at), outcome, late);
    first = atomic_load(&progress->at) + 1;
    failures++;
  }
  munmap(progress, sizeof *progress);
  return failures;
}
