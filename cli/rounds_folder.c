#include "rounds_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/paths.h"

#define ROUNDS_SHOWN 8 /* missing parts that a message names */

/* ---- names ---- */

pcal_status cli_rounds_name(const char *folder, cli_rounds_file file, unsigned round,
                            uint64_t part, char out[CLI_ROUNDS_PATH], pcal_error *err) {
  const char *slash = *folder && folder[strlen(folder) - 1] == '/' ? "" : "/";
  int length = 0;
  switch (file) {
  case CLI_ROUNDS_PARTS:
    length = snprintf(out, CLI_ROUNDS_PATH, "%s%sparts", folder, slash);
    break;
  case CLI_ROUNDS_REQUEST:
    length = snprintf(out, CLI_ROUNDS_PATH, "%s%srequest-%u", folder, slash, round);
    break;
  case CLI_ROUNDS_ANSWER:
    length = snprintf(out, CLI_ROUNDS_PATH, "%s%sanswer-%u-%llu", folder, slash, round,
                      (unsigned long long)part);
    break;
  case CLI_ROUNDS_TALLY:
    length = snprintf(out, CLI_ROUNDS_PATH, "%s%stally-%u", folder, slash, round);
    break;
  }
  if (!*folder || length < 0 || length >= CLI_ROUNDS_PATH)
    return cli_fail(err, PCAL_USAGE, "\"%s\" is no name of a folder; choose another", folder);
  return PCAL_OK;
}

int cli_rounds_has(const char *path) {
  pc_file_info about;
  return pc_path_describe(path, &about) == 0;
}

static int rounds_folder_has(const char *folder, cli_rounds_file file, unsigned round) {
  char path[CLI_ROUNDS_PATH];
  return cli_rounds_name(folder, file, round, 0, path, NULL) == PCAL_OK && cli_rounds_has(path);
}

/* ---- opening ---- */

static pcal_status rounds_folder_parts(const cli_session *session, const char *path,
                                       uint64_t *out, pcal_error *err) {
  cli_file_bytes file;
  char digits[CLI_NUMBER_MAX] = "";
  pcal_status status = cli_read_file(session, path, &file, err);
  if (status != PCAL_OK)
    return status;
  const size_t length =
      file.length > 0 && file.bytes[file.length - 1] == '\n' ? file.length - 1 : file.length;
  if (length < sizeof digits)
    memcpy(digits, file.bytes, length);
  free(file.bytes);
  if (!cli_read_count(digits, out) || *out == 0 || *out > CLI_ROUNDS_PARTS_MAX)
    return cli_fail(err, PCAL_DATA, "%s is damaged; begin the rounds again in another folder",
                    path);
  return PCAL_OK;
}

pcal_status cli_rounds_folder_open(const cli_session *session, const char *path,
                                   cli_rounds_folder *out, pcal_error *err) {
  char name[CLI_ROUNDS_PATH];
  *out = (cli_rounds_folder){.path = path};
  pcal_status status = cli_rounds_name(path, CLI_ROUNDS_PARTS, 0, 0, name, err);
  if (status != PCAL_OK)
    return status;
  if (!cli_rounds_has(name) || !rounds_folder_has(path, CLI_ROUNDS_REQUEST, 1))
    return cli_fail(err, PCAL_USAGE,
                    "%s holds no rounds; begin them with propercal rounds new %s --parts N",
                    path, path);
  while (rounds_folder_has(path, CLI_ROUNDS_REQUEST, out->round + 1))
    out->round++;
  out->merged = rounds_folder_has(path, CLI_ROUNDS_TALLY, out->round);
  return rounds_folder_parts(session, name, &out->parts, err);
}

/* The failure of reading a file of the folder, with its name. */
static pcal_status rounds_folder_blame(const char *name, pcal_status status, pcal_error *err) {
  char why[sizeof err->message];
  if (status == PCAL_OK || status == PCAL_MEMORY)
    return status;
  pcal_error_text(err, PCAL_INTERFACE_PROGRAM, why, sizeof why);
  return cli_fail(err, status, "%s: %s", name, why);
}

static pcal_status rounds_folder_absorb(cli_session *session, const cli_rounds_folder *folder,
                                        unsigned round, pcal_rounds *rounds, pcal_error *err) {
  char name[CLI_ROUNDS_PATH];
  cli_file_bytes tally;
  pcal_status status = cli_rounds_name(folder->path, CLI_ROUNDS_TALLY, round, 0, name, err);
  if (status == PCAL_OK)
    status = cli_read_file(session, name, &tally, err);
  if (status != PCAL_OK)
    return status;
  status = rounds_folder_blame(name, pcal_rounds_absorb(rounds, tally.bytes, tally.length, err),
                               err);
  free(tally.bytes);
  return status;
}

pcal_status cli_rounds_folder_resume(cli_session *session, const cli_rounds_folder *folder,
                                     pcal_rounds **out, pcal_error *err) {
  char name[CLI_ROUNDS_PATH];
  cli_file_bytes request;
  *out = NULL;
  pcal_status status = cli_rounds_name(folder->path, CLI_ROUNDS_REQUEST, 1, 0, name, err);
  if (status == PCAL_OK)
    status = cli_read_file(session, name, &request, err);
  if (status != PCAL_OK)
    return status;
  status = rounds_folder_blame(
      name, pcal_rounds_resume(request.bytes, request.length, &session->env, out, err), err);
  free(request.bytes);
  const unsigned last = folder->merged ? folder->round : folder->round - 1;
  for (unsigned round = 1; round <= last && status == PCAL_OK; round++)
    status = rounds_folder_absorb(session, folder, round, *out, err);
  return status;
}

