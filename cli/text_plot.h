/* Plots in text characters. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "propercal.h"
#include "text_buffer.h"

/* Appends a reliability diagram: for each bin a column as high as its accuracy, a line at
 * its mean score, and below it the share of rows.  Appends nothing if there are no bins. */
void cli_put_reliability(cli_text_buffer *buffer, const pcal_results *results);

#endif
