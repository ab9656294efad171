/* Accounts of groups as few bytes.
 *
 * A state is made for many rows: exact sums and bins of one row are nearly all zeros.  Where
 * there are many groups, the accounts that are not in use are kept as the bytes that would be
 * saved (pc_group_states_save), without runs of zeros. */
#ifndef PC_PACKED_GROUP_H
#define PC_PACKED_GROUP_H

#include "measure/group_states.h"

struct pc_packed_group {
  uint64_t rows; /* above 0 */
  double weight; /* of the rows */
  size_t length; /* bytes before zeros are left out */
  size_t used;
  unsigned char bytes[];
};

/* Can the accounts of a plan be packed? */
int pc_group_state_packable(const pc_measure_plan *plan);

PC_CHECKED pcal_status pc_group_state_pack(const pc_group_states *ledger,
                                           const pc_group_state *account, pc_packed_group **out,
                                           pcal_error *err);
PC_CHECKED pcal_status pc_packed_group_copy(const pcal_env *env, const pc_packed_group *packed,
                                            pc_packed_group **out, pcal_error *err);

/* An account of its own; freed with pc_group_state_free. */
PC_CHECKED pcal_status pc_packed_group_unpack(const pc_group_states *ledger,
                                              const pc_packed_group *packed,
                                              pc_group_state **out, pcal_error *err);

/* Writes the bytes that pc_group_states_save would have written of the account. */
void pc_packed_group_save(const pc_packed_group *packed, pc_encoder *out);

#endif
