/* Any bytes as a file of JSON lines: the first of its fields as scores, labels and groups. */
#include <stdint.h>

#include "io/groups.h"
#include "io/labels.h"
#include "io/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fuzz_jsonl_open(const pcal_env *env, const pc_bytes *bytes, pc_as as,
                           const char *field, pc_reader *reader) {
  const pc_request request = {.env = env, .bytes = bytes, .selector = field, .as = as};
  pcal_error err;
  return pc_reader_open(&request, reader, &err) == PCAL_OK;
}

static void fuzz_jsonl_scores(const pcal_env *env, const pc_bytes *bytes, const char *field) {
  pc_reader reader;
  pc_window window;
  pcal_error err;
  volatile double sum = 0;
  if (!fuzz_jsonl_open(env, bytes, PC_AS_SCORES, field, &reader))
    return;
  do {
    if (pc_reader_next(&reader, 7, &window, &err) != PCAL_OK)
      break;
    for (size_t i = 0; i < window.rows * reader.columns; i++)
      sum += ((const double *)window.data)[i];
  } while (window.rows > 0);
  (void)sum;
  pc_reader_close(&reader);
}

static void fuzz_jsonl_labels(const pcal_env *env, const pc_bytes *bytes, const char *field) {
  pc_reader reader;
  pc_names classes;
  pcal_error err;
  const int32_t *out = NULL;
  size_t rows = 1;
  uint32_t number;
  if (!fuzz_jsonl_open(env, bytes, PC_AS_LABELS, field, &reader))
    return;
  pc_names_init(&classes, env);
  if (pc_names_add(&classes, pc_slice_of("cat"), &number, &err) != PCAL_OK)
    rows = 0;
  pc_labels labels = {
      .reader = &reader, .classes = &classes, .scores_name = "s", .meaning = "m"};
  while (rows > 0 && pc_labels_next(&labels, 7, 0, &out, &rows, &err) == PCAL_OK)
    continue;
  pc_labels_free(&labels);
  pc_names_free(&classes);
  pc_reader_close(&reader);
}

static void fuzz_jsonl_groups(const pcal_env *env, const pc_bytes *bytes, const char *field) {
  pc_reader reader;
  pc_groups groups;
  pcal_error err;
  const uint32_t *out = NULL;
  size_t rows = 1;
  if (!fuzz_jsonl_open(env, bytes, PC_AS_TEXT, field, &reader))
    return;
  pc_groups_init(&groups, &reader, env);
  while (rows > 0 && reader.columns == 1 &&
         pc_groups_next(&groups, 7, 0, &out, &rows, &err) == PCAL_OK)
    continue;
  pc_groups_free(&groups);
  pc_reader_close(&reader);
}

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
    const char *field = names.text[names.count - 1];
    fuzz_jsonl_scores(&env, &bytes, field);
    fuzz_jsonl_labels(&env, &bytes, field);
    fuzz_jsonl_groups(&env, &bytes, field);
  }
  pc_names_free(&names);
  return 0;
}
