#include "progress_bar.h"

#include <stdio.h>
#include <string.h>

#include "propercal.h"
#include "signals.h"
#include "system/clock.h"

#define PROGRESS_COLUMNS 30
#define PROGRESS_STEP 64

typedef struct progress_state {
  int shown;
  double started, drawn; /* seconds */
  char what[PROGRESS_STEP];
  double step_started; /* of the step `what` */
  uint64_t step_first, step_done;
} progress_state;

static progress_state progress;

/* Notices that a step begins: another name, or fewer done than before. */
static void progress_follow_step(const char *what, uint64_t done, double now) {
  if (strncmp(progress.what, what, sizeof progress.what - 1) != 0 ||
      done < progress.step_done) {
    snprintf(progress.what, sizeof progress.what, "%s", what);
    progress.step_started = now;
    progress.step_first = done;
  }
  progress.step_done = done;
}

/* Writes how long a step will take at its pace so far; "" in its first second. */
static void progress_write_time_left(uint64_t done, uint64_t total, double now, char *out,
                                     size_t size) {
  const double passed = now - progress.step_started;
  const uint64_t made = done - progress.step_first;
  *out = '\0';
  if (passed < 1.0 || made == 0)
    return;
  const double left = passed * (double)(total - done) / (double)made;
  if (left < 120.0)
    snprintf(out, size, "%.0f s left", left);
  else if (left < 7200.0)
    snprintf(out, size, "%.0f min left", left / 60.0);
  else
    snprintf(out, size, "%.0f h left", left / 3600.0);
}

void cli_progress_draw(void *user, const char *what, uint64_t done, uint64_t total) {
  (void)user;
  const double now = pc_clock_seconds();
  progress_follow_step(what, done, now);
  if (now - progress.started < 0.5 || now - progress.drawn < 0.1)
    return;
  progress.drawn = now;
  progress.shown = 1;
  cli_signals_progress(1);
  if (total == 0 || total == PCAL_NO_ROW || done > total) {
    fprintf(stderr, "\r%-20.20s %20llu %-16s", what, (unsigned long long)done, "");
    return;
  }
  const double share = (double)done / (double)total;
  char bar[PROGRESS_COLUMNS + 1], left[32];
  progress_write_time_left(done, total, now, left, sizeof left);
  for (int i = 0; i < PROGRESS_COLUMNS; i++)
    bar[i] = i < (int)(share * PROGRESS_COLUMNS) ? '#' : '.';
  bar[PROGRESS_COLUMNS] = '\0';
  fprintf(stderr, "\r%-20.20s [%s] %3d%% %-14s", what, bar, (int)(share * 100), left);
}

void cli_progress_clear(void) {
  if (!progress.shown)
    return;
  fprintf(stderr, "\r%76s\r", "");
  progress.shown = 0;
  cli_signals_progress(0);
}

void cli_progress_start(void) {
  progress.started = pc_clock_seconds();
}
