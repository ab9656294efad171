#include "curve/sparse_tally.h"

#include <math.h>

#include "curve/point_masses.h"
#include "curve/score_key.h"
#include "kernels/sort.h"

#define SPARSE_BUCKET_BYTES 7    /* of a bucket, at least */
#define SPARSE_WEIGHT_END 0x1p53 /* weights are below this */

void pc_sparse_tally_free(pc_sparse_tally *sparse) {
  if (sparse->env == NULL)
    return;
  pc_free(sparse->env, sparse->index);
  pc_free(sparse->env, sparse->segments);
  pc_free(sparse->env, sparse->logits);
  for (int hit = 0; hit < 2; hit++)
    pc_kept_scores_free(sparse->env, &sparse->kept[hit]);
  *sparse = (pc_sparse_tally){0};
}

static pcal_status sparse_tally_room(const pcal_env *env, size_t count, pc_sparse_tally *out,
                                     pcal_error *err) {
  *out = (pc_sparse_tally){.env = env};
  out->index = pc_alloc_raw(env, count, sizeof *out->index);
  out->segments = pc_alloc_raw(env, count, sizeof *out->segments);
  if (out->index != NULL && out->segments != NULL)
    return PCAL_OK;
  pc_sparse_tally_free(out);
  return pc_fail_memory(err, "collecting a tally");
}

static void sparse_tally_put(pc_sparse_tally *sparse, uint64_t index,
                             const pc_segment *segment) {
  sparse->index[sparse->count] = index;
  sparse->segments[sparse->count++] = *segment;
}

/* ---- stored scores ---- */

/* Joins equal scores, which stand side by side. */
static void sparse_tally_join_ties(pc_kept_scores *kept) {
  size_t last = 0;
  for (size_t i = 1; i < kept->count; i++) {
    if (kept->score[i] == kept->score[last] &&
        kept->weight[last] + kept->weight[i] < SPARSE_WEIGHT_END) {
      kept->weight[last] += kept->weight[i];
      continue;
    }
    last++;
    kept->score[last] = kept->score[i];
    kept->weight[last] = kept->weight[i];
  }
  kept->count = kept->count == 0 ? 0 : last + 1;
}

/* Sorts the stored scores and joins equal ones, so that they do not depend on the order of
 * merges. */
static pcal_status sparse_tally_order(const pcal_env *env, pc_kept_scores *kept,
                                      pcal_error *err) {
  const size_t count = kept->count;
  if (count < 2)
    return PCAL_OK;
  PC_TRY(pc_kept_scores_reserve(env, kept, 0, 1, err));
  double *scratch = pc_alloc_raw(env, count, 2 * sizeof *scratch);
  if (scratch == NULL)
    return pc_fail_memory(err, "collecting a tally");
  pc_sort_pairs(kept->score, kept->weight, scratch, scratch + count, count);
  pc_free(env, scratch);
  sparse_tally_join_ties(kept);
  return PCAL_OK;
}

static pcal_status sparse_tally_add_kept(const pcal_env *env, pc_kept_scores *into,
                                         const pc_kept_scores *from, pcal_error *err) {
  PC_TRY(pc_kept_scores_append(env, into, from, err));
  return sparse_tally_order(env, into, err);
}

/* ---- making ---- */

/* 0: none; 1: of all rows; 2: of hits too, in narrow cells. */
static int sparse_tally_has_squares(const pc_bucket_tally *tally) {
  if (tally->targets != NULL && tally->targets->level > PC_POINT_JOIN_LEVEL)
    return 2;
  return tally->targets == NULL ? tally->layout.squares : tally->targets->layout.squares;
}

static pcal_status sparse_tally_logit_room(size_t count, pc_sparse_tally *out,
                                           pcal_error *err) {
  out->logits = pc_alloc(out->env, count, sizeof *out->logits);
  out->logit_count = out->logits == NULL ? 0 : count;
  return out->logits == NULL ? pc_fail_memory(err, "collecting a tally") : PCAL_OK;
}

static pcal_status sparse_tally_take_logits(const pc_bucket_tally *tally, pc_sparse_tally *out,
                                            pcal_error *err) {
  const size_t count = tally->targets == NULL ? 0 : tally->targets->point_count;
  PC_TRY(sparse_tally_logit_room(count, out, err));
  for (size_t i = 0; i < count; i++)
    out->logits[i] = tally->logits[i];
  return PCAL_OK;
}

