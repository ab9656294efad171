/* A table of Arrow IPC: the names of its columns, and each column in every way.  Unpacking is limited
 * to a megabyte.  Most inputs are valid streams with a few bytes changed, mostly values. */
#include "../ipc_bytes.h"
#include "fuzz_choice.h"
#include "fuzz_read.h"

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  static const uint8_t values[] = {0, 1, 2, 8, 0x7F, 0x80, 0xFF};
  fuzz_put(out, data, size);
  for (size_t i = fuzz_chance(choice, 4) ? 3 : fuzz_below(choice, 2); i > 0 && out->length > 0;
       i--)
    out->bytes[fuzz_below(choice, out->length)] = FUZZ_PICK(choice, values);
}

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  fuzz_change(choice, ipc_bytes, sizeof ipc_bytes, out);
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
  pc_input_file_from_memory("fuzz.arrow", data, size, &bytes);
  bytes.env = &env;
  pc_name_table_init(&names, &env);
  if (pc_arrow_members(&bytes, &env, &names, &err) == PCAL_OK) {
    (void)fuzz_read_cells(&request, PC_COLUMN_SCORES);
    for (size_t i = 0; i < names.count && i < 8; i++) {
      request.selector = names.text[i];
      for (pc_column_role as = PC_COLUMN_SCORES; as <= PC_COLUMN_TEXT; as++)
        valid |= fuzz_read_cells(&request, as);
      (void)fuzz_read_labels(&request);
    }
  }
  pc_name_table_free(&names);
  fuzz_count(valid);
  return 0;
}
