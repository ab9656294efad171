#include "table_files.h"

#include <string.h>

#include "file_conflicts.h"

pcal_status cli_table_files_check(const cli_session *session, pcal_error *err) {
  const char *prefix = session->options.tables;
  if (!prefix || (*prefix && strcmp(prefix, "-") != 0 && prefix[strlen(prefix) - 1] != '/'))
    return PCAL_OK;
  return cli_fail(err, PCAL_USAGE,
                  "--tables %s: give the beginning of a file name, such as results/run1 for "
                  "results/run1-NAME.csv",
                  prefix);
}

/* The file of a table, PREFIX-NAME.csv; the caller frees it. */
static pcal_status table_files_path(cli_session *session, const char *name,
                                    cli_text_buffer *path, pcal_error *err) {
  cli_putf(path, "%s-%s.csv", session->options.tables, name);
  const pcal_status status = cli_text_buffer_check(path, err);
  return status == PCAL_OK ? cli_check_output_file(session, "tables", path->text, err) : status;
}

/* Refuses files that are inputs or other outputs, before the first one is written. */
static pcal_status table_files_conflicts(cli_session *session, const cli_tables *tables,
                                         pcal_error *err) {
  pcal_status status = PCAL_OK;
  const char *name;
  for (size_t i = 0; status == PCAL_OK && (name = tables->name(tables->of, i)); i++) {
    cli_text_buffer path = CLI_TEXT_BUFFER_INIT;
    status = table_files_path(session, name, &path, err);
    cli_text_buffer_free(&path);
  }
  return status;
}

static pcal_status table_files_one(cli_session *session, const cli_tables *tables, size_t index,
                                   const char *name, pcal_error *err) {
  cli_text_buffer path = CLI_TEXT_BUFFER_INIT, table = CLI_TEXT_BUFFER_INIT;
  pcal_status status = table_files_path(session, name, &path, err);
  if (status == PCAL_OK)
    status = tables->write(tables->of, index, cli_text_buffer_sink, &table, err);
  status = cli_text_buffer_status(&table, status, err);
  if (status == PCAL_OK)
    status = cli_text_buffer_hold(session, &table, path.text, err);
  else
    cli_text_buffer_free(&table);
  cli_text_buffer_free(&path);
  return status;
}

pcal_status cli_table_files_write(cli_session *session, const cli_tables *tables,
                                  pcal_error *err) {
  if (!session->options.tables)
    return PCAL_OK;
  pcal_status status = table_files_conflicts(session, tables, err);
  const char *name;
  for (size_t i = 0; status == PCAL_OK && (name = tables->name(tables->of, i)); i++)
    status = table_files_one(session, tables, i, name, err);
  return status;
}

static const char *table_files_results_name(const void *of, size_t index) {
  return pcal_results_table_name(of, index);
}

static pcal_status table_files_results_write(const void *of, size_t index, pcal_sink sink,
                                             void *user, pcal_error *err) {
  return pcal_results_table_write(of, index, sink, user, err);
}

cli_tables cli_tables_of_results(const pcal_results *results) {
  return (cli_tables){results, table_files_results_name, table_files_results_write};
}
