/* Help and manual page, generated from the verb table. */
#include <stdio.h>
#include <string.h>

#include "session.h"

#define HELP_COLUMN 24

typedef struct help_code {
  int code;
  const char *text;
} help_code;

static const help_code help_codes[] = {
#define HELP_CODE(name, code, text) {code, text},
    PCAL_STATUS_LIST(HELP_CODE)
#undef HELP_CODE
};

/* Calls `put` for exit code 0, for 1 (gates), then for the codes of the library. */
static void help_each_code(cli_text_buffer *page,
                           void (*put)(cli_text_buffer *, const char *, const char *)) {
  put(page, "0", help_codes[0].text);
  put(page, "1", "a --fail-if gate failed");
  for (size_t i = 1; i < CLI_COUNT_OF(help_codes); i++) {
    char code[16];
    snprintf(code, sizeof code, "%d", help_codes[i].code);
    put(page, code, help_codes[i].text);
  }
  put(page, "124", "stopped by --timeout");
  put(page, "128 + n", "ended by signal n: 143 for SIGTERM, 129 for SIGHUP");
}

/* ---- Help --------------------------------------------------------------- */

static void help_put_flag(cli_text_buffer *page, const cli_flag *flag) {
  if (flag->letter)
    cli_putf(page, "  -%c, --%s", flag->letter, flag->name);
  else
    cli_putf(page, "  --%s", flag->name);
  if (flag->value)
    cli_putf(page, " %s", flag->value);
  cli_put(page, HELP_COLUMN > cli_line_width(page) ? " " : "\n");
  cli_pad(page, HELP_COLUMN);
  cli_put_wrapped(page, HELP_COLUMN, flag->help);
}

static void help_put_section(cli_text_buffer *page, const cli_section *section) {
  cli_putf(page, "\n%s\n", section->title);
  for (size_t i = 0; i < section->count; i++)
    help_put_flag(page, &section->flags[i]);
  if (section->note) {
    cli_pad(page, 2);
    cli_put_wrapped(page, 2, section->note);
  }
}

static void help_put_examples(cli_text_buffer *page, const cli_example *examples,
                              size_t count) {
  cli_put(page, "\nExamples\n");
  for (size_t i = 0; i < count; i++) {
    cli_putf(page, "  %s\n      ", examples[i].command);
    cli_put_wrapped(page, 6, examples[i].what);
  }
}

static void help_put_code(cli_text_buffer *page, const char *code, const char *text) {
  cli_putf(page, "  %-7s  %s\n", code, text);
}

void cli_help_verb(cli_text_buffer *page, const cli_verb *verb) {
  cli_putf(page, "propercal %s: %s\n\n", verb->name, verb->summary);
  cli_putf(page, "Usage: propercal %s%s%s [flags]\n\n", verb->name, *verb->operands ? " " : "",
           verb->operands);
  cli_put_wrapped(page, 0, verb->about);
  help_put_examples(page, verb->examples, verb->example_count);
  for (size_t i = 0; i < verb->section_count; i++)
    help_put_section(page, verb->sections[i]);
}

void cli_help_program(cli_text_buffer *page, int full) {
  cli_put(page, "propercal: can these probabilities be trusted?\n\n"
                "Usage: propercal VERB [flags]\n\nVerbs\n");
  for (size_t i = 0; i < cli_verb_count; i++)
    cli_putf(page, "  %-10s  %s\n", cli_verbs[i]->name, cli_verbs[i]->summary);
  help_put_examples(page, cli_program_examples, cli_program_example_count);
  if (full) {
    help_put_section(page, &cli_program_section);
    cli_put(page, "\nExit codes\n");
    help_each_code(page, help_put_code);
  }
  cli_put(page, "\nHelp for a verb: propercal measure --help\n");
}

/* ---- Manual page -------------------------------------------------------- */

/* Text escaped for roff; a leading dot or quote must not start a request. */
static void help_put_roff(cli_text_buffer *page, const char *text) {
  if (*text == '.' || *text == '\'')
    cli_put(page, "\\&");
  for (; *text; text++) {
    if (*text == '\\')
      cli_put(page, "\\e");
    else if (*text == '-')
      cli_put(page, "\\-");
    else if (*text == '\'')
      cli_put(page, "\\(aq");
    else if (*text == '`')
      cli_put(page, "\\(ga");
    else
      cli_put_bytes(page, text, 1);
  }
}

