#include "curve/bucket_tally.h"

#include <math.h>
#include <string.h>

#include "kernels/bin_index.h"
#include "kernels/dispatch.h"
#include "kernels/prefetch.h"

#define TALLY_BLOCK 4096
#define TALLY_GROUP 8
#define TALLY_WEIGHT_MAX 0x1p62

size_t pc_bucket_tally_bucket_count(const pc_bucket_tally *tally) {
  if (tally->targets != NULL)
    return tally->targets->split;
  return tally->layout.by_bits ? tally->layout.count : PC_BUCKETS_AND_OUTSIDE;
}

static size_t tally_count_count(const pc_bucket_tally *tally) {
  return tally->targets == NULL ? 0 : 2 * tally->targets->counted;
}

static pcal_status tally_segments_alloc(pc_bucket_tally *tally, pcal_error *err) {
  tally->segments =
      pc_alloc_raw(tally->env, pc_bucket_tally_bucket_count(tally), sizeof *tally->segments);
  return tally->segments == NULL ? pc_fail_memory(err, "preparing curves") : PCAL_OK;
}

void pc_bucket_tally_empty(pc_bucket_tally *tally, size_t begin, size_t end) {
  for (size_t s = begin; s < end; s++)
    tally->segments[s] = pc_segment_none;
}

static pcal_status tally_segments_open(pc_bucket_tally *tally, pcal_error *err) {
  PC_TRY(tally_segments_alloc(tally, err));
  pc_bucket_tally_empty(tally, 0, pc_bucket_tally_bucket_count(tally));
  return PCAL_OK;
}

/* Aligned, so that the counters of a bucket share a cache line. */
static pcal_status tally_make_sums(pc_bucket_tally *tally, pcal_error *err) {
  tally->block = pc_alloc_raw(tally->env, 1, sizeof *tally->sums + PC_CACHE_LINE);
  if (tally->block == NULL)
    return pc_fail_memory(err, "preparing curves");
  const size_t off = PC_CACHE_LINE - (uintptr_t)tally->block % PC_CACHE_LINE;
  tally->sums = (pc_bucket_sums *)(void *)((char *)tally->block + off);
  pc_bucket_sums_clear(tally->sums);
  return PCAL_OK;
}

static pcal_status tally_make_counts(pc_bucket_tally *tally, pcal_error *err) {
  const pc_refine_targets *targets = tally->targets;
  tally->counts = pc_alloc(tally->env, tally_count_count(tally), sizeof *tally->counts);
  tally->logits = pc_logit_sums_list(tally->env, targets->points, targets->point_count);
  const int enough = tally->counts != NULL && tally->logits != NULL;
  return enough ? PCAL_OK : pc_fail_memory(err, "preparing curves");
}

/* Allocates what the layout and the targets need. */
static pcal_status tally_make(pc_bucket_tally *tally, pcal_error *err) {
  pcal_status status = PCAL_OK;
  if (tally->targets == NULL && !tally->layout.by_bits)
    status = tally_make_sums(tally, err);
  else
    status = tally_segments_open(tally, err);
  if (status == PCAL_OK && tally->targets != NULL)
    status = tally_make_counts(tally, err);
  if (status != PCAL_OK)
    pc_bucket_tally_free(tally);
  return status;
}

pcal_status pc_bucket_tally_new(const pcal_env *env, const pc_refine_targets *targets,
                                pc_bucket_tally *out, pcal_error *err) {
  *out = (pc_bucket_tally){
      .env = env, .targets = targets, .layout = pc_bucket_layout_even(PC_TALLY_FINE)};
  return tally_make(out, err);
}

pcal_status pc_bucket_tally_new_unset(const pcal_env *env, const pc_refine_targets *targets,
                                      pc_bucket_tally *out, pcal_error *err) {
  *out = (pc_bucket_tally){
      .env = env, .targets = targets, .layout = pc_bucket_layout_even(PC_TALLY_FINE)};
  pcal_status status = tally_segments_alloc(out, err);
  if (status == PCAL_OK)
    status = tally_make_counts(out, err);
  if (status != PCAL_OK)
    pc_bucket_tally_free(out);
  return status;
}

