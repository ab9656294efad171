/* Element types of arrays (.npy files, Arrow, memory), and their conversion. */
#ifndef PC_ELEMENT_TYPE_H
#define PC_ELEMENT_TYPE_H

#include <stddef.h>
#include <stdint.h>

typedef enum pc_element_kind {
  PC_ELEMENT_FLOAT = 1,
  PC_ELEMENT_SIGNED,
  PC_ELEMENT_UNSIGNED,
  PC_ELEMENT_BOOL
} pc_element_kind;

typedef struct pc_element_type {
  pc_element_kind kind;
  size_t size; /* bytes: 1, 2, 4 or 8 */
  int swapped; /* not in the byte order of this machine */
} pc_element_type;

/* Elements `stride` bytes apart, with any alignment. */
typedef struct pc_element_run {
  const unsigned char *first;
  ptrdiff_t stride;
  size_t count;
} pc_element_run;

int pc_little_endian(void); /* this machine */

/* "float32"; with ", big-endian" or ", little-endian" if swapped. */
void pc_element_type_text(const pc_element_type *type, char *out, size_t size);

/* Convert a run; output elements are out_step apart.  To double, whole numbers above 2^53
 * are rounded. To float, only float16 and float32, exactly. */
void pc_elements_to_double(const pc_element_type *type, const pc_element_run *run, double *out,
                           size_t out_step);
void pc_elements_to_float(const pc_element_type *type, const pc_element_run *run, float *out,
                          size_t out_step);

#define PC_ELEMENT_TEXT_MAX 32

/* Writes one element as text, whole numbers exactly; returns the length. */
size_t pc_element_to_text(const pc_element_type *type, const unsigned char *element,
                          char out[PC_ELEMENT_TEXT_MAX]);

#endif
