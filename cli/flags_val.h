/* The --val flags: a second data set. */
#ifndef CLI_SECOND_SET_H
#define CLI_SECOND_SET_H

#include "session.h"

extern const cli_section cli_section_val;

int cli_has_val(const cli_options *options);

/* Opens the second data set; *out stays NULL if there is none. */
pcal_status cli_val_open(cli_session *session, pcal_source **out, pcal_error *err);

/* Opens a source as if its inputs were given by the common flags. */
pcal_status cli_inputs_open(cli_session *session, const cli_inputs *inputs, pcal_source **out,
                            pcal_error *err);

#endif
