/* Views: which event of a row is measured, given by a score in [0, 1] and an outcome (hit or
 * miss). */
#ifndef PC_VIEW_H
#define PC_VIEW_H

#include "data/rows.h"

typedef enum pc_view_kind {
  PC_VIEW_RANK =
      1,          /* the index-th largest probability, from 1; hit: its class is the true one */
  PC_VIEW_WITHIN, /* the sum of the `index` largest; hit: the true class is among them */
  PC_VIEW_CLASS,  /* the probability of class `index`; hit: it is the true one */
  PC_VIEW_CLASSES, /* every class of every row, one part for each class */
  PC_VIEW_POOLED,  /* every class of every row, in one part */
  PC_VIEW_PIT      /* regression: the predicted probability of a value <= the target; no hits;
                      index is the pc_form */
} pc_view_kind;

/* Compared bytewise: initialise all bytes. */
typedef struct pc_view {
  int32_t kind;
  int32_t index;
  int32_t by_label; /* one part for each predicted label */
} pc_view;

/* The view of regression. */
pc_view pc_view_pit(const pc_layout *layout);

/* True if a view has a score for every class of a row.  Its columns are empty: machines read
 * rows->probs and rows->labels. */
int pc_view_is_every_class(const pc_view *view);

/* One entry for each row; the columns may point into the rows.  Empty for views of every
 * class. */
typedef struct pc_view_columns {
  const double *score;
  const uint8_t *hit;
  const uint32_t *part; /* predicted label, or NULL when there is one part */
  double *score_space;
  uint8_t *hit_space;
  uint32_t *part_space;
} pc_view_columns;

/* The number of parts that a view divides the scores into. */
size_t pc_view_parts(const pc_view *view, const pc_layout *layout);

/* The number of scores of one row. */
size_t pc_view_scores_per_row(const pc_view *view, const pc_layout *layout);

PC_CHECKED pcal_status pc_view_columns_new(const pcal_env *env, const pc_view *view,
                                           size_t capacity, pc_view_columns *out,
                                           pcal_error *err);
void pc_view_columns_free(const pcal_env *env, pc_view_columns *columns);

/* Ties between classes go to the lower index. */
void pc_view_fill(const pc_view *view, const pc_rows *rows, pc_view_columns *columns);

#endif
