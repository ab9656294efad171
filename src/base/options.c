#include "base/options.h"

#include <stdio.h>
#include <string.h>

#include "base/aliases.h"
#include "base/number.h"
#include "base/text.h"

typedef struct options_slice {
  const char *begin, *end;
} options_slice;

static size_t options_length(options_slice s) {
  return (size_t)(s.end - s.begin);
}

static int options_is(options_slice s, const char *word) {
  return strlen(word) == options_length(s) && memcmp(s.begin, word, options_length(s)) == 0;
}

/* Word i of "a|b|c"; an empty slice whose begin is NULL after the last. */
static options_slice options_choice(const char *choices, size_t i) {
  const char *begin = choices;
  while (begin != NULL && i-- > 0) {
    begin = strchr(begin, '|');
    begin = begin == NULL ? NULL : begin + 1;
  }
  if (begin == NULL)
    return (options_slice){NULL, NULL};
  const char *bar = strchr(begin, '|');
  return (options_slice){begin, bar == NULL ? begin + strlen(begin) : bar};
}

static int options_find_choice(const char *choices, options_slice word) {
  for (size_t i = 0;; i++) {
    const options_slice choice = options_choice(choices, i);
    if (choice.begin == NULL)
      return -1;
    if (options_length(choice) == options_length(word) &&
        memcmp(choice.begin, word.begin, options_length(word)) == 0)
      return (int)i;
  }
}

pcal_status pc_spec_name(const char *spec, char *out, size_t size, pcal_error *err) {
  const size_t length = strcspn(spec, ":");
  if (length == 0)
    return pc_fail(err, PCAL_USAGE, "the spec \"%.60s\" has no name before its options", spec);
  if (length >= size)
    return pc_fail(err, PCAL_USAGE, "the name in the spec \"%.60s...\" is too long", spec);
  memcpy(out, spec, length);
  out[length] = '\0';
  return PCAL_OK;
}

static pcal_status options_number(const pc_options *options, const pcal_option *row,
                                  options_slice text, double *out, pcal_error *err) {
  char low[PC_NUMBER_MAX], high[PC_NUMBER_MAX];
  const size_t used = pc_number_parse(text.begin, text.end, out);
  if (used == 0 || used != options_length(text) || *out != *out)
    return pc_fail(err, PCAL_USAGE, "%s: \"%.*s\" is not a %snumber for option %s%s%s",
                   options->name, (int)options_length(text), text.begin,
                   row->type == PCAL_OPTION_INT ? "whole " : "", row->name,
                   row->choices == NULL ? "" : "; it takes a number or ",
                   row->choices == NULL ? "" : row->choices);
  *out = *out == 0 ? 0.0 : *out;
  const int whole = *out >= -9e15 && *out <= 9e15 && *out == (double)(int64_t)*out;
  if (row->type == PCAL_OPTION_INT && !whole)
    return pc_fail(err, PCAL_USAGE, "%s: option %s takes a whole number, not %.*s",
                   options->name, row->name, (int)options_length(text), text.begin);
  if (*out < row->low || *out > row->high)
    return pc_fail(err, PCAL_USAGE, "%s: option %s must be between %s and %s, not %.*s",
                   options->name, row->name, pc_show(row->low, low), pc_show(row->high, high),
                   (int)options_length(text), text.begin);
  return PCAL_OK;
}

static pcal_status options_list(const pc_options *options, const pcal_option *row,
                                options_slice text, pc_option_value *value, pcal_error *err) {
  value->list_count = 0;
  for (const char *begin = text.begin; begin <= text.end;) {
    const char *slash = memchr(begin, '/', (size_t)(text.end - begin));
    const options_slice item = {begin, slash == NULL ? text.end : slash};
    if (value->list_count == PC_LIST_MAX)
      return pc_fail(err, PCAL_USAGE, "%s: option %s takes at most %d numbers", options->name,
                     row->name, PC_LIST_MAX);
    PC_TRY(options_number(options, row, item, &value->list[value->list_count++], err));
    begin = item.end + 1;
  }
  return PCAL_OK;
}

