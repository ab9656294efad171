/* Parsing of the command line.
 *
 *   1. A value follows its flag ("--seed 7") or an equals sign ("--seed=7"); a one-letter flag
 *      may be followed by its value directly ("-oFILE").
 *   2. A word that starts with two dashes is never a value; "-" alone may be one.
 *   3. A flag with one value may be given once; a CLI_REPEAT flag any number of times.
 *   4. "--" ends the flags; all words after it are operands.
 *   5. Flags and values of other programs are understood (habits.h); for other unknown flags the
 *      error suggests the nearest known one. */
#include "args.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "habits.h"

#define ARGS_NAME_MAX 32
#define ARGS_FLAGS_MAX 64
#define ARGS_MESSAGE_MAX 4096

typedef struct args_state {
  const cli_section *const *sections;
  size_t section_count;
  cli_options *options;
  const cli_flag *seen[ARGS_FLAGS_MAX];
  size_t seen_count;
} args_state;

typedef struct args_line {
  char *text;
  size_t size, used;
} args_line;

static int args_line_sink(void *user, const char *bytes, size_t count) {
  args_line *line = user;
  const size_t room = line->size - 1 - line->used, kept = count < room ? count : room;
  memcpy(line->text + line->used, bytes, kept);
  line->used += kept;
  return 0;
}

void cli_escape_terminal(const char *text, char *out, size_t size) {
  args_line line = {out, size, 0};
  if (pcal_escape(text, PCAL_FOR_TERMINAL, args_line_sink, &line, NULL) != PCAL_OK) {
    args_line_sink(&line, text, strlen(text)); /* out of memory: keep ASCII only */
    for (size_t i = 0; i < line.used; i++)
      out[i] = out[i] >= 0x20 && out[i] < 0x7F ? out[i] : '?';
  }
  const int full = line.used + 1 == size; /* drop a character that was cut */
  while (full && line.used > 0 && ((unsigned char)out[line.used - 1] & 0xC0u) == 0x80u)
    line.used--;
  if (full && line.used > 0 && (unsigned char)out[line.used - 1] >= 0xC0u)
    line.used--;
  out[line.used] = '\0';
}

pcal_status cli_fail(pcal_error *err, pcal_status status, const char *format, ...) {
  char message[ARGS_MESSAGE_MAX];
  if (!err)
    return status;
  *err = (pcal_error)PCAL_ERROR_INIT;
  err->status = status;
  va_list list;
  va_start(list, format);
  vsnprintf(message, sizeof message, format, list);
  va_end(list);
  cli_escape_terminal(message, err->message, sizeof err->message);
  return status;
}

double cli_level(const cli_options *options) {
  return options->interval == CLI_NO_INTERVAL ? 0.0 : options->interval;
}

void cli_options_init(cli_options *options) {
  const pcal_simulation simulation = PCAL_SIMULATION_INIT;
  *options = (cli_options){.figure_interval = 0.95,
                           .interval = CLI_NO_INTERVAL,
                           .inputs.first_row = CLI_NO_FIRST_ROW,
                           .alpha = CLI_NO_ALPHA,
                           .rows = simulation.rows,
                           .classes = simulation.classes,
                           .factor = simulation.factor,
                           .scale = simulation.scale};
}

void cli_options_free(cli_options *options) {
  free(options->metrics.word);
  free(options->methods.word);
  free(options->models.word);
  free(options->cases.word);
  free(options->gates.word);
  free(options->operands.word);
  free(options->more_inputs.item);
}

static pcal_status args_append(cli_words *words, const char *word, pcal_error *err) {
  const char **grown = realloc(words->word, (words->count + 1) * sizeof *grown);
  if (!grown)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the command line");
  words->word = grown;
  words->word[words->count++] = word;
  return PCAL_OK;
}

/* Keeps the value of an input flag that is given again. */
static pcal_status args_repeat(cli_repeats *repeats, const char *first, const char *word,
                               pcal_error *err) {
  cli_repeat *grown = realloc(repeats->item, (repeats->count + 1) * sizeof *grown);
  if (!grown)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the command line");
  repeats->item = grown;
  repeats->item[repeats->count++] = (cli_repeat){first, word};
  return PCAL_OK;
}

/* ---- Nearest names ------------------------------------------------------ */

/* Damerau-Levenshtein distance (with transpositions of neighbours). */
static size_t args_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
  size_t table[ARGS_NAME_MAX + 1][ARGS_NAME_MAX + 1];
  if (a_length > ARGS_NAME_MAX || b_length > ARGS_NAME_MAX)
    return SIZE_MAX;
  for (size_t i = 0; i <= a_length; i++)
    for (size_t j = 0; j <= b_length; j++) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      size_t best = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      if (table[i - 1][j] + 1 < best)
        best = table[i - 1][j] + 1;
      if (table[i][j - 1] + 1 < best)
        best = table[i][j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          table[i - 2][j - 2] + 1 < best)
        best = table[i - 2][j - 2] + 1;
      table[i][j] = best;
    }
  return table[a_length][b_length];
}

