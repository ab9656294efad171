#include "calibrators/calibrator.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/aliases.h"
#include "calibrators/group_calibrators.h"

#define CALIBRATOR(file, symbol) extern const pc_calibrator_method pc_calibrator_##symbol;
#include "calibrators/registry.def"
#undef CALIBRATOR

static const pc_calibrator_method *const calibrator_methods[] = {
#define CALIBRATOR(file, symbol) &pc_calibrator_##symbol,
#include "calibrators/registry.def"
#undef CALIBRATOR
};

size_t pc_calibrator_method_count(void) {
  return sizeof calibrator_methods / sizeof *calibrator_methods;
}

const pc_calibrator_method *pc_calibrator_method_at(size_t index) {
  return index < pc_calibrator_method_count() ? calibrator_methods[index] : NULL;
}

const pc_calibrator_method *pc_calibrator_method_find(const char *name) {
  for (size_t i = 0; i < pc_calibrator_method_count(); i++)
    if (strcmp(calibrator_methods[i]->row.name, name) == 0)
      return calibrator_methods[i];
  return NULL;
}

static const char *calibrator_next_name(void *user, size_t i) {
  (void)user;
  return i < pc_calibrator_method_count() ? calibrator_methods[i]->row.name : NULL;
}

pcal_status pc_calibrator_parse(const char *alias, const pc_calibrator_method **method,
                                pc_options *options, pcal_error *err) {
  char spec[PC_SPEC_MAX], name[64];
  PC_TRY(pc_spec_resolve(PCAL_CALIBRATORS, alias, spec, err));
  PC_TRY(pc_spec_name(spec, name, sizeof name, err));
  *method = pc_calibrator_method_find(name);
  if (*method == NULL) {
    const char *near = pc_nearest_word(name, calibrator_next_name, NULL);
    return pc_fail(err, PCAL_USAGE,
                   "there is no calibrator \"%s\"%s%s%s; {list_calibrators} shows them all",
                   name, near == NULL ? "" : " (did you mean \"", near == NULL ? "" : near,
                   near == NULL ? "" : "\"?)");
  }
  const pcal_registry_row *row = &(*method)->row;
  return pc_options_parse(spec, row->name, row->options, row->option_count, options, err);
}

pcal_status pc_calibrator_new(const pcal_env *env, const pc_calibrator_method *method,
                              const pc_options *options, const pc_layout *layout,
                              pcal_calibrator **out, pcal_error *err) {
  pcal_calibrator *calibrator = pc_alloc(env, 1, sizeof *calibrator);
  *out = NULL;
  if (calibrator == NULL)
    return pc_fail_memory(err, "making a calibrator");
  const pcal_status status = pc_arena_open(&calibrator->arena, env, err);
  if (status != PCAL_OK) {
    pc_free(env, calibrator);
    return status;
  }
  calibrator->env = calibrator->arena.env;
  calibrator->method = method;
  calibrator->options = *options;
  calibrator->layout = *layout;
  *out = calibrator;
  return PCAL_OK;
}

void pc_calibrator_free(pcal_calibrator *calibrator) {
  if (calibrator == NULL)
    return;
  pcal_env env = calibrator->env;
  env.allocator = calibrator->arena.parent;
  if (calibrator->groups != NULL)
    pc_group_calibrators_free(calibrator->groups);
  pc_arena_close(&calibrator->arena);
  pc_free(&env, calibrator);
}

pcal_status pc_calibrator_new_parameters(pcal_calibrator *calibrator, size_t size,
                                         pcal_error *err) {
  calibrator->parameters = pc_alloc(&calibrator->env, 1, size);
  return calibrator->parameters == NULL ? pc_fail_memory(err, "making a calibrator") : PCAL_OK;
}

pcal_status pc_calibrator_check_layout(const pc_calibrator_method *method,
                                       const pc_layout *layout, pcal_error *err) {
  const int regression = layout->form != PC_FORM_CLASSES;
  if (layout->form == PC_FORM_DISTANCES)
    return pc_fail(
        err, PCAL_USAGE,
        "%s calibrates one number at a time, and {target} has several columns; give one "
        "of them, with its samples",
        method->row.name);
  if (regression != (method->row.task == PCAL_REGRESSION) &&
      (method->traits & PC_ANY_TASK) == 0)
    return pc_fail(err, PCAL_USAGE,
                   regression ? "%s calibrates class probabilities, and these data are "
                                "predictions of a number; use variance-platt, variance-scale "
                                "or quantile-isotonic"
                              : "%s calibrates predictions of a number, and these data are "
                                "scores of classes; use another method, such as temperature",
                   method->row.name);
  if (layout->kind != PCAL_CONFIDENCE || (method->traits & PC_TAKES_CONFIDENCE) != 0)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "%s needs the scores of all classes; give them as {logits} or {probs} instead "
                 "of {confidence}",
                 method->row.name);
}

const char *pc_calibrator_objective(const pcal_calibrator *calibrator, char *out, size_t size) {
  const pc_options *options = &calibrator->options;
  for (size_t i = 0; i < options->count; i++)
    if (strcmp(options->table[i].name, "objective") == 0)
      return pc_options_word(options, i, out, size);
  return calibrator->method->objective == NULL ? NULL
                                               : calibrator->method->objective(calibrator);
}

int pc_method_predicts(const pc_calibrator_method *method) {
  return !method->makes_sets && method->output_names == NULL;
}

size_t pc_calibrator_columns(const pcal_calibrator *calibrator) {
  return calibrator->method->output_columns == NULL
             ? calibrator->layout.columns
             : calibrator->method->output_columns(calibrator);
}

unsigned pc_calibrator_traits(const pcal_calibrator *calibrator) {
  const pc_calibrator_method *method = calibrator->method;
  const pc_group_calibrators *groups = calibrator->groups;
  unsigned traits =
      method->fitted_traits == NULL ? method->traits : method->fitted_traits(calibrator);
  for (size_t g = 0; groups != NULL && g < groups->count; g++)
    traits &= pc_calibrator_traits(groups->members[g].calibrator);
  return groups == NULL ? traits : traits & ~(unsigned)(PC_INJECTIVE | PC_GUARDED);
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
