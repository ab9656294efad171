/* Outputs that become new together, and what a loss of power leaves of them.
 *
 * The calls that change the disk (write, fsync, link, linkat, rename, unlink) are recorded while the real
 * ones are made.  Then the machine "loses power" after each of them: data that were not synced are torn, and
 * of the changes of names that were not synced any part may have happened, in every combination.  In each
 * such state, opening the files again must show both old or both new, and whole. */
#define _GNU_SOURCE
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
#define NAMES_MAX 24
#define NAME_LENGTH 128

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
static char folder[] = "/tmp/propercal-power-XXXXXX";

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

/* ---- Contents ---- */

typedef struct content {
  ino_t inode;
  size_t length;
  char bytes[4096];
} content;

static content contents[32];
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

typedef struct outcome {
  size_t states, old, new;
} outcome;

/* Both old or both new, whichever is opened first. */
static void judge(const disk *d, size_t end, const char *first, const char *second, int existed,
                  outcome *seen) {
  char path[256], one[64] = "", two[64] = "";
  const pcal_env env = pc_env_resolve(NULL);
  make_folder(d, end);
  path_of(first, path);
  pc_output_journal_replay(path, &env);
  path_of(second, path);
  pc_output_journal_replay(path, &env);
  get("one", one);
  get("two", two);
  const int is_new = strcmp(one, "new one") == 0 && strcmp(two, "new two") == 0;
  const int is_old = existed ? strcmp(one, "old one") == 0 && strcmp(two, "old two") == 0
                             : one[0] == '\0' && two[0] == '\0';
  if (!is_new && !is_old)
    fail_msg("after %zu steps: \"%s\" beside \"%s\"", end, one, two);
  seen->states++;
  seen->old += (size_t)is_old;
  seen->new += (size_t)is_new;
}

/* Every part of the changes of names since the last sync of the folder. */
static void lose_power(const disk *before, size_t end, int existed, outcome *seen) {
  size_t open_steps[32], count = 0;
  disk sure = *before;
  for (size_t i = 0; i < end; i++) {
    if (steps[i].kind == STEP_SYNC && steps[i].inode == 0) {
      for (size_t o = 0; o < count; o++)
        disk_apply(&sure, &steps[open_steps[o]]);
      count = 0;
    } else if (is_name_step(&steps[i])) {
      assert_true(count < 16);
      open_steps[count++] = i;
    }
  }
  for (size_t part = 0; part < (size_t)1 << count; part++) {
    disk d = sure;
    for (size_t o = 0; o < count; o++)
      if (part >> o & 1)
        disk_apply(&d, &steps[open_steps[o]]);
    judge(&d, end, "one", "two", existed, seen);
    judge(&d, end, "two", "one", existed, seen);
  }
}

/* ---- Tests ---- */

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
static void keep_new(pcal_output *const *both) {
  for (size_t i = 0; i < 2; i++) {
    struct stat about;
    content *c = &contents[content_count++];
    assert_int_equal(fstat(both[i]->descriptor, &about), 0);
    c->inode = about.st_ino;
    c->length = (size_t)snprintf(c->bytes, sizeof c->bytes, i == 0 ? "new one" : "new two");
  }
}

/* The lists, as the same names would be written again. */
static void keep_lists(const disk *before) {
  (void)before;
  char text[4096];
  for (size_t i = 0; i < step_count; i++) {
    if (steps[i].kind != STEP_CREATE || strstr(steps[i].to, ".pending") == NULL)
      continue;
    pc_journal_entry files[2] = {{NULL, NULL}, {NULL, NULL}};
    char paths[4][256];
    size_t found = 0;
    for (size_t r = 0; r < step_count; r++)
      if (steps[r].kind == STEP_RENAME && found < 2) {
        path_of(steps[r].from, paths[2 * found]);
        path_of(steps[r].to, paths[2 * found + 1]);
        files[found] = (pc_journal_entry){paths[2 * found], paths[2 * found + 1]};
        found++;
      }
    assert_int_equal(found, 2);
    const pcal_env env = pc_env_resolve(NULL);
    assert_int_equal(pc_output_journal_write(files, 2, &env), 0);
    content *c = &contents[content_count++];
    c->inode = steps[i].inode;
    path_of(steps[i].to, text);
    FILE *file = fopen(text, "rb");
    assert_non_null(file);
    c->length = fread(c->bytes, 1, sizeof c->bytes, file);
    fclose(file);
  }
}

