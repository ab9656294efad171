/* Tallies of replicas as bytes, their merging, and the checks of what was read. */
#include <math.h>

#include "measure/replicas/replica_tally.h"

#define TALLY_NUMBER_END 0x1p53 /* numbers in units of the lattice are below this */

/* All numbers of a tally in their order, with the unit of each. */
typedef void (*tally_visit)(void *user, double *number, unsigned bits);

static void tally_visit_slot(const pc_replica_tally *tally, const pc_tally_slot *slot,
                             tally_visit visit, void *user) {
  for (size_t r = 0; r < slot->ranges; r++)
    visit(user, &slot->tilt[r], tally->bits);
  for (size_t i = 0; i < tally->replicas * slot->kinds * slot->ranges; i++)
    visit(user, &slot->sums[i],
          i / slot->ranges % slot->kinds < PC_REPLICA_SUM_SCORE ? 0 : tally->bits);
}

static void tally_visit_all(pc_replica_tally *tally, tally_visit visit, void *user) {
  pc_row_moments *rows = &tally->moments;
  double *const whole[] = {&rows->total, &rows->copies, &rows->hits};
  double *const sums[] = {&rows->scores, &rows->claimed, &rows->shown, &rows->claimed_classes,
                          &rows->shown_classes};
  for (size_t i = 0; i < tally->replicas; i++)
    visit(user, &tally->totals[i], 0);
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    visit(user, whole[i], 0);
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
    visit(user, sums[i], tally->bits);
  for (size_t e = 0; e < tally->entry_count; e++) {
    pc_gap_moments *gaps = &tally->gaps[e];
    visit(user, &gaps->gap, tally->bits);
    visit(user, &gaps->square, tally->bits);
    visit(user, &gaps->claimed, tally->bits);
    visit(user, &gaps->gap_square, tally->bits);
  }
  for (size_t s = 0; s < tally->slot_count; s++)
    tally_visit_slot(tally, &tally->slots[s], visit, user);
}

/* ---- writing and reading ---- */

static void tally_write_number(void *user, double *number, unsigned bits) {
  const int64_t units = (int64_t)ldexp(*number, (int)bits);
  const uint64_t size = (uint64_t)(units < 0 ? -units : units);
  pc_encode_varint(user, size << 1 | (units < 0));
}

void pc_encode_replica_tally(pc_encoder *out, const pc_replica_tally *tally) {
  pc_replica_tally view = *tally; /* the numbers are only read */
  pc_encode_u8(out, tally->bits);
  for (int k = PC_TALLY_WEIGHTS; k < PC_TALLY_KINDS; k++)
    pc_encode_varint(out, tally->counts[k]);
  pc_encode_varint(out, tally->slot_count);
  pc_encode_varint(out, tally->sum_count);
  pc_encode_varint(out, tally->entry_count);
  for (size_t s = 0; s < tally->slot_count; s++) {
    pc_encode_varint(out, tally->slots[s].slot);
    pc_encode_varint(out, tally->slots[s].kinds);
    pc_encode_varint(out, tally->slots[s].ranges);
  }
  for (size_t s = 0; s < tally->sum_count; s++) {
    pc_encode_varint(out, tally->sums[s].slot);
    pc_encode_varint(out, tally->sums[s].values);
  }
  tally_visit_all(&view, tally_write_number, out);
  for (size_t s = 0; s < tally->sum_count; s++)
    pc_encode_tally_sums(out, &tally->sums[s], tally->counts[PC_TALLY_LABELS]);
}

static void tally_read_number(void *user, double *number, unsigned bits) {
  pc_decoder *in = user;
  const pc_uint128 code = pc_decode_varint(in);
  pc_decoder_expect(in, code >> 1 < (pc_uint128)TALLY_NUMBER_END && code != 1);
  const double size = in->failed ? 0.0 : ldexp((double)(uint64_t)(code >> 1), -(int)bits);
  *number = code & 1 ? -size : size;
}

/* A number of items, each of which takes at least a byte. */
static size_t tally_read_count(pc_decoder *in) {
  const pc_uint128 count = pc_decode_varint(in);
  pc_decoder_expect(in, count <= pc_decoder_left(in));
  return in->failed ? 0 : (size_t)count;
}

