/* Any bytes as a file of JSON lines: the last of its fields as scores, labels and groups. */
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_bytes bytes;
  pc_names names;
  pcal_error err;
  if (size == 0)
    return 0;
  pc_bytes_borrow("fuzz.jsonl", data, size, &bytes);
  pc_names_init(&names, &env);
  if (pc_jsonl_members(&bytes, &env, &names, &err) == PCAL_OK) {
    const pc_request request = {
        .env = &env, .bytes = &bytes, .selector = names.text[names.count - 1]};
    fuzz_read_cells(&request, PC_AS_SCORES);
    fuzz_read_labels(&request);
    fuzz_read_groups(&request);
  }
  pc_names_free(&names);
  return 0;
}
