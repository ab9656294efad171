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
  pc_input_file bytes;
  pc_name_table names;
  pcal_error err;
  int valid = 0;
  if (size == 0)
    return 0;
  pc_input_file_from_memory("fuzz.jsonl", data, size, &bytes);
  pc_name_table_init(&names, &env);
  if (pc_jsonl_members(&bytes, &env, &names, &err) == PCAL_OK)
    for (size_t i = 0; i < names.count && i < FUZZ_JSONL_FIELDS; i++) {
      const pc_read_request request = {.env = &env, .bytes = &bytes, .selector = names.text[i]};
      valid |= fuzz_read_cells(&request, PC_COLUMN_SCORES);
      (void)fuzz_read_labels(&request);
      fuzz_read_groups(&request);
    }
  pc_name_table_free(&names);
  fuzz_count(valid);
  return 0;
}
