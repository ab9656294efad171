/* Adding rows to a watch.
 *
 * The event of a row: class 1 of two classes; of more, that the predicted class is right, and of
 * confidences that the prediction was correct.  Predictions of a number give their PIT.
 *
 * Edge cases:
 *   1. rows with weights are refused: a bet cannot count a row partly.
 *   2. quantiles and samples are refused: their PIT is not uniform, only ranks are.
 *   3. a part (one call) of PC_WATCH_PART_LEAST rows or more with the scores and outcomes of an
 *      earlier one is refused unless repeats are allowed.
 *   4. a part without rows changes nothing. */
#include "watch/watch.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "data/view.h"

#define WATCH_ALPHA_LEAST 1e-12
#define WATCH_LEAST_SCORE 0x1p-53 /* of logits */

/* One call of pc_watch_update: works on a copy of the watch. */
typedef struct watch_part {
  pcal_watch watch;
  pc_layout layout;
  pc_row_policy policy;
  pc_view view;
  pc_view_columns columns;
  uint64_t hash;
} watch_part;

pcal_status pc_watch_new(double alpha, const pcal_env *env, pcal_watch **out, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  if (!(alpha >= WATCH_ALPHA_LEAST && alpha < 1))
    return pc_fail(err, PCAL_USAGE,
                   "{alpha} is the probability of a false alarm; give a number from 1e-12 to "
                   "below 1, such as 0.05");
  pcal_watch *watch = pc_alloc(&resolved, 1, sizeof *watch);
  if (watch == NULL)
    return pc_fail_memory(err, "preparing a watch");
  watch->env = resolved;
  watch->alpha = alpha;
  pc_bets_init(&watch->bets);
  *out = watch;
  return PCAL_OK;
}

void pc_watch_free(pcal_watch *watch) {
  if (watch == NULL)
    return;
  const pcal_env env = watch->env;
  pc_free(&env, watch->parts);
  pc_free(&env, watch);
}

/* True if rows have other columns than those before.  Of more than two classes, only the predicted
 * one is tested, so that rows with more choices are no other rows. */
static int watch_is_other(const pcal_watch *watch, const pcal_source *source,
                          const pcal_shape *shape) {
  return watch->started &&
         (watch->kind != shape->kind ||
          (watch->columns != shape->columns &&
           !(pc_source_is_ragged(source) && watch->columns > 2 && shape->columns > 2)));
}

static pcal_status watch_check_kind(const pcal_watch *watch, const pcal_source *source,
                                    const pcal_shape *shape, pcal_error *err) {
  PC_TRY(pc_source_check_soft(source, err));
  if (!shape->labelled)
    return pc_fail(err, PCAL_USAGE,
                   "there are no outcomes; give {labels}, {correct} or {target}");
  if (shape->weighted)
    return pc_fail(err, PCAL_USAGE,
                   "a watch counts every row once; leave {weights} and {prevalence} out");
  if (pc_kind_form(shape->kind) == PC_FORM_QUANTILES ||
      pc_kind_form(shape->kind) == PC_FORM_SAMPLES ||
      pc_kind_form(shape->kind) == PC_FORM_DISTANCES)
    return pc_fail(err, PCAL_USAGE,
                   "a watch of predictions of a number needs {mean} with {variance} or {std}");
  if (watch_is_other(watch, source, shape))
    return pc_fail(err, PCAL_USAGE,
                   "the rows have another kind or number of scores than those before; start a "
                   "new state for them%-s",
                   pc_source_is_ragged(source) && shape->columns > 2
                       ? ", with the names of all choices in {class_names}: of two choices the "
                         "second is tested, of more the predicted one"
                       : "");
  return PCAL_OK;
}

static pc_view watch_view(const pc_layout *layout) {
  pc_view view;
  memset(&view, 0, sizeof view);
  if (layout->form != PC_FORM_CLASSES)
    return pc_view_pit(layout);
  view.kind = layout->classes == 2 ? PC_VIEW_CLASS : PC_VIEW_RANK;
  view.index = 1;
  return view;
}

/* Logits are finite, so that a probability of 0 or 1 is rounded. */
static double watch_score(const pc_layout *layout, double score) {
  if (layout->kind != PCAL_LOGIT && layout->kind != PCAL_LOG_PROBABILITY)
    return score;
  return score >= 1.0 ? 1.0 - WATCH_LEAST_SCORE : fmax(score, WATCH_LEAST_SCORE);
}

static void watch_row(watch_part *part, double score, int hit) {
  pcal_watch *watch = &part->watch;
  pc_watch_bin *bin =
      &watch->bins[score * PC_BETS_BINS < PC_BETS_BINS - 1 ? (size_t)(score * PC_BETS_BINS)
                                                           : PC_BETS_BINS - 1];
  uint64_t bits;
  memcpy(&bits, &score, sizeof bits);
  part->hash = pc_hash_u64(part->hash + bits + (uint64_t)hit);
  if (part->layout.form == PC_FORM_CLASSES)
    pc_bets_add_event(&watch->bets, watch_score(&part->layout, score), hit);
  else
    pc_bets_add_pit(&watch->bets, score);
  bin->rows++;
  bin->hits += (uint64_t)hit;
  pc_fixed_add(&bin->scores, score);
  if (watch->alarm_rows == 0 &&
      (watch->bets.now.exponent > 0 || watch->bets.now.mantissa >= 1 / watch->alpha))
    watch->alarm_rows = watch->bets.rows;
}

