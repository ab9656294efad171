/* The progress bar on standard error. */
#ifndef CLI_PROGRESS_BAR_H
#define CLI_PROGRESS_BAR_H

#include <stdint.h>

/* Begins to count time. */
void cli_progress_start(void);

/* A `progress` callback of pcal_env.  Draws at most ten times a second, and nothing in the first
 * half second. */
void cli_progress_draw(void *user, const char *what, uint64_t done, uint64_t total);

/* Clears the progress line, if one is shown. */
void cli_progress_clear(void);

#endif
