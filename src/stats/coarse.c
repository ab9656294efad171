#include "stats/coarse.h"

#include <math.h>
#include <string.h>

#include "stats/point_masses.h"

#define COARSE_PARTS_BUCKETS ((size_t)1 << 18) /* of all parts together, about */
#define COARSE_PARTS_LOW 0x1p-32               /* smaller scores share a bucket */

static uint64_t coarse_key(double score) {
  uint64_t bits;
  memcpy(&bits, &score, sizeof bits);
  return bits ^ ((bits >> 63) != 0 ? UINT64_MAX : (uint64_t)1 << 63);
}

static const pc_coarse_ruler coarse_even = {.count = PC_COARSE_BUCKETS, .fine = PC_COARSE_FINE};

static size_t coarse_even_bucket(double score) {
  const double place = score * PC_COARSE_BUCKETS;
  return place >= PC_COARSE_BUCKETS ? PC_COARSE_BUCKETS - 1 : place > 0 ? (size_t)place : 0;
}

static size_t coarse_bits_bucket(const pc_coarse_ruler *ruler, double score) {
  const uint64_t key = coarse_key(score);
  const uint64_t at = key < ruler->base ? 0 : (key - ruler->base) >> ruler->shift;
  return at < ruler->count ? (size_t)at : ruler->count - 1;
}

static size_t coarse_bucket(const pc_coarse_ruler *ruler, double score) {
  return ruler->by_bits ? coarse_bits_bucket(ruler, score) : coarse_even_bucket(score);
}

/* Bits to drop so that the scores of [low, high] fit `room` buckets. */
static unsigned coarse_shift(double low, double high, size_t room) {
  const uint64_t span = coarse_key(high) - coarse_key(low);
  unsigned shift = 0;
  while ((span >> shift) >= room)
    shift++;
  return shift;
}

static int coarse_single(const pc_segment *segment) {
  return segment->low == segment->high;
}

static void coarse_add(pc_segment *segment, double score, int hit) {
  const int64_t units = pc_fixed_units(score);
  segment->low = score < segment->low ? score : segment->low;
  segment->high = score > segment->high ? score : segment->high;
  segment->rows++;
  segment->score.units += units;
  segment->hits += (uint64_t)hit;
  segment->hit_score.units += units & -(int64_t)hit;
}

static void coarse_join(pc_segment *into, const pc_segment *from) {
  into->low = from->low < into->low ? from->low : into->low;
  into->high = from->high > into->high ? from->high : into->high;
  into->rows += from->rows;
  into->hits += from->hits;
  into->score.units += from->score.units;
  into->hit_score.units += from->hit_score.units;
}

/* ---- a worker's tally ---- */

static pcal_status coarse_tally_make(pc_coarse_tally *out, size_t buckets, pcal_error *err) {
  out->bucket_count = buckets;
  out->buckets = pc_alloc_raw(out->env, buckets, sizeof *out->buckets);
  if (out->buckets == NULL)
    return pc_fail_memory(err, "preparing curves");
  pc_coarse_tally_clear(out);
  return PCAL_OK;
}

pcal_status pc_coarse_tally_new(const pcal_env *env, const pc_coarse_targets *targets,
                                pc_coarse_tally *out, pcal_error *err) {
  *out = (pc_coarse_tally){.env = env, .targets = targets, .ruler = coarse_even};
  if (targets == NULL)
    return coarse_tally_make(out, PC_COARSE_BUCKETS, err);
  const int divided = targets->count > 0 && !targets->keep;
  return coarse_tally_make(out, divided ? targets->first[targets->count] : 0, err);
}

