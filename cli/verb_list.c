/* list: show the entries of the registry. */
#include <math.h>
#include <string.h>

#include "session.h"

const cli_row_kind cli_row_kinds[] = {
    {"metrics", "metrics that measure computes"},
    {"groups", "named sets of metrics"},
    {"notions", "definitions of calibration, strongest first"},
    {"conventions", "binning rules of other packages, for ece:convention="},
    {"calibrators", "calibration methods that fit supports"},
    {"figures", "figures that plot draws"},
    {"studies", "experiments that study runs"},
};
const size_t cli_row_kind_count = CLI_COUNT_OF(cli_row_kinds);

static const cli_flag list_flags[] = {
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format), "text (default) or json",
     "text|json", CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "short for --format json", NULL,
     CLI_ANY},
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "output file (default: standard output)", NULL, CLI_FILE},
};

/* ---- Kinds -------------------------------------------------------------- */

static void list_put_kinds(cli_text_buffer *buffer) {
  for (size_t i = 0; i < cli_row_kind_count; i++) {
    cli_put(buffer, cli_row_kinds[i].name);
    cli_pad(buffer, 14);
    cli_putf(buffer, "%3zu  %s\n",
             pcal_registry_count(pcal_registry_by_name(cli_row_kinds[i].name)),
             cli_row_kinds[i].summary);
  }
  cli_put(buffer, "\nNext: propercal list metrics\n");
}

static void list_put_kinds_json(cli_text_buffer *buffer) {
  cli_put(buffer, "{\"propercal\": ");
  cli_put_json(buffer, pcal_version());
  cli_put(buffer, ", \"kinds\": [");
  for (size_t i = 0; i < cli_row_kind_count; i++) {
    cli_put(buffer, i ? ", {\"name\": " : "{\"name\": ");
    cli_put_json(buffer, cli_row_kinds[i].name);
    cli_putf(buffer, ", \"count\": %zu, \"summary\": ",
             pcal_registry_count(pcal_registry_by_name(cli_row_kinds[i].name)));
    cli_put_json(buffer, cli_row_kinds[i].summary);
    cli_put(buffer, "}");
  }
  cli_put(buffer, "]}\n");
}

/* ---- Tables ------------------------------------------------------------- */

#define LIST_COLUMNS 5

static const char *const list_headings[LIST_COLUMNS] = {"name", "title", "notion", "bound",
                                                        "machine"};

static const char *list_cell(const pcal_registry_row *row, size_t column) {
  const char *const cells[LIST_COLUMNS] = {row->name, row->title, pcal_notion_name(row->notion),
                                           pcal_bound_name(row->bound),
                                           pcal_machine_name(row->machine)};
  return cells[column];
}

/* Width of a column; 0 if all its cells are empty. */
static size_t list_column_width(pcal_registry kind, size_t column) {
  size_t width = 0;
  for (size_t i = 0; i < pcal_registry_count(kind); i++) {
    const char *cell = list_cell(pcal_registry_at(kind, i), column);
    const size_t columns = cell ? cli_columns(cell, strlen(cell)) : 0;
    if (columns > width)
      width = columns;
  }
  const size_t heading = strlen(list_headings[column]);
  return width == 0 || width > heading ? width : heading;
}

static void list_trim_line(cli_text_buffer *buffer) {
  while (buffer->length > 0 && buffer->text[buffer->length - 1] == ' ')
    buffer->text[--buffer->length] = '\0';
  cli_put(buffer, "\n");
}

static void list_put_line(cli_text_buffer *buffer, const size_t *widths,
                          const pcal_registry_row *row) {
  size_t column_start = 0;
  for (size_t column = 0; column < LIST_COLUMNS; column++) {
    if (widths[column] == 0)
      continue;
    cli_pad(buffer, column_start);
    const char *cell = row ? list_cell(row, column) : list_headings[column];
    cli_put(buffer, cell ? cell : "-");
    column_start += widths[column] + 2;
  }
  list_trim_line(buffer);
}

