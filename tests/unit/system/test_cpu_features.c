/* The level agrees with what the kernel reports in /proc/cpuinfo. */
#include "system/cpu_features.h"

#include "../unit.h"
#include "kernels/dispatch.h"

static int listed(const char *flags, const char *word) {
  char padded[32];
  snprintf(padded, sizeof padded, " %s ", word);
  return strstr(flags, padded) != NULL;
}

/* Reads the first line of flags; returns 0 if there is none. */
static int read_flags(char *out, size_t size) {
  FILE *file = fopen("/proc/cpuinfo", "r");
  int found = 0;
  while (file != NULL && !found && fgets(out, (int)size, file) != NULL)
    found = strncmp(out, "flags", 5) == 0;
  if (file != NULL)
    fclose(file);
  if (found)
    out[strcspn(out, "\n")] = ' ';
  return found;
}

TEST(test_level_agrees_with_the_kernel) {
  char flags[8192];
  if (pc_kernels_at(1) == NULL && pc_cpu_features() == PC_CPU_PORTABLE)
    skip(); /* no variants are built */
  if (!read_flags(flags, sizeof flags))
    skip();
  const int avx2 = listed(flags, "avx2") && listed(flags, "fma");
  const int avx512 = avx2 && listed(flags, "avx512f") && listed(flags, "avx512dq") &&
                     listed(flags, "avx512vl");
  assert_int_equal(pc_cpu_features(), avx512 ? PC_CPU_AVX512 : avx2 ? PC_CPU_AVX2 : 0);
}

TEST(test_level_stays) {
  const pc_cpu_level first = pc_cpu_features();
  for (int i = 0; i < 10; i++)
    assert_int_equal(pc_cpu_features(), first);
}
