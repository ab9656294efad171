/* Conversion of figures by another program. */
#ifndef CLI_CONVERT_H
#define CLI_CONVERT_H

#include "text_buffer.h"

/* Whether rsvg-convert can be found. */
int cli_rsvg_convert_available(void);

/* Turns an SVG text into "png" or "pdf" through rsvg-convert; path is for the sentence when it
 * cannot. */
pcal_status cli_rsvg_convert(const cli_text_buffer *svg, const char *format, const char *path,
                             cli_text_buffer *out, pcal_error *err);

#endif
