/* Any bytes as a .npy file, read in every way. */
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const selectors[] = {NULL, "1,0", "3,0..1"};
  const pcal_env env = pc_env_resolve(NULL);
  pc_bytes bytes;
  if (size == 0)
    return 0;
  pc_bytes_borrow("fuzz.npy", data, size, &bytes);
  for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
    const pc_request request = {.env = &env, .bytes = &bytes, .selector = selectors[i]};
    for (pc_as as = PC_AS_SCORES; as <= PC_AS_TEXT; as++)
      fuzz_read_cells(&request, as);
    fuzz_read_labels(&request);
  }
  return 0;
}
