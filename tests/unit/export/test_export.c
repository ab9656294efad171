/* Exports: names, targets, methods without a recipe, and bytes that do not change. */
#include "../calibrators/calibrator_help.h"
#include "export/export.h"

#define EXPORT_ROWS 60

static void export_data(double *logits, int32_t *labels, pcal_batch *batch) {
  help_draw(logits, labels, EXPORT_ROWS, 3, 3, 2);
  *batch = help_batch(PCAL_LOGIT, logits, labels, EXPORT_ROWS, 3);
}

static void export_refused(const pcal_calibrator *calibrator, pcal_format to, const char *name,
                           const char *sentence) {
  sink_bytes text = {0};
  pcal_error err;
  assert_int_equal(pcal_calibrator_export(calibrator, to, name, sink_collect, &text, &err),
                   PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, sentence);
  assert_int_equal(text.calls, 0);
}

TEST(export_wrong) {
  double logits[3 * EXPORT_ROWS];
  int32_t labels[EXPORT_ROWS];
  pcal_batch batch;
  export_data(logits, labels, &batch);
  pcal_calibrator *calibrator = help_fit(&batch, "temperature");
  export_refused(calibrator, PCAL_TEXT, NULL,
                 "a calibrator is exported as PCAL_C or PCAL_ONNX");
  export_refused(calibrator, PCAL_C, "a b",
                 "\"a b\" is not a valid name of a function; use letters, digits and "
                 "underscores, a letter first, at most 48 characters");
  export_refused(NULL, PCAL_C, NULL, "pcal_calibrator_export needs a calibrator and a sink");
  pcal_calibrator_free(calibrator);
}

/* The messages of an ONNX file, checked field by field: IR version 8, opset 13, a graph. */
TEST(export_onnx_fields) {
  double logits[3 * EXPORT_ROWS];
  int32_t labels[EXPORT_ROWS];
  pcal_batch batch;
  sink_bytes text = {0};
  export_data(logits, labels, &batch);
  pcal_calibrator *calibrator = help_fit(&batch, "histogram");
  assert_int_equal(
      pcal_calibrator_export(calibrator, PCAL_ONNX, "h", sink_collect, &text, NULL), PCAL_OK);
  const unsigned char *bytes = (const unsigned char *)text.bytes;
  assert_int_equal(bytes[0], 1 << 3);
  assert_int_equal(bytes[1], 8);
  assert_int_equal(bytes[2], 2 << 3 | 2);
  assert_memory_equal(bytes + 4, "propercal", 9);
  /* The last message: domain "", version 13. */
  const unsigned char *end = bytes + text.length;
  const unsigned char opset[] = {8 << 3 | 2, 4, 1 << 3 | 2, 0, 2 << 3, 13};
  assert_memory_equal(end - sizeof opset, opset, sizeof opset);
  free(text.bytes);
  pcal_calibrator_free(calibrator);
}
