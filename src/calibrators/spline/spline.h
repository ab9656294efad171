/* The spline calibrator: options, parameters, and the scores of rows that it maps. */
#ifndef PC_SPLINE_H
#define PC_SPLINE_H

#include "calibrators/score_columns.h"
#include "calibrators/spline/spline_fit.h"

enum {
  PC_SPLINE_KNOTS,
  PC_SPLINE_RUNOUT,
  PC_SPLINE_CONSTRAINED,
  PC_SPLINE_TARGET,
  PC_SPLINE_RANK,
  PC_SPLINE_CLASS,
  PC_SPLINE_FIT,
  PC_SPLINE_CONVENTION
};

typedef enum pc_spline_target {
  PC_SPLINE_TOP,      /* the rank-th largest score */
  PC_SPLINE_ALL,      /* the scores of every rank */
  PC_SPLINE_WITHIN,   /* the sum of the `rank` largest scores */
  PC_SPLINE_OF_CLASS, /* the score of one class */
  PC_SPLINE_COLUMN    /* the only column */
} pc_spline_target;

typedef struct pc_spline_model {
  pc_spline_target target;
  size_t rank, class; /* rank counts from 1 */
  size_t classes;
  int published;           /* convention=gupta */
  size_t knots, count;     /* count: of splines */
  double *values;          /* count x knots */
  pc_line_maps *lines;     /* the maps, clipped to [0, 1] */
  pc_line_maps *unclipped; /* after a fit with convention=gupta, else NULL; not saved */
  int unscaled;            /* target=all: do not divide rows by their sums */
} pc_spline_model;

/* Why the options do not suit a layout, or NULL. */
const char *pc_spline_check_options(const pc_options *options, const pc_layout *layout);

/* Parameters without maps. */
PC_CHECKED pcal_status pc_spline_model_new(pcal_calibrator *calibrator, pc_spline_model **out,
                                           pcal_error *err);

/* The scores to fit to; the caller sets `use` and `user`. */
pc_score_columns_request pc_spline_score_columns(const pc_spline_model *model);

/* As in pc_calibrator_method. */
size_t pc_spline_row_space(const pcal_calibrator *calibrator);
void pc_spline_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                     double *out);
/* The same with unclipped maps and, for target=all, without dividing rows by their sums: not
 * probabilities, but the numbers behind the tables of the paper.  For a calibrator that was
 * fitted with convention=gupta in this process. */
void pc_spline_apply_unclipped(const pcal_calibrator *calibrator, const double *in,
                               size_t count, double *out);

#endif
