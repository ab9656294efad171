/* Tallies of replicas: bytes and back, sums of two, and every number that rows cannot have. */
#include "../unit.h"

#include "measure/replicas/replica_tally.h"
#include "sinks.h"

/* A lattice of quarters, two replicas beside the data, one grid of two bins, sums of two values of a row, and one
 * entry. */
static void tally_make(const pcal_env *env, pc_replica_tally *out) {
  *out = (pc_replica_tally){
      .env = env, .bits = 2, .slot_count = 1, .sum_count = 1, .entry_count = 1};
  out->counts[PC_TALLY_DATA] = out->counts[PC_TALLY_WEIGHTS] = out->counts[PC_TALLY_LABELS] = 1;
  out->slots = pc_alloc(env, 1, sizeof *out->slots);
  assert_non_null(out->slots);
  out->slots[0] = (pc_tally_slot){.slot = 1, .row_scores = 1, .kinds = 3, .ranges = 2};
  out->sums = pc_alloc(env, 1, sizeof *out->sums);
  assert_non_null(out->sums);
  out->sums[0] = (pc_tally_sums){.slot = 2, .values = 2};
  assert_int_equal(pc_replica_tally_room(env, out, NULL), PCAL_OK);
}

/* Four rows: three in the first bin, two of them hits, scores 0.25, 0.5, 0.5 and 0.75. */
static void tally_fill(pc_replica_tally *tally) {
  static const double sums[] = {3, 1, 2, 1, 1.25, 0.75};
  for (size_t i = 0; i < tally->replicas; i++) {
    tally->totals[i] = 4;
    memcpy(tally->slots[0].sums + 6 * i, sums, sizeof sums);
  }
  tally->slots[0].tilt[0] = 0.5;
  tally->slots[0].tilt[1] = 0.25;
  tally->moments = (pc_row_moments){4, 4, 3, 2, 0.75, 1, 0.5, 0.25};
  tally->gaps[0] = (pc_gap_moments){-0.5, 1, 0.75, 0.25};
  pc_sum_add(&tally->sums[0].sums[0].finite, 1.0 / 3);
  pc_sum_add(&tally->sums[0].sums[1].finite, 1e-300);
  pc_sum_add(&tally->sums[0].sums[1].infinite, 2);
}

static double tally_sum(const pc_replica_tally *tally) {
  double sum = tally->gaps[0].gap + tally->moments.scores + tally->slots[0].tilt[1];
  for (size_t i = 0; i < 6 * tally->replicas; i++)
    sum += (double)(i + 1) * tally->slots[0].sums[i];
  for (size_t v = 0; v < 2; v++)
    sum += pc_sum_value(&tally->sums[0].sums[v].finite) * (v == 0 ? 1 : 1e300) +
           pc_sum_value(&tally->sums[0].sums[v].infinite);
  return sum;
}

TEST(bytes_and_back) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_replica_tally tally, back;
  pc_encoder encoder;
  pc_decoder decoder;
  sink_bytes bytes = {0};
  tally_make(&env, &tally);
  tally_fill(&tally);
  pc_encoder_init(&encoder, sink_collect, &bytes);
  pc_encode_replica_tally(&encoder, &tally);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
  pc_decoder_init(&decoder, bytes.bytes, bytes.length);
  assert_int_equal(pc_decode_replica_tally(&decoder, &env, &back, NULL), PCAL_OK);
  pc_replica_tally_free(&back);
  const size_t whole = bytes.length - pc_decoder_left(&decoder); /* a checksum follows */
  assert_true(whole > 30);
  for (size_t length = 0; length <= whole; length++) { /* fewer bytes are refused */
    pc_decoder_init(&decoder, bytes.bytes, length);
    assert_int_equal(pc_decode_replica_tally(&decoder, &env, &back, NULL), PCAL_OK);
    assert_int_equal(decoder.failed, length < whole);
    if (!decoder.failed) {
      assert_true(pc_replica_tally_fits(&back, &tally, 4));
      assert_same(tally_sum(&back), tally_sum(&tally));
    }
    pc_replica_tally_free(&back);
  }
  free(bytes.bytes);
  pc_replica_tally_free(&tally);
}

