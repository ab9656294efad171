#include "studies/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "output/latex.h"

void pc_findings_init(pc_findings *findings, const pcal_env *env, const char *study) {
  memset(findings, 0, sizeof *findings);
  findings->env = env;
  findings->study = study;
}

void pc_findings_free(pc_findings *findings) {
  for (size_t t = 0; t < findings->table_count; t++)
    pc_table_free(&findings->tables[t]);
  findings->table_count = 0;
}

/* Writes the words of a title up to its first punctuation, joined by '-', as far as whole words
 * fit; the name of the study where there are none. */
static void findings_name(const char *study, const char *title, char *out, size_t size) {
  size_t used = 0;
  const char *at = *title == '\0' ? study : title;
  while (*at != '\0' && strchr(",:;.(", *at) == NULL) {
    const size_t length = strcspn(at, " ,:;.(");
    const size_t gap = used > 0;
    if (used + gap + length >= size)
      break;
    if (length > 0 && gap)
      out[used++] = '-';
    for (size_t i = 0; i < length; i++) {
      const int upper = at[i] >= 'A' && at[i] <= 'Z';
      const int plain = (at[i] >= 'a' && at[i] <= 'z') || (at[i] >= '0' && at[i] <= '9');
      out[used++] = upper ? (char)(at[i] - 'A' + 'a') : plain ? at[i] : '-';
    }
    at += length;
    at += *at == ' ';
  }
  out[used] = '\0';
}

/* Numbers a name that another table has already. */
static void findings_number_name(const pc_findings *findings, pc_table *table) {
  size_t same = 1;
  for (const pc_table *other = findings->tables; other < table; other++)
    same += strncmp(other->name, table->name, strlen(table->name)) == 0;
  const size_t length = strlen(table->name);
  if (same > 1 && length + 4 < sizeof table->name)
    snprintf(table->name + length, sizeof table->name - length, "-%zu", same);
}

pc_table *pc_findings_add_table(pc_findings *findings, const char *title) {
  pc_table *table = &findings->tables[findings->table_count++];
  pc_table_init(table, findings->env, findings->study);
  snprintf(table->title, sizeof table->title, "%s", title);
  findings_name(findings->study, title, table->name, sizeof table->name - 4);
  findings_number_name(findings, table);
  return table;
}

void pc_findings_add_sentence(pc_findings *findings, const char *format, ...) {
  size_t used = strlen(findings->summary);
  va_list arguments;
  if (used > 0 && used + 2 < sizeof findings->summary)
    findings->summary[used++] = ' ';
  va_start(arguments, format);
  vsnprintf(findings->summary + used, sizeof findings->summary - used, format, arguments);
  va_end(arguments);
}

/* ---- Writing ---- */

static void findings_json(const pc_findings *findings, pc_text *out) {
  pc_json json;
  pc_json_init(&json, out);
  pc_json_open(&json, '{');
  pc_json_key(&json, "propercal");
  pc_json_string(&json, PCAL_VERSION);
  pc_json_key(&json, "study");
  pc_json_string(&json, findings->study);
  pc_json_key(&json, "spec");
  pc_json_string(&json, findings->spec);
  pc_json_key(&json, "summary");
  pc_json_string(&json, findings->summary);
  pc_json_key(&json, "tables");
  pc_json_open(&json, '[');
  for (size_t t = 0; t < findings->table_count; t++) {
    pc_json_open(&json, '{');
    pc_json_key(&json, "title");
    pc_json_string(&json, findings->tables[t].title);
    pc_json_key(&json, "rows");
    pc_table_write_json_rows(&findings->tables[t], &json);
    pc_json_close(&json, '}');
  }
  pc_json_close(&json, ']');
  pc_json_close(&json, '}');
  pc_text_add(out, "\n");
}

/* True if no table before has a column of this name. */
static int findings_first(const pc_findings *findings, size_t table, size_t column) {
  const char *name = findings->tables[table].columns[column];
  for (size_t t = 0; t < table; t++)
    if (pc_table_find_column(&findings->tables[t], name) < findings->tables[t].column_count)
      return 0;
  return 1;
}

/* Writes the head (row SIZE_MAX) or a row of a table, with a cell for every column of any table. */
static void findings_csv_line(const pc_findings *findings, size_t table, size_t row,
                              pc_text *out) {
  const pc_table *own = &findings->tables[table];
  const int head = row == SIZE_MAX;
  pc_text_csv(out, head ? "table" : own->title[0] == '\0' ? own->study : own->title);
  for (size_t t = 0; t < findings->table_count; t++)
    for (size_t c = 0; c < findings->tables[t].column_count; c++) {
      const char *name = findings->tables[t].columns[c];
      const size_t place = pc_table_find_column(own, name);
      if (!findings_first(findings, t, c))
        continue;
      pc_text_add(out, ",");
      if (head)
        pc_text_csv(out, name);
      else if (place < own->column_count)
        pc_table_write_csv_cell(pc_table_at(own, row, place), out);
    }
  pc_text_add(out, "\n");
}

/* Writes all tables as one: the first column names the table. */
static void findings_csv(const pc_findings *findings, pc_text *out) {
  if (findings->table_count == 0)
    return;
  findings_csv_line(findings, 0, SIZE_MAX, out);
  for (size_t t = 0; t < findings->table_count; t++)
    for (size_t r = 0; r < findings->tables[t].row_count; r++)
      findings_csv_line(findings, t, r, out);
}

static void findings_latex(const pc_findings *findings, pc_text *out) {
  pc_latex_preamble(out);
  pc_latex_comment(findings->summary, out);
  for (size_t t = 0; t < findings->table_count; t++) {
    pc_text_add(out, "\n");
    pc_latex_comment(findings->tables[t].title, out);
    pc_table_write_latex(&findings->tables[t], out);
  }
}

void pc_findings_write(const pc_findings *findings, pcal_format format, pc_text *out) {
  if (format == PCAL_JSON) {
    findings_json(findings, out);
    return;
  }
  if (format == PCAL_CSV) {
    findings_csv(findings, out);
    return;
  }
  if (format == PCAL_LATEX) {
    findings_latex(findings, out);
    return;
  }
  pc_write_paragraph(format, findings->summary, 79, out);
  for (size_t t = 0; t < findings->table_count; t++) {
    const pc_table *table = &findings->tables[t];
    pc_text_add(out, "\n");
    if (table->title[0] != '\0' && format == PCAL_MARKDOWN)
      pc_text_add(out, "### ");
    if (table->title[0] != '\0')
      pc_write_line(format, table->title, format == PCAL_MARKDOWN ? "\n\n" : "\n", out);
    pc_table_write_body(table, format, out);
  }
}
