/* The kernels of softmax_rows_body.h and the other bodies of this room for NVIDIA GPUs.  tools/make-gpu-code compiles this file into device_kernels.ptx and device_kernels.sm_90.cubin, which are checked in. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Functions of the headers below run on the GPU. */
#define inline inline __device__
#define ELEMENTARY_TABLE const __device__
#include "device/class_cells_body.h"
#include "device/class_curves_body.h"
#include "device/class_moments_body.h"
#include "device/dirichlet_sums_body.h"
#include "device/pair_sums_body.h"
#include "device/prob_rows_body.h"
#include "device/row_sums_body.h"
#include "device/row_sums_columns_body.h"
#include "device/scaled_softmax_body.h"
#include "device/score_buckets_body.h"
#include "device/softmax_rows_body.h"
#include "device/temperature_rows_body.h"
#undef inline

#define SOFTMAX_ROWS_KERNELS(type)                                                             \
  extern "C" __global__ void __launch_bounds__(PC_SOFTMAX_ROWS_THREADS)                        \
      pc_softmax_wide_##type(pc_softmax_rows rows) {                                           \
    __shared__ pc_softmax_rows_shared shared;                                                  \
    pc_softmax_rows_look_##type(&rows, blockIdx.x, threadIdx.x, &shared);                      \
    __syncthreads();                                                                           \
    pc_softmax_rows_add_##type(&rows, blockIdx.x, threadIdx.x, &shared);                       \
    __syncthreads();                                                                           \
    pc_softmax_rows_write_##type(&rows, blockIdx.x, threadIdx.x, &shared);                     \
  }                                                                                            \
  extern "C" __global__ void __launch_bounds__(PC_SOFTMAX_ROWS_THREADS)                        \
      pc_softmax_narrow_##type(pc_softmax_rows rows) {                                         \
    pc_softmax_rows_narrow_##type(&rows,                                                       \
                                  (uint64_t)blockIdx.x * PC_SOFTMAX_ROWS_THREADS + threadIdx.x); \
  }

SOFTMAX_ROWS_KERNELS(f32)
SOFTMAX_ROWS_KERNELS(f64)

extern __shared__ double row_sums_shared[];

static __device__ void row_sums_end(const pc_row_sums *sums, const pc_row_sums_thread *mine) {
  __syncthreads();
  pc_row_sums_store(sums, mine);
  __syncthreads();
  pc_row_sums_gather(sums, mine);
  __syncthreads();
  pc_row_sums_publish(sums, mine);
}

/* Blocks on a multiprocessor; six leave 80 registers for each thread. */
#ifndef ROW_SUMS_BLOCKS
#define ROW_SUMS_BLOCKS 6
#endif

#define ROW_SUMS_KERNELS(name, type, size)                                                           \
  extern "C" __global__ void __launch_bounds__(PC_ROW_SUMS_THREADS, ROW_SUMS_BLOCKS)           \
      pc_row_sums_narrow_##name(const __grid_constant__ pc_row_sums sums) {                    \
    pc_row_sums_thread mine;                                                                   \
    pc_row_sums_begin(&sums, (char *)row_sums_shared, blockIdx.x, gridDim.x, threadIdx.x,      \
                      size, 0, &mine);                                                         \
    for (uint64_t first = (uint64_t)blockIdx.x * PC_ROW_SUMS_THREADS; first < sums.rows;       \
         first += (uint64_t)gridDim.x * PC_ROW_SUMS_THREADS) {                                 \
      __syncthreads();                                                                         \
      pc_row_sums_load_##type(&sums, &mine, first);                                            \
      __syncthreads();                                                                         \
      pc_row_sums_add_narrow_##name(&sums, &mine, first);                                      \
    }                                                                                          \
    row_sums_end(&sums, &mine);                                                                \
  }                                                                                            \
  extern "C" __global__ void __launch_bounds__(PC_ROW_SUMS_THREADS, ROW_SUMS_BLOCKS)           \
      pc_row_sums_wide_##name(const __grid_constant__ pc_row_sums sums) {                      \
    pc_row_sums_thread mine;                                                                   \
    pc_row_sums_begin(&sums, (char *)row_sums_shared, blockIdx.x, gridDim.x, threadIdx.x,      \
                      size, 1, &mine);                                                         \
    __syncthreads();                                                                           \
    for (uint64_t first = 0; first < sums.rows; first += pc_row_sums_round(gridDim.x)) {       \
      for (uint32_t step = 0; step < PC_ROW_SUMS_STEPS; step++) {                              \
        pc_row_sums_look_##name(&sums, &mine, first, step);                                    \
        __syncwarp();                                                                          \
        pc_row_sums_add_##name(&sums, &mine, first, step);                                     \
        __syncwarp();                                                                          \
        pc_row_sums_keep(&sums, &mine, first, step);                                           \
        __syncwarp();                                                                          \
      }                                                                                        \
      pc_row_sums_finish_wide_##type(&sums, &mine, first);                                     \
      __syncwarp();                                                                            \
    }                                                                                          \
    row_sums_end(&sums, &mine);                                                                \
  }

