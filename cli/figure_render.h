/* Figures as files. */
#ifndef CLI_DRAW_H
#define CLI_DRAW_H

#include "session.h"

/* Format by the ending of a path: "svg", "png", "pdf", or NULL.  A name without an ending, such
 * as a pipe or a device, gets SVG. */
const char *cli_figure_render_format(const char *path);

/* The bytes of a figure in that format. */
pcal_status cli_figure_render(const cli_session *session, const pcal_figure *figure,
                              const char *format, cli_text_buffer *page, pcal_error *err);

#endif
