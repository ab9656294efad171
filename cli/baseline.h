/* --baseline FILE: results beside those of an earlier run. */
#ifndef CLI_BASELINE_H
#define CLI_BASELINE_H

#include "gate_report.h"

/* Compares results with the file of --baseline; does nothing without that flag or without
 * results. */
pcal_status cli_baseline_compare(cli_session *session, pcal_results *results, pcal_error *err);

/* Adds an outcome for each result that could be compared.  Prints a line on standard error for
 * each that is worse by more than chance, and sets session->gates_failed. */
pcal_status cli_baseline_judge(cli_session *session, const pcal_results *results,
                               cli_gate_outcomes *outcomes, pcal_error *err);

#endif
