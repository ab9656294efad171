/* The parts of a bucket curve that metrics still need. */
#ifndef PC_REFINE_ASK_H
#define PC_REFINE_ASK_H

#include "curve/bucket_curve.h"
#include "measure/measure.h"

/* The parts of a curve that the metrics on a slot still need. */
typedef struct pc_refine_need {
  uint8_t *wanted; /* by segment: true if it must be known score by score */
  size_t wants;    /* number of marked segments */
  unsigned level;  /* of cells; 0: no cells, PC_EACH_SCORE: every score */
  pc_logit_point points[PC_REFINE_POINTS_MAX]; /* of logistic regressions */
  size_t point_count;
} pc_refine_need;

/* Which metrics on a slot are asked. */
typedef enum pc_refine_whom {
  PC_REFINE_ALL,
  PC_REFINE_WITH_CELLS,   /* those that join scores in cells */
  PC_REFINE_WITHOUT_CELLS /* all others */
} pc_refine_whom;

/* Asks metrics on a slot, and adds their answers to *wish. */
PC_CHECKED pcal_status pc_refine_ask(const pcal_measure *measure, size_t slot,
                                     pc_refine_whom whom, const pc_curve_table *table,
                                     pc_refine_need *wish, pcal_error *err);
/* True if the slot has metrics of both kinds, and rounds refine a curve for each
 * (pc_machine_curve_buckets_cells). */
int pc_refine_asks_apart(const pc_measure_plan *plan, size_t slot);

/* Joins the segments of a curve that no metric on the slot would miss: of the scores that a pass
 * has stored, only those at the ends of bins stay. */
PC_CHECKED pcal_status pc_refine_compact(const pcal_measure *measure, size_t slot,
                                         pc_bucket_curve *curve, pcal_error *err);

#endif
