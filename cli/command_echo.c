#include "command_echo.h"

#include <string.h>

static void command_echo_put_word(cli_text_buffer *buffer, const char *word) {
  cli_put_escaped(buffer, PCAL_FOR_SHELL, word);
}

static void command_echo_put_name(cli_text_buffer *buffer, const cli_flag *flag,
                                  const char *strip) {
  const size_t length = strlen(strip);
  const int stripped = strncmp(flag->name, strip, length) == 0;
  cli_putf(buffer, " --%s", flag->name + (stripped ? length : 0));
}

static void command_echo_put_words(cli_text_buffer *buffer, const cli_flag *flag,
                                   const cli_words *words, const char *strip) {
  for (size_t i = 0; i < words->count; i++) {
    command_echo_put_name(buffer, flag, strip);
    cli_put(buffer, " ");
    command_echo_put_word(buffer, words->word[i]);
  }
}

static void command_echo_put_flag(cli_text_buffer *buffer, const cli_flag *flag,
                                  const void *given, const void *usual, const char *strip) {
  char number[CLI_NUMBER_MAX];
  if (flag->kind == CLI_REPEAT) {
    command_echo_put_words(buffer, flag, given, strip);
    return;
  }
  const size_t size = flag->kind == CLI_FLAG   ? sizeof(int)
                      : flag->kind == CLI_TEXT ? sizeof(const char *)
                                               : sizeof(uint64_t);
  if (memcmp(given, usual, size) == 0)
    return;
  command_echo_put_name(buffer, flag, strip);
  if (flag->kind == CLI_FLAG)
    return;
  cli_put(buffer, " ");
  if (flag->kind == CLI_TEXT)
    command_echo_put_word(buffer, *(const char *const *)given);
  else if (flag->kind == CLI_COUNT || flag->kind == CLI_POSITIVE)
    cli_putf(buffer, "%llu", (unsigned long long)*(const uint64_t *)given);
  else
    cli_put(buffer, cli_number(*(const double *)given, number));
}

/* The values of an input flag after the first. */
static void command_echo_put_repeats(cli_text_buffer *buffer, const cli_flag *flag,
                                     const cli_options *options, const char *strip) {
  const char *first = *(const char *const *)((const char *)options + flag->offset);
  for (size_t i = 0; first && i < options->more_inputs.count; i++) {
    if (options->more_inputs.item[i].first != first)
      continue;
    command_echo_put_name(buffer, flag, strip);
    cli_put(buffer, " ");
    command_echo_put_word(buffer, options->more_inputs.item[i].word);
  }
}

void cli_put_flags(cli_text_buffer *buffer, const cli_options *options,
                   const cli_section *section, const char *strip) {
  cli_options usual;
  cli_options_init(&usual);
  for (size_t i = 0; i < section->count; i++) {
    const size_t offset = section->flags[i].offset;
    command_echo_put_flag(buffer, &section->flags[i], (const char *)options + offset,
                          (const char *)&usual + offset, strip);
    if (section->flags[i].domain == CLI_INPUT)
      command_echo_put_repeats(buffer, &section->flags[i], options, strip);
  }
}
