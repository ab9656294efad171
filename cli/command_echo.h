/* The command line written back, for people who want to run it again. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "session.h"

/* Appends the flags of a section that the options set, each after a space, in the order of the
 * table; words are quoted for a shell.  Of the names, `strip` is left out where they begin with
 * it. */
void cli_put_flags(cli_text_buffer *page, const cli_options *options,
                   const cli_section *section, const char *strip);

#endif