/* Each byte of a tally is replaced: it is refused, or read within its limits. */
TEST(forged_bytes) {
  static const unsigned char forged[] = {0, 1, 2, 63, 127, 128, 255};
  const pcal_env env = pc_env_resolve(NULL);
  pc_replica_tally tally, back;
  pc_encoder encoder;
  sink_bytes bytes = {0};
  size_t refused = 0;
  tally_make(&env, &tally);
  tally_fill(&tally);
  pc_encoder_init(&encoder, sink_collect, &bytes);
  pc_encode_replica_tally(&encoder, &tally);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
  for (size_t at = 0; at < bytes.length; at++)
    for (size_t f = 0; f < UNIT_COUNT(forged); f++) {
      pc_decoder decoder;
      const char kept = bytes.bytes[at];
      bytes.bytes[at] = (char)forged[f];
      pc_decoder_init(&decoder, bytes.bytes, bytes.length);
      assert_int_equal(pc_decode_replica_tally(&decoder, &env, &back, NULL), PCAL_OK);
      refused += decoder.failed || !pc_replica_tally_fits(&back, &tally, 4);
      pc_replica_tally_free(&back);
      bytes.bytes[at] = kept;
    }
  assert_true(refused > bytes.length); /* other sums of row values are believed */
  free(bytes.bytes);
  pc_replica_tally_free(&tally);
}

/* Sums take a hundred times as much memory as bytes: more than rounds ask for are refused before that. */
TEST(forged_sums) {
  enum { FORGED_BYTES = 1 << 21 };
  static const uint64_t labels[] = {1000, 59000, 60000,
                                    120000}; /* of 1,136 bytes; 64 MiB hold 59,074 */
  const pcal_env env = pc_env_resolve(NULL);
  char *zeros = calloc(FORGED_BYTES, 1);
  for (size_t i = 0; i < UNIT_COUNT(labels); i++) {
    pc_encoder encoder;
    pc_decoder decoder;
    pc_replica_tally back;
    sink_bytes bytes = {0};
    pc_encoder_init(&encoder, sink_collect, &bytes);
    pc_encode_u8(&encoder, 2);
    for (int kind = PC_TALLY_WEIGHTS; kind < PC_TALLY_KINDS; kind++)
      pc_encode_varint(&encoder, kind == PC_TALLY_LABELS ? labels[i] : 0);
    static const uint64_t form[] = {0, 1, 0, 2,
                                    1}; /* slots, slots of sums, entries; slot, values */
    for (size_t f = 0; f < UNIT_COUNT(form); f++)
      pc_encode_varint(&encoder, form[f]);
    pc_encode_bytes(&encoder, zeros, FORGED_BYTES);
    assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
    pc_decoder_init(&decoder, bytes.bytes, bytes.length);
    assert_int_equal(pc_decode_replica_tally(&decoder, &env, &back, NULL), PCAL_OK);
    if ((back.sum_count > 0) != (labels[i] * sizeof(pc_tally_sum) <= PC_TALLY_SUMS_BYTES))
      fail_msg("%d sums", (int)labels[i]);
    pc_replica_tally_free(&back);
    free(bytes.bytes);
  }
  free(zeros);
}

/* As many numbers as a request asks for with 1,000 replicas, all as large as they may be: 8 bytes each. */
TEST(the_largest_tally) {
  const pcal_env env = pc_env_resolve(NULL);
  const double most = 0x1p53 - 1;
  pc_replica_tally tally = {.env = &env, .bits = 20, .slot_count = 1};
  pc_encoder encoder;
  size_t length = 0;
  tally.counts[PC_TALLY_DATA] = 1;
  tally.counts[PC_TALLY_WEIGHTS] = 1000;
  tally.slots = pc_alloc(&env, 1, sizeof *tally.slots);
  assert_non_null(tally.slots);
  tally.slots[0] = (pc_tally_slot){
      .row_scores = 1, .kinds = PC_REPLICA_SUM_COUNT, .ranges = PC_ROUND_DRAWS_MAX / 1001 / 5};
  assert_int_equal(pc_replica_tally_room(&env, &tally, NULL), PCAL_OK);
  const size_t ranges = tally.slots[0].ranges, numbers = 1001 * PC_REPLICA_SUM_COUNT * ranges;
  for (size_t i = 0; i < numbers; i++)
    tally.slots[0].sums[i] =
        i / ranges % PC_REPLICA_SUM_COUNT < PC_REPLICA_SUM_SCORE ? most : ldexp(-most, -20);
  pc_encoder_init(&encoder, sink_count, &length);
  pc_encode_replica_tally(&encoder, &tally);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
  assert_true(length > 8 * numbers && length <= 8 * PC_ROUND_DRAWS_MAX + 20000);
  pc_replica_tally_free(&tally);
}