void cli_nearest_start(cli_nearest *nearest, const char *wrong, size_t length) {
  *nearest = (cli_nearest){wrong, length, NULL, 0, length > 5 ? length / 3 + 1 : 2};
}

void cli_nearest_try(cli_nearest *nearest, const char *word, size_t length) {
  size_t distance = args_distance(nearest->wrong, nearest->wrong_length, word, length);
  if (nearest->wrong_length > 1 && length > nearest->wrong_length &&
      strncmp(word, nearest->wrong, nearest->wrong_length) == 0)
    distance = 1;
  if (distance >= nearest->wrong_length || distance > nearest->distance ||
      (nearest->best && distance == nearest->distance))
    return;
  nearest->best = word;
  nearest->best_length = length;
  nearest->distance = distance;
}

void cli_nearest_try_choices(cli_nearest *nearest, const char *choices) {
  const char *word;
  for (size_t length; (length = cli_choice_next(&choices, &word)) > 0;)
    cli_nearest_try(nearest, word, length);
}

size_t cli_choice_next(const char **cursor, const char **word) {
  *word = *cursor;
  const size_t length = strcspn(*cursor, "|");
  *cursor += length;
  *cursor += **cursor == '|';
  return length;
}

/* ---- Numbers ------------------------------------------------------------ */

int cli_read_count(const char *text, uint64_t *value) {
  uint64_t sum = 0;
  if (!*text)
    return 0;
  for (; *text; text++) {
    const unsigned digit = (unsigned)((unsigned char)*text - '0');
    if (digit > 9 || sum > (UINT64_MAX - digit) / 10)
      return 0;
    sum = sum * 10 + digit;
  }
  *value = sum;
  return 1;
}

int cli_read_real(const char *text, double *value) {
  if (!*text || text[strspn(text, "+-.0123456789eE")] != '\0')
    return 0;
  char *end;
  const double read = strtod(text, &end);
  if (*end || end == text || !isfinite(read))
    return 0;
  *value = read;
  return 1;
}

/* ---- Flags -------------------------------------------------------------- */

const cli_flag *cli_flag_find(const cli_section *const *sections, size_t section_count,
                              const char *name, size_t length) {
  for (size_t s = 0; s < section_count; s++)
    for (size_t i = 0; i < sections[s]->count; i++) {
      const cli_flag *flag = &sections[s]->flags[i];
      if (strlen(flag->name) == length && memcmp(flag->name, name, length) == 0)
        return flag;
    }
  return NULL;
}

static const cli_flag *args_find_letter(const args_state *state, char letter) {
  for (size_t s = 0; s < state->section_count; s++)
    for (size_t i = 0; i < state->sections[s]->count; i++)
      if (letter && state->sections[s]->flags[i].letter == letter)
        return &state->sections[s]->flags[i];
  return NULL;
}

static pcal_status args_unknown(const args_state *state, const char *word, size_t dashes,
                                size_t length, pcal_error *err) {
  cli_nearest nearest;
  cli_nearest_start(&nearest, word + dashes, length);
  for (size_t s = 0; s < state->section_count; s++)
    for (size_t i = 0; i < state->sections[s]->count; i++) {
      const char *name = state->sections[s]->flags[i].name;
      cli_nearest_try(&nearest, name, strlen(name));
    }
  char option[96];
  cli_habit_option(word + dashes, length, option, sizeof option);
  if (nearest.best && !*option)
    return cli_fail(err, PCAL_USAGE, "there is no flag %.*s; did you mean --%s?",
                    (int)(dashes + length), word, nearest.best);
  return cli_fail(err, PCAL_USAGE, "there is no flag %.*s%s", (int)(dashes + length), word,
                  option);
}

static int args_is_choice(const cli_flag *flag, const char *value) {
  const char *cursor = flag->choices;
  const char *word;
  for (size_t length; (length = cli_choice_next(&cursor, &word)) > 0;)
    if (strlen(value) == length && memcmp(value, word, length) == 0)
      return 1;
  return 0;
}

/* Checks a value, which may be replaced by what it means. */
static pcal_status args_check_choice(const cli_flag *flag, const char **given,
                                     pcal_error *err) {
  const char *value = *given, *known = cli_habit_value(value);
  if (args_is_choice(flag, value))
    return PCAL_OK;
  if (known != NULL && args_is_choice(flag, known)) {
    *given = known;
    return PCAL_OK;
  }
  cli_nearest nearest;
  cli_nearest_start(&nearest, value, strlen(value));
  cli_nearest_try_choices(&nearest, flag->choices);
  if (nearest.best)
    return cli_fail(err, PCAL_USAGE,
                    "--%s %s: the value must be one of %s; did you mean "
                    "\"%.*s\"?",
                    flag->name, value, flag->choices, (int)nearest.best_length, nearest.best);
  return cli_fail(err, PCAL_USAGE, "--%s %s: the value must be one of %s", flag->name, value,
                  flag->choices);
}

