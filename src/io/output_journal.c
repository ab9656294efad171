/* Form of a list: a line that names it, then for each file its temporary name and its target,
 * both from the root and ended by a NUL, then the checksum of all this in 8 hexadecimal digits.
 * Edge cases:
 *  1. a list that is cut, or whose checksum is wrong, is none.
 *  2. a link to a target is followed: the list lies beside the file itself.
 *  3. a program that is still at work and one that settles its list do the same renames; each
 *     finds done what the other did.
 *  4. a target that was written or removed after the list is somebody's newer work: nothing is
 *     renamed then, and the list and its temporary files go. */
#include "io/output_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "io/output_file_state.h"

#define PENDING_HEAD "propercal pending 1\n"
#define PENDING_PATH 4096
#define PENDING_MOST 65536
#define PENDING_FILES 16
#define PENDING_LINKS 40

/* ".NAME.pending" beside a target; 0 without room. */
static int pending_name(const char *target, char out[PENDING_PATH]) {
  const size_t directory = pc_output_file_directory(target);
  const int length = snprintf(out, PENDING_PATH, "%.*s.%.200s.pending", (int)directory, target,
                              target + directory);
  return length > 0 && length < PENDING_PATH;
}

/* ---- Writing ---- */

static void pending_add_path(pc_text *text, const char *path) {
  char here[PENDING_PATH];
  if (path[0] != '/') {
    text->failed |= getcwd(here, sizeof here) == NULL;
    pc_text_add(text, text->failed ? "" : here);
    pc_text_add(text, "/");
  }
  pc_text_add_bytes(text, path, strlen(path) + 1);
}

static uint32_t pending_checksum(const char *bytes, size_t count) {
  pc_checksum checksum;
  pc_checksum_start(&checksum);
  pc_checksum_add(&checksum, bytes, count);
  return pc_checksum_value(&checksum);
}

static int pending_write_one(const char *target, const pc_text *text) {
  char name[PENDING_PATH];
  if (!pending_name(target, name))
    return ENAMETOOLONG;
  (void)unlink(name);
  const int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return errno;
  const ssize_t wrote = write(descriptor, text->bytes, text->length);
  int failure = wrote < 0 ? errno : (size_t)wrote < text->length ? EIO : 0;
  if (failure == 0 && fsync(descriptor) != 0)
    failure = errno;
  close(descriptor);
  return failure;
}

int pc_output_journal_write(const pc_journal_entry *files, size_t count, const pcal_env *env) {
  pc_text text;
  int failure = count > PENDING_FILES ? E2BIG : 0;
  pc_text_init(&text, env);
  pc_text_add(&text, PENDING_HEAD);
  for (size_t i = 0; i < count; i++) {
    pending_add_path(&text, files[i].temporary);
    pending_add_path(&text, files[i].target);
  }
  if (!text.failed)
    pc_text_format(&text, "%08lx", (unsigned long)pending_checksum(text.bytes, text.length));
  if (text.failed || text.length > PENDING_MOST)
    failure = ENOMEM;
  for (size_t i = 0; i < count && failure == 0; i++)
    failure = pending_write_one(files[i].target, &text);
  pc_text_free(&text);
  if (failure != 0)
    pc_output_journal_remove(files, count, env);
  for (size_t i = 0; i < count && failure == 0; i++)
    pc_output_file_sync_directory(files[i].target);
  return failure;
}

void pc_output_journal_remove(const pc_journal_entry *files, size_t count,
                              const pcal_env *env) {
  char name[PENDING_PATH];
  (void)env;
  for (size_t i = 0; i < count; i++)
    if (pending_name(files[i].target, name))
      (void)unlink(name);
}

/* ---- Reading ---- */

/* The bytes of a list that nobody else can have written; 0 if it is none. */
static size_t pending_read(const char *name, char *bytes) {
  struct stat about;
  size_t used = 0;
  ssize_t got = 1;
  const int descriptor = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0)
    return 0;
  const int own = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
                  about.st_uid == geteuid() && (about.st_mode & 077) == 0 &&
                  about.st_nlink == 1 && about.st_size <= PENDING_MOST;
  while (own && used < PENDING_MOST && got > 0) {
    got = read(descriptor, bytes + used, PENDING_MOST - used);
    used += got > 0 ? (size_t)got : 0;
  }
  close(descriptor);
  return own ? used : 0;
}

/* May this file be renamed so?  From ".NAME.something.tmp" to NAME, both from the root. */
static int pending_fits(const pc_journal_entry *file) {
  const size_t directory = pc_output_file_directory(file->target), most = 200;
  const char *base = file->target + directory, *from = file->temporary + directory;
  const size_t length = strlen(base) < most ? strlen(base) : most, whole = strlen(from);
  return file->target[0] == '/' && strncmp(file->temporary, file->target, directory) == 0 &&
         strchr(from, '/') == NULL && from[0] == '.' && strncmp(from + 1, base, length) == 0 &&
         whole > length + 5 && strcmp(from + whole - 4, ".tmp") == 0;
}

