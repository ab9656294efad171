/* 1. Existing files are compared by device and inode; others by directory and name, after
 *      resolving symbolic links.
 *   2. The part of an input after its last colon is ignored, unless the whole text names a
 *      file.
 *   3. Standard streams, pipes and devices never conflict. */
#include "file_conflicts.h"

#include <string.h>

#include "system/paths.h"

#include "input_files.h"

#define FILE_CONFLICTS_PATH 4096
#define FILE_CONFLICTS_LINKS 40

/* Resolves symbolic links, even dangling ones; returns 0 on failure. */
static int file_conflicts_resolve(const char *path, char out[FILE_CONFLICTS_PATH]) {
  char link[FILE_CONFLICTS_PATH], next[FILE_CONFLICTS_PATH];
  if (strlen(path) >= FILE_CONFLICTS_PATH)
    return 0;
  memcpy(out, path, strlen(path) + 1);
  for (int links = 0; links < FILE_CONFLICTS_LINKS; links++) {
    const int64_t length = pc_path_read_link(out, link, sizeof link - 1);
    if (length < 0)
      return 1;
    link[length] = '\0';
    const size_t folder = pc_path_is_absolute(link) ? 0 : pc_path_directory(out);
    if (folder + (size_t)length >= FILE_CONFLICTS_PATH)
      return 0;
    memcpy(next, out, folder);
    memcpy(next + folder, link, (size_t)length + 1);
    memcpy(out, next, folder + (size_t)length + 1);
  }
  return 0;
}

/* Splits a path in place into directory and file name. */
static const char *file_conflicts_split(char *path, const char **folder) {
  const size_t length = pc_path_directory(path);
  *folder = length == 0 ? "." : length == 1 ? "/" : path;
  if (length > 1)
    path[length - 1] = '\0';
  return path + length;
}

int cli_same_file(const char *one, const char *other) {
  pc_file_info a, b;
  const int a_there = pc_path_describe(one, &a) == 0,
            b_there = pc_path_describe(other, &b) == 0;
  if (a_there && b_there)
    return a.kind == PC_FILE_REGULAR && a.device == b.device && a.number == b.number;
  char first[FILE_CONFLICTS_PATH], second[FILE_CONFLICTS_PATH];
  if (a_there || b_there || !file_conflicts_resolve(one, first) ||
      !file_conflicts_resolve(other, second))
    return 0;
  const char *folder_a, *folder_b;
  const char *last_a = file_conflicts_split(first, &folder_a),
             *last_b = file_conflicts_split(second, &folder_b);
  return strcmp(last_a, last_b) == 0 && pc_path_describe(folder_a, &a) == 0 &&
         pc_path_describe(folder_b, &b) == 0 && a.device == b.device && a.number == b.number;
}

/* The same for an input, which may end in :COLUMNS. */
static int file_conflicts_input(const char *output, const char *input) {
  pc_file_info about;
  char path[FILE_CONFLICTS_PATH];
  const char *colon = strrchr(input, ':');
  if (strcmp(input, "-") == 0)
    return 0;
  if (pc_path_describe(input, &about) == 0 || !colon || (size_t)(colon - input) >= sizeof path)
    return pc_path_describe(input, &about) == 0 && cli_same_file(output, input);
  memcpy(path, input, (size_t)(colon - input));
  path[colon - input] = '\0';
  return pc_path_describe(path, &about) == 0 && cli_same_file(output, path);
}

static pcal_status file_conflicts_refuse(const char *flag, const char *file, const char *other,
                                         pcal_error *err) {
  return cli_fail(err, PCAL_USAGE,
                  "--%s %s is the same file as %s and would overwrite it; choose another "
                  "file",
                  flag, file, other);
}

static const char *file_conflicts_output_of(const cli_flag *flag, const cli_options *options) {
  const int writes = strcmp(flag->name, "output") == 0 || strcmp(flag->name, "state") == 0 ||
                     strcmp(flag->name, "gate-report") == 0;
  const char *file = *(const char *const *)((const char *)options + flag->offset);
  return writes && flag->kind == CLI_TEXT && file && *file && strcmp(file, "-") != 0 ? file
                                                                                     : NULL;
}

