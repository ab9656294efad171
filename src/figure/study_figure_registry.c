#include "figure/study_figure_registry.h"

#include <string.h>

#define STUDY_FIGURE(file, symbol) extern const pc_study_figure pc_study_figure_##symbol;
#include "figure/study_figures.def"
#undef STUDY_FIGURE

static const pc_study_figure *const study_figure_registry_rows[] = {
#define STUDY_FIGURE(file, symbol) &pc_study_figure_##symbol,
#include "figure/study_figures.def"
#undef STUDY_FIGURE
};

static pcal_status study_figure_registry_find(const char *study, const pc_study_figure **out,
                                              pcal_error *err) {
  for (size_t i = 0; i < sizeof study_figure_registry_rows / sizeof *study_figure_registry_rows;
       i++)
    if (strcmp(study_figure_registry_rows[i]->study, study) == 0) {
      *out = study_figure_registry_rows[i];
      return PCAL_OK;
    }
  return pc_fail(err, PCAL_USAGE,
                 "study %s has no figure; its tables can be written as text, json, csv and md",
                 study);
}

pcal_status pc_study_figure_draw(const pc_findings *findings, const pcal_figure_config *config,
                                 pc_figure *figure, pcal_error *err) {
  const pc_study_figure *row = NULL;
  PC_TRY(study_figure_registry_find(findings->study, &row, err));
  pc_figure_set_config(figure, config, row->width, row->height);
  PC_TRY(row->build(findings, figure, err));
  return pc_figure_status(figure, err);
}