ROW_SUMS_KERNELS(f32, f32, 4)
ROW_SUMS_KERNELS(f64, f64, 8)
ROW_SUMS_KERNELS(fast, f32, 4)

extern "C" __global__ void __launch_bounds__(PC_ROW_SUMS_THREADS, ROW_SUMS_BLOCKS)
    pc_row_sums_columns_all(const __grid_constant__ pc_row_sums sums) {
  pc_row_sums_thread mine;
  pc_row_sums_begin(&sums, (char *)row_sums_shared, blockIdx.x, gridDim.x, threadIdx.x, 0, 0,
                    &mine);
  __syncthreads();
  for (uint64_t first = (uint64_t)blockIdx.x * PC_ROW_SUMS_THREADS; first < sums.rows;
       first += (uint64_t)gridDim.x * PC_ROW_SUMS_THREADS)
    pc_row_sums_add_column(&sums, &mine, first + threadIdx.x);
  row_sums_end(&sums, &mine);
}

#define PROB_ROWS_KERNEL(type)                                                                 \
  extern "C" __global__ void __launch_bounds__(PC_PROB_ROWS_THREADS, 8)                        \
      pc_prob_rows_##type(const __grid_constant__ pc_prob_rows rows) {                         \
    __shared__ pc_prob_rows_shared shared;                                                     \
    pc_prob_rows_found found;                                                                  \
    pc_prob_rows_look_##type(&rows, blockIdx.x, threadIdx.x, &shared);                         \
    __syncwarp();                                                                              \
    pc_prob_rows_check_##type(&rows, blockIdx.x, threadIdx.x, &shared);                        \
    __syncwarp();                                                                              \
    pc_prob_rows_again_##type(&rows, blockIdx.x, threadIdx.x, &shared);                        \
    __syncwarp();                                                                              \
    const double square =                                                                      \
        pc_prob_rows_square_##type(&rows, blockIdx.x, threadIdx.x, &shared, &found);           \
    __syncwarp();                                                                              \
    shared.sum[threadIdx.x] = square;                                                          \
    __syncwarp();                                                                              \
    pc_prob_rows_write_##type(&rows, blockIdx.x, threadIdx.x, &shared, &found);                \
  }

PROB_ROWS_KERNEL(f32)
PROB_ROWS_KERNEL(f64)

/* Blocks on a multiprocessor; eight leave 64 registers for each thread. */
#ifndef TEMPERATURE_ROWS_BLOCKS
#define TEMPERATURE_ROWS_BLOCKS 8
#endif

#define TEMPERATURE_ROWS_KERNELS(type)                                                         \
  extern "C" __global__ void __launch_bounds__(PC_TEMPERATURE_ROWS_THREADS,                    \
                                               TEMPERATURE_ROWS_BLOCKS)                        \
      pc_temperature_wide_##type(const __grid_constant__ pc_temperature_rows rows) {           \
    __shared__ pc_temperature_rows_shared shared;                                              \
    pc_temperature_rows_begin(threadIdx.x, &shared);                                           \
    pc_temperature_rows_look_##type(&rows, blockIdx.x, threadIdx.x, &shared);                  \
    __syncthreads();                                                                           \
    pc_temperature_rows_add_##type(&rows, blockIdx.x, threadIdx.x, &shared);                   \
    __syncwarp();                                                                              \
    pc_temperature_rows_fold(&rows, blockIdx.x, threadIdx.x, &shared);                         \
    __syncwarp();                                                                              \
    pc_temperature_rows_write_##type(&rows, blockIdx.x, threadIdx.x, &shared);                 \
  }                                                                                            \
  extern "C" __global__ void __launch_bounds__(PC_TEMPERATURE_ROWS_THREADS,                    \
                                               TEMPERATURE_ROWS_BLOCKS)                        \
      pc_temperature_narrow_##type(const __grid_constant__ pc_temperature_rows rows) {         \
    __shared__ pc_temperature_rows_shared shared;                                              \
    pc_temperature_rows_begin(threadIdx.x, &shared);                                           \
    __syncthreads();                                                                           \
    pc_temperature_rows_narrow_##type(                                                         \
        &rows, (uint64_t)blockIdx.x * PC_TEMPERATURE_ROWS_THREADS + threadIdx.x, &shared);     \
  }                                                                                            \
  extern "C" __global__ void __launch_bounds__(PC_SAMPLE_ROWS_THREADS)                         \
      pc_sample_rows_##type(const __grid_constant__ pc_sample_rows sample) {                   \
    pc_sample_rows_find_##type(&sample,                                                        \
                               (uint64_t)blockIdx.x * PC_SAMPLE_ROWS_THREADS + threadIdx.x);   \
  }

