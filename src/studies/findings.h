/* What a study found: a summary and one table or more. */
#ifndef PC_FINDINGS_H
#define PC_FINDINGS_H

#include "output/table.h"

#define PC_FINDINGS_TABLES 12

typedef struct pc_findings {
  const pcal_env *env;
  const char *study;  /* its name */
  char spec[256];     /* with its options */
  char summary[2048]; /* what was done and what is seen, in sentences */
  pc_table tables[PC_FINDINGS_TABLES];
  size_t table_count;
} pc_findings;

void pc_findings_init(pc_findings *findings, const pcal_env *env, const char *study);
void pc_findings_free(pc_findings *findings);

/* A new table, with a title where there are several ("" for the only one); there is room for
 * PC_FINDINGS_TABLES. */
pc_table *pc_findings_add_table(pc_findings *findings, const char *title);

/* Adds a sentence to the summary. */
void pc_findings_add_sentence(pc_findings *findings, const char *format, ...) PC_PRINTF(2, 3);

/* As CSV all tables are one, which programs read at once: the first column, `table`, has the
 * title of the table or, without one, the name of the study; the others are the columns of all
 * tables, each name once, left empty in the rows of tables that do not have them. */
void pc_findings_write(const pc_findings *findings, pcal_format format, pc_text *out);

#endif
