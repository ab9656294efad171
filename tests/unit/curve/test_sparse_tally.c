/* Tallies as bytes: what is read is what was written, and parts merge to the whole. */
#include "unit.h"

#include "../../sinks.h"
#include "base/rng.h"
#include "curve/bucket_curve.h"
#include "curve/sparse_tally.h"

#define SPARSE_ROWS 3000

typedef struct sparse_rows {
  double score[SPARSE_ROWS], weight[SPARSE_ROWS];
  uint8_t hit[SPARSE_ROWS];
} sparse_rows;

static void sparse_draw(sparse_rows *rows) {
  const pc_rng rng = {5, 9};
  for (size_t i = 0; i < SPARSE_ROWS; i++) {
    const double u = pc_rng_uniform(&rng, i);
    rows->score[i] = i % 50 == 0 ? (double)(i % 3) / 2 : u * u;
    rows->hit[i] = pc_rng_uniform(&rng, SPARSE_ROWS + i) < u;
    rows->weight[i] = (double)(1 + i % 4);
  }
}

static pc_bucket_tally sparse_fill(const sparse_rows *rows, const pc_bucket_layout *layout,
                                   const pc_refine_targets *targets, size_t begin, size_t end,
                                   int weighted) {
  static pcal_env env;
  env = pc_env_resolve(NULL);
  pc_bucket_tally tally;
  assert_int_equal(targets == NULL ? pc_bucket_tally_new_layout(&env, layout, &tally, NULL)
                                   : pc_bucket_tally_new(&env, targets, &tally, NULL),
                   PCAL_OK);
  assert_int_equal(
      weighted ? pc_bucket_tally_add_weighted(&tally, rows->score + begin, rows->hit + begin,
                                              rows->weight + begin, end - begin, NULL)
               : pc_bucket_tally_add(&tally, rows->score + begin, rows->hit + begin,
                                     end - begin, NULL),
      PCAL_OK);
  return tally;
}

static sink_bytes sparse_write(const pc_sparse_tally *sparse) {
  static pc_encoder encoder;
  sink_bytes out = {0};
  pc_encoder_init(&encoder, sink_collect, &out);
  pc_encode_sparse_tally(&encoder, sparse);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
  return out;
}

static void sparse_same(const pc_sparse_tally *a, const pc_sparse_tally *b) {
  assert_int_equal(a->count, b->count);
  for (size_t i = 0; i < a->count; i++) {
    assert_int_equal(a->index[i], b->index[i]);
    assert_int_equal(a->segments[i].rows, b->segments[i].rows);
    assert_int_equal(a->segments[i].hits, b->segments[i].hits);
    assert_true(a->segments[i].score.units == b->segments[i].score.units);
    assert_true(a->segments[i].hit_score.units == b->segments[i].hit_score.units);
    assert_true(!a->squares || a->segments[i].square == b->segments[i].square);
    assert_same(a->segments[i].low, b->segments[i].low);
    assert_same(a->segments[i].high, b->segments[i].high);
  }
  for (int hit = 0; hit < 2; hit++)
    assert_int_equal(a->kept[hit].count, b->kept[hit].count);
  assert_true(pc_sparse_tally_rows(a) == pc_sparse_tally_rows(b));
}

