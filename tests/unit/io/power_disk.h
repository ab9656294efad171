/* A folder whose changes are recorded, and what a loss of power leaves of it.
 *
 * The calls that change the disk (write, fsync, link, linkat, rename, unlink) are recorded while
 * the real ones are made.  make_folder() then writes the folder as some part of these changes
 * would have left it: data that were not synced are torn.  Included by one source file of a
 * program, after a definition of _GNU_SOURCE. */
#ifndef POWER_DISK_H
#define POWER_DISK_H

#include "../unit.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/output_file_state.h"
#include "io/output_journal.h"

/* ---- Recording ---- */

#define STEPS_MAX 256
#define NAMES_MAX 32
#define CONTENTS_MAX 64
#define NAME_LENGTH 128
#define FILES_MAX 8
#define OPEN_MAX 16 /* changes of names between two syncs of the folder */

typedef enum step_kind {
  STEP_CREATE,
  STEP_RENAME,
  STEP_UNLINK,
  STEP_WRITE,
  STEP_SYNC
} step_kind;

typedef struct step {
  step_kind kind;
  char from[NAME_LENGTH], to[NAME_LENGTH]; /* last names */
  ino_t inode;                             /* 0 with STEP_SYNC: the folder */
} step;

static step steps[STEPS_MAX];
static size_t step_count;
static int recording;
static char folder[64]; /* in memory, if it can be */

static const char *last_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static void record(step_kind kind, const char *from, const char *to, ino_t inode) {
  if (!recording)
    return;
  assert_true(step_count < STEPS_MAX);
  step *s = &steps[step_count++];
  *s = (step){.kind = kind, .inode = inode};
  snprintf(s->from, sizeof s->from, "%s", from == NULL ? "" : last_name(from));
  snprintf(s->to, sizeof s->to, "%s", to == NULL ? "" : last_name(to));
}

static ino_t inode_at(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 ? about.st_ino : 0;
}

/* A file that open has made shows when it is first written. */
static void record_made(int descriptor, ino_t inode) {
  char link_name[64], path[4096];
  for (size_t i = 0; i < step_count; i++)
    if (steps[i].inode == inode)
      return;
  snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link_name, path, sizeof path - 1);
  assert_true(length > 0);
  path[length] = '\0';
  if (strstr(path, " (deleted)") == NULL)
    record(STEP_CREATE, NULL, path, inode);
}

#define REAL(name, type) ((type)(uintptr_t)dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void *bytes, size_t count) {
  struct stat about;
  if (recording && fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode)) {
    record_made(descriptor, about.st_ino);
    record(STEP_WRITE, NULL, NULL, about.st_ino);
  }
  return REAL(write, ssize_t(*)(int, const void *, size_t))(descriptor, bytes, count);
}

int fsync(int descriptor) {
  struct stat about;
  if (recording && fstat(descriptor, &about) == 0)
    record(STEP_SYNC, NULL, NULL, S_ISDIR(about.st_mode) ? 0 : about.st_ino);
  return 0; /* the real one only costs time */
}

int rename(const char *from, const char *to) {
  const ino_t inode = inode_at(from);
  const int failed = REAL(rename, int (*)(const char *, const char *))(from, to);
  if (!failed)
    record(STEP_RENAME, from, to, inode);
  return failed;
}

int link(const char *from, const char *to) {
  const int failed = REAL(link, int (*)(const char *, const char *))(from, to);
  if (!failed)
    record(STEP_CREATE, NULL, to, inode_at(to));
  return failed;
}

int linkat(int at, const char *from, int to_at, const char *to, int flags) {
  const int failed = REAL(linkat, int (*)(int, const char *, int, const char *, int))(
      at, from, to_at, to, flags);
  if (!failed)
    record(STEP_CREATE, NULL, to, inode_at(to));
  return failed;
}