pcal_status pc_bucket_tally_new_layout(const pcal_env *env, const pc_bucket_layout *layout,
                                       pc_bucket_tally *out, pcal_error *err) {
  *out = (pc_bucket_tally){.env = env, .layout = *layout};
  return tally_make(out, err);
}

pcal_status pc_bucket_tally_new_range(const pcal_env *env, double low, double high,
                                      size_t buckets, int squares, pc_bucket_tally *out,
                                      pcal_error *err) {
  *out = (pc_bucket_tally){.env = env, .layout.squares = squares};
  out->layout.by_bits = 1;
  out->layout.base = pc_score_key(low + 0.0);
  out->layout.shift = pc_bucket_shift(low + 0.0, high + 0.0, buckets);
  out->layout.count =
      (size_t)((pc_score_key(high + 0.0) - out->layout.base) >> out->layout.shift) + 1;
  out->layout.fine = buckets;
  return tally_make(out, err);
}

pcal_status pc_bucket_tally_new_like(const pc_bucket_tally *other, pc_bucket_tally *out,
                                     pcal_error *err) {
  *out =
      (pc_bucket_tally){.env = other->env, .layout = other->layout, .targets = other->targets};
  return tally_make(out, err);
}

pcal_status pc_bucket_tally_split(pc_bucket_tally *tally, const double *ends, size_t count,
                                  pcal_error *err) {
  if (tally->splits == NULL)
    PC_TRY(pc_bucket_splits_new(tally->env, PC_BUCKETS + 1, &tally->splits, err));
  for (size_t e = 0; e < count; e++) {
    const size_t bucket = pc_bucket_of(&tally->layout, ends[e]);
    if (ends[e] >= 0 && ends[e] < pc_bucket_high(bucket))
      pc_bucket_splits_insert(tally->splits, ends[e], bucket);
  }
  return PCAL_OK;
}

void pc_bucket_tally_free(pc_bucket_tally *tally) {
  if (tally->env == NULL)
    return;
  pc_free(tally->env, tally->block);
  pc_free(tally->env, tally->splits);
  pc_free(tally->env, tally->segments);
  pc_free(tally->env, tally->counts);
  pc_free(tally->env, tally->logits);
  pc_kept_scores_free(tally->env, &tally->kept[0]);
  pc_kept_scores_free(tally->env, &tally->kept[1]);
  *tally = (pc_bucket_tally){0};
}

void pc_bucket_tally_clear(pc_bucket_tally *tally) {
  if (tally->sums != NULL)
    pc_bucket_sums_clear(tally->sums);
  if (tally->splits != NULL)
    pc_bucket_splits_clear(tally->splits);
  if (tally->segments != NULL)
    pc_bucket_tally_empty(tally, 0, pc_bucket_tally_bucket_count(tally));
  for (size_t i = 0; i < tally_count_count(tally); i++)
    tally->counts[i] = 0;
  tally->kept[0].count = tally->kept[1].count = 0;
}

/* ---- the first pass ---- */

static void tally_bucket_read(const pc_bucket_tally *tally, size_t index, pc_segment *out) {
  if (tally->sums == NULL)
    *out = pc_segment_none;
  else
    pc_bucket_sums_read(tally->sums, index, out);
  if (tally->segments != NULL)
    pc_segment_join(out, &tally->segments[index]);
}

pc_segment pc_bucket_tally_segment(const pc_bucket_tally *tally, size_t index) {
  pc_segment out;
  tally_bucket_read(tally, index, &out);
  return out;
}

size_t pc_bucket_tally_segments_max(const pc_bucket_tally *tally) {
  return pc_bucket_tally_bucket_count(tally) +
         (tally->splits == NULL ? 0 : 2 * tally->splits->count);
}

