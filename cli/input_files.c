/* 1. A value that names an existing file, with or without :COLUMNS, is that file.
 * 2. Otherwise a value with *, ? or [ is a pattern of the shell; its files are sorted by name,
 *    byte by byte, and :COLUMNS is added to each of them. */
#include "input_files.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
  return colon && !strchr(colon, '/') ? (size_t)(colon - text) : strlen(text);
}

static pcal_status input_files_match(cli_words *files, const char *text, pcal_error *err) {
  const size_t length = input_files_path_length(text);
  glob_t found = {0};
  char *pattern = strndup(text, length);
  if (!pattern)
    return input_files_memory(err);
  const int code = glob(pattern, 0, NULL, &found);
  pcal_status status = PCAL_OK;
  if (code == GLOB_NOSPACE)
    status = input_files_memory(err);
  else if (code != 0)
    status = cli_fail(err, PCAL_IO, "%s: no file matches the pattern; check it", pattern);
  for (size_t i = 0; i < found.gl_pathc && status == PCAL_OK; i++)
    status = input_files_add(files, found.gl_pathv[i], text + length, err);
  if (code == 0)
    globfree(&found);
  free(pattern);
  return status;
}

static int input_files_exists(const char *text) {
  char path[4096];
  const size_t length = input_files_path_length(text);
  if (access(text, F_OK) == 0)
    return 1;
  if (length >= sizeof path)
    return 0;
  memcpy(path, text, length);
  path[length] = '\0';
  return access(path, F_OK) == 0;
}

static pcal_status input_files_expand(cli_words *files, const char *text, pcal_error *err) {
  return strpbrk(text, "*?[") && !input_files_exists(text)
             ? input_files_match(files, text, err)
             : input_files_add(files, text, "", err);
}

pcal_status cli_input_files(cli_session *session, const char *value, const cli_words **out,
                            pcal_error *err) {
  const cli_repeats *more = &session->options.more_inputs;
  for (struct cli_input_list *list = session->input_lists; list; list = list->next)
    if (list->value == value) {
      *out = &list->files;
      return PCAL_OK;
    }
  struct cli_input_list *list = calloc(1, sizeof *list);
  if (!list)
    return input_files_memory(err);
  list->value = value;
  list->next = session->input_lists;
  session->input_lists = list;
  *out = &list->files;
  pcal_status status = input_files_expand(&list->files, value, err);
  for (size_t i = 0; i < more->count && status == PCAL_OK; i++)
    if (more->item[i].first == value)
      status = input_files_expand(&list->files, more->item[i].word, err);
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
