/*   1. SIGINT, SIGTERM, SIGHUP: remove the registered files, exit with 128 + signal (130).
 *   2. SIGBUS: a mapped input file was truncated; print its name, exit with 4.
 *   3. SIGALRM: --timeout expired; as 1, with a message and exit code 124.
 *   4. SIGPIPE and SIGXFSZ are ignored: a write to a closed pipe, or beyond the file size limit,
 *      returns an error instead.
 * The handlers call only async-signal-safe functions: unlink, stat, write, _exit. */
#include "signals.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"

#define GUARD_FILES 4
#define GUARD_INPUTS 16
#define GUARD_NAME_MAX 4352

static char guard_file[GUARD_FILES][GUARD_NAME_MAX];
static volatile sig_atomic_t guard_file_used[GUARD_FILES];
static char guard_input[GUARD_INPUTS][GUARD_NAME_MAX];
static char guard_input_shown[GUARD_INPUTS][GUARD_NAME_MAX]; /* escaped for a terminal */
static off_t guard_input_size[GUARD_INPUTS];
static volatile sig_atomic_t guard_input_count;
static volatile sig_atomic_t guard_progress_shown;

static char guard_time[160]; /* message of --timeout */
static int guard_time_code;

static const int guard_ending[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
#define GUARD_ENDING_COUNT (sizeof guard_ending / sizeof guard_ending[0])

static void guard_say(const char *text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0)
    return;
}

static void guard_leave(int code) {
  for (int slot = 0; slot < GUARD_FILES; slot++)
    if (guard_file_used[slot])
      unlink(guard_file[slot]);
  _exit(code);
}

static void guard_end(int signal_number) {
  guard_say(guard_progress_shown ? "\npropercal: interrupted\n" : "propercal: interrupted\n");
  guard_leave(128 + signal_number);
}

static void guard_timed_out(int signal_number) {
  (void)signal_number;
  guard_say(guard_progress_shown ? "\npropercal: " : "propercal: ");
  guard_say(guard_time);
  guard_leave(guard_time_code);
}

static void guard_shrunk(int signal_number) {
  (void)signal_number;
  const char *name = "an input file";
  for (int i = 0; i < guard_input_count; i++) {
    struct stat now;
    if (stat(guard_input[i], &now) != 0 || now.st_size < guard_input_size[i])
      name = guard_input_shown[i];
  }
  guard_say(guard_progress_shown ? "\npropercal: " : "propercal: ");
  guard_say(name);
  guard_say(": the file was truncated while it was read; "
            "run again when nothing writes to it\n");
  guard_leave(pcal_status_exit_code(PCAL_IO));
}

static void guard_ending_set(sigset_t *set) {
  sigemptyset(set);
  for (size_t i = 0; i < GUARD_ENDING_COUNT; i++)
    sigaddset(set, guard_ending[i]);
}

static void guard_catch(int signal_number, void (*handler)(int), int keep_ignored) {
  struct sigaction action;
  if (keep_ignored && sigaction(signal_number, NULL, &action) == 0 &&
      action.sa_handler == SIG_IGN)
    return;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  guard_ending_set(&action.sa_mask);
  sigaction(signal_number, &action, NULL);
}

/* Opened read-only, so that writes to a stream that was closed fail. */
static void guard_streams(void) {
  for (int descriptor = 0; descriptor <= 2; descriptor++)
    if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
      return;
}

void cli_signals_start(void) {
  guard_streams();
  guard_catch(SIGPIPE, SIG_IGN, 0);
  guard_catch(SIGXFSZ, SIG_IGN, 0);
  guard_catch(SIGBUS, guard_shrunk, 0);
  for (size_t i = 0; i < GUARD_ENDING_COUNT; i++)
    if (guard_ending[i] != SIGALRM)
      guard_catch(guard_ending[i], guard_end, 1);
}

void cli_signals_set_timeout(const char *seconds, int code) {
  snprintf(guard_time, sizeof guard_time,
           "stopped after %.30s seconds (--timeout); output files are unchanged\n", seconds);
  guard_time_code = code;
  guard_catch(SIGALRM, guard_timed_out, 0);
}

void cli_signals_block(sigset_t *saved) {
  sigset_t ending;
  guard_ending_set(&ending);
  pthread_sigmask(SIG_BLOCK, &ending, saved);
}

void cli_signals_unblock(const sigset_t *saved) {
  pthread_sigmask(SIG_SETMASK, saved, NULL);
}

int cli_signals_add_temporary(const char *name) {
  if (!name || strlen(name) >= GUARD_NAME_MAX)
    return -1;
  for (int slot = 0; slot < GUARD_FILES; slot++)
    if (!guard_file_used[slot]) {
      memcpy(guard_file[slot], name, strlen(name) + 1);
      guard_file_used[slot] = 1;
      return slot;
    }
  return -1;
}

void cli_signals_drop_temporary(int slot) {
  if (slot >= 0)
    guard_file_used[slot] = 0;
}

void cli_signals_watch_input(const char *input) {
  const int slot = (int)guard_input_count;
  const size_t length = input ? strlen(input) : 0;
  if (length == 0 || length >= GUARD_NAME_MAX || slot >= GUARD_INPUTS)
    return;
  char *name = guard_input[slot];
  memcpy(name, input, length + 1);
  struct stat now;
  char *colon = strrchr(name, ':');
  int found = stat(name, &now) == 0;
  if (!found && colon) {
    *colon = '\0';
    found = stat(name, &now) == 0;
  }
  if (!found || !S_ISREG(now.st_mode))
    return;
  cli_escape_terminal(name, guard_input_shown[slot], GUARD_NAME_MAX);
  guard_input_size[slot] = now.st_size;
  guard_input_count = slot + 1;
}

void cli_signals_progress(int shown) {
  guard_progress_shown = shown;
}
