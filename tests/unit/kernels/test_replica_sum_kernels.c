/* Every variant against plain sums, and against each other bit for bit. */
#include "../unit.h"

#include "base/rng.h"
#include "kernels/dispatch.h"
#include "kernels/pair_kernels.h"
#include "kernels/replica_sum_kernels.h"

#define REPLICA_SUM_ROWS 50
#define REPLICA_SUM_SCORES 77

TEST(test_sums) {
  const pc_rng rng = {1, 2};
  float weights[REPLICA_SUM_ROWS * PC_REPLICA_LANES];
  double score[REPLICA_SUM_SCORES], hit[REPLICA_SUM_SCORES];
  double first[PC_REPLICA_SUM_COUNT * PC_REPLICA_LANES] = {0};
  uint32_t row[REPLICA_SUM_SCORES + PC_REPLICA_AHEAD] = {0};
  for (size_t i = 0; i < REPLICA_SUM_ROWS * PC_REPLICA_LANES; i++)
    weights[i] = (float)floor(4 * pc_rng_uniform(&rng, i));
  for (size_t i = 0; i < REPLICA_SUM_SCORES; i++) {
    score[i] = pc_rng_uniform(&rng, 1000 + i);
    hit[i] = (double)(i % 3 == 0);
    row[i] = (uint32_t)(7 * i % REPLICA_SUM_ROWS);
  }
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    double sums[PC_REPLICA_SUM_COUNT * PC_REPLICA_LANES];
    pc_kernels_at(v)->replica_sum->add(weights, row, score, hit, REPLICA_SUM_SCORES, 0.0, sums);
    if (v == 0)
      memcpy(first, sums, sizeof sums);
    assert_memory_equal(first, sums, sizeof sums);
    double three[PC_REPLICA_SUM_COUNT * PC_REPLICA_LANES];
    pc_kernels_at(v)->replica_sum->add_three(weights, row, score, hit, REPLICA_SUM_SCORES, 0.0,
                                             three);
    assert_memory_equal(first, three, 3 * PC_REPLICA_LANES * sizeof *three);
  }
  for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++) {
    double want[PC_REPLICA_SUM_COUNT] = {0};
    for (size_t i = 0; i < REPLICA_SUM_SCORES; i++) {
      const double w = (double)weights[row[i] * PC_REPLICA_LANES + lane], s = score[i],
                   a = hit[i];
      const double add[] = {w, w * a, w * s, w * s * a, w * s * s};
      for (size_t what = 0; what < PC_REPLICA_SUM_COUNT; what++)
        want[what] += add[what];
    }
    for (size_t what = 0; what < PC_REPLICA_SUM_COUNT; what++)
      assert_near(first[what * PC_REPLICA_LANES + lane], want[what], 1e-12);
  }
}

/* On a lattice sums are exact, so that rows may be added in any order and in parts. */
TEST(test_sums_on_a_lattice) {
  const pc_rng rng = {5, 2};
  const double lattice = 1.5 * 0x1p22; /* multiples of 2^-30 */
  float weights[REPLICA_SUM_ROWS * PC_REPLICA_LANES];
  double score[2][REPLICA_SUM_SCORES], hit[2][REPLICA_SUM_SCORES];
  uint32_t row[2][REPLICA_SUM_SCORES + PC_REPLICA_AHEAD] = {{0}};
  for (size_t i = 0; i < REPLICA_SUM_ROWS * PC_REPLICA_LANES; i++)
    weights[i] = (float)floor(4 * pc_rng_uniform(&rng, i));
  for (size_t i = 0; i < REPLICA_SUM_SCORES; i++) {
    const size_t back = REPLICA_SUM_SCORES - 1 - i;
    score[0][i] = score[1][back] = pc_rng_uniform(&rng, 1000 + i);
    hit[0][i] = hit[1][back] = (double)(i % 3 == 0);
    row[0][i] = row[1][back] = (uint32_t)(7 * i % REPLICA_SUM_ROWS);
  }
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    const pc_replica_sum_kernels *kernels = pc_kernels_at(v)->replica_sum;
    double all[PC_REPLICA_SUM_COUNT * PC_REPLICA_LANES], part[2][UNIT_COUNT(all)];
    kernels->add(weights, row[0], score[0], hit[0], REPLICA_SUM_SCORES, lattice, all);
    kernels->add(weights, row[1], score[1], hit[1], 30, lattice, part[0]);
    kernels->add(weights, row[1] + 30, score[1] + 30, hit[1] + 30, REPLICA_SUM_SCORES - 30,
                 lattice, part[1]);
    for (size_t i = 0; i < UNIT_COUNT(all); i++) {
      assert_same(part[0][i] + part[1][i], all[i]);
      assert_same(floor(all[i] * 0x1p30), all[i] * 0x1p30);
    }
  }
}

