/* The outcomes of gates as JSON, as JUnit XML, and as annotations of GitHub Actions. */
#ifndef CLI_GATE_REPORT_H
#define CLI_GATE_REPORT_H

#include "session.h"

/* One gate on all rows or on one group. */
typedef struct cli_gate_outcome {
  const char *gate;  /* as written on the command line */
  const char *group; /* NULL: all rows */
  double value;      /* NaN: undefined */
  int failed;
  char *message; /* for people; owned */
} cli_gate_outcome;

typedef struct cli_gate_outcomes {
  cli_gate_outcome *list;
  size_t count, capacity;
} cli_gate_outcomes;

/* Appends an outcome, which is then owned by the list; fails if memory runs out. */
pcal_status cli_gate_outcomes_add(cli_gate_outcomes *outcomes, const cli_gate_outcome *outcome,
                                  pcal_error *err);
void cli_gate_outcomes_free(cli_gate_outcomes *outcomes);

/* Checks the name of the file of --gate-report: it ends in .json or .xml. */
pcal_status cli_gate_report_check(const cli_options *options, pcal_error *err);

/* Writes the file of --gate-report and, with --annotate, annotations on standard error. */
pcal_status cli_gate_report_write(cli_session *session, const cli_gate_outcomes *outcomes,
                                  pcal_error *err);

#endif
