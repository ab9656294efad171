/* Reading of whole files into memory. */
#ifndef CLI_SLURP_H
#define CLI_SLURP_H

#include <stddef.h>

#include "session.h"

typedef struct cli_file_bytes {
  char *bytes; /* owned by the caller; not NULL even if length is 0 */
  size_t length;
} cli_file_bytes;

/* Reads a file to its end; "-" is standard input.  Fails for devices, sockets, and files
 * above the memory limit. */
pcal_status cli_read_file(const cli_session *session, const char *path, cli_file_bytes *out,
                          pcal_error *err);

/* The name of an input in messages. */
const char *cli_input_name(const char *path);

#endif
