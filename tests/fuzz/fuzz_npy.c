/* Any bytes as a .npy file, read in every way. */
#include <stdint.h>

#include "io/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches every cell, so that a sanitizer sees a window that reaches too far. */
static unsigned fuzz_npy_touch(const pc_reader *reader, const pc_window *window) {
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

static void fuzz_npy_read(const pcal_env *env, const pc_bytes *bytes, pc_as as,
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
    sum += fuzz_npy_touch(&reader, &window);
  } while (window.rows > 0);
  (void)sum;
  pc_reader_close(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_bytes bytes;
  if (size == 0)
    return 0;
  pc_bytes_borrow("fuzz.npy", data, size, &bytes);
  for (pc_as as = PC_AS_SCORES; as <= PC_AS_TEXT; as++) {
    fuzz_npy_read(&env, &bytes, as, NULL);
    fuzz_npy_read(&env, &bytes, as, "1,0");
    fuzz_npy_read(&env, &bytes, as, "3,0..1");
  }
  return 0;
}
