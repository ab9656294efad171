/* In place of verb_rounds.c and verb_watch.c in the program for WebAssembly, where one process
 * runs once, and the page for the browser is to be small. */
#include "session.h"

static pcal_status left_out_run(cli_session *session, pcal_error *err) {
  (void)session;
  return cli_fail(err, PCAL_USAGE,
                  "rounds and watch are not in the program for WebAssembly; use the one for "
                  "another system");
}

static const cli_section *const left_out_sections[] = {&cli_section_help};

#define LEFT_OUT_VERB(verb)                                          \
  const cli_verb cli_verb_##verb = {#verb,                           \
                                    "",                              \
                                    2,                               \
                                    CLI_FILE,                        \
                                    "not in this program",           \
                                    "Not in this program.",          \
                                    left_out_sections,               \
                                    CLI_COUNT_OF(left_out_sections), \
                                    NULL,                            \
                                    0,                               \
                                    left_out_run}

LEFT_OUT_VERB(rounds);
LEFT_OUT_VERB(watch);
