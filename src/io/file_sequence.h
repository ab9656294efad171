/* Several files read one after another as one. */
#ifndef PC_FILE_SEQUENCE_H
#define PC_FILE_SEQUENCE_H

#include "io/reader.h"

/* Joins the readers of `count` files, count > 1, and takes them over, also if the call fails.
 * `parts` is a block of env, which is taken over too.  Fails with PCAL_DATA unless all files have
 * the same columns, if not ragged, and types. */
PC_CHECKED pcal_status pc_file_sequence_open(pc_reader *parts, size_t count, int ragged,
                                             const pcal_env *env, pc_reader *out,
                                             pcal_error *err);

#endif
