#include "base/aliases.h"

#include <string.h>

#include "base/text.h"

typedef struct alias_row {
  pcal_registry registry;
  const char *name, *spec;
} alias_row;

static const alias_row alias_rows[] = {
#define ALIAS(its_registry, its_name, its_spec) {its_registry, its_name, its_spec},
#define OPTION_ALIAS(its_name, option)
#include "base/aliases.def"
#undef ALIAS
#undef OPTION_ALIAS
};

typedef struct alias_option {
  const char *name, *option;
} alias_option;

static const alias_option alias_options[] = {
#define ALIAS(its_registry, its_name, its_spec)
#define OPTION_ALIAS(its_name, its_option) {its_name, its_option},
#include "base/aliases.def"
#undef ALIAS
#undef OPTION_ALIAS
};

static char alias_letter(char c) {
  return c == '_' || c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static const char *alias_find(pcal_registry registry, const char *name) {
  for (size_t i = 0; i < sizeof alias_rows / sizeof *alias_rows; i++)
    if (alias_rows[i].registry == registry && alias_rows[i].name[0] == name[0] &&
        strcmp(alias_rows[i].name, name) == 0)
      return alias_rows[i].spec;
  return name;
}

pcal_status pc_spec_resolve(pcal_registry registry, const char *spec, char out[PC_SPEC_MAX],
                            pcal_error *err) {
  char name[64];
  PC_TRY(pc_spec_name(spec, name, sizeof name, err));
  const char *options = spec + strlen(name);
  for (char *c = name; *c != '\0'; c++)
    *c = alias_letter(*c);
  const char *found = alias_find(registry, name);
  const int joined = *options == ':' && strchr(found, ':') != NULL;
  size_t length = pc_append(out, PC_SPEC_MAX, 0, found);
  length = pc_append(out, PC_SPEC_MAX, length, joined ? "," : "");
  length = pc_append(out, PC_SPEC_MAX, length, joined ? options + 1 : options);
  if (length >= PC_SPEC_MAX)
    return pc_fail(err, PCAL_USAGE, "the spec \"%.60s...\" is too long", spec);
  return PCAL_OK;
}

const char *pc_option_alias(const char *word, size_t length) {
  for (size_t i = 0; i < sizeof alias_options / sizeof *alias_options; i++)
    if (strlen(alias_options[i].name) == length &&
        memcmp(alias_options[i].name, word, length) == 0)
      return alias_options[i].option;
  return NULL;
}