pcal_status pc_coarse_tally_part(const pcal_env *env, size_t parts, pc_coarse_tally *out,
                                 pcal_error *err) {
  const size_t wanted = COARSE_PARTS_BUCKETS / parts;
  *out = (pc_coarse_tally){.env = env};
  out->ruler.by_bits = 1;
  out->ruler.base = coarse_key(COARSE_PARTS_LOW);
  out->ruler.count = 64;
  while (out->ruler.count < PC_COARSE_BUCKETS && out->ruler.count < wanted)
    out->ruler.count *= 2;
  out->ruler.shift = coarse_shift(COARSE_PARTS_LOW, 1.0, out->ruler.count);
  out->ruler.fine = PC_COARSE_FINE / parts < 64 ? 64 : PC_COARSE_FINE / parts;
  return coarse_tally_make(out, out->ruler.count, err);
}

pcal_status pc_coarse_tally_range(const pcal_env *env, double low, double high, size_t buckets,
                                  pc_coarse_tally *out, pcal_error *err) {
  *out = (pc_coarse_tally){.env = env};
  out->ruler.by_bits = 1;
  out->ruler.base = coarse_key(low + 0.0);
  out->ruler.shift = coarse_shift(low + 0.0, high + 0.0, buckets);
  out->ruler.count =
      (size_t)((coarse_key(high + 0.0) - out->ruler.base) >> out->ruler.shift) + 1;
  out->ruler.fine = buckets;
  return coarse_tally_make(out, out->ruler.count, err);
}

pcal_status pc_coarse_tally_like(const pc_coarse_tally *other, pc_coarse_tally *out,
                                 pcal_error *err) {
  *out = (pc_coarse_tally){.env = other->env, .ruler = other->ruler, .targets = other->targets};
  return coarse_tally_make(out, other->bucket_count, err);
}

void pc_coarse_tally_free(pc_coarse_tally *tally) {
  if (tally->env == NULL)
    return;
  pc_free(tally->env, tally->buckets);
  pc_free(tally->env, tally->kept[0]);
  pc_free(tally->env, tally->kept[1]);
  *tally = (pc_coarse_tally){0};
}

void pc_coarse_tally_clear(pc_coarse_tally *tally) {
  for (size_t b = 0; b < tally->bucket_count; b++)
    tally->buckets[b] = (pc_segment){.low = INFINITY, .high = -INFINITY};
  tally->kept_count[0] = tally->kept_count[1] = 0;
}

static pcal_status coarse_room(pc_coarse_tally *tally, int hit, size_t more, pcal_error *err) {
  void *block = tally->kept[hit];
  const pcal_status status = pc_reserve(tally->env, &block, &tally->kept_capacity[hit],
                                        tally->kept_count[hit] + more, sizeof(double), err);
  tally->kept[hit] = block;
  return status;
}

/* The target that holds a score, or targets->count. */
static size_t coarse_target(const pc_coarse_targets *targets, double score) {
  size_t low = 0, high = targets->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (targets->high[middle] < score)
      low = middle + 1;
    else
      high = middle;
  }
  return low < targets->count && targets->low[low] <= score ? low : targets->count;
}

/* The sub-bucket of a score inside its target. */
static size_t coarse_part(const pc_coarse_targets *targets, size_t t, double score) {
  if (targets->level > 0)
    return (size_t)(pc_point_cell(score, targets->level) -
                    pc_point_cell(targets->low[t], targets->level));
  return (size_t)((coarse_key(score) - coarse_key(targets->low[t])) >> targets->shift[t]);
}

static pcal_status coarse_look(pc_coarse_tally *tally, double score, int hit, pcal_error *err) {
  const pc_coarse_targets *targets = tally->targets;
  const size_t t = coarse_target(targets, score);
  if (t == targets->count)
    return PCAL_OK;
  if (targets->keep) {
    PC_TRY(coarse_room(tally, hit, 1, err));
    tally->kept[hit][tally->kept_count[hit]++] = score;
    return PCAL_OK;
  }
  coarse_add(&tally->buckets[targets->first[t] + coarse_part(targets, t, score)], score, hit);
  return PCAL_OK;
}

static int coarse_hit(const uint8_t *hits, int hit, size_t i) {
  return hits == NULL ? hit : hits[i];
}

