#include "read_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_limits.h"
#include "system/paths.h"

#define READ_FILE_FIRST 65536

const char *cli_input_name(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

static pcal_status read_file_fail(const char *name, int code, pcal_error *err) {
  const pc_error_kind kind = pc_error_classify(code);
  if (kind == PC_ERROR_MISSING)
    return cli_fail(err, PCAL_IO, "%s: there is no such file; check the name", name);
  if (kind == PC_ERROR_DENIED)
    return cli_fail(err, PCAL_IO, "%s: no permission to read the file; change its mode", name);
  if (code == EISDIR)
    return cli_fail(err, PCAL_IO, "%s is a directory; name a file in it", name);
  if (kind == PC_ERROR_NOT_A_FILE)
    return cli_fail(err, PCAL_IO, "%s is a socket or a device, not a file; name a file", name);
  char reason[PC_SYSTEM_TEXT];
  return cli_fail(err, PCAL_IO, "%s: the file could not be read (%s); check the file system",
                  name, pc_error_text(code, reason));
}

/* A file being read. */
typedef struct read_file_job {
  const cli_session *session;
  const char *name;
  int descriptor;
  size_t capacity;
} read_file_job;

static pcal_status read_file_resize(read_file_job *job, size_t capacity, cli_file_bytes *out,
                                    pcal_error *err) {
  char what[512];
  snprintf(what, sizeof what, "reading %.400s", job->name);
  const pcal_status status = cli_run_limits_check(job->session, capacity, what,
                                                  "check that it is the right file", err);
  if (status != PCAL_OK)
    return status;
  char *grown = capacity > SIZE_MAX / 2 ? NULL : realloc(out->bytes, capacity);
  if (!grown)
    return cli_fail(err, PCAL_MEMORY, "out of memory while reading %s", job->name);
  out->bytes = grown;
  job->capacity = capacity;
  return PCAL_OK;
}

static pcal_status read_file_read(read_file_job *job, size_t capacity, cli_file_bytes *out,
                                  pcal_error *err) {
  pcal_status status = read_file_resize(job, capacity, out, err);
  while (status == PCAL_OK) {
    const int64_t got =
        pc_file_read(job->descriptor, out->bytes + out->length, job->capacity - out->length);
    if (got == 0)
      return PCAL_OK;
    if (got < 0 && errno != EINTR)
      return read_file_fail(job->name, errno, err);
    out->length += got > 0 ? (size_t)got : 0;
    if (out->length == job->capacity)
      status = read_file_resize(job, 2 * job->capacity, out, err);
  }
  return status;
}

/* Accepts terminals, and devices that are at end of file at once, such as /dev/null; other
 * devices may be endless. */
static pcal_status read_file_check(const read_file_job *job, const pc_file_info *about,
                                   pcal_error *err) {
  char first;
  if (about->kind == PC_FILE_BLOCK_DEVICE ||
      (about->kind == PC_FILE_CHARACTER_DEVICE && !pc_file_is_terminal(job->descriptor) &&
       pc_file_read(job->descriptor, &first, 1) > 0))
    return cli_fail(err, PCAL_IO, "%s is a device, not a file; name a file or a pipe",
                    job->name);
  return PCAL_OK;
}

pcal_status cli_read_file(const cli_session *session, const char *path, cli_file_bytes *out,
                          pcal_error *err) {
  const int standard = strcmp(path, "-") == 0;
  if (!standard)
    pcal_output_recover(path);
  read_file_job job = {.session = session, .name = cli_input_name(path)};
  pc_file_info about;
  *out = (cli_file_bytes){NULL, 0};
  job.descriptor = standard ? PC_STANDARD_INPUT : pc_file_open(path);
  if (job.descriptor < 0 || pc_file_describe(job.descriptor, &about) != 0)
    return read_file_fail(job.name, errno, err);
  const int sized = about.size > READ_FILE_FIRST && about.size < SIZE_MAX / 2;
  pcal_status status = read_file_check(&job, &about, err);
  if (status == PCAL_OK)
    status = read_file_read(&job, sized ? (size_t)about.size + 1 : READ_FILE_FIRST, out, err);
  if (!standard)
    pc_file_close(job.descriptor);
  if (status != PCAL_OK) {
    free(out->bytes);
    out->bytes = NULL;
  }
  return status;
}