size_t pc_bucket_tally_read_segments(const pc_bucket_tally *tally, pc_segment *out) {
  const size_t buckets = pc_bucket_tally_bucket_count(tally);
  size_t count = 0, next = 0;
  for (size_t s = 0; s < buckets; s++) {
    tally_bucket_read(tally, s, &out[count]);
    count += out[count].rows > 0;
    if (tally->splits != NULL && s > 0)
      count += pc_bucket_splits_read(tally->splits, s - 1, &next, out + count);
  }
  return count;
}

static pcal_status tally_empty_sums(pc_bucket_tally *tally, pcal_error *err) {
  if (tally->segments == NULL)
    PC_TRY(tally_segments_open(tally, err));
  for (size_t s = 0; s < PC_BUCKETS_AND_OUTSIDE; s++) {
    pc_segment counted;
    pc_bucket_sums_read(tally->sums, s, &counted);
    pc_segment_join(&tally->segments[s], &counted);
  }
  pc_bucket_sums_clear(tally->sums);
  return PCAL_OK;
}

static void tally_count(const pc_bucket_tally *tally, double score, int32_t hit) {
  pc_bucket_sums *sums = tally->sums;
  const int64_t units = pc_fixed_units(score);
  const uint64_t bucket = (uint64_t)units >> PC_BUCKET_SUMS_BUCKET;
  if (bucket > PC_BUCKETS)
    pc_segment_add(&sums->outside[units > 0], score, 1, (uint64_t)hit);
  else if (tally->splits != NULL && tally->splits->is_split[bucket])
    pc_bucket_splits_add(tally->splits, bucket, score, hit);
  else
    pc_bucket_sums_add(sums, (uint64_t)units, (uint64_t)pc_segment_square(score), hit);
}

/* *some: how many of `count` rows can be added now.  Empties the counters first if they are
 * half full; at least one row then fits. */
static pcal_status tally_make_room(pc_bucket_tally *tally, size_t count, size_t *some,
                                   pcal_error *err) {
  pc_bucket_sums *sums = tally->sums;
  if (sums->room < count) {
    sums->room = pc_bucket_sums_room(sums);
    if (sums->room < PC_BUCKET_SUMS_ROWS / 2)
      PC_TRY(tally_empty_sums(tally, err));
  }
  *some = count < sums->room ? count : (size_t)sums->room;
  sums->room -= *some;
  return PCAL_OK;
}

/* The outcome of row i: hits[i], or `hit` if hits is NULL. */
static int tally_hit(const uint8_t *hits, int hit, size_t i) {
  return hits == NULL ? hit : hits[i];
}

static pcal_status tally_first_by_width(pc_bucket_tally *tally, const double *score,
                                        const uint8_t *hits, int hit, size_t count,
                                        pcal_error *err) {
  for (size_t done = 0, some = 0; done < count; done += some) {
    PC_TRY(tally_make_room(tally, count - done, &some, err));
    for (size_t i = done; i < done + some; i++)
      tally_count(tally, score[i], tally_hit(hits, hit, i));
  }
  return PCAL_OK;
}

/* Adds up scores, except those in the first bucket and in split buckets (is_split NULL: none).
 * fine: NULL, or what scores add to the counters of the same name.  Returns how many it left out;
 * left: their indices. */
static size_t tally_count_stored(pc_bucket_sums *restrict sums, const uint8_t *is_split,
                                 const uint32_t *restrict place,
                                 const pc_bin_offset *restrict addend,
                                 const uint64_t *restrict fine, size_t count,
                                 uint16_t *restrict left) {
  size_t lefts = 0;
  for (size_t i = 0; i < count; i++)
    if (place[i] < 2 || (is_split != NULL && is_split[place[i] / 2])) {
      left[lefts++] = (uint16_t)i;
    } else {
      sums->cells[place[i]].offset += addend[i].offset;
      sums->cells[place[i]].square += addend[i].square;
      if (fine != NULL)
        sums->fine[place[i]] += fine[i];
    }
  return lefts;
}

