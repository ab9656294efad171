/* Conversion of figures by another program. */
#ifndef CLI_CONVERT_H
#define CLI_CONVERT_H

#include "page.h"

/* Whether rsvg-convert can be found. */
int cli_convert_available(void);

/* Turns an SVG text into "png" or "pdf" through rsvg-convert; path is for the sentence when it
 * cannot. */
pcal_status cli_convert(const cli_page *svg, const char *format, const char *path,
                        cli_page *out, pcal_error *err);

#endif
