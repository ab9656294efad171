/* A small table of statistics in a free corner of a panel. */
#ifndef PC_STAT_BOX_H
#define PC_STAT_BOX_H

#include "figure/figure.h"
#include "figure/number_text.h"

typedef struct pc_stat {
  const char *name;
  char value[PC_NUMBER_TEXT_MAX];
} pc_stat;

/* Adds the table; call after all marks.  Without a free corner the statistics are written above
 * the panel, which shrinks. */
void pc_figure_stat_box(pc_figure *figure, size_t panel, const pc_stat *stats, size_t count);

#endif
