/* Whole files in memory. */
#include "slurp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"

#define SLURP_FIRST 65536

const char *cli_slurp_name(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

static pcal_status slurp_fail(const char *path, int code, pcal_error *err) {
  const char *name = cli_slurp_name(path);
  if (code == ENOENT || code == ENOTDIR)
    return cli_fail(err, PCAL_IO, "%s: there is no such file; check the name", name);
  if (code == EACCES || code == EPERM)
    return cli_fail(err, PCAL_IO, "%s: no permission to read the file; change its mode", name);
  if (code == EISDIR)
    return cli_fail(err, PCAL_IO, "%s is a directory; name a file in it", name);
  char reason[128] = "unknown reason";
  strerror_r(code, reason, sizeof reason);
  return cli_fail(err, PCAL_IO, "%s: the file could not be read (%s); check the file system",
                  name, reason);
}

static pcal_status slurp_room(cli_bytes *out, size_t *capacity, const char *path,
                              pcal_error *err) {
  if (out->length < *capacity)
    return PCAL_OK;
  char *grown = *capacity > SIZE_MAX / 2 ? NULL : realloc(out->bytes, 2 * *capacity);
  if (!grown)
    return cli_fail(err, PCAL_MEMORY, "out of memory while reading %s", cli_slurp_name(path));
  out->bytes = grown;
  *capacity *= 2;
  return PCAL_OK;
}

static pcal_status slurp_read(int descriptor, size_t capacity, const char *path, cli_bytes *out,
                              pcal_error *err) {
  out->length = 0;
  out->bytes = malloc(capacity);
  if (!out->bytes)
    return cli_fail(err, PCAL_MEMORY, "out of memory while reading %s", cli_slurp_name(path));
  for (;;) {
    const pcal_status status = slurp_room(out, &capacity, path, err);
    if (status != PCAL_OK)
      return status;
    const ssize_t got = read(descriptor, out->bytes + out->length, capacity - out->length);
    if (got == 0)
      return PCAL_OK;
    if (got < 0 && errno != EINTR)
      return slurp_fail(path, errno, err);
    out->length += got > 0 ? (size_t)got : 0;
  }
}

pcal_status cli_slurp(const char *path, cli_bytes *out, pcal_error *err) {
  const int standard = strcmp(path, "-") == 0;
  if (!standard)
    pcal_output_settle(path);
  const int descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  *out = (cli_bytes){NULL, 0};
  if (descriptor < 0)
    return slurp_fail(path, errno, err);
  struct stat about;
  const int sized = fstat(descriptor, &about) == 0 && about.st_size > SLURP_FIRST &&
                    (uintmax_t)about.st_size < SIZE_MAX / 2;
  const size_t capacity = sized ? (size_t)about.st_size + 1 : SLURP_FIRST;
  const pcal_status status = slurp_read(descriptor, capacity, path, out, err);
  if (!standard)
    close(descriptor);
  if (status != PCAL_OK) {
    free(out->bytes);
    out->bytes = NULL;
  }
  return status;
}
