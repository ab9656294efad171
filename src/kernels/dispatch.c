/* Which of the compiled kernel variants this processor can run. */
#include "kernels/bin_index.h"
#include "kernels/class_column_sums.h"
#include "kernels/convolve.h"
#include "kernels/fast_kernels.h"
#include "kernels/linear_kernels.h"
#include "kernels/pair_kernels.h"
#include "kernels/prob_row.h"
#include "kernels/replica_sum_kernels.h"
#include "kernels/row_kernels.h"
#include "kernels/temperature_kernels.h"
#include "kernels/vector_scaling_kernels.h"

/* Portable, AVX2, AVX-512: each processor runs those up to a level.  A test that includes this
 * file may ask for less. */
#ifndef DISPATCH_MOST
#define DISPATCH_MOST 2
#endif

#if defined(PC_HAVE_X86_VARIANTS)

static size_t dispatch_level(void) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return 0;
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl")
             ? 2
             : 1;
}

#define DISPATCH_WIDER(table) extern const table table##_avx2, table##_avx512;
#define DISPATCH_VARIANTS(table) \
  { &table##_portable, &table##_avx2, &table##_avx512 }

#else

static size_t dispatch_level(void) {
  return 0;
}

#define DISPATCH_WIDER(table)
#define DISPATCH_VARIANTS(table) \
  { &table##_portable }

#endif

/* The functions that choose from one table. */
#define DISPATCH(table)                                                     \
  DISPATCH_WIDER(table)                                                     \
  static const table *const dispatch_##table[] = DISPATCH_VARIANTS(table);  \
  const table *table##_at(size_t index) {                                   \
    return index <= dispatch_level() ? dispatch_##table[index] : NULL;      \
  }                                                                         \
  const table *table##_best(void) {                                         \
    const size_t level = dispatch_level();                                  \
    return dispatch_##table[level < DISPATCH_MOST ? level : DISPATCH_MOST]; \
  }

DISPATCH(pc_row_kernels)
DISPATCH(pc_fast_kernels)
DISPATCH(pc_pair_kernels)
DISPATCH(pc_temperature_kernels)
DISPATCH(pc_prob_row_kernels)
DISPATCH(pc_class_column_kernels)
DISPATCH(pc_convolve_kernels)
DISPATCH(pc_linear_kernels)
DISPATCH(pc_vector_scaling_kernels)
DISPATCH(pc_bin_index_kernels)
DISPATCH(pc_replica_sum_kernels)
