/* Output files that would overwrite an input or each other. */
#ifndef CLI_SAME_FILE_H
#define CLI_SAME_FILE_H

#include "session.h"

/* True if two paths name the same file, through links or different spellings, even if it
 * does not exist yet.  False for pipes and devices. */
int cli_same_file(const char *one, const char *other);

/* Fails if an output would overwrite another output or an input of the command. */
pcal_status cli_check_file_conflicts(cli_session *session, pcal_error *err);

/* Fails if a file that the flag of this name writes is an input or another output. */
pcal_status cli_check_output_file(cli_session *session, const char *flag, const char *file,
                                  pcal_error *err);

#endif