/* Clamps the score of a plain row to [0, 1], since another thread may have overwritten it after
 * the check. */
static double tally_clamp(double score) {
  return score > 0 ? score < 1 ? score : 1.0 : 0.0;
}

/* The same for scores that may lie a little outside [0, 1].  -0 becomes 0; NaN, a row that is
 * skipped, stays NaN. */
static double tally_clamp_near(double score) {
  return score > -1 ? score < 2 ? score + 0.0 : 2.0 : score <= -1 ? -1.0 : score;
}

static const uint8_t *tally_is_split(const pc_bucket_tally *tally) {
  return tally->splits == NULL ? NULL : tally->splits->is_split;
}

static void tally_add_f32(const pc_bucket_tally *tally, const float *score,
                          const int32_t *label, size_t count) {
  uint32_t place[PC_BIN_INDEX_ROWS];
  pc_bin_offset addend[PC_BIN_INDEX_ROWS];
  uint16_t left[PC_BIN_INDEX_ROWS];
  for (size_t i = 0; i < count; i += PC_BIN_INDEX_ROWS) {
    const size_t here = count - i < PC_BIN_INDEX_ROWS ? count - i : PC_BIN_INDEX_ROWS;
    pc_kernels_best()->bin_index->offsets_f32(score + i, label + i, here,
                                              &pc_bucket_sums_offsets, place, addend);
    const size_t lefts =
        tally_count_stored(tally->sums, tally_is_split(tally), place, addend, NULL, here, left);
    for (size_t l = 0; l < lefts; l++)
      tally_count(tally, tally_clamp((double)score[i + left[l]]), label[i + left[l]] & 1);
  }
}

static void tally_add_f64(const pc_bucket_tally *tally, const double *score,
                          const int32_t *label, size_t count) {
  uint32_t place[PC_BIN_INDEX_ROWS];
  pc_bin_offset addend[PC_BIN_INDEX_ROWS];
  uint64_t fine[PC_BIN_INDEX_ROWS];
  uint16_t left[PC_BIN_INDEX_ROWS];
  for (size_t i = 0; i < count; i += PC_BIN_INDEX_ROWS) {
    const size_t here = count - i < PC_BIN_INDEX_ROWS ? count - i : PC_BIN_INDEX_ROWS;
    const uint64_t any = pc_kernels_best()->bin_index->offsets_f64(
        score + i, label + i, here, &pc_bucket_sums_offsets, place, addend, fine);
    for (size_t r = 0; any != 0 && r < here; r++)
      fine[r] = pc_bucket_sums_fine(fine[r]);
    const size_t lefts = tally_count_stored(tally->sums, tally_is_split(tally), place, addend,
                                            any == 0 ? NULL : fine, here, left);
    for (size_t l = 0; l < lefts; l++)
      tally_count(tally, tally_clamp(score[i + left[l]]), label[i + left[l]] & 1);
  }
}

pcal_status pc_bucket_tally_add_stored(pc_bucket_tally *tally, const pc_stored_rows *rows,
                                       pcal_error *err) {
  for (size_t done = 0, some = 0; done < rows->count; done += some) {
    PC_TRY(tally_make_room(tally, rows->count - done, &some, err));
    const int32_t *labels = rows->labels + done;
    if (rows->type == PCAL_F32)
      tally_add_f32(tally, (const float *)rows->scores + done, labels, some);
    else
      tally_add_f64(tally, (const double *)rows->scores + done, labels, some);
  }
  return PCAL_OK;
}

/* ---- later passes ---- */

int pc_bucket_tally_keeps(const pc_bucket_tally *tally) {
  const pc_refine_targets *targets = tally->targets;
  for (size_t t = 0; t < targets->count; t++)
    if (targets->list[t].action != PC_REFINE_KEEP)
      return 0;
  return 1;
}

