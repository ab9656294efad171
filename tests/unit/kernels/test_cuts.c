#include "kernels/cuts.h"

#include "core/rng.h"
#include "unit.h"

/* Every variant against plain counting, with scores on the cuts among them. */
static void places_are_counted(void **state) {
  (void)state;
  static const size_t counts[] = {0, 1, 15, 16, 17, 100, PC_CUTS_ROWS};
  static double score[PC_CUTS_ROWS];
  double cuts[31];
  const pc_rng rng = {41, 1};
  for (size_t c = 0; c < 31; c++)
    cuts[c] = (double)(c + 1) / 32;
  for (size_t i = 0; i < PC_CUTS_ROWS; i++)
    score[i] = i % 5 == 0 ? cuts[i % 31] : 1.2 * pc_rng_uniform(&rng, i) - 0.1;
  for (size_t v = 0; pc_cut_kernels_at(v) != NULL; v++)
    for (size_t n = 0; n < UNIT_COUNT(counts); n++)
      for (size_t cut_count = 0; cut_count <= 31; cut_count += 5) {
        static pc_cut_rows out;
        pc_cut_kernels_at(v)->place(score, counts[n], 0x1p53, cuts, cut_count, &out);
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(places_are_counted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
