#include "data/rows.h"

#include <string.h>

#include "base/number.h"
#include "kernels/dispatch.h"

#define ROWS_CHUNK_DOUBLES 65536
#define ROWS_CHUNK_MAX 4096

pc_form pc_kind_form(pcal_kind kind) {
  return kind == PCAL_MEAN_VARIANCE || kind == PCAL_MEAN_STD ? PC_FORM_GAUSSIAN
         : kind == PCAL_QUANTILES                            ? PC_FORM_QUANTILES
         : kind == PCAL_SAMPLES                              ? PC_FORM_SAMPLES
         : kind == PCAL_SAMPLE_VECTORS                       ? PC_FORM_DISTANCES
                                                             : PC_FORM_CLASSES;
}

const char *pc_kind_outcome(pcal_kind kind) {
  return pc_kind_form(kind) != PC_FORM_CLASSES ? "target"
         : kind == PCAL_CONFIDENCE             ? "correct"
                                               : "labels";
}

const char *pc_kind_outcome_argument(pcal_kind kind) {
  return pc_kind_form(kind) != PC_FORM_CLASSES ? "{target}"
         : kind == PCAL_CONFIDENCE             ? "{correct}"
                                               : "{labels}";
}

/* Checks that levels ascend strictly in (0, 1), and copies them. */
static pcal_status rows_layout_levels(pc_layout *out, const double *levels, pcal_error *err) {
  char shown[PC_NUMBER_MAX], before[PC_NUMBER_MAX];
  if (out->columns > PCAL_LEVELS_MAX)
    return pc_fail(err, PCAL_DATA, "there are %zu quantiles; at most %d levels are possible",
                   out->columns, PCAL_LEVELS_MAX);
  if (levels == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "quantiles mean nothing without their levels; give them with {levels}, as "
                   "0.05/0.5/0.95");
  for (size_t l = 0; l < out->columns; l++) {
    if (!(levels[l] > 0 && levels[l] < 1))
      return pc_fail(err, PCAL_USAGE,
                     "the level %s does not lie between 0 and 1; levels are probabilities",
                     pc_show(levels[l], shown));
    if (l > 0 && !(levels[l] > levels[l - 1]))
      return pc_fail(err, PCAL_USAGE,
                     "the level %s comes after %s; levels ascend, in the order of the columns "
                     "of quantiles",
                     pc_show(levels[l], shown), pc_show(levels[l - 1], before));
    out->levels[l] = levels[l];
  }
  return PCAL_OK;
}

static pcal_status rows_regression_layout(pcal_kind kind, size_t columns, const double *levels,
                                          pc_layout *out, pcal_error *err) {
  const pc_form form = pc_kind_form(kind);
  if (form == PC_FORM_GAUSSIAN && columns != 2)
    return pc_fail(err, PCAL_DATA,
                   "a mean and its %s are two columns, not %zu; give one of each with {mean} "
                   "and %-s",
                   kind == PCAL_MEAN_STD ? "standard deviation" : "variance", columns,
                   kind == PCAL_MEAN_STD ? "{std}" : "{variance}");
  if (form == PC_FORM_SAMPLES && columns < 2)
    return pc_fail(err, PCAL_DATA,
                   "a distribution takes at least two samples, and {samples} has one column; "
                   "give a column for each sample");
  *out = (pc_layout){.kind = kind,
                     .columns = columns,
                     .classes = form == PC_FORM_DISTANCES ? PC_DISTANCES : columns + 1,
                     .form = form};
  return form == PC_FORM_QUANTILES ? rows_layout_levels(out, levels, err) : PCAL_OK;
}

int pc_layout_equal(const pc_layout *a, const pc_layout *b) {
  if (a->kind != b->kind || a->columns != b->columns)
    return 0;
  for (size_t l = 0; a->form == PC_FORM_QUANTILES && l < a->columns; l++)
    if (a->levels[l] != b->levels[l])
      return 0;
  return 1;
}

pcal_status pc_layout_make(pcal_kind kind, size_t columns, pc_layout *out, pcal_error *err) {
  return pc_layout_make_levels(kind, columns, NULL, out, err);
}