static pcal_status watch_batch(watch_part *part, const pcal_batch *batch,
                               const pc_scratch *scratch, pcal_error *err) {
  PC_TRY(pc_batch_check(batch, &part->layout, &part->policy, err));
  for (size_t begin = 0; begin < batch->rows; begin += scratch->capacity) {
    const size_t left = batch->rows - begin;
    pc_rows rows;
    pc_row_counts counts = {0, 0, PCAL_NO_ROW};
    PC_TRY(pc_rows_convert(batch, &part->layout, &part->policy, begin,
                           left < scratch->capacity ? left : scratch->capacity, scratch, &rows,
                           &counts, err));
    pc_view_fill(&part->view, &rows, &part->columns);
    part->watch.normalized += counts.normalized;
    part->watch.skipped += counts.skipped;
    for (size_t i = 0; i < rows.count; i++)
      watch_row(part, part->columns.score[i],
                part->layout.form == PC_FORM_CLASSES && part->columns.hit[i]);
  }
  return PCAL_OK;
}

static pcal_status watch_rows(watch_part *part, pcal_source *source, const pc_scratch *scratch,
                              pcal_error *err) {
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(source, (size_t)1 << 16, &batch, err));
    if (batch.rows == 0)
      return PCAL_OK;
    PC_TRY(watch_batch(part, &batch, scratch, err));
    PC_TRY(pc_check_interrupt(&part->watch.env, err));
  }
}

/* Remembers the part; fails if it was added before. */
static pcal_status watch_remember(pcal_watch *watch, const watch_part *part, unsigned flags,
                                  pcal_error *err) {
  const uint64_t rows = part->watch.bets.rows - watch->bets.rows;
  if (rows < PC_WATCH_PART_LEAST)
    return PCAL_OK;
  for (size_t i = 0; i < watch->part_count; i++)
    if (watch->parts[i] == part->hash && !(flags & PCAL_WATCH_ALLOW_REPEAT))
      return pc_fail(err, PCAL_DATA,
                     "these %llu rows are in the state already, and counting rows twice would "
                     "raise false alarms; leave them out, or {allow_repeat}",
                     (unsigned long long)rows);
  if (watch->part_count == PC_WATCH_PARTS_MAX)
    return pc_fail(err, PCAL_USAGE, "a watch takes at most %d parts; start a new one",
                   PC_WATCH_PARTS_MAX);
  void *block = watch->parts;
  const pcal_status status = pc_reserve(&watch->env, &block, &watch->part_capacity,
                                        watch->part_count + 1, sizeof *watch->parts, err);
  watch->parts = block;
  if (status == PCAL_OK)
    watch->parts[watch->part_count++] = part->hash;
  return status;
}

static pcal_status watch_take(watch_part *part, pcal_source *source, pcal_error *err) {
  pc_scratch scratch;
  const pcal_env *env = &part->watch.env;
  part->view = watch_view(&part->layout);
  PC_TRY(pc_scratch_new(env, &part->layout, &scratch, err));
  pcal_status status =
      pc_view_columns_new(env, &part->view, scratch.capacity, &part->columns, err);
  if (status == PCAL_OK)
    status = watch_rows(part, source, &scratch, err);
  pc_view_columns_free(env, &part->columns);
  pc_scratch_free(env, &scratch);
  return status;
}

pcal_status pc_watch_update(pcal_watch *watch, pcal_source *source, unsigned flags,
                            pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  watch_part part = {.watch = *watch,
                     .policy = {.normalize = (flags & PCAL_WATCH_NORMALIZE) != 0,
                                .skip_missing = (flags & PCAL_WATCH_SKIP_MISSING) != 0}};
  if (watch->started)
    PC_TRY(pc_source_widen(source, (size_t)watch->columns, err));
  pc_source_shape(source, &shape);
  PC_TRY(watch_check_kind(watch, source, &shape, err));
  PC_TRY(pc_layout_make(shape.kind, shape.columns, &part.layout, err));
  PC_TRY(watch_take(&part, source, err));
  if (part.watch.bets.rows == watch->bets.rows && part.watch.skipped == watch->skipped)
    return PCAL_OK;
  PC_TRY(watch_remember(watch, &part, flags, err));
  uint64_t abstained = 0;
  if (pc_source_abstentions(source, &abstained))
    part.watch.abstained += abstained;
  part.watch.parts = watch->parts;
  part.watch.part_count = watch->part_count;
  part.watch.part_capacity = watch->part_capacity;
  part.watch.started = 1;
  part.watch.kind = shape.kind;
  part.watch.columns = shape.columns;
  *watch = part.watch;
  return PCAL_OK;
}
