#include "calibrators/fit_field.h"

#include <math.h>
#include <string.h>

#define FIT_TALLY_FIELD_BYTES 9   /* kind, count */
#define FIT_TALLY_WEIGHT_MAX 1e12 /* of a row: data/row_check.h */

static size_t fit_tally_item(const pc_fit_field *field) {
  switch (field->kind) {
  case PC_FIT_SUMS:
    return sizeof(pc_sum);
  case PC_FIT_FIXED:
    return sizeof(pc_fixed);
  case PC_FIT_COUNTS:
    return sizeof(uint64_t);
  case PC_FIT_MOST:
    return sizeof(double);
  case PC_FIT_SCORES:
    return 2 * sizeof(double);
  default: /* samples and lists of rows */
    return field->width * sizeof(double);
  }
}

static int fit_tally_is_numbers(pc_fit_field_kind kind) {
  return kind <= PC_FIT_MOST;
}

static pcal_status fit_tally_misfit(pcal_error *err) {
  return pc_fail(err, PCAL_DATA,
                 "the request or a tally is damaged: its contents contradict each other; begin "
                 "the rounds again");
}

void pc_fit_tally_init(pc_fit_tally *tally, const pcal_env *env) {
  *tally = (pc_fit_tally){.env = env};
}

static void fit_tally_free_field(const pcal_env *env, pc_fit_field *field) {
  if (field->kind == PC_FIT_RANGES && field->items != NULL)
    pc_sparse_tally_free(field->items);
  pc_free(env, field->items);
  pc_free(env, field->keys);
}

void pc_fit_tally_free(pc_fit_tally *tally) {
  if (tally->env == NULL)
    return;
  for (size_t f = 0; f < tally->count; f++)
    fit_tally_free_field(tally->env, &tally->fields[f]);
  pc_free(tally->env, tally->fields);
  *tally = (pc_fit_tally){.env = tally->env};
}

/* ---- Fields ---- */

/* Makes room for `count` items and, of samples, keys. */
static pcal_status fit_tally_reserve(const pcal_env *env, pc_fit_field *field, size_t count,
                                     pcal_error *err) {
  void *items = field->items, *keys = field->keys;
  const pcal_status status =
      pc_reserve(env, &items, &field->capacity, count, fit_tally_item(field), err);
  field->items = items;
  PC_TRY(status);
  if (field->kind != PC_FIT_SAMPLE)
    return PCAL_OK;
  const pcal_status keyed =
      pc_reserve(env, &keys, &field->key_capacity, count, sizeof *field->keys, err);
  field->keys = keys;
  return keyed;
}

/* Appends an empty field; numbers begin as those of no rows. */
static pcal_status fit_tally_append(pc_fit_tally *tally, const pc_fit_field *like,
                                    pcal_error *err) {
  void *fields = tally->fields;
  const pcal_status status = pc_reserve(tally->env, &fields, &tally->capacity, tally->count + 1,
                                        sizeof *tally->fields, err);
  tally->fields = fields;
  PC_TRY(status);
  pc_fit_field *field = &tally->fields[tally->count];
  *field = (pc_fit_field){.kind = like->kind, .width = like->width, .limit = like->limit};
  if (fit_tally_is_numbers(like->kind) && like->count > 0) {
    field->items = pc_alloc(tally->env, like->count, fit_tally_item(like));
    if (field->items == NULL)
      return pc_fail_memory(err, "collecting a tally");
    field->count = field->capacity = like->count;
    for (size_t i = 0; like->kind == PC_FIT_MOST && i < like->count; i++)
      ((double *)field->items)[i] = -INFINITY;
  }
  tally->count++;
  return PCAL_OK;
}

static int fit_tally_alike(const pc_fit_field *a, const pc_fit_field *b) {
  return a->kind == b->kind && a->width == b->width && a->limit == b->limit &&
         (!fit_tally_is_numbers(a->kind) || a->count == b->count);
}

/* ---- Merging ---- */

static int fit_tally_add_sums(pc_sum *into, const pc_sum *from, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!pc_sum_addable(&into[i], &from[i]))
      return 0;
    pc_sum_merge(&into[i], &from[i]);
  }
  return 1;
}

static int fit_tally_add_fixed(pc_fixed *into, const pc_fixed *from, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!pc_fixed_addable(&into[i], &from[i]))
      return 0;
    into[i].units += from[i].units;
  }
  return 1;
}

