#include "measure/measure_source.h"

#include <string.h>

#include "base/text.h"
#include "curve/class_counts.h"
#include "device/device_curves.h"
#include "io/source.h"
#include "machines/machine_curve_buckets.h"
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

typedef enum source_pass {
  SOURCE_PASS_FIRST,   /* more may be added, merged or saved */
  SOURCE_PASS_LAST,    /* nothing will be */
  SOURCE_PASS_TOGETHER /* nothing will be, and groups are ignored */
} source_pass;

/* True if the device of the source adds up its rows, for some metrics.  Rows in memory are
 * taken there only if they need not be measured in memory too. */
static int source_sums_on_device(const pcal_source *source, const pcal_measure *measure) {
  return (pc_source_on_device(source) && pc_measure_plan_uses_device(&measure->plan)) ||
         (pc_source_uploads(source) && pc_device_has_kernels(pc_source_device(source)) &&
          pc_measure_plan_fits_device(&measure->plan));
}

/* True if a metric needs squared scores of a curve, which devices do not add up. */
static int source_curves_have_squares(const pcal_measure *measure) {
  for (size_t s = 0; s < measure->plan.slot_count; s++) {
    const pc_need *need = &measure->plan.slots[s].need;
    if (need->machine == PC_CURVE && (need->grid.moments & PC_MOMENT_SQUARE))
      return 1;
  }
  return 0;
}

/* True if the top scores of the rows stay on their device, in buckets, where curves need them.
 * With few rows all scores are copied and sorted. */
static int source_scores_on_device(const pcal_source *source, const pcal_measure *measure,
                                   const pcal_shape *shape) {
  return shape->kind == PCAL_LOGIT && source_sums_on_device(source, measure) &&
         pc_measure_plan_fits_device(&measure->plan) &&
         shape->row_count >= SOURCE_COARSE_ROWS && shape->row_count <= PC_DEVICE_SCORES_ROWS &&
         measure->pass.policy.probs != PC_PROBS_FAST && !source_curves_have_squares(measure);
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

/* True if some curve is one of buckets. */
static int source_has_buckets(const pc_measure_plan *plan) {
  for (size_t s = 0; s < plan->slot_count; s++)
    if (plan->slots[s].machine == &pc_machine_curve_buckets)
      return 1;
  return 0;
}

/* True if grids of stored scores may be filled from curves.  Buckets from a device have no
 * parts below the unit of grids; those of float32 are 0 outside the first bucket. */
static int source_fills_grids(const pcal_source *source, const pcal_shape *shape) {
  return shape->type == PCAL_F32 || !(pc_source_on_device(source) || pc_source_uploads(source));
}

/* True if the device of a source counts the scores of every class.  Other scores of rows on a
 * device are copied once and kept, unless that would take gigabytes. */
static int source_counts_on_device(const pcal_source *source, const pcal_shape *shape) {
  return shape->kind != PCAL_CONFIDENCE && shape->columns > 1 &&
         pc_device_has_class_curves(pc_source_holder(source), shape->type);
}

static int source_too_many(const pcal_shape *shape, const pc_layout *layout) {
  return source_has_scores(shape, layout, SOURCE_COARSE_SCORES_MANY);
}

/* Chooses buckets for curves, where rows can be read again; on a device, where they stay there. */
static void source_use_buckets(const pcal_source *source, const pcal_shape *shape,
                               pcal_measure *measure) {
  pc_measure_plan *plan = &measure->plan;
  const int there = source_scores_on_device(source, measure, shape);
  const int copied = pc_source_on_device(source);
  pc_measure_plan_use_buckets(plan, copied ? there : source_many_rows(shape) || there,
                              source_many_counted(shape, &plan->layout) &&
                                  (!copied || source_counts_on_device(source, shape)),
                              copied ? source_too_many(shape, &plan->layout)
                                     : source_many_pooled(shape, &plan->layout),
                              source_fills_grids(source, shape));
  plan->scores_on_device = there && source_has_buckets(plan);
  measure->device_scores.room = plan->scores_on_device ? shape->row_count : 0;
}

static pcal_status source_read(pcal_source *source, pcal_measure *measure, int together,
                               pcal_error *err) {
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
    if (together)
      batch.groups = NULL;
    if (source_sums_on_device(source, measure))
      PC_TRY(pc_source_upload(source, &batch, err));
    PC_TRY(pc_measure_add_window(measure, &batch, &lazy_labels, err));
    if (batch.device != NULL) {
      measure->device = batch.device;
      measure->device_stream = batch.stream;
    } else if (measure->device != NULL)
      pc_measure_note_host(measure, measure->device);
    done += batch.rows;
    pc_progress(&measure->env, "measuring", done, total);
    PC_TRY(pc_check_interrupt(&measure->env, err));
  }
}

