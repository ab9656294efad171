#include "kernels/bin_index.h"
#include "kernels/dispatch.h"

#include "base/float_bits.h"
#include "base/rng.h"
#include "unit.h"

/* Every variant against plain counting, with scores on the cuts among them. */
TEST(places_are_counted) {
  static const size_t counts[] = {0, 1, 15, 16, 17, 100, PC_BIN_INDEX_ROWS};
  static double score[PC_BIN_INDEX_ROWS];
  double cuts[31];
  const pc_rng rng = {41, 1};
  for (size_t c = 0; c < 31; c++)
    cuts[c] = (double)(c + 1) / 32;
  for (size_t i = 0; i < PC_BIN_INDEX_ROWS; i++)
    score[i] = i % 5 == 0 ? cuts[i % 31] : 1.2 * pc_rng_uniform(&rng, i) - 0.1;
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t n = 0; n < UNIT_COUNT(counts); n++)
      for (size_t cut_count = 0; cut_count <= 31; cut_count += 5) {
        static pc_bin_index_rows out;
        pc_kernels_at(v)->bin_index->place(score, counts[n], 0x1p53, cuts, cut_count, &out);
        for (size_t i = 0; i < counts[n]; i++) {
          int32_t below = 0;
          for (size_t c = 0; c < cut_count; c++)
            below += cuts[c] < score[i];
          assert_int_equal(out.cell[i], below);
          assert_true(out.score[i] == (int64_t)(score[i] * 0x1p53));
          assert_true(out.square[i] == (int64_t)(score[i] * score[i] * 0x1p53));
        }
      }
}

/* Evenly spaced cuts; one score moves from far away to close to a cut. */
TEST(places_among_even_cuts_are_counted) {
  enum { COUNT = 100, CUTS = 14 };
  double cuts[CUTS], score[COUNT];
  const pc_rng rng = {41, 2};
  for (size_t c = 0; c < CUTS; c++)
    cuts[c] = (double)(c + 1) / (CUTS + 1);
  for (size_t i = 0; i < COUNT; i++) {
    const double place = floor((CUTS + 3) * pc_rng_uniform(&rng, 2 * i)) - 1;
    score[i] = (place + 0.1 + 0.8 * pc_rng_uniform(&rng, 2 * i + 1)) / (CUTS + 1);
  }
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t at = 0; at < 60 * CUTS; at++) {
      static pc_bin_index_rows out;
      const double off = ldexp(at % 2 == 0 ? 0.01 : -0.01, -(int)(at / CUTS));
      score[7] = cuts[at % CUTS] + off;
      pc_kernels_at(v)->bin_index->place(score, COUNT, 0x1p53, cuts, CUTS, &out);
      for (size_t i = 0; i < COUNT; i++) {
        int32_t below = 0;
        for (size_t c = 0; c < CUTS; c++)
          below += cuts[c] < score[i];
        assert_int_equal(out.cell[i], below);
      }
    }
}

/* Scores on cuts, next to them, and beyond both ends. */
TEST(even_places_are_found) {
  enum { BUCKETS = 64, COUNT = 3 * BUCKETS + 9 };
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    double wide[COUNT];
    float narrow[COUNT];
    int32_t found[COUNT], found_narrow[COUNT];
    for (int i = 0; i < COUNT; i++) {
      const float cut = (float)(i / 3 - 1) / BUCKETS;
      narrow[i] = i % 3 == 0 ? cut : nextafterf(cut, i % 3 == 1 ? 2.0f : -2.0f);
      wide[i] = (double)narrow[i];
    }
    narrow[1] = -INFINITY;
    wide[1] = -INFINITY;
    pc_kernels_at(v)->bin_index->even_f32(narrow, COUNT, BUCKETS, found_narrow);
    pc_kernels_at(v)->bin_index->even_f64(wide, COUNT, BUCKETS, found);
    for (int i = 0; i < COUNT; i++) {
      const double place = floor(wide[i] * BUCKETS);
      assert_int_equal(found[i], (int)fmin(fmax(place, 0.0), BUCKETS));
      assert_int_equal(found_narrow[i], found[i]);
    }
  }
}

