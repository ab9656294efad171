#include "kernels/dispatch.h"

#include "system/cpu_features.h"

/* Highest index that pc_kernels_best returns.  A test that includes this file may define a
 * lower limit. */
#ifndef DISPATCH_MOST
#define DISPATCH_MOST 2
#endif

#define DISPATCH_DECLARE(variant)                                         \
  extern const pc_bin_index_kernels pc_bin_index_kernels_##variant;       \
  extern const pc_class_column_kernels pc_class_column_kernels_##variant; \
  extern const pc_convolve_kernels pc_convolve_kernels_##variant;         \
  extern const pc_fast_kernels pc_fast_kernels_##variant;                 \
  extern const pc_linear_kernels pc_linear_kernels_##variant;             \
  extern const pc_network_kernels pc_network_kernels_##variant;           \
  extern const pc_pair_kernels pc_pair_kernels_##variant;                 \
  extern const pc_prob_row_kernels pc_prob_row_kernels_##variant;         \
  extern const pc_replica_sum_kernels pc_replica_sum_kernels_##variant;   \
  extern const pc_row_kernels pc_row_kernels_##variant;                   \
  extern const pc_temperature_kernels pc_temperature_kernels_##variant;   \
  extern const pc_vector_scaling_kernels pc_vector_scaling_kernels_##variant;

#define DISPATCH_TABLE(variant)                                                    \
  {                                                                                \
#variant, &pc_bin_index_kernels_##variant, &pc_class_column_kernels_##variant, \
        &pc_convolve_kernels_##variant, &pc_fast_kernels_##variant,                \
        &pc_linear_kernels_##variant, &pc_network_kernels_##variant,               \
        &pc_pair_kernels_##variant, &pc_prob_row_kernels_##variant,                \
        &pc_replica_sum_kernels_##variant, &pc_row_kernels_##variant,              \
        &pc_temperature_kernels_##variant, &pc_vector_scaling_kernels_##variant    \
  }

DISPATCH_DECLARE(portable)

#if defined(PC_HAVE_X86_VARIANTS)

DISPATCH_DECLARE(avx2)
DISPATCH_DECLARE(avx512)

static const pc_kernels dispatch_tables[] = {DISPATCH_TABLE(portable), DISPATCH_TABLE(avx2),
                                             DISPATCH_TABLE(avx512)};

#else

static const pc_kernels dispatch_tables[] = {DISPATCH_TABLE(portable)};

#endif

/* Index of the last table that this processor can run. */
static size_t dispatch_level(void) {
  return (size_t)pc_cpu_features();
}

const pc_kernels *pc_kernels_at(size_t index) {
  return index <= dispatch_level() ? &dispatch_tables[index] : NULL;
}

const pc_kernels *pc_kernels_best(void) {
  const size_t level = dispatch_level();
  return &dispatch_tables[level < DISPATCH_MOST ? level : DISPATCH_MOST];
}
