/* The field of a tally that holds scores with weights (fit_tally.h). */
#include <math.h>

#include "calibrators/fit_field.h"

#define FIELD_WHOLE_MAX 0x1p53
#define FIELD_SCORE_MAX 2.0 /* of pc_fixed */

static int field_scores_is_whole(double weight) {
  return weight == floor(weight);
}

/* The order of pairs: by score; fractional weights, ascending, before whole ones, descending. */
static int field_scores_before(const double *a, const double *b) {
  const int whole_a = field_scores_is_whole(a[1]), whole_b = field_scores_is_whole(b[1]);
  if (a[0] != b[0])
    return a[0] < b[0];
  if (whole_a != whole_b)
    return whole_a < whole_b;
  return whole_a ? a[1] > b[1] : a[1] < b[1];
}

/* Appends a pair that is not before the last one.  Whole weights of one score are added; a sum
 * beyond FIELD_WHOLE_MAX becomes FIELD_WHOLE_MAX and the rest, so that the pairs depend
 * on the total alone: only the last one is below FIELD_WHOLE_MAX. */
static size_t field_scores_push(double *pairs, size_t count, const double *pair) {
  double *last = pairs + 2 * count - 2;
  double weight = pair[1];
  if (count > 0 && last[0] == pair[0] && field_scores_is_whole(last[1]) &&
      field_scores_is_whole(weight)) {
    const double room = FIELD_WHOLE_MAX - last[1];
    if (weight <= room) {
      last[1] += weight;
      return count;
    }
    last[1] = FIELD_WHOLE_MAX;
    weight -= room;
  }
  pairs[2 * count] = pair[0];
  pairs[2 * count + 1] = weight;
  return count + 1;
}

/* Adds `count` sorted pairs. */
pcal_status pc_fit_field_add_pairs(const pcal_env *env, pc_fit_field *into, const double *pairs,
                                   size_t count, pcal_error *err) {
  const double *own = into->items;
  const size_t all = into->count + count;
  if (count == 0)
    return PCAL_OK;
  double *merged = pc_alloc_raw(env, all, 2 * sizeof *merged);
  if (merged == NULL)
    return pc_fail_memory(err, "collecting a tally");
  size_t made = 0;
  for (size_t i = 0, j = 0; i + j < all;) {
    const int mine =
        j == count || (i < into->count && field_scores_before(own + 2 * i, pairs + 2 * j));
    made = field_scores_push(merged, made, mine ? own + 2 * i : pairs + 2 * j);
    i += (size_t)mine;
    j += (size_t)!mine;
  }
  pc_free(env, into->items);
  into->items = merged;
  into->count = made;
  into->capacity = all;
  return PCAL_OK;
}

/* ---- Bytes ---- */

void pc_fit_field_encode_scores(pc_encoder *out, const pc_fit_field *field) {
  const double *pairs = field->items;
  int whole = 1;
  for (size_t i = 0; i < field->count; i++)
    whole &= field_scores_is_whole(pairs[2 * i + 1]);
  pc_encode_u8(out, (unsigned)whole);
  for (size_t i = 0; i < field->count; i++) {
    pc_encode_doubles(out, pairs + 2 * i, whole ? 1 : 2);
    if (whole)
      pc_encode_varint(out, (pc_uint128)pairs[2 * i + 1]);
  }
}

/* True if a pair may stand behind another one: sorted, and whole weights are added. */
static int field_scores_follows(const double *last, const double *pair) {
  const int added = last[0] != pair[0] || !field_scores_is_whole(last[1]) ||
                    !field_scores_is_whole(pair[1]) || last[1] == FIELD_WHOLE_MAX;
  return added && !field_scores_before(pair, last);
}

void pc_fit_field_decode_scores(pc_decoder *in, pc_fit_field *field) {
  double *pairs = field->items;
  const unsigned whole = pc_decode_u8(in);
  pc_decoder_expect(in, whole <= 1);
  for (size_t i = 0; i < field->count && !in->failed; i++, pairs += 2) {
    pc_decode_doubles(in, pairs, whole ? 1 : 2);
    if (whole)
      pairs[1] = (double)(uint64_t)pc_decode_varint(in);
    pc_decoder_expect(in, fabs(pairs[0]) <= FIELD_SCORE_MAX && pairs[1] > 0.0 &&
                              pairs[1] <= FIELD_WHOLE_MAX &&
                              (i == 0 || field_scores_follows(pairs - 2, pairs)));
  }
}

/* ---- Listing ---- */

/* Appends the pairs of rows begin to end of a column, which have one score: those with
 * fractional or those with whole weights. */
static size_t field_scores_push_ties(double *pairs, size_t count,
                                     const pc_sorted_column *column, size_t begin, size_t end,
                                     int whole) {
  for (size_t i = begin; i < end; i++) {
    const double pair[2] = {column->score[i], column->weight == NULL ? 1.0 : column->weight[i]};
    if (field_scores_is_whole(pair[1]) == whole)
      count = field_scores_push(pairs, count, pair);
  }
  return count;
}

/* The pairs of a column, in a new block. */
static pcal_status field_scores_pairs(const pcal_env *env, const pc_sorted_column *column,
                                      double **out, size_t *count, pcal_error *err) {
  *count = 0;
  *out = pc_alloc_raw(env, column->count, 2 * sizeof **out);
  if (*out == NULL)
    return pc_fail_memory(err, "collecting a tally");
  for (size_t begin = 0, end = 0; begin < column->count; begin = end) {
    while (end < column->count && column->score[end] == column->score[begin])
      end++;
    *count = field_scores_push_ties(*out, *count, column, begin, end, 0);
    *count = field_scores_push_ties(*out, *count, column, begin, end, 1);
  }
  return PCAL_OK;
}

static pcal_status field_scores_give_scores(const pcal_env *env, pc_fit_field *field,
                                            const pc_sorted_column *column, pcal_error *err) {
  double *pairs = NULL;
  size_t count = 0;
  if (column->count == 0)
    return PCAL_OK;
  PC_TRY(field_scores_pairs(env, column, &pairs, &count, err));
  const pcal_status status = pc_fit_field_add_pairs(env, field, pairs, count, err);
  pc_free(env, pairs);
  return status;
}

/* Puts whole weights, which stand behind fractional ones, into the order of weights. */
static void field_scores_order_ties(pc_sorted_column *column) {
  for (size_t i = 1; i < column->count; i++) {
    const double weight = column->weight[i];
    size_t at = i;
    for (;
         at > 0 && column->score[at - 1] == column->score[i] && column->weight[at - 1] > weight;
         at--)
      column->weight[at] = column->weight[at - 1];
    column->weight[at] = weight;
  }
}

pcal_status pc_fit_field_scores(pc_fit_fields *fields, const pcal_env *env,
                                pc_sorted_column *column, pcal_error *err) {
  const pc_fit_field like = {.kind = PC_FIT_SCORES};
  pc_fit_field *field = NULL;
  PC_TRY(pc_fit_field_next(fields, &like, &field, err));
  if (!fields->taking)
    return field_scores_give_scores(fields->tally->env, field, column, err);
  double *space = pc_alloc_raw(env, field->count, 2 * sizeof *space);
  if (space == NULL)
    return pc_fail_memory(err, "collecting a tally");
  *column = (pc_sorted_column){space, space + field->count, field->count};
  for (size_t i = 0; i < field->count; i++) {
    column->score[i] = ((const double *)field->items)[2 * i];
    column->weight[i] = ((const double *)field->items)[2 * i + 1];
  }
  field_scores_order_ties(column);
  return PCAL_OK;
}
