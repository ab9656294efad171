/* Pictures made of letters. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "page.h"
#include "propercal.h"

/* The reliability diagram of results: a column for each bin, as high as the share of hits, with
 * a line at the mean score, and the share of rows below.  Nothing where there are no bins. */
void cli_put_reliability(cli_page *page, const pcal_results *results);

#endif