static void help_put_roff_line(cli_text_buffer *page, const char *text) {
  help_put_roff(page, text);
  cli_put(page, "\n");
}

static void help_put_man_flags(cli_text_buffer *page, const cli_section *section) {
  for (size_t i = 0; i < section->count; i++) {
    const cli_flag *flag = &section->flags[i];
    cli_put(page, ".TP\n");
    if (flag->letter)
      cli_putf(page, "\\fB\\-%c\\fR, ", flag->letter);
    cli_put(page, "\\fB\\-\\-");
    help_put_roff(page, flag->name);
    cli_put(page, "\\fR");
    if (flag->value)
      cli_putf(page, " \\fI%s\\fR", flag->value);
    cli_put(page, "\n");
    help_put_roff_line(page, flag->help);
  }
  if (section->note) {
    cli_put(page, ".PP\n");
    help_put_roff_line(page, section->note);
  }
}

static void help_put_man_examples(cli_text_buffer *page, const cli_example *examples,
                                  size_t count) {
  for (size_t i = 0; i < count; i++) {
    cli_put(page, ".TP\n\\fB");
    help_put_roff(page, examples[i].command);
    cli_put(page, "\\fR\n");
    help_put_roff_line(page, examples[i].what);
  }
}

static const cli_section *const help_shared[] = {&cli_section_inputs, &cli_section_groups,
                                                 &cli_section_rows, &cli_section_running,
                                                 &cli_section_help};

static int help_is_shared(const cli_section *section) {
  for (size_t i = 0; i < CLI_COUNT_OF(help_shared); i++)
    if (help_shared[i] == section)
      return 1;
  return 0;
}

static void help_put_man_verb(cli_text_buffer *page, const cli_verb *verb) {
  cli_putf(page, ".SS \"propercal %s%s%s [flags]\"\n", verb->name, *verb->operands ? " " : "",
           verb->operands);
  help_put_roff_line(page, verb->about);
  const char *before = ".PP\nShared flags: ";
  for (size_t i = 0; i < verb->section_count; i++)
    if (!help_is_shared(verb->sections[i]))
      help_put_man_flags(page, verb->sections[i]);
  for (size_t i = 0; i < verb->section_count; i++)
    if (help_is_shared(verb->sections[i])) {
      cli_putf(page, "%s%s", before, verb->sections[i]->title);
      before = ", ";
    }
  cli_put(page, ".\n.PP\nExamples:\n");
  help_put_man_examples(page, verb->examples, verb->example_count);
}

static void help_put_man_code(cli_text_buffer *page, const char *code, const char *text) {
  cli_putf(page, ".TP\n\\fB%s\\fR\n", code);
  help_put_roff_line(page, text);
}

void cli_generate_man(cli_text_buffer *page) {
  cli_putf(page, ".TH PROPERCAL 1 \"\" \"propercal %s\" \"User Commands\"\n", pcal_version());
  cli_put(page, ".SH NAME\npropercal \\- measure the calibration of predicted probabilities\n"
                ".SH SYNOPSIS\n\\fBpropercal\\fR \\fIVERB\\fR [\\fIflags\\fR]\n"
                ".SH DESCRIPTION\n");
  help_put_roff_line(page, "Measures and repairs the calibration of predicted "
                           "probabilities. Results go to standard output, messages to "
                           "standard error.");
  cli_put(page, ".SH VERBS\n");
  for (size_t i = 0; i < cli_verb_count; i++)
    help_put_man_verb(page, cli_verbs[i]);
  cli_put(page, ".SH \"SHARED FLAGS\"\n");
  for (size_t i = 0; i < CLI_COUNT_OF(help_shared); i++) {
    cli_putf(page, ".SS %s\n", help_shared[i]->title);
    help_put_man_flags(page, help_shared[i]);
  }
  cli_put(page, ".SH \"FLAGS WITHOUT A VERB\"\n");
  help_put_man_flags(page, &cli_program_section);
  cli_put(page, ".SH \"EXIT STATUS\"\n");
  help_each_code(page, help_put_man_code);
  cli_put(page, ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\n");
  help_put_roff_line(page, "If set and not empty, messages on a terminal are not coloured.");
  cli_put(page, ".SH EXAMPLES\n");
  help_put_man_examples(page, cli_program_examples, cli_program_example_count);
}