static pcal_status options_word(const pc_options *options, const pcal_option *row,
                                options_slice text, pc_option_value *value, pcal_error *err) {
  const char *choices = row->type == PCAL_OPTION_BOOL ? "no|yes" : row->choices;
  value->choice = options_find_choice(choices, text);
  value->number = value->choice;
  if (value->choice < 0)
    return pc_fail(err, PCAL_USAGE, "%s: option %s is one of %s, not \"%.*s\"", options->name,
                   row->name, choices, (int)options_length(text), text.begin);
  return PCAL_OK;
}

static pcal_status options_value(const pc_options *options, const pcal_option *row,
                                 options_slice text, pc_option_value *value, pcal_error *err) {
  value->set = 1;
  value->choice = -1;
  switch (row->type) {
  case PCAL_OPTION_BOOL:
  case PCAL_OPTION_CHOICE:
    return options_word(options, row, text, value, err);
  case PCAL_OPTION_REALS:
    return options_list(options, row, text, value, err);
  case PCAL_OPTION_INT:
  case PCAL_OPTION_REAL:
    break;
  }
  if (row->choices != NULL) {
    value->choice = options_find_choice(row->choices, text);
    if (value->choice >= 0)
      return PCAL_OK;
  }
  return options_number(options, row, text, &value->number, err);
}

static const char *options_next_name(void *user, size_t i) {
  const pc_options *options = user;
  return i < options->count ? options->table[i].name : NULL;
}

static pcal_status options_unknown(pc_options *options, options_slice key, pcal_error *err) {
  char word[64];
  snprintf(word, sizeof word, "%.*s", (int)options_length(key), key.begin);
  if (options->count == 0)
    return pc_fail(err, PCAL_USAGE, "%s takes no options, so \"%s\" cannot be set",
                   options->name, word);
  const char *near = pc_nearest_word(word, options_next_name, options);
  char names[PC_SPEC_MAX] = "";
  for (size_t i = 0, used = 0; i < options->count && used < sizeof names; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                             options->table[i].name);
  return pc_fail(err, PCAL_USAGE, "%s has no option \"%s\"%s%s%s; it has %s", options->name,
                 word, near == NULL ? "" : " (did you mean \"", near == NULL ? "" : near,
                 near == NULL ? "" : "\"?)", names);
}

/* Returns the option that a word names: the word itself if the row has such an option, else the
 * option that the word is an alias of, else the word. */
static options_slice options_key(const pc_options *options, options_slice given) {
  for (size_t i = 0; i < options->count; i++)
    if (options_is(given, options->table[i].name))
      return given;
  const char *alias = pc_option_alias(given.begin, options_length(given));
  return alias == NULL ? given : (options_slice){alias, alias + strlen(alias)};
}

static pcal_status options_pair(pc_options *options, options_slice pair, pcal_error *err) {
  const char *equals = memchr(pair.begin, '=', options_length(pair));
  if (equals == NULL || equals == pair.begin || equals + 1 == pair.end)
    return pc_fail(err, PCAL_USAGE, "%s: \"%.*s\" is not of the form option=value",
                   options->name, (int)options_length(pair), pair.begin);
  const options_slice key = options_key(options, (options_slice){pair.begin, equals});
  for (size_t i = 0; i < options->count; i++) {
    if (!options_is(key, options->table[i].name))
      continue;
    if (options->value[i].given)
      return pc_fail(err, PCAL_USAGE, "%s: option %s is given twice", options->name,
                     options->table[i].name);
    options->value[i].given = 1;
    return options_value(options, &options->table[i], (options_slice){equals + 1, pair.end},
                         &options->value[i], err);
  }
  return options_unknown(options, key, err);
}

static pcal_status options_defaults(pc_options *options, pcal_error *err) {
  for (size_t i = 0; i < options->count; i++) {
    const char *fallback = options->table[i].fallback;
    options->value[i].choice = -1;
    if (fallback[0] == '\0')
      continue;
    const options_slice text = {fallback, fallback + strlen(fallback)};
    PC_TRY(options_value(options, &options->table[i], text, &options->value[i], err));
  }
  return PCAL_OK;
}

