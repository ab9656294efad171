/* A spec string, made from the registry or any bytes, against a table with every type of option
 * and against the registry of metrics.
 *
 *   1. A spec is refused with one sentence, or it is read.
 *   2. What was read is written in full and in short, and both read back as the same.
 *   3. The canonical form of a canonical form is itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "fuzz_count.h"
#include "fuzz_models.h"

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  fuzz_write_spec(PCAL_METRICS, choice, out);
}

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  fuzz_change_spec(choice, data, size, out);
}

#include "fuzz_mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const pcal_option fuzz_spec_table[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, 1e6, NULL, "a whole number"},
    {"width", PCAL_OPTION_REAL, "0.4", 0, 1e300, NULL, "a number"},
    {"scale", PCAL_OPTION_REAL, "1", -1e3, 1e3, "median|auto", "a number or a word"},
    {"debias", PCAL_OPTION_BOOL, "no", 0, 0, NULL, "yes or no"},
    {"norm", PCAL_OPTION_CHOICE, "l1", 0, 0, "l1|l2|max", "a word"},
    {"levels", PCAL_OPTION_REALS, "0.5/0.9", 0, 1, NULL, "several numbers"},
    {"rank", PCAL_OPTION_INT, "", 1, 9, NULL, "may stay unset"},
};
enum { FUZZ_SPEC_OPTIONS = sizeof fuzz_spec_table / sizeof fuzz_spec_table[0] };

static void fuzz_spec_require(int holds) {
  if (!holds)
    abort();
}

static void fuzz_spec_refusal(pcal_status status, const pcal_error *err) {
  fuzz_spec_require(status == PCAL_USAGE && err->status == status);
  fuzz_spec_require(err->message[0] != '\0');
  fuzz_spec_require(memchr(err->message, '\0', sizeof err->message) != NULL);
}

static int fuzz_spec_read(const char *spec, pc_options *out) {
  pcal_error err = PCAL_ERROR_INIT;
  const pcal_status status =
      pc_options_parse(spec, "row", fuzz_spec_table, FUZZ_SPEC_OPTIONS, out, &err);
  if (status != PCAL_OK)
    fuzz_spec_refusal(status, &err);
  return status == PCAL_OK;
}

static void fuzz_spec_round_trip(const char *spec) {
  pc_options options, again;
  char full[PC_SPEC_MAX], text[PC_SPEC_MAX];
  if (!fuzz_spec_read(spec, &options))
    return;
  pc_options_write(&options, 1, full, sizeof full);
  for (int in_full = 0; in_full <= 1; in_full++) {
    pc_options_write(&options, in_full, text, sizeof text);
    fuzz_spec_require(fuzz_spec_read(text, &again));
    fuzz_spec_require(pc_options_equal(&options, &again));
    pc_options_write(&again, 1, text, sizeof text);
    fuzz_spec_require(strcmp(full, text) == 0);
  }
}

static void fuzz_spec_canonical(const char *spec) {
  pcal_error err = PCAL_ERROR_INIT;
  char once[PC_SPEC_MAX], twice[PC_SPEC_MAX];
  const pcal_status status = pcal_spec_canonical(spec, once, sizeof once, &err);
  fuzz_count(status == PCAL_OK);
  if (status != PCAL_OK) {
    fuzz_spec_refusal(status, &err);
    return;
  }
  fuzz_spec_require(pcal_spec_canonical(once, twice, sizeof twice, &err) == PCAL_OK);
  fuzz_spec_require(strcmp(once, twice) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *spec = malloc(size + 1);
  char name[16];
  if (spec == NULL)
    return 0;
  if (size > 0)
    memcpy(spec, data, size);
  spec[size] = '\0';
  if (pc_spec_name(spec, name, sizeof name, NULL) == PCAL_OK)
    fuzz_spec_require(strlen(name) == strcspn(spec, ":") && name[0] != '\0');
  fuzz_spec_round_trip(spec);
  fuzz_spec_canonical(spec);
  free(spec);
  return 0;
}