static void coarse_first_even(pc_segment *buckets, const double *score, const uint8_t *hits,
                              int hit, size_t count) {
  for (size_t i = 0; i < count; i++)
    coarse_add(&buckets[coarse_even_bucket(score[i])], score[i] + 0.0,
               coarse_hit(hits, hit, i));
}

static void coarse_first_bits(pc_segment *buckets, pc_coarse_ruler ruler, const double *score,
                              const uint8_t *hits, int hit, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const double here = score[i] + 0.0;
    coarse_add(&buckets[coarse_bits_bucket(&ruler, here)], here, coarse_hit(hits, hit, i));
  }
}

/* hits, or NULL when they are all `hit`; adding 0 turns -0 into 0. */
static pcal_status coarse_tally(pc_coarse_tally *tally, const double *score,
                                const uint8_t *hits, int hit, size_t count, pcal_error *err) {
  const pc_coarse_targets *targets = tally->targets;
  if (targets == NULL && tally->ruler.by_bits)
    coarse_first_bits(tally->buckets, tally->ruler, score, hits, hit, count);
  else if (targets == NULL)
    coarse_first_even(tally->buckets, score, hits, hit, count);
  const size_t looked = targets == NULL || targets->count == 0 ? 0 : count;
  for (size_t i = 0; i < looked; i++)
    if (targets->wanted[coarse_bucket(&targets->ruler, score[i] + 0.0)])
      PC_TRY(coarse_look(tally, score[i] + 0.0, coarse_hit(hits, hit, i), err));
  return PCAL_OK;
}

pcal_status pc_coarse_tally_add(pc_coarse_tally *tally, const double *score, const uint8_t *hit,
                                size_t count, pcal_error *err) {
  return coarse_tally(tally, score, hit, 0, count, err);
}

pcal_status pc_coarse_tally_column(pc_coarse_tally *tally, const double *score, size_t count,
                                   int hit, pcal_error *err) {
  return coarse_tally(tally, score, NULL, hit, count, err);
}

pcal_status pc_coarse_tally_prepare(pc_coarse_tally *into, const pc_coarse_tally *from,
                                    pcal_error *err) {
  PC_TRY(coarse_room(into, 0, from->kept_count[0], err));
  return coarse_room(into, 1, from->kept_count[1], err);
}

void pc_coarse_tally_merge(pc_coarse_tally *into, const pc_coarse_tally *from) {
  for (size_t b = 0; b < into->bucket_count; b++)
    coarse_join(&into->buckets[b], &from->buckets[b]);
  for (int hit = 0; hit < 2; hit++) {
    if (from->kept_count[hit] > 0)
      memcpy(into->kept[hit] + into->kept_count[hit], from->kept[hit],
             from->kept_count[hit] * sizeof(double));
    into->kept_count[hit] += from->kept_count[hit];
  }
}

/* ---- the coarse curve ---- */

static size_t coarse_copy(const pc_segment *from, size_t count, pc_segment *to) {
  size_t kept = 0;
  for (size_t b = 0; b < count; b++)
    if (from[b].rows > 0)
      to[kept++] = from[b];
  return kept;
}

pcal_status pc_coarse_new(const pcal_env *env, const pc_coarse_tally *tally, pc_coarse *out,
                          pcal_error *err) {
  *out = (pc_coarse){.env = env, .ruler = tally->ruler};
  out->segments = pc_alloc_raw(env, tally->bucket_count, sizeof *out->segments);
  if (out->segments == NULL)
    return pc_fail_memory(err, "building a curve");
  out->count = coarse_copy(tally->buckets, tally->bucket_count, out->segments);
  for (size_t i = 0; i < out->count; i++)
    out->total += out->segments[i].rows;
  return PCAL_OK;
}

void pc_coarse_free(pc_coarse *coarse) {
  if (coarse->env != NULL)
    pc_free(coarse->env, coarse->segments);
  *coarse = (pc_coarse){0};
}

