#include "calibrators/fit.h"

#include "calibrators/fit_data_warnings.h"
#include "calibrators/group_calibrators.h"
#include "io/source.h"
#include "measure/results.h"

#define FIT_LONGEST 1e9 /* rows of all fits times columns squared: some minutes */

static pcal_status fit_shape(const pcal_source *source, pcal_shape *shape, pcal_error *err) {
  *shape = (pcal_shape){.size = sizeof *shape};
  pc_source_shape(source, shape);
  if (shape->labelled)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE, "fitting needs the true outcomes; give them with %-s",
                 pc_kind_outcome_argument(shape->kind));
}

pcal_status pc_fit_run(pcal_source *source, const pcal_fit_config *config, const pcal_env *env,
                       pcal_calibrator **out, pcal_error *err) {
  const pc_calibrator_method *row = NULL;
  pc_options options;
  pcal_shape shape;
  pc_layout layout;
  pcal_calibrator *calibrator = NULL;
  PC_TRY(pc_calibrator_parse(config->method, &row, &options, err));
  PC_TRY(fit_shape(source, &shape, err));
  PC_TRY(pc_layout_make_levels(shape.kind, shape.columns, shape.levels, &layout, err));
  PC_TRY(pc_calibrator_check_layout(row, &layout, err));
  PC_TRY(pc_calibrator_new(env, row, &options, &layout, &calibrator, err));
  calibrator->normalize = config->normalize != 0;
  const pc_fit_task task = {source, env, config->skip_missing, calibrator};
  pcal_status status =
      pc_name_list_copy(env, shape.class_names, layout.columns, &calibrator->class_names, err);
  if (status == PCAL_OK)
    status = row->fit(&task, err);
  if (status == PCAL_OK)
    status = pc_fit_add_data_warnings(&task, err);
  if (status == PCAL_OK && config->by_group)
    status = pc_group_calibrators_fit(&task, config, err);
  if (status != PCAL_OK) {
    pc_calibrator_free(calibrator);
    return status;
  }
  *out = calibrator;
  return PCAL_OK;
}

pcal_status pc_fit_check_cost(const char *method, uint64_t rows, size_t columns,
                              pcal_error *err) {
  const double square = (double)columns * (double)columns;
  const pc_calibrator_method *row = NULL;
  pc_options options;
  PC_TRY(pc_calibrator_parse(method, &row, &options, err));
  if (!(row->traits & PC_SQUARE) || (double)rows * square <= FIT_LONGEST)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "%s has %.0f parameters or more for %zu classes and would take very long; ask "
                 "for it with {method_begin}%s{method_end}",
                 method, square, columns, method);
}
