/* Input flags that name several files: repeated, or with a pattern such as 'part-*.csv'. */
#ifndef CLI_INPUT_FILES_H
#define CLI_INPUT_FILES_H

#include "session.h"

/* The files that the value of an input flag stands for, in order: the value and the values of the
 * same flag given again, each of them a file or a pattern.  Beside --data, and
 * --val-data for the flags --val-..., a plain word is a column of its files.  The list belongs
 * to the session, which frees it.  Fails with PCAL_IO if a pattern matches no file. */
pcal_status cli_input_files(cli_session *session, const char *value, const cli_words **out,
                            pcal_error *err);
/* Lists the files of all these inputs, for later calls. */
pcal_status cli_input_files_all(cli_session *session, const cli_inputs *in, pcal_error *err);
/* True if a word ends as files of data do, also of formats that are not read. */
int cli_has_data_ending(const char *value);
/* True if the value of an input flag is a column of --data or --val-data. */
int cli_input_is_column(const cli_session *session, const char *value);
/* True if one of these inputs, --data included, is read from standard input. */
int cli_inputs_use_standard_input(const cli_session *session, const cli_inputs *in);
void cli_input_files_free(cli_session *session);

#endif
