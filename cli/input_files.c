/* 1. Beside --data a word without slash, colon and the ending of a file is a column of its
 *    files, or a nested field "out.p", and so are "a,b,c" and "a..c", whatever files there are:
 *    ./p is the file p.  The same for the flags --val-... beside --val-data.
 * 2. Otherwise a value that names an existing file, with or without :COLUMNS, is that file.
 * 3. Otherwise a value with *, ? or [ is a pattern of the shell; its files are sorted by name,
 *    byte by byte, and :COLUMNS is added to each of them. */
#include "input_files.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "system/file_patterns.h"
#include "system/paths.h"

/* The lists made so far. */
struct cli_input_list {
  struct cli_input_list *next;
  const char *value;
  cli_words files;
};

static pcal_status input_files_memory(pcal_error *err) {
  return cli_fail(err, PCAL_MEMORY, "out of memory for the names of files");
}

/* Appends a copy of path, followed by the selector. */
static pcal_status input_files_add(cli_words *files, const char *path, const char *selector,
                                   pcal_error *err) {
  const size_t length = strlen(path);
  char *copy = malloc(length + strlen(selector) + 1);
  const char **grown = realloc(files->word, (files->count + 1) * sizeof *grown);
  if (grown)
    files->word = grown;
  if (!copy || !grown) {
    free(copy);
    return input_files_memory(err);
  }
  memcpy(copy, path, length);
  memcpy(copy + length, selector, strlen(selector) + 1);
  files->word[files->count++] = copy;
  return PCAL_OK;
}

/* Length of the path before :COLUMNS. */
static size_t input_files_path_length(const char *text) {
  const char *colon = strrchr(text, ':');
  return colon && (size_t)(colon - text) >= pc_path_directory(text) ? (size_t)(colon - text)
                                                                    : strlen(text);
}

/* The files found so far, and what to add to each. */
typedef struct input_files_search {
  cli_words *files;
  const char *selector;
  pcal_status status;
  pcal_error *err;
} input_files_search;

static int input_files_found(void *user, const char *path) {
  input_files_search *search = user;
  search->status = input_files_add(search->files, path, search->selector, search->err);
  return search->status != PCAL_OK;
}

static pcal_status input_files_match(cli_words *files, const char *text, pcal_error *err) {
  const size_t length = input_files_path_length(text);
  input_files_search search = {files, text + length, PCAL_OK, err};
  char *pattern = malloc(length + 1);
  if (!pattern)
    return input_files_memory(err);
  memcpy(pattern, text, length);
  pattern[length] = '\0';
  const long calls = pc_file_pattern_each(pattern, input_files_found, &search);
  if (calls < 0)
    search.status = input_files_memory(err);
  else if (calls == 0)
    search.status =
        cli_fail(err, PCAL_IO, "%s: no file matches the pattern; check it", pattern);
  free(pattern);
  return search.status;
}

static int input_files_exists(const char *text) {
  char path[4096];
  pc_file_info about;
  const size_t length = input_files_path_length(text);
  if (pc_path_describe(text, &about) == 0)
    return 1;
  if (length >= sizeof path)
    return 0;
  memcpy(path, text, length);
  path[length] = '\0';
  return pc_path_describe(path, &about) == 0;
}

static pcal_status input_files_expand(cli_words *files, const char *text, pcal_error *err) {
  return strpbrk(text, "*?[") && !input_files_exists(text)
             ? input_files_match(files, text, err)
             : input_files_add(files, text, "", err);
}

/* Starts the list of a value; *found is set if the list was made before. */
static pcal_status input_files_start(cli_session *session, const char *value,
                                     struct cli_input_list **out, int *found, pcal_error *err) {
  for (struct cli_input_list *list = session->input_lists; list; list = list->next)
    if (list->value == value) {
      *out = list;
      *found = 1;
      return PCAL_OK;
    }
  struct cli_input_list *list = calloc(1, sizeof *list);
  if (!list)
    return input_files_memory(err);
  list->value = value;
  list->next = session->input_lists;
  session->input_lists = list;
  *out = list;
  *found = 0;
  return PCAL_OK;
}

#define INPUT_FILES_FIELDS 17

/* The inputs apart from data. */
static void input_files_values(const cli_inputs *in, const char *out[INPUT_FILES_FIELDS]) {
  const char *const values[INPUT_FILES_FIELDS] = {
      in->probs,   in->logits,    in->log_probs, in->confidence, in->mean,    in->variance,
      in->std,     in->quantiles, in->samples,   in->labels,     in->correct, in->target,
      in->weights, in->groups,    in->ids,       in->time,       in->abstain};
  memcpy(out, values, sizeof values);
}

