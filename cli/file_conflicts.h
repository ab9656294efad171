/* Flags that name one file. */
#ifndef CLI_SAME_FILE_H
#define CLI_SAME_FILE_H

#include "session.h"

/* 1 if two names lead to one file that can be written: through links and other spellings, also
 * if it does not exist yet.  Pipes and devices are never the same. */
int cli_same_file(const char *one, const char *other);

/* Refuses outputs that would replace each other, or a file that the command reads. */
pcal_status cli_check_file_conflicts(const cli_session *session, pcal_error *err);

#endif