TEMPERATURE_ROWS_KERNELS(f32)
TEMPERATURE_ROWS_KERNELS(f64)

extern "C" __global__ void __launch_bounds__(PC_VALUE_SUMS_THREADS)
    pc_value_sums_all(const __grid_constant__ pc_value_sums sums) {
  __shared__ pc_value_sums_shared shared;
  pc_value_sums_add(&sums, blockIdx.x, threadIdx.x, &shared);
  __syncthreads();
  pc_value_sums_publish(&sums, blockIdx.x, threadIdx.x, &shared);
}

#ifndef PAIR_SUMS_BLOCKS
#define PAIR_SUMS_BLOCKS 7
#endif

extern "C" __global__ void __launch_bounds__(PC_PAIR_SUMS_THREADS, PAIR_SUMS_BLOCKS)
    pc_pair_sums_strips_all(const __grid_constant__ pc_pair_sums sums) {
  __shared__ pc_pair_sums_shared shared;
  pc_pair_sums_add(&sums, blockIdx.x, threadIdx.x, &shared);
  __syncthreads();
  pc_pair_sums_publish(&sums, blockIdx.x, threadIdx.x, &shared);
}

extern "C" __global__ void __launch_bounds__(PC_PAIR_SUMS_THREADS)
    pc_pair_sums_packs_all(const __grid_constant__ pc_pair_sums sums) {
  __shared__ pc_pair_sums_shared shared;
  pc_pair_sums_inside(&sums, blockIdx.x, threadIdx.x, &shared);
  __syncthreads();
  pc_pair_sums_publish_inside(&sums, blockIdx.x, threadIdx.x, &shared);
}

/* Blocks on a multiprocessor; four leave 128 registers for each thread. */
#ifndef DIRICHLET_SUMS_BLOCKS
#define DIRICHLET_SUMS_BLOCKS 4
#endif

extern "C" __global__ void __launch_bounds__(PC_DIRICHLET_SUMS_THREADS, DIRICHLET_SUMS_BLOCKS)
    pc_dirichlet_sums_density(const __grid_constant__ pc_dirichlet_sums sums) {
  pc_dirichlet_density(&sums, (uint64_t)blockIdx.x * PC_DIRICHLET_SUMS_THREADS + threadIdx.x);
}

extern "C" __global__ void __launch_bounds__(PC_DIRICHLET_SUMS_THREADS, DIRICHLET_SUMS_BLOCKS)
    pc_dirichlet_sums_labels(const __grid_constant__ pc_dirichlet_sums sums) {
  pc_dirichlet_labels(&sums, (uint64_t)blockIdx.x * PC_DIRICHLET_SUMS_THREADS + threadIdx.x);
}

#ifndef CLASS_BINS_BLOCKS
#define CLASS_BINS_BLOCKS 8
#endif

