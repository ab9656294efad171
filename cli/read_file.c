#include "read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_limits.h"

#define READ_FILE_FIRST 65536

const char *cli_input_name(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

static pcal_status read_file_fail(const char *name, int code, pcal_error *err) {
  if (code == ENOENT || code == ENOTDIR)
    return cli_fail(err, PCAL_IO, "%s: there is no such file; check the name", name);
  if (code == EACCES || code == EPERM)
    return cli_fail(err, PCAL_IO, "%s: no permission to read the file; change its mode", name);
  if (code == EISDIR)
    return cli_fail(err, PCAL_IO, "%s is a directory; name a file in it", name);
  if (code == ENXIO)
    return cli_fail(err, PCAL_IO, "%s is a socket or a device, not a file; name a file", name);
  char reason[128] = "unknown reason";
  strerror_r(code, reason, sizeof reason);
  return cli_fail(err, PCAL_IO, "%s: the file could not be read (%s); check the file system",
                  name, reason);
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
    const ssize_t got =
        read(job->descriptor, out->bytes + out->length, job->capacity - out->length);
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
static pcal_status read_file_check(const read_file_job *job, const struct stat *about,
                                   pcal_error *err) {
  char first;
  if (S_ISBLK(about->st_mode) || (S_ISCHR(about->st_mode) && !isatty(job->descriptor) &&
                                  read(job->descriptor, &first, 1) > 0))
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
  struct stat about;
  *out = (cli_file_bytes){NULL, 0};
  job.descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (job.descriptor < 0 || fstat(job.descriptor, &about) != 0)
    return read_file_fail(job.name, errno, err);
  const int sized = about.st_size > READ_FILE_FIRST && (uintmax_t)about.st_size < SIZE_MAX / 2;
  pcal_status status = read_file_check(&job, &about, err);
  if (status == PCAL_OK)
    status =
        read_file_read(&job, sized ? (size_t)about.st_size + 1 : READ_FILE_FIRST, out, err);
  if (!standard)
    close(job.descriptor);
  if (status != PCAL_OK) {
    free(out->bytes);
    out->bytes = NULL;
  }
  return status;
}
