/* A few numbers in a corner of a panel, where no mark stands. */
#ifndef PC_STAT_BOX_H
#define PC_STAT_BOX_H

#include "figure/figure.h"
#include "figure/number_text.h"

typedef struct pc_stat {
  const char *name;
  char value[PC_NUMBER_TEXT_MAX];
} pc_stat;

/* After all marks.  Without a free corner the numbers stand above the panel, which gives way.
 */
void pc_figure_stat_box(pc_figure *figure, size_t panel, const pc_stat *stats, size_t count);

#endif
