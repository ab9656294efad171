/* A .npz file: its directory, and the first of its arrays in every way.  Unpacking is limited
 * to a megabyte.  Most inputs are valid archives or valid ones with a field changed. */
#include "fuzz_files.h"
#include "fuzz_read.h"

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  const fuzz_table table = fuzz_table_make(choice);
  fuzz_write_npz(&table, choice, out);
}

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  fuzz_change_npz(choice, data, size, out);
}

#include "fuzz_mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  pcal_env env = pc_env_resolve(NULL);
  pc_input_file bytes;
  pc_read_request request = {.env = &env, .bytes = &bytes};
  pc_name_table names;
  pcal_error err;
  int valid = 0;
  if (size == 0)
    return 0;
  env.memory_limit = 1 << 20;
  pc_input_file_from_memory("fuzz.npz", data, size, &bytes);
  (void)fuzz_read_cells(&request, PC_COLUMN_SCORES);
  request.selector = "labels.npy";
  (void)fuzz_read_cells(&request, PC_COLUMN_SCORES);
  (void)fuzz_read_labels(&request);
  pc_name_table_init(&names, &env);
  if (pc_npz_members(&bytes, &env, &names, &err) == PCAL_OK) {
    request.selector = names.text[0];
    for (pc_column_role as = PC_COLUMN_SCORES; as <= PC_COLUMN_TEXT; as++)
      valid |= fuzz_read_cells(&request, as);
  }
  pc_name_table_free(&names);
  fuzz_count(valid);
  return 0;
}
