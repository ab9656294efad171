/* Replaces figure_api.c and src/figure in a build with -Dfigures=false. */
#include "api/left_out.h"
#include "figure/figure_registry.h"

static pcal_status no_figures(pcal_figure **out, pcal_error *err) {
  if (out != NULL)
    *out = NULL;
  return PC_FAIL_LEFT_OUT(err, "figures", "figures");
}

const pcal_registry_row *pc_figure_row_at(size_t index) {
  (void)index;
  return NULL;
}

pcal_status pcal_figure_run(pcal_source *source, const pcal_figure_config *config,
                            const pcal_env *env, pcal_figure **out, pcal_error *err) {
  (void)source;
  (void)config;
  (void)env;
  return no_figures(out, err);
}

pcal_status pcal_figure_from_study(const pcal_study *study, const pcal_figure_config *config,
                                   pcal_figure **out, pcal_error *err) {
  (void)study;
  (void)config;
  return no_figures(out, err);
}

void pcal_figure_free(pcal_figure *figure) {
  (void)figure;
}

pcal_status pcal_figure_from_results(const pcal_results *results, const char *figure,
                                     pcal_figure **out, pcal_error *err) {
  (void)results;
  (void)figure;
  return no_figures(out, err);
}

pcal_status pcal_figure_write(const pcal_figure *figure, pcal_format format, pcal_theme theme,
                              pcal_sink sink, void *user, pcal_error *err) {
  (void)figure;
  (void)format;
  (void)theme;
  (void)sink;
  (void)user;
  return no_figures(NULL, err);
}

pcal_status pcal_theme_parse(const char *name, pcal_theme *out, pcal_error *err) {
  (void)name;
  (void)out;
  return no_figures(NULL, err);
}
