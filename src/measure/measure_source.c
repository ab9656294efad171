#include "measure/measure_source.h"

#include "curve/class_counts.h"
#include "io/source.h"
#include "measure/refine_curves.h"
#include "measure/sums_on_device.h"

#define SOURCE_WINDOW_BYTES ((size_t)64 << 20)
#define SOURCE_WINDOW_ROWS ((size_t)1 << 24)
/* With fewer rows all scores are kept and sorted.  Rows of several columns, whose scores come
 * from a softmax, cost more to read again than to sort. */
#define SOURCE_COARSE_ROWS ((uint64_t)1 << 16)
#define SOURCE_COARSE_ROWS_WIDE ((uint64_t)1 << 24)
/* The same for the scores of all classes: in a curve for each class, which are counted together
 * (curve/class_counts.h) up to PC_CLASS_COUNTS_CLASSES_MAX classes, and in one curve.  Buckets of
 * more curves do not fit a cache, and reading again is much slower: it begins where keeping the
 * scores would take gigabytes. */
#define SOURCE_COUNTED_SCORES ((uint64_t)1 << 21)
#define SOURCE_COARSE_CLASSES 16
#define SOURCE_COARSE_SCORES ((uint64_t)1 << 24)
#define SOURCE_COARSE_SCORES_MANY ((uint64_t)1 << 28)

/* True if the device of the source adds up its rows. */
static int source_sums_on_device(const pcal_source *source, const pcal_measure *measure) {
  return (pc_source_on_device(source) || pc_source_uploads(source)) &&
         pc_measure_plan_fits_device(&measure->plan);
}

/* Rows on a device are not divided: it works on all of them at once, or copies pieces itself. */
static size_t source_window(const pcal_source *source, const pcal_measure *measure,
                            const pcal_shape *shape) {
  const size_t row =
      shape->columns * (shape->type == PCAL_F32 ? sizeof(float) : sizeof(double));
  const size_t rows = pc_source_on_device(source) || source_sums_on_device(source, measure)
                          ? SOURCE_WINDOW_ROWS
                          : SOURCE_WINDOW_BYTES / (row == 0 ? 1 : row);
  return rows < 1 ? 1 : rows > SOURCE_WINDOW_ROWS ? SOURCE_WINDOW_ROWS : rows;
}

/* True if rows can be read again and need not be kept. */
static int source_can_read_again(const pcal_shape *shape) {
  return shape->row_count != PCAL_NO_ROW && !shape->weighted && !shape->grouped;
}

static int source_many_rows(const pcal_shape *shape) {
  return shape->row_count >=
         (shape->columns == 1 ? SOURCE_COARSE_ROWS : SOURCE_COARSE_ROWS_WIDE);
}

static int source_has_scores(const pcal_shape *shape, const pc_layout *layout,
                             uint64_t enough) {
  return shape->row_count >= enough / layout->classes;
}

static int source_many_counted(const pcal_shape *shape, const pc_layout *layout) {
  return source_has_scores(shape, layout,
                           layout->classes <= PC_CLASS_COUNTS_CLASSES_MAX
                               ? SOURCE_COUNTED_SCORES
                               : SOURCE_COARSE_SCORES_MANY);
}

static int source_many_pooled(const pcal_shape *shape, const pc_layout *layout) {
  return source_has_scores(shape, layout,
                           layout->classes <= SOURCE_COARSE_CLASSES
                               ? SOURCE_COARSE_SCORES
                               : SOURCE_COARSE_SCORES_MANY);
}