static int input_files_has(const cli_inputs *in, const char *value) {
  const char *values[INPUT_FILES_FIELDS];
  input_files_values(in, values);
  for (size_t i = 0; i < INPUT_FILES_FIELDS; i++)
    if (value == values[i])
      return 1;
  return 0;
}

/* The file of --data or --val-data that a value stands beside, or NULL. */
static const char *input_files_data(const cli_session *session, const char *value) {
  const cli_options *options = &session->options;
  if (input_files_has(&options->inputs, value) || input_files_has(&options->against, value))
    return options->inputs.data;
  return input_files_has(&options->val, value) ? options->val.data : NULL;
}

int cli_has_data_ending(const char *value) {
  static const char *const endings[] = {
      "npy", "npz",    "csv", "tsv", "jsonl", "ndjson", "arrow",   "feather",
      "ipc", "arrows", "gz",  "zst", "zstd",  "json",   "parquet", "txt",
      "dat", "xlsx",   "xls", "pkl", "pt",    "hdf5",   "h5"};
  const char *dot = strrchr(value, '.');
  for (size_t i = 0; dot != NULL && i < CLI_COUNT_OF(endings); i++)
    if (strcasecmp(dot + 1, endings[i]) == 0)
      return 1;
  return 0;
}

int cli_input_is_column(const cli_session *session, const char *value) {
  const char *data = value ? input_files_data(session, value) : NULL;
  return data && !strpbrk(value, ":/*?[") &&
         (!cli_has_data_ending(value) || strstr(value, "..")) && strcmp(value, "-") != 0 &&
         !strchr(data + pc_path_directory(data), ':');
}

static int input_files_is_standard_input(const char *value) {
  return value && value[0] == '-' && (value[1] == '\0' || value[1] == ':');
}

int cli_inputs_use_standard_input(const cli_session *session, const cli_inputs *in) {
  const char *values[INPUT_FILES_FIELDS];
  int found = input_files_is_standard_input(in->data);
  input_files_values(in, values);
  for (size_t i = 0; i < INPUT_FILES_FIELDS; i++)
    found |= input_files_is_standard_input(cli_input_is_column(session, values[i])
                                               ? input_files_data(session, values[i])
                                               : values[i]);
  return found;
}

/* Adds FILE:COLUMN for each file of --data. */
static pcal_status input_files_add_column(cli_session *session, const char *data,
                                          cli_words *out, const char *column, pcal_error *err) {
  const cli_words *files = NULL;
  char selector[1024] = ":";
  if (strlen(column) >= sizeof selector - 1)
    return cli_fail(err, PCAL_USAGE, "the name of the column \"%.60s...\" is too long", column);
  memcpy(selector + 1, column, strlen(column) + 1);
  pcal_status status = cli_input_files(session, data, &files, err);
  for (size_t i = 0; status == PCAL_OK && i < files->count; i++)
    status = input_files_add(out, files->word[i], selector, err);
  return status;
}

pcal_status cli_input_files(cli_session *session, const char *value, const cli_words **out,
                            pcal_error *err) {
  const cli_repeats *more = &session->options.more_inputs;
  struct cli_input_list *list = NULL;
  int found = 0;
  pcal_status status = input_files_start(session, value, &list, &found, err);
  if (status != PCAL_OK)
    return status;
  *out = &list->files;
  if (found)
    return PCAL_OK;
  if (cli_input_is_column(session, value)) {
    for (size_t i = 0; i < more->count; i++)
      if (more->item[i].first == value)
        return cli_fail(
            err, PCAL_USAGE,
            "the columns \"%s\" and \"%s\" of --data are given by the same flag; name "
            "all columns in one value, as %s,%s",
            value, more->item[i].word, value, more->item[i].word);
    return input_files_add_column(session, input_files_data(session, value), &list->files,
                                  value, err);
  }
  status = input_files_expand(&list->files, value, err);
  for (size_t i = 0; i < more->count && status == PCAL_OK; i++)
    if (more->item[i].first == value)
      status = input_files_expand(&list->files, more->item[i].word, err);
  return status;
}

pcal_status cli_input_files_all(cli_session *session, const cli_inputs *in, pcal_error *err) {
  const char *values[INPUT_FILES_FIELDS];
  const cli_words *files = NULL;
  pcal_status status = PCAL_OK;
  input_files_values(in, values);
  for (size_t i = 0; i < INPUT_FILES_FIELDS && status == PCAL_OK; i++)
    if (values[i])
      status = cli_input_files(session, values[i], &files, err);
  return status;
}

void cli_input_files_free(cli_session *session) {
  while (session->input_lists) {
    struct cli_input_list *list = session->input_lists;
    session->input_lists = list->next;
    for (size_t i = 0; i < list->files.count; i++) {
      union {
        const char *text;
        void *block;
      } word = {list->files.word[i]};
      free(word.block);
    }
    free(list->files.word);
    free(list);
  }
}
