#include "draw.h"

#include <string.h>
#include <strings.h>

#include "convert.h"

const char *cli_draw_format(const char *path) {
  static const char *const formats[] = {"svg", "png", "pdf"};
  const char *ending = cli_ending(path);
  if (!*ending)
    return "svg";
  for (size_t i = 0; i < CLI_COUNT_OF(formats); i++)
    if (strcasecmp(ending, formats[i]) == 0)
      return formats[i];
  return NULL;
}

pcal_status cli_draw(const cli_session *session, const pcal_figure *figure, const char *format,
                     cli_page *page, pcal_error *err) {
  pcal_status status =
      pcal_figure_svg(figure, session->options.theme, cli_page_sink, page, err);
  status = cli_page_outcome(page, status, err);
  if (status != PCAL_OK || strcmp(format, "svg") == 0)
    return status;
  cli_page svg = *page;
  *page = (cli_page)CLI_PAGE_INIT;
  status = cli_convert(&svg, format, session->options.output, page, err);
  cli_page_free(&svg);
  return status;
}
