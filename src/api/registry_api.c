/* The registry as callers see it: kinds of rows, found by name. */
#include <string.h>

#include "base/options.h"
#include "base/text.h"
#include "calibrators/calibrator.h"
#include "figure/figure_registry.h"
#include "metrics/metric.h"
#include "studies/study.h"

static const pcal_registry_row *catalogue_metric(size_t index) {
  const pc_metric *metric = pc_metric_at(index);
  return metric == NULL ? NULL : &metric->row;
}

static const pcal_registry_row *catalogue_calibrator(size_t index) {
  const pc_calibrator_method *calibrator = pc_calibrator_method_at(index);
  return calibrator == NULL ? NULL : &calibrator->row;
}

static const pcal_registry_row *catalogue_convention(size_t index) {
  static const pcal_registry_row rows[] = {
#define CONVENTION(symbol, its_name, rule, mass, its_title, its_about) \
  {.kind = "conventions", .name = its_name, .title = its_title, .about = its_about},
#include "metrics/conventions.def"
#undef CONVENTION
  };
  return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}

static const struct catalogue_kind {
  const char *name;
  const pcal_registry_row *(*at)(size_t index);
} catalogue_kinds[] = {
    {"metrics", catalogue_metric},         {"groups", pc_metric_group_at},
    {"notions", pc_calibration_notion_at}, {"conventions", catalogue_convention},
    {"calibrators", catalogue_calibrator}, {"figures", pc_figure_row_at},
    {"studies", pc_study_row_at},
};

static const struct catalogue_kind *catalogue_find(const char *kind) {
  for (size_t i = 0; kind != NULL && i < sizeof catalogue_kinds / sizeof *catalogue_kinds; i++)
    if (strcmp(catalogue_kinds[i].name, kind) == 0)
      return &catalogue_kinds[i];
  return NULL;
}

const pcal_registry_row *pcal_registry_at(const char *kind, size_t index) {
  const struct catalogue_kind *found = catalogue_find(kind);
  return found == NULL ? NULL : found->at(index);
}

size_t pcal_registry_count(const char *kind) {
  size_t count = 0;
  while (pcal_registry_at(kind, count) != NULL)
    count++;
  return count;
}

const pcal_registry_row *pcal_registry_find(const char *kind, const char *name) {
  const pcal_registry_row *row;
  for (size_t i = 0; name != NULL && (row = pcal_registry_at(kind, i)) != NULL; i++)
    if (strcmp(row->name, name) == 0)
      return row;
  return NULL;
}

const pcal_registry_row *pcal_registry_find_for_task(const char *kind, const char *task,
                                                     const char *name) {
  const pcal_registry_row *row;
  const int regression = task != NULL && strcmp(task, "regression") == 0;
  for (size_t i = 0; name != NULL && (row = pcal_registry_at(kind, i)) != NULL; i++)
    if ((row->task != NULL) == regression && strcmp(row->name, name) == 0)
      return row;
  return NULL;
}

static const char *catalogue_next_name(void *user, size_t i) {
  const struct catalogue_kind *kind = user;
  const pcal_registry_row *row = kind->at(i);
  return row == NULL ? NULL : row->name;
}

const char *pcal_registry_nearest(const char *kind, const char *name) {
  const struct catalogue_kind *found = catalogue_find(kind);
  if (found == NULL || name == NULL)
    return NULL;
  struct catalogue_kind copy = *found;
  return pc_nearest_word(name, catalogue_next_name, &copy);
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
