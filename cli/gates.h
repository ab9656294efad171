/* Gates: --fail-if 'METRIC[.low|.high|.p_value][@GROUP] OP NUMBER'.
 *
 * A gate fails if the comparison is true, or if the value is undefined or infinite.  The
 * text is split at its last < or >.  @each judges every group by itself, @worst only the group
 * with the worst value, @NAME one group; otherwise all rows are judged. */
#ifndef CLI_GATES_H
#define CLI_GATES_H

#include "gate_report.h"

#define CLI_SPEC_MAX 512

typedef enum cli_gate_field {
  CLI_GATE_VALUE,
  CLI_GATE_LOW,
  CLI_GATE_HIGH,
  CLI_GATE_P_VALUE
} cli_gate_field;

typedef enum cli_gate_scope {
  CLI_GATE_ALL,
  CLI_GATE_EACH,
  CLI_GATE_WORST,
  CLI_GATE_NAMED
} cli_gate_scope;

typedef struct cli_gate {
  const char *text; /* as on the command line */
  cli_gate_scope scope;
  const char *group; /* of CLI_GATE_NAMED; part of `metric` */
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

/* The flags --fail-if, --baseline, --gate-report and --annotate. */
extern const cli_section cli_section_gates;

/* Parses the gates of the command line.  Call cli_gates_free even after a failure. */
pcal_status cli_gates_parse(const cli_options *options, cli_gates *out, pcal_error *err);
void cli_gates_free(cli_gates *gates);

/* Evaluates the gates; results is NULL if there were no rows.  Prints a line on standard
 * error for each gate that fails, sets session->gates_failed, and writes the report. */
pcal_status cli_gates_judge(cli_session *session, const cli_gates *gates,
                            const pcal_results *results, pcal_error *err);

#endif
