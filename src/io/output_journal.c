/* Format: a header line, then for each file its temporary name and its target as absolute
 * paths ended by NUL, then the checksum of all this in 8 hexadecimal digits.
 * Edge cases:
 *  1. a truncated journal, or one with a wrong checksum, is ignored.
 *  2. symbolic links are resolved: the journal is next to the target file itself.
 *  3. the process that wrote a journal and a process that replays it perform the same renames;
 *     each accepts renames that the other has already done.
 *  4. if a target was written, replaced or removed after the journal, nothing is renamed, and
 *     the journal and its temporary files are removed.  Written: its time of modification is
 *     later; replaced: it is not the file of which the backup is a hard link, whatever its
 *     times. */
#include "io/output_journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "io/output_file_state.h"
#include "system/paths.h"

#define OUTPUT_JOURNAL_HEAD "propercal pending 1\n"
#define OUTPUT_JOURNAL_PATH 4096
#define OUTPUT_JOURNAL_MOST 65536
#define OUTPUT_JOURNAL_FILES 16
#define OUTPUT_JOURNAL_LINKS 40

/* Path of the journal of a target, ".NAME.pending"; returns 0 if it is too long. */
static int output_journal_name(const char *target, char out[OUTPUT_JOURNAL_PATH]) {
  const size_t directory = pc_output_file_directory(target);
  const int length = snprintf(out, OUTPUT_JOURNAL_PATH, "%.*s.%.200s.pending", (int)directory,
                              target, target + directory);
  return length > 0 && length < OUTPUT_JOURNAL_PATH;
}

/* ---- Writing ---- */

static void output_journal_add_path(pc_text *text, const char *path) {
  char here[OUTPUT_JOURNAL_PATH];
  if (!pc_path_is_absolute(path)) {
    text->failed |= !pc_path_current_directory(here, sizeof here);
    pc_text_add(text, text->failed ? "" : here);
    pc_text_add(text, "/");
  }
  pc_text_add_bytes(text, path, strlen(path) + 1);
}

static uint32_t output_journal_checksum(const char *bytes, size_t count) {
  pc_checksum checksum;
  pc_checksum_start(&checksum);
  pc_checksum_add(&checksum, bytes, count);
  return pc_checksum_value(&checksum);
}

static int output_journal_write_one(const char *target, const pc_text *text) {
  char name[OUTPUT_JOURNAL_PATH];
  if (!output_journal_name(target, name))
    return ENAMETOOLONG;
  (void)pc_path_remove(name);
  const int descriptor = pc_file_create(name, 1);
  if (descriptor < 0)
    return errno;
  int failure = pc_output_file_write_all(descriptor, text->bytes, text->length);
  if (failure == 0 && pc_file_sync(descriptor) != 0)
    failure = errno;
  pc_file_close(descriptor);
  return failure;
}

int pc_output_journal_write(const pc_journal_entry *files, size_t count, const pcal_env *env) {
  pc_text text;
  int failure = count > OUTPUT_JOURNAL_FILES ? E2BIG : 0;
  pc_text_init(&text, env);
  pc_text_add(&text, OUTPUT_JOURNAL_HEAD);
  for (size_t i = 0; i < count; i++) {
    output_journal_add_path(&text, files[i].temporary);
    output_journal_add_path(&text, files[i].target);
  }
  if (!text.failed)
    pc_text_format(&text, "%08lx",
                   (unsigned long)output_journal_checksum(text.bytes, text.length));
  if (text.failed || text.length > OUTPUT_JOURNAL_MOST)
    failure = ENOMEM;
  for (size_t i = 0; i < count && failure == 0; i++)
    failure = output_journal_write_one(files[i].target, &text);
  pc_text_free(&text);
  if (failure != 0)
    pc_output_journal_remove(files, count, env);
  for (size_t i = 0; i < count && failure == 0; i++)
    pc_output_file_sync_directory(files[i].target);
  return failure;
}

