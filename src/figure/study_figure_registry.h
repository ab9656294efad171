/* Figures of studies, drawn from their tables. */
#ifndef PC_STUDY_FIGURE_REGISTRY_H
#define PC_STUDY_FIGURE_REGISTRY_H

#include "figure/figure.h"
#include "studies/findings.h"

/* A row of study_figures.def. */
typedef struct pc_study_figure {
  const char *study;
  double width, height; /* in figure units, when not told otherwise */
  pcal_status (*build)(const pc_findings *findings, pc_figure *figure, pcal_error *err);
} pc_study_figure;

/* Of the configuration width, height and title count. */
PC_CHECKED pcal_status pc_study_figure_draw(const pc_findings *findings,
                                            const pcal_figure_config *config, pc_figure *figure,
                                            pcal_error *err);

#endif