/* Writes, reads and merges the tallies of two halves; compares with the whole. */
static void sparse_check(const sparse_rows *rows, const pc_bucket_layout *layout,
                         const pc_refine_targets *targets, int weighted) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_sparse_tally whole, half[2], merged;
  const size_t ends[] = {0, 1000, SPARSE_ROWS};
  pc_bucket_tally tally = sparse_fill(rows, layout, targets, 0, SPARSE_ROWS, weighted);
  assert_int_equal(pc_sparse_tally_new(&env, &tally, &whole, NULL), PCAL_OK);
  pc_bucket_tally_free(&tally);
  for (size_t h = 0; h < 2; h++) {
    tally = sparse_fill(rows, layout, targets, ends[h], ends[h + 1], weighted);
    assert_int_equal(pc_sparse_tally_new(&env, &tally, &half[h], NULL), PCAL_OK);
    pc_bucket_tally_free(&tally);
  }
  sink_bytes bytes = sparse_write(&half[0]);
  pc_decoder in;
  pc_decoder_init(&in, bytes.bytes, bytes.length - PC_CHECKSUM_BYTES);
  assert_int_equal(pc_decode_sparse_tally(&in, &env, &merged, NULL), PCAL_OK);
  assert_false(in.failed);
  assert_int_equal(pc_decoder_left(&in), 0);
  sparse_same(&half[0], &merged);
  assert_int_equal(pc_sparse_tally_merge(&merged, &half[1], NULL), PCAL_OK);
  sparse_same(&whole, &merged);
  assert_int_equal(pc_sparse_tally_merge(&half[1], &half[0], NULL), PCAL_OK);
  const sink_bytes written[] = {sparse_write(&whole), sparse_write(&merged),
                                sparse_write(&half[1])};
  for (size_t i = 0; i < 3; i++) { /* the same bytes in any order and division */
    assert_int_equal(written[i].length, written[0].length);
    assert_memory_equal(written[i].bytes, written[0].bytes, written[0].length);
  }
  for (size_t i = 0; i < 3; i++)
    free(written[i].bytes);
  free(bytes.bytes);
  pc_sparse_tally_free(&whole);
  pc_sparse_tally_free(&half[0]);
  pc_sparse_tally_free(&half[1]);
  pc_sparse_tally_free(&merged);
}

TEST(first_passes) {
  static sparse_rows rows;
  sparse_draw(&rows);
  const pc_bucket_layout even = pc_bucket_layout_even(1024);
  const pc_bucket_layout part = pc_bucket_layout_part(3, 4096, 1024);
  for (int weighted = 0; weighted < 2; weighted++) {
    sparse_check(&rows, &even, NULL, weighted);
    sparse_check(&rows, &part, NULL, weighted);
  }
}

/* The same with sums of squares; a tally without them does not merge. */
TEST(squares) {
  static sparse_rows rows;
  const pcal_env env = pc_env_resolve(NULL);
  sparse_draw(&rows);
  rows.score[1] = -1e-6;
  rows.score[2] = 1 + 1e-6;
  for (int weighted = 0; weighted < 2; weighted++)
    for (int parts = 0; parts < 2; parts++) {
      pc_bucket_layout layout =
          parts ? pc_bucket_layout_part(3, 4096, 1024) : pc_bucket_layout_even(1024);
      pc_sparse_tally plain, square;
      pcal_error err;
      pc_bucket_tally tally = sparse_fill(&rows, &layout, NULL, 0, SPARSE_ROWS, weighted);
      assert_int_equal(pc_sparse_tally_new(&env, &tally, &plain, NULL), PCAL_OK);
      pc_bucket_tally_free(&tally);
      layout.squares = 1;
      sparse_check(&rows, &layout, NULL, weighted);
      tally = sparse_fill(&rows, &layout, NULL, 0, SPARSE_ROWS, weighted);
      assert_int_equal(pc_sparse_tally_new(&env, &tally, &square, NULL), PCAL_OK);
      pc_bucket_tally_free(&tally);
      pc_int128 found = 0, expected = 0;
      for (size_t i = 0; i < square.count; i++)
        found += square.segments[i].square;
      for (size_t i = 0; i < SPARSE_ROWS; i++)
        expected += (int64_t)(weighted ? rows.weight[i] : 1.0) *
                    (pc_int128)(int64_t)(rows.score[i] * rows.score[i] * 0x1p53);
      assert_true(found == expected);
      assert_int_equal(pc_sparse_tally_merge(&plain, &square, &err), PCAL_DATA);
      assert_string_equal(err.message, "the tallies have other sums of scores than each other; "
                                       "answer the request again");
      pc_sparse_tally_free(&plain);
      pc_sparse_tally_free(&square);
    }
}