static void list_put_table(cli_text_buffer *buffer, pcal_registry kind) {
  size_t widths[LIST_COLUMNS];
  for (size_t column = 0; column < LIST_COLUMNS; column++)
    widths[column] = list_column_width(kind, column);
  list_put_line(buffer, widths, NULL);
  for (size_t i = 0; i < pcal_registry_count(kind); i++)
    list_put_line(buffer, widths, pcal_registry_at(kind, i));
  const pcal_registry_row *first = pcal_registry_at(kind, 0);
  if (first)
    cli_putf(buffer, "\nDetails: propercal list %s %s\n", pcal_registry_name(kind),
             first->name);
}

static void list_put_field_json(cli_text_buffer *buffer, const char *name, const char *text) {
  cli_putf(buffer, ", \"%s\": ", name);
  cli_put_json(buffer, text);
}

static const char *list_better(const pcal_registry_row *row) {
  return row->better == PCAL_BETTER_LOWER    ? "lower"
         : row->better == PCAL_BETTER_HIGHER ? "higher"
                                             : NULL;
}

/* Fields that only metrics have. */
static void list_put_better_json(cli_text_buffer *buffer, const pcal_registry_row *row) {
  if (row->registry != PCAL_METRICS)
    return;
  list_put_field_json(buffer, "better", list_better(row));
  cli_putf(buffer, ", \"ranks\": %s", row->better != PCAL_BETTER_NONE ? "true" : "false");
  cli_putf(buffer, ", \"test\": %s", row->is_test ? "true" : "false");
  list_put_field_json(buffer, "unit", pcal_unit_name(row->unit));
}

/* NULL for classification. */
static const char *list_task(const pcal_registry_row *row) {
  return row->task == PCAL_REGRESSION ? "regression" : NULL;
}

static void list_put_table_json(cli_text_buffer *buffer, pcal_registry kind) {
  cli_put(buffer, "{\"propercal\": ");
  cli_put_json(buffer, pcal_version());
  list_put_field_json(buffer, "kind", pcal_registry_name(kind));
  cli_put(buffer, ", \"rows\": [");
  for (size_t i = 0; i < pcal_registry_count(kind); i++) {
    const pcal_registry_row *row = pcal_registry_at(kind, i);
    cli_put(buffer, i ? ",\n  {\"name\": " : "\n  {\"name\": ");
    cli_put_json(buffer, row->name);
    for (size_t column = 1; column < LIST_COLUMNS; column++)
      list_put_field_json(buffer, list_headings[column], list_cell(row, column));
    list_put_field_json(buffer, "task", list_task(row));
    list_put_better_json(buffer, row);
    cli_put(buffer, "}");
  }
  cli_put(buffer, "]}\n");
}

/* ---- One row ------------------------------------------------------------ */

static const char *list_type_name(pcal_option_type type) {
  switch (type) {
  case PCAL_OPTION_INT:
    return "whole number";
  case PCAL_OPTION_REAL:
    return "number";
  case PCAL_OPTION_BOOL:
    return "yes or no";
  case PCAL_OPTION_CHOICE:
    return "word";
  case PCAL_OPTION_REALS:
    return "numbers separated by /";
  }
  return "value";
}

static void list_put_bounds(cli_text_buffer *buffer, const pcal_option *option) {
  char low[CLI_NUMBER_MAX], high[CLI_NUMBER_MAX];
  if (option->type == PCAL_OPTION_BOOL || option->type == PCAL_OPTION_CHOICE)
    return;
  if (isfinite(option->low) && isfinite(option->high))
    cli_putf(buffer, " from %s to %s", cli_number(option->low, low),
             cli_number(option->high, high));
  else if (isfinite(option->low))
    cli_putf(buffer, ", at least %s", cli_number(option->low, low));
  else if (isfinite(option->high))
    cli_putf(buffer, ", at most %s", cli_number(option->high, high));
}