void pc_coarse_targets_free(pc_coarse_targets *targets) {
  if (targets->env == NULL)
    return;
  pc_free(targets->env, targets->segment);
  pc_free(targets->env, targets->low);
  pc_free(targets->env, targets->high);
  pc_free(targets->env, targets->shift);
  pc_free(targets->env, targets->first);
  pc_free(targets->env, targets->wanted);
  *targets = (pc_coarse_targets){0};
}

static pcal_status coarse_targets_new(const pc_coarse *coarse, size_t count,
                                      pc_coarse_targets *out, pcal_error *err) {
  const pcal_env *env = coarse->env;
  *out = (pc_coarse_targets){.env = env, .ruler = coarse->ruler};
  out->segment = pc_alloc(env, count, sizeof *out->segment);
  out->low = pc_alloc(env, count, sizeof *out->low);
  out->high = pc_alloc(env, count, sizeof *out->high);
  out->shift = pc_alloc(env, count, sizeof *out->shift);
  out->first = pc_alloc(env, count + 1, sizeof *out->first);
  out->wanted = pc_alloc(env, coarse->ruler.count, 1);
  if (out->segment != NULL && out->low != NULL && out->high != NULL && out->shift != NULL &&
      out->first != NULL && out->wanted != NULL)
    return PCAL_OK;
  pc_coarse_targets_free(out);
  return pc_fail_memory(err, "refining a curve");
}

static void coarse_aim_at(const pc_coarse *coarse, size_t index, size_t room,
                          pc_coarse_targets *out) {
  const pc_segment *segment = &coarse->segments[index];
  const size_t t = out->count++;
  out->segment[t] = index;
  out->low[t] = segment->low;
  out->high[t] = segment->high;
  out->shift[t] = coarse_shift(segment->low, segment->high, room);
  out->first[t + 1] = out->first[t] + coarse_part(out, t, segment->high) + 1;
  const size_t last = coarse_bucket(&coarse->ruler, segment->high);
  for (size_t b = coarse_bucket(&coarse->ruler, segment->low); b <= last; b++)
    out->wanted[b] = 1;
}

pcal_status pc_coarse_aim(const pc_coarse *coarse, const uint8_t *wanted, uint64_t keep_limit,
                          pc_coarse_targets *out, pcal_error *err) {
  size_t count = 0;
  uint64_t rows = 0;
  for (size_t i = 0; i < coarse->count; i++)
    if (wanted[i] && !coarse_single(&coarse->segments[i])) {
      count++;
      rows += coarse->segments[i].rows;
    }
  PC_TRY(coarse_targets_new(coarse, count, out, err));
  out->keep = rows <= keep_limit;
  const size_t room = count == 0 ? 2 : coarse->ruler.fine / count;
  for (size_t i = 0; i < coarse->count; i++)
    if (wanted[i] && !coarse_single(&coarse->segments[i]))
      coarse_aim_at(coarse, i, room < 2 ? 2 : room, out);
  return PCAL_OK;
}

static int coarse_over_border(const pc_segment *segment, unsigned level) {
  return pc_point_cell(segment->low, level) != pc_point_cell(segment->high, level);
}

pcal_status pc_coarse_aim_cells(const pc_coarse *coarse, unsigned level, pc_coarse_targets *out,
                                pcal_error *err) {
  size_t count = 0;
  for (size_t i = 0; i < coarse->count; i++)
    count += (size_t)coarse_over_border(&coarse->segments[i], level);
  PC_TRY(coarse_targets_new(coarse, count, out, err));
  out->level = level;
  for (size_t i = 0; i < coarse->count; i++)
    if (coarse_over_border(&coarse->segments[i], level))
      coarse_aim_at(coarse, i, 1, out);
  return PCAL_OK;
}

