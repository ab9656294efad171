/* Public entry point for escaping untrusted text for its destination. */
#include "base/escape.h"
#include "base/markup.h"

static const struct {
  pcal_destination destination;
  void (*write)(pc_text *out, const char *text);
} escape_table[] = {{PCAL_FOR_TERMINAL, pc_text_terminal}, {PCAL_FOR_CSV, pc_text_csv},
                    {PCAL_FOR_MARKDOWN, pc_text_markdown}, {PCAL_FOR_MARKUP, pc_text_markup},
                    {PCAL_FOR_JSON, pc_text_json},         {PCAL_FOR_SHELL, pc_text_shell}};

pcal_status pcal_escape(const char *text, pcal_destination destination, pcal_sink sink,
                        void *user, pcal_error *err) {
  const pcal_env env = pc_env_resolve_serial(NULL);
  pc_text out;
  pc_error_clear(err);
  if (text == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_escape needs a text and a sink; NULL was given");
  for (size_t i = 0; i < sizeof escape_table / sizeof *escape_table; i++) {
    if (escape_table[i].destination != destination)
      continue;
    pc_text_init(&out, &env);
    escape_table[i].write(&out, text);
    const pcal_status status = pc_text_send(&out, sink, user, err);
    pc_text_free(&out);
    return status;
  }
  return pc_fail(err, PCAL_USAGE, "destination %d is unknown; use a value of pcal_destination",
                 (int)destination);
}