/* The allowed values of an option: "one of width, mass". */
static void list_put_values(cli_text_buffer *buffer, const pcal_option *option) {
  const int choice = option->type == PCAL_OPTION_CHOICE && option->choices;
  cli_put(buffer, choice ? "one of " : list_type_name(option->type));
  list_put_bounds(buffer, option);
  if (!option->choices)
    return;
  if (!choice)
    cli_put(buffer, ", or ");
  const char *cursor = option->choices;
  const char *word;
  int first = 1;
  for (size_t length; (length = cli_choice_next(&cursor, &word)) > 0; first = 0)
    cli_putf(buffer, "%s%.*s", first ? "" : ", ", (int)length, word);
}

static void list_put_options(cli_text_buffer *buffer, const pcal_registry_row *row) {
  cli_put(buffer, "\nOptions\n");
  for (size_t i = 0; i < row->option_count; i++) {
    const pcal_option *option = &row->options[i];
    cli_text_buffer values = CLI_TEXT_BUFFER_INIT;
    list_put_values(&values, option);
    cli_putf(buffer, "  %s=%s", option->name, option->fallback);
    if (!*option->fallback)
      cli_put(buffer, " (unset)");
    cli_put(buffer, "\n");
    if (values.text) {
      cli_pad(buffer, 6);
      cli_put_wrapped(buffer, 6, values.text);
    }
    if (option->help) {
      cli_pad(buffer, 6);
      cli_put_wrapped(buffer, 6, option->help);
    }
    buffer->failed |= values.failed;
    cli_text_buffer_free(&values);
  }
}

static int list_has_option(const pcal_registry_row *row, const char *name) {
  for (size_t i = 0; i < row->option_count; i++)
    if (strcmp(row->options[i].name, name) == 0)
      return 1;
  return 0;
}

static void list_put_conventions(cli_text_buffer *buffer) {
  cli_put(buffer, "\nConventions\n");
  for (size_t i = 0; i < pcal_registry_count(PCAL_CONVENTIONS); i++) {
    const pcal_registry_row *row = pcal_registry_at(PCAL_CONVENTIONS, i);
    cli_putf(buffer, "  %s ", row->name);
    cli_pad(buffer, 17);
    cli_put_wrapped(buffer, 17, row->title);
  }
}

static void list_put_lines(cli_text_buffer *buffer, const char *title, const char *text,
                           int wrap) {
  if (!text || !*text)
    return;
  cli_putf(buffer, "\n%s\n", title);
  if (wrap) {
    cli_pad(buffer, 2);
    cli_put_wrapped(buffer, 2, text);
    return;
  }
  while (*text) {
    const size_t length = strcspn(text, "\n");
    cli_putf(buffer, "  %.*s\n", (int)length, text);
    text += length + (text[length] == '\n');
  }
}

static void list_put_row(cli_text_buffer *buffer, const pcal_registry_row *row) {
  cli_putf(buffer, "%s: %s\n", row->name, row->title);
  const int group = row->registry == PCAL_GROUPS;
  list_put_lines(buffer, group ? "Metrics" : "Formula", row->formula, group);
  list_put_lines(buffer, "About", row->about, 1);
  if (row->notion || row->bound || row->machine)
    cli_put(buffer, "\n");
  if (row->notion)
    cli_putf(buffer, "Notion of calibration: %s\n", pcal_notion_name(row->notion));
  if (row->bound)
    cli_putf(buffer, "Bound: %s\n", pcal_bound_name(row->bound));
  if (row->machine)
    cli_putf(buffer, "Machine: %s\n", pcal_machine_name(row->machine));
  if (row->registry == PCAL_METRICS)
    cli_putf(buffer, "Better: %s\n",
             list_better(row) ? list_better(row) : "neither; methods are not ranked by it");
  if (row->option_count > 0)
    list_put_options(buffer, row);
  if (list_has_option(row, "convention"))
    list_put_conventions(buffer);
  list_put_lines(buffer, "Citation", row->citation, 1);
}

static void list_put_choices_json(cli_text_buffer *buffer, const char *choices) {
  cli_put(buffer, ", \"choices\": ");
  if (!choices) {
    cli_put(buffer, "null");
    return;
  }
  const char *word;
  const char *before = "[";
  for (size_t length; (length = cli_choice_next(&choices, &word)) > 0; before = ", ")
    cli_putf(buffer, "%s\"%.*s\"", before, (int)length, word);
  cli_put(buffer, "]");
}