pcal_status pc_bucket_tally_keep(pc_bucket_tally *tally, double score, int hit,
                                 pcal_error *err) {
  pc_kept_scores *kept = &tally->kept[hit];
  if (kept->count == kept->score_capacity || kept->weight != NULL)
    PC_TRY(pc_kept_scores_reserve(tally->env, kept, 1, 0, err));
  if (kept->weight != NULL)
    kept->weight[kept->count] = 1.0;
  kept->score[kept->count++] = score;
  return PCAL_OK;
}

static pcal_status tally_keep_weighted(pc_bucket_tally *tally, double score, int hit,
                                       uint64_t rows, pcal_error *err) {
  pc_kept_scores *kept = &tally->kept[hit];
  PC_TRY(pc_kept_scores_reserve(tally->env, kept, 1, 1, err));
  kept->weight[kept->count] = (double)rows;
  kept->score[kept->count++] = score;
  return PCAL_OK;
}

/* The target that holds a score, or NULL. */
static const pc_refine_target *tally_target(const pc_refine_targets *targets, double score) {
  const size_t bucket = pc_bucket_of(&targets->layout, score);
  size_t low = targets->reach[bucket], high = targets->reach[bucket + 1];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (targets->list[middle].high < score)
      low = middle + 1;
    else
      high = middle;
  }
  const pc_refine_target *target = &targets->list[low];
  return low < targets->count && target->low <= score && target->high >= score ? target : NULL;
}

/* Adds `rows` equal rows. */
static pcal_status tally_add_to_target(pc_bucket_tally *tally, double score, int hit,
                                       uint64_t rows, pcal_error *err) {
  const pc_refine_target *target = tally_target(tally->targets, score);
  if (target == NULL)
    return PCAL_OK;
  if (target->action == PC_REFINE_KEEP)
    return rows == 1 ? pc_bucket_tally_keep(tally, score, hit, err)
                     : tally_keep_weighted(tally, score, hit, rows, err);
  const size_t part = target->first + pc_refine_sub_bucket(tally->targets, target, score);
  if (target->action == PC_REFINE_COUNT)
    tally->counts[2 * part + (size_t)hit] += rows;
  else
    pc_segment_add(&tally->segments[part], score, rows, hit ? rows : 0);
  return PCAL_OK;
}

/* Rows of a block whose bucket overlaps a target. */
typedef struct tally_found {
  size_t count;
  uint16_t place[TALLY_BLOCK];
  double score[TALLY_BLOCK];
} tally_found;

/* The rows in wanted buckets.  Usually no row of a group of TALLY_GROUP is in a wanted bucket,
 * so whole groups are tested first.  `bucket` has TALLY_GROUP more elements than rows. */
static size_t tally_find(const uint8_t *wanted, const int32_t *bucket, size_t count,
                         uint16_t *place) {
  size_t places = 0;
  for (size_t begin = 0; begin < count; begin += TALLY_GROUP) {
    uint8_t any = 0;
    for (size_t i = begin; i < begin + TALLY_GROUP; i++)
      any |= wanted[bucket[i]];
    if (!any)
      continue;
    for (size_t i = begin; i < count && i < begin + TALLY_GROUP; i++) {
      place[places] = (uint16_t)i;
      places += wanted[bucket[i]];
    }
  }
  return places;
}

/* Finds the rows in wanted buckets and copies their scores. */
#define TALLY_FIND(name, even, type)                                       \
  static void name(const uint8_t *wanted, const type *score, size_t count, \
                   tally_found *found) {                                   \
    int32_t bucket[TALLY_BLOCK + TALLY_GROUP];                             \
    pc_kernels_best()->bin_index->even(score, count, PC_BUCKETS, bucket);  \
    for (size_t i = count; i < count + TALLY_GROUP; i++)                   \
      bucket[i] = 0;                                                       \
    found->count = tally_find(wanted, bucket, count, found->place);        \
    for (size_t i = 0; i < found->count; i++)                              \
      found->score[i] = tally_clamp_near((double)score[found->place[i]]);  \
  }

TALLY_FIND(tally_find_f32, even_f32, float)
TALLY_FIND(tally_find_f64, even_f64, double)