pcal_status pc_sparse_tally_new(const pcal_env *env, const pc_bucket_tally *tally,
                                pc_sparse_tally *out, pcal_error *err) {
  const size_t buckets = pc_bucket_tally_bucket_count(tally);
  size_t used = 0;
  for (size_t b = 0; b < buckets; b++)
    used += pc_bucket_tally_segment(tally, b).rows > 0;
  PC_TRY(sparse_tally_room(env, used, out, err));
  out->squares = sparse_tally_has_squares(tally);
  for (size_t b = 0; b < buckets; b++) {
    const pc_segment segment = pc_bucket_tally_segment(tally, b);
    if (segment.rows > 0)
      sparse_tally_put(out, b, &segment);
  }
  pcal_status status = sparse_tally_take_logits(tally, out, err);
  for (int hit = 0; hit < 2 && status == PCAL_OK; hit++)
    status = sparse_tally_add_kept(env, &out->kept[hit], &tally->kept[hit], err);
  if (status != PCAL_OK)
    pc_sparse_tally_free(out);
  return status;
}

/* ---- merging ---- */

pc_uint128 pc_sparse_tally_rows(const pc_sparse_tally *sparse) {
  pc_uint128 rows = 0;
  for (size_t i = 0; i < sparse->count; i++)
    rows += sparse->segments[i].rows;
  for (int hit = 0; hit < 2; hit++)
    for (size_t i = 0; i < sparse->kept[hit].count; i++)
      rows += (uint64_t)pc_kept_scores_weight(&sparse->kept[hit], i);
  return rows;
}

static void sparse_tally_join(const pc_sparse_tally *a, const pc_sparse_tally *b,
                              pc_sparse_tally *out) {
  for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
    const int first = i < a->count && (j == b->count || a->index[i] <= b->index[j]);
    const int second = j < b->count && (i == a->count || b->index[j] <= a->index[i]);
    pc_segment both = first ? a->segments[i] : b->segments[j];
    if (first && second)
      pc_segment_join(&both, &b->segments[j]);
    sparse_tally_put(out, first ? a->index[i] : b->index[j], &both);
    i += (size_t)first;
    j += (size_t)second;
  }
}

static int sparse_tally_same_points(const pc_sparse_tally *a, const pc_sparse_tally *b) {
  int same = a->logit_count == b->logit_count;
  for (size_t i = 0; same && i < a->logit_count; i++)
    same = pc_logit_points_equal(&a->logits[i].at, &b->logits[i].at);
  return same;
}

/* True if the rows of both are too many to be added up. */
static int sparse_tally_overflows(const pc_sparse_tally *a, const pc_sparse_tally *b) {
  int many = pc_sparse_tally_rows(a) + pc_sparse_tally_rows(b) > PC_SPARSE_TALLY_ROWS_MAX;
  for (size_t i = 0; i < a->logit_count; i++)
    many |= a->logits[i].rows + b->logits[i].rows > PC_SPARSE_TALLY_ROWS_MAX;
  return many;
}

pcal_status pc_sparse_tally_merge(pc_sparse_tally *into, const pc_sparse_tally *from,
                                  pcal_error *err) {
  pc_sparse_tally both;
  if (into->squares != from->squares || !sparse_tally_same_points(into, from))
    return pc_fail(err, PCAL_DATA,
                   "the tallies have other sums of scores than each other; answer the request "
                   "again");
  if (sparse_tally_overflows(into, from))
    return pc_fail(err, PCAL_DATA, "the weights sum to more than 2^62; give smaller weights");
  for (int hit = 0; hit < 2; hit++)
    PC_TRY(sparse_tally_add_kept(into->env, &into->kept[hit], &from->kept[hit], err));
  PC_TRY(sparse_tally_room(into->env, into->count + from->count, &both, err));
  sparse_tally_join(into, from, &both);
  pc_free(into->env, into->index);
  pc_free(into->env, into->segments);
  into->index = both.index;
  into->segments = both.segments;
  into->count = both.count;
  for (size_t i = 0; i < into->logit_count; i++)
    pc_logit_sums_merge(&into->logits[i], &from->logits[i]);
  return PCAL_OK;
}

