/* What measure and merge tell: results, and with --state a saved state. */
#ifndef CLI_TELL_H
#define CLI_TELL_H

#include "gates.h"

/* The flags for format and files. */
extern const cli_section cli_section_results_output;

/* Both outputs, opened before the work begins. */
typedef struct cli_results_output {
  cli_output results, state;
  int has_state;
} cli_results_output;

/* Checks the flags and opens the outputs; when that fails there is nothing to end. */
pcal_status cli_results_output_open(cli_session *session, cli_results_output *tell,
                                    pcal_error *err);

/* The results of a measure, whose state is written first when one was asked for.  A state may
 * be of no rows at all: then *results stays NULL and a remark says why. */
pcal_status cli_results_output_finish(cli_session *session, cli_results_output *tell,
                                      const pcal_measure *measure, pcal_results **results,
                                      pcal_error *err);

/* Writes the results (none for NULL) when all went well so far, makes sure of both files before
 * either gets its name, and judges the gates.  Returns the first failure. */
pcal_status cli_results_output_close(cli_session *session, cli_results_output *tell,
                                     const pcal_results *results, const cli_gates *gates,
                                     pcal_status status, pcal_error *err);

#endif
