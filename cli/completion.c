/* The bash completion script, generated from the verb table and the registry: for each verb its
 * flags, the values of each flag, and its operands. */
#include <string.h>

#include "session.h"

static void completion_put_names(cli_text_buffer *page, pcal_registry kind) {
  for (size_t i = 0; i < pcal_registry_count(kind); i++)
    cli_putf(page, "%s%s", i ? " " : "", pcal_registry_at(kind, i)->name);
}

static void completion_put_choices(cli_text_buffer *page, const char *choices) {
  const char *word;
  const char *before = "";
  for (size_t length; (length = cli_choice_next(&choices, &word)) > 0; before = " ") {
    cli_put(page, before);
    cli_put_bytes(page, word, length);
  }
}

static void completion_put_flag_names(cli_text_buffer *page, const cli_section *section) {
  for (size_t i = 0; i < section->count; i++)
    cli_putf(page, " --%s", section->flags[i].name);
}

/* Completions of a domain: files or a list of words. */
static void completion_put_domain(cli_text_buffer *page, cli_domain domain,
                                  const char *choices) {
  if (domain == CLI_FILE) {
    cli_put(page, "files=1");
    return;
  }
  cli_put(page, "words='");
  if (choices)
    completion_put_choices(page, choices);
  if (domain == CLI_METRICS) {
    completion_put_names(page, PCAL_METRICS);
    cli_put(page, " ");
    completion_put_names(page, PCAL_GROUPS);
  }
  if (domain == CLI_METHODS)
    completion_put_names(page, PCAL_CALIBRATORS);
  if (domain == CLI_FIGURES)
    completion_put_names(page, PCAL_FIGURES);
  cli_put(page, "'");
}

/* One branch for each flag with a value: "measure --format) words='...' ;;". */
static void completion_put_values(cli_text_buffer *page, const char *verb,
                                  const cli_section *section) {
  for (size_t i = 0; i < section->count; i++) {
    const cli_flag *flag = &section->flags[i];
    if (flag->kind == CLI_FLAG)
      continue;
    cli_putf(page, "    '%s --%s'", verb, flag->name);
    if (flag->letter)
      cli_putf(page, " | '%s -%c'", verb, flag->letter);
    cli_put(page, ") ");
    completion_put_domain(page, flag->domain, flag->choices);
    cli_put(page, " ;;\n");
  }
}

static void completion_put_operands(cli_text_buffer *page, const cli_verb *verb) {
  if (verb->operand_domain == CLI_KINDS) {
    cli_put(page, "        case $prev in\n");
    for (size_t i = 0; i < cli_row_kind_count; i++) {
      cli_putf(page, "          %s) words='", cli_row_kinds[i].name);
      completion_put_names(page, pcal_registry_by_name(cli_row_kinds[i].name));
      cli_put(page, "' ;;\n");
    }
    cli_put(page, "          *) words='");
    for (size_t i = 0; i < cli_row_kind_count; i++)
      cli_putf(page, "%s%s", i ? " " : "", cli_row_kinds[i].name);
    cli_put(page, "' ;;\n        esac\n");
    return;
  }
  if (verb->operands_max == 0)
    return;
  cli_put(page, "        ");
  completion_put_domain(page, verb->operand_domain, NULL);
  cli_put(page, "\n");
}

static void completion_put_verb(cli_text_buffer *page, const cli_verb *verb) {
  cli_putf(page, "        %s)\n", verb->name);
  cli_put(page, "          flags='");
  for (size_t i = 0; i < verb->section_count; i++)
    completion_put_flag_names(page, verb->sections[i]);
  cli_put(page, "'\n");
  completion_put_operands(page, verb);
  cli_put(page, "          ;;\n");
}

static void completion_put_start(cli_text_buffer *page) {
  cli_put(page, "# bash completion for propercal\n"
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

void cli_generate_completion(cli_text_buffer *page) {
  completion_put_start(page);
  for (size_t v = 0; v < cli_verb_count; v++)
    for (size_t i = 0; i < cli_verbs[v]->section_count; i++)
      completion_put_values(page, cli_verbs[v]->name, cli_verbs[v]->sections[i]);
  cli_put(page, "    '--generate --generate') words='man bash-completion' ;;\n"
                "    *)\n      case $verb in\n");
  for (size_t v = 0; v < cli_verb_count; v++)
    completion_put_verb(page, cli_verbs[v]);
  cli_put(page, "        '')\n          flags='");
  completion_put_flag_names(page, &cli_program_section);
  cli_put(page, "'\n          words='");
  for (size_t v = 0; v < cli_verb_count; v++)
    cli_putf(page, "%s%s", v ? " " : "", cli_verbs[v]->name);
  cli_put(page, "'\n          ;;\n      esac\n"
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
