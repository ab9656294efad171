#include "calibrators/fit.h"

#include "calibrators/fit_data_warnings.h"
#include "calibrators/fit_replay.h"
#include "calibrators/group_calibrators.h"
#include "io/source.h"
#include "measure/results.h"

#define FIT_COST_MAX 1e9 /* rows of all fits times columns squared: some minutes */

static pcal_status fit_shape(const pcal_source *source, const pc_calibrator_method *method,
                             int by_group, pcal_shape *shape, pcal_error *err) {
  *shape = (pcal_shape){.size = sizeof *shape};
  pc_source_shape(source, shape);
  if (shape->labelled || (method->takes_unlabelled && !by_group))
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE, "fitting needs the true outcomes; give them with %-s",
                 pc_kind_outcome_argument(shape->kind));
}

/* Labels that are distributions over classes are weighted rows: folds and ranks of single rows
 * would divide them. */
static pcal_status fit_check_soft(const pc_calibrator_method *method,
                                  const pcal_fit_config *config, pcal_error *err) {
  if (config->by_group)
    return pc_fail(err, PCAL_USAGE,
                   "calibrators of groups need labels of one class; fit one calibrator for all "
                   "rows, or one for the rows of each group");
  return pc_method_predicts(method)
             ? PCAL_OK
             : pc_fail(err, PCAL_USAGE,
                       "%s needs labels of one class; these are distributions over classes",
                       method->row.name);
}

/* ---- Steps of a fit ---- */

typedef pcal_status (*fit_step)(const pc_fit_task *task, const pcal_fit_config *config,
                                pcal_error *err);

static pcal_status fit_method(const pc_fit_task *task, const pcal_fit_config *config,
                              pcal_error *err) {
  (void)config;
  return task->calibrator->method->fit(task, err);
}

static pcal_status fit_warnings(const pc_fit_task *task, const pcal_fit_config *config,
                                pcal_error *err) {
  (void)config;
  return pc_fit_add_data_warnings(task, err);
}

/* Runs one step with scratch memory that is freed after it. */
static pcal_status fit_run_step(fit_step step, const pc_fit_task *task,
                                const pcal_fit_config *config, pcal_error *err) {
  pc_arena scratch;
  pc_fit_task own = *task;
  PC_TRY(pc_arena_open(&scratch, task->env, err));
  own.env = &scratch.env;
  const pcal_status status = step(&own, config, err);
  pc_arena_close(&scratch);
  return status;
}

/* Fits to weights in units of effective rows, where they are importance weights.  The passes of
 * rounds do this themselves (fit_replay.h). */
static pcal_status fit_weighted(fit_step step, const pc_fit_task *task,
                                const pcal_fit_config *config, pcal_error *err) {
  pcal_weights meaning = PCAL_WEIGHTS_FREQUENCY;
  pc_fit_info *fit = &task->calibrator->fit;
  if (task->replay == NULL)
    PC_TRY(pc_source_scale_weights(task->source, &meaning, err));
  const pcal_status status = fit_run_step(step, task, config, err);
  if (task->replay == NULL)
    pc_source_restore_weights(task->source);
  else if (task->replay->unit > 0.0)
    meaning = PCAL_WEIGHTS_IMPORTANCE;
  fit->weights_are = fit->weighted ? meaning : PCAL_WEIGHTS_AUTO;
  return status;
}

/* The fit to all rows and, unless the method has done so, those to groups. */
static pcal_status fit_rows(const pc_fit_task *task, const pcal_fit_config *config,
                            pcal_error *err) {
  const int each = config->by_group && !task->calibrator->method->fits_groups;
  PC_TRY(fit_run_step(fit_method, task, config, err));
  PC_TRY(fit_run_step(fit_warnings, task, config, err));
  return each ? fit_run_step(pc_group_calibrators_fit, task, config, err) : PCAL_OK;
}

/* Fits a calibrator without parameters. */
static pcal_status fit_calibrator(const pc_fit_task *task, const pcal_fit_config *config,
                                  const pcal_shape *shape, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  calibrator->normalize = config->normalize != 0;
  PC_TRY(pc_name_list_copy(&calibrator->env, shape->class_names, calibrator->layout.columns,
                           &calibrator->class_names, err));
  return fit_weighted(fit_rows, task, config, err);
}

static pcal_status fit_source(pcal_source *source, const pcal_fit_config *config,
                              const pcal_calibrator *like, pc_fit_replay *replay,
                              const pcal_env *env, pcal_calibrator **out, pcal_error *err) {
  const pc_calibrator_method *method = NULL;
  pc_options options;
  pcal_shape shape;
  pc_layout layout;
  pcal_calibrator *calibrator = NULL;
  PC_TRY(pc_calibrator_parse(config->method, &method, &options, err));
  if (config->by_group && !pc_method_predicts(method))
    return pc_fail(err, PCAL_USAGE,
                   "%s cannot be mixed between groups; fit one calibrator for each group",
                   method->row.name);
  PC_TRY(fit_shape(source, method, config->by_group, &shape, err));
  if (pc_source_is_soft(source))
    PC_TRY(fit_check_soft(method, config, err));
  PC_TRY(pc_layout_make_levels(shape.kind, shape.columns, shape.levels, &layout, err));
  PC_TRY(pc_calibrator_check_layout(method, &layout, err));
  PC_TRY(pc_calibrator_new(env, method, &options, &layout, &calibrator, err));
  const pc_fit_task task = {source, env,    config->skip_missing, calibrator,
                            like,   replay, config->by_group};
  const pcal_status status = fit_calibrator(&task, config, &shape, err);
  if (pc_source_is_soft(source))
    calibrator->fit.rows = pc_source_soft_rows(source) - calibrator->fit.skipped;
  if (status == PCAL_OK)
    *out = calibrator;
  else
    pc_calibrator_free(calibrator);
  return status;
}

pcal_status pc_fit_run_like(pcal_source *source, const pcal_fit_config *config,
                            const pcal_calibrator *like, const pcal_env *env,
                            pcal_calibrator **out, pcal_error *err) {
  return fit_source(source, config, like, NULL, env, out, err);
}

pcal_status pc_fit_run_replay(pcal_source *source, const pcal_fit_config *config,
                              pc_fit_replay *replay, const pcal_env *env, pcal_calibrator **out,
                              pcal_error *err) {
  return fit_source(source, config, NULL, replay, env, out, err);
}

pcal_status pc_fit_run(pcal_source *source, const pcal_fit_config *config, const pcal_env *env,
                       pcal_calibrator **out, pcal_error *err) {
  return pc_fit_run_like(source, config, NULL, env, out, err);
}

pcal_status pc_fit_check_cost(const char *spec, uint64_t rows, size_t columns,
                              pcal_error *err) {
  const double square = (double)columns * (double)columns;
  const pc_calibrator_method *method = NULL;
  pc_options options;
  PC_TRY(pc_calibrator_parse(spec, &method, &options, err));
  if (!(method->traits & PC_SQUARE) || (double)rows * square <= FIT_COST_MAX)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "%s has %.0f parameters or more for %zu classes and would take very long; to "
                 "fit it anyway, name it with {method_begin}%s{method_end}",
                 spec, square, columns, spec);
}
