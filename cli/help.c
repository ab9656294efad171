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

/* Calls `put` for exit code 0, for 1 (gates, alarms), then for the codes of the library. */
static void help_each_code(cli_text_buffer *buffer,
                           void (*put)(cli_text_buffer *, const char *, const char *)) {
  put(buffer, "0", help_codes[0].text);
  put(buffer, "1", "a gate of --fail-if or --baseline failed, or watch raised its alarm");
  for (size_t i = 1; i < CLI_COUNT_OF(help_codes); i++) {
    char code[16];
    snprintf(code, sizeof code, "%d", help_codes[i].code);
    put(buffer, code, help_codes[i].text);
  }
  put(buffer, "124", "stopped by --timeout");
  put(buffer, "128 + n", "ended by signal n: 143 for SIGTERM, 129 for SIGHUP");
}

/* ---- Help --------------------------------------------------------------- */

static void help_put_flag(cli_text_buffer *buffer, const cli_flag *flag) {
  if (flag->letter)
    cli_putf(buffer, "  -%c, --%s", flag->letter, flag->name);
  else
    cli_putf(buffer, "  --%s", flag->name);
  if (flag->value)
    cli_putf(buffer, " %s", flag->value);
  cli_put(buffer, HELP_COLUMN > cli_line_width(buffer) ? " " : "\n");
  cli_pad(buffer, HELP_COLUMN);
  cli_put_wrapped(buffer, HELP_COLUMN, flag->help);
}

static void help_put_section(cli_text_buffer *buffer, const cli_section *section) {
  cli_putf(buffer, "\n%s\n", section->title);
  for (size_t i = 0; i < section->count; i++)
    help_put_flag(buffer, &section->flags[i]);
  if (section->note) {
    cli_pad(buffer, 2);
    cli_put_wrapped(buffer, 2, section->note);
  }
}

static void help_put_examples(cli_text_buffer *buffer, const cli_example *examples,
                              size_t count) {
  cli_put(buffer, "\nExamples\n");
  for (size_t i = 0; i < count; i++) {
    cli_putf(buffer, "  %s\n      ", examples[i].command);
    cli_put_wrapped(buffer, 6, examples[i].what);
  }
}

static void help_put_code(cli_text_buffer *buffer, const char *code, const char *text) {
  cli_putf(buffer, "  %-7s  %s\n", code, text);
}

void cli_help_verb(cli_text_buffer *buffer, const cli_verb *verb) {
  cli_putf(buffer, "propercal %s: %s\n\n", verb->name, verb->summary);
  cli_putf(buffer, "Usage: propercal %s%s%s [flags]\n\n", verb->name,
           *verb->operands ? " " : "", verb->operands);
  cli_put_wrapped(buffer, 0, verb->about);
  help_put_examples(buffer, verb->examples, verb->example_count);
  for (size_t i = 0; i < verb->section_count; i++)
    help_put_section(buffer, verb->sections[i]);
}

void cli_help_program(cli_text_buffer *buffer, int full) {
  cli_put(buffer, "propercal: can these probabilities be trusted?\n\n"
                  "Usage: propercal VERB [flags]\n\nVerbs\n");
  for (size_t i = 0; i < cli_verb_count; i++)
    cli_putf(buffer, "  %-10s  %s\n", cli_verbs[i]->name, cli_verbs[i]->summary);
  help_put_examples(buffer, cli_program_examples, cli_program_example_count);
  if (full) {
    help_put_section(buffer, &cli_program_section);
    cli_put(buffer, "\nExit codes\n");
    help_each_code(buffer, help_put_code);
  }
  cli_put(buffer, "\nHelp for a verb: propercal measure --help\n");
}

/* ---- Manual page -------------------------------------------------------- */

/* Text escaped for roff; a leading dot or quote must not start a request. */
static void help_put_roff(cli_text_buffer *buffer, const char *text) {
  if (*text == '.' || *text == '\'')
    cli_put(buffer, "\\&");
  for (; *text; text++) {
    if (*text == '\\')
      cli_put(buffer, "\\e");
    else if (*text == '-')
      cli_put(buffer, "\\-");
    else if (*text == '\'')
      cli_put(buffer, "\\(aq");
    else if (*text == '`')
      cli_put(buffer, "\\(ga");
    else
      cli_put_bytes(buffer, text, 1);
  }
}

static void help_put_roff_line(cli_text_buffer *buffer, const char *text) {
  help_put_roff(buffer, text);
  cli_put(buffer, "\n");
}

