/* Rows are taken in blocks.  For each row of a block the terms of proper scores are computed once
 * for every label that one of the replicas drew, those of the two most probable classes once
 * for all batches; then each replica adds the block to its state.  Sums are exact, so that
 * blocks do not change them. */
#include "measure/replicas/replica_label_sums.h"

#include "base/elementary.h"
#include "measure/replicas/score_ranges.h"

#define LABEL_SUMS_BLOCK 256                      /* rows */
#define LABEL_SUMS_STRIDE (LABEL_SUMS_BLOCK + 24) /* columns share no cache set */
enum { LABEL_SUMS_GAP, LABEL_SUMS_SQUARE, LABEL_SUMS_LOG, LABEL_SUMS_TERMS };

int pc_replica_label_sums_apply(const pc_kept_rows *rows) {
  return rows->probs != NULL && rows->top_label != NULL && pc_kept_rows_unit(rows);
}

/* The terms of one label, as in pc_rows. */
static void label_sums_compute(const double *probs, size_t classes, int32_t label,
                               double terms[LABEL_SUMS_TERMS]) {
  const double p = probs[label];
  double square = 0.0;
  for (size_t k = 0; k < classes; k++)
    square += k == (size_t)label ? 0.0 : probs[k] * probs[k];
  terms[LABEL_SUMS_GAP] = 1.0 - p;
  terms[LABEL_SUMS_SQUARE] = square;
  terms[LABEL_SUMS_LOG] = pc_log(p > 0 ? p : 0.0);
}

/* The most probable class besides `first`. */
static int32_t label_sums_second(const double *probs, size_t classes, int32_t first) {
  int32_t second = first == 0 && classes > 1;
  for (size_t k = 0; k < classes; k++)
    if ((int32_t)k != first && probs[k] > probs[second])
      second = (int32_t)k;
  return second;
}

/* Computes the terms of the two most probable classes of every row. */
static void label_sums_keep(const pc_kept_rows *rows, const pc_replica_label_sums *sums) {
  for (size_t i = 0; i < rows->count; i++) {
    const double *probs = rows->probs + i * rows->classes;
    double *kept = sums->kept + i * 2 * LABEL_SUMS_TERMS;
    sums->second[i] = label_sums_second(probs, rows->classes, rows->top_label[i]);
    label_sums_compute(probs, rows->classes, rows->top_label[i], kept);
    label_sums_compute(probs, rows->classes, sums->second[i], kept + LABEL_SUMS_TERMS);
  }
}

pcal_status pc_replica_label_sums_new(const pcal_env *env, const pc_measure_plan *plan,
                                      const uint8_t *slots, const pc_kept_rows *rows,
                                      pc_replica_label_sums *out, pcal_error *err) {
  *out = (pc_replica_label_sums){.plan = plan};
  out->states = pc_alloc(env, plan->slot_count * PC_REPLICA_LANES, sizeof *out->states);
  out->terms = pc_alloc_raw(env, PC_REPLICA_LANES * LABEL_SUMS_TERMS * LABEL_SUMS_STRIDE,
                            sizeof *out->terms);
  out->labels = pc_alloc_raw(env, PC_REPLICA_LANES * LABEL_SUMS_STRIDE, sizeof *out->labels);
  out->ids = pc_alloc_raw(env, LABEL_SUMS_BLOCK, sizeof *out->ids);
  out->kept = pc_alloc_raw(env, rows->count, 2 * LABEL_SUMS_TERMS * sizeof *out->kept);
  out->second = pc_alloc_raw(env, rows->count, sizeof *out->second);
  if (out->states == NULL || out->terms == NULL || out->labels == NULL || out->ids == NULL ||
      out->kept == NULL || out->second == NULL)
    return pc_fail_memory(err, "drawing replicas");
  label_sums_keep(rows, out);
  for (size_t i = 0; i < plan->slot_count * PC_REPLICA_LANES; i++) {
    const pc_plan_slot *slot = &plan->slots[i / PC_REPLICA_LANES];
    if (slots[i / PC_REPLICA_LANES])
      PC_TRY(slot->machine->create(env, &slot->need, &plan->layout, &out->states[i], err));
  }
  return PCAL_OK;
}

