/* The fingerprint of a set of rows: their number and the sum of 64-bit hashes of their keys
 * (row_keys.h), weights and the names of their groups.  It depends on the rows only, not on their
 * order or division.  In the sum a row of whole weight m counts as m rows. */
#ifndef PC_ROW_FINGERPRINT_H
#define PC_ROW_FINGERPRINT_H

#include "base/codec.h"
#include "data/rows.h"

typedef struct pc_row_fingerprint {
  uint64_t rows;
  pc_uint128 sum;
} pc_row_fingerprint;

/* Hashes of the names of groups, by their numbers. */
typedef struct pc_group_hashes {
  const uint64_t *list;
  size_t count;
} pc_group_hashes;

/* Adds rows, whose keys must be filled. */
void pc_row_fingerprint_add(pc_row_fingerprint *print, const pc_rows *rows,
                            pc_group_hashes groups);
void pc_row_fingerprint_merge(pc_row_fingerprint *into, const pc_row_fingerprint *from);
int pc_row_fingerprint_equal(const pc_row_fingerprint *a, const pc_row_fingerprint *b);

/* As bytes: rows (u64), sum (u64, low half first). */
void pc_encode_row_fingerprint(pc_encoder *out, const pc_row_fingerprint *print);
void pc_decode_row_fingerprint(pc_decoder *in, pc_row_fingerprint *out);

#endif
