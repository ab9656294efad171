#include "rsvg_convert.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "system/child_filter.h"

#define RSVG_CONVERT_PROGRAM "rsvg-convert"

static void rsvg_convert_receive(void *user, const char *bytes, size_t count) {
  cli_put_bytes(user, bytes, count);
}

int cli_rsvg_convert_available(void) {
  return pc_child_available(RSVG_CONVERT_PROGRAM);
}

pcal_status cli_rsvg_convert(const cli_text_buffer *svg, const char *format, uint64_t dpi,
                             const char *path, cli_text_buffer *out, pcal_error *err) {
  char zoom[32];
  const char *const words[] = {RSVG_CONVERT_PROGRAM,  "-f", format,
                               dpi > 0 ? "-z" : NULL, zoom, NULL};
  snprintf(zoom, sizeof zoom, "%" PRIu64 ".%03" PRIu64, dpi / 96, dpi % 96 * 1000 / 96);
  int finished;
  const int failure =
      pc_child_filter(words, svg->text, svg->length, rsvg_convert_receive, out, &finished);
  if (failure == ENOMEM)
    return cli_fail(err, PCAL_MEMORY, "out of memory while starting " RSVG_CONVERT_PROGRAM);
  if (failure != 0)
    return cli_fail(err, PCAL_IO,
                    "%s: PNG and PDF are made by the program " RSVG_CONVERT_PROGRAM
                    ", which cannot be started (%s); install librsvg2-bin or write .svg",
                    path, strerror(failure));
  if (out->failed)
    return cli_text_buffer_check(out, err);
  if (!finished || out->length == 0)
    return cli_fail(err, PCAL_IO, "%s: " RSVG_CONVERT_PROGRAM " failed; write .svg instead",
                    path);
  return PCAL_OK;
}