pcal_status pc_layout_make_levels(pcal_kind kind, size_t columns, const double *levels,
                                  pc_layout *out, pcal_error *err) {
  if (pcal_kind_name(kind) == NULL)
    return pc_fail(err, PCAL_USAGE, "the kind of scores %d is unknown", (int)kind);
  if (columns == 0 || columns > PC_CLASSES_MAX)
    return pc_fail(err, PCAL_DATA, "the scores have %zu columns; between 1 and %d are possible",
                   columns, PC_CLASSES_MAX);
  if (kind == PCAL_CONFIDENCE && columns != 1)
    return pc_fail(err, PCAL_DATA,
                   "confidences have one column, not %zu; give all class probabilities as "
                   "{probs}",
                   columns);
  if (kind == PCAL_LOG_PROBABILITY && columns == 1)
    return pc_fail(err, PCAL_DATA,
                   "log-probabilities need a column for each class; give a binary score as "
                   "{logits} or {probs}");
  const size_t classes = kind == PCAL_CONFIDENCE ? 1 : columns == 1 ? 2 : columns;
  if (pc_kind_form(kind) != PC_FORM_CLASSES)
    return rows_regression_layout(kind, columns, levels, out, err);
  *out = (pc_layout){.kind = kind, .columns = columns, .classes = classes};
  return PCAL_OK;
}

int pc_layout_is_binary(const pc_layout *layout) {
  return layout->columns == 1 && layout->form == PC_FORM_CLASSES &&
         layout->kind != PCAL_CONFIDENCE;
}

size_t pc_chunk_rows(const pc_layout *layout) {
  const size_t wide = layout->columns > layout->classes ? layout->columns : layout->classes;
  const size_t rows = ROWS_CHUNK_DOUBLES / wide;
  const size_t some = rows > ROWS_CHUNK_MAX ? ROWS_CHUNK_MAX : rows;
  return some < 1 ? 1 : some < PC_NARROW_ROWS ? some : some / PC_NARROW_ROWS * PC_NARROW_ROWS;
}

/* The next array of the block, aligned to a cache line. */
static void *rows_carve(char *block, size_t *used, size_t bytes) {
  void *at = block == NULL ? NULL : block + *used;
  *used += (bytes + 63) / 64 * 64;
  return at;
}

static size_t rows_lay_out(const pc_layout *layout, char *block, pc_scratch *out) {
  const size_t n = out->capacity, k = layout->classes, m = n + PC_NARROW_ROWS;
  const size_t longest = layout->columns > k ? layout->columns : k;
  const size_t wide = longest > PC_NARROW_CLASSES * PC_NARROW_ROWS || k > PC_NARROW_CLASSES
                          ? longest
                          : PC_NARROW_CLASSES * PC_NARROW_ROWS;
  size_t used = 0;
  out->probs = rows_carve(block, &used, (k > PC_NARROW_CLASSES ? n : m) * k * sizeof(double));
  out->scores = rows_carve(block, &used, n * k * sizeof(double));
  out->terms = rows_carve(block, &used, wide * sizeof(double));
  out->lanes = rows_carve(block, &used, wide * sizeof(double));
  out->scores_row = rows_carve(block, &used, wide * sizeof(double));
  out->weights = rows_carve(block, &used, n * sizeof(double));
  out->positive = rows_carve(block, &used, n * sizeof(double));
  out->top = rows_carve(block, &used, m * sizeof(double));
  out->true_gap = rows_carve(block, &used, m * sizeof(double));
  out->others_square = rows_carve(block, &used, m * sizeof(double));
  out->log_true = rows_carve(block, &used, m * sizeof(double));
  out->ids = rows_carve(block, &used, m * sizeof(uint64_t));
  out->keys = rows_carve(block, &used, n * sizeof(uint64_t));
  out->labels = rows_carve(block, &used, m * sizeof(int32_t));
  out->top_label = rows_carve(block, &used, m * sizeof(int32_t));
  out->groups = rows_carve(block, &used, n * sizeof(uint32_t));
  out->ones = rows_carve(block, &used, n);
  return used;
}

pcal_status pc_scratch_new(const pcal_env *env, const pc_layout *layout, pc_scratch *out,
                           pcal_error *err) {
  *out = (pc_scratch){.capacity = pc_chunk_rows(layout),
                      .kernels = pc_kernels_best()->row,
                      .fast = pc_kernels_best()->fast,
                      .prob_row = pc_kernels_best()->prob_row};
  const size_t bytes = rows_lay_out(layout, NULL, out);
  out->block = pc_alloc_raw(env, bytes + 63, 1);
  if (out->block == NULL)
    return pc_fail_memory(err, "preparing to read rows");
  rows_lay_out(layout, (char *)out->block + (64 - (uintptr_t)out->block % 64) % 64, out);
  return PCAL_OK;
}

void pc_scratch_free(const pcal_env *env, pc_scratch *scratch) {
  pc_free(env, scratch->block);
  *scratch = (pc_scratch){0};
}