static void help_put_man_flags(cli_text_buffer *buffer, const cli_section *section) {
  for (size_t i = 0; i < section->count; i++) {
    const cli_flag *flag = &section->flags[i];
    cli_put(buffer, ".TP\n");
    if (flag->letter)
      cli_putf(buffer, "\\fB\\-%c\\fR, ", flag->letter);
    cli_put(buffer, "\\fB\\-\\-");
    help_put_roff(buffer, flag->name);
    cli_put(buffer, "\\fR");
    if (flag->value)
      cli_putf(buffer, " \\fI%s\\fR", flag->value);
    cli_put(buffer, "\n");
    help_put_roff_line(buffer, flag->help);
  }
  if (section->note) {
    cli_put(buffer, ".PP\n");
    help_put_roff_line(buffer, section->note);
  }
}

static void help_put_man_examples(cli_text_buffer *buffer, const cli_example *examples,
                                  size_t count) {
  for (size_t i = 0; i < count; i++) {
    cli_put(buffer, ".TP\n\\fB");
    help_put_roff(buffer, examples[i].command);
    cli_put(buffer, "\\fR\n");
    help_put_roff_line(buffer, examples[i].what);
  }
}

static const cli_section *const help_shared[] = {&cli_section_inputs,  &cli_section_groups,
                                                 &cli_section_labels,  &cli_section_rows,
                                                 &cli_section_running, &cli_section_help};

static int help_is_shared(const cli_section *section) {
  for (size_t i = 0; i < CLI_COUNT_OF(help_shared); i++)
    if (help_shared[i] == section)
      return 1;
  return 0;
}

static void help_put_man_verb(cli_text_buffer *buffer, const cli_verb *verb) {
  cli_putf(buffer, ".SS \"propercal %s%s%s [flags]\"\n", verb->name, *verb->operands ? " " : "",
           verb->operands);
  help_put_roff_line(buffer, verb->about);
  const char *before = ".PP\nShared flags: ";
  for (size_t i = 0; i < verb->section_count; i++)
    if (!help_is_shared(verb->sections[i]))
      help_put_man_flags(buffer, verb->sections[i]);
  for (size_t i = 0; i < verb->section_count; i++)
    if (help_is_shared(verb->sections[i])) {
      cli_putf(buffer, "%s%s", before, verb->sections[i]->title);
      before = ", ";
    }
  cli_put(buffer, ".\n.PP\nExamples:\n");
  help_put_man_examples(buffer, verb->examples, verb->example_count);
}

static void help_put_man_code(cli_text_buffer *buffer, const char *code, const char *text) {
  cli_putf(buffer, ".TP\n\\fB%s\\fR\n", code);
  help_put_roff_line(buffer, text);
}

void cli_generate_man(cli_text_buffer *buffer) {
  cli_putf(buffer, ".TH PROPERCAL 1 \"\" \"propercal %s\" \"User Commands\"\n", pcal_version());
  cli_put(buffer, ".SH NAME\npropercal \\- measure the calibration of predicted probabilities\n"
                  ".SH SYNOPSIS\n\\fBpropercal\\fR \\fIVERB\\fR [\\fIflags\\fR]\n"
                  ".SH DESCRIPTION\n");
  help_put_roff_line(buffer, "Measures and repairs the calibration of predicted "
                             "probabilities. Results go to standard output, messages to "
                             "standard error.");
  cli_put(buffer, ".SH VERBS\n");
  for (size_t i = 0; i < cli_verb_count; i++)
    help_put_man_verb(buffer, cli_verbs[i]);
  cli_put(buffer, ".SH \"SHARED FLAGS\"\n");
  for (size_t i = 0; i < CLI_COUNT_OF(help_shared); i++) {
    cli_putf(buffer, ".SS %s\n", help_shared[i]->title);
    help_put_man_flags(buffer, help_shared[i]);
  }
  cli_put(buffer, ".SH \"FLAGS WITHOUT A VERB\"\n");
  help_put_man_flags(buffer, &cli_program_section);
  cli_put(buffer, ".SH \"EXIT STATUS\"\n");
  help_each_code(buffer, help_put_man_code);
  cli_put(buffer, ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\n");
  help_put_roff_line(buffer, "If set and not empty, messages on a terminal are not coloured.");
  cli_put(buffer, ".SH EXAMPLES\n");
  help_put_man_examples(buffer, cli_program_examples, cli_program_example_count);
}
