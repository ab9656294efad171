/* Any bytes as a .npz file: its directory, and the first of its arrays in every way.  Unpacking
 * is limited to a megabyte. */
#include <stdint.h>

#include "io/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches every cell, so that a sanitizer sees a window that reaches too far. */
static unsigned fuzz_npz_touch(const pc_reader *reader, const pc_window *window) {
  const size_t width = reader->cells == PC_CELLS_F64    ? sizeof(double)
                       : reader->cells == PC_CELLS_TEXT ? sizeof(pc_slice)
                                                        : sizeof(float);
  unsigned sum = 0;
  for (size_t row = 0; row < window->rows; row++) {
    for (size_t column = 0; column < reader->columns; column++) {
      const unsigned char *at = (const unsigned char *)window->data +
                                (ptrdiff_t)row * window->row_stride +
                                (ptrdiff_t)column * window->column_stride;
      sum += at[0] + at[width - 1];
    }
  }
  return sum;
}

static void fuzz_npz_read(const pcal_env *env, const pc_bytes *bytes, pc_as as,
                          const char *selector) {
  const pc_request request = {.env = env, .bytes = bytes, .selector = selector, .as = as};
  pc_reader reader;
  pc_window window;
  pcal_error err;
  volatile unsigned sum = 0;
  if (pc_reader_open(&request, &reader, &err) != PCAL_OK)
    return;
  do {
    if (pc_reader_next(&reader, 1000, &window, &err) != PCAL_OK)
      break;
    sum += fuzz_npz_touch(&reader, &window);
  } while (window.rows > 0);
  (void)sum;
  pc_reader_close(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  pcal_env env = pc_env_resolve(NULL);
  pc_bytes bytes;
  pc_names names;
  pcal_error err;
  if (size == 0)
    return 0;
  env.memory_limit = 1 << 20;
  pc_bytes_borrow("fuzz.npz", data, size, &bytes);
  pc_names_init(&names, &env);
  if (pc_npz_members(&bytes, &env, &names, &err) == PCAL_OK)
    for (pc_as as = PC_AS_SCORES; as <= PC_AS_TEXT; as++)
      fuzz_npz_read(&env, &bytes, as, names.text[0]);
  pc_names_free(&names);
  fuzz_npz_read(&env, &bytes, PC_AS_SCORES, NULL);
  fuzz_npz_read(&env, &bytes, PC_AS_SCORES, "labels.npy");
  return 0;
}
