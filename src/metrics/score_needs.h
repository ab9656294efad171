/* Needs of the proper scores, served by the sum machine.  Metrics derived from a score have the
 * same need and share its state. */
#ifndef PC_SCORE_NEEDS_H
#define PC_SCORE_NEEDS_H

#include "machines/machine.h"

/* value[0]: the sum of the scores of rows. */
void pc_need_brier(pc_need *need);            /* brier.c */
void pc_need_log(pc_need *need, double clip); /* log_score.c; may be infinite */
/* value[0]: the sum of 1 - p_y / |p|, which is the spherical score of a row plus one. */
void pc_need_spherical(pc_need *need); /* spherical.c */

#endif
