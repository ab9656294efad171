/* Whole files in memory. */
#ifndef CLI_SLURP_H
#define CLI_SLURP_H

#include <stddef.h>

#include "session.h"

typedef struct cli_file_bytes {
  char *bytes; /* freed by the caller; not NULL even when there are none */
  size_t length;
} cli_file_bytes;

/* Reads a file to its end; "-" is standard input.  Devices and sockets are refused, and so is
 * what exceeds the memory limit. */
pcal_status cli_read_file(const cli_session *session, const char *path, cli_file_bytes *out,
                          pcal_error *err);

/* The name of an input in sentences. */
const char *cli_input_name(const char *path);

#endif