/* Adds numbers; returns 0 if they are too large. */
static int fit_tally_add_numbers(pc_fit_field_kind kind, void *into, const void *from,
                                 size_t count) {
  if (kind == PC_FIT_SUMS)
    return fit_tally_add_sums(into, from, count);
  if (kind == PC_FIT_FIXED)
    return fit_tally_add_fixed(into, from, count);
  uint64_t *counts = into;
  const uint64_t *more = from;
  for (size_t i = 0; kind == PC_FIT_COUNTS && i < count; i++) {
    if (counts[i] > UINT64_MAX - more[i])
      return 0;
    counts[i] += more[i];
  }
  double *most = into;
  const double *others = from;
  for (size_t i = 0; kind == PC_FIT_MOST && i < count; i++)
    most[i] = others[i] > most[i] ? others[i] : most[i];
  return 1;
}

/* ---- Samples and lists ---- */

static int fit_tally_within(unsigned level, uint64_t key) {
  return level == 0 || (level < 64 && key >> (64 - level) == 0);
}

/* Keeps the rows of the level. */
static void fit_tally_sift(pc_fit_field *field) {
  double *rows = field->items;
  size_t kept = 0;
  for (size_t i = 0; i < field->count; i++) {
    if (!fit_tally_within(field->level, field->keys[i]))
      continue;
    field->keys[kept] = field->keys[i];
    memmove(rows + kept * field->width, rows + i * field->width, field->width * sizeof *rows);
    kept++;
  }
  field->count = kept;
}

void pc_fit_field_raise(pc_fit_field *field, unsigned level) {
  if (level <= field->level)
    return;
  field->level = level;
  fit_tally_sift(field);
}

static double fit_tally_heavy(const pc_fit_field *field) {
  const double *rows = field->items;
  double heavy = 0.0;
  for (size_t i = 0; i < field->count; i++)
    heavy += ceil(rows[i * field->width]);
  return heavy;
}

/* Keeps the limit of a sample or a list. */
static void fit_tally_limit(pc_fit_field *field) {
  if (field->kind == PC_FIT_LIST && (field->full || field->count > field->limit)) {
    field->full = 1;
    field->count = 0;
  }
  while (field->kind == PC_FIT_SAMPLE && field->level < 64 &&
         fit_tally_heavy(field) > (double)field->limit) {
    field->level++;
    fit_tally_sift(field);
  }
}

static pcal_status fit_tally_add_rows(const pcal_env *env, pc_fit_field *into,
                                      const pc_fit_field *from, pcal_error *err) {
  PC_TRY(fit_tally_reserve(env, into, into->count + from->count, err));
  if (from->count > 0)
    memcpy((double *)into->items + into->count * into->width, from->items,
           from->count * into->width * sizeof(double));
  if (from->kind == PC_FIT_SAMPLE && from->count > 0)
    memcpy(into->keys + into->count, from->keys, from->count * sizeof *into->keys);
  into->count += from->count;
  into->full |= from->full;
  if (into->kind == PC_FIT_SAMPLE) {
    pc_fit_field_raise(into, from->level);
    fit_tally_sift(into);
  }
  fit_tally_limit(into);
  pc_fit_field_sort_rows(into);
  return PCAL_OK;
}

/* ---- Whole tallies ---- */

static pcal_status fit_tally_merge_field(const pcal_env *env, pc_fit_field *into,
                                         const pc_fit_field *from, pcal_error *err) {
  if (!fit_tally_alike(into, from))
    return fit_tally_misfit(err);
  if (fit_tally_is_numbers(into->kind))
    return fit_tally_add_numbers(into->kind, into->items, from->items, into->count)
               ? PCAL_OK
               : fit_tally_misfit(err);
  if (into->kind == PC_FIT_RANGES)
    return pc_fit_field_merge_ranges(env, into, from->items, err);
  return into->kind == PC_FIT_SCORES
             ? pc_fit_field_add_pairs(env, into, from->items, from->count, err)
             : fit_tally_add_rows(env, into, from, err);
}

pcal_status pc_fit_tally_merge(pc_fit_tally *into, const pc_fit_tally *from, pcal_error *err) {
  const int first = into->count == 0;
  if (!first && into->count != from->count)
    return fit_tally_misfit(err);
  for (size_t f = 0; f < from->count; f++) {
    if (first)
      PC_TRY(fit_tally_append(into, &from->fields[f], err));
    PC_TRY(fit_tally_merge_field(into->env, &into->fields[f], &from->fields[f], err));
  }
  return PCAL_OK;
}

/* ---- Bytes ---- */