/* Checks all files of an input flag against one output. */
static pcal_status file_conflicts_check_input(cli_session *session, const cli_flag *written,
                                              const char *file, const cli_flag *flag,
                                              pcal_error *err) {
  char name[64] = "--";
  const char *value = *(const char *const *)((const char *)&session->options + flag->offset);
  const cli_words *files = NULL;
  if (!value)
    return PCAL_OK;
  strncat(name, flag->name, sizeof name - 3);
  pcal_status status = cli_input_files(session, value, &files, err);
  for (size_t i = 0; status == PCAL_OK && i < files->count; i++)
    if (file_conflicts_input(file, files->word[i]))
      status = file_conflicts_refuse(written->name, file, name, err);
  return status;
}

/* Checks one flag against one output. */
static pcal_status file_conflicts_check_flag(cli_session *session, const cli_flag *written,
                                             const char *file, const cli_flag *flag,
                                             pcal_error *err) {
  const cli_options *options = &session->options;
  char name[64] = "--";
  if (flag->domain == CLI_INPUT)
    return file_conflicts_check_input(session, written, file, flag, err);
  if (flag == written || flag->kind != CLI_TEXT || flag->domain != CLI_FILE)
    return PCAL_OK;
  const char *value = *(const char *const *)((const char *)options + flag->offset);
  if (!value)
    return PCAL_OK;
  strncat(name, flag->name, sizeof name - 3);
  const int same = file_conflicts_output_of(flag, options) ? cli_same_file(file, value)
                                                           : file_conflicts_input(file, value);
  return same ? file_conflicts_refuse(written->name, file, name, err) : PCAL_OK;
}

/* "NAME=KIND:FILE" and "NAME=FILE,FILE" */
static pcal_status file_conflicts_check_words(const char *flag, const char *file,
                                              const cli_words *words, pcal_error *err) {
  for (size_t i = 0; i < words->count; i++) {
    char path[FILE_CONFLICTS_PATH];
    const char *at = strchr(words->word[i], '=');
    at = at ? at + 1 : words->word[i];
    for (;;) {
      const size_t length = strcspn(at, ",");
      const char *kind = memchr(at, ':', length);
      if (length < sizeof path) {
        memcpy(path, at, length);
        path[length] = '\0';
        if (file_conflicts_input(file, path) ||
            (kind && file_conflicts_input(file, path + (kind + 1 - at))))
          return file_conflicts_refuse(flag, file, words->word[i], err);
      }
      if (!at[length])
        break;
      at += length + 1;
    }
  }
  return PCAL_OK;
}

static pcal_status file_conflicts_check_output(cli_session *session, const cli_flag *written,
                                               const char *file, pcal_error *err) {
  const cli_verb *verb = session->verb;
  const cli_options *options = &session->options;
  pcal_status status = PCAL_OK;
  for (size_t s = 0; s < verb->section_count; s++)
    for (size_t i = 0; i < verb->sections[s]->count && status == PCAL_OK; i++)
      status =
          file_conflicts_check_flag(session, written, file, &verb->sections[s]->flags[i], err);
  for (size_t i = 0; verb->operand_domain == CLI_FILE && i < options->operands.count; i++)
    if (status == PCAL_OK && file_conflicts_input(file, options->operands.word[i]))
      status = file_conflicts_refuse(written->name, file, options->operands.word[i], err);
  if (status == PCAL_OK)
    status = file_conflicts_check_words(written->name, file, &options->models, err);
  return status == PCAL_OK
             ? file_conflicts_check_words(written->name, file, &options->cases, err)
             : status;
}

pcal_status cli_check_file_conflicts(cli_session *session, pcal_error *err) {
  const cli_verb *verb = session->verb;
  pcal_status status = PCAL_OK;
  for (size_t s = 0; s < verb->section_count; s++)
    for (size_t i = 0; i < verb->sections[s]->count && status == PCAL_OK; i++) {
      const cli_flag *flag = &verb->sections[s]->flags[i];
      const char *file =
          flag->kind == CLI_TEXT ? file_conflicts_output_of(flag, &session->options) : NULL;
      if (file)
        status = file_conflicts_check_output(session, flag, file, err);
    }
  return status;
}

pcal_status cli_check_output_file(cli_session *session, const char *flag, const char *file,
                                  pcal_error *err) {
  const cli_verb *verb = session->verb;
  for (size_t s = 0; s < verb->section_count; s++)
    for (size_t i = 0; i < verb->sections[s]->count; i++)
      if (strcmp(verb->sections[s]->flags[i].name, flag) == 0)
        return file_conflicts_check_output(session, &verb->sections[s]->flags[i], file, err);
  return PCAL_OK;
}