static void check_power_loss(int existed, int named) {
  disk before = {.count = 0};
  char path[256];
  clear_folder();
  content_count = step_count = 0;
  if (existed) {
    put("one", "old one", 7);
    put("two", "old two", 7);
    path_of("one", path);
    disk_set(&before, "one", inode_at(path));
    path_of("two", path);
    disk_set(&before, "two", inode_at(path));
  }
  keep_all();
  recording = 1;
  pcal_output *both[] = {written("one", "new one", named), written("two", "new two", named)};
  keep_new(both);
  assert_int_equal(pc_output_file_commit_all(both, 2, NULL), PCAL_OK);
  recording = 0;
  char one[64], two[64];
  assert_true(get("one", one) > 0 && strcmp(one, "new one") == 0);
  assert_true(get("two", two) > 0 && strcmp(two, "new two") == 0);
  keep_lists(&before);
  outcome seen = {0, 0, 0};
  for (size_t end = 0; end <= step_count; end++)
    lose_power(&before, end, existed, &seen);
  print_message("%zu steps, %zu states: %zu old, %zu new\n", step_count, seen.states, seen.old,
                seen.new);
  assert_true(seen.old > 0 && seen.new > 0);
}

TEST(power_loss_leaves_old_or_new) {
  for (int named = 0; named < 2; named++)
    for (int existed = 0; existed < 2; existed++)
      check_power_loss(existed, named);
}

/* One file by itself: old or new, and whole, without any list. */
TEST(one_file_is_old_or_new) {
  for (int named = 0; named < 2; named++) {
    disk before = {.count = 0};
    char path[256], one[64];
    clear_folder();
    content_count = step_count = 0;
    put("one", "old one", 7);
    keep_all();
    path_of("one", path);
    disk_set(&before, "one", inode_at(path));
    recording = 1;
    pcal_output *output = written("one", "new one", named);
    struct stat about;
    assert_int_equal(fstat(output->descriptor, &about), 0);
    assert_int_equal(pc_output_file_commit(output, NULL), PCAL_OK);
    recording = 0;
    contents[content_count] = (content){.inode = about.st_ino, .length = 7};
    memcpy(contents[content_count++].bytes, "new one", 7);
    for (size_t end = 0; end <= step_count; end++)
      for (size_t lost = 0; lost <= end; lost++) { /* names change in order, up to some step */
        disk d = before;
        for (size_t i = 0; i < lost; i++)
          disk_apply(&d, &steps[i]);
        make_folder(&d, end);
        get("one", one);
        assert_true(strcmp(one, "old one") == 0 || strcmp(one, "new one") == 0);
      }
  }
}

/* The recording sees what is wrong: without lists the two files can differ. */
TEST(renames_alone_are_not_enough) {
  clear_folder();
  step_count = content_count = 0;
  put("one", "old one", 7);
  put("two", "old two", 7);
  keep_all();
  recording = 1;
  pcal_output *both[] = {written("one", "new one", 0), written("two", "new two", 0)};
  keep_new(both);
  assert_int_equal(pc_output_file_commit(both[0], NULL), PCAL_OK);
  const size_t middle = step_count;
  assert_int_equal(pc_output_file_commit(both[1], NULL), PCAL_OK);
  recording = 0;
  disk d = {.count = 0};
  for (size_t i = 0; i < content_count && i < 2; i++)
    disk_set(&d, contents[i].bytes[4] == 'o' ? "one" : "two", contents[i].inode);
  for (size_t i = 0; i < middle; i++)
    disk_apply(&d, &steps[i]);
  make_folder(&d, middle);
  char one[64], two[64];
  get("one", one);
  get("two", two);
  assert_string_equal(one, "new one");
  assert_string_equal(two, "old two");
}

