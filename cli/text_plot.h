/* Pictures made of letters. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "propercal.h"
#include "text_buffer.h"

/* The reliability diagram of results: a column for each bin, as high as the share of hits, with
 * a line at the mean score, and the share of rows below.  Nothing where there are no bins. */
void cli_put_reliability(cli_text_buffer *page, const pcal_results *results);

#endif
