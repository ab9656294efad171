/* Limits of control groups, read below directories that look like /proc and /sys. */
#include "system/cgroup.h"

#include <sys/stat.h>
#include <unistd.h>

#include "../unit.h"

typedef struct cgroup_tree {
  char root[64];
  size_t made;
  char path[32][256]; /* files and directories, parents first */
} cgroup_tree;

static void cgroup_note(cgroup_tree *tree, const char *path) {
  assert_true(tree->made < 32);
  snprintf(tree->path[tree->made++], 256, "%s", path);
}

/* Writes a file below the root, with its directories. */
static void cgroup_put(cgroup_tree *tree, const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s%s", tree->root, name);
  for (char *slash = strchr(path + strlen(tree->root) + 1, '/'); slash != NULL;
       slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(path, 0700) == 0)
      cgroup_note(tree, path);
    *slash = '/';
  }
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  cgroup_note(tree, path);
}

static int cgroup_set_up(void **state) {
  cgroup_tree *tree = calloc(1, sizeof *tree);
  assert_non_null(tree);
  snprintf(tree->root, sizeof tree->root, "/tmp/propercal-cgroup-XXXXXX");
  assert_non_null(mkdtemp(tree->root));
  *state = tree;
  return 0;
}

static int cgroup_tear_down(void **state) {
  cgroup_tree *tree = *state;
  while (tree->made > 0)
    remove(tree->path[--tree->made]);
  rmdir(tree->root);
  free(tree);
  return 0;
}

TEST_WITH(test_no_groups, cgroup_set_up, cgroup_tear_down) {
  const cgroup_tree *tree = *state;
  assert_true(pc_cgroup_memory(tree->root) == PC_CGROUP_NONE);
}

TEST_WITH(test_version_2, cgroup_set_up, cgroup_tear_down) {
  cgroup_tree *tree = *state;
  cgroup_put(tree, "/proc/self/cgroup", "0::/slice/job\n");
  cgroup_put(tree, "/sys/fs/cgroup/slice/job/memory.max", "max\n");
  assert_true(pc_cgroup_memory(tree->root) == PC_CGROUP_NONE);
  cgroup_put(tree, "/sys/fs/cgroup/slice/memory.max", "3000000000\n"); /* an ancestor */
  assert_true(pc_cgroup_memory(tree->root) == 3000000000u);
  cgroup_put(tree, "/sys/fs/cgroup/slice/job/memory.high", "2000000000\n");
  assert_true(pc_cgroup_memory(tree->root) == 2000000000u);
}