TEST(test_hits_as_bits) {
  const pc_rng rng = {7, 2};
  uint8_t hits[REPLICA_SUM_ROWS];
  double score[REPLICA_SUM_SCORES];
  uint32_t row[REPLICA_SUM_SCORES];
  for (size_t i = 0; i < REPLICA_SUM_ROWS; i++)
    hits[i] = (uint8_t)pc_rng_bits(&rng, i);
  for (size_t i = 0; i < REPLICA_SUM_SCORES; i++) {
    score[i] = pc_rng_uniform(&rng, 1000 + i);
    row[i] = (uint32_t)(7 * i % REPLICA_SUM_ROWS);
  }
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    double sums[PC_REPLICA_SUM_COUNT * PC_REPLICA_LANES];
    pc_kernels_at(v)->replica_sum->add_hits(hits, row, score, REPLICA_SUM_SCORES, 0.0, sums);
    for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++) {
      double count = 0.0, scores = 0.0;
      for (size_t i = 0; i < REPLICA_SUM_SCORES; i++) {
        count += hits[row[i]] >> lane & 1 ? 1.0 : 0.0;
        scores += hits[row[i]] >> lane & 1 ? score[i] : 0.0;
      }
      assert_same(sums[PC_REPLICA_SUM_HITS * PC_REPLICA_LANES + lane], count);
      assert_same(sums[PC_REPLICA_SUM_SCORE_HIT * PC_REPLICA_LANES + lane], scores);
    }
  }
}

/* Draws are those of the generator, one by one. */
TEST(test_draws) {
  uint64_t ids[REPLICA_SUM_ROWS];
  uint32_t steps[PC_POISSON_STEPS];
  const size_t step_count = pc_poisson_steps(1, steps);
  const pc_rng other = {5, 6};
  for (size_t i = 0; i < REPLICA_SUM_ROWS; i++)
    ids[i] = i % 3 == 0 ? i : pc_rng_bits(&other, i);
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t count = 0; count <= REPLICA_SUM_ROWS; count += 7) {
      float drawn[REPLICA_SUM_ROWS * PC_REPLICA_LANES + 1] = {0};
      pc_kernels_at(v)->replica_sum->draw(UINT64_C(0x123456789abcdef), UINT64_C(0xffffffff),
                                          ids, count, steps, step_count, drawn);
      for (size_t i = 0; i < count * PC_REPLICA_LANES; i++) {
        const pc_rng rng = {UINT64_C(0x123456789abcdef),
                            UINT64_C(0xffffffff) + i % PC_REPLICA_LANES / 4};
        uint32_t words[4];
        pc_rng_block(&rng, ids[i / PC_REPLICA_LANES], words);
        assert_true(drawn[i] == (float)pc_poisson_one(words[i % 4]));
      }
      assert_true(drawn[count * PC_REPLICA_LANES] == 0.0f);
    }
}

