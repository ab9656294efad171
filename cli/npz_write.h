/* Writing of .npz files: zip archives of .npy arrays, stored without compression. */
#ifndef CLI_NPZ_WRITE_H
#define CLI_NPZ_WRITE_H

#include "session.h"

#define CLI_NPZ_ENTRIES 4

typedef struct cli_npz_entry {
  const char *name; /* with .npy */
  uint32_t crc;
  uint64_t length, at; /* bytes; offset of its local header */
} cli_npz_entry;

/* Initialise with {.output = ...}. */
typedef struct cli_npz {
  cli_output *output;
  int writing; /* 0: the sink only measures */
  uint64_t written;
  cli_npz_entry entries[CLI_NPZ_ENTRIES];
  size_t count;
} cli_npz;

/* Each array is passed to the sink twice: after cli_npz_measure, for its length and
 * checksum, and after cli_npz_begin, which writes its header.  cli_npz_begin fails if the
 * file would reach 4 GiB. */
void cli_npz_measure(cli_npz *npz, const char *name);
pcal_status cli_npz_begin(cli_npz *npz, pcal_error *err);
int cli_npz_sink(void *npz, const char *bytes, size_t count); /* a pcal_sink */

/* Writes the directory. */
void cli_npz_end(cli_npz *npz);

#endif
