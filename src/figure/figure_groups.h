/* The groups of one source as several models, for figures that draw more than one. */
#ifndef PC_FIGURE_GROUPS_H
#define PC_FIGURE_GROUPS_H

#include "calibrators/folds.h"

#define PC_FIGURE_GROUPS_MAX 24

typedef struct pc_figure_groups {
  const pcal_env *env;
  pcal_model *models; /* one for each group, sorted by name */
  size_t count;
  pc_fold_source *parts;
  char (*numbers)[32]; /* names of groups without one */
} pc_figure_groups;

/* Reads the source to find its groups, then opens a source of the rows of each, which must be
 * rewound before it is read; one may be read at a time.  Refuses more than
 * PC_FIGURE_GROUPS_MAX groups.  Close it also after a failure. */
PC_CHECKED pcal_status pc_figure_groups_open(pcal_source *source, const pcal_env *env,
                                             pc_figure_groups *out, pcal_error *err);
void pc_figure_groups_close(pc_figure_groups *groups);

#endif