/* A tile times columns. */
TEST(test_mix) {
  const pc_rng rng = {3, 4};
  static float tile[PC_PACK_PAIRS], right[PC_LANES * PC_MIX_WIDTH];
  static float start[PC_LANES * PC_MIX_WIDTH], first[PC_LANES * PC_MIX_WIDTH];
  for (size_t i = 0; i < PC_PACK_PAIRS; i++)
    tile[i] = (float)pc_rng_normal(&rng, i);
  for (size_t i = 0; i < PC_LANES * PC_MIX_WIDTH; i++) {
    right[i] = (float)pc_rng_normal(&rng, 5000 + i);
    start[i] = (float)pc_rng_uniform(&rng, 10000 + i);
  }
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    static float left[PC_LANES * PC_MIX_WIDTH];
    memcpy(left, start, sizeof left);
    pc_kernels_at(v)->pair->mix(tile, right, left);
    if (v == 0)
      memcpy(first, left, sizeof left);
    assert_memory_equal(first, left, sizeof left);
  }
  for (size_t r = 0; r < PC_LANES; r++)
    for (size_t b = 0; b < PC_MIX_WIDTH; b++) {
      double want = (double)start[r * PC_MIX_WIDTH + b];
      for (size_t l = 0; l < PC_LANES; l++)
        want += (double)tile[r * PC_LANES + l] * (double)right[l * PC_MIX_WIDTH + b];
      assert_true(fabs((double)first[r * PC_MIX_WIDTH + b] - want) < 1e-4);
    }
}

/* Hits by label against the sums of each replica by itself. */
TEST(test_sums_of_other_labels) {
  const pc_rng rng = {1, 3};
  float weights[REPLICA_SUM_ROWS * PC_REPLICA_LANES];
  int32_t labels[REPLICA_SUM_ROWS * PC_REPLICA_LANES], label[REPLICA_SUM_SCORES];
  double score[REPLICA_SUM_SCORES], hit[REPLICA_SUM_SCORES];
  uint32_t row[REPLICA_SUM_SCORES + PC_REPLICA_AHEAD] = {0};
  for (size_t i = 0; i < REPLICA_SUM_ROWS * PC_REPLICA_LANES; i++) {
    weights[i] = (float)(1 + i / PC_REPLICA_LANES % 3);
    labels[i] = (int32_t)(3 * pc_rng_uniform(&rng, i));
  }
  for (size_t i = 0; i < REPLICA_SUM_SCORES; i++) {
    score[i] = pc_rng_uniform(&rng, 1000 + i);
    label[i] = (int32_t)(i % 3);
    row[i] = (uint32_t)(7 * i % REPLICA_SUM_ROWS);
  }
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    double sums[PC_REPLICA_SUM_COUNT * PC_REPLICA_LANES];
    double want[PC_REPLICA_SUM_COUNT * PC_REPLICA_LANES];
    pc_kernels_at(v)->replica_sum->add_labels(weights, labels, row, label, score,
                                              REPLICA_SUM_SCORES, 0.0, sums);
    for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++) {
      for (size_t i = 0; i < REPLICA_SUM_SCORES; i++)
        hit[i] = (double)(labels[row[i] * PC_REPLICA_LANES + lane] == label[i]);
      pc_kernels_at(0)->replica_sum->add(weights, row, score, hit, REPLICA_SUM_SCORES, 0.0,
                                         want);
      for (size_t what = 0; what < PC_REPLICA_SUM_COUNT; what++)
        assert_true(sums[what * PC_REPLICA_LANES + lane] ==
                    want[what * PC_REPLICA_LANES + lane]);
    }
  }
}

/* The class that a plain walk finds; -7: none. */
static int32_t class_by_walk(const double *probs, size_t classes, int32_t but, double wanted) {
  double sum = 0.0;
  int32_t last = -7;
  for (size_t k = 0; k < classes && !(last >= 0 && wanted < sum); k++)
    if ((int32_t)k != but && probs[k] > 0.0) {
      sum += probs[k];
      last = (int32_t)k;
    }
  return last;
}