static pcal_status args_once(args_state *state, const cli_flag *flag, pcal_error *err) {
  for (size_t i = 0; i < state->seen_count; i++)
    if (state->seen[i] == flag)
      return cli_fail(err, PCAL_USAGE, "--%s is given twice; give it once", flag->name);
  if (state->seen_count < ARGS_FLAGS_MAX)
    state->seen[state->seen_count++] = flag;
  return PCAL_OK;
}

static pcal_status args_store(args_state *state, const cli_flag *flag, const char *value,
                              pcal_error *err) {
  void *field = (char *)state->options + flag->offset;
  if (flag->kind == CLI_REPEAT)
    return args_append(field, value, err);
  if (flag->domain == CLI_INPUT && *(const char **)field)
    return args_repeat(&state->options->more_inputs, *(const char **)field, value, err);
  pcal_status status = args_once(state, flag, err);
  if (status == PCAL_OK && flag->choices)
    status = args_check_choice(flag, &value, err);
  if (status != PCAL_OK)
    return status;
  if (flag->kind == CLI_TEXT)
    *(const char **)field = value;
  else if (flag->kind == CLI_COUNT && !cli_read_count(value, field))
    status = cli_fail(err, PCAL_USAGE,
                      "--%s %s: the value must be a whole number, 0 or "
                      "more",
                      flag->name, value);
  else if (flag->kind == CLI_POSITIVE &&
           (!cli_read_count(value, field) || *(const uint64_t *)field == 0))
    status = cli_fail(err, PCAL_USAGE,
                      "--%s %s: the value must be a whole number, 1 or "
                      "more",
                      flag->name, value);
  else if (flag->kind == CLI_REAL && !cli_read_real(value, field))
    status = cli_fail(err, PCAL_USAGE, "--%s %s: the value must be a number such as 1.5",
                      flag->name, value);
  return status;
}

/* Stores a flag; its value is `attached` if not NULL, else the next word. */
static pcal_status args_take(args_state *state, const cli_flag *flag, const char *attached,
                             const char *next, int *used_next, pcal_error *err) {
  if (flag->kind == CLI_FLAG) {
    if (attached)
      return cli_fail(err, PCAL_USAGE, "--%s takes no value", flag->name);
    *(int *)((char *)state->options + flag->offset) = 1;
    return PCAL_OK;
  }
  if (attached)
    return args_store(state, flag, attached, err);
  if (!next || strncmp(next, "--", 2) == 0)
    return cli_fail(err, PCAL_USAGE, "--%s needs a value: --%s %s", flag->name, flag->name,
                    flag->value);
  *used_next = 1;
  return args_store(state, flag, next, err);
}

static pcal_status args_word(args_state *state, const char *word, const char *next,
                             int *used_next, pcal_error *err) {
  if (word[0] != '-' || word[1] == '\0' || word[1] == ':')
    return args_append(&state->options->operands, word, err);
  if (word[1] != '-') {
    const cli_flag *flag = args_find_letter(state, word[1]);
    if (!flag || (flag->kind == CLI_FLAG && word[2]))
      return args_unknown(state, word, 1, strlen(word) - 1, err);
    return args_take(state, flag, word[2] ? word + 2 : NULL, next, used_next, err);
  }
  const char *name = word + 2;
  const size_t length = strcspn(name, "=");
  const cli_flag *flag = cli_flag_find(state->sections, state->section_count, name, length);
  char known[32];
  if (!flag && cli_habit_flag(name, length, known))
    flag = cli_flag_find(state->sections, state->section_count, known, strlen(known));
  if (!flag)
    return args_unknown(state, word, 2, length, err);
  return args_take(state, flag, name[length] ? name + length + 1 : NULL, next, used_next, err);
}

pcal_status cli_parse(const cli_section *const *sections, size_t section_count, int argc,
                      const char *const *argv, cli_options *options, pcal_error *err) {
  args_state state = {sections, section_count, options, {NULL}, 0};
  int flags_ended = 0;
  pcal_status status = PCAL_OK;
  for (int i = 0; i < argc && status == PCAL_OK; i++) {
    int used_next = 0;
    if (flags_ended)
      status = args_append(&options->operands, argv[i], err);
    else if (strcmp(argv[i], "--") == 0)
      flags_ended = 1;
    else
      status = args_word(&state, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &used_next, err);
    i += used_next;
  }
  return status;
}