static void fit_tally_encode_rows(pc_encoder *out, const pc_fit_field *field) {
  const double *rows = field->items;
  pc_encode_u64(out, field->width);
  pc_encode_u64(out, field->limit);
  pc_encode_u8(out, field->level);
  pc_encode_u8(out, field->full != 0);
  for (size_t i = 0; i < field->count; i++) {
    if (field->kind == PC_FIT_SAMPLE)
      pc_encode_u64(out, field->keys[i]);
    pc_encode_doubles(out, rows + i * field->width, field->width);
  }
}

static void fit_tally_encode_numbers(pc_encoder *out, const pc_fit_field *field) {
  for (size_t i = 0; i < field->count; i++) {
    if (field->kind == PC_FIT_SUMS)
      pc_encode_sum(out, (const pc_sum *)field->items + i);
    else if (field->kind == PC_FIT_FIXED)
      pc_encode_fixed(out, (const pc_fixed *)field->items + i);
    else if (field->kind == PC_FIT_COUNTS)
      pc_encode_varint(out, ((const uint64_t *)field->items)[i]);
    else
      pc_encode_doubles(out, (const double *)field->items + i, 1);
  }
}

void pc_encode_fit_tally(pc_encoder *out, const pc_fit_tally *tally) {
  pc_encode_u64(out, tally->count);
  for (size_t f = 0; f < tally->count; f++) {
    const pc_fit_field *field = &tally->fields[f];
    pc_encode_u8(out, (unsigned)field->kind);
    pc_encode_u64(out, field->count);
    if (fit_tally_is_numbers(field->kind))
      fit_tally_encode_numbers(out, field);
    else if (field->kind == PC_FIT_SCORES)
      pc_fit_field_encode_scores(out, field);
    else if (field->kind == PC_FIT_RANGES)
      pc_fit_field_encode_ranges(out, field);
    else
      fit_tally_encode_rows(out, field);
  }
}

static void fit_tally_decode_numbers(pc_decoder *in, pc_fit_field *field) {
  for (size_t i = 0; i < field->count && !in->failed; i++) {
    if (field->kind == PC_FIT_SUMS) {
      pc_decode_sum(in, (pc_sum *)field->items + i);
    } else if (field->kind == PC_FIT_FIXED) {
      pc_decode_fixed(in, (pc_fixed *)field->items + i);
    } else if (field->kind == PC_FIT_COUNTS) {
      const pc_uint128 number = pc_decode_varint(in);
      pc_decoder_expect(in, number <= UINT64_MAX / 2);
      ((uint64_t *)field->items)[i] = (uint64_t)number;
    } else {
      double *most = (double *)field->items + i;
      pc_decode_doubles(in, most, 1);
      pc_decoder_expect(in, !isnan(*most));
    }
  }
}

static void fit_tally_decode_rows(pc_decoder *in, pc_fit_field *field) {
  for (size_t i = 0; i < field->count && !in->failed; i++) {
    double *row = (double *)field->items + i * field->width;
    if (field->kind == PC_FIT_SAMPLE)
      field->keys[i] = pc_decode_u64(in);
    pc_decode_doubles(in, row, field->width);
    pc_decoder_expect(in, row[0] > 0.0 && row[0] <= FIT_TALLY_WEIGHT_MAX);
    for (size_t j = 0; j < field->width; j++)
      pc_decoder_expect(in, !isnan(row[j]));
  }
}

/* The head of a sample or a list, whose rows take `count` times `width` doubles. */
static void fit_tally_decode_head(pc_decoder *in, size_t count, pc_fit_field *field) {
  const uint64_t width = pc_decode_u64(in);
  field->limit = pc_decode_u64(in);
  const unsigned level = pc_decode_u8(in), full = pc_decode_u8(in);
  pc_decoder_expect(in, width > 0 && width <= UINT32_MAX && level <= 64 && full <= 1 &&
                            field->limit <= UINT32_MAX);
  pc_decoder_expect(in, in->failed || count == 0 ||
                            width <= pc_decoder_left(in) / sizeof(double) / count);
  field->width = in->failed ? 1 : (size_t)width;
  field->level = level;
  field->full = (int)full;
}