static void source_shape(const pcal_source *source, int together, pcal_shape *shape) {
  pc_source_shape(source, shape);
  if (!together)
    return;
  shape->grouped = 0;
  shape->group_names = NULL;
  shape->group_count = 0;
}

static pcal_status source_all(pcal_source *source, pcal_measure *measure, source_pass pass,
                              pcal_error *err) {
  const int final = pass != SOURCE_PASS_FIRST, together = pass == SOURCE_PASS_TOGETHER;
  pcal_shape shape = {.size = sizeof shape};
  source_shape(source, together, &shape);
  const int buckets = final && measure->plan.rows_slot == PC_NO_SLOT &&
                      source_can_read_again(&shape) && !measure->curves;
  if (buckets && !source_sums_on_device(source, measure))
    pc_measure_plan_share_grids(&measure->plan);
  if (buckets)
    source_use_buckets(source, &shape, measure);
  PC_TRY(source_read(source, measure, together, err));
  if (!final) /* the measure may outlive the device */
    measure->device = NULL;
  if (buckets)
    PC_TRY(
        pc_measure_refine_curves(measure, source, source_window(source, measure, &shape), err));
  source_shape(source, together, &shape);
  return pc_measure_set_names(measure, shape.class_names,
                              shape.class_names == NULL ? 0 : shape.columns, shape.group_names,
                              shape.group_count, err);
}

/* ---- soft labels ---- */

/* Metrics that are linear in the truth, or a function of frequencies that are. */
static const char *const source_soft_metrics[] = {"accuracy",  "brier",         "rbs", "log",
                                                  "spherical", "decomposition", "ece", "mce",
                                                  "sce",       "cwce",          "ks"};
#define SOURCE_SOFT_COUNT (sizeof source_soft_metrics / sizeof *source_soft_metrics)

static int source_soft_allows(const pc_plan_entry *entry) {
  const pc_options *options = &entry->options;
  size_t i = 0;
  while (i < SOURCE_SOFT_COUNT && strcmp(source_soft_metrics[i], entry->metric->row.name) != 0)
    i++;
  for (size_t o = 0; o < options->count; o++)
    if (strcmp(options->table[o].name, "debias") == 0 && options->value[o].number != 0)
      return 0;
  return i < SOURCE_SOFT_COUNT;
}

static pcal_status source_soft_refuse(const pc_plan_entry *entry, pcal_error *err) {
  char names[256];
  size_t used = 0;
  for (size_t i = 0; i < SOURCE_SOFT_COUNT; i++) {
    used = pc_append(names, sizeof names, used, source_soft_metrics[i]);
    if (i + 1 < SOURCE_SOFT_COUNT)
      used = pc_append(names, sizeof names, used, i + 2 < SOURCE_SOFT_COUNT ? ", " : " or ");
  }
  return pc_fail(err, PCAL_USAGE,
                 "%s is not defined for labels that are distributions over classes; choose %s",
                 entry->metric->row.name, names);
}

static pcal_status source_soft_check(const pcal_measure *measure, pcal_error *err) {
  for (size_t e = 0; e < measure->plan.entry_count; e++)
    if (!source_soft_allows(&measure->plan.entries[e]))
      return source_soft_refuse(&measure->plan.entries[e], err);
  return PCAL_OK;
}

/* Rows are the units of intervals. */
static pcal_status source_soft_config(pcal_source *source, const pcal_shape *shape, int final,
                                      pcal_measure_config *config, pcal_error *err) {
  static const char *const usual[] = {"accuracy", "brier", "log", "ece"};
  const int unnamed = config->spec_count == 0 ||
                      (config->spec_count == 1 && strcmp(config->specs[0], "default") == 0);
  PC_TRY(pc_source_check_soft(source, err));
  if (!final)
    return pc_fail(err, PCAL_USAGE,
                   "labels that are distributions over classes cannot be saved in parts; "
                   "measure all rows at once");
  if (config->null)
    return pc_fail(
        err, PCAL_USAGE,
        "{null} draws one class for each row, and these labels are distributions over "
        "classes; remove it");
  if (unnamed) {
    config->specs = usual;
    config->spec_count = sizeof usual / sizeof *usual;
  }
  if (config->interval > 0 && !config->by_cluster) {
    if (shape->grouped)
      return pc_fail(err, PCAL_USAGE,
                     "intervals of groups need labels of one class; leave out {interval} or "
                     "{groups}");
    pc_source_use_soft_clusters(source);
    config->by_cluster = 1;
  }
  return PCAL_OK;
}