int pc_strides_fill(size_t rows, size_t columns, size_t size, ptrdiff_t *row_stride,
                    ptrdiff_t *column_stride) {
  if (*column_stride == 0 || columns <= 1)
    *column_stride = (ptrdiff_t)size;
  if (*row_stride != 0)
    return 1;
  *row_stride = (ptrdiff_t)(columns * size);
  return *column_stride == (ptrdiff_t)size || rows <= 1;
}

pcal_status pc_batch_resolve(const pcal_batch *given, pcal_batch *out, pcal_error *err) {
  *out = (pcal_batch)PCAL_BATCH_INIT;
  if (given->size < offsetof(pcal_batch, labels))
    return pc_fail(err, PCAL_USAGE,
                   "the size of the batch is not set; start from PCAL_BATCH_INIT");
  memcpy(out, given, given->size < sizeof *out ? given->size : sizeof *out);
  const size_t size = out->type == PCAL_F32 ? sizeof(float) : sizeof(double);
  if (!pc_strides_fill(out->rows, out->columns, size, &out->row_stride, &out->column_stride))
    return pc_fail(err, PCAL_USAGE,
                   "%s: row_stride is 0 and the columns are not contiguous; set "
                   "row_stride to the bytes from one row to the next",
                   out->scores_name == NULL ? "scores" : out->scores_name);
  return PCAL_OK;
}

int pc_row_policy_is_valid(const pc_row_policy *policy) {
  if (policy->score_alone && (policy->scores != PC_SCORES_NONE || policy->need_log))
    return 0;
  return policy->scores < PC_SCORES_ONLY ||
         !(policy->need_log || policy->need_keys || policy->probs == PC_PROBS_FILLED);
}

int pc_batch_fits_device(const pcal_batch *batch) {
  const size_t size = batch->type == PCAL_F32 ? sizeof(float) : sizeof(double);
  return batch->device == NULL || (batch->row_stride == (ptrdiff_t)(batch->columns * size) &&
                                   batch->column_stride == (ptrdiff_t)size);
}

pcal_status pc_batch_check_device(const pcal_batch *batch, const char *name, pcal_error *err) {
  if (!pc_batch_fits_device(batch))
    return pc_fail(err, PCAL_USAGE,
                   "%s: scores on a GPU must be contiguous, row after row; copy them there",
                   name);
  if (batch->device != NULL && batch->rows > 0 &&
      !pc_device_holds(batch->device, batch->scores))
    return pc_fail(
        err, PCAL_USAGE,
        "%s: the GPU that the batch names does not hold the scores; open the one that "
        "holds their address",
        name);
  return PCAL_OK;
}

pcal_status pc_batch_check(const pcal_batch *batch, const pc_layout *layout,
                           const pc_row_policy *policy, pcal_error *err) {
  const char *name = batch->scores_name == NULL ? "scores" : batch->scores_name;
  if (batch->kind != layout->kind || batch->columns != layout->columns)
    return pc_fail(err, PCAL_DATA,
                   "%s: a batch of %s with %zu columns does not fit what was made for %s with "
                   "%zu",
                   name, pcal_kind_name(batch->kind), batch->columns,
                   pcal_kind_name(layout->kind), layout->columns);
  if (batch->rows > 0 && batch->scores == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "%s: a batch needs scores; give them with {probs} or "
                   "{logits}",
                   name);
  for (size_t l = 0;
       batch->levels != NULL && layout->form == PC_FORM_QUANTILES && l < layout->columns; l++)
    if (batch->levels[l] != layout->levels[l])
      return pc_fail(err, PCAL_DATA,
                     "%s: a batch of quantiles has other levels than what was made for it",
                     name);
  const int regression = layout->form != PC_FORM_CLASSES;
  if (layout->form == PC_FORM_DISTANCES && batch->rows > 0 &&
      (batch->dimensions == 0 || batch->columns % batch->dimensions != 0 ||
       batch->columns / batch->dimensions < 2))
    return pc_fail(
        err, PCAL_USAGE,
        "%s: %zu columns are not two or more samples of %zu numbers; set dimensions to "
        "the numbers of a sample",
        name, batch->columns, batch->dimensions);
  if (batch->rows > 0 && !policy->unlabelled &&
      (regression ? batch->targets == NULL : batch->labels == NULL))
    return pc_fail(err, PCAL_USAGE, "%s: a batch needs %-s; give them with %-s", name,
                   regression ? "targets" : "labels", pc_kind_outcome_argument(layout->kind));
  if (batch->type != PCAL_F32 && batch->type != PCAL_F64)
    return pc_fail(err, PCAL_USAGE, "%s: scores must be float32 or float64", name);
  return pc_batch_check_device(batch, name, err);
}

