/* Which of the compiled kernel variants this processor can run. */
#include "kernels/cuts.h"
#include "kernels/diagonal.h"
#include "kernels/fast_kernels.h"
#include "kernels/linear_kernels.h"
#include "kernels/pair_kernels.h"
#include "kernels/row_kernels.h"
#include "kernels/simplex.h"
#include "kernels/spread.h"
#include "kernels/tempered.h"
#include "kernels/weigh.h"

#if defined(PC_HAVE_X86_VARIANTS)

extern const pc_row_kernels pc_row_kernels_avx2, pc_row_kernels_avx512;
extern const pc_fast_kernels pc_fast_kernels_avx2, pc_fast_kernels_avx512;
extern const pc_pair_kernels pc_pair_kernels_avx2, pc_pair_kernels_avx512;
extern const pc_tempered_kernels pc_tempered_kernels_avx2, pc_tempered_kernels_avx512;
extern const pc_simplex_kernels pc_simplex_kernels_avx2, pc_simplex_kernels_avx512;
extern const pc_spread_kernels pc_spread_kernels_avx2, pc_spread_kernels_avx512;
extern const pc_linear_kernels pc_linear_kernels_avx2, pc_linear_kernels_avx512;
extern const pc_diagonal_kernels pc_diagonal_kernels_avx2, pc_diagonal_kernels_avx512;
extern const pc_cut_kernels pc_cut_kernels_avx2, pc_cut_kernels_avx512;
extern const pc_weigh_kernels pc_weigh_kernels_avx2, pc_weigh_kernels_avx512;

/* Portable, AVX2, AVX-512: each processor runs those up to a level. */
static size_t dispatch_level(void) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return 0;
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl")
             ? 2
             : 1;
}

static const pc_row_kernels *const dispatch_rows[] = {
    &pc_row_kernels_portable, &pc_row_kernels_avx2, &pc_row_kernels_avx512};
static const pc_fast_kernels *const dispatch_fast[] = {
    &pc_fast_kernels_portable, &pc_fast_kernels_avx2, &pc_fast_kernels_avx512};
static const pc_pair_kernels *const dispatch_pairs[] = {
    &pc_pair_kernels_portable, &pc_pair_kernels_avx2, &pc_pair_kernels_avx512};
static const pc_tempered_kernels *const dispatch_tempered[] = {
    &pc_tempered_kernels_portable, &pc_tempered_kernels_avx2, &pc_tempered_kernels_avx512};
static const pc_simplex_kernels *const dispatch_simplex[] = {
    &pc_simplex_kernels_portable, &pc_simplex_kernels_avx2, &pc_simplex_kernels_avx512};
static const pc_spread_kernels *const dispatch_spread[] = {
    &pc_spread_kernels_portable, &pc_spread_kernels_avx2, &pc_spread_kernels_avx512};
static const pc_linear_kernels *const dispatch_linear[] = {
    &pc_linear_kernels_portable, &pc_linear_kernels_avx2, &pc_linear_kernels_avx512};
static const pc_diagonal_kernels *const dispatch_diagonal[] = {
    &pc_diagonal_kernels_portable, &pc_diagonal_kernels_avx2, &pc_diagonal_kernels_avx512};
static const pc_cut_kernels *const dispatch_cuts[] = {
    &pc_cut_kernels_portable, &pc_cut_kernels_avx2, &pc_cut_kernels_avx512};
static const pc_weigh_kernels *const dispatch_weigh[] = {
    &pc_weigh_kernels_portable, &pc_weigh_kernels_avx2, &pc_weigh_kernels_avx512};

#else

static size_t dispatch_level(void) {
  return 0;
}

static const pc_row_kernels *const dispatch_rows[] = {&pc_row_kernels_portable};
static const pc_fast_kernels *const dispatch_fast[] = {&pc_fast_kernels_portable};
static const pc_pair_kernels *const dispatch_pairs[] = {&pc_pair_kernels_portable};
static const pc_tempered_kernels *const dispatch_tempered[] = {&pc_tempered_kernels_portable};
static const pc_simplex_kernels *const dispatch_simplex[] = {&pc_simplex_kernels_portable};
static const pc_spread_kernels *const dispatch_spread[] = {&pc_spread_kernels_portable};
static const pc_linear_kernels *const dispatch_linear[] = {&pc_linear_kernels_portable};
static const pc_diagonal_kernels *const dispatch_diagonal[] = {&pc_diagonal_kernels_portable};
static const pc_cut_kernels *const dispatch_cuts[] = {&pc_cut_kernels_portable};
static const pc_weigh_kernels *const dispatch_weigh[] = {&pc_weigh_kernels_portable};

#endif

const pc_row_kernels *pc_row_kernels_at(size_t index) {
  return index <= dispatch_level() ? dispatch_rows[index] : NULL;
}

const pc_row_kernels *pc_row_kernels_best(void) {
  return dispatch_rows[dispatch_level()];
}

const pc_fast_kernels *pc_fast_kernels_at(size_t index) {
  return index <= dispatch_level() ? dispatch_fast[index] : NULL;
}

const pc_fast_kernels *pc_fast_kernels_best(void) {
  return dispatch_fast[dispatch_level()];
}

const pc_pair_kernels *pc_pair_kernels_at(size_t index) {
  return index <= dispatch_level() ? dispatch_pairs[index] : NULL;
}

const pc_pair_kernels *pc_pair_kernels_best(void) {
  return dispatch_pairs[dispatch_level()];
}

const pc_tempered_kernels *pc_tempered_kernels_at(size_t index) {
  return index <= dispatch_level() ? dispatch_tempered[index] : NULL;
}

const pc_tempered_kernels *pc_tempered_kernels_best(void) {
  return dispatch_tempered[dispatch_level()];
}

const pc_spread_kernels *pc_spread_kernels_at(size_t index) {
  return index <= dispatch_level() ? dispatch_spread[index] : NULL;
}

const pc_spread_kernels *pc_spread_kernels_best(void) {
  return dispatch_spread[dispatch_level()];
}

const pc_simplex_kernels *pc_simplex_kernels_at(size_t index) {
  return index <= dispatch_level() ? dispatch_simplex[index] : NULL;
}

const pc_simplex_kernels *pc_simplex_kernels_best(void) {
  return dispatch_simplex[dispatch_level()];
}

const pc_linear_kernels *pc_linear_kernels_at(size_t index) {
  return index <= dispatch_level() ? dispatch_linear[index] : NULL;
}

const pc_linear_kernels *pc_linear_kernels_best(void) {
  return dispatch_linear[dispatch_level()];
}

const pc_diagonal_kernels *pc_diagonal_kernels_at(size_t index) {
  return index <= dispatch_level() ? dispatch_diagonal[index] : NULL;
}

const pc_diagonal_kernels *pc_diagonal_kernels_best(void) {
  return dispatch_diagonal[dispatch_level()];
}

const pc_cut_kernels *pc_cut_kernels_at(size_t index) {
  return index <= dispatch_level() ? dispatch_cuts[index] : NULL;
}

const pc_cut_kernels *pc_cut_kernels_best(void) {
  return dispatch_cuts[dispatch_level()];
}

const pc_weigh_kernels *pc_weigh_kernels_at(size_t index) {
  return index <= dispatch_level() ? dispatch_weigh[index] : NULL;
}

const pc_weigh_kernels *pc_weigh_kernels_best(void) {
  return dispatch_weigh[dispatch_level()];
}
