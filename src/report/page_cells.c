#include "report/page_cells.h"

#include <math.h>

#include "base/markup.h"
#include "base/number.h"

void pc_page_table_open(const char *caption, pc_text *out) {
  pc_text_add(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
  pc_text_markup(out, caption);
  pc_text_add(out, "\"><table class=\"sortable\">\n<caption>");
  pc_text_markup(out, caption);
  pc_text_add(out, "</caption>\n<thead><tr>");
}

void pc_page_table_head(const char *name, const char *kind, pc_text *out) {
  pc_text_format(out, "<th scope=\"col\" class=\"%s\">", kind);
  pc_text_markup(out, name);
  pc_text_add(out, "</th>");
}

void pc_page_table_close(pc_text *out) {
  pc_text_add(out, "</tbody></table></div>\n");
}

void pc_page_cell_open_as(const char *kind, double value, pc_text *out) {
  pc_text_format(out, "<td class=\"%s\" data-value=\"", kind);
  if (isfinite(value))
    pc_text_number(out, value);
  pc_text_add(out, "\">");
}

void pc_page_cell_open(double value, pc_text *out) {
  pc_page_cell_open_as("num", value, out);
}

void pc_page_cell_number(double value, int digits, pc_text *out) {
  pc_page_cell_number_as("num", value, digits, out);
}

void pc_page_cell_number_as(const char *kind, double value, int digits, pc_text *out) {
  char text[PC_NUMBER_MAX];
  pc_page_cell_open_as(kind, value, out);
  if (isfinite(value))
    pc_number_fixed(value, digits, text);
  pc_text_add(out, isfinite(value) ? text : "\xE2\x80\x93");
  pc_text_add(out, "</td>");
}

void pc_page_cell_count(double value, pc_text *out) {
  pc_page_cell_open(value, out);
  pc_write_count(value, out);
  pc_text_add(out, "</td>");
}

void pc_page_cell_word(const char *word, pc_text *out) {
  pc_text_add(out, "<td>");
  pc_text_markup(out, word);
  pc_text_add(out, "</td>");
}

void pc_page_cell_interval(int known, double low, double high, pc_text *out) {
  if (!known)
    return;
  pc_text_add(out, " <span class=\"ci\">");
  pc_write_interval(low, high, out);
  pc_text_add(out, "</span>");
}
