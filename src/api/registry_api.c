/* Public entry points for the registry. */
#include <string.h>

#include "base/aliases.h"
#include "base/text.h"
#include "calibrators/calibrator.h"
#include "figure/figure_registry.h"
#include "metrics/metric.h"
#include "studies/study.h"

static const pcal_registry_row *registry_metric(size_t index) {
  const pc_metric *metric = pc_metric_at(index);
  return metric == NULL ? NULL : &metric->row;
}

static const pcal_registry_row *registry_calibrator(size_t index) {
  const pc_calibrator_method *calibrator = pc_calibrator_method_at(index);
  return calibrator == NULL ? NULL : &calibrator->row;
}

static const pcal_registry_row *registry_convention(size_t index) {
  static const pcal_registry_row rows[] = {
#define CONVENTION(symbol, its_name, rule, mass, its_title, its_about) \
  {.registry = PCAL_CONVENTIONS, .name = its_name, .title = its_title, .about = its_about},
#include "metrics/conventions.def"
#undef CONVENTION
  };
  return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}

static const struct registry_table {
  const char *name;
  const pcal_registry_row *(*at)(size_t index);
} registry_tables[] = {
    [PCAL_METRICS] = {"metrics", registry_metric},
    [PCAL_GROUPS] = {"groups", pc_metric_group_at},
    [PCAL_NOTIONS] = {"notions", pc_calibration_notion_at},
    [PCAL_CONVENTIONS] = {"conventions", registry_convention},
    [PCAL_CALIBRATORS] = {"calibrators", registry_calibrator},
    [PCAL_FIGURES] = {"figures", pc_figure_row_at},
    [PCAL_STUDIES] = {"studies", pc_study_row_at},
};

/* NULL for an unknown number. */
static const struct registry_table *registry_table_at(pcal_registry registry) {
  return registry >= PCAL_METRICS && registry <= PCAL_STUDIES ? &registry_tables[registry]
                                                              : NULL;
}

const char *pcal_registry_name(pcal_registry registry) {
  const struct registry_table *table = registry_table_at(registry);
  return table == NULL ? NULL : table->name;
}

pcal_registry pcal_registry_by_name(const char *name) {
  for (int i = PCAL_METRICS; name != NULL && i <= PCAL_STUDIES; i++)
    if (strcmp(registry_tables[i].name, name) == 0)
      return (pcal_registry)i;
  return (pcal_registry)0;
}

const pcal_registry_row *pcal_registry_at(pcal_registry registry, size_t index) {
  const struct registry_table *table = registry_table_at(registry);
  return table == NULL ? NULL : table->at(index);
}

size_t pcal_registry_count(pcal_registry registry) {
  size_t count = 0;
  while (pcal_registry_at(registry, count) != NULL)
    count++;
  return count;
}

/* The registry's name for a name or an alias.  An alias may stand for a spec with options. */
static const char *registry_resolve(pcal_registry registry, const char *name,
                                    char spec[PC_SPEC_MAX]) {
  const int aliased =
      registry == PCAL_METRICS || registry == PCAL_CALIBRATORS || registry == PCAL_FIGURES;
  if (!aliased || name == NULL || strchr(name, ':') != NULL ||
      pc_spec_resolve(registry, name, spec, NULL) != PCAL_OK)
    return name;
  spec[strcspn(spec, ":")] = '\0';
  return spec;
}

const pcal_registry_row *pcal_registry_find(pcal_registry registry, const char *name) {
  char spec[PC_SPEC_MAX];
  const char *resolved = registry_resolve(registry, name, spec);
  const pcal_registry_row *row;
  for (size_t i = 0; name != NULL && (row = pcal_registry_at(registry, i)) != NULL; i++)
    if (strcmp(row->name, resolved) == 0)
      return row;
  return NULL;
}

const pcal_registry_row *pcal_registry_find_for_task(pcal_registry registry, pcal_task task,
                                                     const char *name) {
  char spec[PC_SPEC_MAX];
  const char *resolved = registry_resolve(registry, name, spec);
  const pcal_registry_row *row;
  for (size_t i = 0; name != NULL && (row = pcal_registry_at(registry, i)) != NULL; i++)
    if (row->task == task && strcmp(row->name, resolved) == 0)
      return row;
  return NULL;
}

static const char *registry_next_name(void *user, size_t i) {
  const struct registry_table *table = user;
  const pcal_registry_row *row = table->at(i);
  return row == NULL ? NULL : row->name;
}

const char *pcal_registry_nearest(pcal_registry registry, const char *name) {
  const struct registry_table *table = registry_table_at(registry);
  if (table == NULL || name == NULL)
    return NULL;
  struct registry_table copy = *table;
  return pc_nearest_word(name, registry_next_name, &copy);
}

pcal_status pcal_spec_canonical(const char *spec, char *out, size_t out_size, pcal_error *err) {
  pc_error_clear(err);
  if (spec == NULL || out == NULL || out_size == 0)
    return pc_fail(err, PCAL_USAGE, "pcal_spec_canonical needs a spec and a buffer");
  const pc_metric *metric;
  pc_options options;
  PC_TRY(pc_metric_parse(spec, &metric, &options, err));
  char text[PC_SPEC_MAX];
  pc_options_write(&options, 1, text, sizeof text);
  if (strlen(text) >= out_size)
    return pc_fail(err, PCAL_USAGE, "the canonical spec needs a buffer of %zu bytes",
                   strlen(text) + 1);
  memcpy(out, text, strlen(text) + 1);
  return PCAL_OK;
}
