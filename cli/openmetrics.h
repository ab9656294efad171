/* Results in the OpenMetrics text format, which Prometheus and other monitoring systems scrape. */
#ifndef CLI_OPENMETRICS_H
#define CLI_OPENMETRICS_H

#include "session.h"

/* True if --format openmetrics was given. */
int cli_openmetrics_wanted(const cli_options *options);

void cli_put_openmetrics(cli_text_buffer *buffer, const pcal_results *results);

#endif