TEST_WITH(test_version_1, cgroup_set_up, cgroup_tear_down) {
  cgroup_tree *tree = *state;
  cgroup_put(tree, "/proc/self/cgroup",
             "9:name=systemd:/\n5:cpu,cpuacct:/job\n4:memory:/a/job\n0::/\n");
  cgroup_put(tree, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  assert_true(pc_cgroup_memory(tree->root) == 9223372036854771712u);
  cgroup_put(tree, "/sys/fs/cgroup/memory/a/job/memory.limit_in_bytes", "536870912\n");
  assert_true(pc_cgroup_memory(tree->root) == 536870912u);
}

/* The path outside the container is shown, but its directory is mounted as the root. */
TEST_WITH(test_container_without_namespace, cgroup_set_up, cgroup_tear_down) {
  cgroup_tree *tree = *state;
  cgroup_put(tree, "/proc/self/cgroup", "4:memory:/docker/0123abc\n");
  cgroup_put(tree, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  assert_true(pc_cgroup_memory(tree->root) == 1073741824u);
}

TEST_WITH(test_broken_files, cgroup_set_up, cgroup_tear_down) {
  cgroup_tree *tree = *state;
  cgroup_put(tree, "/proc/self/cgroup", "0::\nmemory\n:\n\n7:memory\n0::/x\n");
  cgroup_put(tree, "/sys/fs/cgroup/x/memory.max", "99999999999999999999999\n");
  cgroup_put(tree, "/sys/fs/cgroup/memory.max", "many");
  assert_true(pc_cgroup_memory(tree->root) == PC_CGROUP_NONE);
}

static void cgroup_collect(void *user, const char *directory, int version) {
  char *seen = user;
  const size_t used = strlen(seen);
  snprintf(seen + used, 512 - used, "%d%s ", version, strstr(directory, "/sys"));
}

TEST_WITH(test_directories_in_order, cgroup_set_up, cgroup_tear_down) {
  cgroup_tree *tree = *state;
  char seen[512] = "";
  cgroup_put(tree, "/proc/self/cgroup", "5:cpu,cpuacct:/a/b\n0::/\n");
  pc_cgroup_each(tree->root, "cpu", cgroup_collect, seen);
  assert_string_equal(seen, "1/sys/fs/cgroup/cpu/a/b 1/sys/fs/cgroup/cpu/a "
                            "1/sys/fs/cgroup/cpu 1/sys/fs/cgroup/cpu,cpuacct/a/b "
                            "1/sys/fs/cgroup/cpu,cpuacct/a 1/sys/fs/cgroup/cpu,cpuacct "
                            "2/sys/fs/cgroup 2/sys/fs/cgroup/unified ");
}

/* (7) */
TEST_WITH(test_odd_paths, cgroup_set_up, cgroup_tear_down) {
  static const struct {
    const char *lines, *seen;
  } cases[] = {
      {"0::x/y\n", ""},
      {"0::\n", "2/sys/fs/cgroup 2/sys/fs/cgroup/unified "},
      {"4:cpu:/a//b/\n", "1/sys/fs/cgroup/cpu/a//b 1/sys/fs/cgroup/cpu/a 1/sys/fs/cgroup/cpu "},
      {"3:cpuset,memory:/a\n", ""}};
  cgroup_tree *tree = *state;
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    char seen[512] = "";
    cgroup_put(tree, "/proc/self/cgroup", cases[i].lines);
    pc_cgroup_each(tree->root, "cpu", cgroup_collect, seen);
    assert_string_equal(seen, cases[i].seen);
  }
}

/* A group whose path is too long, and more lines than are read. */
TEST_WITH(test_long_paths, cgroup_set_up, cgroup_tear_down) {
  cgroup_tree *tree = *state;
  static char line[20000], root[4096 + 64];
  char seen[512] = "";
  snprintf(line, sizeof line, "4:cpu:/%05000d\n", 0);
  cgroup_put(tree, "/proc/self/cgroup", line);
  pc_cgroup_each(tree->root, "cpu", cgroup_collect, seen);
  assert_string_equal(seen, "1/sys/fs/cgroup/cpu ");
  seen[0] = '\0';
  memset(line, '\n', 9000);
  snprintf(line + 9000, sizeof line - 9000, "4:cpu:/a\n");
  cgroup_put(tree, "/proc/self/cgroup", line);
  pc_cgroup_each(tree->root, "cpu", cgroup_collect, seen);
  assert_string_equal(seen, "");
  /* the root ends in "/././.": only the file of groups, or nothing, fits into a name */
  cgroup_put(tree, "/proc/self/cgroup", "0::/\n");
  const size_t length = strlen(tree->root);
  memcpy(root, tree->root, length);
  for (size_t end = length; end + 2 < sizeof root; end += 2) {
    memcpy(root + end, "/.", 3);
    pc_cgroup_each(root, "cpu", cgroup_collect, seen);
    if (end < 4000)
      seen[0] = '\0';
  }
  assert_true(pc_cgroup_memory(root) == PC_CGROUP_NONE);
  assert_false(pc_cgroup_line(root, "memory.max", line, sizeof line));
}

TEST_WITH(test_long_values, cgroup_set_up, cgroup_tear_down) {
  cgroup_tree *tree = *state;
  char line[8], text[100];
  cgroup_put(tree, "/sys/fs/cgroup/cpu.max", "1234567890 100000\n");
  snprintf(text, sizeof text, "%s/sys/fs/cgroup", tree->root);
  assert_true(pc_cgroup_line(text, "cpu.max", line, sizeof line));
  assert_string_equal(line, "1234567"); /* as much as fits */
}

TEST(test_numbers) {
  const char *text = "200000 100000";
  assert_int_equal(pc_cgroup_number(&text), 200000);
  assert_int_equal(pc_cgroup_number(&text), 100000);
  assert_true(pc_cgroup_number(&text) == PC_CGROUP_NONE);
}
