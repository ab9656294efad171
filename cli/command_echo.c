#include "command_echo.h"

#include <string.h>

static void command_put_word(cli_text_buffer *page, const char *word) {
  cli_put_escaped(page, PCAL_FOR_SHELL, word);
}

static void command_put_name(cli_text_buffer *page, const cli_flag *flag, const char *strip) {
  const size_t length = strlen(strip);
  const int stripped = strncmp(flag->name, strip, length) == 0;
  cli_putf(page, " --%s", flag->name + (stripped ? length : 0));
}

static void command_put_words(cli_text_buffer *page, const cli_flag *flag,
                              const cli_words *words, const char *strip) {
  for (size_t i = 0; i < words->count; i++) {
    command_put_name(page, flag, strip);
    cli_put(page, " ");
    command_put_word(page, words->word[i]);
  }
}

static void command_put_flag(cli_text_buffer *page, const cli_flag *flag, const void *given,
                             const void *usual, const char *strip) {
  char number[CLI_NUMBER_MAX];
  if (flag->kind == CLI_REPEAT) {
    command_put_words(page, flag, given, strip);
    return;
  }
  const size_t size = flag->kind == CLI_FLAG   ? sizeof(int)
                      : flag->kind == CLI_TEXT ? sizeof(const char *)
                                               : sizeof(uint64_t);
  if (memcmp(given, usual, size) == 0)
    return;
  command_put_name(page, flag, strip);
  if (flag->kind == CLI_FLAG)
    return;
  cli_put(page, " ");
  if (flag->kind == CLI_TEXT)
    command_put_word(page, *(const char *const *)given);
  else if (flag->kind == CLI_COUNT)
    cli_putf(page, "%llu", (unsigned long long)*(const uint64_t *)given);
  else
    cli_put(page, cli_number(*(const double *)given, number));
}

void cli_put_flags(cli_text_buffer *page, const cli_options *options,
                   const cli_section *section, const char *strip) {
  cli_options usual;
  cli_options_init(&usual);
  for (size_t i = 0; i < section->count; i++) {
    const size_t offset = section->flags[i].offset;
    command_put_flag(page, &section->flags[i], (const char *)options + offset,
                     (const char *)&usual + offset, strip);
  }
}
