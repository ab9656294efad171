/* A .npy file, read in every way.  Most inputs are valid files or valid ones with a number of
 * the header or of the data changed. */
#include "fuzz_files.h"
#include "fuzz_read.h"

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  const fuzz_table table = fuzz_table_make(choice);
  fuzz_write_npy(&table, (fuzz_part)fuzz_below(choice, 3), choice, out);
}

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  fuzz_change_npy(choice, data, size, out);
}

#include "fuzz_mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const selectors[] = {NULL, "1,0", "3,0..1"};
  const pcal_env env = pc_env_resolve(NULL);
  pc_input_file bytes;
  int valid = 0;
  if (size == 0)
    return 0;
  pc_input_file_from_memory("fuzz.npy", data, size, &bytes);
  for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
    const pc_read_request request = {.env = &env, .bytes = &bytes, .selector = selectors[i]};
    for (pc_column_role as = PC_COLUMN_SCORES; as <= PC_COLUMN_TEXT; as++)
      valid |= fuzz_read_cells(&request, as);
    (void)fuzz_read_labels(&request);
  }
  fuzz_count(valid);
  return 0;
}