pcal_status pc_sparse_tally_fill(const pc_sparse_tally *sparse, pc_bucket_tally *tally,
                                 int *fits, pcal_error *err) {
  *fits = sparse->squares == sparse_tally_has_squares(tally) &&
          (sparse->count == 0 ||
           sparse->index[sparse->count - 1] < pc_bucket_tally_bucket_count(tally));
  const pc_refine_targets *targets = tally->targets;
  *fits &= sparse->logit_count == (targets == NULL ? 0 : targets->point_count);
  for (size_t i = 0; *fits && i < sparse->logit_count; i++)
    *fits = pc_logit_points_equal(&sparse->logits[i].at, &targets->points[i]);
  if (!*fits)
    return PCAL_OK;
  for (size_t i = 0; i < sparse->logit_count; i++)
    tally->logits[i] = sparse->logits[i];
  for (int hit = 0; hit < 2; hit++)
    PC_TRY(pc_kept_scores_append(tally->env, &tally->kept[hit], &sparse->kept[hit], err));
  for (size_t i = 0; i < sparse->count; i++)
    PC_TRY(pc_bucket_tally_join_segment(tally, (size_t)sparse->index[i], &sparse->segments[i],
                                        err));
  return PCAL_OK;
}

/* ---- bytes ---- */

/* Sums are written as their distance from what they would be if scores lay evenly between low
 * and high: the more rows there are, the fewer bytes that takes. */
typedef struct sparse_guess {
  pc_int128 low;   /* in units of 2^-61 */
  uint64_t span;   /* high - low, the same */
  double from, to; /* low and high */
} sparse_guess;

static sparse_guess sparse_tally_guess(double low, double high) {
  const pc_int128 units = pc_fixed_units(low);
  return (sparse_guess){units, (uint64_t)(pc_fixed_units(high) - units), low, high};
}

/* sum * part / whole, part <= whole. */
static pc_uint128 sparse_tally_share(pc_uint128 sum, uint64_t part, uint64_t whole) {
  return sum / whole * part + sum % whole * part / whole;
}

/* The sum of squares of `rows` scores whose sum is rows * low + above, less rows times the
 * least square. */
static pc_int128 sparse_tally_squares(const sparse_guess *guess, uint64_t rows,
                                      pc_uint128 above) {
  const double n = (double)rows, span = guess->to - guess->from;
  const double sum = (double)above * 0x1p-61;
  const double low = guess->from > 0 ? guess->from : 0.0;
  const double squares = 2 * low * sum + (n > 0 ? sum * sum / n + n * span * span / 12 : 0.0);
  return (pc_int128)(squares * PC_SEGMENT_SQUARE_ONE);
}

/* Differences of either sign as varints, the sign in the lowest bit. */
static void sparse_tally_encode_signed(pc_encoder *out, pc_int128 value) {
  const pc_uint128 bits = (pc_uint128)value;
  pc_encode_varint(out, value < 0 ? ~(bits << 1) : bits << 1);
}

static pc_int128 sparse_tally_decode_signed(pc_decoder *in) {
  const pc_uint128 bits = pc_decode_varint(in);
  return (pc_int128)(bits & 1 ? ~(bits >> 1) : bits >> 1);
}

/* guess + a difference that was read: may be any number. */
static pc_int128 sparse_tally_decode_near(pc_decoder *in, pc_uint128 guess) {
  return (pc_int128)(guess + (pc_uint128)sparse_tally_decode_signed(in));
}

/* The least and the largest square of scores from low to high. */
static int64_t sparse_tally_least_square(double low, double high) {
  return low > 0 ? pc_segment_square(low) : high < 0 ? pc_segment_square(high) : 0;
}

static int64_t sparse_tally_largest_square(double low, double high) {
  return pc_segment_square(fmax(fabs(low), fabs(high)));
}

static void sparse_tally_encode_squares(pc_encoder *out, const pc_segment *segment, int squares,
                                        const sparse_guess *guess, pc_uint128 score,
                                        pc_uint128 hit_score) {
  const pc_int128 least = sparse_tally_least_square(segment->low, segment->high);
  const pc_int128 all = segment->square - (pc_int128)segment->rows * least;
  const pc_int128 hits = segment->hit_square - (pc_int128)segment->hits * least;
  if (squares > 0)
    sparse_tally_encode_signed(out, all - sparse_tally_squares(guess, segment->rows, score));
  if (squares > 1)
    sparse_tally_encode_signed(out,
                               hits - sparse_tally_squares(guess, segment->hits, hit_score));
}

/* What is known of the segment before: the key of its high score, and the distance of its
 * two keys. */
typedef struct sparse_before {
  uint64_t key, width;
} sparse_before;

