/* Outputs that become new together, and what a loss of power leaves of them.
 *
 * The calls that change the disk (write, fsync, link, linkat, rename, unlink) are recorded while the real
 * ones are made.  Then the machine "loses power" after each of them: data that were not synced are torn, and
 * of the changes of names that were not synced any part may have happened, in every combination.  In each
 * such state, opening the files again must show both old or both new, and whole. */
#define _GNU_SOURCE
#include "power_disk.h"

static const char *const new_words[] = {"new one", "new two"};

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
  size_t open_steps[OPEN_MAX];
  disk sure;
  const size_t count = open_since_sync(before, end, &sure, open_steps);
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
  keep_new(both, new_words, 2);
  assert_int_equal(pc_output_file_commit_all(both, 2, NULL), PCAL_OK);
  recording = 0;
  char one[64], two[64];
  assert_true(get("one", one) > 0 && strcmp(one, "new one") == 0);
  assert_true(get("two", two) > 0 && strcmp(two, "new two") == 0);
  keep_lists(2);
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
  keep_new(both, new_words, 2);
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

TEST_GROUP(make_temporary_folder, remove_temporary_folder)
