#include "api/name_checks.h"

#include <string.h>

#include "base/aliases.h"
#include "base/options.h"

/* The name of a spec under the names of one registry; returns 0 if it has none. */
static int name_of_spec(pcal_registry registry, const char *spec, char *out, size_t size) {
  char resolved[PC_SPEC_MAX];
  return pc_spec_resolve(registry, spec, resolved, NULL) == PCAL_OK &&
         pc_spec_name(resolved, out, size, NULL) == PCAL_OK;
}

/* The row with this name, or else the nearest name, or NULL. */
static const char *name_in(pcal_registry registry, const char *spec, int nearest) {
  char name[64];
  if (!name_of_spec(registry, spec, name, sizeof name))
    return NULL;
  const pcal_registry_row *row = pcal_registry_find(registry, name);
  return row != NULL ? row->name : nearest ? pcal_registry_nearest(registry, name) : NULL;
}

static int name_is_metric(const char *spec) {
  return name_in(PCAL_METRICS, spec, 1) != NULL || name_in(PCAL_GROUPS, spec, 1) != NULL;
}

pcal_status pc_check_metric_name(const char *spec, pcal_error *err) {
  static const struct {
    pcal_registry registry;
    const char *kind, *remedy;
  } others[] = {
      {PCAL_CALIBRATORS, "calibrator", "fit it with {fit_calibrator}, then measure its output"},
      {PCAL_FIGURES, "figure", "draw it with {plot_figure}"}};
  char name[64];
  if (name_is_metric(spec) || !name_of_spec(PCAL_METRICS, spec, name, sizeof name))
    return PCAL_OK;
  for (int nearest = 0; nearest < 2; nearest++)
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
      const char *found = name_in(others[i].registry, spec, nearest);
      if (found != NULL)
        return pc_fail(err, PCAL_USAGE,
                       nearest ? "unknown metric \"%s\" (did you mean the %s "
                                 "\"%s\"?); %-s"
                               : "\"%s\" is not a metric but the %s %s; %-s",
                       name, others[i].kind, found, others[i].remedy);
    }
  return PCAL_OK;
}

pcal_status pc_check_model_names(const pcal_model *models, size_t count, pcal_error *err) {
  for (size_t i = 1; i < count; i++)
    for (size_t j = 0; j < i; j++)
      if (models[i].name != NULL && models[j].name != NULL &&
          strcmp(models[i].name, models[j].name) == 0)
        return pc_fail(err, PCAL_USAGE,
                       "two models are called \"%s\"; give each a name of its own",
                       models[i].name);
  return PCAL_OK;
}
