/* Transposes small matrices: rows to lanes, [class][lane], and back.  Works in square blocks as
 * wide as 128-bit vectors; the last blocks may overlap the previous ones. */
#ifndef PC_TRANSPOSE_H
#define PC_TRANSPOSE_H

#include "kernels/row_kernels.h"

#define PC_TRANSPOSE_INLINE static inline __attribute__((always_inline))

typedef float pc_transpose_floats __attribute__((vector_size(16), aligned(4), may_alias));
typedef double pc_transpose_doubles __attribute__((vector_size(16), aligned(8), may_alias));

/* Shuffles of two vectors; from initialisers gcc would generate one load for each number. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define PC_TRANSPOSE_PICK(a, b, i, j) __builtin_shufflevector(a, b, i, 4 + i, j, 4 + j)
#define PC_TRANSPOSE_JOIN(a, b, i, j) __builtin_shufflevector(a, b, i, j, 4 + i, 4 + j)
#endif
#endif
#if !defined(PC_TRANSPOSE_PICK)
#define PC_TRANSPOSE_PICK(a, b, i, j) ((pc_transpose_floats){a[i], b[i], a[j], b[j]})
#define PC_TRANSPOSE_JOIN(a, b, i, j) ((pc_transpose_floats){a[i], a[j], b[i], b[j]})
#endif

PC_TRANSPOSE_INLINE pc_transpose_floats pc_transpose_load(const float *from) {
  return *(const pc_transpose_floats *)(const void *)from;
}

PC_TRANSPOSE_INLINE void pc_transpose_store(pc_transpose_floats line, float *to) {
  *(pc_transpose_floats *)(void *)to = line;
}

/* One square; the steps are the distances between its lines. */
PC_TRANSPOSE_INLINE void pc_transpose_square_f32(const float *from, size_t from_step, float *to,
                                                 size_t to_step) {
  const pc_transpose_floats a = pc_transpose_load(from),
                            b = pc_transpose_load(from + from_step);
  const pc_transpose_floats c = pc_transpose_load(from + 2 * from_step);
  const pc_transpose_floats d = pc_transpose_load(from + 3 * from_step);
  const pc_transpose_floats ab = PC_TRANSPOSE_PICK(a, b, 0, 1),
                            ab_behind = PC_TRANSPOSE_PICK(a, b, 2, 3);
  const pc_transpose_floats cd = PC_TRANSPOSE_PICK(c, d, 0, 1),
                            cd_behind = PC_TRANSPOSE_PICK(c, d, 2, 3);
  pc_transpose_store(PC_TRANSPOSE_JOIN(ab, cd, 0, 1), to);
  pc_transpose_store(PC_TRANSPOSE_JOIN(ab, cd, 2, 3), to + to_step);
  pc_transpose_store(PC_TRANSPOSE_JOIN(ab_behind, cd_behind, 0, 1), to + 2 * to_step);
  pc_transpose_store(PC_TRANSPOSE_JOIN(ab_behind, cd_behind, 2, 3), to + 3 * to_step);
}

PC_TRANSPOSE_INLINE void pc_transpose_square_f64(const double *from, size_t from_step,
                                                 double *to, size_t to_step) {
  const pc_transpose_doubles a = *(const pc_transpose_doubles *)(const void *)from;
  const pc_transpose_doubles b =
      *(const pc_transpose_doubles *)(const void *)(from + from_step);
  *(pc_transpose_doubles *)(void *)to = (pc_transpose_doubles){a[0], b[0]};
  *(pc_transpose_doubles *)(void *)(to + to_step) = (pc_transpose_doubles){a[1], b[1]};
}

/* to[c * rows + r] = from[r * columns + c] */
#define PC_TRANSPOSE(name, square, type)                                                \
  PC_TRANSPOSE_INLINE void name(const type *restrict from, size_t rows, size_t columns, \
                                type *restrict to) {                                    \
    const size_t side = sizeof(pc_transpose_floats) / sizeof(type);                     \
    const int small = rows < side || columns < side;                                    \
    for (size_t c = 0; small && c < columns; c++)                                       \
      for (size_t r = 0; r < rows; r++)                                                 \
        to[c * rows + r] = from[r * columns + c];                                       \
    for (size_t j = 0; !small && j < columns; j += side)                                \
      for (size_t i = 0; i < rows; i += side) {                                         \
        const size_t c = j + side <= columns ? j : columns - side;                      \
        const size_t r = i + side <= rows ? i : rows - side;                            \
        square(from + r * columns + c, columns, to + c * rows + r, rows);               \
      }                                                                                 \
  }
PC_TRANSPOSE(pc_transpose_f32, pc_transpose_square_f32, float)
PC_TRANSPOSE(pc_transpose_f64, pc_transpose_square_f64, double)

#endif
