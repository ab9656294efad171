/* The numbers of small data sets, and their text formats. */
#include "fuzz_files.h"

#include <math.h>

#include "fuzz_text.h"

static const char *const table_groups[] = {"a", "b", "north", "c d"};

const char *fuzz_kind_name(fuzz_kind kind) {
  static const char *const names[FUZZ_KINDS] = {"probs", "logits", "log_probs", "confidence"};
  return names[kind];
}

const char *fuzz_outcome_name(fuzz_kind kind) {
  return kind == FUZZ_CONFIDENCE ? "correct" : "labels";
}

fuzz_table fuzz_table_make(fuzz_choice *choice) {
  fuzz_table table = {.kind = (fuzz_kind)fuzz_below(choice, FUZZ_KINDS)};
  table.rows = 1 + fuzz_below(choice, fuzz_chance(choice, 3) ? 40 : 8);
  table.columns = table.kind == FUZZ_CONFIDENCE ? 1 : 2 + fuzz_below(choice, 4);
  table.weighted = fuzz_chance(choice, 3);
  table.grouped = fuzz_chance(choice, 3);
  table.seed = fuzz_any(choice);
  return table;
}

/* 1 .. 16, the same for the same table, row and column. */
static double table_mass(const fuzz_table *table, size_t row, size_t column) {
  fuzz_choice choice = fuzz_choice_of_seed(table->seed * 1000003 + row * 131 + column);
  return 1.0 + (double)fuzz_below(&choice, 16);
}

double fuzz_table_score(const fuzz_table *table, size_t row, size_t column) {
  double sum = 0.0;
  if (table->kind == FUZZ_CONFIDENCE)
    return table_mass(table, row, 0) / 16.0;
  for (size_t c = 0; c < table->columns; c++)
    sum += table_mass(table, row, c);
  const double p = table_mass(table, row, column) / sum;
  return table->kind == FUZZ_PROBS    ? p
         : table->kind == FUZZ_LOGITS ? log(p) + (double)(row % 3)
                                      : log(p);
}

int fuzz_table_label(const fuzz_table *table, size_t row) {
  const size_t classes = table->kind == FUZZ_CONFIDENCE ? 2 : table->columns;
  return (int)((size_t)table_mass(table, row, 1001) % classes);
}

double fuzz_table_weight(const fuzz_table *table, size_t row) {
  return table_mass(table, row, 1002) / (table->seed % 2 == 0 ? 1.0 : 3.0);
}

const char *fuzz_table_group(const fuzz_table *table, size_t row) {
  return table_groups[(size_t)table_mass(table, row, 1003) % 4];
}

/* ---- CSV ---- */

static void csv_header(const fuzz_table *table, char separator, fuzz_out *out) {
  const char *name = fuzz_kind_name(table->kind);
  for (size_t c = 0; c < table->columns; c++)
    if (table->kind == FUZZ_CONFIDENCE)
      fuzz_putf(out, "%s%c", name, separator);
    else
      fuzz_putf(out, "%s.%zu%c", name, c, separator);
  fuzz_putf(out, "%s", fuzz_outcome_name(table->kind));
  if (table->weighted)
    fuzz_putf(out, "%cweights", separator);
  if (table->grouped)
    fuzz_putf(out, "%cgroups", separator);
}

static void csv_row(const fuzz_table *table, size_t row, char separator, int quoted,
                    fuzz_out *out) {
  const char *quote = quoted ? "\"" : "";
  for (size_t c = 0; c < table->columns; c++)
    fuzz_putf(out, "%s%.17g%s%c", quote, fuzz_table_score(table, row, c), quote, separator);
  fuzz_putf(out, "%d", fuzz_table_label(table, row));
  if (table->weighted)
    fuzz_putf(out, "%c%.17g", separator, fuzz_table_weight(table, row));
  if (table->grouped)
    fuzz_putf(out, "%c%s%s%s", separator, quote, fuzz_table_group(table, row), quote);
}

void fuzz_write_csv(const fuzz_table *table, fuzz_choice *choice, fuzz_out *out) {
  static const char separators[] = {',', ',', ',', ';', '\t'};
  const char separator = FUZZ_PICK(choice, separators);
  const char *end = fuzz_chance(choice, 4) ? "\r\n" : "\n";
  const int quoted = fuzz_chance(choice, 4);
  if (fuzz_chance(choice, 8))
    fuzz_put(out, "\xEF\xBB\xBF", 3);
  csv_header(table, separator, out);
  for (size_t row = 0; row < table->rows; row++) {
    fuzz_putf(out, "%s", end);
    csv_row(table, row, separator, quoted, out);
  }
  if (!fuzz_chance(choice, 4))
    fuzz_putf(out, "%s", end);
}

void fuzz_change_csv(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  if (fuzz_chance(choice, 2))
    fuzz_text_lines(choice, data, size, out);
  else
    fuzz_text_replace(choice, ",;\t\r\n", data, size, out);
}

/* ---- JSON lines ---- */

static void jsonl_row(const fuzz_table *table, size_t row, int spaced, fuzz_out *out) {
  const char *gap = spaced ? " " : "";
  fuzz_putf(out, "{%s\"%s\":%s", gap, fuzz_kind_name(table->kind), gap);
  if (table->kind == FUZZ_CONFIDENCE)
    fuzz_putf(out, "%.17g", fuzz_table_score(table, row, 0));
  else
    for (size_t c = 0; c < table->columns; c++)
      fuzz_putf(out, "%s%.17g%s", c == 0 ? "[" : ",", fuzz_table_score(table, row, c),
                c + 1 == table->columns ? "]" : gap);
  fuzz_putf(out, ",%s\"%s\":%d", gap, fuzz_outcome_name(table->kind),
            fuzz_table_label(table, row));
  if (table->weighted)
    fuzz_putf(out, ",\"weights\":%.17g", fuzz_table_weight(table, row));
  if (table->grouped)
    fuzz_putf(out, ",\"groups\":\"%s\"", fuzz_table_group(table, row));
  fuzz_putf(out, "}");
}

void fuzz_write_jsonl(const fuzz_table *table, fuzz_choice *choice, fuzz_out *out) {
  const int spaced = fuzz_chance(choice, 2), blank = fuzz_chance(choice, 8);
  for (size_t row = 0; row < table->rows; row++) {
    jsonl_row(table, row, spaced, out);
    fuzz_putf(out, blank ? "\n\n" : "\n");
  }
}

void fuzz_change_jsonl(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  if (fuzz_chance(choice, 2))
    fuzz_text_lines(choice, data, size, out);
  else
    fuzz_text_replace(choice, "[]{}:,\n", data, size, out);
}
