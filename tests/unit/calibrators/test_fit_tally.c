/* Tallies of scores have the same bytes however they are merged. */
#include "calibrators/fit_tally.h"

#include "sinks.h"
#include "testing.h"

enum { PARTS = 5 };

/* A tally with one field: these weights of score 0.5, ascending. */
static pc_fit_tally tally_of(const double *weights, size_t count, const pcal_env *env) {
  pc_fit_tally tally;
  double score[PARTS], weight[PARTS];
  pc_sorted_column column = {score, weight, count};
  for (size_t i = 0; i < count; i++) {
    score[i] = 0.5;
    weight[i] = weights[i];
  }
  pc_fit_tally_init(&tally, env);
  pc_fit_fields fields = {&tally, 0, 0};
  assert_int_equal(pc_fit_field_scores(&fields, env, &column, NULL), PCAL_OK);
  return tally;
}

static sink_bytes bytes_of(const pc_fit_tally *tally) {
  sink_bytes out = {0};
  pc_encoder encoder;
  pc_encoder_init(&encoder, sink_collect, &out);
  pc_encode_fit_tally(&encoder, tally);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
  return out;
}

/* Tallies of one weight each, merged from a chosen part on, around the circle. */
static sink_bytes merged_from(const double *weights, size_t first, size_t step,
                              const pcal_env *env) {
  pc_fit_tally sum;
  pc_fit_tally_init(&sum, env);
  for (size_t i = 0; i < PARTS; i++) {
    pc_fit_tally part = tally_of(&weights[(first + i * step) % PARTS], 1, env);
    assert_int_equal(pc_fit_tally_merge(&sum, &part, NULL), PCAL_OK);
    pc_fit_tally_free(&part);
  }
  sink_bytes out = bytes_of(&sum);
  pc_fit_tally_free(&sum);
  return out;
}

TEST(any_order_of_merging_gives_the_same_bytes) {
  static const double cases[][PARTS] = {
      {1.0, 1.5, 2.0, 2.5, 4.0},
      {1.0, 1.0, 1.5, 3.0, 7.0},
      {0.25, 1.0, 2.0, 3.0, 0x1p53 - 3.0},
      {1.0, 2.0, 0x1p53 - 1.0, 0x1p53 - 1.0, 0x1p53},
      {3.0, 5.0, 7.0, 0x1p53 - 2.0, 0x1p53},
      {1.5, 0x1p52, 0x1p52 + 1.0, 0x1p53, 0x1p53},
  };
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    pc_fit_tally whole = tally_of(cases[c], PARTS, &env);
    sink_bytes known = bytes_of(&whole);
    for (size_t first = 0; first < PARTS; first++)
      for (size_t step = 1; step < PARTS; step++) {
        sink_bytes found = merged_from(cases[c], first, step, &env);
        assert_int_equal(found.length, known.length);
        assert_memory_equal(found.bytes, known.bytes, known.length);
        free(found.bytes);
      }
    free(known.bytes);
    pc_fit_tally_free(&whole);
  }
}

TEST(taken_scores_have_ascending_weights) {
  static const double weights[] = {1.0, 1.5, 2.0, 5.5};
  const pcal_env env = pc_env_resolve(NULL);
  pc_fit_tally tally = tally_of(weights, 4, &env);
  pc_fit_fields fields = {&tally, 0, 1};
  pc_sorted_column column;
  assert_int_equal(pc_fit_field_scores(&fields, &env, &column, NULL), PCAL_OK);
  assert_int_equal(column.count, 3);
  assert_true(column.weight[0] == 1.5 && column.weight[1] == 3.0 && column.weight[2] == 5.5);
  pc_free(&env, column.score);
  pc_fit_tally_free(&tally);
}

/* The place of a number in the bytes of a tally, little endian. */
static unsigned char *place_of(sink_bytes bytes, double number) {
  unsigned char little[sizeof number];
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  for (size_t i = 0; i < sizeof little; i++)
    little[i] = (unsigned char)(bits >> (8 * i));
  for (size_t i = 0; i + sizeof little <= bytes.length; i++)
    if (memcmp((unsigned char *)bytes.bytes + i, little, sizeof little) == 0)
      return (unsigned char *)bytes.bytes + i;
  return NULL;
}

/* True if the bytes are those of a tally. */
static int decodes(sink_bytes bytes, const pcal_env *env) {
  pc_decoder decoder;
  pc_fit_tally tally;
  pc_fit_tally_init(&tally, env);
  pc_decoder_init(&decoder, bytes.bytes, bytes.length);
  const pcal_status status = pc_decode_fit_tally(&decoder, &tally, NULL);
  pc_fit_tally_free(&tally);
  return status == PCAL_OK && !decoder.failed;
}

/* Sorting them again would take quadratic time. */
TEST(ties_out_of_order_are_refused) {
  static const double weights[] = {1.5, 2.5};
  const pcal_env env = pc_env_resolve(NULL);
  pc_fit_tally tally = tally_of(weights, 2, &env);
  sink_bytes bytes = bytes_of(&tally);
  unsigned char *first = place_of(bytes, 1.5), *second = place_of(bytes, 2.5), swap[8];
  assert_true(decodes(bytes, &env));
  assert_true(first != NULL && second != NULL);
  memcpy(swap, first, sizeof swap);
  memcpy(first, second, sizeof swap);
  memcpy(second, swap, sizeof swap);
  assert_false(decodes(bytes, &env));
  free(bytes.bytes);
  pc_fit_tally_free(&tally);
}
