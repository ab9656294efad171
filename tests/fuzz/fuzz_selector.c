/* FILE:COLUMNS, made from names or any text, resolved against columns with and without names,
 * and any first line as the names of a data file. */
#include <stdint.h>
#include <string.h>

#include "fuzz_count.h"
#include "fuzz_text.h"
#include "io/data_columns.h"
#include "io/selector.h"

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  static const char *const names[] = {"a", "a,b", "x..y", "2"};
  const size_t first = fuzz_below(choice, 4), last = first + 1 + fuzz_below(choice, 4 - first);
  fuzz_putf(out, "f.csv:");
  if (fuzz_chance(choice, 4))
    fuzz_putf(out, "%s", FUZZ_PICK(choice, names));
  else if (fuzz_chance(choice, 3))
    fuzz_putf(out, "%zu", first);
  else
    fuzz_putf(out, "%zu%s%zu", first, fuzz_chance(choice, 2) ? "," : "..", last);
}

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  fuzz_text_replace(choice, ":,.|", data, size, out);
}

#include "fuzz_mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const fuzz_selector_names[] = {"a", "b", "a,b", "x..y", "2", "b", ""};

static int fuzz_selector_resolve(const pcal_env *env, const char *columns,
                                 const char *const *names, size_t count) {
  const pc_column_set set = {"f.csv", names, count};
  pcal_error err;
  size_t *chosen = NULL, chosen_count = 0;
  if (pc_selector_columns(columns, &set, env, &chosen, &chosen_count, &err) != PCAL_OK)
    return 0;
  for (size_t i = 0; i < chosen_count; i++)
    if (chosen[i] >= count)
      __builtin_trap();
  pc_free(env, chosen);
  return 1;
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
  int valid = 0;
  char *text = pc_alloc(&env, size + 1, 1);
  if (text == NULL)
    return 0;
  if (size > 0)
    memcpy(text, data, size);
  for (int exists = 0; exists <= 1; exists++) {
    if (pc_selector_split(text, exists, &env, &selector, &err) != PCAL_OK)
      continue;
    const int chosen = selector.columns != NULL;
    valid |= fuzz_selector_resolve(&env, selector.columns, fuzz_selector_names, 7) && chosen;
    valid |= fuzz_selector_resolve(&env, selector.columns, NULL, 5) && chosen;
    pc_selector_free(&env, &selector);
  }
  valid |= fuzz_selector_resolve(&env, text, fuzz_selector_names, 7);
  fuzz_count(valid);
  fuzz_selector_data(&env, text);
  pc_free(&env, text);
  return 0;
}