#define CLASS_BINS_KERNEL(type)                                                                \
  extern "C" __global__ void __launch_bounds__(PC_CLASS_BINS_THREADS, CLASS_BINS_BLOCKS)       \
      pc_class_bins_##type(const __grid_constant__ pc_class_bins bins) {                       \
    __shared__ pc_class_bins_shared shared;                                                    \
    pc_class_bins_thread mine;                                                                 \
    pc_class_bins_begin(&bins, blockIdx.x, threadIdx.x, &shared, &mine);                       \
    for (uint64_t first = mine.slice * PC_CLASS_BINS_THREADS; first < bins.rows;               \
         first += (uint64_t)bins.slices * PC_CLASS_BINS_THREADS) {                             \
      __syncthreads();                                                                         \
      pc_class_bins_load(&bins, &mine, first, &shared);                                        \
      __syncthreads();                                                                         \
      pc_class_bins_add_##type(&bins, &mine, first, &shared);                                  \
    }                                                                                          \
    pc_class_bins_store(&mine, &shared);                                                       \
    __syncthreads();                                                                           \
    for (uint32_t g = 0; g < bins.grid_count; g++)                                             \
      pc_class_bins_publish_first(&bins, &mine, g, &shared);                                   \
    pc_class_bins_publish_cells(&bins, &mine, &shared);                                        \
  }

CLASS_BINS_KERNEL(f32)
CLASS_BINS_KERNEL(f64)

#define CLASS_MOMENTS_KERNEL(type)                                                             \
  extern "C" __global__ void __launch_bounds__(PC_CLASS_BINS_THREADS, CLASS_BINS_BLOCKS)       \
      pc_class_moments_##type(const __grid_constant__ pc_class_moments moments) {              \
    __shared__ pc_class_bins_shared shared;                                                    \
    pc_class_bins_thread mine;                                                                 \
    pc_class_moments_first sums = {0, 0, 0, 0};                                                \
    pc_class_bins_begin(&moments.bins, blockIdx.x, threadIdx.x, &shared, &mine);               \
    for (uint64_t first = mine.slice * PC_CLASS_BINS_THREADS; first < moments.bins.rows;       \
         first += (uint64_t)moments.bins.slices * PC_CLASS_BINS_THREADS) {                     \
      __syncthreads();                                                                         \
      pc_class_bins_load(&moments.bins, &mine, first, &shared);                                \
      __syncthreads();                                                                         \
      pc_class_moments_add_##type(&moments, &mine, first, &shared, &sums);                     \
    }                                                                                          \
    pc_class_moments_end(&moments, &mine, &sums);                                              \
  }

CLASS_MOMENTS_KERNEL(f32)
CLASS_MOMENTS_KERNEL(f64)

#define CLASS_CELLS_KERNEL(type)                                                               \
  extern "C" __global__ void __launch_bounds__(PC_CLASS_BINS_THREADS, 6)                       \
      pc_class_cells_##type(const __grid_constant__ pc_class_cells cells) {                    \
    __shared__ pc_class_cells_shared shared;                                                   \
    pc_class_bins_thread mine;                                                                 \
    pc_class_cells_sums sums;                                                                  \
    pc_class_cells_clear(0, &sums);                                                            \
    pc_class_bins_begin(&cells.bins, blockIdx.x, threadIdx.x, &shared.bins, &mine);            \
    for (uint64_t first = mine.slice * PC_CLASS_BINS_THREADS; first < cells.bins.rows;         \
         first += (uint64_t)cells.bins.slices * PC_CLASS_BINS_THREADS) {                       \
      __syncthreads();                                                                         \
      pc_class_bins_load(&cells.bins, &mine, first, &shared.bins);                             \
      pc_class_cells_load(&cells, &mine, first, &shared);                                      \
      __syncthreads();                                                                         \
      pc_class_cells_add_##type(&cells, &mine, first, &shared, &sums);                         \
    }                                                                                          \
    pc_class_cells_publish(&cells, &sums);                                                     \
  }

CLASS_CELLS_KERNEL(f32)
CLASS_CELLS_KERNEL(f64)

/* All strips of a block; `sums` may be NULL. */
#define CLASS_CURVES_STRIPS(type, sums)                                                        \
  for (uint64_t first = mine.slice * PC_CLASS_BINS_THREADS; first < curves.bins.rows;          \
       first += (uint64_t)curves.bins.slices * PC_CLASS_BINS_THREADS) {                        \
    __syncthreads();                                                                           \
    pc_class_bins_load(&curves.bins, &mine, first, &shared);                                   \
    __syncthreads();                                                                           \
    pc_class_curves_strip_##type(&curves, &mine, first, &shared, sums);                        \
  }

