/* Rules:
 *  1. a symbolic link is kept: the file it points to is replaced, or created if it is
 *     missing.
 *  2. a replaced file keeps its mode and, if permitted, its owner; a new one has mode 0666
 *     minus the umask.
 *  3. a file without write permission is not replaced, although rename could do so.
 *  4. the first write error is kept and reported by commit; nothing is written after it.
 *  5. the data are on the disk (fsync) before the file is renamed.
 *  6. if the system supports it (O_TMPFILE), the file has no name until commit, so that
 *     nothing remains even if the process is killed; otherwise it has a temporary name. */
#include "io/output_file_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/output_journal.h"

#define OUTPUT_FILE_BUFFER 65536
#define OUTPUT_FILE_LINKS_MAX 40
#define OUTPUT_FILE_TRIES 1000
#define OUTPUT_FILE_PATH 4096
#define OUTPUT_FILE_MARK 64 /* largest length added by a temporary name */

pcal_status pc_output_file_fail(const char *name, int code, pcal_error *err) {
  char reason[128] = "unknown reason";
  const char *remedy = code == ENOSPC || code == EDQUOT ? "free some space or choose "
                                                          "another directory"
                       : code == EFBIG ? "raise the limit on the size of files (ulimit -f)"
                       : code == ENOENT || code == ENOTDIR ? "create the directory first"
                       : code == EACCES || code == EPERM || code == EROFS
                           ? "change the permissions or choose another directory"
                           : "choose another directory";
  strerror_r(code, reason, sizeof reason);
  return pc_fail(err, PCAL_IO, "%s could not be written (%s); %-s", name, reason, remedy);
}

size_t pc_output_file_directory(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? 0 : (size_t)(slash + 1 - path);
}

/* Replaces *path, a symbolic link, by its target. */
static pcal_status output_file_follow(pcal_output *output, const struct stat *about,
                                      char **path, pcal_error *err) {
  const size_t room = about->st_size > 0 ? (size_t)about->st_size : 4096;
  const size_t directory = pc_output_file_directory(*path);
  char *next = pc_alloc(&output->env, directory + room + 2, 1);
  if (next == NULL)
    return pc_fail_memory(err, "opening an output file");
  const ssize_t length = readlink(*path, next + directory, room + 1);
  if (length < 0 || (size_t)length > room) {
    const int code = length < 0 ? errno : ENAMETOOLONG;
    pc_free(&output->env, next);
    return pc_output_file_fail(output->name, code, err);
  }
  if (next[directory] == '/')
    memmove(next, next + directory, (size_t)length + 1);
  else
    memcpy(next, *path, directory);
  pc_free(&output->env, *path);
  *path = next;
  return PCAL_OK;
}

/* Resolves all symbolic links of target. */
static pcal_status output_file_resolve(pcal_output *output, pcal_error *err) {
  struct stat about;
  for (int links = 0; lstat(output->target, &about) == 0 && S_ISLNK(about.st_mode); links++) {
    if (links == OUTPUT_FILE_LINKS_MAX)
      return pc_output_file_fail(output->name, ELOOP, err);
    PC_TRY(output_file_follow(output, &about, &output->target, err));
  }
  return PCAL_OK;
}

#if defined(__O_TMPFILE)
#define OUTPUT_FILE_NAMELESS __O_TMPFILE
#else
#define OUTPUT_FILE_NAMELESS 0 /* not supported */
#endif

/* Path of a file without a name, by its descriptor. */
static const char *output_file_link(const pcal_output *output, char link[64]) {
  snprintf(link, 64, "/proc/self/fd/%d", output->descriptor);
  return link;
}

/* Creates a nameless file in the directory of the target; returns 1 on success. */
static int output_file_create_nameless(pcal_output *output) {
  char link[64];
  const size_t length = pc_output_file_directory(output->target);
  const char kept = output->target[length];
  if (OUTPUT_FILE_NAMELESS == 0)
    return 0;
  output->target[length] = '\0';
  output->descriptor = open(length == 0 ? "." : output->target,
                            O_WRONLY | OUTPUT_FILE_NAMELESS | O_CLOEXEC, 0666);
  output->target[length] = kept;
  if (output->descriptor < 0)
    return 0;
  output->nameless = access(output_file_link(output, link), F_OK) == 0;
  if (!output->nameless) {
    close(output->descriptor);
    output->descriptor = -1;
  }
  return output->nameless;
}

/* Tries temporary names until one is free, and creates the file or links the nameless one
 * there. */