TEST(a_failure_leaves_both_as_they_were) {
  char path[256];
  pcal_error err;
  clear_folder();
  put("one", "old one", 7);
  pcal_output *both[] = {written("one", "new one", 0), written("two", "new two", 0)};
  path_of("two", path);
  assert_int_equal(mkdir(path, 0700), 0); /* in the way */
  assert_int_equal(pc_output_file_commit_all(both, 2, &err), PCAL_IO);
  char one[64];
  get("one", one);
  assert_string_equal(one, "old one");
  assert_int_equal(rmdir(path), 0);
  DIR *d = opendir(folder);
  size_t left = 0;
  while (readdir(d) != NULL)
    left++;
  closedir(d);
  assert_int_equal(left, 3); /* one, and the two dots */
}

/* Two old files and what is to take their places. */
static void put_two(const char *temporary, char from[2][256], char to[2][256]) {
  clear_folder();
  put("one", "old one", 7);
  put("two", "old two", 7);
  put(temporary, "new one", 7);
  put(".two.1-1.tmp", "new two", 7);
  path_of(temporary, from[0]);
  path_of(".two.1-1.tmp", from[1]);
  path_of("one", to[0]);
  path_of("two", to[1]);
}

TEST(lists_of_others_are_not_followed) {
  const pcal_env env = pc_env_resolve(NULL);
  char from[2][256], to[2][256], list[256], one[64];
  const struct {
    const char *temporary;
    mode_t mode;
    int follows;
  } cases[] = {{".one.1-0.tmp", 0600, 1}, {".one.1-0.tmp", 0644, 0}, {"secret", 0600, 0}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    put_two(cases[i].temporary, from, to);
    const pc_journal_entry files[] = {{from[0], to[0]}, {from[1], to[1]}};
    assert_int_equal(pc_output_journal_write(files, 2, &env), 0);
    path_of(".one.pending", list);
    assert_int_equal(chmod(list, cases[i].mode), 0);
    pc_output_journal_replay(to[0], &env);
    get("one", one);
    assert_string_equal(one, cases[i].follows ? "new one" : "old one");
  }
}

/* Files that were written (0), replaced (1) or removed (2) after the list stay so. */
TEST(newer_files_stay) {
  const pcal_env env = pc_env_resolve(NULL);
  char from[2][256], to[2][256], old[256], one[64];
  path_of(".two.1-1.tmp.old", old);
  for (int kind = 0; kind < 3; kind++) {
    const time_t when = kind == 0 ? time(NULL) + 5 : 1000;
    const struct timespec times[2] = {{when, 0}, {when, 0}};
    char two[64] = "";
    put_two(".one.1-0.tmp", from, to);
    assert_int_equal(link(to[1], old), 0);
    const pc_journal_entry files[] = {{from[0], to[0]}, {from[1], to[1]}};
    assert_int_equal(pc_output_journal_write(files, 2, &env), 0);
    assert_int_equal(kind == 0 ? 0 : unlink(to[1]), 0);
    put("two", "my work", 7);
    assert_int_equal(kind == 2 ? unlink(to[1]) : utimensat(AT_FDCWD, to[1], times, 0), 0);
    pc_output_journal_replay(to[0], &env);
    get("one", one);
    get("two", two);
    assert_string_equal(one, "old one");
    assert_string_equal(two, kind == 2 ? "" : "my work");
  }
}

static pcal_status commit_two(const pcal_env *env, void *user, pcal_error *err) {
  (void)user;
  char path[256];
  pcal_output *both[2] = {NULL, NULL};
  path_of("one", path);
  PC_TRY(pc_output_file_open(path, env, &both[0], err));
  path_of("two", path);
  const pcal_status status = pc_output_file_open(path, env, &both[1], err);
  if (status != PCAL_OK) {
    pc_output_file_discard(both[0]);
    return status;
  }
  return pc_output_file_commit_all(both, 2, err);
}

TEST(survives_without_memory) {
  clear_folder();
  unit_fail_each_allocation(commit_two, NULL);
}

static int make_temporary_folder(void **state) {
  (void)state;
  return mkdtemp(folder) == NULL;
}

static int remove_temporary_folder(void **state) {
  (void)state;
  clear_folder();
  return rmdir(folder);
}

TEST_GROUP(make_temporary_folder, remove_temporary_folder)