int pc_batch_has_stored_rows(const pcal_batch *batch) {
  const size_t size = batch->type == PCAL_F32 ? sizeof(float) : sizeof(double);
  return batch->device == NULL && batch->columns == 1 && batch->kind != PCAL_LOGIT &&
         batch->weights == NULL && batch->groups == NULL &&
         batch->row_stride == (ptrdiff_t)size && (uintptr_t)batch->scores % size == 0;
}

/* Scores and labels in one loop: reading two streams together is faster than one after the
 * other. */
#define ROWS_PLAIN(name, type)                                                            \
  static int name(const type *scores, const int32_t *labels, size_t count, uint32_t *any, \
                  uint32_t *all) {                                                        \
    uint32_t some = 0, each = 1, outside = 0;                                             \
    for (size_t i = 0; i < count; i++) {                                                  \
      some |= (uint32_t)labels[i];                                                        \
      each &= (uint32_t)labels[i];                                                        \
      outside |= (uint32_t)(!(scores[i] >= 0) | !(scores[i] <= 1)); /* or NaN */          \
    }                                                                                     \
    *any = some;                                                                          \
    *all = each;                                                                          \
    return some <= 1 && !outside;                                                         \
  }

ROWS_PLAIN(rows_plain_f32, float)
ROWS_PLAIN(rows_plain_f64, double)

int pc_stored_rows_are_plain(pc_stored_rows *rows) {
  uint32_t any, all;
  const int plain = rows->type == PCAL_F32
                        ? rows_plain_f32(rows->scores, rows->labels, rows->count, &any, &all)
                        : rows_plain_f64(rows->scores, rows->labels, rows->count, &any, &all);
  rows->label_low = (int32_t)all;
  rows->label_high = (int32_t)any;
  return plain;
}

static void rows_copy(void *to, const void *from, const size_t *positions, size_t count,
                      size_t size) {
  for (size_t i = 0; from != NULL && i < count; i++)
    memcpy((char *)to + i * size, (const char *)from + positions[i] * size, size);
}

void pc_rows_select(const pc_rows *rows, const size_t *positions, size_t count,
                    const pc_scratch *scratch, pc_rows *out) {
  const size_t row = rows->classes * sizeof(double);
  rows_copy(scratch->probs, rows->probs, positions, count, row);
  rows_copy(scratch->scores, rows->scores, positions, count, row);
  rows_copy(scratch->ids, rows->ids, positions, count, sizeof(uint64_t));
  rows_copy(scratch->keys, rows->keys, positions, count, sizeof(uint64_t));
  rows_copy(scratch->labels, rows->labels, positions, count, sizeof(int32_t));
  rows_copy(scratch->weights, rows->weights, positions, count, sizeof(double));
  rows_copy(scratch->positive, rows->positive, positions, count, sizeof(double));
  rows_copy(scratch->top, rows->top, positions, count, sizeof(double));
  rows_copy(scratch->top_label, rows->top_label, positions, count, sizeof(int32_t));
  rows_copy(scratch->true_gap, rows->true_gap, positions, count, sizeof(double));
  rows_copy(scratch->others_square, rows->others_square, positions, count, sizeof(double));
  rows_copy(scratch->log_true, rows->log_true, positions, count, sizeof(double));
  *out = (pc_rows){.count = count,
                   .classes = rows->classes,
                   .ids = scratch->ids,
                   .keys = rows->keys == NULL ? NULL : scratch->keys,
                   .labels = scratch->labels,
                   .weights = rows->weights == NULL ? NULL : scratch->weights,
                   .probs = rows->probs == NULL ? NULL : scratch->probs,
                   .positive = rows->positive == NULL ? NULL : scratch->positive,
                   .scores = rows->scores == NULL ? NULL : scratch->scores,
                   .top = scratch->top,
                   .top_label = scratch->top_label,
                   .true_gap = scratch->true_gap,
                   .others_square = scratch->others_square,
                   .log_true = rows->log_true == NULL ? NULL : scratch->log_true,
                   .levels = rows->levels};
}

const double *pc_batch_targets(const pcal_batch *batch, size_t at) {
  const size_t each = batch->kind == PCAL_SAMPLE_VECTORS ? batch->dimensions : 1;
  return batch->targets == NULL ? NULL : batch->targets + at * each;
}

void pc_batch_row(const pcal_batch *batch, size_t row, double *out) {
  const char *from = (const char *)batch->scores + (ptrdiff_t)row * batch->row_stride;
  for (size_t j = 0; j < batch->columns; j++, from += batch->column_stride)
    out[j] = batch->type == PCAL_F32 ? (double)*(const float *)(const void *)from
                                     : *(const double *)(const void *)from;
}
