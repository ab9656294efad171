/* 1. SIGINT, SIGTERM, SIGHUP: remove the registered files, exit with 128 + signal (130).
 *   2. SIGBUS: a mapped input file was truncated; print its name, exit with 4.
 *   3. SIGALRM: --timeout expired; as 1, with a message and exit code 124.
 *   4. SIGPIPE and SIGXFSZ are ignored: a write to a closed pipe, or beyond the file size
 *      limit, returns an error instead.
 * The handlers call only async-signal-safe functions: unlink, stat, write, _exit. */
#include "signals.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"

#define SIGNALS_FILES 4
#define SIGNALS_INPUTS 16
#define SIGNALS_NAME_MAX 4352

static char signals_file[SIGNALS_FILES][SIGNALS_NAME_MAX];
static volatile sig_atomic_t signals_file_used[SIGNALS_FILES];
static char signals_input[SIGNALS_INPUTS][SIGNALS_NAME_MAX];
static char signals_input_shown[SIGNALS_INPUTS][SIGNALS_NAME_MAX]; /* escaped for a terminal */
static off_t signals_input_size[SIGNALS_INPUTS];
static volatile sig_atomic_t signals_input_count;
static volatile sig_atomic_t signals_progress_shown;

static char signals_time[160]; /* message of --timeout */
static int signals_time_code;

static const int signals_ending[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
#define SIGNALS_ENDING_COUNT (sizeof signals_ending / sizeof signals_ending[0])

static void signals_say(const char *text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0)
    return;
}

static void signals_leave(int code) {
  for (int slot = 0; slot < SIGNALS_FILES; slot++)
    if (signals_file_used[slot])
      unlink(signals_file[slot]);
  _exit(code);
}

static void signals_end(int signal_number) {
  signals_say(signals_progress_shown ? "\npropercal: interrupted\n"
                                     : "propercal: interrupted\n");
  signals_leave(128 + signal_number);
}

static void signals_timed_out(int signal_number) {
  (void)signal_number;
  signals_say(signals_progress_shown ? "\npropercal: " : "propercal: ");
  signals_say(signals_time);
  signals_leave(signals_time_code);
}

static void signals_shrunk(int signal_number) {
  (void)signal_number;
  const char *name = "an input file";
  for (int i = 0; i < signals_input_count; i++) {
    struct stat now;
    if (stat(signals_input[i], &now) != 0 || now.st_size < signals_input_size[i])
      name = signals_input_shown[i];
  }
  signals_say(signals_progress_shown ? "\npropercal: " : "propercal: ");
  signals_say(name);
  signals_say(": the file was truncated while it was read; "
              "run again when nothing writes to it\n");
  signals_leave(pcal_status_exit_code(PCAL_IO));
}

static void signals_ending_set(sigset_t *set) {
  sigemptyset(set);
  for (size_t i = 0; i < SIGNALS_ENDING_COUNT; i++)
    sigaddset(set, signals_ending[i]);
}

static void signals_catch(int signal_number, void (*handler)(int), int keep_ignored) {
  struct sigaction action;
  if (keep_ignored && sigaction(signal_number, NULL, &action) == 0 &&
      action.sa_handler == SIG_IGN)
    return;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  signals_ending_set(&action.sa_mask);
  sigaction(signal_number, &action, NULL);
}

/* Opened read-only, so that writes to a stream that was closed fail. */
static void signals_streams(void) {
  for (int descriptor = 0; descriptor <= 2; descriptor++)
    if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
      return;
}

void cli_signals_start(void) {
  signals_streams();
  signals_catch(SIGPIPE, SIG_IGN, 0);
  signals_catch(SIGXFSZ, SIG_IGN, 0);
  signals_catch(SIGBUS, signals_shrunk, 0);
  for (size_t i = 0; i < SIGNALS_ENDING_COUNT; i++)
    if (signals_ending[i] != SIGALRM)
      signals_catch(signals_ending[i], signals_end, 1);
}

void cli_signals_set_timeout(const char *seconds, int code) {
  snprintf(signals_time, sizeof signals_time,
           "stopped after %.30s seconds (--timeout); output files are unchanged\n", seconds);
  signals_time_code = code;
  signals_catch(SIGALRM, signals_timed_out, 0);
}

void cli_signals_block(sigset_t *saved) {
  sigset_t ending;
  signals_ending_set(&ending);
  pthread_sigmask(SIG_BLOCK, &ending, saved);
}

void cli_signals_unblock(const sigset_t *saved) {
  pthread_sigmask(SIG_SETMASK, saved, NULL);
}

int cli_signals_add_temporary(const char *name) {
  if (!name || strlen(name) >= SIGNALS_NAME_MAX)
    return -1;
  for (int slot = 0; slot < SIGNALS_FILES; slot++)
    if (!signals_file_used[slot]) {
      memcpy(signals_file[slot], name, strlen(name) + 1);
      signals_file_used[slot] = 1;
      return slot;
    }
  return -1;
}

void cli_signals_drop_temporary(int slot) {
  if (slot >= 0)
    signals_file_used[slot] = 0;
}

void cli_signals_watch_input(const char *input) {
  const int slot = (int)signals_input_count;
  const size_t length = input ? strlen(input) : 0;
  if (length == 0 || length >= SIGNALS_NAME_MAX || slot >= SIGNALS_INPUTS)
    return;
  char *name = signals_input[slot];
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
  cli_escape_terminal(name, signals_input_shown[slot], SIGNALS_NAME_MAX);
  signals_input_size[slot] = now.st_size;
  signals_input_count = slot + 1;
}

void cli_signals_progress(int shown) {
  signals_progress_shown = shown;
}