static void list_put_option_json(cli_text_buffer *buffer, const pcal_option *option) {
  static const char *const types[] = {"", "int", "real", "bool", "choice", "reals"};
  const int bounded = option->type == PCAL_OPTION_INT || option->type == PCAL_OPTION_REAL ||
                      option->type == PCAL_OPTION_REALS;
  cli_put(buffer, "{\"name\": ");
  cli_put_json(buffer, option->name);
  list_put_field_json(buffer, "type", types[option->type]);
  list_put_field_json(buffer, "default", *option->fallback ? option->fallback : NULL);
  cli_put(buffer, ", \"low\": ");
  cli_put_json_number(buffer, bounded ? option->low : NAN);
  cli_put(buffer, ", \"high\": ");
  cli_put_json_number(buffer, bounded ? option->high : NAN);
  list_put_choices_json(buffer, option->choices);
  list_put_field_json(buffer, "help", option->help);
  cli_put(buffer, "}");
}

/* The row of the other task that has the same name, or NULL. */
static const pcal_registry_row *list_other_task(const pcal_registry_row *row) {
  return pcal_registry_find_for_task(
      row->registry, row->task == PCAL_REGRESSION ? PCAL_CLASSIFICATION : PCAL_REGRESSION,
      row->name);
}

static void list_put_row_json(cli_text_buffer *buffer, const pcal_registry_row *row) {
  cli_put(buffer, "{\"propercal\": ");
  cli_put_json(buffer, pcal_version());
  list_put_field_json(buffer, "kind", pcal_registry_name(row->registry));
  list_put_field_json(buffer, "task", list_task(row));
  list_put_field_json(buffer, "name", row->name);
  list_put_field_json(buffer, "title", row->title);
  list_put_field_json(buffer, "formula", row->formula);
  list_put_field_json(buffer, "about", row->about);
  list_put_field_json(buffer, "notion", pcal_notion_name(row->notion));
  list_put_field_json(buffer, "bound", pcal_bound_name(row->bound));
  list_put_field_json(buffer, "machine", pcal_machine_name(row->machine));
  list_put_better_json(buffer, row);
  list_put_field_json(buffer, "citation", row->citation);
  cli_put(buffer, ", \"options\": [");
  for (size_t i = 0; i < row->option_count; i++) {
    cli_put(buffer, i ? ",\n  " : "\n  ");
    list_put_option_json(buffer, &row->options[i]);
  }
  cli_put(buffer, "]");
  if (row->task == PCAL_CLASSIFICATION && list_other_task(row)) {
    cli_put(buffer, ", \"regression\": ");
    list_put_row_json(buffer, list_other_task(row));
  }
  cli_put(buffer, "}\n");
}

/* ---- Verb --------------------------------------------------------------- */

static pcal_status list_find_kind(const char *name, pcal_error *err) {
  cli_nearest nearest;
  cli_nearest_start(&nearest, name, strlen(name));
  for (size_t i = 0; i < cli_row_kind_count; i++) {
    if (strcmp(cli_row_kinds[i].name, name) == 0)
      return PCAL_OK;
    cli_nearest_try(&nearest, cli_row_kinds[i].name, strlen(cli_row_kinds[i].name));
  }
  if (nearest.best)
    return cli_fail(err, PCAL_USAGE, "unknown kind \"%s\"; did you mean \"%s\"?", name,
                    nearest.best);
  return cli_fail(err, PCAL_USAGE, "unknown kind \"%s\"; `propercal list` shows all kinds",
                  name);
}

static pcal_status list_find_row(pcal_registry registry, const char *name,
                                 const pcal_registry_row **row, pcal_error *err) {
  *row = pcal_registry_find(registry, name);
  if (*row)
    return PCAL_OK;
  const char *kind = pcal_registry_name(registry);
  const char *nearest = pcal_registry_nearest(registry, name);
  if (nearest)
    return cli_fail(err, PCAL_USAGE, "unknown name \"%s\" in %s; did you mean \"%s\"?", name,
                    kind, nearest);
  return cli_fail(err, PCAL_USAGE,
                  "unknown name \"%s\" in %s; `propercal list %s` shows all names", name, kind,
                  kind);
}

