/* The state of a group, compressed.
 *
 * The exact sums and bins of a few rows are nearly all zeros.  If there are many groups, idle
 * states are stored in their saved form (pc_group_states_save), with runs of zeros removed. */
#ifndef PC_PACKED_GROUP_H
#define PC_PACKED_GROUP_H

#include "measure/group_states.h"

struct pc_packed_group {
  uint64_t rows; /* above 0 */
  double weight; /* of the rows */
  size_t length; /* bytes with zeros */
  size_t used;   /* bytes without runs of zeros */
  unsigned char bytes[];
};

/* True if the states of a plan can be packed. */
int pc_group_state_packable(const pc_measure_plan *plan);

PC_CHECKED pcal_status pc_group_state_pack(const pc_group_states *groups,
                                           const pc_group_state *state, pc_packed_group **out,
                                           pcal_error *err);
PC_CHECKED pcal_status pc_packed_group_copy(const pcal_env *env, const pc_packed_group *packed,
                                            pc_packed_group **out, pcal_error *err);

/* Creates a state; freed with pc_group_state_free. */
PC_CHECKED pcal_status pc_packed_group_unpack(const pc_group_states *groups,
                                              const pc_packed_group *packed,
                                              pc_group_state **out, pcal_error *err);

/* Writes the bytes that pc_group_states_save would write. */
void pc_packed_group_save(const pc_packed_group *packed, pc_encoder *out);

#endif
