/* Tables and cells of a report's page.  data-value of a cell is the number that sorting uses. */
#ifndef PC_PAGE_CELLS_H
#define PC_PAGE_CELLS_H

#include "report/page.h"

/* Begins a table with its caption; column heads follow, then "</tr></thead>". */
void pc_page_table_open(const char *caption, pc_text *out);
/* kind: "", or classes such as "num" for numbers. */
void pc_page_table_head(const char *name, const char *kind, pc_text *out);
void pc_page_table_close(pc_text *out);

/* Begin a cell of a number, of class kind or "num"; the caller writes it and ends the cell. */
void pc_page_cell_open_as(const char *kind, double value, pc_text *out);
void pc_page_cell_open(double value, pc_text *out);

/* kind of columns that a phone leaves out. */
#define PC_PAGE_LESS "num less"

/* Whole cells.  A number that is not finite is a dash. */
void pc_page_cell_number(double value, int digits, pc_text *out);
void pc_page_cell_number_as(const char *kind, double value, int digits, pc_text *out);
void pc_page_cell_count(double value, pc_text *out);
void pc_page_cell_word(const char *word, pc_text *out);

/* Adds the interval to the open cell, if it is known. */
void pc_page_cell_interval(int known, double low, double high, pc_text *out);

#endif