int pc_output_file_take_name(pcal_output *output) {
  char link[64];
  const size_t directory = pc_output_file_directory(output->target);
  const size_t size = strlen(output->target) + OUTPUT_FILE_MARK;
  const char *base = output->target + directory;
  for (int attempt = 0; attempt < OUTPUT_FILE_TRIES && !output->named; attempt++) {
    snprintf(output->temporary, size, "%.*s.%.200s.%ld-%d.tmp", (int)directory, output->target,
             base, (long)getpid(), attempt);
    if (output->nameless) {
      output->named = linkat(AT_FDCWD, output_file_link(output, link), AT_FDCWD,
                             output->temporary, AT_SYMLINK_FOLLOW) == 0;
    } else {
      output->descriptor =
          open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      output->named = output->descriptor >= 0;
    }
    if (!output->named && errno != EEXIST && errno != EINTR)
      break;
  }
  return output->named;
}

static pcal_status output_file_create(pcal_output *output, pcal_error *err) {
  output->temporary = pc_alloc_raw(&output->env, strlen(output->target) + OUTPUT_FILE_MARK, 1);
  if (output->temporary == NULL)
    return pc_fail_memory(err, "opening an output file");
  if ((output->may_be_nameless && output_file_create_nameless(output)) ||
      pc_output_file_take_name(output))
    return PCAL_OK;
  return pc_output_file_fail(output->name, errno, err);
}

static pcal_status output_file_replace(pcal_output *output, const struct stat *about,
                                       pcal_error *err) {
  if (faccessat(AT_FDCWD, output->target, W_OK, AT_EACCESS) != 0)
    return pc_output_file_fail(output->name, errno, err);
  PC_TRY(output_file_create(output, err));
  const int owner_kept = fchown(output->descriptor, about->st_uid, about->st_gid) == 0;
  const mode_t mode = about->st_mode & (owner_kept ? 07777 : 0777);
  if (fchmod(output->descriptor, mode) != 0)
    return pc_output_file_fail(output->name, errno, err);
  return PCAL_OK;
}

static pcal_status output_file_direct(pcal_output *output, pcal_error *err) {
  do {
    output->descriptor = open(output->target, O_WRONLY | O_CLOEXEC);
  } while (output->descriptor < 0 && errno == EINTR);
  if (output->descriptor < 0)
    return pc_output_file_fail(output->name, errno, err);
  pc_free(&output->env, output->target);
  output->target = NULL;
  return PCAL_OK;
}

/* True for paths of streams that are already open. */
static int output_file_is_stream(const char *path) {
  return strncmp(path, "/dev/fd/", 8) == 0 || strcmp(path, "/dev/stdout") == 0 ||
         strcmp(path, "/dev/stderr") == 0;
}

static pcal_status output_file_open_path(pcal_output *output, pcal_error *err) {
  struct stat about;
  pc_output_journal_replay(output->target, &output->env);
  if (stat(output->target, &about) != 0) {
    if (errno != ENOENT)
      return pc_output_file_fail(output->name, errno, err);
    PC_TRY(output_file_resolve(output, err));
    return output_file_create(output, err);
  }
  if (S_ISDIR(about.st_mode))
    return pc_fail(err, PCAL_IO, "%s is a directory; name a file in it", output->name);
  if (!S_ISREG(about.st_mode) || output_file_is_stream(output->target))
    return output_file_direct(output, err);
  PC_TRY(output_file_resolve(output, err));
  return output_file_replace(output, &about, err);
}

static pcal_status output_file_prepare(pcal_output *output, const char *path, pcal_error *err) {
  const int is_standard = strcmp(path, "-") == 0;
  output->name = pc_copy_text(&output->env, is_standard ? "standard output" : path);
  output->buffer = pc_alloc_raw(&output->env, OUTPUT_FILE_BUFFER, 1);
  output->target = is_standard ? NULL : pc_copy_text(&output->env, path);
  if (output->name == NULL || output->buffer == NULL ||
      (!is_standard && output->target == NULL))
    return pc_fail_memory(err, "opening an output file");
  if (path[0] == '\0')
    return pc_fail(err, PCAL_USAGE, "the name of the output file is empty; give a name");
  if (!is_standard)
    return output_file_open_path(output, err);
  output->descriptor = dup(STDOUT_FILENO);
  return output->descriptor < 0 ? pc_output_file_fail(output->name, errno, err) : PCAL_OK;
}

