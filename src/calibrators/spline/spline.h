/* The spline calibrator: what its options say, its parameters, and how rows are looked at. */
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
  PC_SPLINE_TOP, /* the score of the rank-th class */
  PC_SPLINE_ALL, /* of every rank */
  PC_SPLINE_WITHIN,
  PC_SPLINE_OF_CLASS,
  PC_SPLINE_COLUMN /* of the one column that there is */
} pc_spline_target;

typedef struct pc_spline_model {
  pc_spline_target target;
  size_t rank, class; /* rank from 1 */
  size_t classes;
  int published;
  size_t knots, count;     /* splines */
  double *values;          /* count x knots */
  pc_line_maps *lines;     /* in [0, 1] */
  pc_line_maps *unclipped; /* after a fit with convention=gupta, else NULL; not saved */
  int unscaled;            /* rows of target=all are not divided by their sums */
} pc_spline_model;

/* A sentence on what keeps the options from suiting a layout, or NULL. */
const char *pc_spline_check_options(const pc_options *options, const pc_layout *layout);

/* The parameters without lines. */
PC_CHECKED pcal_status pc_spline_model_new(pcal_calibrator *calibrator, pc_spline_model **out,
                                           pcal_error *err);

/* How a fit looks at rows: `use` and `user` are still to be set. */
pc_score_columns_request pc_spline_score_columns(const pc_spline_model *model);

/* Numbers that applying needs beside its results. */
size_t pc_spline_row_space(const pcal_calibrator *calibrator);
void pc_spline_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                     double *out);
/* The same with values as they were before clipping and, for target=all, without dividing rows
 * by their sums: what the tables of the paper measure, not probabilities.  For a calibrator
 * that was fitted with convention=gupta and not read from a file. */
void pc_spline_apply_unclipped(const pcal_calibrator *calibrator, const double *in,
                               size_t count, double *out);

#endif
