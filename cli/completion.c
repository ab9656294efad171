/* The bash completion script, generated from the verb table and the registry: for each verb its
 * flags, the values of each flag, and its operands. */
#include <string.h>

#include "session.h"

static void completion_put_names(cli_text_buffer *buffer, pcal_registry kind) {
  for (size_t i = 0; i < pcal_registry_count(kind); i++)
    cli_putf(buffer, "%s%s", i ? " " : "", pcal_registry_at(kind, i)->name);
}

static void completion_put_choices(cli_text_buffer *buffer, const char *choices) {
  const char *word;
  const char *before = "";
  for (size_t length; (length = cli_choice_next(&choices, &word)) > 0; before = " ") {
    cli_put(buffer, before);
    cli_put_bytes(buffer, word, length);
  }
}

static void completion_put_flag_names(cli_text_buffer *buffer, const cli_section *section) {
  for (size_t i = 0; i < section->count; i++)
    cli_putf(buffer, " --%s", section->flags[i].name);
}

/* Completions of a domain: files or a list of words. */
static void completion_put_domain(cli_text_buffer *buffer, cli_domain domain,
                                  const char *choices) {
  if (domain == CLI_FILE || domain == CLI_INPUT) {
    cli_put(buffer, "files=1");
    return;
  }
  cli_put(buffer, "words='");
  if (choices)
    completion_put_choices(buffer, choices);
  if (domain == CLI_METRICS) {
    completion_put_names(buffer, PCAL_METRICS);
    cli_put(buffer, " ");
    completion_put_names(buffer, PCAL_GROUPS);
  }
  if (domain == CLI_METHODS)
    completion_put_names(buffer, PCAL_CALIBRATORS);
  if (domain == CLI_FIGURES)
    completion_put_names(buffer, PCAL_FIGURES);
  cli_put(buffer, "'");
}

/* One branch for each flag with a value: "measure --format) words='...' ;;". */
static void completion_put_values(cli_text_buffer *buffer, const char *verb,
                                  const cli_section *section) {
  for (size_t i = 0; i < section->count; i++) {
    const cli_flag *flag = &section->flags[i];
    if (flag->kind == CLI_FLAG)
      continue;
    cli_putf(buffer, "    '%s --%s'", verb, flag->name);
    if (flag->letter)
      cli_putf(buffer, " | '%s -%c'", verb, flag->letter);
    cli_put(buffer, ") ");
    completion_put_domain(buffer, flag->domain, flag->choices);
    cli_put(buffer, " ;;\n");
  }
}

static void completion_put_operands(cli_text_buffer *buffer, const cli_verb *verb) {
  if (verb->operand_domain == CLI_KINDS) {
    cli_put(buffer, "        case $prev in\n");
    for (size_t i = 0; i < cli_row_kind_count; i++) {
      cli_putf(buffer, "          %s) words='", cli_row_kinds[i].name);
      completion_put_names(buffer, pcal_registry_by_name(cli_row_kinds[i].name));
      cli_put(buffer, "' ;;\n");
    }
    cli_put(buffer, "          *) words='");
    for (size_t i = 0; i < cli_row_kind_count; i++)
      cli_putf(buffer, "%s%s", i ? " " : "", cli_row_kinds[i].name);
    cli_put(buffer, "' ;;\n        esac\n");
    return;
  }
  if (verb->operands_max == 0)
    return;
  cli_put(buffer, "        ");
  completion_put_domain(buffer, verb->operand_domain, NULL);
  cli_put(buffer, "\n");
}

static void completion_put_verb(cli_text_buffer *buffer, const cli_verb *verb) {
  cli_putf(buffer, "        %s)\n", verb->name);
  cli_put(buffer, "          flags='");
  for (size_t i = 0; i < verb->section_count; i++)
    completion_put_flag_names(buffer, verb->sections[i]);
  cli_put(buffer, "'\n");
  completion_put_operands(buffer, verb);
  cli_put(buffer, "          ;;\n");
}

static void completion_put_start(cli_text_buffer *buffer) {
  cli_put(buffer, "# bash completion for propercal\n"
                  "_propercal() {\n"
                  "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                  "  local verb=${COMP_WORDS[1]} words= flags= files=\n"
                  "  if [[ $cur == = ]]; then\n"
                  "    cur=\n"
                  "  elif [[ $prev == = && COMP_CWORD -gt 2 ]]; then\n"
                  "    prev=${COMP_WORDS[COMP_CWORD-2]}\n"
                  "  fi\n"
                  "  [[ COMP_CWORD -eq 1 ]] && verb=\n"
                  "  case \"$verb $prev\" in\n");
}

void cli_generate_completion(cli_text_buffer *buffer) {
  completion_put_start(buffer);
  for (size_t v = 0; v < cli_verb_count; v++)
    for (size_t i = 0; i < cli_verbs[v]->section_count; i++)
      completion_put_values(buffer, cli_verbs[v]->name, cli_verbs[v]->sections[i]);
  cli_put(buffer, "    '--generate --generate') words='man bash-completion' ;;\n"
                  "    *)\n      case $verb in\n");
  for (size_t v = 0; v < cli_verb_count; v++)
    completion_put_verb(buffer, cli_verbs[v]);
  cli_put(buffer, "        '')\n          flags='");
  completion_put_flag_names(buffer, &cli_program_section);
  cli_put(buffer, "'\n          words='");
  for (size_t v = 0; v < cli_verb_count; v++)
    cli_putf(buffer, "%s%s", v ? " " : "", cli_verbs[v]->name);
  cli_put(buffer, "'\n          ;;\n      esac\n"
                  "      [[ $cur == -* ]] && words=$flags files=\n"
                  "      ;;\n"
                  "  esac\n"
                  "  if [[ -n $files ]]; then\n"
                  "    compopt -o filenames 2>/dev/null\n"
                  "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                  "  else\n"
                  "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                  "  fi\n"
                  "}\n"
                  "complete -F _propercal propercal\n");
}
