/* Any bytes as a CSV and a TSV file, read as scores, labels and groups; the length says whether
 * there is a header. */
#include <stdint.h>
#include <string.h>

#include "io/groups.h"
#include "io/labels.h"
#include "io/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fuzz_csv_open(const pcal_env *env, const pc_bytes *bytes, pc_as as,
                         const char *selector, pc_reader *reader) {
  const pc_request request = {.env = env,
                              .bytes = bytes,
                              .selector = selector,
                              .as = as,
                              .header = (pc_header)(bytes->length % 3)};
  pcal_error err;
  return pc_reader_open(&request, reader, &err) == PCAL_OK;
}

static void fuzz_csv_scores(const pcal_env *env, const pc_bytes *bytes) {
  pc_reader reader;
  pc_window window;
  pcal_error err;
  volatile double sum = 0;
  if (!fuzz_csv_open(env, bytes, PC_AS_SCORES, NULL, &reader))
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

static void fuzz_csv_labels(const pcal_env *env, const pc_bytes *bytes, const char *selector) {
  pc_reader reader;
  pc_names classes;
  pcal_error err;
  const int32_t *out = NULL;
  size_t rows = 1;
  uint32_t number;
  if (!fuzz_csv_open(env, bytes, PC_AS_LABELS, selector, &reader))
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

static void fuzz_csv_groups(const pcal_env *env, const pc_bytes *bytes) {
  pc_reader reader;
  pc_groups groups;
  pcal_error err;
  const uint32_t *out = NULL;
  size_t rows = 1;
  if (!fuzz_csv_open(env, bytes, PC_AS_TEXT, "0", &reader))
    return;
  pc_groups_init(&groups, &reader, env);
  while (rows > 0 && pc_groups_next(&groups, 7, 0, &out, &rows, &err) == PCAL_OK)
    continue;
  pc_groups_free(&groups);
  pc_reader_close(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"fuzz.csv", "fuzz.tsv"};
  const pcal_env env = pc_env_resolve(NULL);
  if (size == 0)
    return 0;
  for (size_t i = 0; i < 2; i++) {
    pc_bytes bytes;
    pc_bytes_borrow(names[i], data, size, &bytes);
    fuzz_csv_scores(&env, &bytes);
    fuzz_csv_labels(&env, &bytes, NULL);
    fuzz_csv_labels(&env, &bytes, "0");
    fuzz_csv_groups(&env, &bytes);
  }
  return 0;
}
