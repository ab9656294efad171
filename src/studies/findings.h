/* Findings of a study: a summary and one table or more. */
#ifndef PC_FINDINGS_H
#define PC_FINDINGS_H

#include "output/table.h"

#define PC_FINDINGS_TABLES 12

typedef struct pc_findings {
  const pcal_env *env;
  const char *study;  /* name of the study */
  char spec[256];     /* the study with its options */
  char summary[2048]; /* sentences: what was done, what was found */
  int simulated;      /* the study drew its rows itself */
  pc_table tables[PC_FINDINGS_TABLES];
  size_t table_count;
} pc_findings;

void pc_findings_init(pc_findings *findings, const pcal_env *env, const char *study);
void pc_findings_free(pc_findings *findings);

/* Adds a table and returns it; title is "" for an only table.  At most PC_FINDINGS_TABLES. */
pc_table *pc_findings_add_table(pc_findings *findings, const char *title);

/* Adds a sentence to the summary. */
void pc_findings_add_sentence(pc_findings *findings, const char *format, ...) PC_PRINTF(2, 3);

/* Writes the findings.  As CSV all tables are joined into one: the first column, `table`, holds
 * the title of the table or, without one, the name of the study; the others are the columns of
 * all tables, each name once, empty in the rows of tables that lack them. */
void pc_findings_write(const pc_findings *findings, pcal_format format, pc_text *out);

#endif
