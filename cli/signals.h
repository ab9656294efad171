/* Signal handlers: no temporary file remains when a signal ends the program. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include "propercal.h"
#include "system/stop_signals.h"

/* Installs the handlers (system/stop_signals.h).  pc_stop_signals_block delays them while a file
 * is created and registered. */
void cli_signals_start(void);

/* The exit code and the message when the timer of --timeout ends the program. */
void cli_signals_set_timeout(const char *seconds, int code);

/* Registers a file to remove when a signal ends the program.  Returns its slot, or -1 if
 * name is NULL or all slots are used. */
int cli_signals_add_temporary(const char *name);
void cli_signals_drop_temporary(int slot);

/* Registers an input file and its size, so that a message can name a file that was
 * truncated while mapped.  If no such file exists, the part after the last colon is removed. */
void cli_signals_watch_input(const char *input);

/* Sets whether a progress line is shown, which messages must end first. */
void cli_signals_progress(int shown);

#endif
