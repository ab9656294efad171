/* Gates: --fail-if 'METRIC[.low|.high|.p_value] OP NUMBER'.
 *
 * A gate fails if the comparison is true, or if the value is undefined or infinite.  The
 * text is split at its last < or >. */
#ifndef CLI_GATES_H
#define CLI_GATES_H

#include "session.h"

#define CLI_SPEC_MAX 512

typedef enum cli_gate_field {
  CLI_GATE_VALUE,
  CLI_GATE_LOW,
  CLI_GATE_HIGH,
  CLI_GATE_P_VALUE
} cli_gate_field;

typedef struct cli_gate {
  char metric[CLI_SPEC_MAX];
  cli_gate_field field;
  char compare; /* '<' or '>' */
  int or_equal;
  double number;
} cli_gate;

typedef struct cli_gates {
  cli_gate *gate;
  size_t count;
} cli_gates;

/* The flag --fail-if. */
extern const cli_section cli_section_gates;

/* Parses the gates of the command line.  Call cli_gates_free even after a failure. */
pcal_status cli_gates_parse(const cli_options *options, cli_gates *out, pcal_error *err);
void cli_gates_free(cli_gates *gates);

/* Evaluates the gates; results is NULL if there were no rows.  Prints a line on standard
 * error for each gate that fails and sets session->gates_failed. */
pcal_status cli_gates_judge(cli_session *session, const cli_gates *gates,
                            const pcal_results *results, pcal_error *err);

#endif