TEST(test_drawn_classes) {
  const pc_rng rng = {3, 4};
  double probs[REPLICA_SUM_ROWS], wanted[PC_REPLICA_LANES];
  for (size_t classes = 1; classes <= REPLICA_SUM_ROWS; classes++)
    for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
      int32_t drawn[PC_REPLICA_LANES];
      const int32_t but = (int32_t)(7 * classes % (classes + 1));
      for (size_t k = 0; k < classes; k++)
        probs[k] = k % 5 == 2 ? 0.0 : pc_rng_uniform(&rng, 100 * classes + k);
      for (size_t q = 0; q < PC_REPLICA_LANES; q++) {
        wanted[q] = 0.5 * (double)classes * pc_rng_uniform(&rng, 9000 + 10 * classes + q) - 0.1;
        drawn[q] = -7;
      }
      pc_kernels_at(v)->replica_sum->draw_class(probs, classes, but, wanted, drawn);
      for (size_t q = 0; q < PC_REPLICA_LANES; q++)
        assert_int_equal(drawn[q], class_by_walk(probs, classes, but, wanted[q]));
    }
}

TEST(test_uniforms_are_single_draws) {
  enum { COUNT = 37 };
  const uint64_t stream = ((uint64_t)3 << 40) + 16;
  uint64_t ids[COUNT];
  double out[COUNT * PC_REPLICA_LANES];
  for (size_t i = 0; i < COUNT; i++)
    ids[i] = pc_hash_u64(i);
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    pc_kernels_at(v)->replica_sum->uniforms(99, stream, ids, COUNT, out);
    for (size_t i = 0; i < COUNT; i++)
      for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++) {
        const pc_rng one = {99, stream + lane};
        assert_true(out[i * PC_REPLICA_LANES + lane] == pc_rng_uniform(&one, ids[i]));
      }
  }
}

/* Values of rows: plain sums in the order of the rows, in every variant. */
TEST(test_values) {
  enum { WIDTH = 3 };
  const pc_rng rng = {4, 2};
  float weights[REPLICA_SUM_ROWS * PC_REPLICA_LANES];
  double values[REPLICA_SUM_ROWS * WIDTH];
  for (size_t i = 0; i < REPLICA_SUM_ROWS * PC_REPLICA_LANES; i++)
    weights[i] = (float)floor(4 * pc_rng_uniform(&rng, i));
  for (size_t i = 0; i < REPLICA_SUM_ROWS * WIDTH; i++)
    values[i] = pc_rng_normal(&rng, 1000 + i);
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    double sums[WIDTH * PC_REPLICA_LANES];
    pc_kernels_at(v)->replica_sum->add_values(weights, values, WIDTH, REPLICA_SUM_ROWS, sums);
    for (size_t x = 0; x < WIDTH; x++)
      for (size_t k = 0; k < PC_REPLICA_LANES; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < REPLICA_SUM_ROWS; i++)
          sum += (double)weights[i * PC_REPLICA_LANES + k] * values[i * WIDTH + x];
        assert_same(sums[x * PC_REPLICA_LANES + k], sum);
      }
  }
}

/* Sums of Poisson counts: those of single draws, in the order of the rows. */
TEST(test_poisson_sums) {
  enum { COUNT = 45, WIDTH = 2 };
  static const uint32_t steps[] = PC_POISSON_ONE_STEPS;
  const uint64_t stream = ((uint64_t)2 << 40) + 32, seed = UINT64_C(0x123456789abcdef);
  const pc_rng values_of = {4, 2};
  uint64_t ids[COUNT];
  double values[COUNT * WIDTH];
  for (size_t i = 0; i < COUNT; i++)
    ids[i] = pc_hash_u64(i);
  for (size_t i = 0; i < COUNT * WIDTH; i++)
    values[i] = pc_rng_normal(&values_of, i);
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    double total[PC_REPLICA_WIDE], sums[WIDTH * PC_REPLICA_WIDE];
    pc_kernels_at(v)->replica_sum->poisson(seed, stream, ids, values, WIDTH, COUNT, total,
                                           sums);
    for (size_t r = 0; r < PC_REPLICA_WIDE; r++) {
      const pc_rng rng = {seed, stream + r / 4};
      double all = 0.0, sum[WIDTH] = {0.0};
      for (size_t i = 0; i < COUNT; i++) {
        uint32_t words[4];
        double count = 0.0;
        pc_rng_block(&rng, ids[i], words);
        for (size_t k = 0; k < UNIT_COUNT(steps); k++)
          count += words[r % 4] >= steps[k];
        all += count;
        for (size_t x = 0; x < WIDTH; x++)
          sum[x] += count * values[i * WIDTH + x];
      }
      assert_same(total[r], all);
      for (size_t x = 0; x < WIDTH; x++)
        assert_same(sums[x * PC_REPLICA_WIDE + r], sum[x]);
    }
  }
}

