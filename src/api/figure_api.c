/* Public entry points for figures: check arguments, then call the implementation. */
#include <math.h>
#include <string.h>

#include "api/name_checks.h"
#include "base/budget.h"
#include "figure/figure_json.h"
#include "figure/figure_measure.h"
#include "figure/figure_registry.h"
#include "figure/study_figure_registry.h"
#include "figure/svg.h"
#include "studies/study.h"

#define FIGURE_SMALLEST 240.0
#define FIGURE_LARGEST 10000.0

struct pcal_figure {
  pcal_env env;
  pc_figure figure;
};

static pcal_status figure_config(const pcal_figure_config *config, pcal_figure_config *full,
                                 pcal_error *err) {
  *full = (pcal_figure_config)PCAL_FIGURE_CONFIG_INIT;
  if (config != NULL && config->size < sizeof(size_t))
    return pc_fail(err, PCAL_USAGE, "the configuration's size is not set");
  if (config != NULL)
    memcpy(full, config, config->size < sizeof *full ? config->size : sizeof *full);
  if (!(full->interval >= 0 && full->interval < 1))
    return pc_fail(
        err, PCAL_USAGE,
        "the level of an interval must be between 0 and 1, such as 0.95; 0 means none");
  const double sides[] = {full->width, full->height};
  for (size_t i = 0; i < 2; i++)
    if (sides[i] != 0 && !(sides[i] >= FIGURE_SMALLEST && sides[i] <= FIGURE_LARGEST))
      return pc_fail(err, PCAL_USAGE, "the %s of a figure must be between 240 and 10000",
                     i == 0 ? "width" : "height");
  return full->models == NULL ? PCAL_OK
                              : pc_check_model_names(full->models, full->model_count, err);
}

static pcal_status figure_new(const pcal_env *env, pcal_figure **out, pcal_error *err) {
  pcal_figure *made = pc_alloc(env, 1, sizeof *made);
  if (made == NULL)
    return pc_fail_memory(err, "building a figure");
  made->env = *env;
  pc_figure_init(&made->figure, 0, 0, &made->env);
  *out = made;
  return PCAL_OK;
}

/* Hands the figure over, or frees it after a failure. */
static pcal_status figure_end(pcal_figure *made, pcal_status status, pcal_figure **out) {
  if (status == PCAL_OK)
    *out = made;
  else
    pcal_figure_free(made);
  return status;
}

pcal_status pcal_figure_run(pcal_source *source, const pcal_figure_config *config,
                            const pcal_env *env, pcal_figure **out, pcal_error *err) {
  pcal_figure_config full;
  pcal_figure *made = NULL;
  pc_error_clear(err);
  if (out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_figure_run needs an out pointer");
  *out = NULL;
  PC_TRY(figure_config(config, &full, err));
  if (full.figure == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_figure_run needs the name of a figure");
  for (size_t i = 0; i < full.model_count; i++)
    if (full.models == NULL || full.models[i].source == NULL || full.models[i].name == NULL)
      return pc_fail(err, PCAL_USAGE, "each of several models needs a name and a source");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  pcal_status status = figure_new(&opened, &made, err);
  if (status == PCAL_OK)
    status = figure_end(made, pc_figure_from_source(source, &full, &made->figure, err), out);
  return pc_env_close(&opened, status, err);
}

pcal_status pcal_figure_from_study(const pcal_study *study, const pcal_figure_config *config,
                                   pcal_figure **out, pcal_error *err) {
  pcal_figure_config full;
  pcal_figure *made = NULL;
  pc_error_clear(err);
  if (study == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_figure_from_study needs a study and an out pointer");
  *out = NULL;
  PC_TRY(figure_config(config, &full, err));
  pcal_status status = figure_new(&study->env, &made, err);
  if (status == PCAL_OK)
    status = figure_end(made, pc_study_figure_draw(&study->findings, &full, &made->figure, err),
                        out);
  return pc_budget_explain(&study->env, status, err);
}

pcal_status pcal_figure_from_results(const pcal_results *results, const char *figure,
                                     pcal_figure **out, pcal_error *err) {
  pcal_figure *made = NULL;
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if (results == NULL || figure == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_figure_from_results needs results, a figure and an out pointer");
  pcal_status status = figure_new(&results->env, &made, err);
  if (status == PCAL_OK)
    status = figure_end(made, pc_figure_from_results(figure, results, &made->figure, err), out);
  return pc_budget_explain(&results->env, status, err);
}

void pcal_figure_free(pcal_figure *figure) {
  if (figure == NULL)
    return;
  const pcal_env env = figure->env;
  pc_figure_free(&figure->figure);
  pc_free(&env, figure);
}

pcal_status pcal_figure_write(const pcal_figure *figure, pcal_format format, pcal_theme theme,
                              pcal_sink sink, void *user, pcal_error *err) {
  pc_text text;
  pc_error_clear(err);
  if (figure == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_figure_write needs a figure and a sink");
  if (format != PCAL_SVG && format != PCAL_JSON)
    return pc_fail(err, PCAL_USAGE, "a figure is written as PCAL_SVG or PCAL_JSON");
  if ((int)theme < PCAL_THEME_AUTO || theme > PCAL_THEME_PAGE)
    return pc_fail(err, PCAL_USAGE, "theme %d is unknown; use a value of pcal_theme",
                   (int)theme);
  pc_text_init(&text, &figure->env);
  pcal_status status = format == PCAL_SVG ? pc_svg_write(&figure->figure, theme, &text, err)
                                          : pc_figure_json_write(&figure->figure, &text, err);
  if (status == PCAL_OK)
    status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&figure->env, status, err);
}

pcal_status pcal_theme_parse(const char *name, pcal_theme *out, pcal_error *err) {
  pc_error_clear(err);
  if (out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_theme_parse needs an out pointer");
  return pc_theme_find(name, out, err);
}
