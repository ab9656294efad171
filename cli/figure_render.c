#include "figure_render.h"

#include <string.h>
#include <strings.h>

#include "rsvg_convert.h"

const char *cli_figure_render_format(const char *path) {
  static const char *const formats[] = {"svg", "png", "pdf"};
  const char *ending = cli_file_extension(path);
  if (!*ending)
    return "svg";
  for (size_t i = 0; i < CLI_COUNT_OF(formats); i++)
    if (strcasecmp(ending, formats[i]) == 0)
      return formats[i];
  return NULL;
}

pcal_status cli_figure_render(const cli_session *session, const pcal_figure *figure,
                              const char *format, cli_text_buffer *buffer, pcal_error *err) {
  pcal_theme theme = PCAL_THEME_AUTO;
  pcal_status status = pcal_theme_parse(session->options.theme, &theme, err);
  if (status == PCAL_OK)
    status = pcal_figure_write(figure, PCAL_SVG, theme, cli_text_buffer_sink, buffer, err);
  status = cli_text_buffer_status(buffer, status, err);
  if (status != PCAL_OK || strcmp(format, "svg") == 0)
    return status;
  cli_text_buffer svg = *buffer;
  *buffer = (cli_text_buffer)CLI_TEXT_BUFFER_INIT;
  status = cli_rsvg_convert(&svg, format, session->options.dpi, session->options.output, buffer,
                            err);
  cli_text_buffer_free(&svg);
  return status;
}