void pc_output_journal_remove(const pc_journal_entry *files, size_t count,
                              const pcal_env *env) {
  char name[OUTPUT_JOURNAL_PATH];
  (void)env;
  for (size_t i = 0; i < count; i++)
    if (output_journal_name(files[i].target, name))
      (void)pc_path_remove(name);
}

/* ---- Reading ---- */

/* Reads a journal that only this user can have written; returns its length, or 0. */
static size_t output_journal_read(const char *name, char *bytes) {
  pc_file_info about;
  size_t used = 0;
  int64_t got = 1;
  const int descriptor = pc_file_open_plain(name);
  if (descriptor < 0)
    return 0;
  const int own = pc_file_describe(descriptor, &about) == 0 && about.kind == PC_FILE_REGULAR &&
                  pc_file_is_private(&about) && about.size <= OUTPUT_JOURNAL_MOST;
  while (own && used < OUTPUT_JOURNAL_MOST && got != 0) {
    got = pc_file_read(descriptor, bytes + used, OUTPUT_JOURNAL_MOST - used);
    if (got < 0 && errno != EINTR)
      break;
    used += got > 0 ? (size_t)got : 0;
  }
  pc_file_close(descriptor);
  return own ? used : 0;
}

/* True if the entry renames an absolute ".NAME.something.tmp" to NAME in the same directory. */
static int output_journal_fits(const pc_journal_entry *file) {
  const size_t directory = pc_output_file_directory(file->target), most = 200;
  const char *base = file->target + directory, *from = file->temporary + directory;
  const size_t length = strlen(base) < most ? strlen(base) : most, whole = strlen(from);
  return pc_path_is_absolute(file->target) &&
         strncmp(file->temporary, file->target, directory) == 0 &&
         pc_path_directory(from) == 0 && from[0] == '.' &&
         strncmp(from + 1, base, length) == 0 && whole > length + 5 &&
         strcmp(from + whole - 4, ".tmp") == 0;
}

/* Parses the entries; returns their number, 0 if the journal is invalid. */
static size_t output_journal_parse(const char *bytes, size_t length,
                                   pc_journal_entry files[OUTPUT_JOURNAL_FILES]) {
  const size_t head = sizeof OUTPUT_JOURNAL_HEAD - 1;
  char sum[9];
  if (length < head + 8 || memcmp(bytes, OUTPUT_JOURNAL_HEAD, head) != 0)
    return 0;
  snprintf(sum, sizeof sum, "%08lx", (unsigned long)output_journal_checksum(bytes, length - 8));
  if (memcmp(sum, bytes + length - 8, 8) != 0)
    return 0;
  size_t count = 0;
  const char *end = bytes + length - 8;
  for (const char *at = bytes + head; at < end; count++) {
    const char *second = memchr(at, '\0', (size_t)(end - at));
    const char *next =
        second == NULL ? NULL : memchr(second + 1, '\0', (size_t)(end - second - 1));
    if (next == NULL || count == OUTPUT_JOURNAL_FILES)
      return 0;
    files[count] = (pc_journal_entry){at, second + 1};
    if (!output_journal_fits(&files[count]))
      return 0;
    at = next + 1;
  }
  return count;
}

/* ---- Replaying ---- */

/* True if every target has the same journal; only then may anything have been renamed. */
static int output_journal_all_there(const pc_journal_entry *files, size_t count,
                                    const char *bytes, size_t length, char *room) {
  char name[OUTPUT_JOURNAL_PATH];
  for (size_t i = 0; i < count; i++)
    if (!output_journal_name(files[i].target, name) ||
        output_journal_read(name, room) != length || memcmp(room, bytes, length) != 0)
      return 0;
  return 1;
}

static int output_journal_later(const pc_file_info *a, const pc_file_info *b) {
  return a->seconds != b->seconds ? a->seconds > b->seconds : a->nanoseconds > b->nanoseconds;
}

