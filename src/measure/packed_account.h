/* Accounts of groups as few bytes.
 *
 * A state is made for many rows: exact sums and bins of one row are nearly all zeros.  Where
 * there are many groups, the accounts that are not in use are kept as the bytes that would be
 * saved (pc_ledger_save), without runs of zeros. */
#ifndef PC_PACKED_ACCOUNT_H
#define PC_PACKED_ACCOUNT_H

#include "measure/ledger.h"

struct pc_packed {
  uint64_t rows; /* above 0 */
  double weight; /* of the rows */
  size_t length; /* bytes before zeros are left out */
  size_t used;
  unsigned char bytes[];
};

/* Can the accounts of a plan be packed? */
int pc_packable(const pc_plan *plan);

PC_CHECKED pcal_status pc_pack(const pc_ledger *ledger, const pc_account *account,
                               pc_packed **out, pcal_error *err);
PC_CHECKED pcal_status pc_pack_copy(const pcal_env *env, const pc_packed *packed,
                                    pc_packed **out, pcal_error *err);

/* An account of its own; freed with pc_account_free. */
PC_CHECKED pcal_status pc_unpack(const pc_ledger *ledger, const pc_packed *packed,
                                 pc_account **out, pcal_error *err);

/* Writes the bytes that pc_ledger_save would have written of the account. */
void pc_packed_save(const pc_packed *packed, pc_encoder *out);

#endif