int unlink(const char *path) {
  const int failed = REAL(unlink, int (*)(const char *))(path);
  if (!failed)
    record(STEP_UNLINK, path, NULL, 0);
  return failed;
}

/* ---- A disk ---- */

typedef struct entry {
  char name[NAME_LENGTH];
  ino_t inode;
} entry;

typedef struct disk {
  entry entries[NAMES_MAX];
  size_t count;
} disk;

static entry *disk_find(disk *d, const char *name) {
  for (size_t i = 0; i < d->count; i++)
    if (strcmp(d->entries[i].name, name) == 0)
      return &d->entries[i];
  return NULL;
}

static void disk_set(disk *d, const char *name, ino_t inode) {
  entry *found = disk_find(d, name);
  if (found == NULL) {
    assert_true(d->count < NAMES_MAX);
    found = &d->entries[d->count++];
    snprintf(found->name, sizeof found->name, "%s", name);
  }
  found->inode = inode;
}

static void disk_drop(disk *d, const char *name) {
  entry *found = disk_find(d, name);
  if (found != NULL)
    *found = d->entries[--d->count];
}

static void disk_apply(disk *d, const step *s) {
  if (s->kind == STEP_CREATE || s->kind == STEP_RENAME)
    disk_set(d, s->to, s->inode);
  if (s->kind == STEP_RENAME)
    disk_drop(d, s->from);
  if (s->kind == STEP_UNLINK)
    disk_drop(d, s->from);
}

static int is_name_step(const step *s) {
  return s->kind == STEP_CREATE || s->kind == STEP_RENAME || s->kind == STEP_UNLINK;
}

/* The names that are certain after `end` steps, and the changes of names since the last sync of the
 * folder, any part of which may have happened; returns their number. */
static size_t open_since_sync(const disk *before, size_t end, disk *sure,
                              size_t open_steps[OPEN_MAX]) {
  size_t count = 0;
  *sure = *before;
  for (size_t i = 0; i < end; i++) {
    if (steps[i].kind == STEP_SYNC && steps[i].inode == 0) {
      for (size_t o = 0; o < count; o++)
        disk_apply(sure, &steps[open_steps[o]]);
      count = 0;
    } else if (is_name_step(&steps[i])) {
      assert_true(count < OPEN_MAX);
      open_steps[count++] = i;
    }
  }
  return count;
}

/* ---- Contents ---- */

typedef struct content {
  ino_t inode;
  size_t length;
  char bytes[4096];
} content;

static content contents[CONTENTS_MAX];
static size_t content_count;

/* What files hold when their last byte is written. */
static void keep_content(const char *path) {
  struct stat about;
  if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
    return;
  for (size_t i = 0; i < content_count; i++)
    if (contents[i].inode == about.st_ino)
      return;
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  content *c = &contents[content_count++];
  c->inode = about.st_ino;
  c->length = fread(c->bytes, 1, sizeof c->bytes, file);
  fclose(file);
}

static const content *content_of(ino_t inode) {
  for (size_t i = 0; i < content_count; i++)
    if (contents[i].inode == inode)
      return &contents[i];
  return NULL;
}

/* Were all writes to a file made and synced before step `end`? */
static int is_synced(ino_t inode, size_t end) {
  int synced = 1;
  for (size_t i = 0; i < step_count; i++) {
    if (steps[i].inode == inode && steps[i].kind == STEP_WRITE)
      synced = 0;
    if (steps[i].inode == inode && steps[i].kind == STEP_SYNC && i < end)
      synced = 1;
  }
  return synced;
}

/* ---- The folder after a loss of power ---- */

static void path_of(const char *name, char out[256]) {
  snprintf(out, 256, "%s/%s", folder, name);
}

static void clear_folder(void) {
  char path[256 + NAME_MAX];
  DIR *d = opendir(folder);
  for (struct dirent *e; (e = readdir(d)) != NULL;)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
      snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
      unlink(path);
    }
  closedir(d);
}