/* Exchanges: bits of single blocks, and sums of both sides in the order of the values. */
TEST(test_exchange_sums) {
  enum { COUNT = 37, WIDTH = 2 };
  const pc_rng rng = {99, UINT64_C(5) << 40}, values_of = {4, 2};
  uint64_t ids[COUNT];
  double values[2 * COUNT * WIDTH];
  for (size_t i = 0; i < COUNT; i++)
    ids[i] = pc_hash_u64(i);
  for (size_t i = 0; i < 2 * COUNT * WIDTH; i++)
    values[i] = pc_rng_normal(&values_of, i);
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    const pc_replica_sum_kernels *kernels = pc_kernels_at(v)->replica_sum;
    uint64_t bits[2][COUNT];
    double sums[WIDTH * 2 * PC_REPLICA_WIDE];
    for (int high = 0; high < 2; high++)
      kernels->exchange_bits(rng.seed, rng.stream, ids, COUNT, high, bits[high]);
    for (size_t i = 0; i < COUNT; i++) {
      uint32_t words[4];
      pc_rng_block(&rng, ids[i], words);
      for (size_t w = 0; w < 4; w++)
        assert_true((uint32_t)(bits[w / 2][i] >> 32 * (w % 2)) == words[w]);
    }
    kernels->exchange(bits[1], values, WIDTH, COUNT, sums);
    for (size_t e = 0; e < 2 * PC_REPLICA_WIDE; e++)
      for (size_t x = 0; x < WIDTH; x++) {
        const size_t side = e / PC_REPLICA_WIDE, exchange = e % PC_REPLICA_WIDE;
        double sum = 0.0;
        for (size_t i = 0; i < 2 * COUNT; i++) {
          const size_t moved = bits[1][i % COUNT] >> exchange & 1;
          sum += (i / COUNT ^ moved) == side ? values[i * WIDTH + x] : 0.0;
        }
        assert_same(sums[(x * 2 + side) * PC_REPLICA_WIDE + exchange], sum);
      }
  }
}

/* Gaps of every class in the order of rows and classes. */
TEST(test_class_gaps) {
  enum { COUNT = 600, MOST = 11, RANGES = 40 };
  static float weights[COUNT * PC_REPLICA_LANES];
  static double probs[COUNT * MOST];
  static int32_t labels[COUNT];
  static uint16_t range[COUNT * MOST];
  const pc_rng rng = {8, 2};
  for (size_t i = 0; i < COUNT * PC_REPLICA_LANES; i++)
    weights[i] = (float)floor(4 * pc_rng_uniform(&rng, i));
  for (size_t classes = 1; classes <= MOST; classes += 5) {
    double want[(RANGES + 1) * PC_REPLICA_LANES] = {0.0};
    for (size_t i = 0; i < COUNT; i++)
      labels[i] = (int32_t)(i * i % classes);
    for (size_t i = 0; i < COUNT * classes; i++) {
      probs[i] = pc_rng_uniform(&rng, 100000 + i);
      range[i] = (uint16_t)(i % 7 == 3 ? i % (RANGES + 1) : 1 + i % classes);
    }
    for (size_t i = 0; i < COUNT; i++)
      for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++) {
        const double w = (double)weights[i * PC_REPLICA_LANES + lane];
        for (size_t c = 0; c < classes; c++)
          want[range[i * classes + c] * PC_REPLICA_LANES + lane] += w * probs[i * classes + c];
        want[range[i * classes + (size_t)labels[i]] * PC_REPLICA_LANES + lane] -= w;
      }
    for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
      double sums[(RANGES + 1) * PC_REPLICA_LANES] = {0.0};
      pc_kernels_at(v)->replica_sum->add_class_gaps(weights, probs, labels, range, COUNT,
                                                    classes, sums);
      for (size_t i = 0; i < UNIT_COUNT(sums); i++)
        assert_same(sums[i], want[i]);
    }
  }
}