/* True if this target, not yet renamed, was written or removed after its journal. */
static int output_journal_outdated(const pc_journal_entry *file) {
  char name[OUTPUT_JOURNAL_PATH], old[OUTPUT_JOURNAL_PATH];
  pc_file_info list, target, about;
  if (pc_path_describe_link(file->temporary, &about) != 0 ||
      !output_journal_name(file->target, name) || pc_path_describe(name, &list) != 0)
    return 0;
  const int backed_up =
      snprintf(old, sizeof old, "%s.old", file->temporary) < OUTPUT_JOURNAL_PATH &&
      pc_path_describe_link(old, &about) == 0;
  if (pc_path_describe(file->target, &target) != 0)
    return backed_up;
  return output_journal_later(&target, &list) ||
         (backed_up && (target.device != about.device || target.number != about.number));
}

static void output_journal_drop(const pc_journal_entry *files, size_t count,
                                const pcal_env *env) {
  pc_output_journal_remove(files, count, env);
  for (size_t i = 0; i < count; i++) {
    char old[OUTPUT_JOURNAL_PATH];
    if (snprintf(old, sizeof old, "%s.old", files[i].temporary) < OUTPUT_JOURNAL_PATH)
      (void)pc_path_remove(old);
    (void)pc_path_remove(files[i].temporary);
  }
}

static void output_journal_follow(const char *bytes, size_t length, char *room,
                                  const pcal_env *env) {
  pc_journal_entry files[OUTPUT_JOURNAL_FILES];
  const size_t count = output_journal_parse(bytes, length, files);
  int failed = 0;
  if (count == 0 || !output_journal_all_there(files, count, bytes, length, room))
    return;
  for (size_t i = 0; i < count; i++)
    if (output_journal_outdated(&files[i])) {
      output_journal_drop(files, count, env);
      return;
    }
  for (size_t i = 0; i < count; i++) {
    char old[OUTPUT_JOURNAL_PATH];
    if (snprintf(old, sizeof old, "%s.old", files[i].temporary) < OUTPUT_JOURNAL_PATH)
      (void)pc_path_remove(old); /* backup of output_file_group.c */
    failed |= pc_path_rename(files[i].temporary, files[i].target) != 0 && errno != ENOENT;
  }
  for (size_t i = 0; i < count; i++)
    pc_output_file_sync_directory(files[i].target);
  if (!failed)
    pc_output_journal_remove(files, count, env);
}

/* Resolves all symbolic links; returns 0 on failure. */
static int output_journal_resolve(const char *path, char out[OUTPUT_JOURNAL_PATH]) {
  char link[OUTPUT_JOURNAL_PATH], next[OUTPUT_JOURNAL_PATH];
  if (strlen(path) >= OUTPUT_JOURNAL_PATH)
    return 0;
  memcpy(out, path, strlen(path) + 1);
  for (int links = 0; links < OUTPUT_JOURNAL_LINKS; links++) {
    const int64_t length = pc_path_read_link(out, link, sizeof link - 1);
    if (length < 0)
      return 1;
    link[length] = '\0';
    const size_t directory = pc_path_is_absolute(link) ? 0 : pc_output_file_directory(out);
    const int whole = snprintf(next, sizeof next, "%.*s%s", (int)directory, out, link);
    if (whole < 0 || whole >= OUTPUT_JOURNAL_PATH)
      return 0;
    memcpy(out, next, (size_t)whole + 1);
  }
  return 0;
}

void pc_output_journal_replay(const char *path, const pcal_env *env) {
  char target[OUTPUT_JOURNAL_PATH], name[OUTPUT_JOURNAL_PATH];
  pc_file_info about;
  if (!output_journal_resolve(path, target) || !output_journal_name(target, name) ||
      pc_path_describe(name, &about) != 0)
    return;
  char *bytes = pc_alloc_raw(env, 2, OUTPUT_JOURNAL_MOST);
  const size_t length = bytes == NULL ? 0 : output_journal_read(name, bytes);
  if (length > 0)
    output_journal_follow(bytes, length, bytes + OUTPUT_JOURNAL_MOST, env);
  pc_free(env, bytes);
}
