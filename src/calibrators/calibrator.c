#include "calibrators/calibrator.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "calibrators/group_calibrators.h"
#include "measure/results.h"

#define CALIBRATOR(file, symbol) extern const pc_calibrator_method pc_calibrator_##symbol;
#include "calibrators/registry.def"
#undef CALIBRATOR

static const pc_calibrator_method *const calibrator_rows[] = {
#define CALIBRATOR(file, symbol) &pc_calibrator_##symbol,
#include "calibrators/registry.def"
#undef CALIBRATOR
};

size_t pc_calibrator_method_count(void) {
  return sizeof calibrator_rows / sizeof *calibrator_rows;
}

const pc_calibrator_method *pc_calibrator_method_at(size_t index) {
  return index < pc_calibrator_method_count() ? calibrator_rows[index] : NULL;
}

const pc_calibrator_method *pc_calibrator_method_find(const char *name) {
  for (size_t i = 0; i < pc_calibrator_method_count(); i++)
    if (strcmp(calibrator_rows[i]->row.name, name) == 0)
      return calibrator_rows[i];
  return NULL;
}

static const char *calibrator_next_name(void *user, size_t i) {
  (void)user;
  return i < pc_calibrator_method_count() ? calibrator_rows[i]->row.name : NULL;
}

pcal_status pc_calibrator_parse(const char *spec, const pc_calibrator_method **row,
                                pc_options *options, pcal_error *err) {
  char name[64];
  PC_TRY(pc_spec_name(spec, name, sizeof name, err));
  *row = pc_calibrator_method_find(name);
  if (*row == NULL) {
    const char *near = pc_nearest_word(name, calibrator_next_name, NULL);
    return pc_fail(err, PCAL_USAGE,
                   "there is no calibrator \"%s\"%s%s%s; {list_calibrators} shows them all",
                   name, near == NULL ? "" : " (did you mean \"", near == NULL ? "" : near,
                   near == NULL ? "" : "\"?)");
  }
  const pcal_registry_row *about = &(*row)->row;
  return pc_options_parse(spec, about->name, about->options, about->option_count, options, err);
}

pcal_status pc_calibrator_new(const pcal_env *env, const pc_calibrator_method *row,
                              const pc_options *options, const pc_layout *layout,
                              pcal_calibrator **out, pcal_error *err) {
  pcal_calibrator *calibrator = pc_alloc(env, 1, sizeof *calibrator);
  *out = calibrator;
  if (calibrator == NULL)
    return pc_fail_memory(err, "making a calibrator");
  calibrator->env = *env;
  calibrator->row = row;
  calibrator->options = *options;
  calibrator->layout = *layout;
  return PCAL_OK;
}

void pc_calibrator_free(pcal_calibrator *calibrator) {
  if (calibrator == NULL)
    return;
  const pcal_env env = calibrator->env;
  calibrator->row->release(calibrator);
  pc_group_calibrators_free(&env, calibrator->grouping);
  pc_name_list_free(&env, calibrator->class_names, calibrator->layout.columns);
  pc_free(&env, calibrator);
}

pcal_status pc_calibrator_check_layout(const pc_calibrator_method *row, const pc_layout *layout,
                                       pcal_error *err) {
  const int regression = layout->form != PC_FORM_CLASSES;
  if (regression != (row->row.task == PCAL_REGRESSION) && (row->traits & PC_ANY_TASK) == 0)
    return pc_fail(err, PCAL_USAGE,
                   regression
                       ? "%s is about classes, and these data are predictions of a "
                         "number; take variance-platt, variance-scale or "
                         "quantile-isotonic"
                       : "%s is about predictions of a number, and these data are scores "
                         "of classes; take another method, such as temperature",
                   row->row.name);
  if (layout->kind != PCAL_CONFIDENCE || (row->traits & PC_TAKES_CONFIDENCE) != 0)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "%s needs the scores of all classes; give them as {logits} or {probs} instead "
                 "of {confidence}",
                 row->row.name);
}

const char *pc_calibrator_objective(const pcal_calibrator *calibrator, char *out, size_t size) {
  const pc_options *options = &calibrator->options;
  for (size_t i = 0; i < options->count; i++)
    if (strcmp(options->table[i].name, "objective") == 0)
      return pc_options_word(options, i, out, size);
  return calibrator->row->objective == NULL ? NULL : calibrator->row->objective(calibrator);
}

size_t pc_calibrator_columns(const pcal_calibrator *calibrator) {
  return calibrator->row->columns == NULL ? calibrator->layout.columns
                                          : calibrator->row->columns(calibrator);
}

unsigned pc_calibrator_traits(const pcal_calibrator *calibrator) {
  const pc_calibrator_method *row = calibrator->row;
  const pc_group_calibrators *grouping = calibrator->grouping;
  unsigned traits = row->traits_now == NULL ? row->traits : row->traits_now(calibrator);
  for (size_t g = 0; grouping != NULL && g < grouping->count; g++)
    traits &= pc_calibrator_traits(grouping->members[g].calibrator);
  return grouping == NULL ? traits : traits & ~(unsigned)(PC_INJECTIVE | PC_GUARDED);
}

void pc_fit_warn(pc_fit_info *fit, const char *format, ...) {
  if (fit->warning_count == PC_WARNINGS_MAX)
    return;
  va_list list;
  va_start(list, format);
  vsnprintf(fit->warnings[fit->warning_count++], PC_WARNING_SIZE, format, list);
  va_end(list);
}

const char *pc_fit_status_name(pc_fit_status status) {
  static const char *const names[] = {"", "converged", "stopped", "identity", "closed-form"};
  return names[status];
}

const char *pc_calibrator_trait_name(size_t i, unsigned *trait) {
  static const struct {
    const char *name;
    unsigned trait;
  } names[] = {{"injective", PC_INJECTIVE},
               {"keeps_accuracy", PC_KEEPS_ACCURACY},
               {"keeps_order", PC_KEEPS_ORDER},
               {"sums_to_one", PC_SUMS_TO_ONE},
               {"guarded", PC_GUARDED}};
  if (i >= sizeof names / sizeof *names)
    return NULL;
  *trait = names[i].trait;
  return names[i].name;
}
