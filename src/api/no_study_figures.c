/* Replaces the figures of studies in the page for the browser, which has no studies. */
#include "api/left_out.h"
#include "figure/study_figure_registry.h"

pcal_status pc_study_figure_draw(const pc_findings *findings, const pcal_figure_config *config,
                                 pc_figure *figure, pcal_error *err) {
  (void)findings;
  (void)config;
  (void)figure;
  return PC_FAIL_LEFT_OUT(err, "figures of studies", "studies");
}
