/* A .npz file that is written: a zip archive of .npy arrays, stored as they are. */
#ifndef CLI_NPZ_WRITE_H
#define CLI_NPZ_WRITE_H

#include "session.h"

#define CLI_NPZ_ENTRIES 4

typedef struct cli_npz_entry {
  const char *name; /* with .npy */
  uint32_t crc;
  uint64_t length, at; /* bytes, and where its local header begins */
} cli_npz_entry;

/* Start from {.output = ...}. */
typedef struct cli_npz {
  cli_output *output;
  int writing; /* else what is sunk is only measured */
  uint64_t written;
  cli_npz_entry entries[CLI_NPZ_ENTRIES];
  size_t count;
} cli_npz;

/* An array is sunk twice: behind cli_npz_measure, which learns its length and checksum, and
 * behind cli_npz_begin, which writes its header.  cli_npz_begin fails when the file would reach
 * 4 GiB. */
void cli_npz_measure(cli_npz *npz, const char *name);
pcal_status cli_npz_begin(cli_npz *npz, pcal_error *err);
int cli_npz_sink(void *npz, const char *bytes, size_t count); /* a pcal_sink */

/* Writes the directory. */
void cli_npz_end(cli_npz *npz);

#endif