static pcal_status source_read(pcal_source *source, pcal_measure *measure, pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(source, &shape);
  const uint64_t total = shape.row_count == PCAL_NO_ROW ? 0 : shape.row_count;
  const size_t window = source_window(source, measure, &shape);
  measure->device = pc_source_device(source);
  for (uint64_t done = 0;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    pc_lazy_labels lazy_labels;
    PC_TRY(pc_source_next_lazy(source, window, &batch, &lazy_labels, err));
    if (batch.rows == 0)
      return pc_measure_settle(measure, err);
    if (source_sums_on_device(source, measure))
      PC_TRY(pc_source_upload(source, &batch, err));
    PC_TRY(pc_measure_add_window(measure, &batch, &lazy_labels, err));
    if (batch.device != NULL)
      measure->device = batch.device;
    done += batch.rows;
    pc_progress(&measure->env, "measuring", done, total);
    PC_TRY(pc_check_interrupt(&measure->env, err));
  }
}

static pcal_status source_all(pcal_source *source, pcal_measure *measure, int final,
                              pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(source, &shape);
  const int buckets = final && measure->plan.rows_slot == PC_NO_SLOT &&
                      source_can_read_again(&shape) && !measure->curves;
  if (buckets && !source_sums_on_device(source, measure))
    pc_measure_plan_share_grids(&measure->plan);
  if (buckets)
    pc_measure_plan_use_buckets(&measure->plan, source_many_rows(&shape),
                                source_many_counted(&shape, &measure->plan.layout),
                                source_many_pooled(&shape, &measure->plan.layout), shape.type);
  PC_TRY(source_read(source, measure, err));
  if (!final) /* the measure may outlive the device */
    measure->device = NULL;
  if (buckets)
    PC_TRY(
        pc_measure_refine_curves(measure, source, source_window(source, measure, &shape), err));
  pc_source_shape(source, &shape);
  return pc_measure_set_names(measure, shape.class_names,
                              shape.class_names == NULL ? 0 : shape.columns, shape.group_names,
                              shape.group_count, err);
}

pcal_status pc_measure_source(pcal_source *source, const pcal_measure_config *config, int final,
                              const pcal_env *env, pcal_measure **out, pcal_error *err) {
  pcal_measure_config full = *config;
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(source, &shape);
  full.kind = shape.kind;
  full.columns = shape.columns;
  full.levels = shape.levels;
  if (!shape.labelled)
    return pc_fail(err, PCAL_USAGE, "measuring needs the true outcomes; give them with %-s",
                   pc_kind_outcome_argument(shape.kind));
  if (!final)
    PC_TRY(pc_source_check_parts(source, err));
  pcal_measure *measure = NULL;
  PC_TRY(pc_measure_new(&full, env, &measure, err));
  if (measure->plan.by_index != NULL) /* blocks need the indices of the whole data set */
    pc_source_count_from_zero(source);
  const pcal_status status = source_all(source, measure, final, err);
  if (status != PCAL_OK) {
    pc_measure_free(measure);
    return status;
  }
  *out = measure;
  return PCAL_OK;
}

pcal_status pc_measure_once(pcal_source *source, const pcal_measure_config *config,
                            const pcal_env *env, pcal_results **out, pcal_error *err) {
  pcal_measure *measure = NULL;
  PC_TRY(pc_measure_source(source, config, 1, env, &measure, err));
  const pcal_status status = pc_measure_finish(measure, out, err);
  pc_measure_free(measure);
  if (status == PCAL_OK)
    (*out)->abstains = pc_source_abstentions(source, &(*out)->abstained);
  return status;
}

pcal_status pc_measure_whole(pcal_source *source, const pcal_measure_config *config,
                             const pcal_env *env, pcal_results **out, pcal_error *err) {
  PC_TRY(pc_source_rewind(source, err));
  return pc_measure_once(source, config, env, out, err);
}

pcal_status pc_measure_batch(const pcal_batch *batch, const pcal_measure_config *config,
                             const pcal_env *env, pcal_results **out, pcal_error *err) {
  pcal_measure *measure = NULL;
  PC_TRY(pc_measure_new(config, env, &measure, err));
  pcal_status status = pc_measure_update(measure, batch, err);
  if (status == PCAL_OK)
    status = pc_measure_finish(measure, out, err);
  pc_measure_free(measure);
  return status;
}
