#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "propercal.h"
#include "testing.h"

#define ROWS 500

/* A source of rows begin to begin + count - 1 of over-confident probabilities of class 1. */
typedef struct watch_rows {
  double probs[ROWS];
  int32_t labels[ROWS];
} watch_rows;

static void fill(watch_rows *rows) {
  const pc_rng scores = {1, 0}, outcomes = {1, 1};
  for (uint64_t i = 0; i < ROWS; i++) {
    const double z = 1.5 * pc_rng_normal(&scores, i);
    rows->probs[i] = 1 / (1 + exp(-1.5 * z));
    rows->labels[i] = pc_rng_uniform(&outcomes, i) < 1 / (1 + exp(-z));
  }
}

static pcal_status add(pcal_watch *watch, const watch_rows *rows, size_t begin, size_t count,
                       unsigned flags, pcal_error *err) {
  pcal_input probs = PCAL_INPUT_INIT, labels = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  probs.data = rows->probs + begin;
  probs.type = PCAL_F64;
  labels.data = rows->labels + begin;
  labels.type = PCAL_I32;
  probs.rows = labels.rows = count;
  inputs.probs = &probs;
  inputs.labels = &labels;
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, err), PCAL_OK);
  const pcal_status status = pcal_watch_update(watch, source, flags, err);
  pcal_source_free(source);
  return status;
}

typedef struct watch_bytes {
  unsigned char data[16384];
  size_t length;
} watch_bytes;

static int keep(void *user, const char *bytes, size_t count) {
  watch_bytes *out = user;
  assert_true(out->length + count <= sizeof out->data);
  memcpy(out->data + out->length, bytes, count);
  out->length += count;
  return 0;
}

/* Rows in parts, through a saved state, are the rows in one call. */
TEST(parts_and_saved_states) {
  static watch_rows rows;
  pcal_watch *whole = NULL, *parts = NULL, *loaded = NULL;
  pcal_watch_report a = PCAL_WATCH_REPORT_INIT, b = PCAL_WATCH_REPORT_INIT;
  watch_bytes bytes = {{0}, 0};
  pcal_error err = PCAL_ERROR_INIT;
  fill(&rows);
  assert_int_equal(pcal_watch_new(0.05, NULL, &whole, &err), PCAL_OK);
  assert_int_equal(pcal_watch_new(0.05, NULL, &parts, &err), PCAL_OK);
  assert_int_equal(add(whole, &rows, 0, ROWS, 0, &err), PCAL_OK);
  assert_int_equal(add(parts, &rows, 0, 200, 0, &err), PCAL_OK);
  assert_int_equal(pcal_watch_save(parts, keep, &bytes, &err), PCAL_OK);
  assert_int_equal(pcal_watch_load(bytes.data, bytes.length, NULL, NULL, &loaded, &err),
                   PCAL_OK);
  assert_int_equal(add(loaded, &rows, 200, ROWS - 200, 0, &err), PCAL_OK);
  assert_int_equal(pcal_watch_get(whole, &a, &err), PCAL_OK);
  assert_int_equal(pcal_watch_get(loaded, &b, &err), PCAL_OK);
  assert_int_equal(a.rows, ROWS);
  assert_true(a.log_e == b.log_e && a.highest_log_e == b.highest_log_e);
  assert_true(a.alarm && a.alarm_rows == b.alarm_rows && a.highest_rows == b.highest_rows);
  assert_int_equal(a.parts, 1);
  assert_int_equal(b.parts, 2);
  for (size_t cut = 0; cut < bytes.length; cut += 97) {
    pcal_watch *broken = NULL;
    assert_int_equal(pcal_watch_load(bytes.data, cut, NULL, NULL, &broken, &err), PCAL_DATA);
    assert_null(broken);
  }
  pcal_watch_free(parts);
  bytes.data[bytes.length / 2] ^= 1;
  assert_int_equal(pcal_watch_load(bytes.data, bytes.length, NULL, NULL, &parts, &err),
                   PCAL_DATA);
  pcal_watch_free(whole);
  pcal_watch_free(loaded);
}

TEST(refuses_rows_twice) {
  static watch_rows rows;
  pcal_watch *watch = NULL;
  pcal_watch_report report = PCAL_WATCH_REPORT_INIT;
  pcal_error err = PCAL_ERROR_INIT;
  fill(&rows);
  assert_int_equal(pcal_watch_new(0.05, NULL, &watch, &err), PCAL_OK);
  assert_int_equal(add(watch, &rows, 0, 100, 0, &err), PCAL_OK);
  assert_int_equal(add(watch, &rows, 100, 100, 0, &err), PCAL_OK);
  assert_int_equal(add(watch, &rows, 0, 100, 0, &err), PCAL_DATA);
  assert_int_equal(pcal_watch_get(watch, &report, &err), PCAL_OK);
  assert_int_equal(report.rows, 200); /* unchanged by the failure */
  assert_int_equal(add(watch, &rows, 0, 100, PCAL_WATCH_ALLOW_REPEAT, &err), PCAL_OK);
  for (int i = 0; i < 2; i++) /* too few to be recognised */
    assert_int_equal(add(watch, &rows, 0, 10, 0, &err), PCAL_OK);
  assert_int_equal(pcal_watch_get(watch, &report, &err), PCAL_OK);
  assert_int_equal(report.rows, 320);
  pcal_watch_free(watch);
}

TEST(refuses_other_arguments) {
  static const double wrong[] = {0, 1, -0.1, 2, NAN};
  pcal_watch *watch = NULL;
  pcal_error err = PCAL_ERROR_INIT;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(pcal_watch_new(wrong[i], NULL, &watch, &err), PCAL_USAGE);
  assert_null(watch);
  assert_int_equal(pcal_watch_load("nothing", 7, "x", NULL, &watch, &err), PCAL_DATA);
}
