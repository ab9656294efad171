/* The element types of a .npy file, and their conversion. */
#ifndef PC_NPY_TYPE_H
#define PC_NPY_TYPE_H

#include <stddef.h>
#include <stdint.h>

typedef enum pc_npy_kind {
  PC_NPY_FLOAT = 1,
  PC_NPY_SIGNED,
  PC_NPY_UNSIGNED,
  PC_NPY_BOOL
} pc_npy_kind;

typedef struct pc_npy_type {
  pc_npy_kind kind;
  size_t size; /* bytes: 1, 2, 4 or 8 */
  int swapped; /* stored in the other byte order than this machine's */
} pc_npy_type;

/* Elements of a file, stride bytes apart, in any alignment. */
typedef struct pc_npy_run {
  const unsigned char *first;
  ptrdiff_t stride;
  size_t count;
} pc_npy_run;

int pc_npy_little_endian(void); /* this machine */

/* "float32", with ", big-endian" or ", little-endian" when it is not this machine's order. */
void pc_npy_type_text(const pc_npy_type *type, char *out, size_t size);

/* Converts a run; out elements are out_step apart.  Whole numbers above 2^53 are rounded; to
 * float only float16 and float32, exactly. */
void pc_npy_to_double(const pc_npy_type *type, const pc_npy_run *run, double *out,
                      size_t out_step);
void pc_npy_to_float(const pc_npy_type *type, const pc_npy_run *run, float *out,
                     size_t out_step);

#define PC_NPY_TEXT_MAX 32

/* Writes one element as text, whole numbers exactly; returns the length. */
size_t pc_npy_to_text(const pc_npy_type *type, const unsigned char *element,
                      char out[PC_NPY_TEXT_MAX]);

#endif