static void sparse_tally_encode_segment(pc_encoder *out, const pc_segment *segment, int squares,
                                        sparse_before *before) {
  const sparse_guess guess = sparse_tally_guess(segment->low, segment->high);
  const uint64_t low_key = pc_score_key(segment->low), high_key = pc_score_key(segment->high);
  const pc_uint128 even = (pc_uint128)segment->rows * guess.span;
  const pc_uint128 score =
      (pc_uint128)(segment->score.units - (pc_int128)segment->rows * guess.low);
  const pc_uint128 hit_score =
      (pc_uint128)(segment->hit_score.units - (pc_int128)segment->hits * guess.low);
  pc_encode_varint(out, segment->rows);
  pc_encode_varint(out, segment->hits);
  pc_encode_varint(out, low_key - before->key);
  sparse_tally_encode_signed(out, (pc_int128)(high_key - low_key) - (pc_int128)before->width);
  sparse_tally_encode_signed(out, (pc_int128)(score - even / 2));
  sparse_tally_encode_signed(
      out, (pc_int128)(hit_score - sparse_tally_share(score, segment->hits, segment->rows)));
  sparse_tally_encode_squares(out, segment, squares, &guess, score, hit_score);
  *before = (sparse_before){high_key, high_key - low_key};
}

static void sparse_tally_encode_kept(pc_encoder *out, const pc_kept_scores *kept) {
  int weighted = 0;
  for (size_t i = 0; i < kept->count; i++)
    weighted |= pc_kept_scores_weight(kept, i) != 1.0;
  pc_encode_varint(out, kept->count);
  pc_encode_u8(out, (unsigned)weighted);
  pc_encode_doubles(out, kept->score, kept->count);
  for (size_t i = 0; weighted && i < kept->count; i++)
    pc_encode_varint(out, (pc_uint128)pc_kept_scores_weight(kept, i));
}

void pc_encode_sparse_tally(pc_encoder *out, const pc_sparse_tally *sparse) {
  uint64_t before = 0;
  sparse_before last = {0, 0};
  pc_encode_u8(out, (unsigned)sparse->squares);
  pc_encode_varint(out, sparse->count);
  for (size_t i = 0; i < sparse->count; i++) {
    pc_encode_varint(out, sparse->index[i] - before);
    before = sparse->index[i];
    sparse_tally_encode_segment(out, &sparse->segments[i], sparse->squares, &last);
  }
  for (int hit = 0; hit < 2; hit++)
    sparse_tally_encode_kept(out, &sparse->kept[hit]);
  pc_encode_u8(out, (unsigned)sparse->logit_count);
  for (size_t i = 0; i < sparse->logit_count; i++)
    pc_encode_logit_sums(out, &sparse->logits[i]);
}

/* True if a sum above `low` of this many rows can come from scores in the span. */
static int sparse_tally_sum_fits(pc_int128 sum, uint64_t rows, uint64_t span) {
  return sum >= 0 && (pc_uint128)sum <= (pc_uint128)rows * span;
}

static void sparse_tally_decode_squares(pc_decoder *in, int squares, const sparse_guess *guess,
                                        pc_int128 score, pc_int128 hit_score, pc_segment *out) {
  const pc_int128 least = sparse_tally_least_square(out->low, out->high);
  const uint64_t span = (uint64_t)(sparse_tally_largest_square(out->low, out->high) - least);
  const pc_int128 all = sparse_tally_decode_near(
      in, (pc_uint128)sparse_tally_squares(guess, out->rows, (pc_uint128)score));
  const pc_int128 hit =
      squares > 1 ? sparse_tally_decode_near(in, (pc_uint128)sparse_tally_squares(
                                                     guess, out->hits, (pc_uint128)hit_score))
                  : 0;
  pc_decoder_expect(in, in->failed || (sparse_tally_sum_fits(all, out->rows, span) &&
                                       sparse_tally_sum_fits(hit, out->hits, span)));
  pc_decoder_expect(in, in->failed || squares < 2 ||
                            sparse_tally_sum_fits(all - hit, out->rows - out->hits, span));
  if (in->failed)
    return;
  out->square = all + (pc_int128)out->rows * least;
  out->hit_square = squares > 1 ? hit + (pc_int128)out->hits * least : 0;
}

/* The bounds of a segment, after those of the one before. */
static void sparse_tally_decode_bounds(pc_decoder *in, sparse_before *before, pc_segment *out) {
  out->low = pc_decode_score_step(in, &before->key);
  const pc_int128 width = sparse_tally_decode_near(in, before->width);
  const uint64_t low = before->key;
  pc_decoder_expect(in, in->failed || (width >= 0 && width <= UINT64_MAX - low));
  if (in->failed)
    return;
  before->width = (uint64_t)width;
  before->key = low + before->width;
  out->high = pc_score_of_key(before->key);
  pc_decoder_expect(in, fabs(out->high) < PC_SCORE_END);
}