static pcal_status fit_tally_decode_field(pc_decoder *in, pc_fit_tally *out, pcal_error *err) {
  pc_fit_field like = {.kind = PC_FIT_COUNTS};
  const unsigned kind = pc_decode_u8(in);
  const size_t count = pc_decode_count(in, 1);
  pc_decoder_expect(in, kind < PC_FIT_KINDS);
  if (in->failed)
    return PCAL_OK;
  like.kind = (pc_fit_field_kind)kind;
  const int rows = like.kind == PC_FIT_SAMPLE || like.kind == PC_FIT_LIST;
  if (rows)
    fit_tally_decode_head(in, count, &like);
  like.count = fit_tally_is_numbers(like.kind) ? count : 0;
  if (in->failed)
    return PCAL_OK;
  PC_TRY(fit_tally_append(out, &like, err));
  pc_fit_field *field = &out->fields[out->count - 1];
  field->level = like.level;
  field->full = like.full;
  if (fit_tally_is_numbers(field->kind)) {
    fit_tally_decode_numbers(in, field);
    return PCAL_OK;
  }
  if (field->kind == PC_FIT_RANGES)
    return pc_fit_field_decode_ranges(in, out->env, field, count, err);
  PC_TRY(fit_tally_reserve(out->env, field, count, err));
  field->count = count;
  if (rows)
    fit_tally_decode_rows(in, field);
  else
    pc_fit_field_decode_scores(in, field);
  return PCAL_OK;
}

pcal_status pc_decode_fit_tally(pc_decoder *in, pc_fit_tally *out, pcal_error *err) {
  const size_t count = pc_decode_count(in, FIT_TALLY_FIELD_BYTES);
  for (size_t f = 0; f < count && !in->failed; f++)
    PC_TRY(fit_tally_decode_field(in, out, err));
  return PCAL_OK;
}

/* ---- Listing fields ---- */

pcal_status pc_fit_field_next(pc_fit_fields *fields, const pc_fit_field *like,
                              pc_fit_field **out, pcal_error *err) {
  pc_fit_tally *tally = fields->tally;
  if (fields->next == tally->count && !fields->taking)
    PC_TRY(fit_tally_append(tally, like, err));
  if (fields->next >= tally->count || !fit_tally_alike(&tally->fields[fields->next], like))
    return fit_tally_misfit(err);
  *out = &tally->fields[fields->next++];
  return PCAL_OK;
}

static pcal_status fit_tally_numbers(pc_fit_fields *fields, pc_fit_field_kind kind,
                                     void *numbers, size_t count, pcal_error *err) {
  const pc_fit_field like = {.kind = kind, .count = count};
  pc_fit_field *field = NULL;
  PC_TRY(pc_fit_field_next(fields, &like, &field, err));
  const int fits = fields->taking ? fit_tally_add_numbers(kind, numbers, field->items, count)
                                  : fit_tally_add_numbers(kind, field->items, numbers, count);
  return fits ? PCAL_OK : fit_tally_misfit(err);
}

pcal_status pc_fit_field_sums(pc_fit_fields *fields, pc_sum *sums, size_t count,
                              pcal_error *err) {
  return fit_tally_numbers(fields, PC_FIT_SUMS, sums, count, err);
}

pcal_status pc_fit_field_fixed(pc_fit_fields *fields, pc_fixed *sums, size_t count,
                               pcal_error *err) {
  return fit_tally_numbers(fields, PC_FIT_FIXED, sums, count, err);
}

pcal_status pc_fit_field_counts(pc_fit_fields *fields, uint64_t *counts, size_t count,
                                pcal_error *err) {
  return fit_tally_numbers(fields, PC_FIT_COUNTS, counts, count, err);
}

pcal_status pc_fit_field_most(pc_fit_fields *fields, double *most, size_t count,
                              pcal_error *err) {
  return fit_tally_numbers(fields, PC_FIT_MOST, most, count, err);
}

pcal_status pc_fit_field_rows(pc_fit_fields *fields, pc_fit_field_kind kind, size_t width,
                              uint64_t limit, pc_fit_field **out, pcal_error *err) {
  const pc_fit_field like = {.kind = kind, .width = width, .limit = limit};
  return pc_fit_field_next(fields, &like, out, err);
}

pcal_status pc_fit_field_add_row(pc_fit_fields *fields, pc_fit_field *field, uint64_t key,
                                 const double *row, pcal_error *err) {
  if (field->full || (field->kind == PC_FIT_SAMPLE && !fit_tally_within(field->level, key)))
    return PCAL_OK;
  PC_TRY(fit_tally_reserve(fields->tally->env, field, field->count + 1, err));
  memcpy((double *)field->items + field->count * field->width, row, field->width * sizeof *row);
  if (field->kind == PC_FIT_SAMPLE)
    field->keys[field->count] = key;
  field->count++;
  if (field->count > field->limit || row[0] != 1.0)
    fit_tally_limit(field);
  return PCAL_OK;
}