#define CLASS_CURVES_KERNELS(type)                                                             \
  extern "C" __global__ void __launch_bounds__(PC_CLASS_BINS_THREADS, CLASS_BINS_BLOCKS)       \
      pc_class_counts_##type(const __grid_constant__ pc_class_curves curves) {                 \
    __shared__ pc_class_bins_shared shared;                                                    \
    pc_class_bins_thread mine;                                                                 \
    pc_class_bins_begin(&curves.bins, blockIdx.x, threadIdx.x, &shared, &mine);                \
    CLASS_CURVES_STRIPS(type, NULL)                                                            \
  }                                                                                            \
  extern "C" __global__ void __launch_bounds__(PC_CLASS_BINS_THREADS, CLASS_BINS_BLOCKS)       \
      pc_class_segments_##type(const __grid_constant__ pc_class_curves curves) {               \
    __shared__ pc_class_bins_shared shared;                                                    \
    pc_class_bins_thread mine;                                                                 \
    pc_class_curves_sums sums;                                                                 \
    pc_class_curves_clear(0, &sums);                                                           \
    pc_class_bins_begin(&curves.bins, blockIdx.x, threadIdx.x, &shared, &mine);                \
    CLASS_CURVES_STRIPS(type, &sums)                                                           \
    pc_class_curves_publish(&curves, &sums);                                                   \
  }

CLASS_CURVES_KERNELS(f32)
CLASS_CURVES_KERNELS(f64)

#define SCALED_SOFTMAX_KERNELS(type)                                                           \
  extern "C" __global__ void __launch_bounds__(PC_SCALED_SOFTMAX_THREADS, 8)                   \
      pc_scaled_softmax_wide_##type(const __grid_constant__ pc_scaled_softmax softmax) {       \
    __shared__ pc_scaled_softmax_shared shared;                                                \
    pc_scaled_softmax_look_##type(&softmax, blockIdx.x, threadIdx.x, &shared);                 \
    __syncwarp();                                                                              \
    pc_scaled_softmax_add_##type(&softmax, blockIdx.x, threadIdx.x, &shared);                  \
    __syncwarp();                                                                              \
    pc_scaled_softmax_write_##type(&softmax, blockIdx.x, threadIdx.x, &shared);                \
  }                                                                                            \
  extern "C" __global__ void __launch_bounds__(PC_SCALED_SOFTMAX_THREADS, 8)                   \
      pc_scaled_softmax_narrow_##type(const __grid_constant__ pc_scaled_softmax softmax) {     \
    pc_scaled_softmax_narrow_row_##type(                                                       \
        &softmax, (uint64_t)blockIdx.x * PC_SCALED_SOFTMAX_THREADS + threadIdx.x);             \
  }

SCALED_SOFTMAX_KERNELS(f32)
SCALED_SOFTMAX_KERNELS(f64)

extern "C" __global__ void __launch_bounds__(PC_SCORE_BUCKETS_THREADS)
    pc_score_buckets_all(const __grid_constant__ pc_score_buckets buckets) {
  __shared__ pc_score_buckets_shared shared;
  pc_score_buckets_begin(threadIdx.x, &shared);
  __syncthreads();
  pc_score_buckets_add(&buckets, blockIdx.x, threadIdx.x, &shared);
  __syncthreads();
  pc_score_buckets_publish(&buckets, blockIdx.x, threadIdx.x, &shared);
}

extern "C" __global__ void __launch_bounds__(PC_SCORE_BUCKETS_THREADS)
    pc_score_split_all(const __grid_constant__ pc_score_targets targets) {
  __shared__ pc_score_buckets_shared shared;
  pc_score_buckets_begin(threadIdx.x, &shared);
  __syncthreads();
  pc_score_split_add(&targets, blockIdx.x, threadIdx.x, &shared);
  __syncthreads();
  pc_score_split_publish(&targets, blockIdx.x, threadIdx.x, &shared);
}

extern "C" __global__ void __launch_bounds__(PC_SCORE_FILTER_THREADS)
    pc_score_filter_all(const __grid_constant__ pc_score_targets targets) {
  __shared__ pc_score_filter_shared shared;
  pc_score_filter_thread mine;
  pc_score_filter_begin(threadIdx.x, &shared);
  __syncthreads();
  pc_score_filter_look(&targets, blockIdx.x, threadIdx.x, &shared, &mine);
  __syncthreads();
  pc_score_filter_reserve(&targets, threadIdx.x, &shared);
  __syncthreads();
  pc_score_filter_write(&targets, blockIdx.x, threadIdx.x, &shared, &mine);
}
