/* Figures of studies, drawn from their tables. */
#ifndef PC_STUDY_FIGURE_REGISTRY_H
#define PC_STUDY_FIGURE_REGISTRY_H

#include "figure/figure.h"
#include "studies/findings.h"

/* A row of study_figures.def. */
typedef struct pc_study_figure {
  const char *study;
  double width, height; /* default size in figure units */
  pcal_status (*build)(const pc_findings *findings, pc_figure *figure, pcal_error *err);
} pc_study_figure;

/* Draws the figure of a study; uses width, height and title of the configuration. */
PC_CHECKED pcal_status pc_study_figure_draw(const pc_findings *findings,
                                            const pcal_figure_config *config, pc_figure *figure,
                                            pcal_error *err);

#endif
