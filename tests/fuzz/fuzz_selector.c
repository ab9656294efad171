/* Any text as FILE:COLUMNS, resolved against columns with and without names, and any first
 * line as the names of a data file. */
#include <stdint.h>
#include <string.h>

#include "io/inputs.h"
#include "io/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const fuzz_selector_names[] = {"a", "b", "a,b", "x..y", "2", "b", ""};

static void fuzz_selector_resolve(const pcal_env *env, const char *columns,
                                  const char *const *names, size_t count) {
  const pc_column_set set = {"f.csv", names, count};
  pcal_error err;
  size_t *chosen = NULL, chosen_count = 0;
  if (pc_selector_columns(columns, &set, env, &chosen, &chosen_count, &err) != PCAL_OK)
    return;
  for (size_t i = 0; i < chosen_count; i++)
    if (chosen[i] >= count)
      __builtin_trap();
  pc_free(env, chosen);
}

/* Cuts the text at its bars and takes the pieces as names. */
static void fuzz_selector_data(const pcal_env *env, char *text) {
  const char *names[16];
  size_t count = 0;
  pc_data_columns columns;
  pcal_error err;
  for (char *at = text; at != NULL && count < 16; count++) {
    char *bar = strchr(at, '|');
    names[count] = at;
    if (bar != NULL)
      *bar++ = '\0';
    at = bar;
  }
  const pc_column_set set = {"f.csv", names, count};
  if (pc_data_columns_find(&set, env, &columns, &err) == PCAL_OK)
    pc_data_columns_free(env, &columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_selector selector;
  pcal_error err;
  char *text = pc_alloc(&env, size + 1, 1);
  if (text == NULL)
    return 0;
  if (size > 0)
    memcpy(text, data, size);
  for (int exists = 0; exists <= 1; exists++) {
    if (pc_selector_split(text, exists, &env, &selector, &err) != PCAL_OK)
      continue;
    fuzz_selector_resolve(&env, selector.columns, fuzz_selector_names, 7);
    fuzz_selector_resolve(&env, selector.columns, NULL, 5);
    pc_selector_free(&env, &selector);
  }
  fuzz_selector_resolve(&env, text, fuzz_selector_names, 7);
  fuzz_selector_data(&env, text);
  pc_free(&env, text);
  return 0;
}