void pc_replica_label_sums_free(const pcal_env *env, pc_replica_label_sums *sums) {
  for (size_t i = 0; sums->states != NULL && i < sums->plan->slot_count * PC_REPLICA_LANES; i++)
    if (sums->states[i] != NULL)
      sums->plan->slots[i / PC_REPLICA_LANES].machine->destroy(env, sums->states[i]);
  pc_free(env, sums->states);
  pc_free(env, sums->terms);
  pc_free(env, sums->labels);
  pc_free(env, sums->ids);
  pc_free(env, sums->kept);
  pc_free(env, sums->second);
  *sums = (pc_replica_label_sums){.plan = NULL};
}

static double *label_sums_terms(const pc_replica_label_sums *sums, size_t lane, size_t term) {
  return sums->terms + (lane * LABEL_SUMS_TERMS + term) * LABEL_SUMS_STRIDE;
}

/* The first lane with the same label. */
static size_t label_sums_same(const int32_t *labels, size_t lane) {
  size_t same = 0;
  while (labels[same] != labels[lane])
    same++;
  return same;
}

/* Fills labels and terms of a row, which is row i of a block. */
static void label_sums_row(const pc_kept_rows *rows, size_t row, const int32_t *labels,
                           size_t i, const pc_replica_label_sums *sums) {
  const double *probs = rows->probs + row * rows->classes;
  const double *kept = sums->kept + row * 2 * LABEL_SUMS_TERMS;
  double made[PC_REPLICA_LANES][LABEL_SUMS_TERMS];
  for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++) {
    const int first = labels[lane] == rows->top_label[row];
    const int known = first || labels[lane] == sums->second[row];
    const size_t same = known ? lane : label_sums_same(labels, lane);
    const double *terms = known ? kept + (first ? 0 : LABEL_SUMS_TERMS) : made[same];
    if (!known && same == lane)
      label_sums_compute(probs, rows->classes, labels[lane], made[lane]);
    for (size_t t = 0; t < LABEL_SUMS_TERMS; t++)
      label_sums_terms(sums, lane, t)[i] = terms[t];
    sums->labels[lane * LABEL_SUMS_STRIDE + i] = labels[lane];
  }
}

/* The rows of a block with the labels of one replica. */
static pc_rows label_sums_view(const pc_kept_rows *rows, size_t begin, size_t count,
                               size_t lane, const pc_replica_label_sums *sums) {
  return (pc_rows){.count = count,
                   .classes = rows->classes,
                   .ids = sums->ids,
                   .labels = sums->labels + lane * LABEL_SUMS_STRIDE,
                   .probs = rows->probs + begin * rows->classes,
                   .top = rows->score + begin,
                   .top_label = rows->top_label + begin,
                   .true_gap = label_sums_terms(sums, lane, LABEL_SUMS_GAP),
                   .others_square = label_sums_terms(sums, lane, LABEL_SUMS_SQUARE),
                   .log_true = label_sums_terms(sums, lane, LABEL_SUMS_LOG)};
}

static pcal_status label_sums_block(const pcal_env *env, const pc_kept_rows *rows, size_t begin,
                                    size_t count, const int32_t *labels, size_t lanes,
                                    const pc_replica_label_sums *sums, pcal_error *err) {
  for (size_t i = 0; i < count; i++) {
    sums->ids[i] = begin + i;
    label_sums_row(rows, begin + i, labels + (begin + i) * PC_REPLICA_LANES, i, sums);
  }
  for (size_t lane = 0; lane < lanes; lane++) {
    const pc_rows view = label_sums_view(rows, begin, count, lane, sums);
    for (size_t s = 0; s < sums->plan->slot_count; s++)
      if (sums->states[s * PC_REPLICA_LANES + lane] != NULL)
        PC_TRY(sums->plan->slots[s].machine->update(
            env, sums->states[s * PC_REPLICA_LANES + lane], &view, NULL, err));
  }
  return PCAL_OK;
}

pcal_status pc_replica_label_sums_add(const pcal_env *env, const pc_kept_rows *rows,
                                      const int32_t *labels, size_t lanes,
                                      pc_replica_label_sums *sums, pcal_error *err) {
  for (size_t i = 0; i < sums->plan->slot_count * PC_REPLICA_LANES; i++)
    if (sums->states[i] != NULL)
      sums->plan->slots[i / PC_REPLICA_LANES].machine->clear(sums->states[i]);
  for (size_t begin = 0; begin < rows->count; begin += LABEL_SUMS_BLOCK) {
    const size_t left = rows->count - begin;
    PC_TRY(label_sums_block(env, rows, begin, left < LABEL_SUMS_BLOCK ? left : LABEL_SUMS_BLOCK,
                            labels, lanes, sums, err));
  }
  return PCAL_OK;
}
