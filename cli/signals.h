/* Signal handlers: no temporary file remains when a signal ends the program. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <signal.h>

#include "propercal.h"

/* Opens /dev/null for standard streams that are closed, ignores SIGPIPE and SIGXFSZ, and
 * installs the handlers.  A signal that the parent process ignores stays ignored. */
void cli_signals_start(void);

/* Makes SIGALRM end the program with this exit code and a message about --timeout. */
void cli_signals_set_timeout(const char *seconds, int code);

/* Blocks the ending signals while a file is created and registered; threads started in between
 * inherit the mask and never receive them. */
void cli_signals_block(sigset_t *saved);
void cli_signals_unblock(const sigset_t *saved);

/* Registers a file to remove when a signal ends the program.  Returns its slot, or -1 if
 * name is NULL or all slots are used. */
int cli_signals_add_temporary(const char *name);
void cli_signals_drop_temporary(int slot);

/* Registers an input file and its size, so that the SIGBUS message can name a file that was
 * truncated while mapped.  If no such file exists, the part after the last colon is removed. */
void cli_signals_watch_input(const char *input);

/* Sets whether a progress line is shown, which messages must end first. */
void cli_signals_progress(int shown);

#endif
