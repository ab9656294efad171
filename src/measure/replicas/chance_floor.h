/* Low ends of errors that labels drawn from the predictions would show as well. */
#ifndef PC_CHANCE_FLOOR_H
#define PC_CHANCE_FLOOR_H

#include "measure/replicas/replicas.h"
#include "measure/results.h"

/* Lowers to 0 the low ends of the given entries, and of their parts, that chance explains. */
PC_CHECKED pcal_status pc_chance_floor(const pcal_env *env, pc_replica_views *views,
                                       const uint8_t *entries, pc_result_record *records,
                                       pcal_error *err);

#endif