/* ---- merging answers ---- */

static pcal_status rounds_folder_check_all(const cli_rounds_folder *folder, pcal_error *err) {
  char name[CLI_ROUNDS_PATH], list[ROUNDS_SHOWN * 24] = "";
  uint64_t missing = 0;
  size_t used = 0;
  for (uint64_t part = 1; part <= folder->parts; part++) {
    pcal_status status =
        cli_rounds_name(folder->path, CLI_ROUNDS_ANSWER, folder->round, part, name, err);
    if (status != PCAL_OK)
      return status;
    if (cli_rounds_has(name))
      continue;
    if (missing++ < ROUNDS_SHOWN)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%llu", used ? ", " : "",
                               (unsigned long long)part);
  }
  if (missing == 0)
    return PCAL_OK;
  return cli_fail(err, PCAL_DATA,
                  "round %u lacks the answer of %llu of %llu parts: %s%s; run propercal rounds "
                  "answer %s --part P for each",
                  folder->round, (unsigned long long)missing, (unsigned long long)folder->parts,
                  list, missing > ROUNDS_SHOWN ? ", ..." : "", folder->path);
}

/* The rows of a part. */
typedef struct rounds_part {
  uint64_t rows, fingerprint[2], part;
} rounds_part;

static int rounds_part_compare(const void *left, const void *right) {
  const rounds_part *a = left, *b = right;
  const int rows = memcmp(a->fingerprint, b->fingerprint, sizeof a->fingerprint);
  return rows != 0 ? rows : (a->part > b->part) - (a->part < b->part);
}

/* Sorts the parts. */
static pcal_status rounds_folder_check_repeats(rounds_part *parts, size_t count,
                                               pcal_error *err) {
  qsort(parts, count, sizeof *parts, rounds_part_compare);
  for (size_t i = 1; i < count; i++)
    if (parts[i].rows > 0 && parts[i].rows == parts[i - 1].rows &&
        memcmp(parts[i].fingerprint, parts[i - 1].fingerprint, sizeof parts[i].fingerprint) ==
            0)
      return cli_fail(err, PCAL_DATA,
                      "parts %llu and %llu have the same %llu rows; answer one of them again "
                      "with its own rows, or add --allow-repeat",
                      (unsigned long long)parts[i - 1].part, (unsigned long long)parts[i].part,
                      (unsigned long long)parts[i].rows);
  return PCAL_OK;
}

/* Adds an answer to the tally in `merged`. */
static pcal_status rounds_folder_add(cli_session *session, const cli_file_bytes *answer,
                                     cli_text_buffer *merged, pcal_error *err) {
  const pcal_bytes both[] = {{merged->text, merged->length}, {answer->bytes, answer->length}};
  const int first = merged->length == 0;
  cli_text_buffer sum = CLI_TEXT_BUFFER_INIT;
  pcal_status status = pcal_tally_merge(first ? both + 1 : both, first ? 1 : 2, &session->env,
                                        cli_text_buffer_sink, &sum, err);
  status = cli_text_buffer_status(&sum, status, err);
  cli_text_buffer_free(merged);
  *merged = sum;
  return status;
}

static pcal_status rounds_folder_merge_part(cli_session *session,
                                            const cli_rounds_folder *folder, rounds_part *part,
                                            cli_text_buffer *merged, pcal_error *err) {
  char name[CLI_ROUNDS_PATH];
  cli_file_bytes answer;
  pcal_status status =
      cli_rounds_name(folder->path, CLI_ROUNDS_ANSWER, folder->round, part->part, name, err);
  if (status == PCAL_OK)
    status = cli_read_file(session, name, &answer, err);
  if (status != PCAL_OK)
    return status;
  status = pcal_tally_rows(answer.bytes, answer.length, &part->rows, part->fingerprint, err);
  if (status == PCAL_OK)
    status = rounds_folder_add(session, &answer, merged, err);
  free(answer.bytes);
  return rounds_folder_blame(name, status, err);
}

pcal_status cli_rounds_folder_merge(cli_session *session, const cli_rounds_folder *folder,
                                    cli_text_buffer *out, pcal_error *err) {
  pcal_status status = rounds_folder_check_all(folder, err);
  if (status != PCAL_OK)
    return status;
  rounds_part *parts = calloc((size_t)folder->parts, sizeof *parts);
  if (!parts)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the list of parts");
  for (uint64_t i = 0; i < folder->parts && status == PCAL_OK; i++) {
    parts[i].part = i + 1;
    status = rounds_folder_merge_part(session, folder, &parts[i], out, err);
    if (session->env.progress)
      session->env.progress(session->env.user, "merging", i + 1, folder->parts);
  }
  if (status == PCAL_OK && !session->options.allow_repeat)
    status = rounds_folder_check_repeats(parts, (size_t)folder->parts, err);
  free(parts);
  return status;
}