static void sparse_tally_decode_segment(pc_decoder *in, int squares, pc_segment *out,
                                        sparse_before *before) {
  const pc_uint128 rows = pc_decode_varint(in), hits = pc_decode_varint(in);
  *out = pc_segment_none;
  out->squared = squares > 1;
  sparse_tally_decode_bounds(in, before, out);
  pc_decoder_expect(in, rows > 0 && rows <= PC_SPARSE_TALLY_ROWS_MAX && hits <= rows);
  if (in->failed)
    return;
  out->rows = (uint64_t)rows;
  out->hits = (uint64_t)hits;
  const sparse_guess guess = sparse_tally_guess(out->low, out->high);
  const pc_int128 score = sparse_tally_decode_near(in, rows * guess.span / 2);
  pc_decoder_expect(in, in->failed || sparse_tally_sum_fits(score, out->rows, guess.span));
  if (in->failed)
    return;
  const pc_int128 hit_score =
      sparse_tally_decode_near(in, sparse_tally_share((pc_uint128)score, out->hits, out->rows));
  pc_decoder_expect(
      in, in->failed ||
              (sparse_tally_sum_fits(hit_score, out->hits, guess.span) &&
               sparse_tally_sum_fits(score - hit_score, out->rows - out->hits, guess.span)));
  if (in->failed)
    return;
  out->score.units = score + (pc_int128)rows * guess.low;
  out->hit_score.units = hit_score + (pc_int128)hits * guess.low;
  if (squares)
    sparse_tally_decode_squares(in, squares, &guess, score, hit_score, out);
}

static pcal_status sparse_tally_decode_kept(pc_decoder *in, const pcal_env *env,
                                            pc_kept_scores *out, pcal_error *err) {
  const pc_uint128 count = pc_decode_varint(in);
  const unsigned weighted = pc_decode_u8(in);
  pc_decoder_expect(in, weighted <= 1 &&
                            count <= pc_decoder_left(in) / (sizeof(double) + (weighted == 1)));
  if (in->failed)
    return PCAL_OK;
  PC_TRY(pc_kept_scores_reserve(env, out, (size_t)count, weighted == 1, err));
  pc_decode_doubles(in, out->score, (size_t)count);
  for (size_t i = 0; i < (size_t)count && !in->failed; i++) {
    const pc_uint128 weight = weighted == 1 ? pc_decode_varint(in) : 1;
    pc_decoder_expect(in, fabs(out->score[i]) < PC_SCORE_END && weight >= 1 &&
                              weight < (pc_uint128)SPARSE_WEIGHT_END);
    if (weighted == 1)
      out->weight[i] = in->failed ? 1.0 : (double)(uint64_t)weight;
  }
  out->count = in->failed ? 0 : (size_t)count;
  return PCAL_OK;
}

pcal_status pc_decode_sparse_tally(pc_decoder *in, const pcal_env *env, pc_sparse_tally *out,
                                   pcal_error *err) {
  const unsigned squares = pc_decode_u8(in);
  const pc_uint128 count = pc_decode_varint(in);
  *out = (pc_sparse_tally){0};
  pc_decoder_expect(in, squares <= 2 && count <= pc_decoder_left(in) / SPARSE_BUCKET_BYTES);
  if (in->failed)
    return PCAL_OK;
  PC_TRY(sparse_tally_room(env, (size_t)count, out, err));
  out->squares = (int)squares;
  pc_uint128 index = 0;
  sparse_before last = {0, 0};
  for (size_t i = 0; i < (size_t)count && !in->failed; i++) {
    const pc_uint128 step = pc_decode_varint(in);
    pc_segment segment;
    pc_decoder_expect(in, step <= UINT32_MAX && (i == 0 || step > 0));
    index += in->failed ? 0 : step;
    sparse_tally_decode_segment(in, out->squares, &segment, &last);
    if (!in->failed)
      sparse_tally_put(out, (uint64_t)index, &segment);
  }
  for (int hit = 0; hit < 2; hit++)
    PC_TRY(sparse_tally_decode_kept(in, env, &out->kept[hit], err));
  const unsigned logits = pc_decode_u8(in);
  pc_decoder_expect(in, logits <= PC_REFINE_POINTS_MAX);
  if (!in->failed)
    PC_TRY(sparse_tally_logit_room(logits, out, err));
  for (size_t i = 0; !in->failed && i < logits; i++)
    pc_decode_logit_sums(in, &out->logits[i]);
  pc_decoder_expect(in, pc_sparse_tally_rows(out) <= PC_SPARSE_TALLY_ROWS_MAX);
  return PCAL_OK;
}