static pcal_status output_file_open(const char *path, const pcal_env *env, int may_be_nameless,
                                    pcal_output **out, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve_serial(env);
  *out = NULL;
  pcal_output *output = pc_alloc(&resolved, 1, sizeof *output);
  if (output == NULL)
    return pc_fail_memory(err, "opening an output file");
  output->env = resolved;
  output->descriptor = -1;
  output->may_be_nameless = may_be_nameless;
  const pcal_status status = output_file_prepare(output, path, err);
  if (status != PCAL_OK) {
    pc_output_file_discard(output);
    return status;
  }
  *out = output;
  return PCAL_OK;
}

pcal_status pc_output_file_open(const char *path, const pcal_env *env, pcal_output **out,
                                pcal_error *err) {
  return output_file_open(path, env, 1, out, err);
}

pcal_status pc_output_file_open_named(const char *path, const pcal_env *env, pcal_output **out,
                                      pcal_error *err) {
  return output_file_open(path, env, 0, out, err);
}

/* Writes all bytes, or sets output->failure. */
static void output_file_write(pcal_output *output, const char *bytes, size_t count) {
  while (count > 0 && output->failure == 0) {
    const ssize_t wrote = write(output->descriptor, bytes, count);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0) {
      output->failure = wrote < 0 ? errno : EIO;
      return;
    }
    bytes += wrote;
    count -= (size_t)wrote;
  }
}

static void output_file_empty(pcal_output *output) {
  output_file_write(output, output->buffer, output->used);
  output->used = 0;
}

int pc_output_file_sink(pcal_output *output, const char *bytes, size_t count) {
  if (count > OUTPUT_FILE_BUFFER - output->used)
    output_file_empty(output);
  if (count >= OUTPUT_FILE_BUFFER) {
    output_file_write(output, bytes, count);
  } else if (count > 0) {
    memcpy(output->buffer + output->used, bytes, count);
    output->used += count;
  }
  return output->failure != 0;
}

const char *pc_output_file_temporary(const pcal_output *output) {
  return output->named ? output->temporary : NULL;
}

static void output_file_close(pcal_output *output) {
  if (output->descriptor >= 0 && close(output->descriptor) != 0 && output->failure == 0)
    output->failure = errno;
  output->descriptor = -1;
}

void pc_output_file_sync_directory(const char *path) {
  char name[OUTPUT_FILE_PATH];
  const size_t length = pc_output_file_directory(path);
  if (length >= sizeof name)
    return;
  memcpy(name, path, length);
  name[length] = '\0';
  const int directory = open(length == 0 ? "." : name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return;
  (void)fsync(directory);
  close(directory);
}

/* Links a nameless file to the target or, if that exists, to a temporary name for rename. */
static void output_file_give_name(pcal_output *output) {
  char link[64];
  if (linkat(AT_FDCWD, output_file_link(output, link), AT_FDCWD, output->target,
             AT_SYMLINK_FOLLOW) == 0)
    return;
  if (errno != EEXIST || !pc_output_file_take_name(output))
    output->failure = errno;
}

static void output_file_rename(pcal_output *output) {
  if (output->named && rename(output->temporary, output->target) != 0) {
    output->failure = errno;
    return;
  }
  output->named = 0;
  pc_output_file_sync_directory(output->target);
}

pcal_status pc_output_file_flush(pcal_output *output, pcal_error *err) {
  output_file_empty(output);
  if (output->failure == 0 && output->target != NULL && fsync(output->descriptor) != 0)
    output->failure = errno;
  return output->failure == 0 ? PCAL_OK
                              : pc_output_file_fail(output->name, output->failure, err);
}

pcal_status pc_output_file_commit(pcal_output *output, pcal_error *err) {
  pcal_status status = pc_output_file_flush(output, err);
  if (output->failure == 0 && output->nameless)
    output_file_give_name(output);
  output_file_close(output);
  if (output->failure == 0 && output->target != NULL)
    output_file_rename(output);
  if (status == PCAL_OK && output->failure != 0)
    status = pc_output_file_fail(output->name, output->failure, err);
  pc_output_file_discard(output);
  return status;
}

void pc_output_file_discard(pcal_output *output) {
  if (output == NULL)
    return;
  const pcal_env env = output->env;
  output_file_close(output);
  if (output->named)
    unlink(output->temporary);
  pc_free(&env, output->temporary);
  pc_free(&env, output->target);
  pc_free(&env, output->buffer);
  pc_free(&env, output->name);
  pc_free(&env, output);
}