TEST(numbers_that_rows_cannot_have) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_replica_tally tally, form;
  tally_make(&env, &tally);
  tally_make(&env, &form);
  tally_fill(&tally);
  assert_true(pc_replica_tally_fits(&tally, &form, 4));
  assert_false(pc_replica_tally_fits(&tally, &form, 5));
  pc_row_moments *rows = &tally.moments;
  pc_gap_moments *gaps = tally.gaps;
  const pc_tally_slot *slot = tally.slots;
  const struct {
    double *number, value;
  } lies[] = {
      {&tally.totals[0], 5},
      {&tally.totals[2], -1},
      {&rows->total, 3},
      {&rows->copies, 5},
      {&rows->hits, -1},
      {&rows->hits, 5},
      {&rows->scores, -0.25},
      {&rows->scores, 4.25},
      {&rows->claimed, -0.25},
      {&rows->shown, -0.25},
      {&rows->claimed_classes, -1},
      {&rows->shown_classes, -1},
      {&gaps->square, -1},
      {&gaps->claimed, -1},
      {&gaps->gap_square, -1},
      {&slot->tilt[0], -0.25},
      {&slot->tilt[1], 1.25},
      {&slot->sums[0], -1},
      {&slot->sums[6], 5},
      {&slot->sums[6 + 2], 4},
      {&slot->sums[6 + 3], -1},
      {&slot->sums[12 + 4], 3.25},
      {&slot->sums[12 + 5], -0.25},
  };
  for (size_t i = 0; i < UNIT_COUNT(lies); i++) {
    const double kept = *lies[i].number;
    *lies[i].number = lies[i].value;
    if (pc_replica_tally_fits(&tally, &form, 4))
      fail_msg("lie %zu was believed", i);
    *lies[i].number = kept;
  }
  assert_true(pc_replica_tally_fits(&tally, &form, 4));
  pc_replica_tally_free(&tally);
  pc_replica_tally_free(&form);
}

TEST(sums_of_two) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_replica_tally a, b;
  pcal_error err = PCAL_ERROR_INIT;
  tally_make(&env, &a);
  tally_make(&env, &b);
  tally_fill(&a);
  tally_fill(&b);
  const double one = tally_sum(&a);
  assert_int_equal(pc_replica_tally_merge(&a, &b, NULL), PCAL_OK);
  assert_same(tally_sum(&a), 2 * one);
  assert_true(pc_replica_tally_fits(&a, &b, 8));

  b.moments.scores = 0x1p51; /* 2^53 quarters */
  assert_int_equal(pc_replica_tally_merge(&a, &b, &err), PCAL_DATA);
  assert_non_null(strstr(err.message, "more rows than the first round"));
  pc_replica_tally_free(&a);
  pc_replica_tally_free(&b);
}

/* Tallies of other forms: in every number of the form. */
TEST(other_forms_are_refused) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_replica_tally a, b;
  pcal_error err = PCAL_ERROR_INIT;
  tally_make(&env, &a);
  tally_make(&env, &b);
  size_t *const numbers[] = {
      &b.slot_count,    &b.entry_count,    &b.counts[0],       &b.counts[PC_TALLY_WEIGHTS],
      &b.slots[0].slot, &b.slots[0].kinds, &b.slots[0].ranges, &b.sum_count,
      &b.sums[0].slot,  &b.sums[0].values};
  for (size_t i = 0; i < UNIT_COUNT(numbers); i++) {
    ++*numbers[i];
    assert_int_equal(pc_replica_tally_merge(&a, &b, &err), PCAL_USAGE);
    assert_non_null(strstr(err.message, "the tallies answer different requests"));
    --*numbers[i];
  }
  b.bits++;
  assert_int_equal(pc_replica_tally_merge(&a, &b, &err), PCAL_USAGE);
  b.bits--;
  assert_int_equal(pc_replica_tally_merge(&a, &b, &err), PCAL_OK);
  pc_replica_tally_free(&a);
  pc_replica_tally_free(&b);
}

static pcal_status tally_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const sink_bytes *bytes = user;
  const pcal_env resolved = pc_env_resolve(env);
  pc_replica_tally tally, more;
  pc_decoder decoder;
  pc_decoder_init(&decoder, bytes->bytes, bytes->length);
  pcal_status status = pc_decode_replica_tally(&decoder, &resolved, &tally, err);
  pc_decoder_init(&decoder, bytes->bytes, bytes->length);
  more = (pc_replica_tally){0};
  if (status == PCAL_OK)
    status = pc_decode_replica_tally(&decoder, &resolved, &more, err);
  if (status == PCAL_OK)
    status = pc_replica_tally_merge(&tally, &more, err);
  pc_replica_tally_free(&tally);
  pc_replica_tally_free(&more);
  return status;
}

TEST(survives_every_failed_allocation) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_replica_tally tally;
  pc_encoder encoder;
  sink_bytes bytes = {0};
  tally_make(&env, &tally);
  tally_fill(&tally);
  pc_encoder_init(&encoder, sink_collect, &bytes);
  pc_encode_replica_tally(&encoder, &tally);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
  unit_fail_each_allocation(tally_scenario, &bytes);
  free(bytes.bytes);
  pc_replica_tally_free(&tally);
}