/* Against exact arithmetic in doubles: scores on cuts, next to them, 0, 1 and in between. */
TEST(offsets_are_whole) {
  enum { COUNT = 177, BUCKETS = 64 };
  const pc_bin_offset_rule rule = {BUCKETS, 0x1p29F, (uint64_t)1 << 40, 21};
  const pc_rng rng = {41, 3};
  float score[COUNT];
  int32_t label[COUNT];
  uint32_t place[COUNT];
  pc_bin_offset addend[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    const float cut = (float)(i % (BUCKETS + 1)) / BUCKETS;
    score[i] = i % 3 == 0 ? cut : nextafterf(cut, 0.0F);
    if (i % 3 == 2)
      score[i] = (float)pc_rng_uniform(&rng, i);
    label[i] = i % 7 == 0;
  }
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    pc_kernels_at(v)->bin_index->offsets_f32(score, label, COUNT, &rule, place, addend);
    for (size_t i = 0; i < COUNT; i++) {
      const double bucket = floor((double)score[i] * BUCKETS);
      const uint64_t offset = (uint64_t)(((double)score[i] - bucket / BUCKETS) * 0x1p29);
      assert_int_equal(place[i], 2 * (uint32_t)bucket + (uint32_t)label[i]);
      assert_true(addend[i].offset == ((uint64_t)1 << 40) + offset);
      assert_true(addend[i].square == offset * offset / ((uint64_t)1 << 21));
    }
  }
}

/* Buckets of classes: ends of buckets and of pieces, and scores outside [0, 1]. */
TEST(class_buckets_are_found) {
  enum { COUNT = 15 };
  const pc_class_bucket_rule rule = {
      .base = {0x1p-8, 0x1p-4, 0x1p-2}, .shift = {52, 51, 50}, .first = {2, 6, 10}, .one = 18};
  const double score[COUNT] = {-0x1p-60, -0.0,     0.0,      0x1p-1074,     0x1p-8,
                               0x1p-7,   0x1p-4,   0x1.8p-4, 0x1.fp-3,      0.25,
                               0x1.4p-2, 0x1.fp-1, 1.0,      1.0 + 0x1p-52, (double)NAN};
  const uint16_t expected[COUNT] = {0, 1, 1, 2, 2, 3, 6, 7, 9, 10, 11, 17, 18, 19, 1};
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    double many[4 * COUNT];
    uint16_t out[4 * COUNT];
    for (size_t i = 0; i < 4 * COUNT; i++)
      many[i] = score[i % COUNT];
    pc_kernels_at(v)->bin_index->class_buckets(many, 4 * COUNT, &rule, out);
    for (size_t i = 0; i < 4 * COUNT; i++)
      assert_int_equal(out[i], expected[i % COUNT]);
  }
}

/* Cells of classes: certain cells are those of the cuts, and units are rounded or truncated. */
TEST(class_cells_are_found) {
  enum { COUNT = 500, CUTS = 15, NEAR = 99 };
  const pc_class_cell_rule rule = {.cells = CUTS,
                                   .most = CUTS + 0.5,
                                   .last = 1.0 / CUTS,
                                   .anchor = 1.5 * 0x1p-2,
                                   .units = 0x1p53,
                                   .near = NEAR};
  const pc_rng rng = {41, 9};
  double score[COUNT];
  int32_t cell[COUNT];
  int64_t units[COUNT];
  for (size_t i = 0; i < COUNT; i++)
    score[i] = i % 10 == 0 ? (double)(i % 16) / 15 : 1.02 * pc_rng_uniform(&rng, i) - 0.01;
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    size_t uncertain = 0;
    pc_kernels_at(v)->bin_index->class_cells(score, COUNT, &rule, cell, units);
    for (size_t i = 0; i < COUNT; i++) {
      int32_t below = 0;
      for (size_t c = 1; c <= CUTS; c++)
        below += (double)c / CUTS < score[i];
      uncertain += cell[i] == NEAR;
      assert_true(cell[i] == NEAR || cell[i] == below);
      if (score[i] > rule.last)
        assert_true(units[i] == (int64_t)(score[i] * 0x1p53));
      else
        assert_true((double)units[i] * 0x1p-54 == (score[i] + rule.anchor) - rule.anchor);
    }
    assert_int_equal(uncertain, 43); /* the scores on cuts */
  }
}