static void put(const char *name, const char *bytes, size_t length) {
  char path[256];
  path_of(name, path);
  const int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(descriptor >= 0);
  assert_true(write(descriptor, bytes, length) == (ssize_t)length);
  close(descriptor);
}

/* Links entry i to an earlier name of the same file; returns 0 if it is the first name. */
static int put_link(const disk *d, size_t i) {
  char from[256], to[256];
  size_t first = 0;
  for (; d->entries[first].inode != d->entries[i].inode; first++)
    continue;
  path_of(d->entries[first].name, from);
  path_of(d->entries[i].name, to);
  return first < i && link(from, to) == 0;
}

static void make_folder(const disk *d, size_t end) {
  clear_folder();
  for (size_t i = 0; i < d->count; i++) {
    const content *c = content_of(d->entries[i].inode);
    assert_non_null(c);
    const int whole = is_synced(c->inode, end);
    if (!put_link(d, i))
      put(d->entries[i].name, c->bytes, whole ? c->length : c->length / 2);
  }
}

static size_t get(const char *name, char out[64]) {
  char path[256];
  path_of(name, path);
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    return 0;
  const size_t length = fread(out, 1, 63, file);
  fclose(file);
  out[length] = '\0';
  return length;
}

/* ---- Outputs ---- */

static void keep_all(void) {
  char path[256 + NAME_MAX];
  DIR *d = opendir(folder);
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    keep_content(path);
  }
  closedir(d);
}

static pcal_output *written(const char *name, const char *words, int named) {
  char path[256];
  pcal_output *output = NULL;
  path_of(name, path);
  const pcal_status status = named ? pc_output_file_open_named(path, NULL, &output, NULL)
                                   : pc_output_file_open(path, NULL, &output, NULL);
  assert_int_equal(status, PCAL_OK);
  pc_output_file_sink(output, words, strlen(words));
  return output;
}

/* Contents of lists and of new files are known only while they are there. */
static void keep_new(pcal_output *const *outputs, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct stat about;
    content *c = &contents[content_count++];
    assert_true(content_count <= CONTENTS_MAX);
    assert_int_equal(fstat(outputs[i]->descriptor, &about), 0);
    c->inode = about.st_ino;
    c->length = (size_t)snprintf(c->bytes, sizeof c->bytes, "%s", words[i]);
  }
}

/* The lists of `count` files, as the same names would be written again. */
static void keep_lists(size_t count) {
  char paths[2 * FILES_MAX][256], text[256];
  pc_journal_entry files[FILES_MAX];
  size_t found = 0;
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t r = 0; r < step_count && found < count; r++)
    if (steps[r].kind == STEP_RENAME) {
      path_of(steps[r].from, paths[2 * found]);
      path_of(steps[r].to, paths[2 * found + 1]);
      files[found] = (pc_journal_entry){paths[2 * found], paths[2 * found + 1]};
      found++;
    }
  assert_int_equal(found, count);
  for (size_t i = 0; i < step_count; i++) {
    if (steps[i].kind != STEP_CREATE || strstr(steps[i].to, ".pending") == NULL)
      continue;
    assert_int_equal(pc_output_journal_write(files, count, &env), 0);
    content *c = &contents[content_count++];
    assert_true(content_count <= CONTENTS_MAX);
    c->inode = steps[i].inode;
    path_of(steps[i].to, text);
    FILE *file = fopen(text, "rb");
    assert_non_null(file);
    c->length = fread(c->bytes, 1, sizeof c->bytes, file);
    fclose(file);
  }
}

static int make_temporary_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/dev/shm/propercal-power-XXXXXX");
  if (mkdtemp(folder) != NULL)
    return 0;
  snprintf(folder, sizeof folder, "/tmp/propercal-power-XXXXXX");
  return mkdtemp(folder) == NULL;
}

static int remove_temporary_folder(void **state) {
  (void)state;
  clear_folder();
  return rmdir(folder);
}

#endif
