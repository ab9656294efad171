/* Handlers run in threads of the system: a lock delays them.  Nothing truncates a mapped file
 * here. */
#include "system/stop_signals.h"

#include <windows.h>

static pc_stop_handlers stop_handlers;
static SRWLOCK stop_lock = SRWLOCK_INIT;

static BOOL WINAPI stop_console(DWORD event) {
  AcquireSRWLockExclusive(&stop_lock);
  stop_handlers.stopped(128 + (event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT ? 2 : 15));
  return TRUE;
}

static void CALLBACK stop_timed_out(void *user, BOOLEAN fired) {
  (void)user;
  (void)fired;
  AcquireSRWLockExclusive(&stop_lock);
  stop_handlers.timed_out();
}

void pc_stop_signals_start(const pc_stop_handlers *handlers) {
  stop_handlers = *handlers;
  SetConsoleCtrlHandler(stop_console, TRUE);
}

int pc_stop_signals_set_timer(double seconds) {
  HANDLE timer;
  const double milliseconds = seconds * 1000.0;
  return CreateTimerQueueTimer(&timer, NULL, stop_timed_out, NULL,
                               milliseconds < 4e9 ? (DWORD)milliseconds : 4000000000u, 0,
                               WT_EXECUTEONLYONCE) != 0;
}

void pc_stop_signals_block(pc_stop_mask *saved) {
  (void)saved;
  AcquireSRWLockExclusive(&stop_lock);
}

void pc_stop_signals_unblock(const pc_stop_mask *saved) {
  (void)saved;
  ReleaseSRWLockExclusive(&stop_lock);
}
