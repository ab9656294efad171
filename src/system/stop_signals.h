/* Events that end the program: an interruption, a time limit, a mapped file that was truncated.
 * Only for the program: a library must not handle signals. */
#ifndef PC_STOP_SIGNALS_H
#define PC_STOP_SIGNALS_H

#include <stddef.h>

/* Handlers must end the program.  They may call pc_path_remove, pc_path_describe, pc_file_write
 * and _Exit, and nothing else. */
typedef struct pc_stop_handlers {
  void (*stopped)(int exit_code); /* 128 + number of the signal */
  void (*timed_out)(void);
  void (*truncated)(void); /* a mapped file was truncated */
} pc_stop_handlers;

/* Installs the handlers.  A signal that the parent process ignores stays ignored; writing to a
 * closed pipe or beyond the limit on the size of files fails instead of ending the program. */
void pc_stop_signals_start(const pc_stop_handlers *handlers);

/* Calls timed_out after that time; returns 0 if the system cannot. */
int pc_stop_signals_set_timer(double seconds);

/* Delays the handlers.  Threads started in between never run them. */
typedef union pc_stop_mask {
  max_align_t align;
  unsigned char bytes[128];
} pc_stop_mask;

void pc_stop_signals_block(pc_stop_mask *saved);
void pc_stop_signals_unblock(const pc_stop_mask *saved);

#endif
