/* Systems on which this program starts no others. */
#include <errno.h>

#include "system/child_filter.h"

int pc_child_available(const char *program) {
  (void)program;
  return 0;
}

int pc_child_filter(const char *const *words, const char *input, size_t length,
                    pc_child_sink sink, void *user, int *succeeded) {
  (void)words;
  (void)input;
  (void)length;
  (void)sink;
  (void)user;
  *succeeded = 0;
  return ENOSYS;
}
