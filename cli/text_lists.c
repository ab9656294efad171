#include "text_lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pcal_status cli_read_levels(const char *flag, const char *text, double levels[PCAL_LEVELS_MAX],
                            size_t *count, pcal_error *err) {
  *count = 0;
  for (const char *at = text; at;) {
    const size_t length = strcspn(at, ",/");
    char word[64];
    if (*count == PCAL_LEVELS_MAX)
      return cli_fail(err, PCAL_USAGE, "--%s has more than %d %s", flag, PCAL_LEVELS_MAX,
                      strcmp(flag, "levels") == 0 ? "levels" : "numbers");
    snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), at);
    if (length > 63 || !cli_read_real(word, &levels[*count]))
      return cli_fail(err, PCAL_USAGE,
                      "--%s: \"%s\" is no number; separate %s as in 0.05,0.5,0.95", flag, word,
                      strcmp(flag, "levels") == 0 ? "levels" : "them");
    ++*count;
    at = at[length] != '\0' ? at + length + 1 : NULL;
  }
  return PCAL_OK;
}

pcal_status cli_read_classes(char *text, const char ***names, size_t *count, pcal_error *err) {
  *count = 1;
  for (const char *at = text; *at; at++)
    *count += *at == ',';
  *names = malloc(*count * sizeof **names);
  if (!*names)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the names of classes");
  for (size_t i = 0; i < *count; i++) {
    const size_t length = strcspn(text, ",");
    (*names)[i] = text;
    if (length == 0)
      return cli_fail(err, PCAL_USAGE,
                      "--classes: name %zu is empty; write names as in cat,dog,bird", i);
    text[length] = '\0';
    text += length + 1;
  }
  return PCAL_OK;
}