/* Loads all labels first, so that the loads overlap. */
static pcal_status tally_add_found(pc_bucket_tally *tally, const pcal_batch *batch,
                                   const pc_lazy_labels *labels, size_t begin,
                                   const tally_found *found, pcal_error *err) {
  int32_t hit[TALLY_BLOCK];
  for (size_t i = 0; i < found->count; i++)
    if (labels->fill == NULL)
      hit[i] = batch->labels[begin + found->place[i]];
    else
      PC_TRY(labels->fill(labels->user, begin + found->place[i], 1, &hit[i], err));
  for (size_t i = 0; i < found->count; i++)
    if (hit[i] == 0 || hit[i] == 1)
      PC_TRY(tally_add_to_target(tally, found->score[i], hit[i], 1, err));
  return PCAL_OK;
}

pcal_status pc_bucket_tally_scan_stored(pc_bucket_tally *tally, const pcal_batch *batch,
                                        const pc_lazy_labels *labels, size_t begin,
                                        size_t count, pcal_error *err) {
  const uint8_t *wanted = tally->targets->wanted;
  tally_found found;
  for (size_t at = begin, end = begin + count; at < end; at += TALLY_BLOCK) {
    const size_t some = end - at < TALLY_BLOCK ? end - at : TALLY_BLOCK;
    if (batch->type == PCAL_F32)
      tally_find_f32(wanted, (const float *)batch->scores + at, some, &found);
    else
      tally_find_f64(wanted, (const double *)batch->scores + at, some, &found);
    PC_TRY(tally_add_found(tally, batch, labels, at, &found, err));
  }
  return PCAL_OK;
}

static pcal_status tally_add_wanted(pc_bucket_tally *tally, const double *score,
                                    const uint8_t *hits, int hit, size_t count,
                                    pcal_error *err) {
  const pc_bucket_layout layout = tally->targets->layout;
  const uint8_t *wanted = tally->targets->wanted;
  for (size_t i = 0; i < count; i++) {
    const double here = score[i] + 0.0; /* -0 becomes 0 */
    if (wanted[pc_bucket_of(&layout, here)])
      PC_TRY(tally_add_to_target(tally, here, tally_hit(hits, hit, i), 1, err));
  }
  return PCAL_OK;
}

static pcal_status tally_rows(pc_bucket_tally *tally, const double *score, const uint8_t *hits,
                              int hit, size_t count, pcal_error *err) {
  const pc_refine_targets *targets = tally->targets;
  if (targets == NULL && !tally->layout.by_bits)
    return tally_first_by_width(tally, score, hits, hit, count, err);
  if (targets == NULL)
    pc_bucket_layout_add(&tally->layout, score, hits, hit, count, tally->segments);
  if (targets != NULL)
    pc_logit_sums_add_rows(tally->logits, targets->point_count, score, hits, hit, NULL, count);
  return targets == NULL || targets->count == 0
             ? PCAL_OK
             : tally_add_wanted(tally, score, hits, hit, count, err);
}

pcal_status pc_bucket_tally_add(pc_bucket_tally *tally, const double *score, const uint8_t *hit,
                                size_t count, pcal_error *err) {
  return tally_rows(tally, score, hit, 0, count, err);
}

pcal_status pc_bucket_tally_add_column(pc_bucket_tally *tally, const double *score,
                                       size_t count, int hit, pcal_error *err) {
  return tally_rows(tally, score, NULL, hit, count, err);
}

/* ---- weighted rows ---- */

/* The bucket of a first pass by equal width, as pc_bucket_sums counts it. */
static size_t tally_even_bucket(double score) {
  const int64_t units = pc_fixed_units(score);
  const uint64_t bucket = (uint64_t)units >> PC_BUCKET_SUMS_BUCKET;
  if (bucket > PC_BUCKETS)
    return units > 0 ? PC_BUCKETS_AND_OUTSIDE - 1 : 0;
  return (size_t)bucket + 1;
}

