/* Reconstructs the command line, so that a report can show how to reproduce it. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "session.h"

/* Appends the flags of a section that differ from their defaults, in table order, each after a
 * space and quoted for a shell.  A prefix `strip` is removed from flag names. */
void cli_put_flags(cli_text_buffer *buffer, const cli_options *options,
                   const cli_section *section, const char *strip);

#endif