/* Reads the form; fails unless the bytes that are left can hold its numbers. */
static pcal_status tally_read_form(pc_decoder *in, pc_replica_tally *out, pcal_error *err) {
  out->bits = pc_decode_u8(in);
  pc_decoder_expect(in, out->bits >= 1 && out->bits <= PC_ROW_LATTICE_BITS_MAX);
  out->counts[PC_TALLY_DATA] = 1;
  pc_uint128 replicas = 1, numbers = 0, sums_bytes = 0;
  for (int k = PC_TALLY_WEIGHTS; k < PC_TALLY_KINDS; k++)
    replicas += out->counts[k] = tally_read_count(in);
  const size_t slots = tally_read_count(in), sums = tally_read_count(in);
  out->entry_count = tally_read_count(in);
  if (in->failed)
    return PCAL_OK;
  out->slots = pc_alloc(out->env, slots, sizeof *out->slots);
  out->sums = pc_alloc(out->env, sums, sizeof *out->sums);
  if (out->slots == NULL || out->sums == NULL)
    return pc_fail_memory(err, "reading a tally");
  for (size_t s = 0; s < slots && !in->failed; s++) {
    pc_tally_slot *slot = &out->slots[s];
    slot->slot = tally_read_count(in);
    slot->kinds = tally_read_count(in);
    slot->ranges = tally_read_count(in);
    pc_decoder_expect(in, slot->kinds == 3 || slot->kinds == PC_REPLICA_SUM_COUNT);
    numbers += slot->ranges * (slot->kinds * replicas + 1);
  }
  for (size_t s = 0; s < sums && !in->failed; s++) {
    out->sums[s].slot = tally_read_count(in);
    out->sums[s].values = tally_read_count(in);
    const pc_uint128 count = (pc_uint128)out->sums[s].values * out->counts[PC_TALLY_LABELS];
    numbers += PC_TALLY_SUM_BYTES_LEAST * count;
    sums_bytes += sizeof(pc_tally_sum) * count;
  }
  /* A hundred times as many bytes as here. */
  pc_decoder_expect(in, sums_bytes <= PC_TALLY_SUMS_BYTES);
  numbers += replicas + PC_ROW_MOMENTS + (pc_uint128)PC_GAP_MOMENTS * out->entry_count;
  pc_decoder_expect(in, numbers <= pc_decoder_left(in));
  out->slot_count = in->failed ? 0 : slots;
  out->sum_count = in->failed ? 0 : sums;
  return PCAL_OK;
}

pcal_status pc_decode_replica_tally(pc_decoder *in, const pcal_env *env, pc_replica_tally *out,
                                    pcal_error *err) {
  *out = (pc_replica_tally){.env = env};
  PC_TRY(tally_read_form(in, out, err));
  if (in->failed)
    return PCAL_OK;
  PC_TRY(pc_replica_tally_room(env, out, err));
  tally_visit_all(out, tally_read_number, in);
  for (size_t s = 0; s < out->sum_count && !in->failed; s++)
    pc_decode_tally_sums(in, &out->sums[s], out->counts[PC_TALLY_LABELS]);
  return PCAL_OK;
}

/* ---- merging ---- */

static int tally_same_form(const pc_replica_tally *a, const pc_replica_tally *b) {
  int same =
      a->bits == b->bits && a->slot_count == b->slot_count && a->entry_count == b->entry_count;
  for (size_t k = 0; k < PC_TALLY_KINDS; k++)
    same = same && a->counts[k] == b->counts[k];
  for (size_t s = 0; same && s < a->slot_count; s++)
    same = a->slots[s].slot == b->slots[s].slot && a->slots[s].kinds == b->slots[s].kinds &&
           a->slots[s].ranges == b->slots[s].ranges;
  same = same && a->sum_count == b->sum_count;
  for (size_t s = 0; same && s < a->sum_count; s++)
    same = a->sums[s].slot == b->sums[s].slot && a->sums[s].values == b->sums[s].values;
  return same;
}