static int list_is_kind(const char *name) {
  for (size_t i = 0; i < cli_row_kind_count; i++)
    if (strcmp(cli_row_kinds[i].name, name) == 0)
      return 1;
  return 0;
}

static const pcal_registry_row *list_find_in(size_t kind, const char *name) {
  return pcal_registry_find(pcal_registry_by_name(cli_row_kinds[kind].name), name);
}

/* Explains the entries called so in any kind; returns how many there are.  Several entries are an
 * array of JSON. */
static size_t list_put_named(cli_text_buffer *buffer, const char *name, int json) {
  size_t count = 0, found = 0;
  for (size_t i = 0; i < cli_row_kind_count; i++)
    count += list_find_in(i, name) != NULL;
  if (json && count > 1)
    cli_put(buffer, "[");
  for (size_t i = 0; i < cli_row_kind_count; i++) {
    const pcal_registry_row *row = list_find_in(i, name);
    if (!row)
      continue;
    if (json)
      cli_put(buffer, found > 0 ? "," : "");
    else
      cli_putf(buffer, "%sIn %s:\n\n", found > 0 ? "\n" : "", cli_row_kinds[i].name);
    (json ? list_put_row_json : list_put_row)(buffer, row);
    found++;
  }
  if (json && count > 1)
    cli_put(buffer, "]\n");
  return count;
}

static pcal_status list_run(cli_session *session, pcal_error *err) {
  const cli_words *words = &session->options.operands;
  const int json = session->format == PCAL_JSON;
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  const pcal_registry_row *row = NULL;
  if (words->count == 0) {
    (json ? list_put_kinds_json : list_put_kinds)(&buffer);
    return cli_text_buffer_write(session, &buffer, session->options.output, err);
  }
  if (words->count == 1 && !list_is_kind(words->word[0]) &&
      list_put_named(&buffer, words->word[0], json) > 0)
    return cli_text_buffer_write(session, &buffer, session->options.output, err);
  pcal_status status = list_find_kind(words->word[0], err);
  if (status == PCAL_OK && words->count == 2)
    status = list_find_row(pcal_registry_by_name(words->word[0]), words->word[1], &row, err);
  if (status != PCAL_OK)
    return status;
  if (row)
    (json ? list_put_row_json : list_put_row)(&buffer, row);
  if (row && !json && row->task == PCAL_CLASSIFICATION && list_other_task(row)) {
    cli_put(&buffer, "\n");
    list_put_row(&buffer, list_other_task(row));
  }
  if (row)
    return cli_text_buffer_write(session, &buffer, session->options.output, err);
  (json ? list_put_table_json : list_put_table)(&buffer, pcal_registry_by_name(words->word[0]));
  return cli_text_buffer_write(session, &buffer, session->options.output, err);
}

static const cli_section list_section = {"Output", list_flags, CLI_COUNT_OF(list_flags), NULL};
static const cli_section *const list_sections[] = {&list_section, &cli_section_running,
                                                   &cli_section_help};

static const cli_example list_examples[] = {
    {"propercal list", "all kinds of entries"},
    {"propercal list metrics", "all metrics, one line each"},
    {"propercal list metrics ece", "formula, options, conventions and citation of one metric"},
    {"propercal list 'PIT histogram'", "all entries of that name"},
    {"propercal list metrics ece --json", "the same as JSON"},
};

const cli_verb cli_verb_list = {
    "list",
    "[KIND [NAME]]",
    2,
    CLI_KINDS,
    "list and explain metrics, calibrators, figures and studies",
    "Without arguments, lists the kinds of entries: metrics, groups of metrics, notions of "
    "calibration, conventions of other packages, calibrators, figures, studies. With a kind, "
    "lists its entries. With a name, after its kind or alone, explains one entry: formula, "
    "meaning, options with defaults and limits, citation.",
    list_sections,
    CLI_COUNT_OF(list_sections),
    list_examples,
    CLI_COUNT_OF(list_examples),
    list_run,
};
