#if defined(__linux__)
#define _GNU_SOURCE /* affinity is not in POSIX */
#include <sched.h>
#endif
#include "system/processors.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit.h"
#include "base/executor.h"

/* A folder in place of the root directory. */
static char root[] = "/tmp/processors-XXXXXX";

static int make_root(void **state) {
  (void)state;
  strcpy(root, "/tmp/processors-XXXXXX");
  if (mkdtemp(root) == NULL)
    return -1;
  return 0;
}

static int drop_root(void **state) {
  char command[128];
  (void)state;
  snprintf(command, sizeof command, "rm -r %s", root);
  return system(command);
}

/* Writes a file below the root, with its folders. */
static void put(const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", root, name);
  for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
    *slash = '/';
  }
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static size_t quota(void) {
  return pc_processor_quota(root);
}

TEST_WITH(test_version_2, make_root, drop_root) {
  put("proc/self/cgroup", "0::/kube/pod\n");
  put("sys/fs/cgroup/kube/pod/cpu.max", "200000 100000\n");
  assert_int_equal(quota(), 2);
  put("sys/fs/cgroup/kube/pod/cpu.max", "150000 100000\n");
  assert_int_equal(quota(), 2);
  put("sys/fs/cgroup/kube/pod/cpu.max", "1000 100000\n");
  assert_int_equal(quota(), 1);
  put("sys/fs/cgroup/kube/pod/cpu.max", "max 100000\n");
  assert_int_equal(quota(), 0);
}

TEST_WITH(test_parents_limit_too, make_root, drop_root) {
  put("proc/self/cgroup", "0::/kube/pod\n");
  put("sys/fs/cgroup/kube/pod/cpu.max", "800000 100000\n");
  put("sys/fs/cgroup/kube/cpu.max", "300000 100000\n");
  assert_int_equal(quota(), 3);
}

TEST_WITH(test_a_path_that_is_mounted_elsewhere, make_root, drop_root) {
  put("proc/self/cgroup", "0::/system.slice/docker-1234.scope\n");
  put("sys/fs/cgroup/cpu.max", "400000 100000\n");
  assert_int_equal(quota(), 4);
}

TEST_WITH(test_version_1, make_root, drop_root) {
  put("proc/self/cgroup", "11:memory:/docker/12\n4:cpu,cpuacct:/docker/12\n1:name=systemd:/\n");
  put("sys/fs/cgroup/cpu/docker/12/cpu.cfs_quota_us", "250000\n");
  put("sys/fs/cgroup/cpu/docker/12/cpu.cfs_period_us", "100000\n");
  assert_int_equal(quota(), 3);
  put("sys/fs/cgroup/cpu/docker/12/cpu.cfs_quota_us", "-1\n");
  assert_int_equal(quota(), 0);
}

TEST_WITH(test_version_1_in_a_folder_of_two_controllers, make_root, drop_root) {
  put("proc/self/cgroup", "4:cpu,cpuacct:/\n");
  put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
  put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  assert_int_equal(quota(), 2);
}

TEST_WITH(test_both_versions, make_root, drop_root) {
  put("proc/self/cgroup", "4:cpuacct:/a\n0::/a\n");
  put("sys/fs/cgroup/unified/a/cpu.max", "500000 100000\n");
  put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n"); /* of another controller */
  put("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  assert_int_equal(quota(), 5);
}

/* A quota without a period, or with a wrong one, is none. */
TEST_WITH(test_version_1_without_a_period, make_root, drop_root) {
  put("proc/self/cgroup", "4:cpu:/\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n");
  assert_int_equal(quota(), 0);
  const char *const periods[] = {"0\n", "-1\n", "", "many\n"};
  for (size_t i = 0; i < UNIT_COUNT(periods); i++) {
    put("sys/fs/cgroup/cpu/cpu.cfs_period_us", periods[i]);
    assert_int_equal(quota(), 0);
  }
  put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  assert_int_equal(quota(), 3);
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "0\n");
  assert_int_equal(quota(), 0);
}

TEST_WITH(test_malformed_files_are_no_quota, make_root, drop_root) {
  assert_int_equal(pc_processor_quota("/nowhere"), 0);
  const char *const odd[] = {"", "0", "0::", "0::/\n", "::::\n\n", "nothing at all"};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    put("proc/self/cgroup", odd[i]);
    assert_int_equal(quota(), 0);
  }
  put("proc/self/cgroup", "0::/\n");
  const char *const values[] = {"",         "200000",    "x y",
                                "100000 0", "-5 100000", "99999999999999999999999999 1"};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    put("sys/fs/cgroup/cpu.max", values[i]);
    assert_int_equal(quota(), 0);
  }
}

/* threads = 0 under an affinity mask of one processor, in a child process. */
TEST(test_affinity_counts) {
#if defined(__linux__)
  const pid_t child = fork();
  if (child == 0) {
    cpu_set_t set, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
      _exit(2);
    for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&one) == 0; c++)
      if (CPU_ISSET(c, &set))
        CPU_SET(c, &one);
    const pcal_env before = pc_env_resolve(NULL);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
      _exit(3);
    const pcal_env after = pc_env_resolve(NULL);
    _exit(before.threads <= (unsigned)CPU_COUNT(&set) && after.threads == 1 &&
                  pc_worker_count(&after) == 1
              ? 0
              : 1);
  }
  int outcome = 0;
  assert_int_equal(waitpid(child, &outcome, 0), child);
  assert_true(WIFEXITED(outcome));
  assert_int_equal(WEXITSTATUS(outcome), 0);
#else
  skip();
#endif
}
