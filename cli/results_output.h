/* Output of measure and merge: the results, and with --state the saved state. */
#ifndef CLI_TELL_H
#define CLI_TELL_H

#include "gates.h"

/* Flags for format and output files. */
extern const cli_section cli_section_results_output;

/* Both outputs, opened before any work is done. */
typedef struct cli_results_output {
  cli_output results, state;
  int has_state;
} cli_results_output;

/* Checks the flags and opens the outputs.  After a failure nothing needs closing. */
pcal_status cli_results_output_open(cli_session *session, cli_results_output *output,
                                    pcal_error *err);

/* Writes the state, if requested, and computes the results.  If there are no rows but a
 * state was requested, succeeds with *results NULL and prints a note. */
pcal_status cli_results_output_finish(cli_session *session, cli_results_output *output,
                                      const pcal_measure *measure, pcal_results **results,
                                      pcal_error *err);

/* If status is PCAL_OK, writes the results (unless NULL), evaluates the gates, and commits
 * results, state, tables and the report of the gates together.  Otherwise discards all of them.
 * Returns the first failure. */
pcal_status cli_results_output_close(cli_session *session, cli_results_output *output,
                                     const pcal_results *results, const cli_gates *gates,
                                     pcal_status status, pcal_error *err);

#endif
