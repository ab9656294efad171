/* Limits of a run: --memory-limit and --timeout. */
#ifndef CLI_RUN_LIMITS_H
#define CLI_RUN_LIMITS_H

#include "session.h"

/* Exit code after --timeout, as of timeout(1). */
#define CLI_TIMED_OUT 124

/* Creates the memory budget of the session and starts the timer. */
pcal_status cli_run_limits_start(cli_session *session, pcal_error *err);
void cli_run_limits_end(cli_session *session);

/* Fails with PCAL_MEMORY if a block allocated by the program itself would exceed the limit.
 * `what` is for example "reading x.json", `remedy` "ask for fewer --rows". */
pcal_status cli_run_limits_check(const cli_session *session, uint64_t bytes, const char *what,
                                 const char *remedy, pcal_error *err);

#endif