/* Names in a list; 0 if it is none. */
static size_t pending_parse(const char *bytes, size_t length,
                            pc_journal_entry files[PENDING_FILES]) {
  const size_t head = sizeof PENDING_HEAD - 1;
  char sum[9];
  if (length < head + 8 || memcmp(bytes, PENDING_HEAD, head) != 0)
    return 0;
  snprintf(sum, sizeof sum, "%08lx", (unsigned long)pending_checksum(bytes, length - 8));
  if (memcmp(sum, bytes + length - 8, 8) != 0)
    return 0;
  size_t count = 0;
  const char *end = bytes + length - 8;
  for (const char *at = bytes + head; at < end; count++) {
    const char *second = memchr(at, '\0', (size_t)(end - at));
    const char *next =
        second == NULL ? NULL : memchr(second + 1, '\0', (size_t)(end - second - 1));
    if (next == NULL || count == PENDING_FILES)
      return 0;
    files[count] = (pc_journal_entry){at, second + 1};
    if (!pending_fits(&files[count]))
      return 0;
    at = next + 1;
  }
  return count;
}

/* ---- Settling ---- */

/* Are the same bytes beside every target?  Only then has anything been renamed. */
static int pending_all_there(const pc_journal_entry *files, size_t count, const char *bytes,
                             size_t length, char *room) {
  char name[PENDING_PATH];
  for (size_t i = 0; i < count; i++)
    if (!pending_name(files[i].target, name) || pending_read(name, room) != length ||
        memcmp(room, bytes, length) != 0)
      return 0;
  return 1;
}

static int pending_later(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Was this target, which still has its old content, written or removed after its list? */
static int pending_outdated(const pc_journal_entry *file) {
  char name[PENDING_PATH], old[PENDING_PATH];
  struct stat list, target, about;
  if (lstat(file->temporary, &about) != 0 || !pending_name(file->target, name) ||
      stat(name, &list) != 0)
    return 0;
  if (stat(file->target, &target) == 0)
    return pending_later(&target.st_mtim, &list.st_mtim);
  return snprintf(old, sizeof old, "%s.old", file->temporary) < PENDING_PATH &&
         lstat(old, &about) == 0;
}

static void pending_drop(const pc_journal_entry *files, size_t count, const pcal_env *env) {
  pc_output_journal_remove(files, count, env);
  for (size_t i = 0; i < count; i++) {
    char old[PENDING_PATH];
    if (snprintf(old, sizeof old, "%s.old", files[i].temporary) < PENDING_PATH)
      (void)unlink(old);
    (void)unlink(files[i].temporary);
  }
}

static void pending_follow(const char *bytes, size_t length, char *room, const pcal_env *env) {
  pc_journal_entry files[PENDING_FILES];
  const size_t count = pending_parse(bytes, length, files);
  int failed = 0;
  if (count == 0 || !pending_all_there(files, count, bytes, length, room))
    return;
  for (size_t i = 0; i < count; i++)
    if (pending_outdated(&files[i])) {
      pending_drop(files, count, env);
      return;
    }
  for (size_t i = 0; i < count; i++) {
    char old[PENDING_PATH];
    if (snprintf(old, sizeof old, "%s.old", files[i].temporary) < PENDING_PATH)
      (void)unlink(old); /* kept for a failure, see output_file_group.c */
    failed |= rename(files[i].temporary, files[i].target) != 0 && errno != ENOENT;
  }
  for (size_t i = 0; i < count; i++)
    pc_output_file_sync_directory(files[i].target);
  if (!failed)
    pc_output_journal_remove(files, count, env);
}

/* The path behind all symbolic links; 0 when there is no such thing. */
static int pending_resolve(const char *path, char out[PENDING_PATH]) {
  char link[PENDING_PATH], next[PENDING_PATH];
  if (strlen(path) >= PENDING_PATH)
    return 0;
  memcpy(out, path, strlen(path) + 1);
  for (int links = 0; links < PENDING_LINKS; links++) {
    const ssize_t length = readlink(out, link, sizeof link - 1);
    if (length < 0)
      return 1;
    link[length] = '\0';
    const size_t directory = link[0] == '/' ? 0 : pc_output_file_directory(out);
    const int whole = snprintf(next, sizeof next, "%.*s%s", (int)directory, out, link);
    if (whole < 0 || whole >= PENDING_PATH)
      return 0;
    memcpy(out, next, (size_t)whole + 1);
  }
  return 0;
}

void pc_output_journal_replay(const char *path, const pcal_env *env) {
  char target[PENDING_PATH], name[PENDING_PATH];
  if (!pending_resolve(path, target) || !pending_name(target, name) || access(name, F_OK) != 0)
    return;
  char *bytes = pc_alloc_raw(env, 2, PENDING_MOST);
  const size_t length = bytes == NULL ? 0 : pending_read(name, bytes);
  if (length > 0)
    pending_follow(bytes, length, bytes + PENDING_MOST, env);
  pc_free(env, bytes);
}
