/* Figures as SVG, PNG or PDF. */
#ifndef CLI_DRAW_H
#define CLI_DRAW_H

#include "session.h"

/* The format by file extension: "svg", "png", "pdf", or NULL if unknown.  A path without an
 * extension, such as a pipe or device, is "svg". */
const char *cli_figure_render_format(const char *path);

/* Appends the bytes of a figure in that format. */
pcal_status cli_figure_render(const cli_session *session, const pcal_figure *figure,
                              const char *format, cli_text_buffer *buffer, pcal_error *err);

#endif