/* A target that stores its scores and one that divides them; targets as bytes. */
TEST(later_passes) {
  static sparse_rows rows;
  static pc_encoder encoder;
  const pcal_env env = pc_env_resolve(NULL);
  const pc_bucket_layout even = pc_bucket_layout_even(1024);
  pc_refine_targets targets, read;
  sparse_draw(&rows);
  assert_int_equal(pc_refine_targets_new(&env, &even, 2, &targets, NULL), PCAL_OK);
  pc_refine_targets_append(
      &targets, (pc_refine_target){.low = 0.1, .high = 0.2, .action = PC_REFINE_KEEP});
  pc_refine_targets_append(
      &targets,
      (pc_refine_target){.low = 0.5, .high = 0.75, .action = PC_REFINE_SPLIT, .shift = 46});
  pc_refine_targets_index(&targets);
  sink_bytes bytes = {0};
  pc_encoder_init(&encoder, sink_collect, &bytes);
  pc_encode_refine_targets(&encoder, &targets);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
  pc_decoder in;
  pc_decoder_init(&in, bytes.bytes, bytes.length - PC_CHECKSUM_BYTES);
  assert_int_equal(pc_decode_refine_targets(&in, &env, &even, &read, NULL), PCAL_OK);
  assert_false(in.failed);
  assert_int_equal(read.count, 2);
  assert_int_equal(read.split, targets.split);
  for (int weighted = 0; weighted < 2; weighted++)
    sparse_check(&rows, &even, &read, weighted);
  free(bytes.bytes);
  pc_refine_targets_free(&targets);
  pc_refine_targets_free(&read);
}

/* A row of weight w and w rows fill the same bucket with the same sums. */
TEST(whole_weights_are_copies) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_bucket_layout layouts[] = {pc_bucket_layout_even(64),
                                      pc_bucket_layout_part(2, 512, 64)};
  const double scores[] = {0.0, 0.3, 1.0, 0.00001, -0.0, 1.0000001}, weight = 5;
  for (size_t l = 0; l < 2; l++)
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) {
      const uint8_t hit = i % 2;
      pc_bucket_tally once, copies;
      assert_int_equal(pc_bucket_tally_new_layout(&env, &layouts[l], &once, NULL), PCAL_OK);
      assert_int_equal(pc_bucket_tally_new_layout(&env, &layouts[l], &copies, NULL), PCAL_OK);
      assert_int_equal(pc_bucket_tally_add_weighted(&once, &scores[i], &hit, &weight, 1, NULL),
                       PCAL_OK);
      for (int c = 0; c < 5; c++)
        assert_int_equal(pc_bucket_tally_add(&copies, &scores[i], &hit, 1, NULL), PCAL_OK);
      for (size_t b = 0; b < pc_bucket_tally_bucket_count(&once); b++) {
        const pc_segment x = pc_bucket_tally_segment(&once, b);
        const pc_segment y = pc_bucket_tally_segment(&copies, b);
        assert_int_equal(x.rows, y.rows);
        assert_int_equal(x.hits, y.hits);
        assert_true(x.score.units == y.score.units && x.hit_score.units == y.hit_score.units);
      }
      pc_bucket_tally_free(&once);
      pc_bucket_tally_free(&copies);
    }
}

/* Impossible segments: no rows, more hits than rows, sums beyond the bounds, cut off. */
TEST(impossible_bytes_fail) {
  static pc_encoder encoder;
  const pcal_env env = pc_env_resolve(NULL);
  const struct {
    unsigned rows, hits, step, score, hit_score;
  } cases[] = {{0, 0, 0, 0, 0}, {2, 3, 0, 0, 0}, {2, 1, 0, 1, 0}, {2, 1, 0, 0, 1}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    sink_bytes bytes = {0};
    pc_sparse_tally out;
    pc_decoder in;
    pc_encoder_init(&encoder, sink_collect, &bytes);
    pc_encode_varint(&encoder, 1);
    pc_encode_varint(&encoder, 7);
    pc_encode_varint(&encoder, cases[c].rows);
    pc_encode_varint(&encoder, cases[c].hits);
    pc_encode_varint(&encoder, pc_score_key(0.25));
    pc_encode_varint(&encoder, cases[c].step);
    pc_encode_varint(&encoder, cases[c].score);
    pc_encode_varint(&encoder, cases[c].hit_score);
    for (int hit = 0; hit < 4; hit++)
      pc_encode_u8(&encoder, 0);
    assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
    pc_decoder_init(&in, bytes.bytes, bytes.length - PC_CHECKSUM_BYTES);
    assert_int_equal(pc_decode_sparse_tally(&in, &env, &out, NULL), PCAL_OK);
    assert_true(in.failed);
    pc_sparse_tally_free(&out);
    free(bytes.bytes);
  }
}