/* Kept scores as segments of one score each; the table is sorted. */
static pcal_status coarse_kept_segments(const pc_coarse_tally *tally, pc_segment **out,
                                        size_t *count, pcal_error *err) {
  const pc_outcome_column misses = {tally->kept[0], NULL, tally->kept_count[0]};
  const pc_outcome_column hits = {tally->kept[1], NULL, tally->kept_count[1]};
  pc_curve_table table;
  PC_TRY(pc_curve_table_new(tally->env, &misses, &hits, &table, err));
  *out = pc_alloc(tally->env, table.count, sizeof **out);
  *count = *out == NULL ? 0 : table.count;
  for (size_t i = 0; i < *count; i++) {
    pc_segment *segment = &(*out)[i];
    segment->rows = (uint64_t)table.weight[i];
    segment->hits = (uint64_t)table.hits[i];
    pc_fixed_add_weighted(&segment->score, table.weight[i], table.score[i]);
    pc_fixed_add_weighted(&segment->hit_score, table.hits[i], table.score[i]);
    segment->low = segment->high = table.score[i];
  }
  pc_curve_table_free(tally->env, &table);
  return *out == NULL ? pc_fail_memory(err, "refining a curve") : PCAL_OK;
}

/* Everything outside the targets as it was, and the new segments in ascending order. */
static size_t coarse_weave(const pc_coarse *coarse, const pc_coarse_targets *targets,
                           const pc_segment *fresh, size_t fresh_count, pc_segment *out) {
  size_t count = 0, t = 0, f = 0;
  for (size_t i = 0; i < coarse->count; i++) {
    if (t >= targets->count || targets->segment[t] != i) {
      out[count++] = coarse->segments[i];
      continue;
    }
    for (; f < fresh_count && (fresh[f].rows == 0 || fresh[f].low <= targets->high[t]); f++)
      if (fresh[f].rows > 0)
        out[count++] = fresh[f];
    t++;
  }
  return count;
}

pcal_status pc_coarse_refine(pc_coarse *coarse, const pc_coarse_tally *tally, pcal_error *err) {
  pc_segment *kept = NULL;
  const pc_segment *fresh = tally->buckets;
  size_t fresh_count = tally->bucket_count;
  if (tally->targets->keep) {
    PC_TRY(coarse_kept_segments(tally, &kept, &fresh_count, err));
    fresh = kept;
  }
  pc_segment *woven =
      pc_alloc_raw(coarse->env, coarse->count + fresh_count, sizeof *coarse->segments);
  if (woven != NULL) {
    const size_t count = coarse_weave(coarse, tally->targets, fresh, fresh_count, woven);
    pc_free(coarse->env, coarse->segments);
    coarse->segments = woven;
    coarse->count = count;
  }
  pc_free(coarse->env, kept);
  return woven == NULL ? pc_fail_memory(err, "refining a curve") : PCAL_OK;
}

pcal_status pc_coarse_table(const pc_coarse *coarse, pc_curve_table *out, pcal_error *err) {
  const pcal_env *env = coarse->env;
  const size_t n = coarse->count;
  *out = (pc_curve_table){.count = n, .total = (double)coarse->total};
  out->score = pc_alloc(env, n, sizeof *out->score);
  out->high = pc_alloc(env, n, sizeof *out->high);
  out->weight = pc_alloc(env, n, sizeof *out->weight);
  out->hits = pc_alloc(env, n, sizeof *out->hits);
  out->sum = pc_alloc(env, n, sizeof *out->sum);
  out->hit_sum = pc_alloc(env, n, sizeof *out->hit_sum);
  if (out->score == NULL || out->high == NULL || out->weight == NULL || out->hits == NULL ||
      out->sum == NULL || out->hit_sum == NULL) {
    pc_curve_table_free(env, out);
    return pc_fail_memory(err, "building a curve");
  }
  for (size_t i = 0; i < n; i++) {
    const pc_segment *segment = &coarse->segments[i];
    out->score[i] = segment->low;
    out->high[i] = segment->high;
    out->weight[i] = (double)segment->rows;
    out->hits[i] = (double)segment->hits;
    out->sum[i] = segment->score;
    out->hit_sum[i] = segment->hit_score;
  }
  return PCAL_OK;
}
