/* A calibrator file: one that a fit has saved, with a node of its tree changed, or any bytes.
 *
 *   1. They are refused with one sentence that names the file, or they are loaded.
 *   2. What was loaded is saved, and that loads and saves as the same bytes.
 *   3. What was loaded can be applied, and gives probabilities. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../sinks.h"
#include "fuzz_count.h"
#include "fuzz_models.h"
#include "fuzz_tree.h"
#include "propercal.h"

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  const fuzz_table table = fuzz_table_make(choice);
  fuzz_write_calibrator(&table, choice, out);
}

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  if (!fuzz_tree_change(choice, data, size, out))
    fuzz_make(choice, out);
}

#include "fuzz_mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_calibrator_require(int holds) {
  if (!holds)
    abort();
}

static void fuzz_calibrator_round_trip(const pcal_calibrator *calibrator) {
  sink_bytes first = {0}, second = {0};
  pcal_calibrator *again = NULL;
  if (pcal_calibrator_save(calibrator, sink_collect, &first, NULL) == PCAL_OK) {
    fuzz_calibrator_require(pcal_calibrator_load(first.bytes, first.length, "again", NULL,
                                                 &again, NULL) == PCAL_OK);
    fuzz_calibrator_require(pcal_calibrator_save(again, sink_collect, &second, NULL) ==
                            PCAL_OK);
    fuzz_calibrator_require(first.length == second.length &&
                            memcmp(first.bytes, second.bytes, first.length) == 0);
  }
  pcal_calibrator_free(again);
  free(first.bytes);
  free(second.bytes);
}

/* Tries all kinds and a few shapes, of which one may fit. */
static void fuzz_calibrator_apply(const pcal_calibrator *calibrator) {
  static const double scores[] = {0.5, 0.25, 0.25, 0.125, 0.75, 0.125};
  double out[12]; /* sets of one column have two */
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.type = PCAL_F64;
  batch.scores = scores;
  batch.column_stride = sizeof(double);
  for (batch.kind = PCAL_PROBABILITY; batch.kind <= PCAL_CONFIDENCE; batch.kind++)
    for (batch.columns = 1; batch.columns <= 3; batch.columns++) {
      batch.rows = 6 / batch.columns;
      batch.row_stride = (ptrdiff_t)(batch.columns * sizeof(double));
      if (pcal_calibrator_apply(calibrator, &batch, NULL, out, NULL) != PCAL_OK)
        continue;
      for (size_t i = 0; i < batch.rows * pcal_calibrator_column_count(calibrator); i++)
        fuzz_calibrator_require(out[i] >= 0 && out[i] <= 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  pcal_calibrator *calibrator = NULL;
  pcal_error err = PCAL_ERROR_INIT;
  const pcal_status status =
      pcal_calibrator_load(data, size, "fuzz.json", NULL, &calibrator, &err);
  fuzz_count(status == PCAL_OK);
  if (status != PCAL_OK) {
    fuzz_calibrator_require(status == PCAL_DATA || status == PCAL_MEMORY);
    fuzz_calibrator_require(status == PCAL_MEMORY || strncmp(err.message, "fuzz.json", 9) == 0);
    return 0;
  }
  fuzz_calibrator_round_trip(calibrator);
  fuzz_calibrator_apply(calibrator);
  sink_bytes text = {0};
  pcal_calibrator_describe(calibrator, PCAL_TEXT, sink_collect, &text, NULL);
  pcal_calibrator_describe(calibrator, PCAL_JSON, sink_collect, &text, NULL);
  free(text.bytes);
  pcal_calibrator_free(calibrator);
  return 0;
}