/* Parts that correct for chance take rows for draws of one class. */
static void source_soft_drop(pc_metric_result *outcome) {
  size_t kept = 0;
  for (size_t p = 0; p < outcome->part_count; p++)
    if (strstr(outcome->parts[p].name, "_debiased") == NULL)
      outcome->parts[kept++] = outcome->parts[p];
  outcome->part_count = kept;
}

/* Counts rows of the data, and their weights, in place of those of their classes. */
static void source_soft_totals(const pcal_source *source, pcal_measure *measure) {
  pc_group_state *whole = measure->groups.count == 1 ? measure->groups.states[0] : NULL;
  if (whole != NULL)
    whole->totals.rows = pc_source_soft_kept(source, &whole->totals.square);
}

static void source_soft_finish(const pcal_source *source, pcal_results *results) {
  pc_sum square;
  results->soft = 1;
  results->rows = pc_source_soft_kept(source, &square);
  for (size_t m = 0; m < results->metric_count; m++)
    source_soft_drop(&results->records[m].outcome);
}

static pcal_status source_measure(pcal_source *source, const pcal_measure_config *config,
                                  source_pass pass, const pcal_env *env, pcal_measure **out,
                                  pcal_error *err) {
  const int final = pass != SOURCE_PASS_FIRST;
  pcal_measure_config full = *config;
  pcal_shape shape = {.size = sizeof shape};
  source_shape(source, pass == SOURCE_PASS_TOGETHER, &shape);
  full.kind = shape.kind;
  full.columns = shape.columns;
  full.levels = shape.levels;
  if (!shape.labelled)
    return pc_fail(err, PCAL_USAGE, "measuring needs the true outcomes; give them with %-s",
                   pc_kind_outcome_argument(shape.kind));
  if (!final)
    PC_TRY(pc_source_check_parts(source, err));
  if (pc_source_is_soft(source))
    PC_TRY(source_soft_config(source, &shape, final, &full, err));
  if (full.by_cluster && final)
    pass = SOURCE_PASS_LAST;
  pcal_measure *measure = NULL;
  PC_TRY(pc_measure_new(&full, env, &measure, err));
  if (measure->plan.by_index != NULL) /* blocks need the indices of the whole data set */
    pc_source_count_from_zero(source);
  measure->plan.soft = pc_source_is_soft(source);
  pcal_status status = measure->plan.soft ? source_soft_check(measure, err) : PCAL_OK;
  if (status == PCAL_OK)
    status = source_all(source, measure, pass, err);
  if (status == PCAL_OK && pc_source_is_soft(source))
    source_soft_totals(source, measure);
  if (status != PCAL_OK) {
    pc_measure_free(measure);
    return status;
  }
  *out = measure;
  return PCAL_OK;
}

pcal_status pc_measure_source(pcal_source *source, const pcal_measure_config *config, int final,
                              const pcal_env *env, pcal_measure **out, pcal_error *err) {
  return source_measure(source, config, final ? SOURCE_PASS_LAST : SOURCE_PASS_FIRST, env, out,
                        err);
}

static pcal_status source_results(pcal_source *source, const pcal_measure_config *config,
                                  source_pass pass, const pcal_env *env, pcal_results **out,
                                  pcal_error *err) {
  pcal_measure *measure = NULL;
  PC_TRY(source_measure(source, config, pass, env, &measure, err));
  const pcal_status status = pc_measure_finish(measure, out, err);
  pc_measure_free(measure);
  if (status == PCAL_OK && pc_source_is_soft(source))
    source_soft_finish(source, *out);
  if (status == PCAL_OK)
    (*out)->abstains = pc_source_abstentions(source, &(*out)->abstained);
  if (status == PCAL_OK)
    (*out)->notation = pc_source_notation(source);
  return status;
}

pcal_status pc_measure_once(pcal_source *source, const pcal_measure_config *config,
                            const pcal_env *env, pcal_results **out, pcal_error *err) {
  return source_results(source, config, SOURCE_PASS_LAST, env, out, err);
}

pcal_status pc_measure_together(pcal_source *source, const pcal_measure_config *config,
                                const pcal_env *env, pcal_results **out, pcal_error *err) {
  PC_TRY(pc_source_rewind(source, err));
  return source_results(source, config, SOURCE_PASS_TOGETHER, env, out, err);
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
