/* A file of JSON lines: each of its fields as scores, labels and groups.  Most inputs are valid
 * files or valid ones with a line or a token changed. */
#include "fuzz_files.h"
#include "fuzz_read.h"

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  const fuzz_table table = fuzz_table_make(choice);
  fuzz_write_jsonl(&table, choice, out);
}

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  fuzz_change_jsonl(choice, data, size, out);
}

#include "fuzz_mutate.h"

enum { FUZZ_JSONL_FIELDS = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_bytes bytes;
  pc_names names;
  pcal_error err;
  int valid = 0;
  if (size == 0)
    return 0;
  pc_bytes_borrow("fuzz.jsonl", data, size, &bytes);
  pc_names_init(&names, &env);
  if (pc_jsonl_members(&bytes, &env, &names, &err) == PCAL_OK)
    for (size_t i = 0; i < names.count && i < FUZZ_JSONL_FIELDS; i++) {
      const pc_request request = {.env = &env, .bytes = &bytes, .selector = names.text[i]};
      valid |= fuzz_read_cells(&request, PC_AS_SCORES);
      (void)fuzz_read_labels(&request);
      fuzz_read_groups(&request);
    }
  pc_names_free(&names);
  fuzz_count(valid);
  return 0;
}
