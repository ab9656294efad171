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
#include <stdio.h>
#include <string.h>

#include "io/output_journal.h"
#include "system/paths.h"

#define OUTPUT_FILE_BUFFER 65536
#define OUTPUT_FILE_LINKS_MAX 40
#define OUTPUT_FILE_TRIES 1000
#define OUTPUT_FILE_PATH 4096
#define OUTPUT_FILE_MARK 64 /* largest length added by a temporary name */

pcal_status pc_output_file_fail(const char *name, int code, pcal_error *err) {
  static const char *const remedies[] = {
      [PC_ERROR_OTHER] = "choose another directory",
      [PC_ERROR_MISSING] = "create the directory first",
      [PC_ERROR_DENIED] = "change the permissions or choose another directory",
      [PC_ERROR_READ_ONLY] = "change the permissions or choose another directory",
      [PC_ERROR_NO_SPACE] = "free some space or choose another directory",
      [PC_ERROR_TOO_LARGE] = "raise the limit on the size of files (ulimit -f)",
      [PC_ERROR_NOT_A_FILE] = "choose another directory",
      [PC_ERROR_IN_USE] = "close the file there or choose another name",
  };
  char reason[PC_SYSTEM_TEXT];
  return pc_fail(err, PCAL_IO, "%s could not be written (%s); %-s", name,
                 pc_error_text(code, reason), remedies[pc_error_classify(code)]);
}

size_t pc_output_file_directory(const char *path) {
  return pc_path_directory(path);
}

/* Replaces *path, a symbolic link, by its target. */
static pcal_status output_file_follow(pcal_output *output, const pc_file_info *about,
                                      char **path, pcal_error *err) {
  const size_t room = about->size > 0 ? (size_t)about->size : 4096;
  const size_t directory = pc_output_file_directory(*path);
  char *next = pc_alloc(&output->env, directory + room + 2, 1);
  if (next == NULL)
    return pc_fail_memory(err, "opening an output file");
  const int64_t length = pc_path_read_link(*path, next + directory, room + 1);
  if (length < 0 || (size_t)length > room) {
    const int code = length < 0 ? errno : ENAMETOOLONG;
    pc_free(&output->env, next);
    return pc_output_file_fail(output->name, code, err);
  }
  if (pc_path_is_absolute(next + directory))
    memmove(next, next + directory, (size_t)length + 1);
  else
    memcpy(next, *path, directory);
  pc_free(&output->env, *path);
  *path = next;
  return PCAL_OK;
}

/* Resolves all symbolic links of target. */
static pcal_status output_file_resolve(pcal_output *output, pcal_error *err) {
  pc_file_info about;
  for (int links = 0;
       pc_path_describe_link(output->target, &about) == 0 && about.kind == PC_FILE_LINK;
       links++) {
    if (links == OUTPUT_FILE_LINKS_MAX)
      return pc_output_file_fail(output->name, ELOOP, err);
    PC_TRY(output_file_follow(output, &about, &output->target, err));
  }
  return PCAL_OK;
}

/* Creates a nameless file in the directory of the target; returns 1 on success. */
static int output_file_create_nameless(pcal_output *output) {
  const size_t length = pc_output_file_directory(output->target);
  const char kept = output->target[length];
  output->target[length] = '\0';
  output->descriptor = pc_file_create_nameless(length == 0 ? "." : output->target);
  output->target[length] = kept;
  output->nameless = output->descriptor >= 0;
  return output->nameless;
}

/* Tries temporary names until one is free, and creates the file or links the nameless one
 * there. */
int pc_output_file_take_name(pcal_output *output) {
  const size_t directory = pc_output_file_directory(output->target);
  const size_t size = strlen(output->target) + OUTPUT_FILE_MARK;
  const char *base = output->target + directory;
  for (int attempt = 0; attempt < OUTPUT_FILE_TRIES && !output->named; attempt++) {
    snprintf(output->temporary, size, "%.*s.%.200s.%ld-%d.tmp", (int)directory, output->target,
             base, pc_process_id(), attempt);
    if (output->nameless) {
      output->named = pc_file_give_name(output->descriptor, output->temporary) == 0;
    } else {
      output->descriptor = pc_file_create(output->temporary, 0);
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

static pcal_status output_file_replace(pcal_output *output, const pc_file_info *about,
                                       pcal_error *err) {
  if (pc_path_writable(output->target) != 0)
    return pc_output_file_fail(output->name, errno, err);
  PC_TRY(output_file_create(output, err));
  if (pc_file_copy_owner(output->descriptor, about) != 0)
    return pc_output_file_fail(output->name, errno, err);
  return PCAL_OK;
}

static pcal_status output_file_direct(pcal_output *output, pcal_error *err) {
  do {
    output->descriptor = pc_file_open_direct(output->target);
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
  pc_file_info about;
  pc_output_journal_replay(output->target, &output->env);
  if (pc_path_describe(output->target, &about) != 0) {
    if (errno != ENOENT)
      return pc_output_file_fail(output->name, errno, err);
    PC_TRY(output_file_resolve(output, err));
    return output_file_create(output, err);
  }
  if (about.kind == PC_FILE_DIRECTORY)
    return pc_fail(err, PCAL_IO, "%s is a directory; name a file in it", output->name);
  if (about.kind != PC_FILE_REGULAR || output_file_is_stream(output->target))
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
  output->descriptor = pc_file_duplicate(PC_STANDARD_OUTPUT);
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

int pc_output_file_write_all(int descriptor, const char *bytes, size_t count) {
  while (count > 0) {
    const int64_t wrote = pc_file_write(descriptor, bytes, count);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0)
      return wrote < 0 ? errno : EIO;
    bytes += wrote;
    count -= (size_t)wrote;
  }
  return 0;
}

/* Writes all bytes, or sets output->failure. */
static void output_file_write(pcal_output *output, const char *bytes, size_t count) {
  if (output->failure == 0)
    output->failure = pc_output_file_write_all(output->descriptor, bytes, count);
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
  if (output->descriptor >= 0 && pc_file_close(output->descriptor) != 0 && output->failure == 0)
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
  pc_path_sync_directory(length == 0 ? "." : name);
}

/* Links a nameless file to the target or, if that exists, to a temporary name for rename. */
static void output_file_give_name(pcal_output *output) {
  if (pc_file_give_name(output->descriptor, output->target) == 0)
    return;
  if (errno != EEXIST || !pc_output_file_take_name(output))
    output->failure = errno;
}

static void output_file_rename(pcal_output *output) {
  if (output->named && pc_path_rename(output->temporary, output->target) != 0) {
    output->failure = errno;
    return;
  }
  output->named = 0;
  pc_output_file_sync_directory(output->target);
}

pcal_status pc_output_file_flush(pcal_output *output, pcal_error *err) {
  output_file_empty(output);
  if (output->failure == 0 && output->target != NULL && pc_file_sync(output->descriptor) != 0)
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
    (void)pc_path_remove(output->temporary);
  pc_free(&env, output->temporary);
  pc_free(&env, output->target);
  pc_free(&env, output->buffer);
  pc_free(&env, output->name);
  pc_free(&env, output);
}
