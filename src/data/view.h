/* Views: what of a row is measured, as a score in [0, 1] and whether it came true. */
#ifndef PC_VIEW_H
#define PC_VIEW_H

#include "data/rows.h"

typedef enum pc_view_kind {
  PC_VIEW_RANK =
      1,           /* the index-th largest probability (from 1) and whether its class is true */
  PC_VIEW_WITHIN,  /* the sum of the index largest, and whether the true class is among them */
  PC_VIEW_CLASS,   /* the probability of class index */
  PC_VIEW_CLASSES, /* every class of every row, one part for each class */
  PC_VIEW_POOLED,  /* every class of every row, in one part */
  PC_VIEW_PIT /* of regression: the predicted probability of a value up to the target; never
                 true; index is the pc_form */
} pc_view_kind;

/* Compared by its bytes: start from zero. */
typedef struct pc_view {
  int32_t kind;
  int32_t index;
  int32_t by_label; /* one part for each predicted label instead of one for all */
} pc_view;

/* The natural view of regression. */
pc_view pc_view_pit(const pc_layout *layout);

/* Does a view have a score for every class of a row?  Then there are no columns: machines read
 * rows->probs and rows->labels. */
int pc_view_is_every_class(const pc_view *view);

/* Filled columns, one entry for each row; they may point into the rows.  Empty for a spread
 * view. */
typedef struct pc_view_columns {
  const double *score;
  const uint8_t *hit;
  const uint32_t *part; /* predicted label, or NULL when there is one part */
  double *score_space;
  uint8_t *hit_space;
  uint32_t *part_space;
} pc_view_columns;

/* Parts into which a view divides the scores. */
size_t pc_view_parts(const pc_view *view, const pc_layout *layout);

/* Scores that a view has of one row. */
size_t pc_view_scores_per_row(const pc_view *view, const pc_layout *layout);

PC_CHECKED pcal_status pc_view_columns_new(const pcal_env *env, const pc_view *view,
                                           size_t capacity, pc_view_columns *out,
                                           pcal_error *err);
void pc_view_columns_free(const pcal_env *env, pc_view_columns *columns);

/* Ties between classes go to the lower index. */
void pc_view_fill(const pc_view *view, const pc_rows *rows, pc_view_columns *columns);

#endif
