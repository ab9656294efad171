/* The curve machine for sources that can be read again: a coarse curve, refined pass by pass
 * where metrics ask (stats/coarse.h).  Same evidence, same bits as the curve machine; the
 * memory does not grow with the rows. */
#ifndef PC_MACHINE_COARSE_H
#define PC_MACHINE_COARSE_H

#include "machines/machine.h"
#include "stats/coarse.h"

extern const pc_machine pc_machine_coarse;

/* The curve behind a state; built from the first pass when first asked for. */
PC_CHECKED pcal_status pc_machine_coarse_curve(const pcal_env *env, void *state,
                                               pc_coarse **out, pcal_error *err);

#endif