/* The numbers of a tally in a list, for adding them to another. */
typedef struct tally_list {
  double **numbers;
  size_t count;
  int over; /* a sum is too large */
} tally_list;

static void tally_list_number(void *user, double *number, unsigned bits) {
  tally_list *list = user;
  (void)bits;
  if (list->numbers != NULL)
    list->numbers[list->count] = number;
  list->count++;
}

static void tally_add_number(void *user, double *number, unsigned bits) {
  tally_list *list = user;
  *number += *list->numbers[list->count++];
  list->over |= !(ldexp(fabs(*number), (int)bits) < TALLY_NUMBER_END);
}

pcal_status pc_replica_tally_merge(pc_replica_tally *into, const pc_replica_tally *from,
                                   pcal_error *err) {
  pc_replica_tally view = *from; /* the numbers are only read */
  tally_list list = {0};
  if (!tally_same_form(into, from))
    return pc_fail(err, PCAL_USAGE,
                   "the tallies answer different requests; merge those of one round only");
  tally_visit_all(&view, tally_list_number, &list);
  list.numbers = pc_alloc_raw(into->env, list.count, sizeof *list.numbers);
  if (list.numbers == NULL)
    return pc_fail_memory(err, "merging tallies");
  list.count = 0;
  tally_visit_all(&view, tally_list_number, &list);
  list.count = 0;
  tally_visit_all(into, tally_add_number, &list);
  pc_free(into->env, list.numbers);
  for (size_t s = 0; s < into->sum_count; s++)
    PC_TRY(pc_tally_sums_merge(&into->sums[s], &from->sums[s], into->counts[PC_TALLY_LABELS],
                               err));
  return list.over ? pc_fail(err, PCAL_DATA,
                             "the tallies hold more rows than the first round; answer the "
                             "request again")
                   : PCAL_OK;
}

/* ---- checking ---- */

/* The sums of a bin that rows can have. */
static int tally_bin_fits(const double *sums, size_t kinds, size_t ranges, double total) {
  const double weight = sums[PC_REPLICA_SUM_WEIGHT * ranges];
  int fits = weight >= 0.0 && weight <= total;
  for (size_t k = PC_REPLICA_SUM_HITS; k < kinds; k++)
    fits &= sums[k * ranges] >= 0.0 && sums[k * ranges] <= weight;
  return fits;
}

static int tally_slot_fits(const pc_replica_tally *tally, const pc_tally_slot *slot,
                           size_t row_scores) {
  int fits = 1;
  for (size_t r = 0; r < slot->ranges; r++)
    fits &= slot->tilt[r] >= 0.0 && slot->tilt[r] <= slot->sums[r]; /* weight of the data */
  for (size_t i = 0; i < tally->replicas && fits; i++)
    for (size_t r = 0; r < slot->ranges; r++)
      fits &= tally_bin_fits(slot->sums + i * slot->kinds * slot->ranges + r, slot->kinds,
                             slot->ranges, tally->totals[i] * (double)row_scores);
  return fits;
}

int pc_replica_tally_fits(const pc_replica_tally *tally, const pc_replica_tally *form,
                          double weight) {
  const pc_row_moments *rows = &tally->moments;
  int fits = tally_same_form(tally, form) && tally->totals[0] == weight &&
             rows->total == weight && rows->copies == weight && rows->hits >= 0.0 &&
             rows->hits <= weight && rows->scores >= 0.0 && rows->scores <= weight &&
             rows->claimed >= 0.0 && rows->shown >= 0.0 && rows->claimed_classes >= 0.0 &&
             rows->shown_classes >= 0.0;
  for (size_t i = 0; fits && i < tally->replicas; i++)
    fits = tally->totals[i] >= 0.0;
  for (size_t e = 0; fits && e < tally->entry_count; e++)
    fits = tally->gaps[e].square >= 0.0 && tally->gaps[e].claimed >= 0.0 &&
           tally->gaps[e].gap_square >= 0.0;
  for (size_t s = 0; fits && s < tally->slot_count; s++)
    fits = tally_slot_fits(tally, &tally->slots[s], form->slots[s].row_scores);
  return fits;
}
