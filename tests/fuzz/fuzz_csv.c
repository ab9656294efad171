/* A CSV and a TSV file, read as scores, labels and groups; the length says whether there is a
 * header.  Most inputs are valid files or valid ones with a line or a cell changed. */
#include "fuzz_files.h"
#include "fuzz_read.h"

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  const fuzz_table table = fuzz_table_make(choice);
  fuzz_write_csv(&table, choice, out);
}

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  fuzz_change_csv(choice, data, size, out);
}

#include "fuzz_mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"fuzz.csv", "fuzz.tsv"};
  static const pcal_header headers[] = {PCAL_HEADER_AUTO, PCAL_HEADER_AUTO, PCAL_HEADER_YES,
                                        PCAL_HEADER_NO};
  const pcal_env env = pc_env_resolve(NULL);
  int valid = 0;
  if (size == 0)
    return 0;
  for (size_t i = 0; i < 2; i++) {
    pc_input_file bytes;
    /* Two in four sizes: decided by the first line, else given or not. */
    pc_read_request request = {.env = &env, .bytes = &bytes, .header = headers[size % 4]};
    pc_input_file_from_memory(names[i], data, size, &bytes);
    (void)fuzz_read_cells(&request, PC_COLUMN_SCORES);
    (void)fuzz_read_labels(&request);
    request.selector = "0";
    valid |= fuzz_read_cells(&request, PC_COLUMN_SCORES);
    (void)fuzz_read_labels(&request);
    fuzz_read_groups(&request);
  }
  fuzz_count(valid);
  return 0;
}
