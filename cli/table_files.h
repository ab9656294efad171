/* --tables PREFIX: every table of a result as a CSV file of its own, PREFIX-NAME.csv. */
#ifndef CLI_TABLE_FILES_H
#define CLI_TABLE_FILES_H

#include "session.h"

/* A row of flags. */
#define CLI_TABLES_FLAG(names)                                                           \
  {                                                                                      \
    "tables", 0, CLI_TEXT, "PREFIX", offsetof(cli_options, tables),                      \
        "also write each table as a CSV file of its own, PREFIX-NAME.csv: " names, NULL, \
        CLI_FILE                                                                         \
  }

/* The tables of one result: name returns NULL after the last one. */
typedef struct cli_tables {
  const void *of;
  const char *(*name)(const void *of, size_t index);
  pcal_status (*write)(const void *of, size_t index, pcal_sink sink, void *user,
                       pcal_error *err);
} cli_tables;

/* Refuses a prefix that names no file; before the work. */
pcal_status cli_table_files_check(const cli_session *session, pcal_error *err);

/* Writes the files and holds them (cli_output_hold); nothing without --tables.  No file may be
 * one that another flag names. */
pcal_status cli_table_files_write(cli_session *session, const cli_tables *tables,
                                  pcal_error *err);

/* The tables of results. */
cli_tables cli_tables_of_results(const pcal_results *results);

#endif
