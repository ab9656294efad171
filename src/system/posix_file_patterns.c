#include "system/file_patterns.h"

#include <glob.h>
#include <stddef.h>

long pc_file_pattern_each(const char *pattern, int (*found)(void *user, const char *path),
                          void *user) {
  glob_t matches = {0};
  const int code = glob(pattern, 0, NULL, &matches);
  long calls = 0;
  if (code != 0)
    return code == GLOB_NOSPACE ? -1 : 0;
  while ((size_t)calls < matches.gl_pathc && found(user, matches.gl_pathv[calls++]) == 0)
    continue;
  globfree(&matches);
  return calls;
}