/* Sums of whole classes and of listed scores, on a lattice of multiples of 2^-30. */
TEST(test_columns_and_listed_scores) {
  enum { COUNT = 173, MOST = 21, CELLS = 9 };
  const double lattice = 1.5 * 0x1p22;
  static float weights[COUNT * PC_REPLICA_LANES];
  static double probs[COUNT * MOST];
  static size_t begin[COUNT + 1];
  static uint32_t class_index[COUNT * MOST], cell[COUNT * MOST], hit[COUNT];
  const pc_rng rng = {8, 3};
  for (size_t i = 0; i < COUNT * PC_REPLICA_LANES; i++)
    weights[i] = (float)floor(4 * pc_rng_uniform(&rng, i));
  for (size_t classes = 1; classes <= MOST; classes++) {
    double columns[(MOST + 1) * PC_REPLICA_LANES] = {0.0};
    double cells[CELLS * PC_LISTED_SUMS * PC_REPLICA_LANES] = {0.0};
    for (size_t i = 0; i < COUNT; i++) {
      begin[i + 1] = begin[i];
      hit[i] = (uint32_t)(i % CELLS);
      for (size_t c = 0; c < classes; c++) {
        const size_t at = i * classes + c;
        probs[at] = pc_rng_uniform(&rng, 100000 + at);
        if (at % 3 == 0) {
          class_index[begin[i + 1]] = (uint32_t)c;
          cell[begin[i + 1]++] = (uint32_t)(at % CELLS);
        }
      }
      for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++) {
        const double w = (double)weights[i * PC_REPLICA_LANES + lane];
        columns[classes * PC_REPLICA_LANES + lane] += w;
        for (size_t c = 0; c < classes; c++) {
          const size_t at = i * classes + c;
          const double score = w * ((probs[at] + lattice) - lattice);
          double *to = cells + at % CELLS * PC_LISTED_SUMS * PC_REPLICA_LANES + lane;
          columns[c * PC_REPLICA_LANES + lane] += score;
          to[PC_REPLICA_SUM_WEIGHT * PC_REPLICA_LANES] += at % 3 == 0 ? w : 0.0;
          to[PC_REPLICA_SUM_SCORE * PC_REPLICA_LANES] += at % 3 == 0 ? score : 0.0;
        }
        cells[(i % CELLS * PC_LISTED_SUMS + PC_REPLICA_SUM_HITS) * PC_REPLICA_LANES + lane] +=
            w;
      }
    }
    const pc_listed_scores listed = {begin, class_index, cell, hit};
    for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
      double whole[(MOST + 1) * PC_REPLICA_LANES] = {0.0};
      double some[CELLS * PC_LISTED_SUMS * PC_REPLICA_LANES] = {0.0};
      const pc_replica_sum_kernels *kernels = pc_kernels_at(v)->replica_sum;
      kernels->add_columns(weights, probs, COUNT, classes, lattice, whole);
      kernels->add_listed(weights, probs, &listed, COUNT, classes, lattice, some);
      for (size_t i = 0; i < UNIT_COUNT(whole); i++)
        assert_same(whole[i], columns[i]);
      for (size_t i = 0; i < UNIT_COUNT(some); i++)
        assert_same(some[i], cells[i]);
    }
  }
}
