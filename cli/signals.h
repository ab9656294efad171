/* Signals: whatever ends the program, no temporary file stays behind. */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include <signal.h>

#include "propercal.h"

/* Gives standard streams that are closed a harmless descriptor, ignores SIGPIPE, and catches
 * the signals that end the program.  An interrupt that was ignored stays ignored. */
void cli_signals_start(void);

/* Lets SIGALRM end the program with this exit code, with a sentence about --timeout. */
void cli_signals_set_timeout(const char *seconds, int code);

/* Holds the ending signals back while a file is created and its name noted; threads that are
 * started in between never receive them. */
void cli_signals_block(sigset_t *saved);
void cli_signals_unblock(const sigset_t *saved);

/* Notes a file to remove when a signal ends the program; returns its slot, or -1 when name is
 * NULL or there is no room. */
int cli_signals_add_temporary(const char *name);
void cli_signals_drop_temporary(int slot);

/* Notes an input file, with its size, so that one that shrinks while it is mapped can be named.
 * What follows the last colon is left out when there is no such file. */
void cli_signals_watch_input(const char *input);

/* Whether a progress line stands on the terminal and must be ended before a message. */
void cli_signals_progress(int shown);

#endif
