/* 1. SIGINT, SIGTERM, SIGHUP, or closing the console: remove the registered files, exit with
 *      128 + signal (130).
 *   2. SIGBUS: a mapped input file was truncated; print its name, exit with 4.
 *   3. --timeout expired; as 1, with a message and exit code 124.
 * The handlers call only what stop_signals.h allows. */
#include "signals.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "system/paths.h"

#define SIGNALS_FILES 16
#define SIGNALS_INPUTS 16
#define SIGNALS_NAME_MAX 4352

static char signals_file[SIGNALS_FILES][SIGNALS_NAME_MAX];
static atomic_int signals_file_used[SIGNALS_FILES];
static char signals_input[SIGNALS_INPUTS][SIGNALS_NAME_MAX];
static char signals_input_shown[SIGNALS_INPUTS][SIGNALS_NAME_MAX]; /* escaped for a terminal */
static uint64_t signals_input_size[SIGNALS_INPUTS];
static atomic_int signals_input_count;
static atomic_int signals_progress_shown;

static char signals_time[160]; /* message of --timeout */
static int signals_time_code;

static void signals_say(const char *text) {
  if (pc_file_write(PC_STANDARD_ERROR, text, strlen(text)) < 0)
    return;
}

static void signals_leave(int code) {
  for (int slot = 0; slot < SIGNALS_FILES; slot++)
    if (signals_file_used[slot])
      (void)pc_path_remove(signals_file[slot]);
  _Exit(code);
}

static void signals_end(int exit_code) {
  signals_say(signals_progress_shown ? "\npropercal: interrupted\n"
                                     : "propercal: interrupted\n");
  signals_leave(exit_code);
}

static void signals_timed_out(void) {
  signals_say(signals_progress_shown ? "\npropercal: " : "propercal: ");
  signals_say(signals_time);
  signals_leave(signals_time_code);
}

static void signals_shrunk(void) {
  const char *name = "an input file";
  for (int i = 0; i < signals_input_count; i++) {
    pc_file_info now;
    if (pc_path_describe(signals_input[i], &now) != 0 || now.size < signals_input_size[i])
      name = signals_input_shown[i];
  }
  signals_say(signals_progress_shown ? "\npropercal: " : "propercal: ");
  signals_say(name);
  signals_say(": the file was truncated while it was read; "
              "run again when nothing writes to it\n");
  signals_leave(pcal_status_exit_code(PCAL_IO));
}

void cli_signals_start(void) {
  const pc_stop_handlers handlers = {signals_end, signals_timed_out, signals_shrunk};
  pc_stop_signals_start(&handlers);
}

void cli_signals_set_timeout(const char *seconds, int code) {
  snprintf(signals_time, sizeof signals_time,
           "stopped after %.30s seconds (--timeout); output files are unchanged\n", seconds);
  signals_time_code = code;
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
  pc_file_info now;
  char *colon = strrchr(name, ':');
  int found = pc_path_describe(name, &now) == 0;
  if (!found && colon) {
    *colon = '\0';
    found = pc_path_describe(name, &now) == 0;
  }
  if (!found || now.kind != PC_FILE_REGULAR)
    return;
  cli_escape_terminal(name, signals_input_shown[slot], SIGNALS_NAME_MAX);
  signals_input_size[slot] = now.size;
  signals_input_count = slot + 1;
}

void cli_signals_progress(int shown) {
  signals_progress_shown = shown;
}
