/* Any bytes as a .npz file: its directory, and the first of its arrays in every way.  Unpacking
 * is limited to a megabyte. */
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  pcal_env env = pc_env_resolve(NULL);
  pc_bytes bytes;
  pc_request request = {.env = &env, .bytes = &bytes};
  pc_names names;
  pcal_error err;
  if (size == 0)
    return 0;
  env.memory_limit = 1 << 20;
  pc_bytes_borrow("fuzz.npz", data, size, &bytes);
  fuzz_read_cells(&request, PC_AS_SCORES);
  request.selector = "labels.npy";
  fuzz_read_cells(&request, PC_AS_SCORES);
  fuzz_read_labels(&request);
  pc_names_init(&names, &env);
  if (pc_npz_members(&bytes, &env, &names, &err) == PCAL_OK) {
    request.selector = names.text[0];
    for (pc_as as = PC_AS_SCORES; as <= PC_AS_TEXT; as++)
      fuzz_read_cells(&request, as);
  }
  pc_names_free(&names);
  return 0;
}
