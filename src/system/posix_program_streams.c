#include "system/program_streams.h"

#include <fcntl.h>
#include <poll.h>

/* Opened read-only, so that writes to a stream that was closed fail. */
void pc_program_streams_start(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  for (int descriptor = 0; descriptor <= 2; descriptor++)
    if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
      return;
}

int pc_program_reader_gone(int descriptor) {
  struct pollfd query = {descriptor, POLLOUT, 0};
  return poll(&query, 1, 0) > 0 && (query.revents & POLLERR);
}
