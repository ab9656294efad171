/* Conversion of SVG to PNG and PDF by the program rsvg-convert. */
#ifndef CLI_CONVERT_H
#define CLI_CONVERT_H

#include "text_buffer.h"

/* True if rsvg-convert is on the PATH. */
int cli_rsvg_convert_available(void);

/* Converts an SVG to `format`, "png" or "pdf", and appends the bytes to `out`.  dpi: pixels for
 * 96 units; 0: 96.  `path`, the output file, is only used in messages. */
pcal_status cli_rsvg_convert(const cli_text_buffer *svg, const char *format, uint64_t dpi,
                             const char *path, cli_text_buffer *out, pcal_error *err);

#endif
