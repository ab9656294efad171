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

TEST(test_numbers) {
  const char *text = "200000 100000";
  assert_int_equal(pc_cgroup_number(&text), 200000);
  assert_int_equal(pc_cgroup_number(&text), 100000);
  assert_true(pc_cgroup_number(&text) == PC_CGROUP_NONE);
}