pcal_status pc_options_parse(const char *spec, const char *name, const pcal_option *table,
                             size_t count, pc_options *out, pcal_error *err) {
  memset(out, 0, sizeof *out);
  out->name = name;
  out->table = table;
  out->count = count;
  PC_TRY(options_defaults(out, err));
  if (strlen(spec) >= PC_SPEC_MAX)
    return pc_fail(err, PCAL_USAGE, "the spec of %s is longer than %d characters", name,
                   PC_SPEC_MAX - 1);
  const char *begin = strchr(spec, ':');
  if (begin == NULL)
    return PCAL_OK;
  for (begin++;;) {
    const char *comma = strchr(begin, ',');
    const options_slice pair = {begin, comma == NULL ? begin + strlen(begin) : comma};
    PC_TRY(options_pair(out, pair, err));
    if (comma == NULL)
      return PCAL_OK;
    begin = comma + 1;
  }
}

void pc_options_choose(pc_options *options, size_t index, const char *word) {
  const options_slice text = {word, word + strlen(word)};
  options->value[index].set = 1;
  options->value[index].choice = options_find_choice(options->table[index].choices, text);
}

const char *pc_options_word(const pc_options *options, size_t index, char *out, size_t size) {
  const pcal_option *row = &options->table[index];
  const pc_option_value *value = &options->value[index];
  const char *choices = row->type == PCAL_OPTION_BOOL ? "no|yes" : row->choices;
  const options_slice word = value->choice < 0 ? (options_slice){"", ""}
                                               : options_choice(choices, (size_t)value->choice);
  pc_append_bytes(out, size, 0, word.begin == NULL ? "" : word.begin,
                  word.begin == NULL ? 0 : options_length(word));
  return out;
}

static void options_value_text(const pc_options *options, size_t index, char *out,
                               size_t size) {
  const pc_option_value *value = &options->value[index];
  char digits[PC_NUMBER_MAX];
  if (value->choice >= 0) {
    pc_options_word(options, index, out, size);
  } else if (options->table[index].type == PCAL_OPTION_REALS) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < value->list_count && used < size; i++) {
      used = pc_append(out, size, used, i > 0 ? "/" : "");
      used = pc_append(out, size, used, pc_show(value->list[i], digits));
    }
  } else {
    pc_append(out, size, 0, pc_show(value->number, digits));
  }
}

void pc_options_write(const pc_options *options, int full, char *out, size_t size) {
  size_t used = pc_append(out, size, 0, options->name);
  const char *separator = ":";
  for (size_t i = 0; i < options->count && used < size; i++) {
    char text[PC_SPEC_MAX];
    if (full ? !options->value[i].set : !options->value[i].given)
      continue;
    options_value_text(options, i, text, sizeof text);
    if (!full && strcmp(text, options->table[i].fallback) == 0)
      continue;
    used = pc_append(out, size, used, separator);
    used = pc_append(out, size, used, options->table[i].name);
    used = pc_append(out, size, used, "=");
    used = pc_append(out, size, used, text);
    separator = ",";
  }
}

pcal_status pc_options_distinct(const pc_options *options, size_t index, pcal_error *err) {
  const pc_option_value *value = &options->value[index];
  char shown[PC_NUMBER_MAX];
  for (size_t i = 0; i < value->list_count; i++)
    for (size_t j = 0; j < i; j++)
      if (value->list[i] == value->list[j])
        return pc_fail(err, PCAL_USAGE, "%s: option %s has %s twice; give each number once",
                       options->name, options->table[index].name,
                       pc_show(value->list[i], shown));
  return PCAL_OK;
}

static int options_same_value(const pcal_option *row, const pc_option_value *a,
                              const pc_option_value *b) {
  if (!a->set || !b->set)
    return a->set == b->set;
  if (row->type == PCAL_OPTION_REALS)
    return a->list_count == b->list_count &&
           memcmp(a->list, b->list, a->list_count * sizeof *a->list) == 0;
  return a->choice == b->choice && (a->choice >= 0 || a->number == b->number);
}

int pc_options_equal(const pc_options *a, const pc_options *b) {
  if (a->count != b->count || strcmp(a->name, b->name) != 0)
    return 0;
  for (size_t i = 0; i < a->count; i++) {
    if (!options_same_value(&a->table[i], &a->value[i], &b->value[i]))
      return 0;
  }
  return 1;
}
