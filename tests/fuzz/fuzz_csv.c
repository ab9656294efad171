/* Any bytes as a CSV and a TSV file, read as scores, labels and groups; the length says whether
 * there is a header. */
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"fuzz.csv", "fuzz.tsv"};
  const pcal_env env = pc_env_resolve(NULL);
  if (size == 0)
    return 0;
  for (size_t i = 0; i < 2; i++) {
    pc_bytes bytes;
    pc_request request = {.env = &env, .bytes = &bytes, .header = (pc_header)(size % 3)};
    pc_bytes_borrow(names[i], data, size, &bytes);
    fuzz_read_cells(&request, PC_AS_SCORES);
    fuzz_read_labels(&request);
    request.selector = "0";
    fuzz_read_labels(&request);
    fuzz_read_groups(&request);
  }
  return 0;
}