pcal_status pc_bucket_tally_join_segment(pc_bucket_tally *tally, size_t index,
                                         const pc_segment *segment, pcal_error *err) {
  if (tally->segments == NULL)
    PC_TRY(tally_segments_open(tally, err));
  pc_segment_join(&tally->segments[index], segment);
  return PCAL_OK;
}

static pcal_status tally_first_weighted(pc_bucket_tally *tally, double score, int hit,
                                        uint64_t rows, pcal_error *err) {
  pc_segment row = pc_segment_none;
  const size_t index =
      tally->layout.by_bits ? pc_bucket_of(&tally->layout, score) : tally_even_bucket(score);
  pc_segment_add(&row, score, rows, hit ? rows : 0);
  return pc_bucket_tally_join_segment(tally, index, &row, err);
}

pcal_status pc_bucket_tally_add_weighted(pc_bucket_tally *tally, const double *score,
                                         const uint8_t *hit, const double *weight, size_t count,
                                         pcal_error *err) {
  const int first = tally->targets == NULL;
  if (!first)
    pc_logit_sums_add_rows(tally->logits, tally->targets->point_count, score, hit, 0, weight,
                           count);
  if (!first && tally->targets->count == 0)
    return PCAL_OK;
  for (size_t i = 0; i < count; i++) {
    const double here = score[i] + 0.0; /* -0 becomes 0 */
    const uint64_t rows =
        (uint64_t)(weight[i] < TALLY_WEIGHT_MAX ? weight[i] : TALLY_WEIGHT_MAX);
    if (rows > 0)
      PC_TRY(first ? tally_first_weighted(tally, here, hit[i], rows, err)
                   : tally_add_to_target(tally, here, hit[i], rows, err));
  }
  return PCAL_OK;
}

/* ---- merging ---- */

/* True if the counters of two first passes can be added without overflow. */
static int tally_addable(const pc_bucket_tally *into, const pc_bucket_tally *from) {
  return into->sums != NULL && from->segments == NULL &&
         pc_bucket_sums_addable(into->sums, from->sums);
}

pcal_status pc_bucket_tally_prepare(pc_bucket_tally *into, const pc_bucket_tally *from,
                                    pcal_error *err) {
  if (into->segments == NULL && !tally_addable(into, from))
    PC_TRY(tally_segments_open(into, err));
  for (int hit = 0; hit < 2; hit++)
    PC_TRY(pc_kept_scores_reserve(into->env, &into->kept[hit], from->kept[hit].count,
                                  from->kept[hit].weight != NULL, err));
  return PCAL_OK;
}

void pc_bucket_tally_merge_segments(pc_bucket_tally *into, const pc_bucket_tally *from,
                                    size_t begin, size_t end) {
  for (size_t s = begin; s < end; s++) {
    const pc_segment segment =
        into->targets == NULL ? pc_bucket_tally_segment(from, s) : from->segments[s];
    pc_segment_join(&into->segments[s], &segment);
  }
}

void pc_bucket_tally_merge(pc_bucket_tally *into, const pc_bucket_tally *from) {
  if (into->splits != NULL)
    pc_bucket_splits_merge(into->splits, from->splits);
  if (tally_addable(into, from)) {
    pc_bucket_sums_merge(into->sums, from->sums);
    return;
  }
  pc_bucket_tally_merge_segments(into, from, 0, pc_bucket_tally_bucket_count(into));
  pc_bucket_tally_merge_rest(into, from);
}

void pc_bucket_tally_merge_rest(pc_bucket_tally *into, const pc_bucket_tally *from) {
  for (size_t i = 0; i < tally_count_count(into); i++)
    into->counts[i] += from->counts[i];
  for (int hit = 0; hit < 2; hit++)
    pc_kept_scores_join(&into->kept[hit], &from->kept[hit]);
  for (size_t p = 0; into->targets != NULL && p < into->targets->point_count; p++)
    pc_logit_sums_merge(&into->logits[p], &from->logits[p]);
}
