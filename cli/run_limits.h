/* Bounds that the command line sets on a run: memory and time. */
#ifndef CLI_RUN_LIMITS_H
#define CLI_RUN_LIMITS_H

#include "session.h"

/* The exit code of a run that --timeout has ended, as that of timeout(1). */
#define CLI_TIMED_OUT 124

/* Sets the memory budget of the session and starts the clock, by --memory-limit and --timeout.
 */
pcal_status cli_run_limits_start(cli_session *session, pcal_error *err);
void cli_run_limits_end(cli_session *session);

/* Fails with PCAL_MEMORY when a block that the program itself allocates would exceed the limit:
 * what is "reading x.json", the remedy "ask for fewer --rows". */
pcal_status cli_run_limits_check(const cli_session *session, uint64_t bytes, const char *what,
                                 const char *remedy, pcal_error *err);

#endif
